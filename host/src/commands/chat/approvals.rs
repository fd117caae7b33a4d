//! Decisions that a tool asks of a person before it acts.
//!
//! A run that waits for one ends with [`RunStatus::Suspended`]. This is the place where the person at the terminal is to be
//! asked and the run goes on with the answer; until runs can be resumed, the person is told what waits.

use art_core::agent::RunStatus;
use art_core::pes::TodoItemStatus;
use art_runtime::Answer;

/// What waits for a decision, in one line; none when nothing does.
pub(super) fn waiting(answered: &Answer) -> Option<String> {
    let report = &answered.report;
    if report.response.metadata.status != RunStatus::Suspended {
        return None;
    }
    let waits = report.items.iter().find(|item| item.status == TodoItemStatus::Waiting);
    let what = waits.map_or_else(String::new, |item| format!(": {}", item.description));
    Some(format!(
        "waits for a decision{what} (this host cannot pass one on yet, so the tool did not act)"
    ))
}
