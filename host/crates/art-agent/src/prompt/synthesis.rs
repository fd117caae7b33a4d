//! The synthesis prompt (P77), and the list of results that replaces a missing answer.

use std::collections::BTreeSet;

use art_core::pes::{PesAgentStateData, TodoItem, TodoItemStatus};
use art_core::stream::Phase;
use art_core::text::{safe_stringify, truncate};
use serde_json::{Value, json};

use super::execution::bounded;
use super::guidance::guidance;
use super::quote::{COMPLETED_STEPS, EARLIER_QUESTIONS, one_line, produced_files, section};
use crate::event::RunStart;
use crate::file::RunFile;
use crate::plan::unfinished_reason;
use crate::report::collect_sources;

/// Maximum length of one result in a list, in characters.
const MAX_LISTED_CHARS: usize = 2_000;

/// Returns the text that requests the answer: the results of the steps, and the guidance of the operator for answers. `earlier`
/// contains the identifiers of items that ended before the question was asked.
pub(crate) fn results(
    start: &RunStart,
    state: &PesAgentStateData,
    files: &[RunFile],
    earlier: &BTreeSet<String>,
    limits_hit: &[String],
) -> String {
    let parts = [
        Some(work_summary(start, state, files, earlier, limits_hit)),
        guidance(start, Phase::Synthesis).filter(|text| guidance(start, Phase::Planning).as_ref() != Some(text)),
        Some("Write the answer to the query now.".to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

/// Describes the results of the steps.
fn work_summary(
    start: &RunStart,
    state: &PesAgentStateData,
    files: &[RunFile],
    earlier: &BTreeSet<String>,
    limits_hit: &[String],
) -> String {
    use TodoItemStatus::{Completed, Failed};
    let items = &state.todo_list;
    let (earlier, current): (Vec<_>, Vec<_>) = items.iter().partition(|item| earlier.contains(&item.id));
    let (earlier, completed) = (with_status(&earlier, Completed), with_status(&current, Completed));
    let failed = with_status(&current, Failed);
    let unfinished = current.iter().filter(|item| !matches!(item.status, Completed | Failed));
    let share = start.config.tool_result_max_length / (completed.len() + earlier.len()).max(1);
    let json_section = |heading: &str, entries: Vec<Value>| Some(section(heading, &one_line(&entries)));
    let sections = [
        produced_files(files),
        json_section(
            COMPLETED_STEPS,
            completed.iter().map(|item| completed_entry(item, share)).collect(),
        ),
        json_section(
            "Failed steps",
            failed.iter().map(|item| failed_entry(item, share)).collect(),
        ),
        json_section(
            "Unfinished steps",
            unfinished.map(|item| unfinished_entry(items, item)).collect(),
        ),
        (!earlier.is_empty()).then(|| {
            let entries: Vec<_> = earlier.iter().map(|item| completed_entry(item, share)).collect();
            section(EARLIER_QUESTIONS, &one_line(&entries))
        }),
        (!limits_hit.is_empty()).then(|| section("Limits reached", &one_line(limits_hit))),
    ];
    sections.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

fn with_status<'a>(items: &[&'a TodoItem], status: TodoItemStatus) -> Vec<&'a TodoItem> {
    items.iter().copied().filter(|item| item.status == status).collect()
}

fn completed_entry(item: &TodoItem, share: usize) -> Value {
    let tools: BTreeSet<_> = item
        .tool_results
        .iter()
        .map(|result| result.tool_name.as_str())
        .collect();
    let result = item
        .result
        .as_ref()
        .map_or(Value::Null, |result| bounded(result, share));
    let mut entry = json!({
        "stepId": item.id,
        "description": item.description,
        "result": result,
        "tools": tools,
        "sources": collect_sources(std::slice::from_ref(item)),
    });
    if let (Some(map), Some(error)) = (entry.as_object_mut(), &item.error) {
        map.insert("error".to_owned(), json!(truncate(error, share)));
    }
    entry
}

fn failed_entry(item: &TodoItem, share: usize) -> Value {
    let error = item.error.as_deref().unwrap_or("no reason was given");
    json!({"stepId": item.id, "description": item.description, "error": truncate(error, share)})
}

fn unfinished_entry(items: &[TodoItem], item: &TodoItem) -> Value {
    json!({"stepId": item.id, "description": item.description, "reason": unfinished_reason(items, item)})
}

/// Lists completed and unfinished items, one line each. Items in `earlier` are left out, because they belong to other
/// questions. The list is empty if there are no items.
pub(crate) fn result_listing(items: &[TodoItem], earlier: &BTreeSet<String>) -> String {
    let current = items.iter().filter(|item| !earlier.contains(&item.id));
    let lines = current.map(|item| match item.status {
        TodoItemStatus::Completed => {
            let result = item.result.as_ref().unwrap_or(&Value::Null);
            format!("- {}: {}", item.description, safe_stringify(result, MAX_LISTED_CHARS))
        }
        TodoItemStatus::Failed => {
            let error = item.error.as_deref().unwrap_or("no reason was given");
            format!("- {}: failed: {}", item.description, truncate(error, MAX_LISTED_CHARS))
        }
        _ => format!("- {}: not done: {}", item.description, unfinished_reason(items, item)),
    });
    lines.collect::<Vec<_>>().join("\n")
}
