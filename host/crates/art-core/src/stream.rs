//! Events that a model streams, and the reply that they make up.

mod envelope;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{ModelError, RetryContext};
use crate::tool::ToolCallRequest;
use crate::usage::TokenUsage;

pub use envelope::{StreamContext, StreamEnvelope, StreamEventType, TokenType};

/// Phase of a run (contract C40).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Phase {
    Planning,
    Execution,
    Synthesis,
}

/// The step of the plan for which a model is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepContext {
    /// Identifier of the step.
    pub step_id: String,
    /// Description of the step.
    pub step_description: String,
}

/// One event of a streamed reply. A stream has its events in the order of their arrival.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StreamEvent {
    /// Text of the reply.
    Token(String),
    /// Thoughts of the model.
    Thinking(String),
    /// A complete tool call. Its identifier is empty if the provider gave none.
    ToolCall(ToolCallRequest),
    /// State, such as signed thoughts, that later requests must send back to the provider with this reply.
    State(ProviderState),
    /// Parts of the question that the answer does not address.
    Unanswered(Vec<String>),
    /// The call failed before its first token and will be retried.
    Retry(RetryContext),
    /// Token counts and times.
    Metadata(LlmMetadata),
    /// The stream ends with an error.
    Error(ModelError),
    /// The stream ends normally.
    End,
}

/// Token counts, times and cost of a model call (contract C41). Unknown counts are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LlmMetadata {
    /// Input tokens, including those read from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Output tokens, including thoughts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Tokens of thoughts, which `output_tokens` includes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_tokens: Option<u64>,
    /// Tokens read from the provider's cache, which `input_tokens` includes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_input_tokens: Option<u64>,
    /// Time to the first token, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_to_first_token_ms: Option<u64>,
    /// Time to the last token, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_generation_time_ms: Option<u64>,
    /// Why the model stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// Usage in the provider's own format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_raw_usage: Option<Value>,
    /// Identifier of the run, which the contracts call a trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// Cost in US dollars, as reported by the provider, else from the host's price table; absent if neither has a price.
    #[serde(rename = "llmCost", skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Whether the host estimated the counts because the provider gave none.
    #[serde(skip_serializing_if = "crate::wire::is_default")]
    pub estimated: bool,
}

impl LlmMetadata {
    /// Returns the token counts; missing counts are 0.
    #[must_use]
    pub fn usage(&self) -> TokenUsage {
        let (input, output) = (
            self.input_tokens.unwrap_or_default(),
            self.output_tokens.unwrap_or_default(),
        );
        TokenUsage {
            prompt_tokens: input,
            completion_tokens: output,
            total_tokens: input.saturating_add(output),
        }
    }

    /// Adds the counts, the generation time and the cost of another call. A count that both lack stays absent (contract
    /// B20). The sum counts as estimated if one of the two does. Other fields, such as the stop reason and the time to the first
    /// token, do not change.
    pub fn add(&mut self, other: &Self) {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        self.input_tokens = sum(self.input_tokens, other.input_tokens);
        self.output_tokens = sum(self.output_tokens, other.output_tokens);
        self.thinking_tokens = sum(self.thinking_tokens, other.thinking_tokens);
        self.cached_input_tokens = sum(self.cached_input_tokens, other.cached_input_tokens);
        self.total_generation_time_ms = sum(self.total_generation_time_ms, other.total_generation_time_ms);
        self.cost_usd = match (self.cost_usd, other.cost_usd) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        self.estimated |= other.estimated;
    }
}

/// Why a model stopped (contract C41). The reasons of all providers are mapped to these; an unknown reason is kept
/// unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum StopReason {
    /// The reply is complete.
    Stop,
    /// The token limit was reached. The reply is incomplete, and its last tool call may be cut off.
    Length,
    /// The model calls tools.
    ToolCalls,
    /// The model refused, or the provider withheld the reply.
    ContentFilter,
    /// Another reason, in the words of the provider.
    Other(String),
}

impl From<String> for StopReason {
    fn from(text: String) -> Self {
        match text.as_str() {
            "stop" => Self::Stop,
            "length" => Self::Length,
            "tool_calls" => Self::ToolCalls,
            "content_filter" => Self::ContentFilter,
            _ => Self::Other(text),
        }
    }
}

impl From<StopReason> for String {
    fn from(reason: StopReason) -> Self {
        match reason {
            StopReason::Stop => "stop".to_owned(),
            StopReason::Length => "length".to_owned(),
            StopReason::ToolCalls => "tool_calls".to_owned(),
            StopReason::ContentFilter => "content_filter".to_owned(),
            StopReason::Other(text) => text,
        }
    }
}

/// State that later requests must send back to the provider with a reply, such as signed thoughts. Only requests in the same
/// protocol (the API of the provider, for example Anthropic Messages) contain it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProviderState {
    /// Name of the protocol of the reply.
    #[serde(rename = "wire")]
    pub protocol: String,
    /// The state, in the format of that protocol.
    pub content: Value,
}

/// A complete reply, put together from its events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelReply {
    /// Text of the reply.
    pub text: String,
    /// Thoughts of the model.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub thinking: String,
    /// Tool calls, without those that the model wrote as text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCallRequest>,
    /// State, such as signed thoughts, that later requests must send back to the provider with this reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<ProviderState>,
    /// Parts of the question that the answer does not address, as far as the model reports them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unanswered: Vec<String>,
    /// Token counts, times and cost.
    pub metadata: LlmMetadata,
}

