//! Admits the calls of a reply. Calls that are not admitted get an error as their result (B29).

use std::collections::BTreeSet;

use art_core::agent::{ExecutionConfig, QueryAttachment};
use art_core::error::ToolErrorCode;
use art_core::pes::TodoItem;
use art_core::tool::{ParsedToolCall, ToolResult};

use super::{ItemRun, NextStep, NoRepeat};
use crate::attachment::{self, Places};
use crate::call::{CallIds, RawCall, fingerprint};
use crate::file::Files;

/// Maximum number of identical calls for one item (B30).
pub(crate) const MAX_SAME_CALLS: u32 = 2;

/// The data of the run that the admission of calls needs.
#[derive(Debug)]
pub(crate) struct Admission<'a> {
    pub(crate) trace_id: &'a str,
    pub(crate) attachments: &'a [QueryAttachment],
    pub(crate) files: &'a Files,
    pub(crate) ids: &'a mut CallIds,
    /// Number of calls that the run may still make.
    pub(crate) remaining_calls: u32,
    pub(crate) rejections: &'a Rejections,
    pub(crate) config: ExecutionConfig,
}

/// The calls that a person rejected in a run. The person is not asked about them again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rejections {
    /// Fingerprints of calls.
    calls: BTreeSet<String>,
    /// Tools for which a person rejected a call and allowed no other.
    tools: BTreeSet<String>,
}

impl Rejections {
    /// Notes that a person rejected a call, and whether the tool may be called with other arguments.
    pub(crate) fn add(&mut self, call: &ParsedToolCall, allow_retry: bool) {
        self.calls.insert(fingerprint(call));
        if !allow_retry {
            self.tools.insert(call.tool_name.clone());
        }
    }

    /// Returns the reason why a call may not be made, if there is one.
    fn refusal(&self, call: &ParsedToolCall) -> Option<String> {
        let tool = &call.tool_name;
        if self.tools.contains(tool) {
            let reason =
                format!("not called: a person rejected `{tool}` for this question; do without it, or end the step");
            return Some(reason);
        }
        let is_rejected = self.calls.contains(&fingerprint(call));
        is_rejected.then(|| {
            format!(
                "not called: a person rejected `{tool}` with exactly these arguments; find another way, or end the step"
            )
        })
    }
}

impl NoRepeat {
    /// Returns the error of a call that may not be made again.
    fn refusal(self, tool: &str) -> (ToolErrorCode, String) {
        let (code, reason) = match self {
            Self::Denied => (
                ToolErrorCode::PermissionDenied,
                format!(
                    "not called: `{tool}` was denied with exactly these arguments; change them, use another tool, or end the step"
                ),
            ),
            Self::Done => (
                ToolErrorCode::ValidationError,
                format!(
                    "not called again: the plan called `{tool}` with exactly these arguments, and it succeeded; use its result above"
                ),
            ),
            Self::Answered => (
                ToolErrorCode::ValidationError,
                format!(
                    "not called again: this step called `{tool}` with exactly these arguments, and a person answered its \
                     question; use the result above"
                ),
            ),
        };
        (code, reason)
    }
}

impl ItemRun {
    /// Admits calls. Returns those that are to be made, or the action that follows if none is left to make.
    pub(super) fn start_batch(
        &mut self,
        item: &TodoItem,
        calls: Vec<RawCall>,
        admission: &mut Admission<'_>,
    ) -> NextStep {
        let mut accepted = Vec::new();
        for mut raw in calls {
            if let Some(call) = self.take_earlier(&raw) {
                self.batch.calls.push(call);
                continue;
            }
            let (problem, file_places) = (raw.problem.take(), std::mem::take(&mut raw.file_places));
            let call = admission.ids.identify(admission.trace_id, raw);
            match self.admit(&call, &file_places, problem, admission) {
                Ok(()) => accepted.push(call.clone()),
                Err((code, reason)) => self.batch.refused.push(ToolResult::error(&call, code, reason)),
            }
            self.batch.file_places.insert(call.call_id.clone(), file_places);
            self.batch.calls.push(call);
        }
        if self.runs_plan {
            self.planned_call_ids = self.batch.calls.iter().map(|call| call.call_id.clone()).collect();
        }
        if accepted.is_empty() {
            return self.handle_results(item, &[], &[], admission.config);
        }
        NextStep::CallTools(accepted)
    }

    /// If the same call succeeded before, takes over its result and returns that call.
    fn take_earlier(&mut self, raw: &RawCall) -> Option<ParsedToolCall> {
        let is_same = |call: &ParsedToolCall| call.tool_name == raw.tool_name && call.arguments == raw.arguments;
        let position = self.earlier.iter().position(|(call, _)| is_same(call))?;
        let (call, result) = self.earlier.remove(position);
        self.called_tools.insert(result.tool_name.clone());
        self.batch.kept.push(result);
        Some(call)
    }

    /// Counts the call if it may be made. Fails with the error that becomes its result.
    fn admit(
        &mut self,
        call: &ParsedToolCall,
        file_places: &Places,
        problem: Option<String>,
        admission: &mut Admission<'_>,
    ) -> Result<(), (ToolErrorCode, String)> {
        if let Some(problem) = problem {
            return Err((ToolErrorCode::ValidationError, problem));
        }
        if let Some(error) = attachment::check(&call.arguments, file_places, admission.attachments, admission.files) {
            return Err(error);
        }
        if let Some(reason) = admission.rejections.refusal(call) {
            return Err((ToolErrorCode::PermissionDenied, reason));
        }
        let fingerprint = fingerprint(call);
        if let Some(no_repeat) = self.not_repeatable.get(&fingerprint) {
            return Err(no_repeat.refusal(&call.tool_name));
        }
        let count = self.call_counts.entry(fingerprint).or_default();
        if *count >= MAX_SAME_CALLS {
            let reason = format!(
                "not called: this step called `{}` with exactly these arguments {MAX_SAME_CALLS} times before; use the \
                 results above, change the arguments, or end the step",
                call.tool_name
            );
            return Err((ToolErrorCode::ValidationError, reason));
        }
        if admission.remaining_calls == 0 {
            let limit = format!(
                "the run made its maximum of {} tool calls",
                admission.config.max_tool_calls
            );
            self.out_of_calls = true;
            return Err((ToolErrorCode::Cancelled, format!("not called: {limit}")));
        }
        *count += 1;
        admission.remaining_calls -= 1;
        Ok(())
    }
}
