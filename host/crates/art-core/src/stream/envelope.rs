//! A stream event with its context, as user interfaces read it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Phase, StepContext, StreamEvent};
use crate::Timestamp;

/// Kind of an event on the wire. `TOOL_CALL` and `RETRY` are additions to contract C38, in which tool calls are tokens and
/// retries are not reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum StreamEventType {
    Token,
    Metadata,
    Error,
    End,
    ToolCall,
    Retry,
}

/// Which phase wrote a token, and whether it is a thought (contract C39).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum TokenType {
    PlanningLlmThinking,
    PlanningLlmResponse,
    ExecutionLlmThinking,
    ExecutionLlmResponse,
    SynthesisLlmThinking,
    SynthesisLlmResponse,
    LlmThinking,
    LlmResponse,
}

impl TokenType {
    /// Returns the type of a token that a model writes in `phase`. If there is no phase, this is `LlmThinking` or `LlmResponse`
    /// (contract C40).
    #[must_use]
    pub const fn for_phase(phase: Option<Phase>, is_thought: bool) -> Self {
        match (phase, is_thought) {
            (Some(Phase::Planning), true) => Self::PlanningLlmThinking,
            (Some(Phase::Planning), false) => Self::PlanningLlmResponse,
            (Some(Phase::Execution), true) => Self::ExecutionLlmThinking,
            (Some(Phase::Execution), false) => Self::ExecutionLlmResponse,
            (Some(Phase::Synthesis), true) => Self::SynthesisLlmThinking,
            (Some(Phase::Synthesis), false) => Self::SynthesisLlmResponse,
            (None, true) => Self::LlmThinking,
            (None, false) => Self::LlmResponse,
        }
    }
}

/// Context of the events of one model call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamContext {
    /// Identifier of the conversation.
    pub thread_id: String,
    /// Identifier of the run, which the contracts call a trace.
    pub trace_id: String,
    /// Identifier of the person's session.
    pub session_id: Option<String>,
    /// Phase of the run; absent for a call outside a run.
    pub phase: Option<Phase>,
    /// Step of the plan; absent outside of the execution phase.
    pub step: Option<StepContext>,
}

/// A stream event with its context (contract C38).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StreamEnvelope {
    /// Kind.
    #[serde(rename = "type")]
    pub kind: StreamEventType,
    /// Text of a token, a complete tool call, token counts, an error, or a retry; null for the end of the stream.
    pub data: Value,
    /// Type of a token; absent for other kinds of events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_type: Option<TokenType>,
    /// Phase of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Identifier of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_id: Option<String>,
    /// Description of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_description: Option<String>,
    /// Time of arrival.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    /// Identifier of the conversation.
    pub thread_id: String,
    /// Identifier of the run, which the contracts call a trace.
    pub trace_id: String,
    /// Identifier of the person's session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

