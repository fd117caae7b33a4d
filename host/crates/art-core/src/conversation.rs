//! Messages between people and agents.

use serde::{Deserialize, Serialize};

use crate::{JsonObject, Timestamp};

/// Author of a message (C31).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum MessageRole {
    User,
    Ai,
    System,
    Tool,
}

/// One message of a thread (C32).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationMessage {
    /// Identifier of the message, unique in the store.
    pub message_id: String,
    /// Identifier of the conversation.
    pub thread_id: String,
    /// Author.
    pub role: MessageRole,
    /// Text.
    pub content: String,
    /// Creation time.
    pub timestamp: Timestamp,
    /// Further fields, such as `traceId`, `error` and `stepId`.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub metadata: JsonObject,
}
