//! Decides which calls of a batch may be made. A call that may not be made is refused: it gets an error as its result, so that
//! every call has a result (contract B29). This differs from a rejection, by which a person decides against a call.

use std::collections::BTreeSet;

use art_core::agent::{ExecutionConfig, QueryAttachment};
use art_core::error::ToolErrorCode;
use art_core::pes::TodoItem;
use art_core::tool::{ParsedToolCall, ToolResult};

use super::{ItemRun, NextMove, NoRepeatReason};
use crate::attachment::{self, FileNamePointers};
use crate::call::{CallIds, RawCall, fingerprint};
use crate::file::Files;

/// Maximum number of calls of one tool with the same arguments in one item (contract B30).
pub(crate) const MAX_IDENTICAL_CALLS: u32 = 2;

/// What the host needs of the run to admit or refuse calls. Each new call gets its identifier from `call_ids`, and each
/// admitted call lowers `remaining_tool_calls`.
#[derive(Debug)]
pub(crate) struct AdmissionContext<'a> {
    pub(crate) trace_id: &'a str,
    pub(crate) attachments: &'a [QueryAttachment],
    pub(crate) files: &'a Files,
    pub(crate) call_ids: &'a mut CallIds,
    /// Number of tool calls that the run may still make.
    pub(crate) remaining_tool_calls: u32,
    pub(crate) rejections: &'a Rejections,
    pub(crate) config: ExecutionConfig,
}

/// The calls that a person rejected in a run. The person is not asked about them again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rejections {
    /// Fingerprints of the rejected calls.
    calls: BTreeSet<String>,
    /// Tools that may not be called with other arguments either.
    tools: BTreeSet<String>,
}

impl Rejections {
    /// Notes that a person rejected a call. `allow_retry` says whether its tool may be called with other arguments.
    pub(crate) fn add(&mut self, call: &ParsedToolCall, allow_retry: bool) {
        self.calls.insert(fingerprint(call));
        if !allow_retry {
            self.tools.insert(call.tool_name.clone());
        }
    }

    /// Returns why a call is refused because of earlier rejections, or `None` if it is not.
    fn refusal_reason(&self, call: &ParsedToolCall) -> Option<String> {
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

impl NoRepeatReason {
    /// Returns the error that a call of `tool` gets as its result, because it may not be made again.
    fn error(self, tool: &str) -> (ToolErrorCode, String) {
        let (code, reason) = match self {
            Self::Denied => (
                ToolErrorCode::PermissionDenied,
                format!(
                    "not called: `{tool}` was denied with exactly these arguments; change them, use another tool, or end the step"
                ),
            ),
            Self::PlanSucceeded => (
                ToolErrorCode::ValidationError,
                format!(
                    "not called again: the plan called `{tool}` with exactly these arguments, and it succeeded; use its result above"
                ),
            ),
            Self::PersonAnswered => (
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
    /// Begins a batch with these calls. Returns those that are to be made, or what happens next if all were refused or have a
    /// result from an earlier attempt at the item.
    pub(super) fn start_batch(
        &mut self,
        item: &TodoItem,
        calls: Vec<RawCall>,
        admission: &mut AdmissionContext<'_>,
    ) -> NextMove {
        let mut calls_to_make = Vec::new();
        for mut raw in calls {
            if let Some(call) = self.reuse_earlier_success(&raw) {
                self.batch.calls.push(call);
                continue;
            }
            let (problem, file_name_pointers) = (raw.problem.take(), std::mem::take(&mut raw.file_name_pointers));
            let call = admission.call_ids.assign_id(admission.trace_id, raw);
            match self.admit(&call, &file_name_pointers, problem, admission) {
                Ok(()) => calls_to_make.push(call.clone()),
                Err((code, reason)) => self.batch.refused.push(ToolResult::error(&call, code, reason)),
            }
            self.batch
                .file_name_pointers
                .insert(call.call_id.clone(), file_name_pointers);
            self.batch.calls.push(call);
        }
        if self.open_calls_are_planned {
            self.planned_call_ids = self.batch.calls.iter().map(|call| call.call_id.clone()).collect();
        }
        if calls_to_make.is_empty() {
            // Without calls to make, there are no further results and files to wait for.
            return self.handle_results(item, &[], &[], admission.config);
        }
        NextMove::CallTools(calls_to_make)
    }

    /// If the same planned call succeeded in an earlier attempt at the item, takes over the result and returns that earlier call.
    fn reuse_earlier_success(&mut self, raw: &RawCall) -> Option<ParsedToolCall> {
        let is_same = |call: &ParsedToolCall| call.tool_name == raw.tool_name && call.arguments == raw.arguments;
        let position = self.earlier_successes.iter().position(|(call, _)| is_same(call))?;
        let (call, result) = self.earlier_successes.remove(position);
        self.called_tools.insert(result.tool_name.clone());
        self.batch.reused.push(result);
        Some(call)
    }

    /// Checks that a call may be made, and counts it. If it is refused, fails with the error that becomes its result.
    fn admit(
        &mut self,
        call: &ParsedToolCall,
        file_name_pointers: &FileNamePointers,
        problem: Option<String>,
        admission: &mut AdmissionContext<'_>,
    ) -> Result<(), (ToolErrorCode, String)> {
        if let Some(problem) = problem {
            return Err((ToolErrorCode::ValidationError, problem));
        }
        if let Some(error) = attachment::argument_error(
            &call.arguments,
            file_name_pointers,
            admission.attachments,
            admission.files,
        ) {
            return Err(error);
        }
        if let Some(reason) = admission.rejections.refusal_reason(call) {
            return Err((ToolErrorCode::PermissionDenied, reason));
        }
        let fingerprint = fingerprint(call);
        if let Some(no_repeat_reason) = self.not_repeatable.get(&fingerprint) {
            return Err(no_repeat_reason.error(&call.tool_name));
        }
        let count = self.call_counts.entry(fingerprint).or_default();
        if *count >= MAX_IDENTICAL_CALLS {
            let reason = format!(
                "not called: this step called `{}` with exactly these arguments {MAX_IDENTICAL_CALLS} times before; use the \
                 results above, change the arguments, or end the step",
                call.tool_name
            );
            return Err((ToolErrorCode::ValidationError, reason));
        }
        if admission.remaining_tool_calls == 0 {
            let limit = format!(
                "the run made its maximum of {} tool calls",
                admission.config.max_tool_calls
            );
            self.out_of_calls = true;
            return Err((ToolErrorCode::Cancelled, format!("not called: {limit}")));
        }
        *count += 1;
        admission.remaining_tool_calls -= 1;
        Ok(())
    }
}
