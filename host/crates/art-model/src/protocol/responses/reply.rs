//! Parses replies of the Responses protocol.

use art_core::stream::{ProviderState, StopReason};
use serde_json::{Value, json};

use super::NAME;
use crate::protocol::calls::CallsTooLarge;
use crate::protocol::reply::{self, ReplyBuilder, items, text};
use crate::protocol::turn_state::TurnState;

/// The state of a response that is being parsed.
#[derive(Debug, Default)]
pub(super) struct Parser {
    turn_state: TurnState,
    /// Whether text arrived in pieces, so that the complete text is ignored.
    has_text: bool,
    /// The kind of events from which thoughts are read. A provider may send both full thoughts and a summary.
    thoughts: Option<Thoughts>,
    /// Number of started items, for events without an index.
    items: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Thoughts {
    Full,
    Summary,
}

impl Parser {
    /// Returns the index of the item of an event.
    fn index(&self, event: &Value) -> u64 {
        let index = event.get("output_index").and_then(Value::as_u64);
        index.unwrap_or(self.items.saturating_sub(1))
    }

    fn add_thought(&mut self, kind: Thoughts, thought: &str, reply: &mut ReplyBuilder<'_>) {
        if *self.thoughts.get_or_insert(kind) == kind {
            reply.thinking(thought);
        }
    }

    fn add_text(&mut self, text: &str, reply: &mut ReplyBuilder<'_>) {
        self.has_text = true;
        reply.text(text);
    }

    /// Reads the start of an item, usually the first event with the name of a call.
    fn item_added(&mut self, event: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), CallsTooLarge> {
        self.items = self.items.saturating_add(1);
        match event.get("item") {
            Some(item) if text(item, "/type") == "function_call" => start_call(self.index(event), item, reply),
            _ => Ok(()),
        }
    }

    /// Reads a complete item.
    fn item_done(&mut self, index: u64, item: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), CallsTooLarge> {
        match text(item, "/type") {
            "function_call" => {
                self.turn_state.add_call_position();
                start_call(index, item, reply)?;
                replace_arguments(index, text(item, "/arguments"), reply)?;
            }
            "message" => self.turn_state.add_text_position(),
            "reasoning" if !text(item, "/encrypted_content").is_empty() => self.turn_state.add_object(json!({
                "type": "reasoning",
                "id": text(item, "/id"),
                "summary": items(item, "/summary"),
                "encrypted_content": text(item, "/encrypted_content"),
            })),
            _ => {}
        }
        Ok(())
    }

    /// Reads the end of the response, and its items if they did not stream.
    fn end_response(&mut self, response: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), CallsTooLarge> {
        reply.usage(response);
        let output = items(response, "/output");
        let streamed = !reply.state.calls.is_empty() || self.turn_state.has_objects();
        for (index, item) in (0..).zip(output) {
            self.add_item(item, reply);
            if !streamed {
                self.item_done(index, item, reply)?;
            }
        }
        let reason = text(response, "/incomplete_details/reason");
        reply.state.stop = Some(match text(response, "/status") {
            "completed" | "" => StopReason::Stop,
            // Some providers send no reason. An incomplete response counts as cut off, so that its last call is dropped.
            "incomplete" if reason.is_empty() => StopReason::Length,
            status => reply::stop_reason(if reason.is_empty() { status } else { reason }),
        });
        reply.state.ended = true;
        Ok(())
    }

    /// Reads the text and the thoughts of a complete item, unless they streamed.
    fn add_item(&mut self, item: &Value, reply: &mut ReplyBuilder<'_>) {
        match text(item, "/type") {
            "message" if !self.has_text => {
                for part in items(item, "/content") {
                    reply.text(text(part, "/text"));
                    reply.text(text(part, "/refusal"));
                    reply.state.refused |= text(part, "/type") == "refusal";
                }
            }
            "reasoning" if self.thoughts.is_none() => {
                let summary = items(item, "/summary").iter().map(|part| text(part, "/text"));
                reply.thinking(&summary.collect::<Vec<_>>().join("\n\n"));
            }
            _ => {}
        }
    }
}

impl reply::Parser for Parser {
    fn read(&mut self, event: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), CallsTooLarge> {
        let delta = text(event, "/delta");
        let index = self.index(event);
        match text(event, "/type") {
            "response.output_text.delta" => self.add_text(delta, reply),
            "response.refusal.delta" => {
                reply.state.refused = true;
                self.add_text(delta, reply);
            }
            "response.reasoning_text.delta" => self.add_thought(Thoughts::Full, delta, reply),
            "response.reasoning_summary_text.delta" => self.add_thought(Thoughts::Summary, delta, reply),
            "response.reasoning_summary_part.added" if self.thoughts == Some(Thoughts::Summary) => {
                reply.thinking("\n\n");
            }
            "response.output_item.added" => self.item_added(event, reply)?,
            "response.function_call_arguments.delta" => reply.state.calls.append(index, delta)?,
            "response.function_call_arguments.done" => replace_arguments(index, text(event, "/arguments"), reply)?,
            "response.output_item.done" => self.item_done(index, event.get("item").unwrap_or(&Value::Null), reply)?,
            "response.completed" | "response.incomplete" => {
                self.end_response(event.get("response").unwrap_or(&Value::Null), reply)?;
            }
            "" if event.get("output").is_some_and(Value::is_array) => self.end_response(event, reply)?,
            _ => {}
        }
        Ok(())
    }

    fn state(&mut self, has_calls: bool) -> Option<ProviderState> {
        let state = self.turn_state.take(NAME);
        if has_calls { state } else { None }
    }
}

fn start_call(index: u64, item: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), CallsTooLarge> {
    let (id, name) = (text(item, "/call_id"), text(item, "/name"));
    reply.state.calls.start(index, id, name, "")
}

fn replace_arguments(index: u64, arguments: &str, reply: &mut ReplyBuilder<'_>) -> Result<(), CallsTooLarge> {
    if arguments.is_empty() {
        return Ok(());
    }
    reply.state.calls.replace(index, arguments)
}
