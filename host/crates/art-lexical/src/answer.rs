//! Writes the answer: what the tools gave, and what the plan says it lacks.

use art_core::show;
use art_core::task::{AnswerTask, StepOutcome, TaskStep};
use art_core::text::truncate;
use art_core::tool::Source;
use itertools::Itertools;
use serde_json::{Value, json};

use crate::find::CANNOT;

/// The reply that answers `task`, and the parts of the question that it says nothing to.
pub(crate) fn reply(task: &AnswerTask) -> (String, Vec<String>) {
    let mut blocks: Vec<String> = task.steps.iter().map(block).collect();
    let unanswered = unanswered(&task.plan);
    blocks.extend(unanswered.clone());
    if blocks.is_empty() {
        blocks.push("No tool was called, and this model cannot answer on its own.".to_owned());
    }
    let sources = sources(&task.steps);
    if !sources.is_empty() {
        blocks.push(format!("Sources: {}", sources.iter().map(source).join(", ")));
    }
    let text = format!(
        "<mainContent>\n{}\n</mainContent>\n<uiMetadata>{}</uiMetadata>",
        blocks.join("\n\n"),
        json!({ "sources": sources })
    );
    (text, unanswered)
}

/// What one step brought.
fn block(step: &TaskStep) -> String {
    let subject = subject(step);
    match &step.outcome {
        StepOutcome::Completed { results, .. } => completed(&subject, results),
        StepOutcome::Failed(error) => format!("{subject}: failed, {}", one_line(error)),
        StepOutcome::Unfinished(reason) => format!("{subject}: not done, {}", one_line(reason)),
    }
}

/// The results of a step, numbered if it had several calls.
fn completed(subject: &str, results: &[Value]) -> String {
    let label = |number| match results.len() {
        1 => subject.to_owned(),
        count => format!("{subject} ({number} of {count})"),
    };
    let shown = (1_usize..).zip(results).map(|(number, result)| match result {
        result if *result == json!({"displayed": true}) => format!("{}: see above", label(number)),
        result => show::labelled(&label(number), result),
    });
    shown.collect_vec().join("\n\n")
}

/// The sentences of the plan that say what cannot be done.
fn unanswered(plan: &str) -> Vec<String> {
    let lines = plan.lines().filter(|line| line.starts_with(CANNOT));
    lines.map(str::to_owned).collect()
}

/// What a step was asked, in one line with a capital letter.
fn subject(step: &TaskStep) -> String {
    let line = one_line(step.description.trim().trim_end_matches(['?', '.', '!', ':', ',']));
    let lower = line.to_lowercase();
    let mut openings = "what is |what's |what are |how much is |calculate |compute ".split('|');
    let opening = openings.find(|opening| lower.starts_with(opening)).map_or(0, str::len);
    let mut letters = line.chars().skip(opening);
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

fn one_line(text: &str) -> String {
    truncate(&text.split_whitespace().join(" "), 300)
}

fn sources(steps: &[TaskStep]) -> Vec<&Source> {
    let all = steps.iter().filter_map(|step| match &step.outcome {
        StepOutcome::Completed { sources, .. } => Some(sources),
        _ => None,
    });
    all.flatten().unique_by(|source| format!("{source:?}")).collect()
}

fn source(source: &&Source) -> String {
    match source.url.as_deref() {
        None | Some("") => source.source_name.clone(),
        Some(url) => format!("{} <{url}>", source.source_name),
    }
}
