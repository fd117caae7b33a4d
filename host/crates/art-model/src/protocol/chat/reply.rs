//! Parses replies of the Chat Completions protocol.

use art_core::stream::ProviderState;
use art_core::think::{ThinkPart, ThinkTags};
use serde_json::Value;

use super::Profile;
use super::reasoning::Reasoning;
use crate::protocol::calls::CallsTooLarge;
use crate::protocol::reply::{self, ReplyBuilder, items_at, text_at};

/// The state of a chat reply that is being parsed.
#[derive(Debug)]
pub(super) struct Parser {
    profile: Profile,
    think: ThinkTags,
    reasoning: Reasoning,
    /// Whether a complete message was read.
    is_complete: bool,
    /// Whether pieces were read, so that a complete message would repeat them.
    has_pieces: bool,
}

impl Parser {
    pub(super) fn new(profile: Profile) -> Self {
        Self {
            profile,
            think: ThinkTags::default(),
            reasoning: Reasoning::default(),
            is_complete: false,
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
        reply.state.refused |= !refusal.is_empty();
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

    /// Reads the thoughts. A message may repeat them under several names, of which only one is reported.
    fn add_thoughts(&mut self, message: &Value, reply: &mut ReplyBuilder<'_>) {
        let content = text_at(message, "/reasoning_content");
        let details = items_at(message, "/reasoning_details");
        for detail in details {
            self.reasoning.add_detail(detail);
        }
        self.reasoning.add_thought(content);
        let texts = [content, text_at(message, "/reasoning")];
        if let Some(thought) = texts.iter().find(|thought| !thought.is_empty()) {
            return reply.add_thought(thought);
        }
        for detail in details {
            reply.add_thought(text_at(detail, "/text"));
            reply.add_thought(text_at(detail, "/summary"));
        }
    }

    /// Reads a part of a message whose content is a list. Mistral sends such messages.
    fn add_content_part(&mut self, part: &Value, reply: &mut ReplyBuilder<'_>) {
        if let Some(content) = part.as_str() {
            return self.add_text(content, reply);
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
        if self.profile.has_think_tags() {
            self.think.push(text, &mut |part| add_think_part(part, reply));
        } else {
            reply.add_text(text);
        }
    }
}

impl reply::Parser for Parser {
    fn read(&mut self, event: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), CallsTooLarge> {
        reply.add_usage(event);
        if self.profile.reports_cost() {
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
            self.is_complete = true;
            self.add_message(message, reply)?;
        }
        reply.set_stop_reason(text_at(choice, "/finish_reason"));
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }

    fn state(&mut self, has_calls: bool) -> Option<ProviderState> {
        self.reasoning.take(self.profile, has_calls)
    }

    fn flush(&mut self, reply: &mut ReplyBuilder<'_>) {
        std::mem::take(&mut self.think).finish(&mut |part| add_think_part(part, reply));
    }
}

/// Adds a part of the text. If the reply ends inside a block that has a closing tag, the text after the last such tag, which was
/// already added as thoughts, is now added as text too.
fn add_think_part(part: ThinkPart<'_>, reply: &mut ReplyBuilder<'_>) {
    match part {
        ThinkPart::Text(text) => reply.add_text(text),
        ThinkPart::Thought(thought) => reply.add_thought(thought),
        ThinkPart::Unclosed { content, is_whole } if !is_whole => reply.add_text(content),
        // The text before the tag was already added. Add the tag too, so that the parser of the whole reply takes that
        // text for thoughts.
        ThinkPart::Restart => reply.add_text("</think>"),
        ThinkPart::BlockEnd | ThinkPart::Unclosed { .. } => {}
    }
}

/// Reads a piece of a call. Some providers send arguments as JSON instead of text.
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
        .state
        .calls
        .add_piece(index, id, text_at(function, "/name"), &arguments)
}
