//! The decoder that all protocols share.

use std::fmt::Debug;

use art_core::error::ModelError;
use art_core::json::{MAX_DEPTH, is_deeper};
use art_core::stream::{LlmMetadata, ProviderState, StopReason, StreamEvent};
use serde_json::Value;

use super::calls::{Calls, CallsTooLarge};
use super::{Decoder, fault, usage};
use crate::sse::SseEvent;

/// Maximum size of the state of a turn, in bytes.
pub(super) const MAX_STATE_BYTES: usize = 256 << 10;
/// Maximum length of an unknown stop reason, in characters.
const MAX_REASON_CHARS: usize = 64;

/// Parses the events of one protocol.
pub(super) trait Parser: Send + Debug {
    /// Adds the content of one event to `reply`. Is not called with an event that reports an error.
    fn read(&mut self, event: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), CallsTooLarge>;

    /// Returns whether the reply would be complete if the stream ended here without a stop reason.
    fn is_complete(&self) -> bool {
        false
    }

    /// Returns the state that the provider expects to be sent back with this turn, if there is one.
    fn state(&mut self, has_calls: bool) -> Option<ProviderState>;

    /// Adds the text that is still pending at the end of the reply.
    fn flush(&mut self, _reply: &mut ReplyBuilder<'_>) {}
}

/// The state of a reply so far.
#[derive(Debug, Default)]
pub(super) struct ReplyState {
    pub(super) calls: Calls,
    pub(super) stop: Option<StopReason>,
    /// Whether the model refused, whatever its stop reason.
    pub(super) refused: bool,
    pub(super) usage: Option<Value>,
    /// Cost of the call in US dollars, as reported by the provider.
    pub(super) cost_usd: Option<f64>,
    /// Whether the provider marked the end of the reply.
    pub(super) end_marked: bool,
}

/// Adds to the state of a reply and to its events.
#[derive(Debug)]
pub(super) struct ReplyBuilder<'a> {
    pub(super) state: &'a mut ReplyState,
    out: &'a mut Vec<StreamEvent>,
}

impl ReplyBuilder<'_> {
    /// Adds text.
    pub(super) fn add_text(&mut self, text: &str) {
        if !text.is_empty() {
            self.out.push(StreamEvent::Token(text.to_owned()));
        }
    }

    /// Adds thoughts.
    pub(super) fn add_thought(&mut self, text: &str) {
        if !text.is_empty() {
            self.out.push(StreamEvent::Thinking(text.to_owned()));
        }
    }

    /// Adds the token counts in `body`.
    pub(super) fn add_usage(&mut self, body: &Value) {
        if let Some(usage) = usage::find(body) {
            usage::merge(&mut self.state.usage, usage);
        }
    }

    /// Sets the stop reason, unless `reason` is empty. A reply with a stop reason is complete.
    pub(super) fn set_stop_reason(&mut self, reason: &str) {
        if !reason.is_empty() {
            self.state.stop = Some(stop_reason(reason));
        }
    }

    /// Sets the cost of the call, if `body` reports it.
    pub(super) fn set_cost(&mut self, body: &Value) {
        let cost = usage::find(body).and_then(usage::cost);
        self.state.cost_usd = cost.or(self.state.cost_usd);
    }
}

/// Decodes one reply with the parser of its protocol.
#[derive(Debug)]
pub(super) struct ReplyDecoder<P> {
    state: ReplyState,
    parser: P,
    /// Whether `End` or `Error` was added.
    has_ended: bool,
}

impl<P: Parser> ReplyDecoder<P> {
    pub(super) fn new(parser: P) -> Self {
        Self {
            state: ReplyState::default(),
            parser,
            has_ended: false,
        }
    }

    /// Decodes a reply that did not stream, and returns its events.
    pub(super) fn decode_body(mut self, body: &Value) -> Vec<StreamEvent> {
        let mut out = Vec::new();
        self.decode_value(body, &mut out);
        if !self.has_ended && !self.is_complete() {
            let error = fault::unreadable("it is not a reply of this protocol; check `base_url` and `api`");
            self.fail(error, &mut out);
        }
        self.finish(&mut out);
        out
    }

    /// Decodes the JSON of one event, or of a reply that did not stream.
    fn decode_value(&mut self, body: &Value, out: &mut Vec<StreamEvent>) {
        if let Some(error) = fault::error_in_reply(body) {
            return self.fail(error, out);
        }
        let mut reply = ReplyBuilder {
            state: &mut self.state,
            out,
        };
        if self.parser.read(body, &mut reply).is_err() {
            let error = fault::unreadable("it has more than 128 tool calls, or more than 1 MiB of them");
            return self.fail(error, out);
        }
        if self.state.end_marked {
            self.end(out);
        }
    }

