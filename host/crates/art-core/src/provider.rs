//! Requests to a model, and the choice of a model.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::JsonObject;
use crate::prompt::ArtStandardPrompt;
use crate::shared::Shared;
use crate::stream::{Phase, StepContext};
use crate::task::Task;
use crate::tool::ToolSchema;

/// A request to a model. `params` cannot change the model or the address to which the request is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelRequest {
    /// The prompt.
    pub prompt: ArtStandardPrompt,
    /// Tools whose schemas the provider gets in its own format; the prompt then has only their names. Empty if the prompt itself
    /// has the full schemas.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolSchema>,
    /// Whether the model may, must or must not call one of these tools.
    #[serde(default, skip_serializing_if = "crate::wire::is_default")]
    pub tool_choice: ToolChoice,
    /// Phase of the run.
    pub phase: Phase,
    /// Step of the plan; absent outside of the execution phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepContext>,
    /// Pictures and other files of the question. A model without vision does not get them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<Media>,
    /// Format of the reply, if the provider supports the choice.
    #[serde(default, skip_serializing_if = "crate::wire::is_default")]
    pub reply_format: ReplyFormat,
    /// JSON Schema of a reply in JSON, limited to what the strict modes of providers accept. Providers without a strict mode
    /// ignore it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_schema: Option<Shared<Value>>,
    /// Capabilities that the model must have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_capabilities: Vec<ModelCapability>,
    /// Parameters for the provider: `temperature`, `topP`, `maxTokens`, `seed`, `stop`, `reasoningEffort`, and
    /// provider-specific ones.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub params: JsonObject,
    /// The data from which the prompt was written. The lexical model, which compares words and is built into the program, reads
    /// this data instead of the prompt. Absent in a request that has only a prompt. It is never serialised.
    #[serde(skip)]
    pub task: Option<Arc<Task>>,
}

impl ModelRequest {
    /// Creates a request that has only a prompt.
    #[must_use]
    pub fn new(prompt: ArtStandardPrompt, phase: Phase) -> Self {
        Self {
            prompt,
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            phase,
            step: None,
            media: Vec::new(),
            reply_format: ReplyFormat::Text,
            reply_schema: None,
            required_capabilities: Vec::new(),
            params: JsonObject::new(),
            task: None,
        }
    }
}

/// Whether a model calls the tools of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// The model has to call at least one tool.
    Required,
    /// The model must not call a tool.
    None,
}

/// Format of a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReplyFormat {
    /// Any text.
    #[default]
    Text,
    /// One JSON object.
    Json,
}

/// A file for a model with vision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Media {
    /// File name.
    pub name: String,
    /// Media type, for example `image/png`.
    pub media_type: String,
    /// The content in base64 (RFC 4648, with padding).
    pub base64: String,
}

/// A capability of a model (contract C43).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum ModelCapability {
    Text,
    Vision,
    Streaming,
    ToolUse,
    Rag,
    Code,
    Reasoning,
}

/// The context window of a model: the maximum number of tokens of a prompt and its reply together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Option<u64>", into = "Option<u64>")]
pub enum ContextWindow {
    /// Unlimited, and a prompt of any length costs nothing, as with the lexical model, which is built into the program.
    #[default]
    Unbounded,
    /// The number of tokens.
    Tokens(u64),
}

impl ContextWindow {
    /// Returns the number of tokens, or `None` if the window is unlimited.
    #[must_use]
    pub const fn tokens(self) -> Option<u64> {
        match self {
            Self::Unbounded => None,
            Self::Tokens(tokens) => Some(tokens),
        }
    }

    /// Returns whether the window is unlimited, so that a prompt of any length costs nothing.
    #[must_use]
    pub const fn is_unbounded(&self) -> bool {
        matches!(self, Self::Unbounded)
    }
}

impl From<Option<u64>> for ContextWindow {
    fn from(tokens: Option<u64>) -> Self {
        tokens.map_or(Self::Unbounded, Self::Tokens)
    }
}

impl From<ContextWindow> for Option<u64> {
    fn from(window: ContextWindow) -> Self {
        window.tokens()
    }
}

/// The provider and the model in use, with options of the connection (contract C68). It never contains a secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeProviderConfig {
    /// Name of the provider, for example `embedded` for the model that is built into the program.
    pub provider_name: String,
    /// Name of the model at that provider.
    pub model_id: String,
    /// Further options of the connection, such as `baseUrl`; never a secret.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub adapter_options: JsonObject,
}

impl RuntimeProviderConfig {
    /// Creates the configuration of a model without further options.
    pub fn new(provider_name: impl Into<String>, model_id: impl Into<String>) -> Self {
        Self {
            provider_name: provider_name.into(),
            model_id: model_id.into(),
            adapter_options: JsonObject::new(),
        }
    }
}

impl std::fmt::Display for RuntimeProviderConfig {
    /// Writes `PROVIDER:MODEL`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.provider_name, self.model_id)
    }
}
