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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ModelErrorCode;
    use crate::prompt::{FunctionCall, FunctionKind};

    fn call(id: &str) -> ToolCallRequest {
        ToolCallRequest {
            id: id.to_owned(),
            kind: FunctionKind::Function,
            function: FunctionCall {
                name: "calculator".to_owned(),
                arguments: "{}".to_owned(),
            },
        }
    }

    fn stopped_by(reason: &str) -> LlmMetadata {
        LlmMetadata {
            stop_reason: Some(reason.to_owned()),
            ..LlmMetadata::default()
        }
    }

    #[test]
    fn a_reply_is_the_fold_of_its_events() {
        let events = [
            StreamEvent::Thinking("hm".to_owned()),
            StreamEvent::Token("4".to_owned()),
            StreamEvent::ToolCall(call("a")),
            StreamEvent::Thinking("m".to_owned()),
            StreamEvent::Token("2".to_owned()),
            StreamEvent::ToolCall(call("b")),
            StreamEvent::Metadata(stopped_by("tool_use")),
            StreamEvent::End,
        ];
        let mut reply = ModelReply::default();
        for event in events {
            assert_eq!(reply.push(event), Ok(()));
        }
        let expected = ModelReply {
            text: "42".to_owned(),
            thinking: "hmm".to_owned(),
            tool_calls: vec![call("a"), call("b")],
            metadata: stopped_by("tool_use"),
        };
        assert_eq!(reply, expected);
    }

    #[test]
    fn the_last_counts_of_a_stream_hold() {
        let mut reply = ModelReply::default();
        for reason in ["length", "stop"] {
            assert_eq!(reply.push(StreamEvent::Metadata(stopped_by(reason))), Ok(()));
        }
        assert_eq!(reply.metadata, stopped_by("stop"));
    }

    #[test]
    fn an_error_is_given_back_and_what_came_before_it_stays() {
        let error = ModelError {
            code: ModelErrorCode::Timeout,
            message: "too slow".to_owned(),
            retry_after_ms: None,
        };
        let mut reply = ModelReply::default();
        assert_eq!(reply.push(StreamEvent::Token("4".to_owned())), Ok(()));
        assert_eq!(reply.push(StreamEvent::Error(error.clone())), Err(error));
        assert_eq!(reply.text, "4");
    }
}
