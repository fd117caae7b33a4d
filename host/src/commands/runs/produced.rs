//! Files and logs that the tools of a run produced in addition to their outputs, read from the journal and the store.

use art_agent::{RunEvent, RunFile};
use art_core::outcome::CallLog;
use art_core::tool::ToolResult;
use art_store::{JournalEntry, RunRecord, Store};
use serde::Serialize;
use serde_json::{Value, json};

use crate::commands::tool::log_lines;
use crate::error::CommandError;
use crate::render::{self, table, units};

/// A call whose log is stored, with the log.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LoggedCall {
    call_id: String,
    tool_name: String,
    log: CallLog,
}

/// Returns the files that the tools of a run produced, with the names that the run gave them. Returns an empty list if the
/// journal is not valid.
pub(super) fn files(journal: &[JournalEntry]) -> Vec<RunFile> {
    let events = journal.iter().map(|entry| serde_json::from_str(&entry.payload));
    let events: Result<Vec<RunEvent>, _> = events.collect();
    let run = events.ok().and_then(|events| art_agent::Run::replay(&events).ok());
    run.map(|run| run.files().to_vec()).unwrap_or_default()
}

/// Returns an entry of the journal as JSON, with its event as a JSON value instead of a text.
pub(super) fn entry_to_json(entry: &JournalEntry) -> Result<Value, CommandError> {
    let unreadable = |error| CommandError::Failed(format!("event {} cannot be read: {error}", entry.sequence));
    let payload: Value = serde_json::from_str(&entry.payload).map_err(unreadable)?;
    Ok(json!({
        "sequence": entry.sequence,
        "timestamp": entry.timestamp,
        "kind": entry.kind,
        "payload": payload,
        "digest": entry.digest,
    }))
}

/// Returns the logs of the calls of a run, in the order of the journal. Leaves out calls whose log is not stored.
pub(super) async fn read_logs(
    store: &dyn Store,
    run: &RunRecord,
    journal: &[JournalEntry],
) -> Result<Vec<LoggedCall>, CommandError> {
    let mut logs = Vec::new();
    for result in journal.iter().flat_map(tool_results) {
        let Some(digest) = &result.metadata.log_digest else {
            continue;
        };
        let Some(bytes) = store.get_blob(&run.thread_id, digest).await? else {
            continue;
        };
        let log = serde_json::from_slice(&bytes);
        let log =
            log.map_err(|error| CommandError::Failed(format!("the log of `{}` is damaged: {error}", result.call_id)))?;
        logs.push(LoggedCall {
            call_id: result.call_id,
            tool_name: result.tool_name,
            log,
        });
    }
    Ok(logs)
}

/// Returns the tool results in a journal entry.
fn tool_results(entry: &JournalEntry) -> Vec<ToolResult> {
    match serde_json::from_str(&entry.payload) {
        Ok(RunEvent::ToolEnded { end, .. }) => vec![end.result],
        // Journals of version 1 have one event for all results of a batch instead.
        Ok(RunEvent::ToolsReturned { results, .. }) => results,
        _ => Vec::new(),
    }
}

/// Prints the files as a table, then the logs.
pub(super) fn show(files: &[RunFile], logs: &[LoggedCall]) {
    if !files.is_empty() {
        let mut rows = vec![["file", "type", "size", "step"].map(str::to_owned).to_vec()];
        rows.extend(files.iter().map(|file| {
            let bytes = units::bytes(file.bytes);
            vec![file.name.clone(), file.media_type.clone(), bytes, file.step_id.clone()]
        }));
        render::print(&format!("\n{}", table::lines(&rows).join("\n")));
    }
    for call in logs {
        render::print(&format!("\n{} ({})", call.tool_name, call.call_id));
        log_lines(&call.log).iter().for_each(|line| render::print(line));
    }
}
