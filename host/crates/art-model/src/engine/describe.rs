//! Descriptions of providers and models for users, without secrets.

use art_core::error::ModelError;
use art_core::price::Price;
use art_core::provider::{ContextWindow, ModelCapability, RuntimeProviderConfig};
use serde::Serialize;

use crate::protocol::Protocol;
use crate::provider::{Provider, ProviderKind, RemoteProvider};

/// A model as the settings describe it, without secrets.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelInfo {
    /// Provider and model.
    pub config: RuntimeProviderConfig,
    /// One line about what the model can and cannot do, shown when a run starts.
    pub notice: Option<String>,
    /// What the model can do.
    pub capabilities: Vec<ModelCapability>,
    /// Maximum size of a prompt and its reply together.
    #[serde(rename = "contextTokens")]
    pub context: ContextWindow,
    /// Whether the model plans but cannot carry out a step of a plan. Its plans contain the tool calls of each step; if these
    /// fail, the step fails, and the model is not asked for other calls.
    pub plans_only: bool,
    /// Maximum number of tokens of a reply; `None` if the provider decides.
    pub max_output_tokens: Option<u64>,
    /// Its price, if known.
    pub price: Option<Price>,
    /// The provider.
    pub provider: ProviderInfo,
    /// The error in its settings, if it cannot be called.
    pub problem: Option<ModelError>,
}

/// A provider as the settings describe it, without secrets.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderInfo {
    /// Name.
    pub name: String,
    /// Model that is used if none is named.
    pub default_model: Option<String>,
    /// Protocol; `None` for a model in this process.
    pub api: Option<Protocol>,
    /// Address; `None` for a model in this process.
    pub base_url: Option<String>,
    /// Source of its key as text, such as ``environment variable `X` ``. `None` if it has no key that can be used.
    pub key: Option<String>,
    /// Whether a key is set, even if it cannot be used; see `problem`.
    pub key_set: bool,
    /// Whether it runs on this machine, as a server or in this process.
    pub local: bool,
    /// The error in its settings, if it cannot be called.
    pub problem: Option<ModelError>,
}

impl ModelInfo {
    pub(super) fn new(provider: &Provider, config: &RuntimeProviderConfig, price: Option<Price>) -> Self {
        let info = ProviderInfo::new(provider);
        let (notice, capabilities, context, plans_only, max_output_tokens) = match &provider.kind {
            ProviderKind::InProcess(model) => (
                model.notice(),
                model.capabilities().to_vec(),
                model.context(),
                model.plans_only(),
                None,
            ),
            ProviderKind::Remote(remote) => (
                None,
                remote.capabilities.for_model(&config.model_id),
                ContextWindow::Tokens(remote.context_tokens),
                false,
                remote.max_output_tokens,
            ),
        };
        Self {
            config: config.clone(),
            notice,
            capabilities,
            context,
            plans_only,
            max_output_tokens,
            price,
            problem: info.problem.clone(),
            provider: info,
        }
    }
}

impl ProviderInfo {
    /// Returns whether its model runs in this process, so that nothing is sent and calls are free.
    #[must_use]
    pub const fn in_process(&self) -> bool {
        self.api.is_none()
    }

    pub(super) fn new(provider: &Provider) -> Self {
        let remote = provider.as_remote().map(std::convert::AsRef::as_ref);
        Self {
            name: provider.name.clone(),
            default_model: provider.default_model.clone(),
            api: remote.map(|remote| remote.api),
            base_url: remote.map(|remote| remote.base_url.to_string()),
            key: remote.and_then(key_source),
            key_set: remote.is_some_and(|remote| remote.key_is_present),
            local: provider.local || remote.is_none(),
            problem: remote.and_then(|remote| remote.problem.clone()),
        }
    }
}

fn key_source(remote: &RemoteProvider) -> Option<String> {
    remote.key.secret.as_ref().map(|_| remote.key.source.to_string())
}
