//! Writes the answer: what the tools gave, and what the plan says it lacks.

mod show;

use art_core::task::{AnswerTask, StepOutcome, TaskStep};
use art_core::tool::Source;
use serde_json::json;

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
        let listed: Vec<String> = sources.iter().map(source).collect();
        blocks.push(format!("Sources: {}", listed.join(", ")));
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
        StepOutcome::Completed { result, .. } if *result == json!({"displayed": true}) => {
            format!("{subject}: see above")
        }
        StepOutcome::Completed { result, .. } => show::labelled(&subject, result),
        StepOutcome::Failed(error) => format!("{subject}: failed, {}", one_line(error)),
        StepOutcome::Unfinished(reason) => format!("{subject}: not done, {}", one_line(reason)),
    }
}

/// The sentences of the plan that say what cannot be done.
fn unanswered(plan: &str) -> Vec<String> {
    let lines = plan.lines().filter(|line| line.starts_with(CANNOT));
    lines.map(str::to_owned).collect()
}

/// What a step was asked, without the signs around it and the words that only say that it is asked.
fn subject(step: &TaskStep) -> String {
    let asked = step.description.trim().trim_end_matches(['?', '.', '!', ':', ',']);
    let openings = [
        "what is ",
        "what's ",
        "what are ",
        "how much is ",
        "calculate ",
        "compute ",
    ];
    let opening = openings.iter().find(|words| {
        asked
            .get(..words.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(words))
    });
    let rest = opening.and_then(|words| asked.get(words.len()..)).unwrap_or(asked);
    let line = one_line(rest);
    let mut letters = line.chars();
    let capital = letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect());
    capital.unwrap_or_else(|| step.id.clone())
}

fn one_line(text: &str) -> String {
    art_core::text::truncate(&text.split_whitespace().collect::<Vec<_>>().join(" "), 300)
}

fn sources(steps: &[TaskStep]) -> Vec<&Source> {
    let mut all: Vec<&Source> = Vec::new();
    for step in steps {
        if let StepOutcome::Completed { sources, .. } = &step.outcome {
            let new: Vec<&Source> = sources.iter().filter(|source| !all.contains(source)).collect();
            all.extend(new);
        }
    }
    all
}

fn source(source: &&Source) -> String {
    match source.url.as_deref() {
        None | Some("") => source.source_name.clone(),
        Some(url) => format!("{} <{url}>", source.source_name),
    }
}
