//! Cuts a request to fit the context window of its model (contract M09).
//!
//! Only the provider can count tokens, so they are estimated, rather too high than too low: one token for every three bytes of
//! text (English has about four bytes per token, most other scripts three), and eight tokens for every message or call. The
//! result depends only on the request and the maximum.

use std::ops::Range;

use art_core::prompt::{Message, Role};
use art_core::provider::{Media, ModelRequest};
use art_core::stream::ModelReply;
use art_core::text::truncate;
use art_core::tool::ToolCallRequest;
use serde_json::Value;

use super::quote::{
    ATTACHMENTS, COMPLETED_STEPS, EARLIER_QUESTIONS, EARLIER_STEP_RESULTS, FAILED_STEPS, UNFINISHED_STEPS, one_line,
};
use super::step::truncate_value;

/// Estimated number of tokens of a message or a call, in addition to its text.
const OVERHEAD_TOKENS: u64 = 8;

/// Estimated number of bytes of text per token.
const BYTES_PER_TOKEN: u64 = 3;

/// Estimated number of tokens of a picture, and the minimum for other files.
const MEDIA_TOKENS: u64 = 2_000;

/// Estimated number of bytes of base64 per token, for files that are not pictures.
const MEDIA_BYTES_PER_TOKEN: usize = 20;

/// Maximum number of tokens reserved for the reply. In a small context window, only a quarter of the window is reserved.
const MAX_REPLY_TOKENS: u64 = 8_192;

/// Lengths in characters to which long results and replies are cut, tried one after the other until the request fits.
const RESULT_CHARS: [usize; 4] = [16_000, 4_000, 1_000, 250];

/// Headings of the sections whose long results are cut.
const RESULT_HEADINGS: [&str; 5] = [
    EARLIER_STEP_RESULTS,
    COMPLETED_STEPS,
    FAILED_STEPS,
    UNFINISHED_STEPS,
    EARLIER_QUESTIONS,
];

/// Returns the maximum number of tokens of a request to a model with a context window of `context_tokens`.
pub(crate) fn max_request_tokens(context_tokens: u64) -> u64 {
    context_tokens - MAX_REPLY_TOKENS.min(context_tokens / 4)
}

/// Estimates the number of tokens of a request.
pub(crate) fn request_tokens(request: &ModelRequest) -> u64 {
    let messages: u64 = request.prompt.0.iter().map(message_tokens).sum();
    messages.saturating_add(fixed_tokens(request))
}

/// Estimates the number of tokens that a reply adds to the next request.
pub(crate) fn reply_tokens(reply: &ModelReply) -> u64 {
    let calls = reply.tool_calls.iter().map(call_tokens);
    OVERHEAD_TOKENS + text_tokens(&reply.text) + calls.sum::<u64>()
}

fn call_tokens(call: &ToolCallRequest) -> u64 {
    let texts = [&call.id, &call.function.name, &call.function.arguments];
    OVERHEAD_TOKENS + texts.into_iter().map(|text| text_tokens(text)).sum::<u64>()
}

/// Estimates the number of tokens of `text`.
pub(crate) fn text_tokens(text: &str) -> u64 {
    byte_tokens(text.len() as u64)
}

/// Estimates the number of tokens of a text of `bytes` bytes.
pub(crate) const fn byte_tokens(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN)
}

/// Cuts the messages until the request has at most `max_tokens` tokens. The message at `task_index` states the task. These are
/// dropped, in this order: the oldest messages of the conversation, which are before the task; the oldest exchanges after the
/// task, each of which is a reply with the results of its calls; the ends of long results and replies; and the previews of
/// attachments. System messages, the task and the last exchange always stay, so the request may still be too long: check it with
/// [`request_tokens`].
pub(crate) fn cut_to_fit(request: &mut ModelRequest, task_index: usize, max_tokens: u64) {
    let max_message_tokens = max_tokens.saturating_sub(fixed_tokens(request));
    let messages = std::mem::take(&mut request.prompt.0);
    let task_index = task_index.min(messages.len().saturating_sub(1));
    let mut fitting = Fitting {
        messages,
        task_index,
        max_message_tokens,
    };
    fitting.drop_history();
    fitting.drop_exchanges();
    fitting.cut_results();
    fitting.drop_previews();
    request.prompt.0 = fitting.messages;
}

/// Estimates the number of tokens of a request without its messages, that is, of its tools and files. These are never dropped.
fn fixed_tokens(request: &ModelRequest) -> u64 {
    let tools = request
        .tools
        .iter()
        .map(|tool| OVERHEAD_TOKENS + text_tokens(&one_line(tool)));
    tools.chain(request.media.iter().map(media_tokens)).sum()
}

fn media_tokens(media: &Media) -> u64 {
    if media.media_type.starts_with("image/") {
        return MEDIA_TOKENS;
    }
    MEDIA_TOKENS.max((media.base64.len() / MEDIA_BYTES_PER_TOKEN) as u64)
}

fn message_tokens(message: &Message) -> u64 {
    let content = match &message.content {
        Value::String(text) => text_tokens(text),
        other => text_tokens(&other.to_string()),
    };
    let names = [&message.name, &message.tool_call_id].into_iter().flatten();
    let calls = message.tool_calls.iter().map(call_tokens);
    let state = message
        .provider_state
        .as_ref()
        .map(|state| text_tokens(&one_line(state)));
    let names: u64 = names.map(|name| text_tokens(name)).sum();
    let calls: u64 = calls.sum();
    OVERHEAD_TOKENS + content + names + calls + state.unwrap_or_default()
}

