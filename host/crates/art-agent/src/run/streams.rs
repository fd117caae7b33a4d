//! Handles the replies and failures of model calls, and records the calls, their replies and their errors as
//! observations (contract C35).

use art_core::JsonObject;
use art_core::error::{ModelError, ModelErrorCode};
use art_core::observation::ObservationType;
use art_core::stream::{ModelReply, PartialReply, Phase, TokenType};
use serde_json::json;

use super::{OpenAction, RefusedRequest, Run, Stage, ToolBatch};
use crate::action::ActionId;
use crate::effect::Outbox;
use crate::prompt;

impl Run {
    /// Counts and records the reply of an open model call, and continues the run with it.
    pub(super) fn handle_model_reply(&mut self, action: ActionId, reply: &ModelReply, out: &mut Outbox) {
        let request_tokens = self.model_calls_in_progress.get(&action).copied().unwrap_or_default();
        let Some(closed) = self.close_action(action) else {
            return;
        };
        self.count_reply(&closed, request_tokens, reply);
        // The model works again, so an earlier error is not the reason for a later end of the run.
        self.model_error = None;
        let (phase, item_id) = (self.observed_phase(&closed), item_id_of(&closed));
        out.observe(ObservationType::LlmStreamMetadata, item_id, json!(reply.metadata));
        out.observe(ObservationType::LlmStreamEnd, item_id, json!({"phase": phase}));
        match closed {
            OpenAction::Plan => {
                self.planner_tokens = Some(request_tokens.saturating_add(prompt::reply_tokens(reply)));
                self.handle_planner_reply(reply, out);
            }
            OpenAction::Item(id) => self.handle_item_reply(&id, reply, out),
            OpenAction::Answer => self.handle_answer(reply, out),
            OpenAction::Tools(_) => {}
        }
    }

    /// Counts and records the failure of an open model call. Retries the call if a different request may succeed; otherwise the
    /// planning, the item or the answer fails.
    pub(super) fn handle_model_failure(
        &mut self,
        action: ActionId,
        error: &ModelError,
        received: &PartialReply,
        out: &mut Outbox,
    ) {
        let request_tokens = self.model_calls_in_progress.get(&action).copied().unwrap_or_default();
        let was_shortened = self.refused_requests.contains_key(&action);
        let Some(closed) = self.close_action(action) else {
            return;
        };
        self.count_failed_call(&closed, request_tokens, error, received);
        self.model_error = Some(error.clone());
        let content = json!({"phase": self.observed_phase(&closed), "error": error});
        out.observe(ObservationType::LlmStreamError, item_id_of(&closed), content);
        if error.code == ModelErrorCode::ContextLengthExceeded {
            let refused = RefusedRequest {
                tokens: request_tokens,
                error: error.clone(),
            };
            if self.retry_shorter(&closed, refused, was_shortened) {
                return;
            }
        }
        if error.code == ModelErrorCode::ToolsNotSupported && self.retry_with_text_tools(&closed, out) {
            return;
        }
        self.fail_after_model_error(closed, &error.to_string(), out);
    }

    /// Records all thoughts of a reply as one observation (contract B12), with their phase and, in execution, their
    /// item (contract C37).
    pub(super) fn observe_thoughts(&self, phase: Phase, item_id: Option<&str>, thoughts: &str, out: &mut Outbox) {
        if thoughts.trim().is_empty() {
            return;
        }
        let is_thought = true;
        let token_type = TokenType::for_phase(Some(phase), is_thought);
        let mut metadata = JsonObject::new();
        metadata.insert("phase".to_owned(), json!(phase));
        metadata.insert("tokenType".to_owned(), json!(token_type));
        metadata.insert("timestamp".to_owned(), json!(self.now));
        if let Some(item) = item_id.and_then(|id| self.item(id)) {
            metadata.insert("stepId".to_owned(), json!(item.id));
            metadata.insert("stepDescription".to_owned(), json!(item.description));
        }
        out.observe_with_metadata(ObservationType::Thoughts, item_id, json!({"text": thoughts}), metadata);
    }

    /// Returns the phase of an action as observations of model calls state it. For an item, the phase contains the identifier of
    /// the item and the number of the current model call of the item.
    pub(super) fn observed_phase(&self, action: &OpenAction) -> String {
        match action {
            OpenAction::Plan => "planning".to_owned(),
            OpenAction::Answer => "synthesis".to_owned(),
            OpenAction::Item(id) | OpenAction::Tools(ToolBatch { item_id: id, .. }) => {
                let iteration = self.running.get(id).map_or(0, |item_run| item_run.iteration);
                format!("execution_item_{id}_iter_{iteration}")
            }
        }
    }

    /// Returns the phase of the run as errors state it (contract P2).
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

/// Returns the identifier of the item of an action; `None` for planning and the answer.
pub(super) fn item_id_of(action: &OpenAction) -> Option<&str> {
    match action {
        OpenAction::Plan | OpenAction::Answer => None,
        OpenAction::Item(id) | OpenAction::Tools(ToolBatch { item_id: id, .. }) => Some(id),
    }
}
