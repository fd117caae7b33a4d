//! `art run --plan`: reads and checks a saved plan, a plan in a file that `art plan` wrote. The plan may have parameters: names
//! in place of values, which `--set` gives.

use std::path::Path;

use art_agent::{PlanToRun, SavedPlan};
use art_files::open_regular;
use art_runtime::config::Config;
use art_runtime::params::Params;
use art_runtime::{PlanReview, Question, Runtime, read_plan};
use serde_json::json;

use super::open_runtime_read_only;
use super::run::{read_attachments, with_user_and_thread};
use crate::cli::{GlobalOptions, RunArgs};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::tokio_runtime::new_executor;
use crate::{bounded_read, render};

/// Maximum size of a file with a plan, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Reads the plan in `file`. Returns the question of the plan, with what the command line adds: attachments, a
/// conversation, and values for the parameters. A question on the command line replaces that of the plan.
///
/// # Errors
/// Fails with every problem of the plan, or with every problem of the values of its parameters. A value may be missing if the
/// plan is only checked.
pub(super) fn read_question(file: &Path, args: &RunArgs) -> Result<Question, CommandError> {
    let plan = read_plan_file(file)?;
    let usage_error = |problems: Vec<String>| CommandError::Usage(problems.join("; "));
    // Checks the schemas of the parameters, and then the values against them.
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

fn read_plan_file(path: &Path) -> Result<SavedPlan, CommandError> {
    let file = open_regular(path).map_err(CommandError::file("open", path))?;
    let text = bounded_read::read_text(file, path, MAX_BYTES)?;
    let unusable = |problems: Vec<String>| {
        let problems = problems.join("; ");
        CommandError::Usage(format!(
            "`{}` is not a plan that can be used: {problems}",
            path.display()
        ))
    };
    read_plan(&text).map_err(unusable)
}

/// Checks the plan of a question against the tools of today, and shows the plan and its faults.
pub(super) fn check(global: &GlobalOptions, config: Config, question: Question) -> Result<Exit, CommandError> {
    new_executor()?.block_on(async {
        let runtime = open_runtime_read_only(global, config).await?;
        let question = with_user_and_thread(global, &runtime, question).await?;
        let review = runtime.review_plan(question.clone()).await?;
        warn_of_changed_tools(&review);
        if let Some(to_run) = &question.plan {
            let plan = to_run.plan.with_values(&to_run.values);
            if global.json {
                render::json(&json!({"plan": plan, "check": review}));
            } else {
                render::print(&render::saved_plan::plan_text(&plan, &review));
            }
        }
        Ok(exit_code(&review))
    })
}

/// Checks the plan of a question before it is carried out. Shows its faults, and returns whether there are any. Warns of tools
/// that have changed since the plan was made. A question without a plan has no faults.
pub(super) async fn report_faults(
    global: &GlobalOptions,
    runtime: &Runtime,
    question: &Question,
) -> Result<bool, CommandError> {
    if question.plan.is_none() {
        return Ok(false);
    }
    let review = runtime.review_plan(question.clone()).await?;
    warn_of_changed_tools(&review);
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
        let lines = render::saved_plan::fault_lines(&review);
        lines.iter().for_each(|line| render::note(line));
    }
    Ok(true)
}

/// Returns the exit code for the check of a plan.
pub(super) fn exit_code(review: &PlanReview) -> Exit {
    if review.check.faults.is_empty() {
        Exit::Success
    } else {
        Exit::PlanFault
    }
}

/// Warns of tools that have changed since the plan was made.
fn warn_of_changed_tools(review: &PlanReview) {
    for changed in &review.changed_tools {
        render::note(&format!("warning: {changed}"));
    }
}
