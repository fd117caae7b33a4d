//! The prompt format of the host. It is the same for all models; the protocol of each provider translates it (contract
//! S003).

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

/// Role of a message (contract C23). `tool` is accepted as another name of `tool_result` (contract X16).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Instructions to the model.
    System,
    /// A message of the person.
    User,
    /// A message of the model.
    Assistant,
    /// A tool call that is not part of an assistant message.
    ToolRequest,
    /// The result of a tool call.
    #[serde(alias = "tool")]
    ToolResult,
}

impl Role {
    /// Returns the role named `name`, or `None` if there is no such role.
    fn from_name(name: &Value) -> Option<Self> {
        Self::deserialize(name).ok()
    }
}

/// A message of a prompt (contract C24). Deserialising a message also checks that its content and its identifiers fit
/// its role (contracts C25, C27); see [`Message::check`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
// With `remote = "Self"`, Serde derives inherent functions instead of the traits, which are implemented at the end of this file.
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Message {
    /// Role of the sender.
    pub role: Role,
    /// Content: text. It may be null in an assistant message, and is an object or null in a tool request.
    pub content: Value,
    /// Name of the tool, in a tool request or a result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Tool calls of an assistant message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCallRequest>,
    /// Identifier of the call that a tool request makes or that a result belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// State that must be sent back to the provider together with an assistant message. Only the protocol of that provider reads
    /// it. It is the only key that contract C24 does not list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_state: Option<ProviderState>,
}

/// A prompt: messages in their order (contract C26).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ArtStandardPrompt(pub Vec<Message>);

impl Message {
    /// Creates a system message.
    #[must_use]
    pub fn system(text: impl Into<String>) -> Self {
        Self::text(Role::System, text)
    }

    /// Creates a user message.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::text(Role::User, text)
    }

    /// Creates an assistant message with text only.
    #[must_use]
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::text(Role::Assistant, text)
    }

    /// Creates an assistant message that calls tools. An empty text becomes null.
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

    /// Creates the result of call `id` of the tool `name`, as text.
    #[must_use]
    pub fn tool_result(id: impl Into<String>, name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            name: Some(name.into()),
            tool_call_id: Some(id.into()),
            ..Self::text(Role::ToolResult, text)
        }
    }

    /// Returns the content if it is text, else the empty string.
    #[must_use]
    pub fn content_text(&self) -> &str {
        self.content.as_str().unwrap_or_default()
    }

    /// Deserialises a message without checking that its content and its identifiers fit its role.
    fn deserialize_unchecked(message: &Value) -> serde_json::Result<Self> {
        // This calls the inherent function, which Serde derives. The method of the trait has the same name, but also checks.
        Self::deserialize(message)
    }

    /// Creates a message of any role with a text and nothing else.
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

// `Self::serialize` and `Self::deserialize` are the inherent functions that Serde derives with `remote = "Self"`.
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
