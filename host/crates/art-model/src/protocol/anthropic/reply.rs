//! Parses replies of the Messages protocol.

use art_core::stream::ProviderState;
use serde_json::{Value, json};

use super::NAME;
use crate::protocol::calls::CallsTooLarge;
use crate::protocol::reply::{self, MAX_STATE_BYTES, ReplyBuilder, items_at, text_at};
use crate::protocol::turn_state::TurnState;

/// A thinking block.
#[derive(Debug, Default)]
struct Thought {
    text: String,
    signature: String,
}

/// The state of a message that is being parsed.
#[derive(Debug, Default)]
pub(super) struct Parser {
    turn_state: TurnState,
    /// The thinking block that is being read.
    thought: Option<Thought>,
    /// Number of started blocks. An event without an index belongs to the last one.
    started_blocks: u64,
    /// Whether a complete message was read.
    is_complete: bool,
}

impl Parser {
    /// Returns the index of the block of an event.
    fn index(&self, event: &Value) -> u64 {
        let index = event.get("index").and_then(Value::as_u64);
        index.unwrap_or(self.started_blocks.saturating_sub(1))
    }

    fn start_block(&mut self, index: u64, block: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), CallsTooLarge> {
        self.close_thought();
        match text_at(block, "/type") {
            "text" => {
                self.turn_state.add_text_position();
                reply.add_text(text_at(block, "/text"));
            }
            "thinking" => {
                self.thought = Some(Thought::default());
                self.add_thought(text_at(block, "/thinking"), reply);
                self.add_signature(text_at(block, "/signature"));
            }
            "redacted_thinking" => self
                .turn_state
                .add_object(json!({"type": "redacted_thinking", "data": text_at(block, "/data")})),
            "tool_use" => {
                self.turn_state.add_call_position();
                // The arguments follow in pieces if the input is empty.
                let arguments = match block.get("input") {
                    None | Some(Value::Null) => String::new(),
                    Some(Value::Object(input)) if input.is_empty() => String::new(),
                    Some(input) => input.to_string(),
                };
                let (id, name) = (text_at(block, "/id"), text_at(block, "/name"));
                reply.state.calls.start(index, id, name, &arguments)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn add_delta(&mut self, index: u64, delta: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), CallsTooLarge> {
        match text_at(delta, "/type") {
            "text_delta" => reply.add_text(text_at(delta, "/text")),
            "thinking_delta" => self.add_thought(text_at(delta, "/thinking"), reply),
            "signature_delta" => self.add_signature(text_at(delta, "/signature")),
            "input_json_delta" => reply.state.calls.append(index, text_at(delta, "/partial_json"))?,
            _ => {}
        }
        Ok(())
    }

    /// Adds a thought to the reply and to the open thinking block. A block that exceeds the limit does not grow further.
    fn add_thought(&mut self, text: &str, reply: &mut ReplyBuilder<'_>) {
        reply.add_thought(text);
        match &mut self.thought {
            Some(thought) if thought.text.len() <= MAX_STATE_BYTES => thought.text.push_str(text),
            _ => {}
        }
    }

    fn add_signature(&mut self, signature: &str) {
        match &mut self.thought {
            Some(thought) if thought.signature.len() <= MAX_STATE_BYTES => thought.signature.push_str(signature),
            _ => {}
        }
    }

    /// Ends a thinking block. The provider accepts only thoughts with a signature.
    fn close_thought(&mut self) {
        match self.thought.take() {
            Some(Thought { text, signature }) if !signature.is_empty() => {
                self.turn_state
                    .add_object(json!({"type": "thinking", "thinking": text, "signature": signature}));
            }
            _ => {}
        }
    }

    /// Parses a message that did not stream.
    fn read_message(&mut self, message: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), CallsTooLarge> {
        for (index, block) in (0..).zip(items_at(message, "/content")) {
            self.start_block(index, block, reply)?;
        }
        reply.add_usage(message);
        reply.set_stop_reason(text_at(message, "/stop_reason"));
        self.is_complete = true;
        Ok(())
    }
}

impl reply::Parser for Parser {
    fn read(&mut self, event: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), CallsTooLarge> {
        let null = &Value::Null;
        match text_at(event, "/type") {
            "message_start" => reply.add_usage(event.get("message").unwrap_or(null)),
            "content_block_start" => {
                self.started_blocks = self.started_blocks.saturating_add(1);
                self.start_block(self.index(event), event.get("content_block").unwrap_or(null), reply)?;
            }
            "content_block_delta" => self.add_delta(self.index(event), event.get("delta").unwrap_or(null), reply)?,
            "content_block_stop" => self.close_thought(),
            "message_delta" => {
                reply.add_usage(event);
                reply.set_stop_reason(text_at(event, "/delta/stop_reason"));
            }
            "message_stop" => reply.state.end_marked = true,
            "message" => self.read_message(event, reply)?,
            "" if event.get("content").is_some_and(Value::is_array) => self.read_message(event, reply)?,
            _ => {}
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }

    fn state(&mut self, has_calls: bool) -> Option<ProviderState> {
        self.close_thought();
        let state = self.turn_state.take(NAME);
        if has_calls { state } else { None }
    }
}
