//! Decisions of a person that a tool waits for before it acts.
//!
//! A run that waits for a decision ends with [`RunStatus::Suspended`]. Runs cannot be resumed yet, so the person only gets a
//! note. Once they can, this module will ask the person at the terminal and resume the run.

use art_core::agent::RunStatus;
use art_core::pes::TodoItemStatus;
use art_runtime::Answer;

/// Returns a line about the step that waits for a decision, or `None` if the run is not suspended.
pub(super) fn waiting(answered: &Answer) -> Option<String> {
    let report = &answered.report;
    if report.response.metadata.status != RunStatus::Suspended {
        return None;
    }
    let waits = report.items.iter().find(|item| item.status == TodoItemStatus::Waiting);
    let step = waits.map_or_else(String::new, |item| format!(": {}", item.description));
    Some(format!(
        "waits for a decision{step} (this host cannot ask for it yet, so the tool did not act)"
    ))
}
