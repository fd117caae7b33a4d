//! Parses chat replies.

use art_core::stream::ProviderState;
use art_core::think::{ThinkPart, ThinkTags};
use serde_json::Value;

use super::Profile;
use super::reasoning::Reasoning;
use crate::protocol::calls::TooMuch;
use crate::protocol::reply::{self, Reply, items, text};

/// The state of a chat reply that is being parsed.
#[derive(Debug)]
pub(super) struct Parser {
    profile: Profile,
    think: ThinkTags,
    reasoning: Reasoning,
    /// Whether a complete message was read.
    whole: bool,
    /// Whether pieces were read, so that a complete message would repeat them.
    pieces: bool,
}

impl Parser {
    pub(super) fn new(profile: Profile) -> Self {
        Self {
            profile,
            think: ThinkTags::default(),
            reasoning: Reasoning::default(),
            whole: false,
            pieces: false,
        }
    }

    fn message(&mut self, message: &Value, reply: &mut Reply<'_>) -> Result<(), TooMuch> {
        self.thoughts(message, reply);
        match message.get("content") {
            Some(Value::String(text)) => self.add_text(text, reply),
            Some(Value::Array(parts)) => parts.iter().for_each(|part| self.part(part, reply)),
            _ => {}
        }
        let refusal = text(message, "/refusal");
        reply.state.refused |= !refusal.is_empty();
        reply.text(refusal);
        if let Some(function) = message.get("function_call") {
            call(None, "", function, reply)?;
        }
        for piece in items(message, "/tool_calls") {
            let index = piece.get("index").and_then(Value::as_u64);
            call(index, text(piece, "/id"), piece.get("function").unwrap_or(piece), reply)?;
        }
        Ok(())
    }

    /// Reads the thoughts. A message may repeat them under several names, of which only one is reported.
    fn thoughts(&mut self, message: &Value, reply: &mut Reply<'_>) {
        let content = text(message, "/reasoning_content");
        let details = items(message, "/reasoning_details");
        details.iter().for_each(|detail| self.reasoning.detail(detail));
        self.reasoning.thought(content);
        let texts = [content, text(message, "/reasoning")];
        if let Some(thought) = texts.iter().find(|thought| !thought.is_empty()) {
            return reply.thinking(thought);
        }
        for detail in details {
            reply.thinking(text(detail, "/text"));
            reply.thinking(text(detail, "/summary"));
        }
    }

    /// Reads a part of a list content, which Mistral sends.
    fn part(&mut self, part: &Value, reply: &mut Reply<'_>) {
        if let Some(words) = part.as_str() {
            return self.add_text(words, reply);
        }
        match text(part, "/type") {
            "text" => self.add_text(text(part, "/text"), reply),
            "thinking" => items(part, "/thinking")
                .iter()
                .for_each(|thought| reply.thinking(text(thought, "/text"))),
            _ => {}
        }
    }

    fn add_text(&mut self, text: &str, reply: &mut Reply<'_>) {
        if self.profile.has_think_tags() {
            self.think.push(text, &mut |part| add_part(part, reply));
        } else {
            reply.text(text);
        }
    }
}

impl reply::Parser for Parser {
    fn read(&mut self, event: &Value, reply: &mut Reply<'_>) -> Result<(), TooMuch> {
        reply.usage(event);
        if self.profile.reports_cost() {
            reply.cost(event);
        }
        let first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
        let Some(choice) = items(event, "/choices").iter().find(first) else {
            return Ok(());
        };
        if let Some(delta) = choice.get("delta").filter(|delta| delta.is_object()) {
            self.pieces = true;
            self.message(delta, reply)?;
        } else if let Some(message) = choice.get("message").filter(|_| !self.pieces) {
            self.whole = true;
            self.message(message, reply)?;
        }
        reply.stop(text(choice, "/finish_reason"));
        Ok(())
    }

    fn is_whole(&self) -> bool {
        self.whole
    }

    fn state(&mut self, calls: bool) -> Option<ProviderState> {
        self.reasoning.take(self.profile, calls)
    }

    fn flush(&mut self, reply: &mut Reply<'_>) {
        std::mem::take(&mut self.think).finish(&mut |part| add_part(part, reply));
    }
}

/// Adds a part of the text. The content of an unclosed block after its last closing tag is added again, as text.
fn add_part(part: ThinkPart<'_>, reply: &mut Reply<'_>) {
    match part {
        ThinkPart::Text(text) => reply.text(text),
        ThinkPart::Thought(thought) => reply.thinking(thought),
        ThinkPart::Unclosed { content, is_whole } if !is_whole => reply.text(content),
        // The text before was already added. By this tag, the parser of the whole reply recognizes it as thoughts.
        ThinkPart::Restart => reply.text("</think>"),
        ThinkPart::BlockEnd | ThinkPart::Unclosed { .. } => {}
    }
}

/// Reads a piece of a call. Some providers send arguments as JSON instead of text.
fn call(index: Option<u64>, id: &str, function: &Value, reply: &mut Reply<'_>) -> Result<(), TooMuch> {
    let arguments = match function.get("arguments") {
        Some(Value::String(text)) => text.clone(),
        Some(value @ (Value::Object(_) | Value::Array(_))) => value.to_string(),
        _ => String::new(),
    };
    reply.state.calls.piece(index, id, text(function, "/name"), &arguments)
}
