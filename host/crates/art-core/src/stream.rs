//! Events that a model streams.

mod envelope;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{ModelError, RetryContext};
use crate::tool::ToolCallRequest;
use crate::usage::TokenUsage;

pub use envelope::{StreamContext, StreamEnvelope, StreamEventType, TokenType};

/// Phase of a run that a model call belongs to (C40).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Phase {
    Planning,
    Execution,
    Synthesis,
}

/// Step of the plan that a model call belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepContext {
    /// The item.
    pub step_id: String,
    /// Description of the step.
    pub step_description: String,
}

/// One piece of a reply, in the order in which it arrives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StreamEvent {
    /// Text of the answer.
    Token(String),
    /// Text of the model's thoughts.
    Thinking(String),
    /// A whole tool call. The identifier is empty when the provider gave none.
    ToolCall(ToolCallRequest),
    /// Provider state of this turn.
    State(ProviderState),
    /// Parts of the question that the answer does not address.
    Unanswered(Vec<String>),
    /// The call failed before its first token and is made again.
    Retry(RetryContext),
    /// Counts and timings.
    Metadata(LlmMetadata),
    /// The stream ends here, without an answer.
    Error(ModelError),
    /// The stream ends here.
    End,
}

/// Counts and timings of a model call (C41). Counts that the provider omits are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LlmMetadata {
    /// Tokens read, those from a cache among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens written, thoughts among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Tokens of thought, also counted in `output_tokens`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_tokens: Option<u64>,
    /// Tokens read from the provider's cache, also counted in `input_tokens`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_input_tokens: Option<u64>,
    /// Milliseconds to the first token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_to_first_token_ms: Option<u64>,
    /// Milliseconds to the last token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_generation_time_ms: Option<u64>,
    /// Why it stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// Usage as the provider gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_raw_usage: Option<Value>,
    /// The run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// US dollars as the provider counts them or, where it does not, by the host's price table; none without a price.
    #[serde(rename = "llmCost", skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The counts are the host's estimate, because the provider gave none.
    #[serde(skip_serializing_if = "crate::wire::is_default")]
    pub estimated: bool,
}

impl LlmMetadata {
    /// Returns the tokens in one form; missing counts are 0.
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

    /// Adds counts, times and cost of another call; a count that both lack stays absent (B20). Fields of a single call,
    /// such as its stop reason, do not change.
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

/// Why a model stopped (C41), in the words of one provider for all; a reason that none of them has stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum StopReason {
    /// It was done.
    Stop,
    /// The token limit was reached: the reply is incomplete, and its last call may be cut.
    Length,
    /// It calls tools.
    ToolCalls,
    /// It refused, or the provider held the reply back.
    ContentFilter,
    /// Anything else, as the provider says it.
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

/// State that a provider wants back with its turn, such as signed thoughts. Only the protocol that made it reads it;
/// others leave it out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProviderState {
    /// The protocol that created it.
    pub wire: String,
    /// The state, in the form of that protocol.
    pub content: Value,
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
    /// Provider state of this turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<ProviderState>,
    /// Parts of the question that the answer does not address, as far as the model knows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unanswered: Vec<String>,
    /// Counts and timings.
    pub metadata: LlmMetadata,
}

impl ModelReply {
    /// Adds one event; gives the error that ends the stream.
    ///
    /// # Errors
    /// Fails if the event is an error.
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

    fn stopped_by(reason: &str) -> LlmMetadata {
        LlmMetadata {
            stop_reason: Some(reason.to_owned().into()),
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
            StreamEvent::Unanswered(vec!["who won".to_owned()]),
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
            state: None,
            unanswered: vec!["who won".to_owned()],
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
    fn counts_of_several_calls_add_up_and_what_none_says_stays_absent() {
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

    // A86, C85
    #[test]
    fn the_total_of_a_call_is_computed_and_what_is_missing_counts_as_nothing() {
        let used = |input_tokens, output_tokens| {
            let usage = LlmMetadata {
                input_tokens,
                output_tokens,
                ..LlmMetadata::default()
            }
            .usage();
            (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens)
        };
        assert_eq!(used(Some(10), Some(7)), (10, 7, 17));
        assert_eq!(used(Some(10), None), (10, 0, 10));
        assert_eq!(used(None, None), (0, 0, 0));
        assert_eq!(used(Some(u64::MAX), Some(1)), (u64::MAX, 1, u64::MAX));
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
