//! What a model is asked, and by whom (C42, C43, C68).

use serde::{Deserialize, Serialize};

use crate::JsonObject;
use crate::prompt::ArtStandardPrompt;
use crate::stream::Phase;
use crate::tool::ToolSchema;

/// One call of a model. Routing fields are the host's; `params` cannot change them (B24).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelRequest {
    /// What the model reads.
    pub prompt: ArtStandardPrompt,
    /// Tools it may call in its own form; the prompt names them as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolSchema>,
    /// Phase of the run.
    pub phase: Phase,
    /// Step of the plan, in the execution phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepContext>,
    /// What the model must be able to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_capabilities: Vec<ModelCapability>,
    /// Parameters for the provider, such as `temperature`.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub params: JsonObject,
}

/// Step of the plan that a model call belongs to (C42).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepContext {
    /// The item.
    pub step_id: String,
    /// What it is to do.
    pub step_description: String,
}

/// What a model can do (C43).
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

/// The model in use (C68). Secrets are never part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeProviderConfig {
    /// For example `embedded`.
    pub provider_name: String,
    /// Model of that provider.
    pub model_id: String,
}
