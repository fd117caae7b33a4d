//! The queue of calls. It bounds the number of running and of waiting calls; further calls are refused as busy.

use art_core::outcome::Ending;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

use crate::config::SystemConfig;

/// Bounds the number of calls that run and wait.
#[derive(Debug)]
pub(crate) struct Queue {
    /// One permit for each call that may wait or run.
    waiting_or_running: Semaphore,
    /// One permit for each call that may run.
    running: Semaphore,
}

/// Permission to run. It is returned to the queue on drop.
#[derive(Debug)]
pub(crate) struct Permit<'q> {
    _running: SemaphorePermit<'q>,
    _waiting_or_running: SemaphorePermit<'q>,
}

impl Queue {
    pub(crate) fn new(config: &SystemConfig) -> Self {
        // A semaphore panics above `MAX_PERMITS`, so limit each number to half of it.
        let running = config.max_parallel.clamp(1, Semaphore::MAX_PERMITS / 2);
        let waiting = config.max_queue.min(Semaphore::MAX_PERMITS / 2);
        Self {
            waiting_or_running: Semaphore::new(waiting + running),
            running: Semaphore::new(running),
        }
    }

    /// Waits for permission to run. Calls are served in order of arrival.
    ///
    /// # Errors
    /// Fails with [`Ending::Busy`] immediately if the queue is full, and with [`Ending::Cancelled`] if the call is
    /// cancelled.
    pub(crate) async fn enter(&self, cancel: &CancellationToken) -> Result<Permit<'_>, Ending> {
        let Ok(waiting_or_running) = self.waiting_or_running.try_acquire() else {
            return Err(Ending::Busy);
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(Ending::Cancelled),
            running = self.running.acquire() => match running {
                Ok(running) => Ok(Permit { _running: running, _waiting_or_running: waiting_or_running }),
                // The semaphore is never closed.
                Err(_closed) => Err(Ending::Cancelled),
            },
        }
    }
}
