//! Limits calls: so many at a time for each provider, and one local model at a time (C69, C73).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use art_core::error::{ModelError, ModelErrorCode};
use art_core::provider::RuntimeProviderConfig;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::fault::{duration, error};
use crate::provider::Provider;
use crate::settings::{EngineLimits, time};

/// Why a call was not let in (C73).
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

/// Admits as many calls at a time as their providers take, in the order in which they ask.
#[derive(Debug)]
pub(crate) struct CallQueue {
    providers: BTreeMap<String, Places>,
    local: Arc<Mutex<Option<LocalModel>>>,
    timeout: Duration,
    /// The timeout for local models, which answer slowly and one call at a time.
    local_timeout: Duration,
    max_waiting: usize,
}

/// The places of one provider. The semaphore is fair, and forgets calls that were dropped.
#[derive(Debug)]
struct Places {
    free: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// The local model in use.
#[derive(Debug)]
struct LocalModel {
    config: RuntimeProviderConfig,
    /// Calls that have it or wait for it.
    claims: usize,
}

/// A place at a provider. Dropping it frees the place for the next call.
#[derive(Debug)]
pub(crate) struct Place {
    _claim: Option<LocalClaim>,
    _permit: OwnedSemaphorePermit,
}

/// A call that has the local model or waits for it. Dropping it gives the model up.
#[derive(Debug)]
struct LocalClaim(Arc<Mutex<Option<LocalModel>>>);

impl CallQueue {
    pub(crate) fn new(providers: &BTreeMap<String, Provider>, limits: &EngineLimits) -> Self {
        let places = |provider: &Provider| Places {
            free: Arc::new(Semaphore::new(provider.max_parallel.min(Semaphore::MAX_PERMITS))),
            waiting: AtomicUsize::new(0),
        };
        let places = providers
            .iter()
            .map(|(name, provider)| (name.clone(), places(provider)));
        Self {
            providers: places.collect(),
            local: Arc::default(),
            timeout: time(limits.queue_timeout_ms),
            local_timeout: time(limits.queue_timeout_ms.max(limits.total_timeout_ms)),
            max_waiting: limits.max_queue,
        }
    }

    /// Waits in turn for a place at `provider` for a call of the model `config`.
    pub(crate) async fn enter(&self, provider: &Provider, config: &RuntimeProviderConfig) -> Result<Place, Refusal> {
        // The claim comes first: no other local model gets in between while this call waits for its place.
        let claim = self.claim_local(provider, config)?;
        let permit = self.wait(provider).await?;
        Ok(Place {
            _claim: claim,
            _permit: permit,
        })
    }

    /// Refuses every further call, and those that wait. Calls that have a place keep it.
    pub(crate) fn close(&self) {
        for places in self.providers.values() {
            places.free.close();
        }
    }

    async fn wait(&self, provider: &Provider) -> Result<OwnedSemaphorePermit, Refusal> {
        let name = &provider.name;
        let places = self.providers.get(name).ok_or(Refusal::ShutDown)?;
        if let Ok(permit) = Arc::clone(&places.free).try_acquire_owned() {
            return Ok(permit);
        }
        let waiting = Waiting::join(&places.waiting, self.max_waiting).map_err(|waiting| Refusal::QueueFull {
            provider: name.clone(),
            waiting,
        })?;
        let longest = if provider.local {
            self.local_timeout
        } else {
            self.timeout
        };
        let permit = timeout(longest, Arc::clone(&places.free).acquire_owned()).await;
        drop(waiting);
        match permit {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_closed)) => Err(Refusal::ShutDown),
            Err(_elapsed) => Err(Refusal::ApiQueueTimeout {
                provider: name.clone(),
                waited: longest,
            }),
        }
    }

    /// Claims the local model `config`; nothing has to be claimed for a provider elsewhere.
    fn claim_local(&self, provider: &Provider, config: &RuntimeProviderConfig) -> Result<Option<LocalClaim>, Refusal> {
        if !provider.local {
            return Ok(None);
        }
        let mut in_use = lock(&self.local);
        let local = in_use.get_or_insert_with(|| LocalModel {
            config: config.clone(),
            claims: 0,
        });
        if local.config != *config {
            return Err(Refusal::LocalProviderConflict {
                requested: config.to_string(),
                active: local.config.to_string(),
            });
        }
        local.claims = local.claims.saturating_add(1);
        Ok(Some(LocalClaim(Arc::clone(&self.local))))
    }
}

impl Drop for LocalClaim {
    fn drop(&mut self) {
        let mut in_use = lock(&self.0);
        if let Some(local) = in_use.as_mut() {
            local.claims = local.claims.saturating_sub(1);
        }
        in_use.take_if(|local| local.claims == 0);
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

/// Locks the local model. A poisoned lock is still valid, because each change is a single step.
fn lock(local: &Mutex<Option<LocalModel>>) -> MutexGuard<'_, Option<LocalModel>> {
    local.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
