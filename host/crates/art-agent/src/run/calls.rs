//! Tool calls: which ones may be made now, and what follows when they end.
//!
//! The calls of a batch may be made at the same time and end in any order (contract T7), but a call of a blocking tool,
//! which asks a person, is made alone (contract Q3a). Each call gets a result, even one that is never made (contract B9).

use art_core::error::{ModelError, ModelErrorCode, ToolErrorCode};
use art_core::observation::{NewObservation, ObservationType};
use art_core::outcome::EndingKind;
use art_core::stream::PartialReply;
use art_core::text::truncate;
use art_core::tool::{ExecutionMode, ParsedToolCall, ToolResult};
use art_core::usage::ToolUsage;
use serde_json::json;

use super::streams::item_id_of;
use super::{OpenAction, Run, ToolBatch};
use crate::action::{ActionId, ToolCall};
use crate::effect::Outbox;
use crate::event::CallEnd;
use crate::observe;

/// Maximum length of a tool's name in a message, in characters.
const MAX_NAME_CHARS: usize = 200;

impl ToolBatch {
    /// Returns whether the call has ended, that is, has a result. A call that waits for a person has none.
    fn has_ended(&self, call: &ParsedToolCall) -> bool {
        self.has_result(&call.call_id)
    }

    /// Returns whether the call with this identifier has a result.
    pub(super) fn has_result(&self, call_id: &str) -> bool {
        self.results.iter().any(|result| result.call_id == call_id)
    }

    /// Returns the calls that may be made now. A call of a blocking tool is made alone, once every call before it has ended or is
    /// itself a call of a blocking tool that waits for a decision. The calls after a call of a blocking tool are made once this
    /// call has ended or waits for a decision.
    fn ready_calls(&self, is_blocking: impl Fn(&str) -> bool) -> Vec<&ParsedToolCall> {
        let mut ready = Vec::new();
        let mut may_call_blocking = true;
        for call in self.calls.iter().filter(|call| !self.has_ended(call)) {
            let blocks = is_blocking(&call.tool_name);
            if self.waiting.contains_key(&call.call_id) {
                // Several tools that ask may wait at the same time, so that the person decides about all of them at once.
                may_call_blocking &= blocks;
                continue;
            }
            if !self.made.contains(&call.call_id) && (may_call_blocking || !blocks) {
                ready.push(call);
            }
            if blocks {
                // This call has not ended and does not wait for a decision, so the calls after it are not made yet.
                break;
            }
            // This call has not ended, so no call of a blocking tool after it is made yet.
            may_call_blocking = false;
        }
        ready
    }

    /// Returns the calls that are dropped, that is, never made, because the tool of another call asks a person. Calls of blocking
    /// tools are not dropped.
    fn calls_to_drop(&self, is_blocking: impl Fn(&str) -> bool) -> Vec<ParsedToolCall> {
        let is_dropped = |call: &&ParsedToolCall| {
            let id = &call.call_id;
            let is_untouched = !self.made.contains(id) && !self.waiting.contains_key(id);
            is_untouched && !self.approved.contains_key(id) && !self.has_ended(call) && !is_blocking(&call.tool_name)
        };
        self.calls.iter().filter(is_dropped).cloned().collect()
    }
}

impl Run {
    /// Returns the tool calls that may be made now, oldest action first. They may be made at the same time.
    #[must_use]
    pub fn ready_calls(&self) -> Vec<ToolCall> {
        let mut ready = Vec::new();
        for (action, open) in &self.open_actions {
            if let OpenAction::Tools(batch) = open {
                let calls = batch.ready_calls(|name| self.is_blocking(name)).into_iter();
                ready.extend(calls.map(|call| self.tool_call(*action, batch, call)));
            }
        }
        ready
    }

    /// Returns the tool call `call_id` of an open action, or `None` if the action has no such call or the call has ended.
    #[must_use]
    pub fn open_call(&self, action: ActionId, call_id: &str) -> Option<ToolCall> {
        let batch = self.batch(action)?;
        let is_open = |call: &&ParsedToolCall| call.call_id == call_id && !batch.has_ended(call);
        let call = batch.calls.iter().find(is_open)?;
        Some(self.tool_call(action, batch, call))
    }

