//! Writes the answer: the results of the tools, and the sentences of the plan about what no tool can do.

use art_core::show::{labelled, one_line, step_label};
use art_core::task::{AnswerTask, StepOutcome, TaskStep};
use itertools::Itertools;
use serde_json::{Value, json};

use crate::find::REFUSAL_START;

/// Returns the answer for `task`, and the sentences of the plan about parts of the question that no tool can answer.
pub(crate) fn reply(task: &AnswerTask) -> (String, Vec<String>) {
    let mut blocks: Vec<String> = task.steps.iter().map(format_step).collect();
    let unanswered = task.plan.lines().filter(|line| line.starts_with(REFUSAL_START));
    let unanswered = unanswered.map(str::to_owned).collect_vec();
    blocks.extend(unanswered.clone());
    if blocks.is_empty() {
        blocks.push("No tool was called, and this model cannot answer on its own.".to_owned());
    }
    let source_lists = task.steps.iter().filter_map(|step| match &step.outcome {
        StepOutcome::Completed { sources, .. } => Some(sources),
        _ => None,
    });
    let sources = source_lists.flatten().unique_by(ToString::to_string).collect_vec();
    // The sources are no part of the text, because whoever shows the answer lists those of the report.
    let (answer, metadata) = (blocks.join("\n\n"), json!({ "sources": sources }));
    let text = format!("<mainContent>\n{answer}\n</mainContent>\n<uiMetadata>{metadata}</uiMetadata>");
    (text, unanswered)
}

/// Returns the paragraph about one step.
fn format_step(step: &TaskStep) -> String {
    let subject = step_label(&step.description);
    match &step.outcome {
        StepOutcome::Completed { results, .. } => format_results(&subject, results),
        StepOutcome::Failed(error) => format!("{subject}: failed, {}", one_line(error)),
        StepOutcome::Unfinished(reason) => format!("{subject}: not done, {}", one_line(reason)),
    }
}

/// Returns the results of a step as text, numbered if there are several. `displayed: true` stands for output already shown.
fn format_results(subject: &str, results: &[Value]) -> String {
    let numbered_label = |number| match results.len() {
        1 => subject.to_owned(),
        count => format!("{subject} ({number} of {count})"),
    };
    let shown = (1_usize..).zip(results).map(|(number, result)| match result {
        result if *result == json!({"displayed": true}) => format!("{}: see above", numbered_label(number)),
        result => labelled(&numbered_label(number), result),
    });
    shown.collect_vec().join("\n\n")
}
