//! Places for calls: a bounded number runs, a bounded number waits, and further calls are refused as busy.

use art_core::outcome::Ending;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

use crate::config::SystemConfig;

#[derive(Debug)]
pub(crate) struct Queue {
    /// Held from the request on, by those that wait and those that run.
    places: Semaphore,
    /// Held by those that run.
    slots: Semaphore,
}

/// The right to run; given back on drop.
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

    /// Waits for the right to run, first come first served.
    ///
    /// # Errors
    /// Fails with [`Ending::Busy`] at once if there is no place to wait, and with [`Ending::Cancelled`] if the caller
    /// gives up.
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
