//! Calls models by name. Limits the number of concurrent calls, retries failed ones and computes costs (contract M27).

mod call;
mod describe;
mod local_server;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use art_core::error::ModelError;
use art_core::price::Price;
use art_core::provider::{ModelRequest, RuntimeProviderConfig};
use art_core::stream::StreamEvent;
use futures_util::stream::BoxStream;

use crate::breaker::Breaker;
use crate::http::Transport;
use crate::model::Model;
use crate::price::PriceTable;
use crate::provider::{Provider, ProviderKind, create_providers, lookup, resolve};
use crate::queue::CallQueue;
use crate::remote::RemoteModel;
use crate::remote::probe::probe;
use crate::settings::{EngineLimits, ModelSettings};

pub use crate::remote::probe::Probe;
pub use describe::{ModelInfo, ProviderInfo};
pub use local_server::LocalServer;

/// Calls models by name. It is cheap to clone; all clones share connections, queues and circuit breakers.
#[derive(Clone, Debug)]
pub struct ReasoningEngine {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    providers: BTreeMap<String, Provider>,
    queue: CallQueue,
    breakers: BTreeMap<String, Mutex<Breaker>>,
    transport: Arc<Transport>,
    prices: PriceTable,
    limits: EngineLimits,
}

impl ReasoningEngine {
    /// Creates an engine. Reads keys through `environment` and from files, and sends nothing.
    ///
    /// A missing key is an error only when the provider is called; see [`ModelInfo::problem`].
    ///
    /// # Errors
    /// Fails with [`art_core::error::ModelErrorCode::ProviderNotConfigured`] for invalid settings: an address that is not a URL,
    /// a header that cannot be sent, or an additional provider without `api` or `base_url`.
    pub fn new(settings: ModelSettings, environment: impl Fn(&str) -> Option<String>) -> Result<Self, ModelError> {
        Self::with_models(settings, environment, &[])
    }

    /// Creates an engine like [`new`](Self::new) with additional models in this process, each as its own provider.
    ///
    /// # Errors
    /// Same as [`new`](Self::new); also fails if the settings define a provider that has the same name as one of these.
    pub fn with_models(
        settings: ModelSettings,
        environment: impl Fn(&str) -> Option<String>,
        models: &[Arc<dyn Model>],
    ) -> Result<Self, ModelError> {
        let providers = create_providers(&settings, &environment, models)?;
        Ok(Self::from_parts(providers, settings.prices, settings.limits))
    }

    /// Creates an engine with one model in this process, for programs that embed the host and for tests.
    #[must_use]
    pub fn with_model(model: Arc<dyn Model>) -> Self {
        let provider = Provider::in_process(model);
        let providers = BTreeMap::from([(provider.name.clone(), provider)]);
        Self::from_parts(providers, PriceTable::default(), EngineLimits::default())
    }

    fn from_parts(providers: BTreeMap<String, Provider>, prices: PriceTable, limits: EngineLimits) -> Self {
        let breakers = providers.keys().map(|name| (name.clone(), Mutex::new(Breaker::new())));
        let inner = Inner {
            breakers: breakers.collect(),
            queue: CallQueue::new(&providers, &limits),
            providers,
            transport: Arc::new(Transport::new(limits)),
            prices,
            limits,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Returns the provider and model that `name` names, as `PROVIDER` or `PROVIDER:MODEL`. The name of the model may contain `:`
    /// and `/`. Without a model, the default model of the provider is used.
    ///
    /// # Errors
    /// Fails with [`art_core::error::ModelErrorCode::ProviderNotSupported`] for an unknown provider, `ProviderNotConfigured` if
    /// the provider has no default model, and `ModelNotFound` if a provider in this process does not have the model. Models of a
    /// remote provider are not checked; see [`ReasoningEngine::probe`].
    pub fn resolve(&self, name: &str) -> Result<RuntimeProviderConfig, ModelError> {
        resolve(&self.inner.providers, name)
    }

    /// Describes a model from the settings, without a request.
    ///
    /// # Errors
    /// Fails with `ProviderNotSupported` for an unknown provider.
    pub fn describe(&self, config: &RuntimeProviderConfig) -> Result<ModelInfo, ModelError> {
        let provider = lookup(&self.inner.providers, &config.provider_name)?;
        Ok(ModelInfo::new(provider, config, self.inner.price(config)))
    }

    /// Calls a model. The stream yields [`StreamEvent::Retry`] before it waits for a retry, and ends with [`StreamEvent::End`] or
    /// [`StreamEvent::Error`]. Nothing happens until the stream is polled. Dropping the stream cancels the call and frees its
    /// slot among the concurrent calls.
    #[must_use]
    pub fn call(&self, config: &RuntimeProviderConfig, request: ModelRequest) -> BoxStream<'static, StreamEvent> {
        call::stream(Arc::clone(&self.inner), config.clone(), request)
    }

    /// Checks whether a model can be called: whether the provider answers, accepts the key and has the model. Requests the list
    /// of models, which uses no tokens. Gives up after `max_wait`. A model in this process is always available.
    pub async fn probe(&self, config: &RuntimeProviderConfig, max_wait: Duration) -> Probe {
        match lookup(&self.inner.providers, &config.provider_name) {
            Err(error) => Probe::failed(error),
            Ok(provider) => match provider.as_remote() {
                None => Probe::in_process(&config.model_id),
                Some(remote) => probe(remote, &self.inner.transport, &config.model_id, max_wait).await,
            },
        }
    }

    /// Returns all providers, ordered by name.
    #[must_use]
    pub fn providers(&self) -> Vec<ProviderInfo> {
        self.inner.providers.values().map(ProviderInfo::new).collect()
    }

    /// Shuts down: new calls fail, and so do calls that wait for a slot. Models in this process are notified. Calls in progress
    /// continue; dropping their streams ends them.
    #[expect(clippy::unused_async, reason = "shutting down a model may become asynchronous")]
    pub async fn shutdown(&self) {
        self.inner.queue.close();
        for provider in self.inner.providers.values() {
            if let ProviderKind::InProcess(model) = &provider.kind {
                model.shutdown();
            }
        }
    }
}

impl Inner {
    /// Returns the model that `config` names: a new one for a remote provider, else the one in this process. Fails if the
    /// settings of the provider are invalid.
    fn model(&self, provider: &Provider, config: &RuntimeProviderConfig) -> Result<Arc<dyn Model>, ModelError> {
        match &provider.kind {
            ProviderKind::InProcess(model) => Ok(Arc::clone(model)),
            ProviderKind::Remote(remote) => match &remote.problem {
                Some(problem) => Err(problem.clone()),
                None => {
                    let transport = Arc::clone(&self.transport);
                    Ok(Arc::new(RemoteModel::new(
                        config.clone(),
                        Arc::clone(remote),
                        transport,
                    )))
                }
            },
        }
    }

    /// Returns the price in the settings or else the built-in price, if there is one.
    fn price(&self, config: &RuntimeProviderConfig) -> Option<Price> {
        self.prices.find(config).or_else(|| built_in_prices().find(config))
    }

    /// Calls `work` with the circuit breaker of a provider and returns its result. Returns `None` for an unknown provider.
    fn with_breaker<T>(&self, provider: &str, work: impl FnOnce(&mut Breaker) -> T) -> Option<T> {
        let breaker = self.breakers.get(provider)?;
        Some(work(&mut breaker.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

fn built_in_prices() -> &'static PriceTable {
    static TABLE: std::sync::OnceLock<PriceTable> = std::sync::OnceLock::new();
    TABLE.get_or_init(PriceTable::built_in)
}
