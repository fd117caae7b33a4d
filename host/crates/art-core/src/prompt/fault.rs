//! Faults of a prompt, each with the index of the faulty message.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{ArtStandardPrompt, Message, Role};
use crate::JsonObject;
use crate::text::prefix;
use crate::tool::ToolCallRequest;

/// Keys that a message may have: those of contract C24, and `provider_state`.
const KEYS: [&str; 6] = [
    "role",
    "content",
    "name",
    "tool_calls",
    "tool_call_id",
    "provider_state",
];

/// Maximum length of an untrusted name in a fault, in characters.
const MAX_NAME_CHARS: usize = 64;

/// A fault of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("message {index}: {kind}")]
pub struct PromptFault {
    /// Index of the message, from 0.
    pub index: usize,
    /// The fault.
    pub kind: PromptFaultKind,
}

/// Kind of a fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PromptFaultKind {
    /// The message cannot be read: a field is missing or has another type.
    #[error("cannot be read: {0}")]
    Malformed(String),
    /// The role is unknown.
    #[error("the role `{0}` is unknown; use `system`, `user`, `assistant`, `tool_request` or `tool_result`")]
    UnknownRole(String),
    /// The key is unknown.
    #[error("the key `{0}` is unknown; use {keys}", keys = KEYS.map(|key| format!("`{key}`")).join(", "))]
    UnknownKey(String),
    /// The content of a system or user message is not text.
    #[error("the content of a `system` or `user` message is not text")]
    NotText,
    /// The content of an assistant message is neither text nor null.
    #[error("the content of an `assistant` message is neither text nor null")]
    NeitherTextNorNull,
    /// The content of a result is not text.
    #[error("the content of a `tool_result` message is not text; write JSON as text")]
    ResultNotText,
    /// The content of a request is neither an object nor null.
    #[error("the content of a `tool_request` message is neither an object nor null")]
    NeitherObjectNorNull,
    /// A result does not name its call.
    #[error("a `tool_result` message has no `tool_call_id`")]
    NoCallId,
    /// A message that is not an assistant message has tool calls.
    #[error("only an `assistant` message may have `tool_calls`")]
    MisplacedCalls,
    /// A call has no identifier that a result could name.
    #[error("a call of `{tool}` has an empty `id`")]
    EmptyCallId {
        /// Name of the called tool.
        tool: String,
    },
    /// Two calls of a message have the same identifier.
    #[error("two calls have the id `{id}`; ids have to be unique in a turn")]
    RepeatedCallId {
        /// The identifier.
        id: String,
    },
    /// The arguments are not the text of a JSON object.
    #[error("the arguments of the call `{id}` are not the text of a JSON object")]
    ArgumentsNotObject {
        /// Identifier of the call.
        id: String,
    },
    /// A result belongs to no open call: no earlier message made the call, the call already has a result, or an assistant message
    /// stands between the call and the result.
    #[error(
        "the result belongs to the call `{id}`, which the last `assistant` message did not make, or which already has a result"
    )]
    NoSuchCall {
        /// Identifier of the call that the result names.
        id: String,
    },
    /// A call has no result before the next message of the model.
    #[error("the call `{id}` has no result before the next `assistant` message")]
    NoResult {
        /// Identifier of the call.
        id: String,
    },
}

