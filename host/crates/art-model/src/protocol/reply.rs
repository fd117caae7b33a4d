//! The decoder that all protocols share. It passes the JSON of each server-sent event to the parser of the protocol, and adds the
//! last events of the reply, up to `End` or `Error`.
//!
//! Text and thoughts are added to the events of the reply as soon as they are parsed. Everything else, such as calls, token
//! counts and the stop reason, is collected and added at the end.

use std::fmt::Debug;

use art_core::error::ModelError;
use art_core::json::{MAX_LEVELS, is_deeper};
use art_core::stream::{LlmMetadata, ProviderState, StopReason, StreamEvent};
use serde_json::Value;

use super::calls::{Calls, CallsTooLarge};
use super::{Decoder, fault, usage};
use crate::sse::SseEvent;

/// Maximum size of a [`ProviderState`], the data of a reply that later requests send back to the provider, in bytes.
pub(super) const MAX_PROVIDER_STATE_BYTES: usize = 256 << 10;
/// Maximum length of an unknown stop reason, in characters.
const MAX_REASON_CHARS: usize = 64;

/// Parses the server-sent events of one reply in one protocol.
pub(super) trait EventParser: Send + Debug {
    /// Adds the content of one server-sent event to `reply`. `event` may also be the body of a reply that did not stream. An
    /// event that reports an error is never passed: the caller handles it.
    fn read_event(&mut self, event: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), CallsTooLarge>;

    /// Returns whether the reply is complete even if it has no stop reason.
    fn is_complete_without_stop_reason(&self) -> bool {
        false
    }

    /// Returns the state, if there is one, that later requests must send back to the provider with this reply. `has_calls` tells
    /// whether the reply has calls.
    fn state_to_send_back(&mut self, has_calls: bool) -> Option<ProviderState>;

    /// Adds the text that the parser still holds back at the end of the reply, such as the possible start of a tag.
    fn add_pending_text(&mut self, _reply: &mut ReplyBuilder<'_>) {}
}

/// What was collected of a reply so far, to be added to its events at the end.
#[derive(Debug, Default)]
pub(super) struct CollectedReply {
    pub(super) calls: Calls,
    /// Why the model stopped. A reply with a stop reason is complete.
    pub(super) stop_reason: Option<StopReason>,
    /// Whether the model refused to answer, whatever the stop reason.
    pub(super) refused: bool,
    /// The token counts, in the format of the provider.
    pub(super) usage: Option<Value>,
    /// Cost of the model call in US dollars, as reported by the provider.
    pub(super) cost_usd: Option<f64>,
    /// Whether the last event of the reply was read, such as `response.completed`. Not every protocol has such an event.
    pub(super) end_marked: bool,
}

/// The reply to which a parser adds: its events so far, and what is collected for its end.
#[derive(Debug)]
pub(super) struct ReplyBuilder<'a> {
    pub(super) collected: &'a mut CollectedReply,
    out: &'a mut Vec<StreamEvent>,
}

impl ReplyBuilder<'_> {
    /// Adds text of the reply.
    pub(super) fn add_text(&mut self, text: &str) {
        if !text.is_empty() {
            self.out.push(StreamEvent::Token(text.to_owned()));
        }
    }

    /// Adds thoughts of the model.
    pub(super) fn add_thought(&mut self, text: &str) {
        if !text.is_empty() {
            self.out.push(StreamEvent::Thinking(text.to_owned()));
        }
    }

    /// Adds the token counts in `event`, or in a part of an event.
    pub(super) fn add_usage(&mut self, event: &Value) {
        if let Some(usage) = usage::find(event) {
            usage::merge(&mut self.collected.usage, usage);
        }
    }

    /// Sets the stop reason that the provider calls `name`, unless `name` is empty.
    pub(super) fn set_stop_reason(&mut self, name: &str) {
        if !name.is_empty() {
            self.collected.stop_reason = Some(parse_stop_reason(name));
        }
    }

    /// Sets the cost of the model call, if `event` reports it.
    pub(super) fn set_cost(&mut self, event: &Value) {
        let cost = usage::find(event).and_then(usage::cost);
        self.collected.cost_usd = cost.or(self.collected.cost_usd);
    }
}

/// Decodes one reply with the parser of its protocol.
#[derive(Debug)]
pub(super) struct ReplyDecoder<P> {
    collected: CollectedReply,
    parser: P,
    /// Whether `End` or `Error` was added.
    has_ended: bool,
}

impl<P: EventParser> ReplyDecoder<P> {
    pub(super) fn new(parser: P) -> Self {
        Self {
            collected: CollectedReply::default(),
            parser,
            has_ended: false,
        }
    }