    /// Returns the tool calls that were made and have not ended, oldest action first.
    #[must_use]
    pub fn calls_in_progress(&self) -> Vec<ToolCall> {
        let mut calls = Vec::new();
        for (action, open) in &self.open_actions {
            if let OpenAction::Tools(batch) = open {
                let is_made = |call: &&ParsedToolCall| batch.made.contains(&call.call_id) && !batch.has_ended(call);
                let made = batch.calls.iter().filter(is_made);
                calls.extend(made.map(|call| self.tool_call(*action, batch, call)));
            }
        }
        calls
    }

    /// Returns the observation of a tool call that ended after the end of the run. Nothing else of such a call is kept.
    #[must_use]
    pub fn observation_of_late_call(&self, item_id: &str, end: &CallEnd) -> NewObservation {
        let (content, metadata) = observe::tool_execution(end);
        NewObservation {
            thread_id: self.start.props.thread_id.clone(),
            trace_id: Some(self.trace_id.clone()),
            parent_id: Some(item_id.to_owned()),
            kind: ObservationType::ToolExecution,
            content: content.into(),
            metadata,
        }
    }

    /// Opens tool calls of an item as one batch, and adds them to the calls that the item lists. Returns the identifier of the
    /// action.
    pub(super) fn open_tool_calls(&mut self, id: &str, calls: Vec<ParsedToolCall>) -> ActionId {
        if let Some(item) = self.item_mut(id) {
            item.actual_tool_calls.extend_from_slice(&calls);
        }
        self.open_action(OpenAction::Tools(ToolBatch {
            item_id: id.to_owned(),
            calls,
            ..ToolBatch::default()
        }))
    }

    /// Finds an open batch all of whose calls have ended.
    pub(super) fn find_ended_batch(&self) -> Option<ActionId> {
        self.open_actions.iter().find_map(|(action, open)| match open {
            OpenAction::Tools(batch) => batch.calls.iter().all(|call| batch.has_ended(call)).then_some(*action),
            _ => None,
        })
    }

    /// Records that a tool call was made.
    pub(super) fn note_tool_call(&mut self, action: ActionId, call_id: &str) {
        if let Some(OpenAction::Tools(batch)) = self.open_actions.get_mut(&action) {
            batch.made.insert(call_id.to_owned());
        }
    }

    /// Records the end of a tool call. When all calls of its batch have ended, the item continues. If the tool asks a person, the
    /// other calls of the batch that were not made yet are dropped, except those of blocking tools and those about which a person
    /// decides or has decided. Each dropped call gets a result that says so (contract B9).
    pub(super) fn handle_tool_end(&mut self, action: ActionId, end: &CallEnd, out: &mut Outbox) {
        self.count_tool_call(action, end, out);
        if let Some(suspension) = &end.suspension {
            self.suspend_call(action, suspension, out);
            let batch = self.batch(action);
            for call in batch.map_or_else(Vec::new, |batch| batch.calls_to_drop(|name| self.is_blocking(name))) {
                let dropped_end = dropped_call_end(&call, &end.result.tool_name);
                self.count_tool_call(action, &dropped_end, out);
                self.add_result(action, dropped_end.result);
            }
        } else {
            self.add_result(action, end.result.clone());
        }
        self.continue_if_batch_ended(action, out);
    }

    /// Closes a batch and continues its item if all calls of the batch have ended.
    pub(super) fn continue_if_batch_ended(&mut self, action: ActionId, out: &mut Outbox) {
        let Some(batch) = self.batch(action) else { return };
        if batch.calls.iter().all(|call| batch.has_ended(call))
            && let Some(OpenAction::Tools(batch)) = self.open_actions.remove(&action)
        {
            self.handle_ended_batch(batch, out);
        }
    }

    /// Closes a batch and continues its item, after an event with the results of all calls of the batch. Only journals of
    /// version 1 have such an event.
    pub(super) fn handle_tool_results(
        &mut self,
        action: ActionId,
        results: &[ToolResult],
        usage: ToolUsage,
        out: &mut Outbox,
    ) {
        let Some(OpenAction::Tools(batch)) = self.open_actions.remove(&action) else {
            return;
        };
        self.usage.tool_usage += usage;
        self.usage.tool_calls += u32::try_from(results.len()).unwrap_or(u32::MAX);
        let results = results.to_vec();
        self.handle_ended_batch(ToolBatch { results, ..batch }, out);
    }

