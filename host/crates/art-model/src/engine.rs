//! The one way to a model: names, adapters, retries, prices (M27, C68 to C70, C88).

mod call;
mod describe;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use art_core::error::ModelError;
use art_core::provider::{ModelRequest, RuntimeProviderConfig};
use art_core::stream::StreamEvent;
use futures_util::stream::BoxStream;

use crate::breaker::Breaker;
use crate::http::Transport;
use crate::manager::{Factory, ProviderManager};
use crate::model::Model;
use crate::price::{Price, PriceTable};
use crate::provider::{Kind, Provider, lookup, registry, resolve};
use crate::remote::RemoteModel;
use crate::remote::probe::probe;
use crate::settings::{EngineLimits, ModelSettings};

pub use crate::remote::probe::Probe;
pub use describe::{ModelInfo, ProviderInfo};

/// Calls models by name. It is cheap to clone; all clones share adapters, queues and what is known of the providers.
#[derive(Clone, Debug)]
pub struct ReasoningEngine {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    manager: ProviderManager,
    breakers: BTreeMap<String, Mutex<Breaker>>,
    transport: Arc<Transport>,
    prices: PriceTable,
    limits: EngineLimits,
}

impl ReasoningEngine {
    /// The engine of those settings. Keys are read now, through `environment` and from files; nothing is sent.
    ///
    /// A provider whose key is missing is no error until it is called: see [`ModelInfo::problem`].
    ///
    /// # Errors
    /// [`art_core::error::ModelErrorCode::ProviderNotConfigured`] for settings that cannot be meant: an address that is
    /// none, a header that cannot be sent, a provider that is not known and not described.
    pub fn new(settings: ModelSettings, environment: impl Fn(&str) -> Option<String>) -> Result<Self, ModelError> {
        let providers = registry(&settings, &environment)?;
        Ok(Self::over(providers, settings.prices, settings.limits))
    }

    /// An engine with that model and no other, for embedding and for tests.
    #[must_use]
    pub fn with_model(model: Arc<dyn Model>) -> Self {
        let provider = Provider::fixed(model);
        let providers = BTreeMap::from([(provider.name.clone(), provider)]);
        Self::over(providers, PriceTable::default(), EngineLimits::default())
    }

    fn over(providers: BTreeMap<String, Provider>, prices: PriceTable, limits: EngineLimits) -> Self {
        let transport = Arc::new(Transport::new(limits));
        let breakers = providers.keys().map(|name| (name.clone(), Mutex::new(Breaker::new())));
        let inner = Inner {
            breakers: breakers.collect(),
            manager: ProviderManager::new(providers, &limits, factory(Arc::clone(&transport))),
            transport,
            prices,
            limits,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Reads `PROVIDER` or `PROVIDER:MODEL`, where the model may have `:` and `/`; without one it is the provider's default
    /// (C68).
    ///
    /// # Errors
    /// [`art_core::error::ModelErrorCode::ProviderNotSupported`] for a provider that is not known, with those that are;
    /// `ProviderNotConfigured` when a model has to be named; `ModelNotFound` when a provider in this process does not have
    /// it. Whether a service has it, only [`ReasoningEngine::probe`] says.
    pub fn resolve(&self, name: &str) -> Result<RuntimeProviderConfig, ModelError> {
        resolve(self.inner.manager.providers(), name)
    }

    /// What is known of a model without asking anyone.
    ///
    /// # Errors
    /// `ProviderNotSupported` for a provider that is not known.
    pub fn describe(&self, config: &RuntimeProviderConfig) -> Result<ModelInfo, ModelError> {
        let provider = lookup(self.inner.manager.providers(), &config.provider_name)?;
        Ok(ModelInfo::new(provider, config, self.inner.price(config)))
    }

    /// Calls a model (C70). The stream gives [`StreamEvent::Retry`] before it waits to try again, and ends with
    /// [`StreamEvent::End`] or [`StreamEvent::Error`]. Nothing happens until it is polled; dropping it gives the call up and
    /// its adapter back.
    #[must_use]
    pub fn call(&self, config: &RuntimeProviderConfig, request: ModelRequest) -> BoxStream<'static, StreamEvent> {
        call::stream(Arc::clone(&self.inner), config.clone(), request)
    }

    /// Whether a model could be called: is the provider there, does it take the key, does it have the model. It spends no
    /// tokens: it reads the list of models. What takes longer than `patience` is given up. A model in this process is always
    /// there.
    pub async fn probe(&self, config: &RuntimeProviderConfig, patience: Duration) -> Probe {
        match lookup(self.inner.manager.providers(), &config.provider_name) {
            Err(error) => Probe::failed(error),
            Ok(provider) => match provider.service() {
                None => Probe::in_process(&config.model_id),
                Some(remote) => probe(remote, &self.inner.transport, &config.model_id, patience).await,
            },
        }
    }

    /// Every provider that can be named, by name.
    #[must_use]
    pub fn providers(&self) -> Vec<ProviderInfo> {
        let all = self.inner.manager.providers().values();
        all.map(ProviderInfo::new).collect()
    }

    /// Ends the work: calls that wait for a place get an error, and idle adapters are shut down. Calls that are under way go
    /// on; dropping their streams ends them.
    #[expect(clippy::unused_async, reason = "an adapter may have something to wait for one day")]
    pub async fn shutdown(&self) {
        self.inner.manager.shutdown();
    }
}

impl Inner {
    fn price(&self, config: &RuntimeProviderConfig) -> Option<Price> {
        self.prices.find(config).or_else(|| built_in_prices().find(config))
    }

    /// Works on the breaker of a provider; none when there is no such provider.
    fn breaker<T>(&self, provider: &str, work: impl FnOnce(&mut Breaker) -> T) -> Option<T> {
        let breaker = self.breakers.get(provider)?;
        Some(work(&mut breaker.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

fn built_in_prices() -> &'static PriceTable {
    static TABLE: std::sync::OnceLock<PriceTable> = std::sync::OnceLock::new();
    TABLE.get_or_init(PriceTable::built_in)
}

/// Makes adapters: a model in this process is its own, a service gets one over the engine's transport.
fn factory(transport: Arc<Transport>) -> Box<Factory> {
    Box::new(move |provider, config| match &provider.kind {
        Kind::Fixed(model) => Ok(Arc::clone(model)),
        Kind::Remote(remote) => {
            if let Some(problem) = &remote.problem {
                return Err(problem.clone());
            }
            let model = RemoteModel::new(config.clone(), Arc::clone(remote), Arc::clone(&transport));
            Ok(Arc::new(model) as Arc<dyn Model>)
        }
    })
}
