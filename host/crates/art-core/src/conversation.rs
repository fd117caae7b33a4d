//! Messages between people and agents.

use serde::{Deserialize, Serialize};

use crate::{JsonObject, Timestamp};

/// Author of a message (C31).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "the names say it")]
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
    /// Identifier, unique in the store.
    pub message_id: String,
    /// Conversation.
    pub thread_id: String,
    /// Author.
    pub role: MessageRole,
    /// Text.
    pub content: String,
    /// When.
    pub timestamp: Timestamp,
    /// `traceId`, `error`, `stepId` and the like.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub metadata: JsonObject,
}
