//! The part of a prompt that shows the results of the steps and asks for the answer (contract P77), and the list of results
//! that replaces a missing answer.

use art_core::pes::{TodoItem, TodoItemStatus};
use art_core::stream::Phase;
use art_core::text::{safe_stringify, truncate};
use serde_json::{Value, json};

use super::fragment::Fragment;
use super::guidance::guidance;
use super::manager::PromptManager;
use super::quote::{COMPLETED_STEPS, FAILED_STEPS, UNFINISHED_STEPS, one_line, produced_file_section, section};
use super::step::{result_count, step_entry};
use crate::event::RunStart;
use crate::file::RunFile;
use crate::plan::unfinished_reason;
use crate::report::outputs;

/// Text in place of the missing error message of a failed step.
const NO_REASON: &str = "no reason was given";

/// Maximum length, in characters, of the outputs of one step together, or of its error, in the list that replaces an answer.
const MAX_LISTED_CHARS_PER_STEP: usize = 2_000;

/// Returns the text that requests the answer: the results of the steps, and the guidance of the operator for answers unless it is
/// the same as that for plans. The conversation before this text already contains the guidance for plans, the question, the plan
/// with its intent and the results of earlier questions.
pub(crate) fn answer_request_text(
    start: &RunStart,
    items: &[TodoItem],
    files: &[RunFile],
    limits_hit: &[String],
) -> String {
    let suggestions = PromptManager::new(&start.fragments).text(Fragment::SuggestionInstructions);
    let request = format!("Write the answer to the query now. {suggestions}")
        .trim_end()
        .to_owned();
    let parts = [
        Some(work_summary(start, items, files, limits_hit)),
        guidance(start, Phase::Synthesis).filter(|text| guidance(start, Phase::Planning).as_ref() != Some(text)),
        Some(request),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

/// Describes the files that tools produced, the steps with their calls and results, and the limits that the run reached.
fn work_summary(start: &RunStart, items: &[TodoItem], files: &[RunFile], limits_hit: &[String]) -> String {
    use TodoItemStatus::{Completed, Failed};
    let total_results: usize = items.iter().map(result_count).sum();
    let max_chars_per_result = start.config.tool_result_max_length / total_results.max(1);
    let step_section = |heading, is_listed: fn(TodoItemStatus) -> bool| {
        let listed = items.iter().filter(|item| is_listed(item.status));
        let entries: Vec<_> = listed
            .map(|item| outcome_entry(items, item, max_chars_per_result))
            .collect();
        Some(section(heading, &one_line(&entries)))
    };
    let sections = [
        produced_file_section(files),
        step_section(COMPLETED_STEPS, |status| status == Completed),
        step_section(FAILED_STEPS, |status| status == Failed),
        step_section(UNFINISHED_STEPS, |status| !matches!(status, Completed | Failed)),
        (!limits_hit.is_empty()).then(|| section("Limits reached", &one_line(limits_hit))),
    ];
    sections.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

/// Describes a step with its calls, and the reason if it was not completed. Each result and the reason are cut to `max_chars`
/// characters.
fn outcome_entry(items: &[TodoItem], item: &TodoItem, max_chars: usize) -> Value {
    let (key, reason) = match item.status {
        TodoItemStatus::Completed => return step_entry(&item.id, item, max_chars),
        TodoItemStatus::Failed => ("error", item.error.as_deref().unwrap_or(NO_REASON).to_owned()),
        _ => ("reason", unfinished_reason(items, item)),
    };
    let mut entry = step_entry(&item.id, item, max_chars);
    if let Some(map) = entry.as_object_mut() {
        // The reason replaces the error that `step_entry` added.
        map.shift_remove("error");
        map.insert(key.to_owned(), json!(truncate(&reason, max_chars)));
    }
    entry
}

/// Lists the items of a plan with their results, one line each. The list is empty if there are no items.
pub(crate) fn result_listing(items: &[TodoItem]) -> String {
    let lines = items.iter().map(|item| match item.status {
        TodoItemStatus::Completed => {
            // There is at least one output, so the division cannot fail.
            let outputs = outputs(item);
            let max_chars = MAX_LISTED_CHARS_PER_STEP / outputs.len();
            let texts: Vec<_> = outputs.iter().map(|output| safe_stringify(output, max_chars)).collect();
            format!("- {}: {}", item.description, texts.join("; "))
        }
        TodoItemStatus::Failed => {
            let error = item.error.as_deref().unwrap_or(NO_REASON);
            let error = truncate(error, MAX_LISTED_CHARS_PER_STEP);
            format!("- {}: failed: {error}", item.description)
        }
        _ => format!("- {}: not done: {}", item.description, unfinished_reason(items, item)),
    });
    lines.collect::<Vec<_>>().join("\n")
}
