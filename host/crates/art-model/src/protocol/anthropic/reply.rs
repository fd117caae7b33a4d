//! Parses replies of the Messages protocol.

use art_core::stream::ProviderState;
use serde_json::{Value, json};

use super::PROTOCOL_NAME;
use crate::protocol::calls::CallsTooLarge;
use crate::protocol::reply::{self, MAX_PROVIDER_STATE_BYTES, ReplyBuilder, items_at, text_at};
use crate::protocol::turn_state::StateToSendBack;

/// A content block with thoughts. The provider signs it, and accepts it back only with its signature.
#[derive(Debug, Default)]
struct ThinkingBlock {
    text: String,
    signature: String,
}

/// Parses one message, which consists of blocks: text, thoughts and calls.
#[derive(Debug, Default)]
pub(super) struct Parser {
    /// The thinking blocks, which the provider expects to be sent back with the turn, and the positions of text and calls.
    state_to_send_back: StateToSendBack,
    /// The thinking block that is being read.
    open_thinking_block: Option<ThinkingBlock>,
    /// Number of started blocks. An event without an index belongs to the block that started last.
    started_blocks: u64,
    /// Whether a message that did not stream was read. Such a reply is complete even without a stop reason.
    has_complete_message: bool,
}

impl Parser {
    /// Returns the index of the block to which an event belongs.
    fn block_index(&self, event: &Value) -> u64 {
        let index = event.get("index").and_then(Value::as_u64);
        index.unwrap_or(self.started_blocks.saturating_sub(1))
    }

    fn start_block(&mut self, index: u64, block: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), CallsTooLarge> {
        self.close_thinking_block();
        match text_at(block, "/type") {
            "text" => {
                self.state_to_send_back.add_text_placeholder();
                reply.add_text(text_at(block, "/text"));
            }
            "thinking" => {
                self.open_thinking_block = Some(ThinkingBlock::default());
                self.add_thought(text_at(block, "/thinking"), reply);
                self.add_signature(text_at(block, "/signature"));
            }
            "redacted_thinking" => self
                .state_to_send_back
                .add_object(json!({"type": "redacted_thinking", "data": text_at(block, "/data")})),
            "tool_use" => {
                self.state_to_send_back.add_call_placeholder();
                // If the input is empty, the arguments follow in pieces.
                let arguments = match block.get("input") {
                    None | Some(Value::Null) => String::new(),
                    Some(Value::Object(input)) if input.is_empty() => String::new(),
                    Some(input) => input.to_string(),
                };
                let (id, name) = (text_at(block, "/id"), text_at(block, "/name"));
                reply.collected.calls.start(index, id, name, &arguments)?;
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
            "input_json_delta" => reply
                .collected
                .calls
                .append_arguments(index, text_at(delta, "/partial_json"))?,
            _ => {}
        }
        Ok(())
    }

    /// Adds a thought to the reply and to the open thinking block. A block that exceeds the limit does not grow further,
    /// because it will not be sent back.
    fn add_thought(&mut self, text: &str, reply: &mut ReplyBuilder<'_>) {
        reply.add_thought(text);
        match &mut self.open_thinking_block {
            Some(block) if block.text.len() <= MAX_PROVIDER_STATE_BYTES => block.text.push_str(text),
            _ => {}
        }
    }

    fn add_signature(&mut self, signature: &str) {
        match &mut self.open_thinking_block {
            Some(block) if block.signature.len() <= MAX_PROVIDER_STATE_BYTES => block.signature.push_str(signature),
            _ => {}
        }
    }

    /// Ends the open thinking block, if there is one. It is sent back only if it has a signature.
    fn close_thinking_block(&mut self) {
        match self.open_thinking_block.take() {
            Some(ThinkingBlock { text, signature }) if !signature.is_empty() => {
                self.state_to_send_back
                    .add_object(json!({"type": "thinking", "thinking": text, "signature": signature}));
            }
            _ => {}
        }
    }

    /// Parses a message that did not stream.
    fn read_complete_message(&mut self, message: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), CallsTooLarge> {
        for (index, block) in (0..).zip(items_at(message, "/content")) {
            self.start_block(index, block, reply)?;
        }
        reply.add_usage(message);
        reply.set_stop_reason(text_at(message, "/stop_reason"));
        self.has_complete_message = true;
        Ok(())
    }
}

impl reply::EventParser for Parser {
    fn read_event(&mut self, event: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), CallsTooLarge> {
        let null = &Value::Null;
        match text_at(event, "/type") {
            "message_start" => reply.add_usage(event.get("message").unwrap_or(null)),
            "content_block_start" => {
                self.started_blocks = self.started_blocks.saturating_add(1);
                self.start_block(
                    self.block_index(event),
                    event.get("content_block").unwrap_or(null),
                    reply,
                )?;
            }
            "content_block_delta" => {
                self.add_delta(self.block_index(event), event.get("delta").unwrap_or(null), reply)?;
            }
            "content_block_stop" => self.close_thinking_block(),
            "message_delta" => {
                reply.add_usage(event);
                reply.set_stop_reason(text_at(event, "/delta/stop_reason"));
            }
            "message_stop" => reply.collected.end_marked = true,
            "message" => self.read_complete_message(event, reply)?,
            // A message that did not stream and has no type.
            "" if event.get("content").is_some_and(Value::is_array) => self.read_complete_message(event, reply)?,
            _ => {}
        }
        Ok(())
    }

    fn is_complete_without_stop_reason(&self) -> bool {
        self.has_complete_message
    }

    fn state_to_send_back(&mut self, has_calls: bool) -> Option<ProviderState> {
        self.close_thinking_block();
        let state = self.state_to_send_back.take(PROTOCOL_NAME);
        // The provider expects its thoughts back only in a turn with calls.
        if has_calls { state } else { None }
    }
}
