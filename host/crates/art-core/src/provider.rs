//! What a model is called with, and which model.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::JsonObject;
use crate::prompt::ArtStandardPrompt;
use crate::stream::{Phase, StepContext};
use crate::task::Task;
use crate::tool::ToolSchema;

/// One call of a model. Routing fields are the host's; `params` cannot change them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelRequest {
    /// Prompt.
    pub prompt: ArtStandardPrompt,
    /// Tools it may call in its provider's form; the prompt names them as well. Empty where the prompt has them in full.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolSchema>,
    /// Phase of the run.
    pub phase: Phase,
    /// Step of the plan, in the execution phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepContext>,
    /// Pictures and other files that come with the question; a model that cannot see leaves them out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<Media>,
    /// Form of the reply, if the provider supports the choice.
    #[serde(default, skip_serializing_if = "crate::wire::is_default")]
    pub reply_format: ReplyFormat,
    /// Capabilities that the model must have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_capabilities: Vec<ModelCapability>,
    /// Parameters for the provider: `temperature`, `topP`, `maxTokens`, `seed`, `stop`, `reasoningEffort`, and
    /// provider-specific ones.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub params: JsonObject,
    /// What the prompt was made from, for models that read data and not prose; absent where there is only a prompt.
    #[serde(skip)]
    pub task: Option<Arc<Task>>,
}

impl ModelRequest {
    /// Creates a request with a prompt and nothing else.
    #[must_use]
    pub fn new(prompt: ArtStandardPrompt, phase: Phase) -> Self {
        Self {
            prompt,
            tools: Vec::new(),
            phase,
            step: None,
            media: Vec::new(),
            reply_format: ReplyFormat::Text,
            required_capabilities: Vec::new(),
            params: JsonObject::new(),
            task: None,
        }
    }
}

/// Form of a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReplyFormat {
    /// Any text.
    #[default]
    Text,
    /// One JSON object.
    Json,
}

/// A file that a model looks at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Media {
    /// File name.
    pub name: String,
    /// For example `image/png`.
    pub media_type: String,
    /// The content in base64 (RFC 4648, with padding).
    pub base64: String,
}

/// A capability of a model (C43).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ModelCapability {
    Text,
    Vision,
    Streaming,
    ToolUse,
    Rag,
    Code,
    Reasoning,
}

/// How many tokens a prompt and its reply may have together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Option<u64>", into = "Option<u64>")]
pub enum ContextWindow {
    /// Any number, and reading costs nothing, as with the embedded model.
    #[default]
    Unbounded,
    /// So many tokens.
    Tokens(u64),
}

impl ContextWindow {
    /// Returns the number of tokens, if there is one.
    #[must_use]
    pub const fn tokens(self) -> Option<u64> {
        match self {
            Self::Unbounded => None,
            Self::Tokens(tokens) => Some(tokens),
        }
    }

    /// Whether reading has no bound and costs nothing.
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

/// The model in use (C68). Secrets are never part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeProviderConfig {
    /// For example `embedded`.
    pub provider_name: String,
    /// Model of that provider.
    pub model_id: String,
    /// Further options of the connection, such as `baseUrl`; never a secret.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub adapter_options: JsonObject,
}

impl RuntimeProviderConfig {
    /// Creates that model of that provider, without options.
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
