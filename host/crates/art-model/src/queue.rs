//! Limits concurrent calls for each provider, and allows one local model at a time (C69, C73).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use art_core::error::{ModelError, ModelErrorCode};
use art_core::provider::RuntimeProviderConfig;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::fault::{error, format_duration};
use crate::provider::Provider;
use crate::settings::{EngineLimits, duration_from_ms};

/// Why a call was not admitted (C73).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum QueueRefusal {
    #[error("local model `{requested}` cannot be used while `{active}` is in use; wait until it has answered")]
    LocalProviderConflict { requested: String, active: String },
    #[error(
        "no free slot at provider `{provider}` within {}; send fewer calls at a time, or raise its `max_parallel`",
        format_duration(*.waited)
    )]
    ApiQueueTimeout { provider: String, waited: Duration },
    #[error("{waiting} calls already wait for provider `{provider}`; try again later")]
    QueueFull { provider: String, waiting: usize },
    #[error("the host is shutting down and accepts no more model calls")]
    ShutDown,
}

impl From<QueueRefusal> for ModelError {
    fn from(refusal: QueueRefusal) -> Self {
        let code = match refusal {
            QueueRefusal::ShutDown => ModelErrorCode::Unknown,
            _ => ModelErrorCode::RateLimited,
        };
        error(code, refusal.to_string())
    }
}

/// Admits the calls of each provider in order, up to its maximum number of concurrent calls.
#[derive(Debug)]
pub(crate) struct CallQueue {
    providers: BTreeMap<String, Slots>,
    local: Arc<Mutex<Option<LocalModel>>>,
    timeout: Duration,
    /// The timeout at local providers, which may be slow and usually answer one call at a time.
    local_timeout: Duration,
    max_waiting: usize,
}

/// The slots of one provider. The semaphore is fair, and dropped calls leave the queue.
#[derive(Debug)]
struct Slots {
    free: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// The local model in use.
#[derive(Debug)]
struct LocalModel {
    config: RuntimeProviderConfig,
    /// Number of calls that use it or wait for it.
    claims: usize,
}

/// A slot at a provider. Dropping it frees it for the next call.
#[derive(Debug)]
pub(crate) struct Slot {
    _claim: Option<LocalClaim>,
    _permit: OwnedSemaphorePermit,
}

/// The claim of a call on the local model. Dropping it releases the model.
#[derive(Debug)]
struct LocalClaim(Arc<Mutex<Option<LocalModel>>>);

impl CallQueue {
    pub(crate) fn new(providers: &BTreeMap<String, Provider>, limits: &EngineLimits) -> Self {
        let slots = |provider: &Provider| Slots {
            free: Arc::new(Semaphore::new(provider.max_parallel.min(Semaphore::MAX_PERMITS))),
            waiting: AtomicUsize::new(0),
        };
        let slots = providers.iter().map(|(name, provider)| (name.clone(), slots(provider)));
        Self {
            providers: slots.collect(),
            local: Arc::default(),
            timeout: duration_from_ms(limits.queue_timeout_ms),
            local_timeout: duration_from_ms(limits.queue_timeout_ms.max(limits.total_timeout_ms)),
            max_waiting: limits.max_queue,
        }
    }

    /// Waits for a slot at `provider` for a call of the model `config`.
    pub(crate) async fn acquire(
        &self,
        provider: &Provider,
        config: &RuntimeProviderConfig,
    ) -> Result<Slot, QueueRefusal> {
        // Claim the model first, so that no other local model is admitted while this call waits for its slot.
        let claim = self.claim_local(provider, config)?;
        let permit = self.wait(provider).await?;
        Ok(Slot {
            _claim: claim,
            _permit: permit,
        })
    }

    /// Refuses new and waiting calls. Calls that have a slot keep it.
    pub(crate) fn close(&self) {
        for slots in self.providers.values() {
            slots.free.close();
        }
    }

    async fn wait(&self, provider: &Provider) -> Result<OwnedSemaphorePermit, QueueRefusal> {
        let name = &provider.name;
        let slots = self.providers.get(name).ok_or(QueueRefusal::ShutDown)?;
        if let Ok(permit) = Arc::clone(&slots.free).try_acquire_owned() {
            return Ok(permit);
        }
        let waiting = Waiting::join(&slots.waiting, self.max_waiting).map_err(|waiting| QueueRefusal::QueueFull {
            provider: name.clone(),
            waiting,
        })?;
        let max_wait = if provider.local {
            self.local_timeout
        } else {
            self.timeout
        };
        let permit = timeout(max_wait, Arc::clone(&slots.free).acquire_owned()).await;
        drop(waiting);
        match permit {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_closed)) => Err(QueueRefusal::ShutDown),
            Err(_elapsed) => Err(QueueRefusal::ApiQueueTimeout {
                provider: name.clone(),
                waited: max_wait,
            }),
        }
    }

    /// Claims the local model `config`. Returns `None` if `provider` is not local. Fails if another local model is in use.
    fn claim_local(
        &self,
        provider: &Provider,
        config: &RuntimeProviderConfig,
    ) -> Result<Option<LocalClaim>, QueueRefusal> {
        if !provider.local {
            return Ok(None);
        }
        let mut in_use = lock(&self.local);
        let local = in_use.get_or_insert_with(|| LocalModel {
            config: config.clone(),
            claims: 0,
        });
        if local.config != *config {
            return Err(QueueRefusal::LocalProviderConflict {
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

/// Counts a waiting call until it is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    /// Counts one more waiting call. Fails with the number of waiting calls if it is `max` already.
    fn join(count: &'a AtomicUsize, max: usize) -> Result<Self, usize> {
        let add_one = |waiting: usize| (waiting < max).then_some(waiting + 1);
        count.fetch_update(Ordering::AcqRel, Ordering::Acquire, add_one)?;
        Ok(Self(count))
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Locks the local model. Its value is valid even if the lock is poisoned, because each change is a single step.
fn lock(local: &Mutex<Option<LocalModel>>) -> MutexGuard<'_, Option<LocalModel>> {
    local.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
