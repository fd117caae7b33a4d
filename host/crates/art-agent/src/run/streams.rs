//! Counts and observes model calls, whichever phase makes them (C35, C37).

use art_core::JsonObject;
use art_core::error::{ModelError, ModelErrorCode};
use art_core::observation::ObservationType;
use art_core::stream::{ModelReply, Phase, TokenType};
use serde_json::json;

use super::{OpenStep, Run, Stage};
use crate::effect::Outbox;
use crate::step::StepId;

impl Run {
    pub(super) fn model_replied(&mut self, step: StepId, reply: &ModelReply, out: &mut Outbox) {
        let Some(open) = self.open.remove(&step) else {
            return;
        };
        self.count(step, &open, reply);
        // A reply clears an earlier failure: whatever ends the run later has another reason.
        self.model_error = None;
        self.shortened.remove(&step);
        let (phase, parent) = (self.stream_phase(&open), parent(&open));
        out.observe(ObservationType::LlmStreamMetadata, parent, json!(reply.metadata));
        out.observe(ObservationType::LlmStreamEnd, parent, json!({"phase": phase}));
        match open {
            OpenStep::Plan => self.plan_replied(reply, out),
            OpenStep::Item(id) => self.item_replied(&id, reply, out),
            OpenStep::Answer => self.answer_replied(reply, out),
            OpenStep::Tools { .. } => {}
        }
    }

    pub(super) fn model_failed(&mut self, step: StepId, error: &ModelError, out: &mut Outbox) {
        let Some(open) = self.open.remove(&step) else {
            return;
        };
        self.count_failed(step, &open, error);
        self.model_error = Some(error.clone());
        let content = json!({"phase": self.stream_phase(&open), "error": error});
        out.observe(ObservationType::LlmStreamError, parent(&open), content);
        if error.code == ModelErrorCode::ContextLengthExceeded && self.ask_shorter(step, &open, out) {
            return;
        }
        if error.code == ModelErrorCode::ToolsNotSupported && self.ask_in_text(&open, out) {
            return;
        }
        match open {
            OpenStep::Plan => self.plan_failed(&format!("the model could not be asked: {error}"), out),
            OpenStep::Item(id) => self.item_failed(&id, &format!("the model could not be asked: {error}"), out),
            OpenStep::Answer => self.answer_failed(&format!("the model could not be asked: {error}"), out),
            OpenStep::Tools { .. } => {}
        }
    }

    /// Records all thoughts of a reply as one observation (B12).
    pub(super) fn observe_thoughts(&self, phase: Phase, item: Option<&str>, thoughts: &str, out: &mut Outbox) {
        if thoughts.trim().is_empty() {
            return;
        }
        let token_type = TokenType::of(Some(phase), true);
        let mut metadata = JsonObject::new();
        metadata.insert("phase".to_owned(), json!(phase));
        metadata.insert("tokenType".to_owned(), json!(token_type));
        metadata.insert("timestamp".to_owned(), json!(self.now));
        if let Some(item) = item.and_then(|id| self.item(id)) {
            metadata.insert("stepId".to_owned(), json!(item.id));
            metadata.insert("stepDescription".to_owned(), json!(item.description));
        }
        out.observe_with(ObservationType::Thoughts, item, json!({"text": thoughts}), metadata);
    }

    pub(super) fn stream_phase(&self, step: &OpenStep) -> String {
        match step {
            OpenStep::Plan => "planning".to_owned(),
            OpenStep::Answer => "synthesis".to_owned(),
            OpenStep::Item(id) | OpenStep::Tools { item: id, .. } => {
                let iteration = self.live.get(id).map_or(0, |live| live.iteration);
                format!("execution_item_{id}_iter_{iteration}")
            }
        }
    }

    /// Returns the phase label of an ERROR observation (P2).
    pub(super) fn phase_label(&self) -> &'static str {
        match self.stage {
            Stage::Planning { .. } if self.state.todo_list.is_empty() => "planning",
            Stage::Planning { .. } => "planning_refinement",
            Stage::Execution => "execution_loop",
            Stage::Synthesis { .. } => "synthesis",
            Stage::Finished(_) => "finalization",
        }
    }
}

pub(super) fn parent(step: &OpenStep) -> Option<&str> {
    match step {
        OpenStep::Plan | OpenStep::Answer => None,
        OpenStep::Item(id) | OpenStep::Tools { item: id, .. } => Some(id),
    }
}
