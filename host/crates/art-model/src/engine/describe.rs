//! Descriptions of providers and models, for `art doctor`, `art config` and the start of a run.

use art_core::error::ModelError;
use art_core::provider::{ContextWindow, ModelCapability, RuntimeProviderConfig};
use serde::Serialize;

use crate::price::Price;
use crate::provider::{Kind, Provider, Remote};
use crate::wire::Api;

/// A model as the settings describe it, without secrets.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelInfo {
    /// Provider and model.
    pub config: RuntimeProviderConfig,
    /// One line about the model's limits, shown when a run starts.
    pub notice: Option<String>,
    /// What the model can do.
    pub capabilities: Vec<ModelCapability>,
    /// What a prompt and its reply may have together.
    #[serde(rename = "contextTokens")]
    pub context: ContextWindow,
    /// Tokens that a reply may have; none when the provider decides.
    pub max_output_tokens: Option<u64>,
    /// Its price, if known.
    pub price: Option<Price>,
    /// The provider.
    pub provider: ProviderInfo,
    /// Why it cannot be called with these settings.
    pub problem: Option<ModelError>,
}

/// A provider as the settings describe it, without secrets.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderInfo {
    /// Name.
    pub name: String,
    /// Model when none is named.
    pub default_model: Option<String>,
    /// Protocol; none for a model in this process.
    pub api: Option<Api>,
    /// Address; none for a model in this process.
    pub base_url: Option<String>,
    /// Where its key comes from, in words, such as `environment variable X`. None when it is called without one.
    pub key: Option<String>,
    /// Whether a key is set, even if `problem` keeps it from being used.
    pub key_set: bool,
    /// Whether it runs on this machine.
    pub local: bool,
    /// Why it cannot be called with these settings.
    pub problem: Option<ModelError>,
}

impl ModelInfo {
    pub(super) fn new(provider: &Provider, config: &RuntimeProviderConfig, price: Option<Price>) -> Self {
        let info = ProviderInfo::new(provider);
        let (notice, capabilities, context, max_output_tokens) = match &provider.kind {
            Kind::Fixed(model) => (model.notice(), model.capabilities().to_vec(), model.context(), None),
            Kind::Remote(remote) => (
                None,
                remote.abilities.of(&config.model_id),
                ContextWindow::Tokens(remote.context_tokens),
                remote.max_output_tokens,
            ),
        };
        Self {
            config: config.clone(),
            notice,
            capabilities,
            context,
            max_output_tokens,
            price,
            problem: info.problem.clone(),
            provider: info,
        }
    }
}

impl ProviderInfo {
    /// Whether its model runs in this process, so that nothing is sent and calls cost nothing.
    #[must_use]
    pub const fn in_process(&self) -> bool {
        self.api.is_none()
    }

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
