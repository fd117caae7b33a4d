//! Who may call when: adapters are pooled, each provider has so many places, and one local model is in use at a time
//! (M23 to M25, C69, C70, C73).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use art_core::error::{ModelError, ModelErrorCode};
use art_core::provider::RuntimeProviderConfig;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

use crate::fault::{duration, error};
use crate::model::Model;
use crate::provider::{Provider, lookup};
use crate::settings::{EngineLimits, time};

/// Makes the adapter of a provider for a model.
pub(crate) type Factory = dyn Fn(&Provider, &RuntimeProviderConfig) -> Result<Arc<dyn Model>, ModelError> + Send + Sync;

/// Why no adapter was given (C73). What cannot be made says so itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("local model `{active}` is in use, so `{requested}` cannot be; wait until it has answered")]
    LocalProviderConflict { requested: String, active: String },
    #[error(
        "no place at provider `{provider}` within {}; ask for less at a time, or raise its `max_parallel`",
        duration(*.waited)
    )]
    ApiQueueTimeout { provider: String, waited: Duration },
    #[error("{waiting} calls wait for provider `{provider}` already; try again later")]
    QueueFull { provider: String, waiting: usize },
    #[error("the host is shutting down; no model is called any more")]
    ShutDown,
}

impl From<Refusal> for ModelError {
    fn from(refusal: Refusal) -> Self {
        let code = match refusal {
            Refusal::ShutDown => ModelErrorCode::Unknown,
            _ => ModelErrorCode::RateLimited,
        };
        error(code, refusal.to_string())
    }
}

/// Gives adapters out and takes them back.
pub(crate) struct ProviderManager {
    providers: BTreeMap<String, Provider>,
    places: BTreeMap<String, Places>,
    factory: Box<Factory>,
    pool: Arc<Mutex<Pool>>,
    queue_timeout: Duration,
    /// A local model answers slowly, and one call after the other.
    local_queue_timeout: Duration,
    max_queue: usize,
    adapter_idle: Duration,
}

/// The places of one provider. The semaphore serves in the order of asking and forgets who stopped waiting.
#[derive(Debug)]
struct Places {
    free: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// Adapters that nobody uses, and the local one that somebody does.
#[derive(Debug, Default)]
struct Pool {
    idle: Vec<Idle>,
    local_in_use: Option<Local>,
    closed: bool,
}

/// The local model in use.
#[derive(Debug)]
struct Local {
    signature: String,
    name: String,
    /// Calls that have it or wait for it.
    claims: usize,
}

/// A call that has the local model or waits for it. Dropping it gives it up.
#[derive(Debug)]
struct LocalClaim(Arc<Mutex<Pool>>);

#[derive(Debug)]
struct Idle {
    signature: String,
    provider: String,
    local: bool,
    adapter: Arc<dyn Model>,
    since: Instant,
}

/// An adapter that is in use. Dropping it gives it back, once.
#[derive(Debug)]
pub(crate) struct Lease {
    adapter: Arc<dyn Model>,
    signature: String,
    provider: String,
    local: bool,
    /// Idle adapters of the provider that are kept.
    keep: usize,
    pool: Arc<Mutex<Pool>>,
    _claim: Option<LocalClaim>,
    _place: OwnedSemaphorePermit,
}

impl ProviderManager {
    pub(crate) fn new(providers: BTreeMap<String, Provider>, limits: &EngineLimits, factory: Box<Factory>) -> Self {
        let place = |provider: &Provider| Places {
            free: Arc::new(Semaphore::new(provider.max_parallel.min(Semaphore::MAX_PERMITS))),
            waiting: AtomicUsize::new(0),
        };
        Self {
            places: providers
                .iter()
                .map(|(name, provider)| (name.clone(), place(provider)))
                .collect(),
            providers,
            factory,
            pool: Arc::default(),
            queue_timeout: time(limits.queue_timeout_ms),
            local_queue_timeout: time(limits.queue_timeout_ms.max(limits.total_timeout_ms)),
            max_queue: limits.max_queue,
            adapter_idle: time(limits.adapter_idle_ms),
        }
    }

    pub(crate) const fn providers(&self) -> &BTreeMap<String, Provider> {
        &self.providers
    }

    /// An adapter for `config`; waits in turn for one of the places of its provider.
    pub(crate) async fn acquire(&self, config: &RuntimeProviderConfig) -> Result<Lease, ModelError> {
        let provider = lookup(&self.providers, &config.provider_name)?;
        if lock(&self.pool).closed {
            return Err(Refusal::ShutDown.into());
        }
        self.sweep(Instant::now());
        let signature = provider.signature(config);
        // Before its place: no other local model comes in between while it waits for that.
        let claim = self.claim_local(provider, config, &signature)?;
        let place = self.place(provider).await?;
        let adapter = match self.idle(&signature)? {
            Some(adapter) => adapter,
            None => (self.factory)(provider, config)?,
        };
        Ok(Lease {
            adapter,
            signature,
            provider: provider.name.clone(),
            local: provider.local,
            keep: provider.max_parallel,
            pool: Arc::clone(&self.pool),
            _claim: claim,
            _place: place,
        })
    }

