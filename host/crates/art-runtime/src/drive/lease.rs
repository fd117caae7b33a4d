//! The lease of a thread, which a run holds while it works.

use std::sync::Arc;
use std::time::Duration;

use art_store::limits::LEASE_MS;
use art_store::{Lease, NewThread, Store, StoreError, Thread};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::{Instant, interval_at};
use tokio_util::sync::CancellationToken;

/// Interval at which the lease is renewed.
const RENEWAL: Duration = Duration::from_millis(LEASE_MS / 3);

/// The lease of a thread. A task renews it, so that neither a slow tool nor a watcher that blocks lets it expire. Dropping this
/// value releases the lease if it is not released yet.
#[derive(Debug)]
pub(crate) struct ThreadLease {
    store: Arc<dyn Store>,
    lease: Lease,
    /// Cancelled when another host has taken the thread over.
    lost: CancellationToken,
    renewal: JoinHandle<()>,
    is_released: bool,
}

impl ThreadLease {
    /// Takes the lease of a thread.
    ///
    /// # Errors
    /// Fails if the thread is in use or does not exist, or the store fails.
    pub(crate) async fn acquire(store: &Arc<dyn Store>, thread_id: &str) -> Result<Self, StoreError> {
        let lease = store.acquire_lease(thread_id).await?;
        Ok(Self::hold(store, lease))
    }

    /// Creates a thread and takes its lease.
    ///
    /// # Errors
    /// Fails if the store fails.
    pub(crate) async fn of_new_thread(store: &Arc<dyn Store>, new: NewThread) -> Result<(Thread, Self), StoreError> {
        let (thread, lease) = store.create_leased_thread(new).await?;
        Ok((thread, Self::hold(store, lease)))
    }

    fn hold(store: &Arc<dyn Store>, lease: Lease) -> Self {
        let lost = CancellationToken::new();
        let renewal = tokio::spawn(renew(Arc::clone(store), lease.clone(), lost.clone()));
        Self {
            store: Arc::clone(store),
            lease,
            lost,
            renewal,
            is_released: false,
        }
    }

    /// Returns the lease, with which the runs of the thread are written.
    pub(crate) const fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Waits until another host has taken the thread over, and returns the error that says so.
    pub(crate) async fn lost(&self) -> StoreError {
        self.lost.cancelled().await;
        StoreError::LeaseLost {
            thread_id: self.lease.thread_id.clone(),
        }
    }

    /// Notes that the commit which ended the run has released the lease.
    pub(crate) fn was_released(mut self) {
        self.is_released = true;
    }

    /// Releases the lease for the next turn of the thread. An error is only logged: the lease expires.
    pub(crate) async fn release(mut self) {
        self.is_released = true;
        self.renewal.abort();
        release(self.store.as_ref(), &self.lease).await;
    }
}

impl Drop for ThreadLease {
    fn drop(&mut self) {
        self.renewal.abort();
        if self.is_released {
            return;
        }
        // The run was dropped in the middle of its work.
        if let Ok(runtime) = Handle::try_current() {
            let (store, lease) = (Arc::clone(&self.store), self.lease.clone());
            runtime.spawn(async move { release(store.as_ref(), &lease).await });
        }
    }
}

async fn release(store: &dyn Store, lease: &Lease) {
    if let Err(error) = store.release_lease(lease).await {
        tracing::warn!(thread = lease.thread_id, %error, "a thread could not be released");
    }
}

/// Renews the lease until it is lost. Any other error is only logged, because the next renewal may succeed before the lease expires.
async fn renew(store: Arc<dyn Store>, lease: Lease, lost: CancellationToken) {
    let mut renewals = interval_at(Instant::now() + RENEWAL, RENEWAL);
    loop {
        renewals.tick().await;
        match store.renew_lease(&lease).await {
            Ok(()) => {}
            Err(StoreError::LeaseLost { .. }) => return lost.cancel(),
            Err(error) => tracing::warn!(thread = lease.thread_id, %error, "a lease could not be renewed"),
        }
    }
}
