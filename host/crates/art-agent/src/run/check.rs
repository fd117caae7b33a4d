//! Checks whether an event fits the run, before anything is changed. No call is made twice or ends twice, and no event names a
//! call that is not open.

use std::collections::BTreeSet;

use art_core::tool::{ParsedToolCall, ToolResult, ToolStatus};

use super::{OpenAction, Run, ToolBatch};
use crate::action::ActionId;
use crate::error::ApplyError;
use crate::event::{CallEnd, RunEvent};

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
            RunEvent::ModelAsked { action, .. } | RunEvent::ModelNotAsked { action, .. } => {
                match self.is_model_call_made(*action)? {
                    true => Err(ApplyError::AlreadyMade { action: *action }),
                    false => Ok(()),
                }
            }
            RunEvent::ModelReplied { action, .. } | RunEvent::ModelFailed { action, .. } => {
                match self.is_model_call_made(*action)? {
                    true => Ok(()),
                    false => Err(ApplyError::NotMade { action: *action }),
                }
            }
            RunEvent::ToolCalled { action, call_id, .. } => {
                check_not_made(*action, self.find_open_batch(*action)?, call_id)
            }
            RunEvent::CallSuspended { action, suspension, .. } => {
                check_not_made(*action, self.find_open_batch(*action)?, &suspension.call.call_id)
            }
            RunEvent::PlanChecked { questions, .. } => match self.are_about_calls_to_check(questions) {
                true => Ok(()),
                false => Err(ApplyError::PlanQuestionsDoNotMatch),
            },
            RunEvent::CallDecided { suspension_id, .. } => self.check_decision(suspension_id),
            RunEvent::ToolEnded { action, end, .. } => check_end(*action, self.find_open_batch(*action)?, end),
            RunEvent::ToolsReturned { action, results, .. } => {
                check_results(*action, &self.find_open_batch(*action)?.calls, results)
            }
            RunEvent::Started { .. }
            | RunEvent::GrantsChanged { .. }
            | RunEvent::Resumed { .. }
            | RunEvent::CancelRequested { .. }
            | RunEvent::HostFailed { .. } => Ok(()),
        }
    }

    /// Checks that a person can decide about a suspension: its call, or its question about the plan, waits for the decision.
    fn check_decision(&self, suspension_id: &str) -> Result<(), ApplyError> {
        let mut suspensions = self.suspensions().into_iter();
        match suspensions.any(|open| open.suspension.suspension_id == suspension_id) {
            true => Ok(()),
            false => Err(ApplyError::NotSuspended {
                suspension_id: suspension_id.to_owned(),
            }),
        }
    }

    /// Returns whether an open model call was made. Fails if the action is not an open model call.
    fn is_model_call_made(&self, action: ActionId) -> Result<bool, ApplyError> {
        match self.find_open_action(action)? {
            OpenAction::Tools(_) => Err(wrong_call_kind(action, "the results of tool calls")),
            _ => Ok(self.model_calls_in_progress.contains_key(&action)),
        }
    }

    fn find_open_batch(&self, action: ActionId) -> Result<&ToolBatch, ApplyError> {
        match self.find_open_action(action)? {
            OpenAction::Tools(batch) => Ok(batch),
            _ => Err(wrong_call_kind(action, "the answer of a model")),
        }
    }

    fn find_open_action(&self, action: ActionId) -> Result<&OpenAction, ApplyError> {
        self.open_actions
            .get(&action)
            .ok_or(ApplyError::ActionNotOpen { action })
    }
}

/// Returns the error of an event that ends or announces a call of the other kind than the calls of the action: a tool call in
/// place of a model call, or the reverse.
const fn wrong_call_kind(action: ActionId, expected: &'static str) -> ApplyError {
    ApplyError::WrongAnswer { action, expected }
}

/// Checks that a call is in the batch, has not ended, was not made, and does not wait for a person.
fn check_not_made(action: ActionId, batch: &ToolBatch, call_id: &str) -> Result<(), ApplyError> {
    check_not_ended(action, batch, call_id)?;
    if batch.made.contains(call_id) || batch.waiting.contains_key(call_id) {
        return Err(ApplyError::AlreadyMade { action });
    }
    Ok(())
}

/// Checks that a call is in the batch and has not ended.
fn check_not_ended(action: ActionId, batch: &ToolBatch, call_id: &str) -> Result<(), ApplyError> {
    let mismatch = |fault| ApplyError::ResultsDoNotMatch {
        action,
        call_id: call_id.to_owned(),
        fault,
    };
    if !batch.calls.iter().any(|call| call.call_id == call_id) {
        return Err(mismatch("of no call of the action"));
    }
    if batch.results.iter().any(|result| result.call_id == call_id) {
        return Err(mismatch("given twice"));
    }
    Ok(())
}

/// Checks that a call of the batch can end in this way: it has not ended before; it was made, or the result says that its tool
/// was not run; and the end has a question to a person exactly if the status of the result is `Suspended`.
fn check_end(action: ActionId, batch: &ToolBatch, end: &CallEnd) -> Result<(), ApplyError> {
    let result = &end.result;
    check_not_ended(action, batch, &result.call_id)?;
    let is_of_result = |call: &ParsedToolCall| call.call_id == result.call_id && call.tool_name == result.tool_name;
    if !batch.calls.iter().any(is_of_result) {
        return Err(ApplyError::ResultsDoNotMatch {
            action,
            call_id: result.call_id.clone(),
            fault: "of no call of the action",
        });
    }
    let is_suspended = result.status == ToolStatus::Suspended;
    if is_suspended != end.suspension.is_some() {
        return Err(ApplyError::ResultsDoNotMatch {
            action,
            call_id: result.call_id.clone(),
            fault: "suspended without a question, or has one for no reason",
        });
    }
    if result.metadata.not_run || batch.made.contains(&result.call_id) {
        Ok(())
    } else {
        Err(ApplyError::NotMade { action })
    }
}

/// Checks that there is exactly one result for each call.
fn check_results(action: ActionId, calls: &[ParsedToolCall], results: &[ToolResult]) -> Result<(), ApplyError> {
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
