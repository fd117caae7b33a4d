//! Describes steps for a model: their calls with arguments, outputs and sources, and their results.

use art_core::pes::{EarlierQuestion, TodoItem};
use art_core::text::truncate;
use art_core::tool::ToolResult;
use serde_json::{Value, json};

use super::quote::{EARLIER_QUESTIONS, one_line, section};
use crate::plan::{EarlierStep, question_steps};
use crate::report::{last_output, output_for_model, unwrap_data};

/// Returns the number of results of an item, which is a step of a plan: one for each of its calls, and one for the item itself.
/// All results in a prompt are cut to the same length, which depends on the number of results.
pub(super) fn result_count(item: &TodoItem) -> usize {
    item.tool_results.len() + 1
}

/// Describes a step with its calls. Each of these is cut to `max_chars` characters: the arguments, the output, the title
/// and the error of a call, and the result and the error of the step (contracts P43, P77). `name` is the identifier by
/// which other steps refer to the step.
pub(super) fn step_entry(name: &str, item: &TodoItem, max_chars: usize) -> Value {
    let calls = item
        .tool_results
        .iter()
        .map(|result| call_entry(item, result, max_chars));
    let calls: Vec<_> = calls.collect();
    let mut entry = json!({"stepId": name, "description": item.description});
    if let Some(map) = entry.as_object_mut() {
        map.extend((!calls.is_empty()).then(|| ("calls".to_owned(), json!(calls))));
        // Add the model's result unless it only repeats the last tool output.
        let model_result = item
            .result
            .as_ref()
            .filter(|result| last_output(&item.tool_results).as_deref() != Some(*result));
        map.extend(model_result.map(|result| ("result".to_owned(), truncate_value(result, max_chars))));
        let error = item.error.as_ref();
        map.extend(error.map(|error| ("error".to_owned(), json!(truncate(error, max_chars)))));
    }
    entry
}

/// Describes a call and its result. If the output is drawn for the person, the model is shown only its title and a note
/// that it was displayed (contract C9).
fn call_entry(item: &TodoItem, result: &ToolResult, max_chars: usize) -> Value {
    let mut entry = json!({"tool": result.tool_name});
    let Some(map) = entry.as_object_mut() else {
        return entry;
    };
    let mut calls = item.actual_tool_calls.iter();
    let call = calls.find(|call| call.call_id == result.call_id);
    map.extend(call.map(|call| ("arguments".to_owned(), truncate_value(&call.arguments, max_chars))));
    map.insert("status".to_owned(), json!(result.status));
    let title = result.metadata.title.as_ref().filter(|_| result.metadata.for_display);
    map.extend(title.map(|title| ("title".to_owned(), json!(truncate(title, max_chars)))));
    let error = result.error.as_ref();
    map.extend(error.map(|error| ("error".to_owned(), json!(truncate(error, max_chars)))));
    let output = output_for_model(result);
    if let Some(output) = output.as_deref().map(unwrap_data) {
        match truncated_text(output, max_chars) {
            None => map.insert("output".to_owned(), output.clone()),
            Some(cut) => map.insert("outputText".to_owned(), json!(cut)),
        };
    }
    let sources = &result.metadata.sources;
    map.extend((!sources.is_empty()).then(|| ("sources".to_owned(), json!(sources))));
    entry
}

/// Returns the section on the steps of earlier questions that `is_shown` selects, grouped by question, or `None` if there are no
/// such steps.
pub(super) fn earlier_questions_section(
    questions: &[EarlierQuestion],
    max_chars: usize,
    is_shown: impl Fn(&EarlierStep<'_>) -> bool,
) -> Option<String> {
    let mut entries = Vec::new();
    for question in questions {
        let steps = question_steps(question).filter(&is_shown);
        let steps: Vec<_> = steps
            .map(|step| step_entry(&step.name(), step.item, max_chars))
            .collect();
        if steps.is_empty() {
            continue;
        }
        entries.push(json!({"question": truncate(&question.query, max_chars), "steps": steps}));
    }
    (!entries.is_empty()).then(|| section(EARLIER_QUESTIONS, &one_line(&entries)))
}

/// Returns the value if its text fits into `max_chars` characters, else the beginning of its text.
pub(super) fn truncate_value(value: &Value, max_chars: usize) -> Value {
    truncated_text(value, max_chars).map_or_else(|| value.clone(), Value::from)
}

/// Returns the beginning of the text of `value` if the text has more than `max_chars` characters.
fn truncated_text(value: &Value, max_chars: usize) -> Option<String> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    (text.chars().count() > max_chars).then(|| truncate(&text, max_chars))
}
