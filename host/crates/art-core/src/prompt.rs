//! The one prompt form that every model adapter reads (C23, C24, C25, C26, C27, S003).

mod fault;
mod persona;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::stream::ProviderState;
use crate::tool::ToolCallRequest;

pub use fault::{PromptFault, PromptFaultKind};
pub use persona::{
    AgentPersona, MergeStrategy, StagePrompts, SystemPromptOverride, SystemPromptSpec, SystemPromptsRegistry,
};

/// Who speaks (C23). `tool` is accepted as another name of `tool_result` (X16).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Instructions.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// A call on its own, without an assistant turn.
    ToolRequest,
    /// What a call returned.
    #[serde(alias = "tool")]
    ToolResult,
}

impl Role {
    /// The role of that name.
    fn from_name(name: &Value) -> Option<Self> {
        Self::deserialize(name).ok()
    }
}

/// One turn (C24). Reading one checks the rules of C25 and C27; see [`Message::check`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// Text, or null for an assistant turn that only calls tools.
    pub content: Value,
    /// Tool that a result comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Calls of an assistant turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCallRequest>,
    /// The call that a result answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Of an assistant turn: what its provider wants back with it. An addition to C24 that only adapters read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_state: Option<ProviderState>,
}

/// An ordered list of turns (C26).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ArtStandardPrompt(pub Vec<Message>);

impl Message {
    /// Instructions.
    #[must_use]
    pub fn system(text: impl Into<String>) -> Self {
        Self::text(Role::System, text)
    }

    /// The person's words.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::text(Role::User, text)
    }

    /// The model's words.
    #[must_use]
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::text(Role::Assistant, text)
    }

    /// An assistant turn that calls tools. Empty text becomes null.
    #[must_use]
    pub fn assistant_calls(text: &str, calls: Vec<ToolCallRequest>) -> Self {
        let content = if text.is_empty() {
            Value::Null
        } else {
            Value::from(text)
        };
        Self {
            content,
            tool_calls: calls,
            ..Self::text(Role::Assistant, "")
        }
    }

    /// What the call `id` of the tool `name` returned, as text.
    #[must_use]
    pub fn tool_result(id: impl Into<String>, name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            name: Some(name.into()),
            tool_call_id: Some(id.into()),
            ..Self::text(Role::ToolResult, text)
        }
    }

    /// The content when it is text, else the empty string.
    #[must_use]
    pub fn content_text(&self) -> &str {
        self.content.as_str().unwrap_or_default()
    }

    /// Reads a message without its rules.
    fn read(message: &Value) -> serde_json::Result<Self> {
        Self::deserialize(message)
    }

    fn text(role: Role, text: impl Into<String>) -> Self {
        Self {
            role,
            content: Value::String(text.into()),
            name: None,
            tool_calls: Vec::new(),
            tool_call_id: None,
            provider_state: None,
        }
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let message = Self::deserialize(deserializer)?;
        message.check().map_err(D::Error::custom)?;
        Ok(message)
    }
}
