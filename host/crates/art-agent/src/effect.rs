//! Effects: what has to be stored because of an event. Each effect stores one of three things: the state of the thread (the
//! conversation that the run belongs to), an observation (a record of what the run did, for those who watch it), or a message.
//! The driver, which is the program around the run, commits an event and its effects together.

use art_core::conversation::ConversationMessage;
use art_core::observation::{NewObservation, ObservationType};
use art_core::{JsonObject, Timestamp};
use serde_json::{Value, json};

use crate::event::CallEnd;
use crate::observe;

/// Something to store because of an event. Of the effects of one event, `SaveState` comes first, so that no observation describes
/// a state that is not stored yet (contract P40).
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Store the state of the thread, as [`crate::Run::stored_state`] returns it.
    SaveState,
    /// Record an observation.
    Observe(NewObservation),
    /// Add a message to the conversation (contract P81).
    AddMessage(ConversationMessage),
}

/// Collects the effects of one event.
#[derive(Debug)]
pub(crate) struct Outbox {
    thread_id: String,
    /// Identifier of the run.
    trace_id: String,
    /// Time of the event.
    at: Timestamp,
    effects: Vec<Effect>,
    state_changed: bool,
}

impl Outbox {
    pub(crate) fn new(thread_id: &str, trace_id: &str, at: Timestamp) -> Self {
        Self {
            thread_id: thread_id.to_owned(),
            trace_id: trace_id.to_owned(),
            at,
            effects: Vec::new(),
            state_changed: false,
        }
    }

    /// Marks the state as changed, so that it is stored before any observation of this event.
    pub(crate) const fn mark_state_changed(&mut self) {
        self.state_changed = true;
    }

    pub(crate) fn add_message(&mut self, message: ConversationMessage) {
        self.effects.push(Effect::AddMessage(message));
    }

    /// Adds an observation. `parent` is the identifier of the plan item that it belongs to, if any.
    pub(crate) fn observe(&mut self, kind: ObservationType, parent: Option<&str>, content: Value) {
        self.observe_with_metadata(kind, parent, content, JsonObject::new());
    }

    pub(crate) fn observe_with_metadata(
        &mut self,
        kind: ObservationType,
        parent: Option<&str>,
        content: Value,
        metadata: JsonObject,
    ) {
        self.effects.push(Effect::Observe(NewObservation {
            thread_id: self.thread_id.clone(),
            trace_id: Some(self.trace_id.clone()),
            parent_id: parent.map(str::to_owned),
            kind,
            content: content.into(),
            metadata,
        }));
    }

    /// Adds the `TOOL_EXECUTION` observation of a call that ended. Its content has a fixed form (contract C36).
    pub(crate) fn observe_tool_call(&mut self, item_id: &str, end: &CallEnd) {
        let (content, metadata) = observe::tool_execution(end);
        self.observe_with_metadata(ObservationType::ToolExecution, Some(item_id), content, metadata);
    }

    /// Adds an `ERROR` observation. `phase` is the phase of the run, such as `planning`.
    pub(crate) fn observe_error(&mut self, phase: &str, parent: Option<&str>, message: &str) {
        let content = json!({"phase": phase, "error": message, "stack": null, "timestamp": self.at});
        self.observe(ObservationType::Error, parent, content);
    }

    /// Returns the effects of the event: first `SaveState`, if the state changed, then the others in the order in which they were
    /// added.
    pub(crate) fn into_effects(self) -> Vec<Effect> {
        let save = self.state_changed.then_some(Effect::SaveState);
        save.into_iter().chain(self.effects).collect()
    }
}
