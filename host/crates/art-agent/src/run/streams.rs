//! Counts and records model calls of all phases (C35, C37).

use art_core::JsonObject;
use art_core::error::{ModelError, ModelErrorCode};
use art_core::observation::ObservationType;
use art_core::stream::{ModelReply, PartialReply, Phase, TokenType};
use serde_json::json;

use super::{OpenAction, Run, Stage, ToolBatch};
use crate::action::ActionId;
use crate::effect::Outbox;
use crate::prompt;

impl Run {
    /// Counts and records the reply of an open model call, and continues the run with it.
    pub(super) fn handle_model_reply(&mut self, action: ActionId, reply: &ModelReply, out: &mut Outbox) {
        let tokens = self.asked.get(&action).copied().unwrap_or_default();
        let Some(open) = self.close_action(action) else {
            return;
        };
        self.count_reply(&open, tokens, reply);
        // The model works again, so an earlier error is not the reason for a later end of the run.
        self.model_error = None;
        let (phase, parent) = (self.stream_phase(&open), parent_id(&open));
        out.observe(ObservationType::LlmStreamMetadata, parent, json!(reply.metadata));
        out.observe(ObservationType::LlmStreamEnd, parent, json!({"phase": phase}));
        match open {
            OpenAction::Plan => {
                self.planner_tokens = Some(tokens.saturating_add(prompt::reply_tokens(reply)));
                self.handle_plan(reply, out);
            }
            OpenAction::Item(id) => self.handle_item_reply(&id, reply, out),
            OpenAction::Answer => self.handle_answer(reply, out),
            OpenAction::Tools(_) => {}
        }
    }

    /// Records the failure of an open model call. Retries the call if a different request may succeed; otherwise the plan, item or
    /// answer fails.
    pub(super) fn handle_model_failure(
        &mut self,
        action: ActionId,
        error: &ModelError,
        received: &PartialReply,
        out: &mut Outbox,
    ) {
        let tokens = self.asked.get(&action).copied().unwrap_or_default();
        let was_shortened = self.shortened.contains_key(&action);
        let Some(open) = self.close_action(action) else {
            return;
        };
        self.count_failed_call(&open, tokens, error, received);
        self.model_error = Some(error.clone());
        let content = json!({"phase": self.stream_phase(&open), "error": error});
        out.observe(ObservationType::LlmStreamError, parent_id(&open), content);
        if error.code == ModelErrorCode::ContextLengthExceeded && self.retry_shorter(&open, tokens, was_shortened) {
            return;
        }
        if error.code == ModelErrorCode::ToolsNotSupported && self.retry_with_text_tools(&open, out) {
            return;
        }
        self.fail_asked(open, &error.to_string(), out);
    }

    /// Records all thoughts of a reply as one observation (B12).
    pub(super) fn observe_thoughts(&self, phase: Phase, item_id: Option<&str>, thoughts: &str, out: &mut Outbox) {
        if thoughts.trim().is_empty() {
            return;
        }
        let token_type = TokenType::for_phase(Some(phase), true);
        let mut metadata = JsonObject::new();
        metadata.insert("phase".to_owned(), json!(phase));
        metadata.insert("tokenType".to_owned(), json!(token_type));
        metadata.insert("timestamp".to_owned(), json!(self.now));
        if let Some(item) = item_id.and_then(|id| self.item(id)) {
            metadata.insert("stepId".to_owned(), json!(item.id));
            metadata.insert("stepDescription".to_owned(), json!(item.description));
        }
        out.observe_with(ObservationType::Thoughts, item_id, json!({"text": thoughts}), metadata);
    }

    /// Returns the name of the phase in observations of a model call.
    pub(super) fn stream_phase(&self, action: &OpenAction) -> String {
        match action {
            OpenAction::Plan => "planning".to_owned(),
            OpenAction::Answer => "synthesis".to_owned(),
            OpenAction::Item(id) | OpenAction::Tools(ToolBatch { item_id: id, .. }) => {
                let iteration = self.running.get(id).map_or(0, |item_run| item_run.iteration);
                format!("execution_item_{id}_iter_{iteration}")
            }
        }
    }

    /// Returns the phase label of an ERROR observation (P2).
    pub(super) fn phase_label(&self) -> &'static str {
        match self.stage {
            Stage::Planning if self.state.todo_list.is_empty() => "planning",
            Stage::Planning => "planning_refinement",
            Stage::Execution => "execution_loop",
            Stage::Synthesis => "synthesis",
            Stage::Finished(_) => "finalization",
        }
    }
}

/// Returns the identifier of the item of an action, if it has one.
pub(super) fn parent_id(action: &OpenAction) -> Option<&str> {
    match action {
        OpenAction::Plan | OpenAction::Answer => None,
        OpenAction::Item(id) | OpenAction::Tools(ToolBatch { item_id: id, .. }) => Some(id),
    }
}
