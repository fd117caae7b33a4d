//! Converts a prompt into turns that every provider accepts: each call has a result directly after it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};

use art_core::JsonObject;
use art_core::prompt::{Message, Role};
use art_core::provider::Media;
use serde_json::Value;

use super::ProtocolCall;

#[cfg(test)]
mod tests;

/// One turn.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Turn<'a> {
    System(Cow<'a, str>),
    User {
        text: Cow<'a, str>,
        media: &'a [Media],
    },
    Assistant {
        text: &'a str,
        calls: Vec<Call<'a>>,
        /// The state to send back with the turn.
        state: Option<&'a Value>,
    },
    /// One result for each call of the previous turn, in the same order.
    Results(Vec<Answer<'a>>),
}

/// A call of an assistant turn. Its identifier is not empty and is unique in the prompt.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) name: &'a str,
    /// The arguments as the model wrote them, JSON or not.
    pub(super) arguments: Cow<'a, str>,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answer<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) name: &'a str,
    pub(super) text: Cow<'a, str>,
}

/// The result for a call without one, which providers refuse.
const NO_RESULT: &str = "no result: the call was not made";

/// Returns the turns of `call` for `protocol`.
pub(super) fn turns<'a>(call: &ProtocolCall<'a>, protocol: &str) -> Vec<Turn<'a>> {
    let media: &[Media] = if call.vision { &call.request.media } else { &[] };
    let mut builder = TurnBuilder::new(&call.request.prompt.0, protocol);
    for message in &call.request.prompt.0 {
        builder.add(message);
    }
    let mut turns = builder.turns;
    if !media.is_empty() {
        attach(&mut turns, media);
    }
    turns.retain(|turn| !turn.is_empty());
    turns
}

impl Turn<'_> {
    /// Returns the text, if it is a system turn.
    pub(super) fn system(&self) -> Option<&str> {
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
            Self::Results(answers) => answers.is_empty(),
        }
    }
}

/// Returns arguments or a result as an object, as some providers require. Any other value becomes the field `key`.
pub(super) fn object(text: &str, key: &str) -> JsonObject {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => object,
        _ if text.trim().is_empty() => JsonObject::new(),
        Ok(other) => JsonObject::from_iter([(key.to_owned(), other)]),
        Err(_) => JsonObject::from_iter([(key.to_owned(), Value::from(text))]),
    }
}

impl Call<'_> {
    /// Returns the arguments as valid JSON text, because providers refuse prompts with invalid arguments in earlier turns.
    pub(super) fn json(&self) -> Cow<'_, str> {
        match serde_json::from_str(&self.arguments) {
            Ok(Value::Object(_)) => Cow::Borrowed(&self.arguments),
            _ => Cow::Owned(Value::Object(self.object()).to_string()),
        }
    }

    /// Returns the arguments as an object.
    pub(super) fn object(&self) -> JsonObject {
        object(&self.arguments, "arguments")
    }
}