/// The messages of a request, while they are cut to fit.
struct Fitting {
    messages: Vec<Message>,
    /// Index of the message that states the task.
    task_index: usize,
    /// Maximum number of tokens of all messages together.
    max_message_tokens: u64,
}

impl Fitting {
    /// Returns by how many tokens the messages exceed their maximum.
    fn excess(&self) -> u64 {
        let tokens: u64 = self.messages.iter().map(message_tokens).sum();
        tokens.saturating_sub(self.max_message_tokens)
    }

    /// Drops the oldest messages of the conversation, which is between the instructions and the task. An earlier question is
    /// dropped together with its answer.
    fn drop_history(&mut self) {
        let first = self
            .messages
            .iter()
            .take_while(|message| message.role == Role::System)
            .count();
        let groups = self.groups(first.min(self.task_index)..self.task_index, Role::User);
        self.task_index -= self.drop_oldest(&groups);
    }

    /// Drops the oldest exchanges after the task, but not the last one. An exchange is a message of the model, with the results
    /// of its calls and the messages of the host that follow.
    fn drop_exchanges(&mut self) {
        let mut groups = self.groups(self.task_index + 1..self.messages.len(), Role::Assistant);
        groups.pop();
        self.drop_oldest(&groups);
    }

    /// Splits the messages in `range` into groups. A group begins at each message of `role`, and at the start of the range.
    fn groups(&self, range: Range<usize>, role: Role) -> Vec<Range<usize>> {
        let mut groups: Vec<Range<usize>> = Vec::new();
        for position in range {
            let begins_group = self.messages.get(position).is_some_and(|message| message.role == role);
            match groups.last_mut() {
                Some(group) if !begins_group => group.end = position + 1,
                _ => groups.push(position..position + 1),
            }
        }
        groups
    }

    /// Drops as many groups as needed, beginning with the first. Returns the number of dropped messages.
    fn drop_oldest(&mut self, groups: &[Range<usize>]) -> usize {
        let Some(first) = groups.first().map(|group| group.start) else {
            return 0;
        };
        let excess = self.excess();
        let (mut freed, mut end) = (0, first);
        for group in groups {
            if freed >= excess {
                break;
            }
            let dropped = self.messages.get(group.clone()).unwrap_or_default();
            freed += dropped.iter().map(message_tokens).sum::<u64>();
            end = group.end;
        }
        self.messages.drain(first..end);
        end - first
    }

    /// Cuts long results and replies to the first length in [`RESULT_CHARS`] with which the request fits, or else to the last.
    fn cut_results(&mut self) {
        if self.excess() == 0 {
            return;
        }
        let original = self.messages.clone();
        for limit in RESULT_CHARS {
            self.messages.clone_from(&original);
            for message in self.messages.iter_mut().skip(self.task_index + 1).filter(may_be_cut) {
                message.content = Value::from(truncate(message.content_text(), limit));
            }
            for heading in RESULT_HEADINGS {
                self.edit_section(heading, |entries| truncate_fields(entries, limit));
            }
            if self.excess() == 0 {
                return;
            }
        }
    }

    /// Drops the previews of attachments.
    fn drop_previews(&mut self) {
        if self.excess() > 0 {
            self.edit_section(ATTACHMENTS, |entries| {
                for entry in entries
                    .as_array_mut()
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_object_mut)
                {
                    entry.shift_remove("preview");
                }
            });
        }
    }

    /// Edits the JSON in the line after a heading. Only the host can write headings (see [`super`]).
    fn edit_section(&mut self, heading: &str, edit: impl Fn(&mut Value)) {
        let heading = format!("## {heading}");
        for (position, message) in self.messages.iter_mut().enumerate() {
            // The messages of the conversation before the task have no sections of the host.
            if position < self.task_index && message.role != Role::System {
                continue;
            }
            let mut lines = Vec::new();
            let mut after_heading = false;
            for line in message.content_text().split('\n') {
                let edited = if after_heading { edit_line(line, &edit) } else { None };
                lines.push(edited.unwrap_or_else(|| line.to_owned()));
                after_heading = line == heading;
            }
            message.content = Value::from(lines.join("\n"));
        }
    }
}

/// Returns whether the text of a message may be cut anywhere. This holds for texts of tools and of the model, unless they contain
/// sections that the host wrote, as the result of a submitted plan does.
fn may_be_cut(message: &&mut Message) -> bool {
    let has_sections = || message.content_text().lines().any(|line| line.starts_with("## "));
    matches!(message.role, Role::ToolResult | Role::Assistant) && message.content.is_string() && !has_sections()
}

/// Returns the JSON in `line` after `edit`, or `None` if `line` is not JSON.
fn edit_line(line: &str, edit: impl Fn(&mut Value)) -> Option<String> {
    let mut value = serde_json::from_str(line).ok()?;
    edit(&mut value);
    Some(one_line(&value))
}

/// Cuts arguments, outputs, results, errors, reasons and sources in `value` to `limit` characters each. Other fields stay.
fn truncate_fields(value: &mut Value, limit: usize) {
    const LONG_FIELDS: [&str; 7] = [
        "arguments",
        "output",
        "outputText",
        "result",
        "error",
        "reason",
        "sources",
    ];
    match value {
        Value::Array(entries) => entries.iter_mut().for_each(|entry| truncate_fields(entry, limit)),
        Value::Object(map) => {
            for (key, value) in map {
                if LONG_FIELDS.contains(&key.as_str()) {
                    *value = truncate_value(value, limit);
                } else {
                    truncate_fields(value, limit);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
