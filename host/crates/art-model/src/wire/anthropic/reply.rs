//! Reads messages.

use art_core::stream::ProviderState;
use serde_json::{Value, json};

use super::NAME;
use crate::wire::calls::TooMuch;
use crate::wire::places::Places;
use crate::wire::reply::{self, MAX_STATE, Reply, items, text};

/// A message that is being read.
#[derive(Debug, Default)]
pub(super) struct Reading {
    places: Places,
    /// The open thinking block: its text and its signature.
    thought: Option<(String, String)>,
    /// Number of blocks that began, for events without an index.
    blocks: u64,
    /// A complete message was read.
    whole: bool,
}

impl Reading {
    fn index(&self, event: &Value) -> u64 {
        let given = event.get("index").and_then(Value::as_u64);
        given.unwrap_or(self.blocks.saturating_sub(1))
    }

    fn start(&mut self, index: u64, block: &Value, reply: &mut Reply<'_>) -> Result<(), TooMuch> {
        self.close_thought();
        match text(block, "/type") {
            "text" => {
                self.places.text();
                reply.text(text(block, "/text"));
            }
            "thinking" => {
                self.thought = Some((String::new(), String::new()));
                self.think(text(block, "/thinking"), reply);
                self.sign(text(block, "/signature"));
            }
            "redacted_thinking" => self
                .places
                .keep(json!({"type": "redacted_thinking", "data": text(block, "/data")})),
            "tool_use" => {
                self.places.call();
                let input = block
                    .get("input")
                    .filter(|input| input.as_object().is_none_or(|input| !input.is_empty()));
                let given = input
                    .filter(|input| !input.is_null())
                    .map(Value::to_string)
                    .unwrap_or_default();
                let (id, name) = (text(block, "/id"), text(block, "/name"));
                reply.known.calls.begin(index, id, name, &given)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn delta(&mut self, index: u64, delta: &Value, reply: &mut Reply<'_>) -> Result<(), TooMuch> {
        match text(delta, "/type") {
            "text_delta" => reply.text(text(delta, "/text")),
            "thinking_delta" => self.think(text(delta, "/thinking"), reply),
            "signature_delta" => self.sign(text(delta, "/signature")),
            "input_json_delta" => reply.known.calls.append(index, text(delta, "/partial_json"))?,
            _ => {}
        }
        Ok(())
    }

    fn think(&mut self, thought: &str, reply: &mut Reply<'_>) {
        reply.thinking(thought);
        if let Some((kept, _)) = self.thought.as_mut().filter(|(kept, _)| kept.len() <= MAX_STATE) {
            kept.push_str(thought);
        }
    }

    fn sign(&mut self, signature: &str) {
        if let Some((_, kept)) = self.thought.as_mut().filter(|(_, kept)| kept.len() <= MAX_STATE) {
            kept.push_str(signature);
        }
    }

    /// Ends a thinking block. The provider accepts back only thoughts with a signature.
    fn close_thought(&mut self) {
        if let Some((thinking, signature)) = self.thought.take().filter(|(_, signature)| !signature.is_empty()) {
            self.places
                .keep(json!({"type": "thinking", "thinking": thinking, "signature": signature}));
        }
    }

    /// Reads a message that came as one body.
    fn message(&mut self, message: &Value, reply: &mut Reply<'_>) -> Result<(), TooMuch> {
        for (index, block) in (0..).zip(items(message, "/content")) {
            self.start(index, block, reply)?;
        }
        reply.usage(message);
        reply.stop(text(message, "/stop_reason"));
        self.whole = true;
        Ok(())
    }
}

impl reply::Reading for Reading {
    fn read(&mut self, event: &Value, reply: &mut Reply<'_>) -> Result<(), TooMuch> {
        let null = &Value::Null;
        match text(event, "/type") {
            "message_start" => reply.usage(event.get("message").unwrap_or(null)),
            "content_block_start" => {
                self.blocks = self.blocks.saturating_add(1);
                self.start(self.index(event), event.get("content_block").unwrap_or(null), reply)?;
            }
            "content_block_delta" => self.delta(self.index(event), event.get("delta").unwrap_or(null), reply)?,
            "content_block_stop" => self.close_thought(),
            "message_delta" => {
                reply.usage(event);
                reply.stop(text(event, "/delta/stop_reason"));
            }
            "message_stop" => reply.known.ended = true,
            "message" => self.message(event, reply)?,
            "" if event.get("content").is_some_and(Value::is_array) => self.message(event, reply)?,
            _ => {}
        }
        Ok(())
    }

    fn is_whole(&self) -> bool {
        self.whole
    }

    fn state(&mut self, calls: bool) -> Option<ProviderState> {
        self.close_thought();
        let state = self.places.take(NAME);
        state.filter(|_| calls)
    }
}
