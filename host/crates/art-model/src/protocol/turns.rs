//! Converts a prompt into turns that every provider accepts: turns of the system, of the user and of the model. The results of
//! the tool calls in a turn of the model form the turn after it. Each tool call has a unique identifier and one result.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};

use art_core::JsonObject;
use art_core::prompt::{Message, Role};
use art_core::provider::Media;
use serde_json::Value;

use super::ProtocolCall;

#[cfg(test)]
mod tests;

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Turn<'a> {
    System(Cow<'a, str>),
    User {
        text: Cow<'a, str>,
        media: &'a [Media],
    },
    Assistant {
        text: &'a str,
        calls: Vec<TurnCall<'a>>,
        /// The state that the provider expects to be sent back with the turn.
        state: Option<&'a Value>,
    },
    /// One result for each tool call of the previous turn, in the same order.
    Results(Vec<TurnResult<'a>>),
}

/// A tool call of an assistant turn. Its identifier is not empty and is unique in the conversation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TurnCall<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) name: &'a str,
    /// The arguments as the model wrote them, JSON or not.
    pub(super) arguments: Cow<'a, str>,
}

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TurnResult<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) name: &'a str,
    pub(super) text: Cow<'a, str>,
}

/// Text in place of the result of a tool call, if the prompt has none. Providers refuse a tool call without a result.
const NO_RESULT: &str = "no result: the call was not made";

/// Returns the turns of the prompt of `call`, a call of a model. The state of a turn is left out if a protocol other than
/// `protocol` created it.
pub(super) fn turns<'a>(call: &ProtocolCall<'a>, protocol: &str) -> Vec<Turn<'a>> {
    let media: &[Media] = if call.vision { &call.request.media } else { &[] };
    let mut builder = TurnBuilder::new(&call.request.prompt.0, protocol);
    for message in &call.request.prompt.0 {
        builder.add_message(message);
    }
    let mut turns = builder.turns;
    if !media.is_empty() {
        attach_media(&mut turns, media);
    }
    turns.retain(|turn| !turn.is_empty());
    turns
}

impl Turn<'_> {
    /// Returns the text of a system turn, and `None` for any other turn.
    pub(super) fn system_text(&self) -> Option<&str> {
        match self {
            Self::System(text) => Some(text),
            _ => None,
        }
    }

    /// Returns whether the turn is empty, which some providers refuse.
    fn is_empty(&self) -> bool {
        match self {
            Self::System(text) => text.trim().is_empty(),
            Self::User { text, media } => text.trim().is_empty() && media.is_empty(),
            Self::Assistant { text, calls, .. } => text.trim().is_empty() && calls.is_empty(),
            Self::Results(results) => results.is_empty(),
        }
    }
}

/// Returns arguments or a result as a JSON object, which some providers require. A value that is not an object becomes the field
/// `field` of a new object, and an empty text becomes an empty object.
pub(super) fn to_object(text: &str, field: &str) -> JsonObject {
    match art_core::json::parse(text) {
        Ok(Value::Object(object)) => object,
        _ if text.trim().is_empty() => JsonObject::new(),
        Ok(other) => JsonObject::from_iter([(field.to_owned(), other)]),
        Err(_) => JsonObject::from_iter([(field.to_owned(), Value::from(text))]),
    }
}

impl TurnCall<'_> {
    /// Returns the arguments as valid JSON text, because providers refuse prompts with invalid arguments in earlier turns.
    pub(super) fn arguments_as_json(&self) -> Cow<'_, str> {
        match serde_json::from_str(&self.arguments) {
            Ok(Value::Object(_)) => Cow::Borrowed(&self.arguments),
            _ => Cow::Owned(Value::Object(self.arguments_as_object()).to_string()),
        }
    }

    /// Returns the arguments as an object.
    pub(super) fn arguments_as_object(&self) -> JsonObject {
        to_object(&self.arguments, "arguments")
    }
}

/// Returns the system turns as one text, if there are any.
pub(super) fn instructions(turns: &[Turn<'_>]) -> Option<String> {
    let texts: Vec<&str> = turns.iter().filter_map(Turn::system_text).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// Returns whether a turn mentions `json`. System turns are searched only if `search_system_turns` is set. Providers refuse a
/// JSON reply format if the prompt does not mention JSON.
pub(super) fn mentions_json(turns: &[Turn<'_>], search_system_turns: bool) -> bool {
    let mentions = |text: &str| text.to_ascii_lowercase().contains("json");
    turns.iter().any(|turn| match turn {
        Turn::System(text) => search_system_turns && mentions(text),
        Turn::User { text, .. } => mentions(text),
        Turn::Assistant { text, .. } => mentions(text),
        Turn::Results(results) => results.iter().any(|result| mentions(&result.text)),
    })
}

/// Attaches files to the last user turn, or to a new one if there is none.
fn attach_media<'a>(turns: &mut Vec<Turn<'a>>, files: &'a [Media]) {
    let last = turns.iter_mut().rev().find_map(|turn| match turn {
        Turn::User { media, .. } => Some(media),
        _ => None,
    });
    match last {
        Some(media) => *media = files,
        None => turns.push(Turn::User {
            text: Cow::Borrowed(""),
            media: files,
        }),
    }
}

/// Returns the content of a message as text. Content that is no text, such as the arguments object of a tool request, becomes
/// JSON; [`Message::content_text`] returns an empty text for it.
fn content_as_text(message: &Message) -> Cow<'_, str> {
    match &message.content {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null => Cow::Borrowed(""),
        other => Cow::Owned(other.to_string()),
    }
}

/// A tool call as it is in the prompt. Its identifier may be empty or repeated, unlike that of a [`TurnCall`].
struct PromptCall<'a> {
    id: &'a str,
    name: &'a str,
    arguments: Cow<'a, str>,
}

