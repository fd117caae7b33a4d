//! Parses responses.

use art_core::stream::{ProviderState, StopReason};
use serde_json::{Value, json};

use super::NAME;
use crate::protocol::calls::TooMuch;
use crate::protocol::reply::{self, Reply, items, text};
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
    Whole,
    Summary,
}

impl Parser {
    /// Returns the index of the item of an event.
    fn index(&self, event: &Value) -> u64 {
        let given = event.get("output_index").and_then(Value::as_u64);
        given.unwrap_or(self.items.saturating_sub(1))
    }

    fn think(&mut self, kind: Thoughts, thought: &str, reply: &mut Reply<'_>) {
        if *self.thoughts.get_or_insert(kind) == kind {
            reply.thinking(thought);
        }
    }

    fn add_text(&mut self, text: &str, reply: &mut Reply<'_>) {
        self.has_text = true;
        reply.text(text);
    }

    /// Reads the start of an item, the only event with the name of a call.
    fn added(&mut self, event: &Value, reply: &mut Reply<'_>) -> Result<(), TooMuch> {
        self.items = self.items.saturating_add(1);
        match event.get("item") {
            Some(item) if text(item, "/type") == "function_call" => begin(self.index(event), item, reply),
            _ => Ok(()),
        }
    }

    /// Reads a complete item.
    fn done(&mut self, index: u64, item: &Value, reply: &mut Reply<'_>) -> Result<(), TooMuch> {
        match text(item, "/type") {
            "function_call" => {
                self.turn_state.call();
                begin(index, item, reply)?;
                replace(index, text(item, "/arguments"), reply)?;
            }
            "message" => self.turn_state.text(),
            "reasoning" if !text(item, "/encrypted_content").is_empty() => self.turn_state.keep(json!({
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
    fn response(&mut self, response: &Value, reply: &mut Reply<'_>) -> Result<(), TooMuch> {
        reply.usage(response);
        let output = items(response, "/output");
        let streamed = !reply.state.calls.is_empty() || self.turn_state.has_objects();
        for (index, item) in (0..).zip(output) {
            self.add_item(item, reply);
            if !streamed {
                self.done(index, item, reply)?;
            }
        }
        let word = text(response, "/incomplete_details/reason");
        reply.state.stop = Some(match text(response, "/status") {
            "completed" | "" => StopReason::Stop,
            // Some services send no reason. An incomplete response counts as cut off, so that its last call is dropped.
            "incomplete" if word.is_empty() => StopReason::Length,
            status => reply::reason(if word.is_empty() { status } else { word }),
        });
        reply.state.ended = true;
        Ok(())
    }

    /// Reads the text and the thoughts of a complete item, unless they streamed.
    fn add_item(&mut self, item: &Value, reply: &mut Reply<'_>) {
        let streamed = self.has_text;
        for part in items(item, "/content")
            .iter()
            .filter(|_| !streamed && text(item, "/type") == "message")
        {
            reply.text(text(part, "/text"));
            reply.text(text(part, "/refusal"));
            reply.state.refused |= text(part, "/type") == "refusal";
        }
        let has_new_thoughts = self.thoughts.is_none() && text(item, "/type") == "reasoning";
        let summary = items(item, "/summary").iter().map(|part| text(part, "/text"));
        let thought = summary.filter(|_| has_new_thoughts).collect::<Vec<_>>().join("\n\n");
        reply.thinking(&thought);
    }
}

impl reply::Parser for Parser {
    fn read(&mut self, event: &Value, reply: &mut Reply<'_>) -> Result<(), TooMuch> {
        let delta = text(event, "/delta");
        let index = self.index(event);
        match text(event, "/type") {
            "response.output_text.delta" => self.add_text(delta, reply),
            "response.refusal.delta" => {
                reply.state.refused = true;
                self.add_text(delta, reply);
            }
            "response.reasoning_text.delta" => self.think(Thoughts::Whole, delta, reply),
            "response.reasoning_summary_text.delta" => self.think(Thoughts::Summary, delta, reply),
            "response.reasoning_summary_part.added" if self.thoughts == Some(Thoughts::Summary) => {
                reply.thinking("\n\n");
            }
            "response.output_item.added" => self.added(event, reply)?,
            "response.function_call_arguments.delta" => reply.state.calls.append(index, delta)?,
            "response.function_call_arguments.done" => replace(index, text(event, "/arguments"), reply)?,
            "response.output_item.done" => self.done(index, event.get("item").unwrap_or(&Value::Null), reply)?,
            "response.completed" | "response.incomplete" => {
                self.response(event.get("response").unwrap_or(&Value::Null), reply)?;
            }
            "" if event.get("output").is_some_and(Value::is_array) => self.response(event, reply)?,
            _ => {}
        }
        Ok(())
    }

    fn state(&mut self, calls: bool) -> Option<ProviderState> {
        let state = self.turn_state.take(NAME);
        state.filter(|_| calls)
    }
}

fn begin(index: u64, item: &Value, reply: &mut Reply<'_>) -> Result<(), TooMuch> {
    let (id, name) = (text(item, "/call_id"), text(item, "/name"));
    reply.state.calls.begin(index, id, name, "")
}

fn replace(index: u64, arguments: &str, reply: &mut Reply<'_>) -> Result<(), TooMuch> {
    if arguments.is_empty() {
        return Ok(());
    }
    reply.state.calls.replace(index, arguments)
}
