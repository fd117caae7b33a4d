//! Checks whether an event fits the run, before anything is changed.

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
                let is_asked = self.asked.contains_key(action);
                self.check_model_call(*action, !is_asked, ApplyError::AlreadyMade { action: *action })
            }
            RunEvent::ModelReplied { action, .. } | RunEvent::ModelFailed { action, .. } => {
                let is_asked = self.asked.contains_key(action);
                self.check_model_call(*action, is_asked, ApplyError::NotMade { action: *action })
            }
            RunEvent::ToolCalled { action, call_id, .. } => check_unmade(*action, self.open_batch(*action)?, call_id),
            RunEvent::CallSuspended { action, suspension, .. } => {
                check_unmade(*action, self.open_batch(*action)?, &suspension.call.call_id)
            }
            RunEvent::PlanChecked { questions, .. } => match self.are_plan_questions(questions) {
                true => Ok(()),
                false => Err(ApplyError::PlanNotToCheck),
            },
            RunEvent::CallDecided { suspension_id, .. } => self.check_decision(suspension_id),
            RunEvent::ToolEnded { action, end, .. } => check_end(*action, self.open_batch(*action)?, end),
            RunEvent::ToolsReturned { action, results, .. } => {
                match_results(*action, &self.open_batch(*action)?.calls, results)
            }
            RunEvent::Started { .. }
            | RunEvent::Resumed { .. }
            | RunEvent::CancelRequested { .. }
            | RunEvent::HostFailed { .. } => Ok(()),
        }
    }

    /// Checks that a suspension is open.
    fn check_decision(&self, suspension_id: &str) -> Result<(), ApplyError> {
        let mut open = self.suspensions().into_iter();
        match open.any(|open| open.suspension.suspension_id == suspension_id) {
            true => Ok(()),
            false => Err(ApplyError::NotSuspended {
                suspension_id: suspension_id.to_owned(),
            }),
        }
    }

    /// Checks that the action is an open model call. Fails with `otherwise` unless `fits`.
    fn check_model_call(&self, action: ActionId, fits: bool, otherwise: ApplyError) -> Result<(), ApplyError> {
        match self.open_action_with(action)? {
            OpenAction::Tools(_) => Err(wrong_answer(action, "the results of tool calls")),
            _ if fits => Ok(()),
            _ => Err(otherwise),
        }
    }

    fn open_batch(&self, action: ActionId) -> Result<&ToolBatch, ApplyError> {
        match self.open_action_with(action)? {
            OpenAction::Tools(batch) => Ok(batch),
            _ => Err(wrong_answer(action, "the answer of a model")),
        }
    }

    fn open_action_with(&self, action: ActionId) -> Result<&OpenAction, ApplyError> {
        self.open.get(&action).ok_or(ApplyError::ActionNotOpen { action })
    }
}

const fn wrong_answer(action: ActionId, expected: &'static str) -> ApplyError {
    ApplyError::WrongAnswer { action, expected }
}

/// Checks that a call is in the batch and can be made now.
fn check_unmade(action: ActionId, batch: &ToolBatch, call_id: &str) -> Result<(), ApplyError> {
    check_call(action, batch, call_id)?;
    if batch.called.contains(call_id) || batch.waiting.contains_key(call_id) {
        return Err(ApplyError::AlreadyMade { action });
    }
    Ok(())
}

/// Checks that a call is in the batch and has not ended.
fn check_call(action: ActionId, batch: &ToolBatch, call_id: &str) -> Result<(), ApplyError> {
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

/// Checks that a call of the batch ends once, and that it was made unless it was refused.
fn check_end(action: ActionId, batch: &ToolBatch, end: &CallEnd) -> Result<(), ApplyError> {
    let result = &end.result;
    check_call(action, batch, &result.call_id)?;
    let is_named = |call: &ParsedToolCall| call.call_id == result.call_id && call.tool_name == result.tool_name;
    if !batch.calls.iter().any(is_named) {
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
    if result.metadata.not_run || batch.called.contains(&result.call_id) {
        Ok(())
    } else {
        Err(ApplyError::NotMade { action })
    }
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
