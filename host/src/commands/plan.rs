//! `art plan`: plans a question and shows the plan, without running a tool. With `--out`, writes the plan to a file, from which
//! `art run --plan` runs it. Such a plan is called a saved plan.

use std::path::Path;

use art_agent::{PlanToRun, SavedPlan};
use art_lexical::LexicalModel;
use art_model::ModelInfo;
use art_runtime::{PlanResult, PlanReview, Question, Runtime, read_plan};
use serde_json::{Value, json};

use super::run::{empty_question_error, read_attachments, with_user_and_thread};
use super::{load_config, open_runtime_read_only, report, saved_plan};
use crate::cli::{GlobalOptions, PlanArgs};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::tokio_runtime::new_executor;
use crate::usage_summary::UsageSummary;
use crate::{new_file, render};

pub(super) fn plan(global: &GlobalOptions, args: &PlanArgs) -> Result<Exit, CommandError> {
    let question = Question {
        query: args.query().ok_or_else(|| empty_question_error("plan"))?,
        thread_id: args.thread.clone(),
        attachments: read_attachments(&args.attach)?,
        ..Question::default()
    };
    // Check the path before the model is called, which costs money.
    args.out
        .as_deref()
        .map_or(Ok(()), |path| new_file::check_can_write(path, args.force))?;
    let config = load_config(global)?;
    let executor = new_executor()?;
    let exit = executor.block_on(async {
        // A plan is not a run: nothing is stored.
        let runtime = open_runtime_read_only(global, config).await?;
        let question = with_user_and_thread(global, &runtime, question).await?;
        let model = runtime.model_for(&question).await?;
        if !global.json {
            report::show_model_and_problems(&runtime, &model).await?;
        }
        report::warn_of_large_attachments(&runtime, &question.attachments);
        let mut planned = runtime.plan(question.clone()).await?;
        let plan_with_params = add_params(&planned.plan, &args.param);
        // `runtime.plan` has checked the plan without parameters. With parameters it is another plan, so it is checked again.
        let mut second_review_outcome = Ok(());
        if let (Ok(plan), false) = (&plan_with_params, args.param.is_empty()) {
            planned.plan = plan.clone();
            let review = review_without_values(&runtime, question, plan).await;
            second_review_outcome = review.map(|review| planned.review = review);
        }
        // The plan was paid for, so it is shown even if the parameters could not be added or checked.
        show(global, &planned);
        plan_with_params?;
        second_review_outcome?;
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

/// Returns the plan with parameters in place of constants. `params` are the values of `--param`: the name of each parameter, and
/// the constant that it replaces, as typed.
fn add_params(plan: &SavedPlan, params: &[(String, String)]) -> Result<SavedPlan, CommandError> {
    let mut plan = plan.clone();
    if params.is_empty() {
        return Ok(plan);
    }
    for (name, typed) in params {
        let value = art_core::json::parse(typed).unwrap_or_else(|_| Value::from(typed.as_str()));
        // The parameter replaces arguments that equal `value`. Within arguments that contain more than the constant, and within
        // the texts of the plan, such as the question, it replaces the constant as it was typed.
        if !plan.parameterize(name, &value, typed) {
            return Err(CommandError::Failed(format!(
                "the plan has no argument with `{typed}`, so it cannot be the parameter `{name}` (hint: `art plan` without \
                 `--param` shows the arguments)"
            )));
        }
    }
    // Read the plan in the same way as `art run --plan`, so that the name of a parameter that it would refuse is refused now.
    let text = serde_json::to_string(&plan).unwrap_or_default();
    read_plan(&text).map_err(|problems| CommandError::Usage(problems.join("; ")))
}

/// Checks a plan whose parameters have no values yet.
async fn review_without_values(
    runtime: &Runtime,
    question: Question,
    plan: &SavedPlan,
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

fn write_plan(path: &Path, force: bool, planned: &PlanResult) -> Result<(), CommandError> {
    let text = serde_json::to_string_pretty(&planned.plan);
    let text = text.map_err(|error| CommandError::Failed(format!("the plan cannot be written: {error}")))?;
    new_file::write(path, format!("{text}\n").as_bytes(), force)?;
    render::note(&format!("the plan is in `{}`", path.display()));
    Ok(())
}

/// Prints the plan, what its check found, and what planning cost.
fn show(global: &GlobalOptions, planned: &PlanResult) {
    let (metadata, review) = (&planned.metadata, &planned.review);
    if global.json {
        let usage = json!({"llmCalls": metadata.llm_calls, "tokens": metadata.tokens, "llmCost": metadata.llm_cost});
        let (plan, answer) = (&planned.plan, &planned.answer);
        return render::json(&json!({"plan": plan, "check": review, "answer": answer, "usage": usage}));
    }
    match &planned.answer {
        Some(answer) => render::print(&format!("the model answers without a plan:\n\n{answer}")),
        None => render::print(&render::saved_plan::plan_text(&planned.plan, review)),
    }
    render::note(&UsageSummary::from(metadata).to_line());
}

/// Returns the exit code. The embedded model ([`LexicalModel`]) can answer only with tools. If its plan has no steps, no tool
/// fits.
fn exit_code(model: &ModelInfo, planned: &PlanResult) -> Exit {
    let uses_embedded_model = model.config.provider_name == LexicalModel::PROVIDER;
    match saved_plan::exit_code(&planned.review) {
        Exit::Success if uses_embedded_model && planned.plan.steps.is_empty() => Exit::NoTool,
        exit => exit,
    }
}