/// Builds the turns of a prompt.
struct TurnBuilder<'a> {
    turns: Vec<Turn<'a>>,
    protocol: String,
    /// Results that were not matched to a call yet, by the identifier of the call, in the order of the prompt.
    unmatched_results: HashMap<&'a str, VecDeque<&'a Message>>,
    /// Identifiers of the calls so far.
    used_ids: HashSet<String>,
    /// Pointers to the results that were matched to a call.
    matched_results: HashSet<*const Message>,
}

impl<'a> TurnBuilder<'a> {
    fn new(messages: &'a [Message], protocol: &str) -> Self {
        let mut results: HashMap<&str, VecDeque<&Message>> = HashMap::new();
        for message in messages.iter().filter(|message| message.role == Role::ToolResult) {
            let id = message.tool_call_id.as_deref().unwrap_or_default();
            results.entry(id).or_default().push_back(message);
        }
        Self {
            turns: Vec::new(),
            protocol: protocol.to_owned(),
            unmatched_results: results,
            used_ids: HashSet::new(),
            matched_results: HashSet::new(),
        }
    }

    fn add_message(&mut self, message: &'a Message) {
        match message.role {
            Role::System => self.turns.push(Turn::System(content_as_text(message))),
            Role::User => self.add_user(content_as_text(message)),
            Role::Assistant => self.add_assistant(message, message.content_text()),
            Role::ToolRequest => self.add_tool_request(message),
            // The result is already in the turn after its call.
            Role::ToolResult if self.matched_results.contains(&std::ptr::from_ref(message)) => {}
            Role::ToolResult => self.add_result_as_text(message),
        }
    }

    fn add_user(&mut self, text: Cow<'a, str>) {
        self.turns.push(Turn::User { text, media: &[] });
    }

    fn add_assistant(&mut self, message: &'a Message, text: &'a str) {
        let calls = message.tool_calls.iter().map(|call| PromptCall {
            id: &call.id,
            name: &call.function.name,
            arguments: Cow::Borrowed(&call.function.arguments),
        });
        let state = message
            .provider_state
            .as_ref()
            .filter(|state| state.protocol == self.protocol);
        self.add_turn_and_results(text, calls.collect(), state.map(|state| &state.content));
    }

    /// Adds a tool call that is a message of its own, not a part of an assistant message. A call without a name is ignored.
    fn add_tool_request(&mut self, message: &'a Message) {
        let Some(name) = message.name.as_deref() else {
            return;
        };
        let id = message.tool_call_id.as_deref().unwrap_or_default();
        let call = PromptCall {
            id,
            name,
            arguments: content_as_text(message),
        };
        self.add_turn_and_results("", vec![call], None);
    }

    /// Adds a turn of the model, and a turn with the results of its calls.
    fn add_turn_and_results(&mut self, text: &'a str, prompt_calls: Vec<PromptCall<'a>>, state: Option<&'a Value>) {
        let mut calls = Vec::with_capacity(prompt_calls.len());
        let mut results = Vec::with_capacity(prompt_calls.len());
        for call in prompt_calls {
            let id = self.unused_id(call.id);
            let result = self.unmatched_results.get_mut(call.id).and_then(VecDeque::pop_front);
            self.matched_results.extend(result.map(std::ptr::from_ref));
            results.push(TurnResult {
                id: id.clone(),
                name: call.name,
                text: result.map_or(Cow::Borrowed(NO_RESULT), content_as_text),
            });
            calls.push(TurnCall {
                id,
                name: call.name,
                arguments: call.arguments,
            });
        }
        self.turns.push(Turn::Assistant { text, calls, state });
        self.turns.push(Turn::Results(results));
    }

    /// Returns `id_in_prompt`, or a generated identifier if `id_in_prompt` is empty or in use.
    fn unused_id(&mut self, id_in_prompt: &'a str) -> Cow<'a, str> {
        if !id_in_prompt.is_empty() && self.used_ids.insert(id_in_prompt.to_owned()) {
            return Cow::Borrowed(id_in_prompt);
        }
        let mut number = self.used_ids.len();
        loop {
            let id = format!("call_{number}");
            if self.used_ids.insert(id.clone()) {
                return Cow::Owned(id);
            }
            number = number.saturating_add(1);
        }
    }

    /// Adds a result without an earlier call as a user turn, because providers refuse such a result.
    fn add_result_as_text(&mut self, message: &'a Message) {
        let id = message.tool_call_id.as_deref().unwrap_or_default();
        // Remove the result, so that no later call gets it. It is the first in its queue, because all earlier results with this
        // identifier were removed before.
        self.unmatched_results.get_mut(id).and_then(VecDeque::pop_front);
        let name = message.name.as_deref().unwrap_or("a tool");
        self.add_user(Cow::Owned(format!("result of `{name}`: {}", content_as_text(message))));
    }
}
