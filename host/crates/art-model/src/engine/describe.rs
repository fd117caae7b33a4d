//! What can be said of providers and models, for `art doctor`, `art config` and whoever starts a run.

use art_core::error::ModelError;
use art_core::provider::{ModelCapability, RuntimeProviderConfig};
use serde::Serialize;

use crate::price::Price;
use crate::provider::{Kind, Provider, Remote};
use crate::wire::Api;

/// What is known of a model without asking anyone. Secrets are never part of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelInfo {
    /// Provider and model (C68).
    pub config: RuntimeProviderConfig,
    /// What the model cannot do, in one line for the person who starts a run; none when there is nothing to warn of.
    pub notice: Option<String>,
    /// What the model can do (C43).
    pub capabilities: Vec<ModelCapability>,
    /// Tokens that a prompt and its reply may have together; none for a model that does not count any.
    pub context_tokens: Option<u64>,
    /// Tokens that a reply may have; none when the provider decides.
    pub max_output_tokens: Option<u64>,
    /// What it costs; none when that is not known.
    pub price: Option<Price>,
    /// The provider.
    pub provider: ProviderInfo,
    /// Why it cannot be called as things are set; none when it can.
    pub problem: Option<ModelError>,
}

/// What is known of a provider. Secrets are never part of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderInfo {
    /// Name.
    pub name: String,
    /// Model when none is named.
    pub default_model: Option<String>,
    /// Dialect; none for a model in this process.
    pub api: Option<Api>,
    /// Where it answers; none for a model in this process.
    pub base_url: Option<String>,
    /// Where its key comes from, in words, such as `environment variable X`; none when it is called without one.
    pub key: Option<String>,
    /// Whether a key is set, even if `problem` keeps it from being used.
    pub key_set: bool,
    /// Whether it runs on this machine.
    pub local: bool,
    /// Why it cannot be called as things are set; none when it can.
    pub problem: Option<ModelError>,
}

impl ModelInfo {
    pub(super) fn new(provider: &Provider, config: &RuntimeProviderConfig, price: Option<Price>) -> Self {
        let info = ProviderInfo::new(provider);
        let (notice, capabilities, context_tokens, max_output_tokens) = match &provider.kind {
            Kind::Fixed(model) => (
                model.notice(),
                model.capabilities().to_vec(),
                model.context_tokens(),
                None,
            ),
            Kind::Remote(remote) => (
                None,
                remote.abilities.of(&config.model_id),
                Some(remote.context_tokens),
                remote.max_output_tokens,
            ),
        };
        Self {
            config: config.clone(),
            notice,
            capabilities,
            context_tokens,
            max_output_tokens,
            price,
            problem: info.problem.clone(),
            provider: info,
        }
    }
}

impl ProviderInfo {
    pub(super) fn new(provider: &Provider) -> Self {
        let remote = provider.service().map(std::convert::AsRef::as_ref);
        Self {
            name: provider.name.clone(),
            default_model: provider.default_model.clone(),
            api: remote.map(|remote| remote.api),
            base_url: remote.map(|remote| remote.base_url.to_string()),
            key: remote.and_then(key_in_words),
            key_set: remote.is_some_and(|remote| remote.key_set),
            local: provider.local || remote.is_none(),
            problem: remote.and_then(|remote| remote.problem.clone()),
        }
    }
}

fn key_in_words(remote: &Remote) -> Option<String> {
    remote.key.secret.as_ref().map(|_| remote.key.source.to_string())
}
