//! Notes about tools that wait for the decision of a person.
//!
//! A run that waits for a decision ends with [`RunStatus::Suspended`]. Runs cannot be resumed yet, so the person only gets a
//! note. Once they can, this module will ask the person at the terminal and resume the run.

use art_core::agent::RunStatus;
use art_core::pes::TodoItemStatus;
use art_runtime::Answer;

/// Returns a line that names the step that waits for a decision, or `None` if the run is not suspended.
pub(super) fn suspension_note(answer: &Answer) -> Option<String> {
    let report = &answer.report;
    if report.response.metadata.status != RunStatus::Suspended {
        return None;
    }
    let waiting = report.items.iter().find(|item| item.status == TodoItemStatus::Waiting);
    let step = waiting.map_or_else(String::new, |item| format!(": {}", item.description));
    Some(format!(
        "waits for a decision{step} (this host cannot ask for it yet, so the tool did not act)"
    ))
}
