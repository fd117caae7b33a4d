//! The providers of models. A provider is either a model in this process, or is called over HTTP, with an address, headers and a
//! key from built-in defaults and the settings.

mod abilities;
mod connect;

use std::collections::BTreeMap;
use std::sync::Arc;

use art_core::error::{ModelError, ModelErrorCode};
use art_core::provider::{ModelCapability, RuntimeProviderConfig};
use reqwest::Url;
use reqwest::header::HeaderMap;

use crate::catalog::{BUILT_IN_PROVIDERS, ProviderDefaults, built_in};
use crate::fault::{Redactor, error, not_configured};
use crate::key::Key;
use crate::model::Model;
use crate::protocol::{Codec, Protocol};
use crate::settings::{ModelSettings, ProviderSettings};

pub(crate) use connect::{host_and_port, is_loopback};

use abilities::ModelCapabilities;

/// Default maximum number of concurrent calls of a provider (contract C69).
const DEFAULT_MAX_PARALLEL: usize = 5;
/// Default maximum number of concurrent calls of a local provider, whose machine runs one model at a time.
const DEFAULT_MAX_PARALLEL_LOCAL: usize = 1;
/// Maximum number of concurrent calls of a model in this process.
const MAX_PARALLEL_IN_PROCESS: usize = 1024;

/// A configured provider.
#[derive(Clone, Debug)]
pub(crate) struct Provider {
    pub(crate) name: String,
    pub(crate) default_model: Option<String>,
    pub(crate) max_parallel: usize,
    /// Whether the provider is a model server on this machine. All such servers together have at most one model in use
    /// at a time (contract M25). `false` for a model in this process.
    pub(crate) local: bool,
    pub(crate) kind: ProviderKind,
}

/// The kind of a provider.
#[derive(Clone, Debug)]
pub(crate) enum ProviderKind {
    /// A model in this process.
    InProcess(Arc<dyn Model>),
    /// A provider that is called over HTTP.
    Remote(Arc<RemoteProvider>),
}

/// A provider that is called over HTTP, on this machine or on another.
#[derive(Debug)]
pub(crate) struct RemoteProvider {
    pub(crate) name: String,
    pub(crate) api: Protocol,
    pub(crate) base_url: Url,
    /// Headers of the settings, which every request has.
    pub(crate) headers: HeaderMap,
    pub(crate) key: Key,
    /// Whether a key was found, usable or not.
    pub(crate) key_is_present: bool,
    /// Why the provider cannot be called: the error in its settings.
    pub(crate) problem: Option<ModelError>,
    pub(crate) capabilities: ModelCapabilities,
    /// Context window of the models, in tokens.
    pub(crate) context_tokens: u64,
    /// Maximum number of tokens of a reply, if the request does not set it.
    pub(crate) max_output_tokens: Option<u64>,
    /// Whether replies stream.
    pub(crate) stream: bool,
    /// Encodes requests and decodes replies in the protocol `api`.
    pub(crate) codec: Arc<dyn Codec>,
    /// Redacts the key and the headers of the settings.
    pub(crate) redactor: Redactor,
}

impl RemoteProvider {
    /// Returns the built-in defaults of the provider if its address is the built-in one. The name does not show which server is
    /// called: settings may give the name of a built-in provider to a server at another address.
    pub(crate) fn defaults_at_built_in_address(&self) -> Option<&'static ProviderDefaults> {
        let defaults = built_in(&self.name)?;
        let address = Url::parse(defaults.base_url?).ok()?;
        (address == self.base_url).then_some(defaults)
    }
}

impl Provider {
    /// Creates a provider with one model in this process.
    pub(crate) fn in_process(model: Arc<dyn Model>) -> Self {
        let config = model.config();
        Self {
            name: config.provider_name.clone(),
            default_model: Some(config.model_id.clone()),
            max_parallel: MAX_PARALLEL_IN_PROCESS,
            local: false,
            kind: ProviderKind::InProcess(model),
        }
    }

    fn remote(defaults: &ProviderDefaults, remote: RemoteProvider, settings: &ProviderSettings) -> Self {
        let default_model = settings.default_model.clone();
        let local = settings.local.unwrap_or(defaults.local);
        let max_parallel = if local {
            DEFAULT_MAX_PARALLEL_LOCAL
        } else {
            DEFAULT_MAX_PARALLEL
        };
        Self {
            name: remote.name.clone(),
            default_model: default_model.or_else(|| defaults.default_model.map(str::to_owned)),
            max_parallel: settings.max_parallel.unwrap_or(max_parallel).max(1),
            local,
            kind: ProviderKind::Remote(Arc::new(remote)),
        }
    }