impl ArtStandardPrompt {
    /// Checks that each message fits its role, that each result has its call, and that each call has its result. The last calls
    /// of the model may still lack their results.
    ///
    /// # Errors
    /// Fails with all faults, in the order of the messages.
    pub fn validate(&self) -> Result<(), Vec<PromptFault>> {
        let mut faults = Vec::new();
        let mut open_calls = OpenCalls::default();
        for (index, message) in self.0.iter().enumerate() {
            let mut message_faults = message.faults();
            open_calls.check_message(index, message, &mut message_faults, &mut faults);
            faults.extend(message_faults.into_iter().map(|kind| PromptFault { index, kind }));
        }
        faults.sort_by_key(|fault| fault.index);
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    /// Reads a prompt from JSON and validates it.
    ///
    /// # Errors
    /// Fails with the faults of single messages or, if there are none, with those of calls and results that do not match.
    pub fn parse(prompt: &Value) -> Result<Self, Vec<PromptFault>> {
        let malformed = |reason: &str| PromptFaultKind::Malformed(reason.to_owned());
        let Some(messages) = prompt.as_array() else {
            let kind = malformed("a prompt is an array of messages");
            return Err(vec![PromptFault { index: 0, kind }]);
        };
        let (mut parsed, mut faults) = (Vec::new(), Vec::new());
        for (index, message) in messages.iter().enumerate() {
            match parse_message(message) {
                Ok(message) => parsed.push(message),
                Err(kinds) => faults.extend(kinds.into_iter().map(|kind| PromptFault { index, kind })),
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let prompt = Self(parsed);
        prompt.validate()?;
        Ok(prompt)
    }
}

impl Message {
    /// Checks that the content and identifiers of the message fit its role (contracts C25, C27).
    ///
    /// # Errors
    /// Fails with the first fault.
    pub fn check(&self) -> Result<(), PromptFaultKind> {
        self.faults().into_iter().next().map_or(Ok(()), Err)
    }

    /// Returns the faults of the message, without regard to other messages.
    fn faults(&self) -> Vec<PromptFaultKind> {
        use PromptFaultKind as Kind;
        let content_fault = match (self.role, &self.content) {
            (Role::System | Role::User, Value::String(_))
            | (Role::Assistant, Value::String(_) | Value::Null)
            | (Role::ToolRequest, Value::Object(_) | Value::Null)
            | (Role::ToolResult, Value::String(_)) => None,
            (Role::System | Role::User, _) => Some(Kind::NotText),
            (Role::Assistant, _) => Some(Kind::NeitherTextNorNull),
            (Role::ToolRequest, _) => Some(Kind::NeitherObjectNorNull),
            (Role::ToolResult, _) => Some(Kind::ResultNotText),
        };
        let lacks_call_id = self.role == Role::ToolResult && self.tool_call_id.is_none();
        let has_misplaced_calls = self.role != Role::Assistant && !self.tool_calls.is_empty();
        let mut faults: Vec<_> = content_fault.into_iter().collect();
        faults.extend(lacks_call_id.then_some(Kind::NoCallId));
        faults.extend(has_misplaced_calls.then_some(Kind::MisplacedCalls));
        faults.extend(call_faults(&self.tool_calls));
        faults
    }
}

/// Returns the faults of the calls of one message.
fn call_faults(calls: &[ToolCallRequest]) -> Vec<PromptFaultKind> {
    let mut seen = BTreeSet::new();
    let mut faults = Vec::new();
    for call in calls {
        let id = shorten(&call.id);
        if call.id.is_empty() {
            let tool = shorten(&call.function.name);
            faults.push(PromptFaultKind::EmptyCallId { tool });
        } else if !seen.insert(call.id.as_str()) {
            faults.push(PromptFaultKind::RepeatedCallId { id: id.clone() });
        }
        if serde_json::from_str::<JsonObject>(&call.function.arguments).is_err() {
            faults.push(PromptFaultKind::ArgumentsNotObject { id });
        }
    }
    faults
}

/// The calls that have no result yet: those of the last assistant message and of tool requests after it.
#[derive(Debug, Default)]
struct OpenCalls<'a> {
    /// For each call, the index of its message and its identifier.
    calls: Vec<(usize, &'a str)>,
}

impl<'a> OpenCalls<'a> {
    /// Updates the open calls with `message`, which is at `index`. If it is the result of no open call, adds this fault to
    /// `message_faults`. If it is an assistant message, adds a fault of an earlier message to `prompt_faults` for each call that
    /// is still open.
    fn check_message(
        &mut self,
        index: usize,
        message: &'a Message,
        message_faults: &mut Vec<PromptFaultKind>,
        prompt_faults: &mut Vec<PromptFault>,
    ) {
        match (message.role, &message.tool_call_id) {
            (Role::Assistant, _) => {
                let unanswered = std::mem::take(&mut self.calls)
                    .into_iter()
                    .map(|(index, id)| PromptFault {
                        index,
                        kind: PromptFaultKind::NoResult { id: shorten(id) },
                    });
                prompt_faults.extend(unanswered);
                self.calls = message
                    .tool_calls
                    .iter()
                    .map(|call| (index, call.id.as_str()))
                    .collect();
            }
            (Role::ToolRequest, Some(id)) => self.calls.push((index, id)),
            (Role::ToolResult, Some(id)) => match self.calls.iter().position(|(_, open)| open == id) {
                Some(position) => drop(self.calls.swap_remove(position)),
                None => message_faults.push(PromptFaultKind::NoSuchCall { id: shorten(id) }),
            },
            _ => {}
        }
    }
}

/// Parses a message. Fails with its unknown keys and its unknown role or, if there are none, with its other faults.
fn parse_message(message: &Value) -> Result<Message, Vec<PromptFaultKind>> {
    let malformed = |reason: String| vec![PromptFaultKind::Malformed(reason)];
    let map = message
        .as_object()
        .ok_or_else(|| malformed("a message is an object".to_owned()))?;
    let unknown_keys = map.keys().filter(|key| !KEYS.contains(&key.as_str()));
    let mut faults: Vec<_> = unknown_keys
        .map(|key| PromptFaultKind::UnknownKey(shorten(key)))
        .collect();
    if let Some(role) = map.get("role").filter(|role| Role::from_name(role).is_none()) {
        let name = role.as_str().map_or_else(|| role.to_string(), str::to_owned);
        faults.push(PromptFaultKind::UnknownRole(shorten(&name)));
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let message = Message::deserialize_unchecked(message).map_err(|error| malformed(error.to_string()))?;
    let faults = message.faults();
    if faults.is_empty() { Ok(message) } else { Err(faults) }
}

fn shorten(text: &str) -> String {
    prefix(text, MAX_NAME_CHARS).to_owned()
}

#[cfg(test)]
mod tests;