/// Returns the system turns as one text, if there are any.
pub(super) fn instructions(turns: &[Turn<'_>]) -> Option<String> {
    let texts: Vec<&str> = turns.iter().filter_map(Turn::system).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// Returns whether a turn, including system turns if `system` is set, mentions `json`. Providers refuse a JSON reply format if
/// the prompt does not mention it.
pub(super) fn mentions_json(turns: &[Turn<'_>], system: bool) -> bool {
    let mentions = |text: &str| text.to_ascii_lowercase().contains("json");
    turns.iter().any(|turn| match turn {
        Turn::System(text) => system && mentions(text),
        Turn::User { text, .. } => mentions(text),
        Turn::Assistant { text, .. } => mentions(text),
        Turn::Results(answers) => answers.iter().any(|answer| mentions(&answer.text)),
    })
}

/// Attaches media to the last user turn, or to a new one if there is none.
fn attach<'a>(turns: &mut Vec<Turn<'a>>, files: &'a [Media]) {
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

/// Returns the content of a message as text.
fn text_of(message: &Message) -> Cow<'_, str> {
    match &message.content {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null => Cow::Borrowed(""),
        other => Cow::Owned(other.to_string()),
    }
}

struct TurnBuilder<'a> {
    turns: Vec<Turn<'a>>,
    protocol: String,
    /// Results that are not matched to a call yet, by call identifier.
    results: HashMap<&'a str, VecDeque<&'a Message>>,
    /// Call identifiers in use.
    used: HashSet<String>,
    /// Results that were matched to a call, by address.
    matched: HashSet<*const Message>,
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
            results,
            used: HashSet::new(),
            matched: HashSet::new(),
        }
    }

    fn add(&mut self, message: &'a Message) {
        match message.role {
            Role::System => self.turns.push(Turn::System(text_of(message))),
            Role::User => self.user(text_of(message)),
            Role::Assistant => self.assistant(message, message.content_text()),
            Role::ToolRequest => self.tool_request(message),
            Role::ToolResult if self.matched.contains(&std::ptr::from_ref(message)) => {}
            Role::ToolResult => self.orphan(message),
        }
    }

    fn user(&mut self, text: Cow<'a, str>) {
        self.turns.push(Turn::User { text, media: &[] });
    }

    fn assistant(&mut self, message: &'a Message, text: &'a str) {
        let calls = message.tool_calls.iter().map(|call| {
            let arguments = Cow::Borrowed(call.function.arguments.as_str());
            (call.id.as_str(), call.function.name.as_str(), arguments)
        });
        let state = message
            .provider_state
            .as_ref()
            .filter(|state| state.wire == self.protocol);
        self.push_calls(text, calls.collect(), state.map(|state| &state.content));
    }

    /// Adds a call that is a separate message. A call without a name is ignored.
    fn tool_request(&mut self, message: &'a Message) {
        let Some(name) = message.name.as_deref() else {
            return;
        };
        let id = message.tool_call_id.as_deref().unwrap_or_default();
        self.push_calls("", vec![(id, name, text_of(message))], None);
    }

    fn push_calls(&mut self, text: &'a str, calls: Vec<(&'a str, &'a str, Cow<'a, str>)>, state: Option<&'a Value>) {
        let mut answers = Vec::with_capacity(calls.len());
        let mut named = Vec::with_capacity(calls.len());
        for (given, name, arguments) in calls {
            let id = self.unused_id(given);
            let result = self.results.get_mut(given).and_then(VecDeque::pop_front);
            self.matched.extend(result.map(std::ptr::from_ref));
            answers.push(Answer {
                id: id.clone(),
                name,
                text: result.map_or(Cow::Borrowed(NO_RESULT), text_of),
            });
            named.push(Call { id, name, arguments });
        }
        self.turns.push(Turn::Assistant {
            text,
            calls: named,
            state,
        });
        self.turns.push(Turn::Results(answers));
    }

    /// Returns `given`, or a generated identifier if `given` is empty or in use.
    fn unused_id(&mut self, given: &'a str) -> Cow<'a, str> {
        if !given.is_empty() && self.used.insert(given.to_owned()) {
            return Cow::Borrowed(given);
        }
        let mut number = self.used.len();
        loop {
            let id = format!("call_{number}");
            if self.used.insert(id.clone()) {
                return Cow::Owned(id);
            }
            number = number.saturating_add(1);
        }
    }

    /// Adds a result without an earlier call as text, because providers refuse such a result.
    fn orphan(&mut self, message: &'a Message) {
        let id = message.tool_call_id.as_deref().unwrap_or_default();
        // Earlier results were removed, so this one is the first of the queue.
        self.results.get_mut(id).and_then(VecDeque::pop_front);
        let name = message.name.as_deref().unwrap_or("a tool");
        self.user(Cow::Owned(format!("result of `{name}`: {}", text_of(message))));
    }
}
