//! Parses replies of the Responses protocol.

use art_core::stream::{ProviderState, StopReason};
use serde_json::{Value, json};

use super::PROTOCOL_NAME;
use crate::protocol::calls::CallsTooLarge;
use crate::protocol::reply::{self, ReplyBuilder, items_at, text_at};
use crate::protocol::turn_state::StateToSendBack;

/// Parses one response, which consists of items: messages, thoughts (`reasoning`) and calls.
#[derive(Debug, Default)]
pub(super) struct Parser {
    /// What later requests send back to the provider with the reply: the items with thoughts, and placeholders that show where
    /// the text and the calls come between them.
    state_to_send_back: StateToSendBack,
    /// Whether text arrived in pieces, so that the complete text at the end is ignored.
    has_streamed_text: bool,
    /// The kind of the first thoughts. Thoughts of the other kind are ignored, because a provider may send both full thoughts
    /// and a summary of them.
    thought_kind: Option<ThoughtKind>,
    /// Number of started items. An event without an index belongs to the item that started last.
    started_items: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ThoughtKind {
    Full,
    Summary,
}

impl Parser {
    /// Returns the index of the item to which an event belongs.
    fn item_index(&self, event: &Value) -> u64 {
        let index = event.get("output_index").and_then(Value::as_u64);
        index.unwrap_or(self.started_items.saturating_sub(1))
    }

    fn add_thought(&mut self, kind: ThoughtKind, thought: &str, reply: &mut ReplyBuilder<'_>) {
        if *self.thought_kind.get_or_insert(kind) == kind {
            reply.add_thought(thought);
        }
    }

    fn add_text(&mut self, text: &str, reply: &mut ReplyBuilder<'_>) {
        self.has_streamed_text = true;
        reply.add_text(text);
    }

    /// Reads the start of an item. Only a call has content at its start: its identifier and name.
    fn read_item_start(&mut self, event: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), CallsTooLarge> {
        self.started_items = self.started_items.saturating_add(1);
        match event.get("item") {
            Some(item) if text_at(item, "/type") == "function_call" => start_call(self.item_index(event), item, reply),
            _ => Ok(()),
        }
    }

    /// Reads a complete item.
    fn read_complete_item(
        &mut self,
        index: u64,
        item: &Value,
        reply: &mut ReplyBuilder<'_>,
    ) -> Result<(), CallsTooLarge> {
        match text_at(item, "/type") {
            "function_call" => {
                self.state_to_send_back.add_call_placeholder();
                start_call(index, item, reply)?;
                replace_arguments(index, text_at(item, "/arguments"), reply)?;
            }
            "message" => self.state_to_send_back.add_text_placeholder(),
            "reasoning" if !text_at(item, "/encrypted_content").is_empty() => {
                self.state_to_send_back.add_object(json!({
                    "type": "reasoning",
                    "id": text_at(item, "/id"),
                    "summary": items_at(item, "/summary"),
                    "encrypted_content": text_at(item, "/encrypted_content"),
                }));
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads the complete `response`, with which a reply ends. It contains all items again; they are read only as far as they did
    /// not stream.
    fn end_response(&mut self, response: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), CallsTooLarge> {
        reply.add_usage(response);
        let output = items_at(response, "/output");
        let has_calls_or_thoughts = !reply.collected.calls.is_empty() || self.state_to_send_back.has_objects();
        for (index, item) in (0..).zip(output) {
            self.add_text_and_thoughts(item, reply);
            if !has_calls_or_thoughts {
                self.read_complete_item(index, item, reply)?;
            }
        }
        let reason = text_at(response, "/incomplete_details/reason");
        reply.collected.stop_reason = Some(match text_at(response, "/status") {
            "completed" | "" => StopReason::Stop,
            // Some providers send no reason. The response then counts as cut off, so that an incomplete last call is dropped.
            "incomplete" if reason.is_empty() => StopReason::Length,
            status => reply::parse_stop_reason(if reason.is_empty() { status } else { reason }),
        });
        reply.collected.end_marked = true;
        Ok(())
    }

    /// Reads the text and the thoughts of a complete item, unless they streamed.
    fn add_text_and_thoughts(&mut self, item: &Value, reply: &mut ReplyBuilder<'_>) {
        match text_at(item, "/type") {
            "message" if !self.has_streamed_text => {
                for part in items_at(item, "/content") {
                    reply.add_text(text_at(part, "/text"));
                    reply.add_text(text_at(part, "/refusal"));
                    reply.collected.refused |= text_at(part, "/type") == "refusal";
                }
            }
            "reasoning" if self.thought_kind.is_none() => {
                let summary = items_at(item, "/summary").iter().map(|part| text_at(part, "/text"));
                reply.add_thought(&summary.collect::<Vec<_>>().join("\n\n"));
            }
            _ => {}
        }
    }
}

impl reply::EventParser for Parser {
    fn read_event(&mut self, event: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), CallsTooLarge> {
        let delta = text_at(event, "/delta");
        let index = self.item_index(event);
        match text_at(event, "/type") {
            "response.output_text.delta" => self.add_text(delta, reply),
            "response.refusal.delta" => {
                reply.collected.refused = true;
                self.add_text(delta, reply);
            }
            "response.reasoning_text.delta" => self.add_thought(ThoughtKind::Full, delta, reply),
            "response.reasoning_summary_text.delta" => self.add_thought(ThoughtKind::Summary, delta, reply),
            "response.reasoning_summary_part.added" if self.thought_kind == Some(ThoughtKind::Summary) => {
                reply.add_thought("\n\n");
            }
            "response.output_item.added" => self.read_item_start(event, reply)?,
            "response.function_call_arguments.delta" => reply.collected.calls.append_arguments(index, delta)?,
            "response.function_call_arguments.done" => replace_arguments(index, text_at(event, "/arguments"), reply)?,
            "response.output_item.done" => {
                self.read_complete_item(index, event.get("item").unwrap_or(&Value::Null), reply)?;
            }
            "response.completed" | "response.incomplete" => {
                self.end_response(event.get("response").unwrap_or(&Value::Null), reply)?;
            }
            // A reply that did not stream is a response without an event around it, and so without an event type.
            "" if event.get("output").is_some_and(Value::is_array) => self.end_response(event, reply)?,
            _ => {}
        }
        Ok(())
    }

    fn state_to_send_back(&mut self, has_calls: bool) -> Option<ProviderState> {
        let state = self.state_to_send_back.take(PROTOCOL_NAME);
        // The provider needs its thoughts back only in a turn with calls.
        if has_calls { state } else { None }
    }
}

fn start_call(index: u64, item: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), CallsTooLarge> {
    let (id, name) = (text_at(item, "/call_id"), text_at(item, "/name"));
    reply.collected.calls.start(index, id, name, "")
}

fn replace_arguments(index: u64, arguments: &str, reply: &mut ReplyBuilder<'_>) -> Result<(), CallsTooLarge> {
    if arguments.is_empty() {
        return Ok(());
    }
    reply.collected.calls.replace_arguments(index, arguments)
}
