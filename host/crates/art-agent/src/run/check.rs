//! Checks whether an event fits the run, before anything is changed.

use std::collections::BTreeSet;

use art_core::tool::{ParsedToolCall, ToolResult};

use super::{OpenStep, Run};
use crate::error::ApplyError;
use crate::event::RunEvent;
use crate::step::StepId;

impl Run {
    pub(super) fn check(&self, event: &RunEvent) -> Result<(), ApplyError> {
        if matches!(event, RunEvent::Started { .. }) {
            return Err(ApplyError::AlreadyStarted);
        }
        if self.finished().is_some() {
            return Err(ApplyError::Finished);
        }
        match event {
            RunEvent::ModelReplied { step, .. } | RunEvent::ModelFailed { step, .. } => match self.opened(*step)? {
                OpenStep::Tools { .. } => Err(wrong(*step, "the results of tool calls")),
                _ => Ok(()),
            },
            RunEvent::ToolsReturned { step, results, .. } => match self.opened(*step)? {
                OpenStep::Tools { calls, .. } => match_results(*step, calls, results),
                _ => Err(wrong(*step, "the answer of a model")),
            },
            RunEvent::Started { .. } | RunEvent::CancelRequested { .. } => Ok(()),
        }
    }

    fn opened(&self, step: StepId) -> Result<&OpenStep, ApplyError> {
        self.open.get(&step).ok_or(ApplyError::StepNotOpen { step })
    }
}

const fn wrong(step: StepId, expected: &'static str) -> ApplyError {
    ApplyError::WrongAnswer { step, expected }
}

fn match_results(step: StepId, calls: &[ParsedToolCall], results: &[ToolResult]) -> Result<(), ApplyError> {
    let fault = |call_id: &str, fault| ApplyError::ResultsDoNotMatch {
        step,
        call_id: call_id.to_owned(),
        fault,
    };
    let mut seen = BTreeSet::new();
    for result in results {
        let known = calls
            .iter()
            .any(|call| call.call_id == result.call_id && call.tool_name == result.tool_name);
        if !known {
            return Err(fault(&result.call_id, "of no call of the step"));
        }
        if !seen.insert(result.call_id.as_str()) {
            return Err(fault(&result.call_id, "given twice"));
        }
    }
    match calls.iter().find(|call| !seen.contains(call.call_id.as_str())) {
        Some(call) => Err(fault(&call.call_id, "missing")),
        None => Ok(()),
    }
}