    /// Decodes a reply that did not stream, and returns its events.
    pub(super) fn decode_body(mut self, body: &Value) -> Vec<StreamEvent> {
        let mut out = Vec::new();
        self.decode_value(body, &mut out);
        if !self.has_ended && !self.is_complete() {
            let error = fault::unreadable_reply("it is not a reply of this protocol; check `base_url` and `api`");
            self.fail(error, &mut out);
        }
        self.finish(&mut out);
        out
    }

    /// Decodes the JSON of one event, or of a reply that did not stream.
    fn decode_value(&mut self, json: &Value, out: &mut Vec<StreamEvent>) {
        if let Some(error) = fault::error_in_reply(json) {
            return self.fail(error, out);
        }
        let mut reply = ReplyBuilder {
            collected: &mut self.collected,
            out,
        };
        if self.parser.read_event(json, &mut reply).is_err() {
            let error = fault::unreadable_reply("it has more than 128 tool calls, or more than 1 MiB of them");
            return self.fail(error, out);
        }
        if self.collected.end_marked {
            self.end(out);
        }
    }

    /// Returns whether the reply is complete, so that the stream may end.
    fn is_complete(&self) -> bool {
        self.collected.stop_reason.is_some() || self.parser.is_complete_without_stop_reason()
    }

    fn fail(&mut self, error: ModelError, out: &mut Vec<StreamEvent>) {
        self.has_ended = true;
        out.push(StreamEvent::Error(error));
    }

    /// Adds the pending text, the calls, the state to send back, the metadata and the end, in this order. A reply that the model
    /// refused or the provider blocked has no calls (contract M10).
    fn end(&mut self, out: &mut Vec<StreamEvent>) {
        self.has_ended = true;
        let mut reply = ReplyBuilder {
            collected: &mut self.collected,
            out,
        };
        self.parser.add_pending_text(&mut reply);
        let is_refused = self.collected.refused || self.collected.stop_reason == Some(StopReason::ContentFilter);
        let started_call_count = self.collected.calls.len();
        // If the token limit cut the reply off, `take` drops an incomplete last call.
        let is_cut_off = self.collected.stop_reason == Some(StopReason::Length);
        let mut calls = self.collected.calls.take(is_cut_off);
        if is_refused {
            calls.clear();
        }
        let has_calls = !calls.is_empty();
        // In some protocols, the state to send back has an entry for each call, so it is useless if a call was dropped.
        let has_all_calls = calls.len() == started_call_count;
        out.extend(calls.into_iter().map(StreamEvent::ToolCall));
        // Drop a state that is nested too deeply, because the store to which the reply is saved would refuse the whole reply.
        let state = self.parser.state_to_send_back(has_calls);
        let state = state.filter(|state| has_all_calls && !is_deeper(&state.content, MAX_LEVELS));
        out.extend(state.map(StreamEvent::State));
        out.push(StreamEvent::Metadata(self.metadata(has_calls)));
        out.push(StreamEvent::End);
    }

    /// Returns the metadata of the complete reply.
    fn metadata(&mut self, has_calls: bool) -> LlmMetadata {
        let stop_reason = match self.collected.stop_reason.take() {
            _ if self.collected.refused => Some(StopReason::ContentFilter),
            // Some providers report `stop` for a reply with calls.
            Some(StopReason::Stop) | None if has_calls => Some(StopReason::ToolCalls),
            reason => reason,
        };
        let mut metadata = LlmMetadata {
            stop_reason,
            cost_usd: self.collected.cost_usd,
            ..LlmMetadata::default()
        };
        if let Some(usage) = self.collected.usage.take() {
            usage::copy_counts(usage, &mut metadata);
        }
        metadata
    }
}

impl<P: EventParser> Decoder for ReplyDecoder<P> {
    fn decode_event(&mut self, event: &SseEvent, out: &mut Vec<StreamEvent>) {
        let data = event.data.trim();
        if self.has_ended || data.is_empty() {
            return;
        }
        if data == "[DONE]" {
            return self.end(out);
        }
        match art_core::json::parse(data) {
            Ok(json) => self.decode_value(&json, out),
            // The stream ended inside the event. `finish` is called next and reports that.
            Err(_) if event.is_incomplete => {}
            Err(source) => self.fail(fault::unreadable_reply(&format!("{source} in `{data}`")), out),
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

/// Returns the stop reason that a provider calls `name`.
pub(super) fn parse_stop_reason(name: &str) -> StopReason {
    match name.to_ascii_lowercase().as_str() {
        "stop" | "end_turn" | "stop_sequence" | "completed" | "eos" => StopReason::Stop,
        "length" | "max_tokens" | "max_output_tokens" | "model_length" | "model_context_window_exceeded" => {
            StopReason::Length
        }
        "tool_calls" | "tool_use" | "function_call" => StopReason::ToolCalls,
        "content_filter" | "refusal" | "safety" | "recitation" | "blocklist" | "prohibited_content" | "spii"
        | "image_safety" => StopReason::ContentFilter,
        _ => StopReason::Other(name.chars().take(MAX_REASON_CHARS).collect()),
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
