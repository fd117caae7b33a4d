//! What a model streams (C38 to C43).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::ModelError;
use crate::prompt::ToolCallRequest;
use crate::usage::TokenUsage;

/// Phase of a run that a model call belongs to (C40).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Phase {
    Planning,
    Execution,
    Synthesis,
}

/// One piece of a reply, in the order in which it arrives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StreamEvent {
    /// Text of the answer.
    Token(String),
    /// Text of the model's thoughts.
    Thinking(String),
    /// A whole tool call.
    ToolCall(ToolCallRequest),
    /// Counts and timings.
    Metadata(LlmMetadata),
    /// The stream ends here, without an answer.
    Error(ModelError),
    /// The stream ends here.
    End,
}

/// Counts and timings of a model call (C41).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LlmMetadata {
    /// Tokens.
    pub usage: TokenUsage,
    /// Tokens of thought, also counted in `usage`.
    pub thinking_tokens: u64,
    /// Milliseconds to the first token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_to_first_token_ms: Option<u64>,
    /// Milliseconds to the last token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_generation_time_ms: Option<u64>,
    /// Why it stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Usage as the provider gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_raw_usage: Option<Value>,
}

/// A whole reply: the fold of its events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelReply {
    /// Answer.
    pub text: String,
    /// Thoughts.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub thinking: String,
    /// Calls in the provider's own form.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCallRequest>,
    /// Counts and timings.
    pub metadata: LlmMetadata,
}

impl ModelReply {
    /// Adds one event; gives the error that ends the stream.
    ///
    /// # Errors
    /// When the event is an error.
    pub fn push(&mut self, event: StreamEvent) -> Result<(), ModelError> {
        match event {
            StreamEvent::Token(text) => self.text.push_str(&text),
            StreamEvent::Thinking(text) => self.thinking.push_str(&text),
            StreamEvent::ToolCall(call) => self.tool_calls.push(call),
            StreamEvent::Metadata(metadata) => self.metadata = metadata,
            StreamEvent::Error(error) => return Err(error),
            StreamEvent::End => {}
        }
        Ok(())
    }
}
