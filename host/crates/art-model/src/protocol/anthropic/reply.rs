//! Parses message replies.

use art_core::stream::ProviderState;
use serde_json::{Value, json};

use super::NAME;
use crate::protocol::calls::TooMuch;
use crate::protocol::reply::{self, MAX_STATE, Reply, items, text};
use crate::protocol::turn_state::TurnState;

/// The state of a message that is being parsed.
#[derive(Debug, Default)]
pub(super) struct Parser {
    turn_state: TurnState,
    /// The open thinking block: its text and its signature.
    thought: Option<(String, String)>,
    /// Number of started blocks, for events without an index.
    blocks: u64,
    /// Whether a complete message was read.
    whole: bool,
}

impl Parser {
    fn index(&self, event: &Value) -> u64 {
        let given = event.get("index").and_then(Value::as_u64);
        given.unwrap_or(self.blocks.saturating_sub(1))
    }

    fn start(&mut self, index: u64, block: &Value, reply: &mut Reply<'_>) -> Result<(), TooMuch> {
        self.close_thought();
        match text(block, "/type") {
            "text" => {
                self.turn_state.text();
                reply.text(text(block, "/text"));
            }
            "thinking" => {
                self.thought = Some((String::new(), String::new()));
                self.think(text(block, "/thinking"), reply);
                self.sign(text(block, "/signature"));
            }
            "redacted_thinking" => self
                .turn_state
                .keep(json!({"type": "redacted_thinking", "data": text(block, "/data")})),
            "tool_use" => {
                self.turn_state.call();
                let input = block
                    .get("input")
                    .filter(|input| input.as_object().is_none_or(|input| !input.is_empty()));
                let given = input
                    .filter(|input| !input.is_null())
                    .map(Value::to_string)
                    .unwrap_or_default();
                let (id, name) = (text(block, "/id"), text(block, "/name"));
                reply.state.calls.begin(index, id, name, &given)?;
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
            "input_json_delta" => reply.state.calls.append(index, text(delta, "/partial_json"))?,
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

    /// Ends a thinking block. The provider accepts only thoughts with a signature.
    fn close_thought(&mut self) {
        if let Some((thinking, signature)) = self.thought.take().filter(|(_, signature)| !signature.is_empty()) {
            self.turn_state
                .keep(json!({"type": "thinking", "thinking": thinking, "signature": signature}));
        }
    }

    /// Parses a message that did not stream.
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

impl reply::Parser for Parser {
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
            "message_stop" => reply.state.ended = true,
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
        let state = self.turn_state.take(NAME);
        state.filter(|_| calls)
    }
}
