//! `art run --plan`: checks and carries out a plan that `art plan` wrote.

use std::path::Path;

use art_agent::{KeptPlan, PlanToRun};
use art_files::open_regular;
use art_runtime::config::Config;
use art_runtime::params::Params;
use art_runtime::{PlanReview, Question, Runtime, read_plan};
use serde_json::json;

use super::open_read_only;
use super::run::{read_attachments, with_user_and_thread};
use crate::cli::{Global, RunArgs};
use crate::error::CommandError;
use crate::executor::new_executor;
use crate::exit::Exit;
use crate::{bounded, render};

/// Maximum size of a file with a plan, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Reads the plan in `file`, and returns its question with everything that the command line adds.
///
/// # Errors
/// Fails with every problem of the plan, or with every problem of the values of its parameters. Values may be missing only if the plan
/// is just checked.
pub(super) fn read_question(file: &Path, args: &RunArgs) -> Result<Question, CommandError> {
    let plan = read_plan_file(file)?;
    let usage_error = |problems: Vec<String>| CommandError::Usage(problems.join("; "));
    let params = Params::admit(&plan).map_err(usage_error)?;
    let values = params.read(&args.set).map_err(usage_error)?;
    let values = params.with_defaults(&values).map_err(usage_error)?;
    let missing = params.missing(&values);
    if !missing.is_empty() && !args.check {
        let options: Vec<String> = missing.iter().map(|name| format!("--set {name}=VALUE")).collect();
        return Err(CommandError::Usage(format!(
            "the plan needs a value for `{}` (hint: `{}`)",
            missing.join("`, `"),
            options.join(" ")
        )));
    }
    let question = Question::of_plan(PlanToRun { plan, values });
    Ok(Question {
        query: args.query().unwrap_or_else(|| question.query.clone()),
        thread_id: args.thread.clone(),
        attachments: read_attachments(&args.attach)?,
        ..question
    })
}

fn read_plan_file(path: &Path) -> Result<KeptPlan, CommandError> {
    let file = open_regular(path).map_err(CommandError::file("open", path))?;
    let text = bounded::read_text(file, path, MAX_BYTES)?;
    let unusable = |problems: Vec<String>| {
        let problems = problems.join("; ");
        CommandError::Usage(format!(
            "`{}` is not a plan that can be used: {problems}",
            path.display()
        ))
    };
    read_plan(&text).map_err(unusable)
}

/// Checks the plan of a question and shows it.
pub(super) fn check(global: &Global, config: Config, question: Question) -> Result<Exit, CommandError> {
    new_executor()?.block_on(async {
        let runtime = open_read_only(global, config).await?;
        let question = with_user_and_thread(global, &runtime, question).await?;
        let review = runtime.review_plan(question.clone()).await?;
        warn_of_changes(&review);
        if let Some(plan) = &question.plan {
            let plan = plan.plan.with_values(&plan.values);
            if global.json {
                render::json(&json!({"plan": plan, "check": review}));
            } else {
                render::answer(&render::kept::text(&plan, &review));
            }
        }
        Ok(exit_code(&review))
    })
}

/// Shows the faults of the plan of a question, and returns whether there are any. Warns of tools that have changed. A question
/// without a plan has no faults.
pub(super) async fn report_faults(
    global: &Global,
    runtime: &Runtime,
    question: &Question,
) -> Result<bool, CommandError> {
    if question.plan.is_none() {
        return Ok(false);
    }
    let review = runtime.review_plan(question.clone()).await?;
    warn_of_changes(&review);
    let faults = &review.check.faults;
    if faults.is_empty() {
        return Ok(false);
    }
    let message = "the plan has faults, so nothing was run";
    if global.json {
        let error = json!({"message": message, "code": Exit::PlanFault.name()});
        render::json(&json!({"error": error, "check": review}));
    } else {
        render::note(&format!("error: {message}"));
        let lines = render::kept::faults(&review);
        lines.iter().for_each(|line| render::note(line));
    }
    Ok(true)
}

/// Returns the exit code of a check.
pub(super) fn exit_code(review: &PlanReview) -> Exit {
    if review.check.faults.is_empty() {
        Exit::Success
    } else {
        Exit::PlanFault
    }
}

fn warn_of_changes(review: &PlanReview) {
    for changed in &review.changed_tools {
        render::note(&format!("warning: {changed}"));
    }
}