    /// Returns the provider if it is called over HTTP, or `None` for a model in this process.
    pub(crate) fn as_remote(&self) -> Option<&Arc<RemoteProvider>> {
        match &self.kind {
            ProviderKind::InProcess(_) => None,
            ProviderKind::Remote(remote) => Some(remote),
        }
    }

    /// Returns the capabilities of the model `model_id`. A model is not called if it lacks a capability that the
    /// request needs (contract C43).
    pub(crate) fn capabilities(&self, model_id: &str) -> Vec<ModelCapability> {
        match &self.kind {
            ProviderKind::InProcess(model) => model.capabilities().to_vec(),
            ProviderKind::Remote(remote) => remote.capabilities.for_model(model_id),
        }
    }
}

/// Creates all providers: one for each of the `models` in this process, the built-in ones with an address, and those of the
/// settings. A model in this process takes the place of a built-in provider of its name.
pub(crate) fn create_providers(
    settings: &ModelSettings,
    environment: &dyn Fn(&str) -> Option<String>,
    models: &[Arc<dyn Model>],
) -> Result<BTreeMap<String, Provider>, ModelError> {
    let mut providers = BTreeMap::new();
    for provider in models.iter().cloned().map(Provider::in_process) {
        let name = &provider.name;
        if settings.providers.contains_key(name) {
            let message =
                format!("provider `{name}` runs in this process and cannot be configured; remove `[providers.{name}]`");
            return Err(not_configured(message));
        }
        providers.insert(name.clone(), provider);
    }
    let default_settings = ProviderSettings::default();
    let built_in_names = BUILT_IN_PROVIDERS
        .iter()
        .filter(|defaults| defaults.base_url.is_some())
        .map(|defaults| defaults.name)
        .filter(|name| !providers.contains_key(*name))
        .collect::<Vec<_>>();
    for name in built_in_names
        .into_iter()
        .chain(settings.providers.keys().map(String::as_str))
    {
        let settings = settings.providers.get(name).unwrap_or(&default_settings);
        providers.insert(name.to_owned(), connect::create_provider(name, settings, environment)?);
    }
    Ok(providers)
}

/// Returns the provider and model that `text` names, as `PROVIDER` or `PROVIDER:MODEL`. Without a model, the default model of the
/// provider is used (contract C68). A model name may contain `:` and `/`.
pub(crate) fn resolve(providers: &BTreeMap<String, Provider>, text: &str) -> Result<RuntimeProviderConfig, ModelError> {
    let (name, model) = match text.trim().split_once(':') {
        Some((name, model)) => (name.trim(), Some(model.trim()).filter(|model| !model.is_empty())),
        None => (text.trim(), None),
    };
    let provider = lookup(providers, name)?;
    let model = model.or(provider.default_model.as_deref()).ok_or_else(|| {
        not_configured(format!(
            "provider `{name}` has no default model; name one as `{name}:MODEL`, or set `default_model` in `[providers.{name}]`"
        ))
    })?;
    if let ProviderKind::InProcess(in_process) = &provider.kind
        && in_process.config().model_id != model
    {
        let message = format!(
            "provider `{name}` has no model `{}`; use `{}`",
            Redactor::default().clean_line(model),
            in_process.config()
        );
        return Err(error(ModelErrorCode::ModelNotFound, message));
    }
    check_model_name(model)?;
    Ok(RuntimeProviderConfig::new(name, model))
}

fn check_model_name(model: &str) -> Result<(), ModelError> {
    if model.len() <= 256 && model.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(());
    }
    let message = format!(
        "`{}` is not a valid model name: it has white space, characters that are not ASCII, or more than 256 characters",
        Redactor::default().clean_line(model)
    );
    Err(error(ModelErrorCode::ModelNotFound, message))
}

/// Returns the provider with the name `name`.
pub(crate) fn lookup<'a>(providers: &'a BTreeMap<String, Provider>, name: &str) -> Result<&'a Provider, ModelError> {
    providers.get(name).ok_or_else(|| {
        if built_in(name).is_some_and(|defaults| defaults.base_url.is_none()) {
            return not_configured(format!(
                "provider `{name}` has no address; pass it with `--base-url`, or set `base_url` in `[providers.{name}]`"
            ));
        }
        let name = Redactor::default().clean_line(name);
        let names: Vec<_> = providers.keys().map(|name| format!("`{name}`")).collect();
        let message = format!(
            "model provider `{name}` is not known; use {}, or define it with `api` and `base_url` in `[providers.{name}]`",
            names.join(", ")
        );
        error(ModelErrorCode::ProviderNotSupported, message)
    })
}

#[cfg(test)]
mod tests;
