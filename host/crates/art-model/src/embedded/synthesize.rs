//! Writes the answer: only what tools gave and what the plan says it lacks.

mod show;

use art_core::provider::ModelRequest;
use serde_json::{Value, json};

use super::plan::CANNOT;
use super::prompt::Sections;

/// The reply to a synthesis prompt, and the parts of the question that it says nothing to.
pub(super) fn reply(request: &ModelRequest) -> (String, Vec<String>) {
    let sections = Sections::of_user(request);
    let completed: Vec<Value> = sections.list("completed steps");
    let mut blocks: Vec<String> = completed.iter().map(completed_step).collect();
    blocks.extend(sections.list("failed steps").iter().map(failed_step));
    blocks.extend(sections.list("unfinished steps").iter().map(unfinished_step));
    let unanswered = lacking(sections.text("plan"));
    blocks.extend(unanswered.clone());
    if blocks.is_empty() {
        blocks.push("No tool was called, and this model cannot answer on its own.".to_owned());
    }
    let sources = sources(&completed);
    if !sources.is_empty() {
        blocks.push(format!(
            "Sources: {}",
            sources.iter().map(source_text).collect::<Vec<_>>().join(", ")
        ));
    }
    let metadata = json!({ "sources": sources });
    let text = format!(
        "<mainContent>\n{}\n</mainContent>\n<uiMetadata>{metadata}</uiMetadata>",
        blocks.join("\n\n")
    );
    (text, unanswered)
}

fn text<'a>(step: &'a Value, key: &str) -> &'a str {
    step.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// What a step was asked, without the signs around it.
fn subject(step: &Value) -> String {
    let description = text(step, "description")
        .trim()
        .trim_end_matches(['?', '.', '!', ':', ',']);
    let opening = [
        "what is ",
        "what's ",
        "what are ",
        "how much is ",
        "calculate ",
        "compute ",
    ];
    let lower = description.to_lowercase();
    let rest = opening
        .iter()
        .find(|words| lower.starts_with(*words))
        .and_then(|words| description.get(words.len()..));
    let subject = one_line(rest.unwrap_or(description));
    let mut letters = subject.chars();
    let capital = letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect());
    capital.unwrap_or_else(|| text(step, "stepId").to_owned())
}

fn one_line(text: &str) -> String {
    art_core::text::truncate(&text.split_whitespace().collect::<Vec<_>>().join(" "), 300)
}

fn completed_step(step: &Value) -> String {
    if step.get("result") == Some(&json!({"displayed": true})) {
        return format!("{}: see above", subject(step));
    }
    show::labelled(&subject(step), step.get("result").unwrap_or(&Value::Null))
}

fn failed_step(step: &Value) -> String {
    format!("{}: failed, {}", subject(step), one_line(text(step, "error")))
}

fn unfinished_step(step: &Value) -> String {
    format!("{}: not done, {}", subject(step), one_line(text(step, "reason")))
}

/// What the plan says that no tool can do.
fn lacking(plan: &str) -> Vec<String> {
    plan.lines()
        .filter(|line| line.trim_start().starts_with(CANNOT))
        .map(|line| line.trim().to_owned())
        .collect()
}

fn sources(completed: &[Value]) -> Vec<Value> {
    let mut sources: Vec<Value> = Vec::new();
    for source in completed
        .iter()
        .filter_map(|step| step.get("sources")?.as_array())
        .flatten()
    {
        if !sources.contains(source) {
            sources.push(source.clone());
        }
    }
    sources
}

fn source_text(source: &Value) -> String {
    match (text(source, "sourceName"), text(source, "url")) {
        (name, "") => name.to_owned(),
        (name, url) => format!("{name} <{url}>"),
    }
}