impl ModelReply {
    /// Adds an event.
    ///
    /// # Errors
    /// Fails with the error of the stream if the event is [`StreamEvent::Error`].
    pub fn push(&mut self, event: StreamEvent) -> Result<(), ModelError> {
        match event {
            StreamEvent::Token(text) => self.text.push_str(&text),
            StreamEvent::Thinking(text) => self.thinking.push_str(&text),
            StreamEvent::ToolCall(call) => self.tool_calls.push(call),
            StreamEvent::State(state) => self.state = Some(state),
            StreamEvent::Unanswered(parts) => self.unanswered.extend(parts),
            StreamEvent::Metadata(metadata) => self.metadata = metadata,
            StreamEvent::Error(error) => return Err(error),
            StreamEvent::Retry(_) | StreamEvent::End => {}
        }
        Ok(())
    }
}

/// How much of a reply had arrived when its call was interrupted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PartialReply {
    /// Size of the text, thoughts and calls that had arrived, in bytes.
    pub bytes: u64,
    /// Counts that the provider had reported.
    #[serde(skip_serializing_if = "crate::wire::is_default")]
    pub metadata: LlmMetadata,
}

impl PartialReply {
    /// Adds the size of the text, the thoughts or the tool call of an event. If the event has token counts, stores them instead.
    pub fn push(&mut self, event: &StreamEvent) {
        let bytes = match event {
            StreamEvent::Token(text) | StreamEvent::Thinking(text) => text.len(),
            StreamEvent::ToolCall(call) => call.function.name.len().saturating_add(call.function.arguments.len()),
            StreamEvent::Metadata(metadata) => {
                self.metadata = metadata.clone();
                0
            }
            _ => 0,
        };
        self.bytes = self.bytes.saturating_add(bytes as u64);
    }

    /// Returns whether nothing had arrived.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ModelErrorCode;
    use crate::tool::{FunctionCall, FunctionKind};

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

    fn metadata_with_stop_reason(reason: &str) -> LlmMetadata {
        LlmMetadata {
            stop_reason: Some(reason.to_owned().into()),
            ..LlmMetadata::default()
        }
    }

    #[test]
    fn a_reply_is_put_together_from_its_events() {
        let events = [
            StreamEvent::Thinking("hm".to_owned()),
            StreamEvent::Token("4".to_owned()),
            StreamEvent::ToolCall(call("a")),
            StreamEvent::Thinking("m".to_owned()),
            StreamEvent::Token("2".to_owned()),
            StreamEvent::ToolCall(call("b")),
            StreamEvent::Unanswered(vec!["who won".to_owned()]),
            StreamEvent::Metadata(metadata_with_stop_reason("tool_use")),
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
            state: None,
            unanswered: vec!["who won".to_owned()],
            metadata: metadata_with_stop_reason("tool_use"),
        };
        assert_eq!(reply, expected);
    }

    #[test]
    fn an_interrupted_reply_counts_what_had_arrived() {
        let mut partial = PartialReply::default();
        for event in [
            StreamEvent::Thinking("hm".to_owned()),
            StreamEvent::Token("four".to_owned()),
            StreamEvent::ToolCall(call("a")),
            StreamEvent::Metadata(metadata_with_stop_reason("stop")),
        ] {
            partial.push(&event);
        }
        let bytes = ("hm".len() + "four".len() + "calculator".len() + "{}".len()) as u64;
        assert_eq!(
            (partial.bytes, partial.metadata.clone()),
            (bytes, metadata_with_stop_reason("stop"))
        );
        assert!(!partial.is_empty() && PartialReply::default().is_empty());
    }

    #[test]
    fn the_last_metadata_of_a_stream_is_kept() {
        let mut reply = ModelReply::default();
        for reason in ["length", "stop"] {
            assert_eq!(
                reply.push(StreamEvent::Metadata(metadata_with_stop_reason(reason))),
                Ok(())
            );
        }
        assert_eq!(reply.metadata, metadata_with_stop_reason("stop"));
    }

    #[test]
    fn counts_add_up_and_missing_ones_stay_absent() {
        let call = LlmMetadata {
            input_tokens: Some(10),
            cached_input_tokens: Some(4),
            cost_usd: Some(0.5),
            stop_reason: Some(StopReason::Stop),
            ..LlmMetadata::default()
        };
        let mut sum = LlmMetadata::default();
        for call in [&call, &LlmMetadata::default(), &call] {
            sum.add(call);
        }
        let expected = LlmMetadata {
            input_tokens: Some(20),
            cached_input_tokens: Some(8),
            cost_usd: Some(1.0),
            ..LlmMetadata::default()
        };
        assert_eq!(sum, expected);
    }

    // Token counts that a provider does not report (contracts A86, C85).
    #[test]
    fn the_total_of_a_call_counts_missing_numbers_as_zero() {
        let counts_of = |input_tokens, output_tokens| {
            let usage = LlmMetadata {
                input_tokens,
                output_tokens,
                ..LlmMetadata::default()
            }
            .usage();
            (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens)
        };
        assert_eq!(counts_of(Some(10), Some(7)), (10, 7, 17));
        assert_eq!(counts_of(Some(10), None), (10, 0, 10));
        assert_eq!(counts_of(None, None), (0, 0, 0));
        assert_eq!(counts_of(Some(u64::MAX), Some(1)), (u64::MAX, 1, u64::MAX));
    }

    #[test]
    fn an_error_is_returned_and_the_reply_so_far_is_kept() {
        let error = ModelError {
            code: ModelErrorCode::Timeout,
            message: "too slow".to_owned(),
            retry_after_ms: None,
            request_not_read: false,
        };
        let mut reply = ModelReply::default();
        assert_eq!(reply.push(StreamEvent::Token("4".to_owned())), Ok(()));
        assert_eq!(reply.push(StreamEvent::Error(error.clone())), Err(error));
        assert_eq!(reply.text, "4");
    }
}