    /// Lets the calls in progress be made again, because the host that made them stopped and another one resumes the
    /// run (contract P86). The tokens of the interrupted model calls are estimated and counted (contract M12).
    pub(super) fn restart_calls_in_progress(&mut self, out: &mut Outbox) {
        for (action, request_tokens) in std::mem::take(&mut self.model_calls_in_progress) {
            self.reservations.remove(&action);
            let Some(open) = self.open_actions.get(&action).cloned() else {
                continue;
            };
            let content = json!({"phase": self.observed_phase(&open), "error": host_stopped_error()});
            out.observe(ObservationType::LlmStreamError, item_id_of(&open), content);
            self.usage.llm_calls += 1;
            self.usage.llm_calls_opened += 1;
            self.count_partial_reply(&open, request_tokens, &PartialReply::default());
        }
        for open in self.open_actions.values_mut() {
            if let OpenAction::Tools(batch) = open {
                batch.made.clear();
            }
        }
    }

    pub(super) fn batch(&self, action: ActionId) -> Option<&ToolBatch> {
        match self.open_actions.get(&action) {
            Some(OpenAction::Tools(batch)) => Some(batch),
            _ => None,
        }
    }

    fn is_blocking(&self, tool_name: &str) -> bool {
        let tool = self.start.tools.iter().find(|tool| tool.name == tool_name);
        tool.is_some_and(|tool| tool.execution_mode == ExecutionMode::Blocking)
    }

    fn tool_call(&self, action: ActionId, batch: &ToolBatch, call: &ParsedToolCall) -> ToolCall {
        let item_id = batch.item_id.as_str();
        ToolCall {
            action,
            item_id: item_id.to_owned(),
            call: self.expand_attachments(item_id, call),
            files: self.file_arguments(item_id, call),
            approval: batch.approved.get(&call.call_id).cloned().map(Box::new),
        }
    }

    /// Adds the result of a call to its batch.
    pub(super) fn add_result(&mut self, action: ActionId, result: ToolResult) {
        if let Some(batch) = self.batch_mut(action) {
            batch.results.push(result);
        }
    }

    pub(super) fn batch_mut(&mut self, action: ActionId) -> Option<&mut ToolBatch> {
        match self.open_actions.get_mut(&action) {
            Some(OpenAction::Tools(batch)) => Some(batch),
            _ => None,
        }
    }

    /// Counts a tool call that ended, and records its observation (contract C36).
    fn count_tool_call(&mut self, action: ActionId, end: &CallEnd, out: &mut Outbox) {
        if let Some(batch) = self.batch(action) {
            out.observe_tool_call(&batch.item_id, end);
        }
        self.usage.tool_usage += end.usage;
        self.usage.tool_calls += 1;
    }

    /// Continues an item after the calls of a batch, which has been closed: makes the next call or ends the item.
    fn handle_ended_batch(&mut self, batch: ToolBatch, out: &mut Outbox) {
        let ToolBatch {
            item_id,
            calls,
            results,
            ..
        } = batch;
        let new_files = self
            .files
            .add(&item_id, &results, &self.start.props.attachments)
            .to_vec();
        if self.end_run_on_unsupported_result(&item_id, &calls, &results, out) {
            return;
        }
        let config = self.config();
        let item = self.state.todo_list.iter().find(|item| item.id == item_id);
        let (Some(item), Some(item_run)) = (item, self.running.get_mut(&item_id)) else {
            return;
        };
        let next = item_run.handle_results(item, &results, &new_files, config);
        self.apply_next_move(&item_id, next, out);
    }
}

/// Returns the error of a model call that was interrupted because its host stopped.
fn host_stopped_error() -> ModelError {
    ModelError {
        code: ModelErrorCode::Unknown,
        message: "the host stopped before the reply was complete".to_owned(),
        retry_after_ms: None,
        request_not_read: false,
    }
}

/// Returns the end of a call that is never made, because `suspended_tool` waits for a decision.
fn dropped_call_end(call: &ParsedToolCall, suspended_tool: &str) -> CallEnd {
    let message = format!(
        "Tool \"{}\" was not run because \"{}\" waits for a decision",
        truncate(&call.tool_name, MAX_NAME_CHARS),
        truncate(suspended_tool, MAX_NAME_CHARS)
    );
    let mut result = ToolResult::error(call, ToolErrorCode::Cancelled, message);
    result.metadata.not_run = true;
    CallEnd::new(result, EndingKind::NotRun)
}
