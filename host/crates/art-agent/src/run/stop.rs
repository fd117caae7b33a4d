//! Early ends of a run: a person cancels it, or a tool needs something that the host does not support (contract X6).

use art_core::agent::RunStatus;
use art_core::error::{ErrorCode, ToolErrorCode};
use art_core::observation::ObservationType;
use art_core::pes::TodoItemStatus;
use art_core::tool::{ParsedToolCall, ToolResult, ToolStatus};
use serde_json::json;

use super::Run;
use super::finish::RunEnding;
use crate::effect::Outbox;
use crate::event::InterruptedCall;

impl Run {
    /// Ends the run because a person cancelled it. `interrupted` lists the model calls in progress whose requests had been sent.
    /// The others in progress do not count as calls of the run.
    pub(super) fn cancel(&mut self, interrupted: &[InterruptedCall], out: &mut Outbox) {
        for call in interrupted {
            self.interrupt_model_call(call.action, &call.received);
        }
        self.model_calls_in_progress.clear();
        let text = self.with_result_listing("The run was cancelled before it was finished.");
        self.finish(RunEnding::new(RunStatus::Cancelled, text), out);
    }

    /// Ends the run if a result needs something that the host does not support: a subtask or, in journals of version 1, a
    /// person's decision (contract X6). Returns whether the run was ended.
    pub(super) fn end_run_on_unsupported_result(
        &mut self,
        id: &str,
        calls: &[ParsedToolCall],
        results: &[ToolResult],
        out: &mut Outbox,
    ) -> bool {
        let suspended = results.iter().find(|result| result.status == ToolStatus::Suspended);
        let not_implemented = results
            .iter()
            .find(|result| result.code == Some(ToolErrorCode::NotImplemented));
        let Some(cause) = suspended.or(not_implemented) else {
            return false;
        };
        self.stop_item_and_keep_results(id, results);
        match suspended {
            Some(result) => self.end_run_on_suspended_result(id, calls, result, out),
            None => self.end_run_on_unimplemented(id, cause, out),
        }
        true
    }

    /// Stops the item, and keeps in the plan the results that it had and those of `results` whose calls have ended.
    pub(super) fn stop_item_and_keep_results(&mut self, id: &str, results: &[ToolResult]) {
        let Some(mut item_run) = self.running.remove(id) else {
            return;
        };
        let ended = results.iter().filter(|result| result.status != ToolStatus::Suspended);
        item_run.results.extend(ended.cloned());
        if let Some(item) = self.item_mut(id) {
            item.tool_results = item_run.results;
        }
    }

    /// Ends the run because a tool in a journal of version 1 waits for a person. With a journal of a later version, a run waits
    /// for the decision instead, and then goes on.
    fn end_run_on_suspended_result(
        &mut self,
        id: &str,
        calls: &[ParsedToolCall],
        result: &ToolResult,
        out: &mut Outbox,
    ) {
        let tool = &result.tool_name;
        let reason = format!("the tool `{tool}` waits for a person's decision");
        self.state.is_paused = true;
        self.set_status_with_reason(id, TodoItemStatus::Waiting, &reason, out);
        let input = calls
            .iter()
            .find(|call| call.call_id == result.call_id)
            .map(|call| &call.arguments);
        let suspension_id = &result.metadata.suspension_id;
        let content = json!({
            "toolName": tool, "suspensionId": suspension_id, "toolInput": input, "toolOutput": result.output,
        });
        out.observe(ObservationType::AgentSuspended, Some(id), content);
        let text = self.with_result_listing(&format!(
            "The tool `{tool}` needs a person's decision before it acts. Resuming a run is not yet supported, so the run \
             ended here and the tool did not act."
        ));
        let ui_metadata = Some(json!({"status": "suspended", "suspensionId": suspension_id}));
        self.finish(
            RunEnding::new(RunStatus::Suspended, text).with_ui_metadata(ui_metadata),
            out,
        );
    }

    /// Ends the run because a tool asked for something that is not implemented, such as a subtask.
    fn end_run_on_unimplemented(&mut self, id: &str, result: &ToolResult, out: &mut Outbox) {
        let tool = &result.tool_name;
        let why = result.error.as_deref().unwrap_or("it hands its work to a subtask");
        let message = format!("the tool `{tool}` asked for something that is not yet supported: {why}");
        self.set_status_with_reason(id, TodoItemStatus::Failed, &message, out);
        let text = self.with_result_listing(&format!("The run ended early: {message}."));
        let error = self.art_error(ErrorCode::NotImplemented, &message);
        self.finish(RunEnding::new(RunStatus::Error, text).with_error(error), out);
    }

    fn set_status_with_reason(&mut self, id: &str, status: TodoItemStatus, reason: &str, out: &mut Outbox) {
        if let Some(item) = self.item_mut(id) {
            item.error = Some(reason.to_owned());
        }
        self.set_status(id, status, out);
    }
}