impl StreamEnvelope {
    /// Returns the envelope of `event`. Returns `None` for provider state, which only the provider needs, and for
    /// unanswered parts of the question, which are reported at the end of the run.
    #[must_use]
    pub fn new(event: &StreamEvent, context: &StreamContext, arrival: Option<Timestamp>) -> Option<Self> {
        let (kind, data) = match event {
            StreamEvent::Token(text) | StreamEvent::Thinking(text) => (StreamEventType::Token, json!(text)),
            StreamEvent::ToolCall(call) => (StreamEventType::ToolCall, json!(call)),
            StreamEvent::State(_) | StreamEvent::Unanswered(_) => return None,
            StreamEvent::Retry(retry) => (StreamEventType::Retry, json!(retry)),
            StreamEvent::Metadata(metadata) => (StreamEventType::Metadata, json!(metadata)),
            StreamEvent::Error(error) => (StreamEventType::Error, json!(error)),
            StreamEvent::End => (StreamEventType::End, Value::Null),
        };
        let is_thought = matches!(event, StreamEvent::Thinking(_));
        let is_token = kind == StreamEventType::Token;
        Some(Self {
            kind,
            data,
            token_type: is_token.then(|| TokenType::for_phase(context.phase, is_thought)),
            phase: context.phase,
            step_id: context.step.as_ref().map(|step| step.step_id.clone()),
            step_description: context.step.as_ref().map(|step| step.step_description.clone()),
            timestamp: arrival,
            thread_id: context.thread_id.clone(),
            trace_id: context.trace_id.clone(),
            session_id: context.session_id.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{ModelError, ModelErrorCode};
    use crate::stream::ProviderState;

    fn context(phase: Option<Phase>) -> StreamContext {
        StreamContext {
            thread_id: "t".to_owned(),
            trace_id: "r".to_owned(),
            phase,
            ..StreamContext::default()
        }
    }

    fn envelope_json(event: &StreamEvent, context: &StreamContext) -> Value {
        json!(StreamEnvelope::new(event, context, Some(5)).unwrap())
    }

    // Token types of each phase (contract A52).
    #[test]
    fn each_phase_has_its_name_and_its_two_token_types() {
        let phases = [
            (Phase::Planning, "planning", "PLANNING_LLM_"),
            (Phase::Execution, "execution", "EXECUTION_LLM_"),
            (Phase::Synthesis, "synthesis", "SYNTHESIS_LLM_"),
        ];
        for (phase, name, prefix) in phases {
            let context = context(Some(phase));
            let thought = envelope_json(&StreamEvent::Thinking("a".to_owned()), &context);
            let text = envelope_json(&StreamEvent::Token("a".to_owned()), &context);
            assert_eq!((&thought["phase"], &text["phase"]), (&json!(name), &json!(name)));
            assert_eq!(thought["tokenType"], format!("{prefix}THINKING"));
            assert_eq!(text["tokenType"], format!("{prefix}RESPONSE"));
        }
    }

    // Token types of each phase (contract A52).
    #[test]
    fn outside_of_a_phase_neither_the_envelope_nor_the_token_type_names_a_phase() {
        let text = envelope_json(&StreamEvent::Token("a".to_owned()), &context(None));
        assert_eq!((text.get("phase"), &text["tokenType"]), (None, &json!("LLM_RESPONSE")));
    }

    // Fields of error events (contract A53).
    #[test]
    fn an_error_carries_its_phase_its_step_and_its_run() {
        let error = ModelError {
            code: ModelErrorCode::Timeout,
            message: "too slow".to_owned(),
            retry_after_ms: None,
            request_not_read: false,
        };
        let context = StreamContext {
            session_id: Some("s".to_owned()),
            step: Some(StepContext {
                step_id: "a".to_owned(),
                step_description: "do a".to_owned(),
            }),
            ..context(Some(Phase::Execution))
        };
        let expected = json!({
            "type": "ERROR", "data": {"error": "TIMEOUT", "message": "too slow"}, "phase": "execution", "stepId": "a",
            "stepDescription": "do a", "timestamp": 5, "threadId": "t", "traceId": "r", "sessionId": "s",
        });
        assert_eq!(envelope_json(&StreamEvent::Error(error), &context), expected);
    }

    #[test]
    fn the_end_has_no_data_and_provider_state_has_no_envelope() {
        let context = context(None);
        let expected = json!({"type": "END", "data": null, "timestamp": 5, "threadId": "t", "traceId": "r"});
        assert_eq!(envelope_json(&StreamEvent::End, &context), expected);
        let state = StreamEvent::State(ProviderState {
            protocol: "w".to_owned(),
            content: json!({}),
        });
        assert_eq!(StreamEnvelope::new(&state, &context, None), None);
    }

    #[test]
    fn the_token_types_of_thoughts_and_no_others_have_thinking_in_their_names() {
        for phase in [
            None,
            Some(Phase::Planning),
            Some(Phase::Execution),
            Some(Phase::Synthesis),
        ] {
            for is_thought in [true, false] {
                let token_type = TokenType::for_phase(phase, is_thought);
                let name = json!(token_type).to_string();
                assert_eq!(name.contains("THINKING"), is_thought);
            }
        }
    }
}
