//! Records of what a run did.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::shared::Shared;
use crate::{JsonObject, Timestamp};

/// Kind of an observation (contract C34).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
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
    /// Returns the wire name.
    #[must_use]
    pub fn wire_name(self) -> String {
        match serde_json::to_value(self) {
            Ok(Value::String(name)) => name,
            _ => String::new(),
        }
    }
}

/// An observation to record. The store adds its identifier, time, title and sequence number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewObservation {
    /// Identifier of the conversation.
    pub thread_id: String,
    /// Identifier of the run, which the contracts call a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// Identifier of what the observation belongs to, such as a plan item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// Kind.
    #[serde(rename = "type")]
    pub kind: ObservationType,
    /// Content, in the shape of its kind (contract C36).
    pub content: Shared<Value>,
    /// Further fields.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub metadata: JsonObject,
}

/// A recorded observation, which never changes (contract C33).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Observation {
    /// Identifier.
    pub id: String,
    /// Position in the thread: 1, 2, 3 ... without gaps.
    pub sequence: u64,
    /// Time at which it was stored.
    pub timestamp: Timestamp,
    /// Title: `<TYPE> Recorded`.
    pub title: String,
    /// The recorded data.
    #[serde(flatten)]
    pub body: NewObservation,
}