    async fn place(&self, provider: &Provider) -> Result<OwnedSemaphorePermit, Refusal> {
        let name = &provider.name;
        let places = self.places.get(name).ok_or(Refusal::ShutDown)?;
        if let Ok(place) = Arc::clone(&places.free).try_acquire_owned() {
            return Ok(place);
        }
        let waiting = Waiting::join(&places.waiting, self.max_queue).map_err(|waiting| Refusal::QueueFull {
            provider: name.clone(),
            waiting,
        })?;
        let patience = if provider.local {
            self.local_queue_timeout
        } else {
            self.queue_timeout
        };
        let place = timeout(patience, Arc::clone(&places.free).acquire_owned()).await;
        drop(waiting);
        match place {
            Ok(Ok(place)) => Ok(place),
            Ok(Err(_closed)) => Err(Refusal::ShutDown),
            Err(_elapsed) => Err(Refusal::ApiQueueTimeout {
                provider: name.clone(),
                waited: patience,
            }),
        }
    }

    /// The claim to a local model, for which idle ones of another signature go; none for a provider elsewhere.
    fn claim_local(
        &self,
        provider: &Provider,
        config: &RuntimeProviderConfig,
        signature: &str,
    ) -> Result<Option<LocalClaim>, Refusal> {
        if !provider.local {
            return Ok(None);
        }
        let mut pool = lock(&self.pool);
        pool.claim_local(signature, &config.to_string())?;
        let evicted = pool.take(|idle| idle.local && idle.signature != signature);
        drop(pool);
        shut_down(evicted);
        Ok(Some(LocalClaim(Arc::clone(&self.pool))))
    }

    /// An idle adapter of that signature, if there is one.
    fn idle(&self, signature: &str) -> Result<Option<Arc<dyn Model>>, Refusal> {
        let mut pool = lock(&self.pool);
        if pool.closed {
            return Err(Refusal::ShutDown);
        }
        let found = pool.idle.iter().position(|idle| idle.signature == signature);
        Ok(found.map(|at| pool.idle.remove(at).adapter))
    }

    /// Shuts down the adapters that nobody used for long (A68).
    pub(crate) fn sweep(&self, now: Instant) {
        let old = lock(&self.pool).take(|idle| now.duration_since(idle.since) >= self.adapter_idle);
        shut_down(old);
    }

    /// Wakes who waits, with an error, and shuts the idle adapters down. Those in use follow when they are given back.
    pub(crate) fn shutdown(&self) {
        let mut pool = lock(&self.pool);
        pool.closed = true;
        let idle = std::mem::take(&mut pool.idle);
        drop(pool);
        for places in self.places.values() {
            places.free.close();
        }
        shut_down(idle);
    }
}

impl fmt::Debug for ProviderManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderManager")
            .field("providers", &self.providers.keys())
            .finish_non_exhaustive()
    }
}

impl Pool {
    fn claim_local(&mut self, signature: &str, name: &str) -> Result<(), Refusal> {
        match &mut self.local_in_use {
            Some(local) if local.signature == signature => local.claims = local.claims.saturating_add(1),
            Some(local) => {
                return Err(Refusal::LocalProviderConflict {
                    requested: name.to_owned(),
                    active: local.name.clone(),
                });
            }
            None => {
                self.local_in_use = Some(Local {
                    signature: signature.to_owned(),
                    name: name.to_owned(),
                    claims: 1,
                });
            }
        }
        Ok(())
    }

    fn unclaim_local(&mut self) {
        if let Some(local) = &mut self.local_in_use {
            local.claims = local.claims.saturating_sub(1);
        }
        self.local_in_use.take_if(|local| local.claims == 0);
    }

    fn take(&mut self, which: impl Fn(&Idle) -> bool) -> Vec<Idle> {
        self.idle.extract_if(.., |idle| which(idle)).collect()
    }

    /// Keeps an adapter that came back; gives those that have to go for it.
    fn give_back(&mut self, back: Idle, keep: usize) -> Vec<Idle> {
        if self.closed {
            return vec![back];
        }
        let of_provider = self.idle.iter().filter(|idle| idle.provider == back.provider).count();
        let mut evicted = Vec::new();
        if of_provider >= keep
            && let Some(oldest) = self.idle.iter().position(|idle| idle.provider == back.provider)
        {
            evicted.push(self.idle.remove(oldest));
        }
        self.idle.push(back);
        evicted
    }
}

impl Lease {
    pub(crate) fn adapter(&self) -> &dyn Model {
        self.adapter.as_ref()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let back = Idle {
            signature: std::mem::take(&mut self.signature),
            provider: std::mem::take(&mut self.provider),
            local: self.local,
            adapter: Arc::clone(&self.adapter),
            since: Instant::now(),
        };
        let evicted = lock(&self.pool).give_back(back, self.keep);
        shut_down(evicted);
    }
}

impl Drop for LocalClaim {
    fn drop(&mut self) {
        lock(&self.0).unclaim_local();
    }
}

/// A call that waits: counted until it is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn join(count: &'a AtomicUsize, max: usize) -> Result<Self, usize> {
        let more = |waiting: usize| (waiting < max).then_some(waiting + 1);
        count.fetch_update(Ordering::AcqRel, Ordering::Acquire, more)?;
        Ok(Self(count))
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Outside of the lock, because what an adapter does is its own.
fn shut_down(adapters: Vec<Idle>) {
    for idle in adapters {
        idle.adapter.shutdown();
    }
}

/// The pool stays whole when a holder of its lock panics: each change of it is one step.
fn lock(pool: &Mutex<Pool>) -> MutexGuard<'_, Pool> {
    pool.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
