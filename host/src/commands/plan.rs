//! `art plan`: plans a question and shows the plan, without running a tool.

use std::path::Path;

use art_agent::{KeptPlan, PlanToRun};
use art_lexical::LexicalModel;
use art_model::ModelInfo;
use art_runtime::{PlanReview, Planned, Question, Runtime, read_plan};
use serde_json::{Value, json};

use super::run::{empty_question_error, read_attachments, with_user_and_thread};
use super::{kept, load_config, open_read_only, report};
use crate::cli::{Global, PlanArgs};
use crate::error::CommandError;
use crate::executor::new_executor;
use crate::exit::Exit;
use crate::usage_summary::UsageSummary;
use crate::{new_file, render};

pub(super) fn plan(global: &Global, args: &PlanArgs) -> Result<Exit, CommandError> {
    let question = Question {
        query: args.query().ok_or_else(|| empty_question_error("plan"))?,
        thread_id: args.thread.clone(),
        attachments: read_attachments(&args.attach)?,
        ..Question::default()
    };
    // Check the path before the model is called.
    args.out
        .as_deref()
        .map_or(Ok(()), |path| new_file::check_free(path, args.force))?;
    let config = load_config(global)?;
    let executor = new_executor()?;
    let exit = executor.block_on(async {
        // A plan is not a run: nothing is stored.
        let runtime = open_read_only(global, config).await?;
        let question = with_user_and_thread(global, &runtime, question).await?;
        let model = runtime.model_for(&question).await?;
        if !global.json {
            report::introduce(&runtime, &model).await?;
        }
        report::warn_of_size(&runtime, &question.attachments);
        let mut planned = runtime.plan(question.clone()).await?;
        let with_params = add_params(&planned.plan, &args.param);
        let mut reviewed = Ok(());
        if let (Ok(plan), false) = (&with_params, args.param.is_empty()) {
            planned.plan = plan.clone();
            let review = review_without_values(&runtime, question, plan).await;
            reviewed = review.map(|review| planned.review = review);
        }
        // The plan was paid for, so it is shown even if the check of its parameters failed.
        show(global, &planned);
        with_params?;
        reviewed?;
        if let Some(path) = &args.out {
            write_plan(path, args.force, &planned)?;
        }
        let exit = exit_code(&model, &planned);
        runtime.close().await;
        Ok(exit)
    });
    executor.shutdown_background();
    exit
}

/// Returns a plan with parameters in place of constants.
fn add_params(plan: &KeptPlan, params: &[(String, String)]) -> Result<KeptPlan, CommandError> {
    let mut plan = plan.clone();
    if params.is_empty() {
        return Ok(plan);
    }
    for (name, text) in params {
        let value = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.as_str()));
        if !plan.parameterize(name, &value, text) {
            return Err(CommandError::Failed(format!(
                "the plan has no argument with `{text}`, so it cannot be the parameter `{name}` (hint: `art plan` without `--param` \
                 shows the arguments)"
            )));
        }
    }
    // Refuse a parameter whose name a plan in a file could not have.
    let text = serde_json::to_string(&plan).unwrap_or_default();
    read_plan(&text).map_err(|problems| CommandError::Usage(problems.join("; ")))
}

/// Checks a plan whose parameters have no values yet.
async fn review_without_values(
    runtime: &Runtime,
    question: Question,
    plan: &KeptPlan,
) -> Result<PlanReview, CommandError> {
    let plan = PlanToRun {
        plan: plan.clone(),
        ..PlanToRun::default()
    };
    let question = Question {
        plan: Some(plan),
        ..question
    };
    Ok(runtime.review_plan(question).await?)
}

fn write_plan(path: &Path, force: bool, planned: &Planned) -> Result<(), CommandError> {
    let text = serde_json::to_string_pretty(&planned.plan);
    let text = text.map_err(|error| CommandError::Failed(format!("the plan cannot be written: {error}")))?;
    new_file::write(path, format!("{text}\n").as_bytes(), force)?;
    render::note(&format!("the plan is in `{}`", path.display()));
    Ok(())
}

fn show(global: &Global, planned: &Planned) {
    let (metadata, review) = (&planned.metadata, &planned.review);
    if global.json {
        let usage = json!({"llmCalls": metadata.llm_calls, "tokens": metadata.tokens, "llmCost": metadata.llm_cost});
        let (plan, answer) = (&planned.plan, &planned.answer);
        return render::json(&json!({"plan": plan, "check": review, "answer": answer, "usage": usage}));
    }
    match &planned.answer {
        Some(answer) => render::answer(&format!("the model answers without a plan:\n\n{answer}")),
        None => render::answer(&render::kept::text(&planned.plan, review)),
    }
    render::note(&UsageSummary::from(metadata).to_line());
}

fn exit_code(model: &ModelInfo, planned: &Planned) -> Exit {
    let is_embedded = model.config.provider_name == LexicalModel::PROVIDER;
    match kept::exit_code(&planned.review) {
        Exit::Success if is_embedded && planned.plan.steps.is_empty() => Exit::NoTool,
        exit => exit,
    }
}
