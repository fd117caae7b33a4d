//! Limits the concurrent calls of each provider (contract C69), and allows one local model at a time.
//!
//! A provider has a number of slots. A call that finds no free slot waits for one, unless too many calls wait already. A call
//! of a local model, which runs on a server on this machine, first claims the model. While there are claims, calls of any other
//! local model are refused. A refused call fails with its reason (contract C73).

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

/// Why a call was not admitted (contract C73).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum QueueRefusal {
    #[error("local model `{requested}` cannot be used while `{active}` is in use; wait until it has answered")]
    OtherLocalModelInUse { requested: String, active: String },
    #[error(
        "no free slot at provider `{provider}` within {}; send fewer calls at a time, or raise its `max_parallel`",
        format_duration(*.waited)
    )]
    QueueTimeout { provider: String, waited: Duration },
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

/// The queue of all model calls. It admits the calls of each provider in order, up to the maximum number of concurrent calls of
/// the provider.
#[derive(Debug)]
pub(crate) struct CallQueue {
    /// The slots of each provider, by its name.
    slots: BTreeMap<String, Slots>,
    local_in_use: Arc<Mutex<Option<LocalModel>>>,
    /// Maximum time that a call waits for a slot.
    max_wait: Duration,
    /// Maximum time that a call waits for a slot at a local provider, which may be slow and usually answers one call at a time.
    max_local_wait: Duration,
    /// Maximum number of calls that wait for a slot at one provider.
    max_waiting: usize,
}

/// The slots of one provider.
#[derive(Debug)]
struct Slots {
    /// Has one permit for each free slot. Calls get permits in the order in which they began to wait. A call that is dropped no
    /// longer waits.
    free: Arc<Semaphore>,
    /// Number of calls that wait for a slot.
    waiting: AtomicUsize,
}

/// The local model in use.
#[derive(Debug)]
struct LocalModel {
    name: RuntimeProviderConfig,
    /// Number of calls that use the model or wait for a slot to use it.
    claims: usize,
}

/// A slot at a provider, for one call. Dropping it frees the slot for the next call.
#[derive(Debug)]
pub(crate) struct Slot {
    _claim: Option<LocalClaim>,
    _permit: OwnedSemaphorePermit,
}

/// The claim of one call on the local model in use. Dropping the last claim releases the model.
#[derive(Debug)]
struct LocalClaim(Arc<Mutex<Option<LocalModel>>>);

impl CallQueue {
    pub(crate) fn new(providers: &BTreeMap<String, Provider>, limits: &EngineLimits) -> Self {
        let new_slots = |provider: &Provider| Slots {
            free: Arc::new(Semaphore::new(provider.max_parallel.min(Semaphore::MAX_PERMITS))),
            waiting: AtomicUsize::new(0),
        };
        let slots = providers
            .iter()
            .map(|(name, provider)| (name.clone(), new_slots(provider)));
        Self {
            slots: slots.collect(),
            local_in_use: Arc::default(),
            max_wait: duration_from_ms(limits.queue_timeout_ms),
            max_local_wait: duration_from_ms(limits.queue_timeout_ms.max(limits.total_timeout_ms)),
            max_waiting: limits.max_queue,
        }
    }

    /// Waits for a slot at `provider` for a call of `model`.
    pub(crate) async fn acquire(
        &self,
        provider: &Provider,
        model: &RuntimeProviderConfig,
    ) -> Result<Slot, QueueRefusal> {
        // Claim the model first, so that no other local model is admitted while this call waits for its slot.
        let claim = self.claim_if_local(provider, model)?;
        let permit = self.wait_for_slot(provider).await?;
        Ok(Slot {
            _claim: claim,
            _permit: permit,
        })
    }

    /// Refuses new calls and those that wait. Calls that have a slot keep it.
    pub(crate) fn close(&self) {
        for slots in self.slots.values() {
            slots.free.close();
        }
    }

    async fn wait_for_slot(&self, provider: &Provider) -> Result<OwnedSemaphorePermit, QueueRefusal> {
        let name = &provider.name;
        // Every provider has slots, so this does not fail.
        let slots = self.slots.get(name).ok_or(QueueRefusal::ShutDown)?;
        if let Ok(permit) = Arc::clone(&slots.free).try_acquire_owned() {
            return Ok(permit);
        }
        let waiting_call =
            WaitingCall::register(&slots.waiting, self.max_waiting).map_err(|waiting| QueueRefusal::QueueFull {
                provider: name.clone(),
                waiting,
            })?;
        let max_wait = if provider.local {
            self.max_local_wait
        } else {
            self.max_wait
        };
        let permit = timeout(max_wait, Arc::clone(&slots.free).acquire_owned()).await;
        drop(waiting_call);
        match permit {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_closed)) => Err(QueueRefusal::ShutDown),
            Err(_elapsed) => Err(QueueRefusal::QueueTimeout {
                provider: name.clone(),
                waited: max_wait,
            }),
        }
    }

    /// Claims `model` if `provider` is local, and else returns `None`. Fails if another local model is in use.
    fn claim_if_local(
        &self,
        provider: &Provider,
        model: &RuntimeProviderConfig,
    ) -> Result<Option<LocalClaim>, QueueRefusal> {
        if !provider.local {
            return Ok(None);
        }
        let mut in_use = lock(&self.local_in_use);
        let local = in_use.get_or_insert_with(|| LocalModel {
            name: model.clone(),
            claims: 0,
        });
        if local.name != *model {
            return Err(QueueRefusal::OtherLocalModelInUse {
                requested: model.to_string(),
                active: local.name.to_string(),
            });
        }
        local.claims = local.claims.saturating_add(1);
        Ok(Some(LocalClaim(Arc::clone(&self.local_in_use))))
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

/// A call that is counted among the waiting calls until this value is dropped.
struct WaitingCall<'a>(&'a AtomicUsize);

impl<'a> WaitingCall<'a> {
    /// Adds one to `counter`, the number of waiting calls. If `max` calls wait already, fails with their number.
    fn register(counter: &'a AtomicUsize, max: usize) -> Result<Self, usize> {
        let add_one = |waiting: usize| (waiting < max).then_some(waiting + 1);
        counter.fetch_update(Ordering::AcqRel, Ordering::Acquire, add_one)?;
        Ok(Self(counter))
    }
}

impl Drop for WaitingCall<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Locks the local model in use. The value is valid even if the lock is poisoned, because each change is a single step.
fn lock(local_in_use: &Mutex<Option<LocalModel>>) -> MutexGuard<'_, Option<LocalModel>> {
    local_in_use.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
