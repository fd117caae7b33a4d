//! Checks whether an event fits the run, before anything is changed.

use std::collections::BTreeSet;

use art_core::tool::{ParsedToolCall, ToolResult};

use super::{OpenAction, Run};
use crate::action::ActionId;
use crate::error::ApplyError;
use crate::event::RunEvent;

impl Run {
    /// Checks that `event` fits the run.
    pub(super) fn check(&self, event: &RunEvent) -> Result<(), ApplyError> {
        if matches!(event, RunEvent::Started { .. }) {
            return Err(ApplyError::AlreadyStarted);
        }
        if self.finished().is_some() {
            return Err(ApplyError::Finished);
        }
        match event {
            RunEvent::ModelReplied { action, .. } | RunEvent::ModelFailed { action, .. } => {
                match self.open_action_with(*action)? {
                    OpenAction::Tools { .. } => Err(wrong_answer(*action, "the results of tool calls")),
                    _ => Ok(()),
                }
            }
            RunEvent::ToolsReturned { action, results, .. } => match self.open_action_with(*action)? {
                OpenAction::Tools { calls, .. } => match_results(*action, calls, results),
                _ => Err(wrong_answer(*action, "the answer of a model")),
            },
            RunEvent::Started { .. } | RunEvent::CancelRequested { .. } | RunEvent::HostFailed { .. } => Ok(()),
        }
    }

    fn open_action_with(&self, action: ActionId) -> Result<&OpenAction, ApplyError> {
        self.open.get(&action).ok_or(ApplyError::ActionNotOpen { action })
    }
}

const fn wrong_answer(action: ActionId, expected: &'static str) -> ApplyError {
    ApplyError::WrongAnswer { action, expected }
}

/// Checks that there is exactly one result for each call.
fn match_results(action: ActionId, calls: &[ParsedToolCall], results: &[ToolResult]) -> Result<(), ApplyError> {
    let mismatch = |call_id: &str, fault| ApplyError::ResultsDoNotMatch {
        action,
        call_id: call_id.to_owned(),
        fault,
    };
    let mut seen = BTreeSet::new();
    for result in results {
        let matches_call = calls
            .iter()
            .any(|call| call.call_id == result.call_id && call.tool_name == result.tool_name);
        if !matches_call {
            return Err(mismatch(&result.call_id, "of no call of the action"));
        }
        if !seen.insert(result.call_id.as_str()) {
            return Err(mismatch(&result.call_id, "given twice"));
        }
    }
    match calls.iter().find(|call| !seen.contains(call.call_id.as_str())) {
        Some(call) => Err(mismatch(&call.call_id, "missing")),
        None => Ok(()),
    }
}