    fn is_complete(&self) -> bool {
        self.state.stop.is_some() || self.parser.is_complete()
    }

    fn fail(&mut self, error: ModelError, out: &mut Vec<StreamEvent>) {
        self.has_ended = true;
        out.push(StreamEvent::Error(error));
    }

    /// Adds the pending text, calls, state, metadata and end, in this order. A refused or blocked reply has no calls (M10).
    fn end(&mut self, out: &mut Vec<StreamEvent>) {
        self.has_ended = true;
        let mut reply = ReplyBuilder {
            state: &mut self.state,
            out,
        };
        self.parser.flush(&mut reply);
        let is_refused = self.state.refused || self.state.stop == Some(StopReason::ContentFilter);
        let started_calls = self.state.calls.len();
        let mut calls = self.state.calls.take(self.state.stop == Some(StopReason::Length));
        if is_refused {
            calls.clear();
        }
        let has_calls = !calls.is_empty();
        // The state has a position for each call, so it is useless if a call was dropped.
        let has_all_calls = calls.len() == started_calls;
        out.extend(calls.into_iter().map(StreamEvent::ToolCall));
        // Drop a state that is nested too deeply, because a store would refuse the whole reply with it.
        let state = self.parser.state(has_calls);
        let state = state.filter(|state| has_all_calls && !is_deeper(&state.content, MAX_DEPTH));
        out.extend(state.map(StreamEvent::State));
        out.push(StreamEvent::Metadata(self.metadata(has_calls)));
        out.push(StreamEvent::End);
    }

    /// Returns the metadata of the complete reply.
    fn metadata(&mut self, has_calls: bool) -> LlmMetadata {
        let stop = match self.state.stop.take() {
            _ if self.state.refused => Some(StopReason::ContentFilter),
            // Some providers report `stop` for a reply with calls.
            Some(StopReason::Stop) | None if has_calls => Some(StopReason::ToolCalls),
            stop => stop,
        };
        let mut metadata = LlmMetadata {
            stop_reason: stop,
            cost_usd: self.state.cost_usd,
            ..LlmMetadata::default()
        };
        if let Some(usage) = self.state.usage.take() {
            usage::copy_counts(usage, &mut metadata);
        }
        metadata
    }
}

impl<P: Parser> Decoder for ReplyDecoder<P> {
    fn decode_event(&mut self, event: &SseEvent, out: &mut Vec<StreamEvent>) {
        let data = event.data.trim();
        if self.has_ended || data.is_empty() {
            return;
        }
        if data == "[DONE]" {
            return self.end(out);
        }
        match serde_json::from_str::<Value>(data) {
            Ok(body) => self.decode_value(&body, out),
            // The stream ended inside the event; `finish` reports it.
            Err(_) if event.is_incomplete => {}
            Err(source) => self.fail(fault::unreadable(&format!("{source} in `{data}`")), out),
        }
    }

    fn finish(&mut self, out: &mut Vec<StreamEvent>) {
        if self.has_ended {
            return;
        }
        if self.is_complete() {
            self.end(out);
        } else {
            self.fail(fault::interrupted_stream(), out);
        }
    }
}

/// Returns the stop reason for the name that a provider uses.
pub(super) fn stop_reason(reason: &str) -> StopReason {
    match reason.to_ascii_lowercase().as_str() {
        "stop" | "end_turn" | "stop_sequence" | "completed" | "eos" => StopReason::Stop,
        "length" | "max_tokens" | "max_output_tokens" | "model_length" | "model_context_window_exceeded" => {
            StopReason::Length
        }
        "tool_calls" | "tool_use" | "function_call" => StopReason::ToolCalls,
        "content_filter" | "refusal" | "safety" | "recitation" | "blocklist" | "prohibited_content" | "spii"
        | "image_safety" => StopReason::ContentFilter,
        _ => StopReason::Other(reason.chars().take(MAX_REASON_CHARS).collect()),
    }
}

/// Returns the text at `path`, or an empty text if there is none.
pub(super) fn text_at<'a>(value: &'a Value, path: &str) -> &'a str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the items of the list at `path`, or no items if there is no list.
pub(super) fn items_at<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    value.pointer(path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
