//! Parses replies of the Chat Completions protocol.

use art_core::stream::ProviderState;
use art_core::think::{ThinkPart, ThinkTags};
use serde_json::Value;

use super::Variant;
use super::reasoning::ThoughtsToSendBack;
use crate::protocol::calls::CallsTooLarge;
use crate::protocol::reply::{self, ReplyBuilder, items_at, text_at};

/// Parses one chat reply.
#[derive(Debug)]
pub(super) struct Parser {
    variant: Variant,
    /// Separates the thoughts between `<think>` and `</think>` from the text.
    think_tags: ThinkTags,
    thoughts_to_send_back: ThoughtsToSendBack,
    /// Whether a message that did not stream was read. Such a reply is complete even without a stop reason.
    has_complete_message: bool,
    /// Whether pieces of a message were read, so that a complete message would repeat them.
    has_pieces: bool,
}

impl Parser {
    pub(super) fn new(variant: Variant) -> Self {
        Self {
            variant,
            think_tags: ThinkTags::default(),
            thoughts_to_send_back: ThoughtsToSendBack::default(),
            has_complete_message: false,
            has_pieces: false,
        }
    }

    /// Reads a complete message, or a piece of one.
    fn add_message(&mut self, message: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), CallsTooLarge> {
        self.add_thoughts(message, reply);
        match message.get("content") {
            Some(Value::String(text)) => self.add_text(text, reply),
            Some(Value::Array(parts)) => {
                for part in parts {
                    self.add_content_part(part, reply);
                }
            }
            _ => {}
        }
        let refusal = text_at(message, "/refusal");
        reply.collected.refused |= !refusal.is_empty();
        reply.add_text(refusal);
        if let Some(function) = message.get("function_call") {
            add_call_piece(None, "", function, reply)?;
        }
        for piece in items_at(message, "/tool_calls") {
            let index = piece.get("index").and_then(Value::as_u64);
            add_call_piece(
                index,
                text_at(piece, "/id"),
                piece.get("function").unwrap_or(piece),
                reply,
            )?;
        }
        Ok(())
    }

    /// Reads the thoughts of a message, which a provider may repeat under several names. The reply gets only those of one name.
    fn add_thoughts(&mut self, message: &Value, reply: &mut ReplyBuilder<'_>) {
        let reasoning_content = text_at(message, "/reasoning_content");
        let details = items_at(message, "/reasoning_details");
        for detail in details {
            self.thoughts_to_send_back.add_reasoning_detail(detail);
        }
        self.thoughts_to_send_back.add_reasoning_content(reasoning_content);
        let texts = [reasoning_content, text_at(message, "/reasoning")];
        if let Some(thought) = texts.iter().find(|thought| !thought.is_empty()) {
            return reply.add_thought(thought);
        }
        for detail in details {
            reply.add_thought(text_at(detail, "/text"));
            reply.add_thought(text_at(detail, "/summary"));
        }
    }

    /// Reads one part of a content that is a list of parts, as Mistral sends it.
    fn add_content_part(&mut self, part: &Value, reply: &mut ReplyBuilder<'_>) {
        if let Some(text) = part.as_str() {
            return self.add_text(text, reply);
        }
        match text_at(part, "/type") {
            "text" => self.add_text(text_at(part, "/text"), reply),
            "thinking" => {
                for thought in items_at(part, "/thinking") {
                    reply.add_thought(text_at(thought, "/text"));
                }
            }
            _ => {}
        }
    }

    fn add_text(&mut self, text: &str, reply: &mut ReplyBuilder<'_>) {
        if self.variant.has_think_tags() {
            self.think_tags.push(text, &mut |part| add_think_part(part, reply));
        } else {
            reply.add_text(text);
        }
    }
}

impl reply::EventParser for Parser {
    fn read_event(&mut self, event: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), CallsTooLarge> {
        reply.add_usage(event);
        if self.variant.reports_cost() {
            reply.set_cost(event);
        }
        let is_first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
        let Some(choice) = items_at(event, "/choices").iter().find(is_first) else {
            return Ok(());
        };
        if let Some(delta) = choice.get("delta").filter(|delta| delta.is_object()) {
            self.has_pieces = true;
            self.add_message(delta, reply)?;
        } else if let Some(message) = choice.get("message").filter(|_| !self.has_pieces) {
            self.has_complete_message = true;
            self.add_message(message, reply)?;
        }
        reply.set_stop_reason(text_at(choice, "/finish_reason"));
        Ok(())
    }

    fn is_complete_without_stop_reason(&self) -> bool {
        self.has_complete_message
    }

    fn state_to_send_back(&mut self, has_calls: bool) -> Option<ProviderState> {
        self.thoughts_to_send_back.take(self.variant, has_calls)
    }

    fn add_pending_text(&mut self, reply: &mut ReplyBuilder<'_>) {
        std::mem::take(&mut self.think_tags).finish(&mut |part| add_think_part(part, reply));
    }
}

/// Adds a part that [`ThinkTags`] found in the text of a message.
fn add_think_part(part: ThinkPart<'_>, reply: &mut ReplyBuilder<'_>) {
    match part {
        ThinkPart::Text(text) => reply.add_text(text),
        ThinkPart::Thought(thought) => reply.add_thought(thought),
        // The reply ended inside a block of thoughts, after a nested block. The text after the nested block is the answer. When
        // it arrived, it was added as thoughts, so add it as text too.
        ThinkPart::Unclosed {
            content,
            is_complete_block,
        } if !is_complete_block => reply.add_text(content),
        // The text before this closing tag is thoughts, but was added as text when it arrived. Add the tag too: the caller parses
        // the tags in the complete text again, and then takes the text before the tag for thoughts.
        ThinkPart::CloseWithoutOpen => reply.add_text("</think>"),
        ThinkPart::BlockEnd | ThinkPart::Unclosed { .. } => {}
    }
}

/// Reads a piece of a call. Some providers send the arguments as a JSON object or list instead of as a string that
/// contains JSON.
fn add_call_piece(
    index: Option<u64>,
    id: &str,
    function: &Value,
    reply: &mut ReplyBuilder<'_>,
) -> Result<(), CallsTooLarge> {
    let arguments = match function.get("arguments") {
        Some(Value::String(text)) => text.clone(),
        Some(value @ (Value::Object(_) | Value::Array(_))) => value.to_string(),
        _ => String::new(),
    };
    reply
        .collected
        .calls
        .add_piece(index, id, text_at(function, "/name"), &arguments)
}
