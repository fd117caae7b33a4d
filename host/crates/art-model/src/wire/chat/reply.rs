//! Reads chat replies.

use art_core::stream::ProviderState;
use art_core::think::{ThinkPart, ThinkTags};
use serde_json::Value;

use super::Profile;
use super::kept::Kept;
use crate::wire::calls::TooMuch;
use crate::wire::reply::{self, Reply, items, text};

/// A chat reply that is being read.
#[derive(Debug)]
pub(super) struct Reading {
    profile: Profile,
    think: ThinkTags,
    kept: Kept,
    /// A complete message was read.
    whole: bool,
    /// Pieces were read, so a complete message would repeat them.
    pieces: bool,
}

impl Reading {
    pub(super) fn new(profile: Profile) -> Self {
        Self {
            profile,
            think: ThinkTags::default(),
            kept: Kept::default(),
            whole: false,
            pieces: false,
        }
    }

    fn message(&mut self, message: &Value, reply: &mut Reply<'_>) -> Result<(), TooMuch> {
        self.thoughts(message, reply);
        match message.get("content") {
            Some(Value::String(text)) => self.say(text, reply),
            Some(Value::Array(parts)) => parts.iter().for_each(|part| self.part(part, reply)),
            _ => {}
        }
        let refusal = text(message, "/refusal");
        reply.known.refused |= !refusal.is_empty();
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

    /// Reads the thoughts. The same ones may come under several names, of which one is read.
    fn thoughts(&mut self, message: &Value, reply: &mut Reply<'_>) {
        let content = text(message, "/reasoning_content");
        let details = items(message, "/reasoning_details");
        details.iter().for_each(|detail| self.kept.detail(detail));
        self.kept.thought(content);
        let named = [content, text(message, "/reasoning")];
        if let Some(thought) = named.iter().find(|thought| !thought.is_empty()) {
            return reply.thinking(thought);
        }
        for detail in details {
            reply.thinking(text(detail, "/text"));
            reply.thinking(text(detail, "/summary"));
        }
    }

    /// Reads a part of a content that is a list, as Mistral sends it.
    fn part(&mut self, part: &Value, reply: &mut Reply<'_>) {
        if let Some(words) = part.as_str() {
            return self.say(words, reply);
        }
        match text(part, "/type") {
            "text" => self.say(text(part, "/text"), reply),
            "thinking" => items(part, "/thinking")
                .iter()
                .for_each(|thought| reply.thinking(text(thought, "/text"))),
            _ => {}
        }
    }

    fn say(&mut self, text: &str, reply: &mut Reply<'_>) {
        if self.profile.thinks_in_text() {
            self.think.push(text, &mut |part| tell(part, reply));
        } else {
            reply.text(text);
        }
    }
}

impl reply::Reading for Reading {
    fn read(&mut self, event: &Value, reply: &mut Reply<'_>) -> Result<(), TooMuch> {
        reply.usage(event);
        if self.profile.says_its_cost() {
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
        self.kept.take(self.profile, calls)
    }

    fn flush(&mut self, reply: &mut Reply<'_>) {
        std::mem::take(&mut self.think).finish(&mut |part| tell(part, reply));
    }
}

/// Reports a part of the text. Text after the last closing tag of an unclosed block is reported again, as text.
fn tell(part: ThinkPart<'_>, reply: &mut Reply<'_>) {
    match part {
        ThinkPart::Text(text) => reply.text(text),
        ThinkPart::Thought(thought) => reply.thinking(thought),
        ThinkPart::Unclosed { content, is_whole } if !is_whole => reply.text(content),
        // The text before was reported already. The parser of the whole reply recognises it as thoughts by the tag.
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
    reply.known.calls.piece(index, id, text(function, "/name"), &arguments)
}
