//! Records of what a run did.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{JsonObject, Timestamp};

/// Kind of an observation (C34).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ObservationType {
    Intent,
    Title,
    Plan,
    Thoughts,
    ToolCall,
    ToolExecution,
    Synthesis,
    Error,
    FinalResponse,
    StateUpdate,
    PlanUpdate,
    ItemStatusChange,
    AgentSuspended,
    AgentResumed,
    SuspensionTimeout,
    LlmStreamStart,
    LlmStreamMetadata,
    LlmStreamEnd,
    LlmStreamError,
}

impl ObservationType {
    /// Returns the name on the wire.
    #[must_use]
    pub fn wire_name(self) -> String {
        match serde_json::to_value(self) {
            Ok(Value::String(name)) => name,
            _ => String::new(),
        }
    }
}

/// An observation to record; the store adds identifier, time, title and sequence number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewObservation {
    /// Conversation.
    pub thread_id: String,
    /// Run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// Parent, for example a todo item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// Kind.
    #[serde(rename = "type")]
    pub kind: ObservationType,
    /// Shape by kind (C36).
    pub content: Value,
    /// Further fields.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub metadata: JsonObject,
}

/// One recorded observation (C33). Never changed after it was stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Observation {
    /// Identifier.
    pub id: String,
    /// Position in the thread, from 1, without gaps.
    pub sequence: u64,
    /// When it was stored.
    pub timestamp: Timestamp,
    /// `<TYPE> Recorded`.
    pub title: String,
    /// The recorded data.
    #[serde(flatten)]
    pub body: NewObservation,
}
