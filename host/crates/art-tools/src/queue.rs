//! The queue of calls. It bounds the number of running and of waiting calls; further calls are refused as busy.

use art_core::outcome::Ending;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

use crate::config::SystemConfig;

/// Bounds the number of calls that run and wait.
#[derive(Debug)]
pub(crate) struct Queue {
    /// Held by calls that wait or run.
    places: Semaphore,
    /// Held by calls that run.
    slots: Semaphore,
}

/// Permission to run. It is returned to the queue on drop.
#[derive(Debug)]
pub(crate) struct Permit<'q> {
    _slot: SemaphorePermit<'q>,
    _place: SemaphorePermit<'q>,
}

impl Queue {
    pub(crate) fn new(config: &SystemConfig) -> Self {
        let parallel = config.max_parallel.clamp(1, Semaphore::MAX_PERMITS / 2);
        let queue = config.queue.min(Semaphore::MAX_PERMITS / 2);
        Self {
            places: Semaphore::new(parallel + queue),
            slots: Semaphore::new(parallel),
        }
    }

    /// Waits for permission to run. Calls are served in order of arrival.
    ///
    /// # Errors
    /// Fails with [`Ending::Busy`] immediately if the queue is full, and with [`Ending::Cancelled`] if the call is
    /// cancelled.
    pub(crate) async fn enter(&self, cancel: &CancellationToken) -> Result<Permit<'_>, Ending> {
        let Ok(place) = self.places.try_acquire() else {
            return Err(Ending::Busy);
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(Ending::Cancelled),
            slot = self.slots.acquire() => match slot {
                Ok(slot) => Ok(Permit { _slot: slot, _place: place }),
                // The semaphore is never closed.
                Err(_closed) => Err(Ending::Cancelled),
            },
        }
    }
}
