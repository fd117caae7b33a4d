//! The leases of threads. A run holds the lease of its thread while a host works on the run, so that no other host does. A
//! lease expires unless it is renewed, and another host can take the thread over then. The lease is lost in that case.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use art_store::limits::LEASE_MS;
use art_store::{Lease, NewThread, Store, StoreError, Thread};
use futures_util::StreamExt;
use futures_util::stream;
use tokio::runtime::{self, Handle};
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_util::sync::CancellationToken;

use crate::runtime::Runtime;

/// Interval at which leases are renewed. A lease lasts longer, so that a single renewal may fail.
const RENEWAL_INTERVAL: Duration = Duration::from_millis(LEASE_MS / 3);

/// Maximum number of leases that are renewed at the same time.
const PARALLEL_RENEWALS: usize = 16;

/// The leases that one [`Runtime`] holds. On each tokio runtime, one task renews the leases that were taken there, so that none
/// expires while a slow tool runs, and a short run starts no task of its own.
#[derive(Debug, Default)]
pub(crate) struct Leases(Arc<Mutex<RenewalsByTokioRuntime>>);

type RenewalsByTokioRuntime = HashMap<runtime::Id, Renewals>;

/// The leases that one task renews.
#[derive(Debug)]
struct Renewals {
    /// Weak references to the leases. Once a lease is released, its reference cannot be upgraded any more.
    held: Vec<Weak<HeldLease>>,
    /// The task, which ends when no lease is held.
    task: JoinHandle<()>,
}

impl Renewals {
    fn forget_released(&mut self) {
        self.held.retain(|held| held.strong_count() > 0);
    }
}

/// A lease that is renewed as long as this value exists.
#[derive(Debug)]
struct HeldLease {
    store: Arc<dyn Store>,
    lease: Lease,
    /// Cancelled when another host has taken the thread over.
    lost: CancellationToken,
}

impl Leases {
    /// Renews a lease until the returned value is dropped, or until the lease is lost.
    fn hold(&self, store: &Arc<dyn Store>, lease: Lease) -> Arc<HeldLease> {
        let held = Arc::new(HeldLease {
            store: Arc::clone(store),
            lease,
            lost: CancellationToken::new(),
        });
        let id = Handle::current().id();
        let mut by_runtime = lock(&self.0);
        // Remove the entries of tokio runtimes that were shut down: their tasks have ended.
        by_runtime.retain(|_, renewals| !renewals.task.is_finished());
        let renewals = by_runtime.entry(id).or_insert_with(|| Renewals {
            held: Vec::new(),
            task: tokio::spawn(renew_all(Arc::downgrade(&self.0), id)),
        });
        // Remove released leases only when the list would have to grow.
        if renewals.held.len() == renewals.held.capacity() {
            renewals.forget_released();
        }
        renewals.held.push(Arc::downgrade(&held));
        held
    }
}

impl Drop for Leases {
    fn drop(&mut self) {
        for renewals in lock(&self.0).values() {
            renewals.task.abort();
        }
    }
}

fn lock(by_runtime: &Mutex<RenewalsByTokioRuntime>) -> MutexGuard<'_, RenewalsByTokioRuntime> {
    by_runtime.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Renews the leases of a tokio runtime at each interval, until none is held.
async fn renew_all(by_runtime: Weak<Mutex<RenewalsByTokioRuntime>>, id: runtime::Id) {
    let mut intervals = interval_at(Instant::now() + RENEWAL_INTERVAL, RENEWAL_INTERVAL);
    intervals.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        intervals.tick().await;
        let Some(held) = by_runtime.upgrade().and_then(|map| held_leases(&map, id)) else {
            return;
        };
        let renewed =
            stream::iter(held).for_each_concurrent(PARALLEL_RENEWALS, |held| async move { held.renew().await });
        renewed.await;
    }
}

/// Returns the leases of a tokio runtime that are held. If there are none, removes its renewals and returns `None`.
fn held_leases(by_runtime: &Mutex<RenewalsByTokioRuntime>, id: runtime::Id) -> Option<Vec<Arc<HeldLease>>> {
    let mut by_runtime = lock(by_runtime);
    let renewals = by_runtime.get_mut(&id)?;
    renewals.forget_released();
    let held: Vec<_> = renewals.held.iter().filter_map(Weak::upgrade).collect();
    if held.is_empty() {
        by_runtime.remove(&id);
        return None;
    }
    Some(held)
}

impl HeldLease {
    /// Renews the lease unless it is lost already. If the store says that it is lost now, cancels `lost`. Any other error is only
    /// logged, because the next renewal may succeed before the lease expires.
    async fn renew(&self) {
        if self.lost.is_cancelled() {
            return;
        }
        // A renewal that hangs must not hold up the renewals of other leases.
        match timeout(RENEWAL_INTERVAL, self.store.renew_lease(&self.lease)).await {
            Ok(Ok(())) => {}
            Ok(Err(StoreError::LeaseLost { .. })) => self.lost.cancel(),
            Err(_) => tracing::warn!(thread = self.lease.thread_id, "a lease could not be renewed in time"),
            Ok(Err(error)) => tracing::warn!(thread = self.lease.thread_id, %error, "a lease could not be renewed"),
        }
    }

    async fn release(&self) {
        if let Err(error) = self.store.release_lease(&self.lease).await {
            tracing::warn!(thread = self.lease.thread_id, %error, "a thread could not be released");
        }
    }
}

/// The lease of a thread, which is renewed until it is released. Dropping this value in a tokio runtime releases the lease if it
/// is not released yet.
#[derive(Debug)]
pub(crate) struct ThreadLease {
    held: Arc<HeldLease>,
    is_released: bool,
}

impl ThreadLease {
    /// Takes the lease of a thread.
    ///
    /// # Errors
    /// Fails if the thread is in use or does not exist, or the store fails.
    pub(crate) async fn acquire(runtime: &Runtime, thread_id: &str) -> Result<Self, StoreError> {
        let lease = runtime.store.acquire_lease(thread_id).await?;
        Ok(Self::hold(runtime, lease))
    }

    /// Creates a thread and takes its lease.
    ///
    /// # Errors
    /// Fails if the store fails.
    pub(crate) async fn for_new_thread(runtime: &Runtime, new: NewThread) -> Result<(Thread, Self), StoreError> {
        let (thread, lease) = runtime.store.create_leased_thread(new).await?;
        Ok((thread, Self::hold(runtime, lease)))
    }

    fn hold(runtime: &Runtime, lease: Lease) -> Self {
        Self {
            held: runtime.leases.hold(&runtime.store, lease),
            is_released: false,
        }
    }

    /// Returns the lease, which the store demands for each commit to a run of the thread.
    pub(crate) fn lease(&self) -> &Lease {
        &self.held.lease
    }

    /// Waits until another host has taken the thread over, and returns the error that says so.
    pub(crate) async fn wait_until_lost(&self) -> StoreError {
        self.held.lost.cancelled().await;
        StoreError::LeaseLost {
            thread_id: self.held.lease.thread_id.clone(),
        }
    }

    /// Notes that the commit which ended the run has released the lease already.
    pub(crate) fn mark_released(mut self) {
        self.is_released = true;
    }

    /// Releases the lease, so that the next question of the thread can be answered. An error is only logged, because the lease
    /// expires by itself.
    pub(crate) async fn release(mut self) {
        self.is_released = true;
        self.held.release().await;
    }
}

impl Drop for ThreadLease {
    fn drop(&mut self) {
        if self.is_released {
            return;
        }
        // The run was dropped in the middle of its work.
        if let Ok(runtime) = Handle::try_current() {
            let held = Arc::clone(&self.held);
            runtime.spawn(async move { held.release().await });
        }
    }
}

#[cfg(test)]
mod tests {
    use art_store::MemoryStore;
    use art_store::clock::ManualClock;
    use tokio::time::sleep;

    use super::*;

    /// Returns a store with the thread `t`, and the clock of the store.
    async fn store() -> (Arc<dyn Store>, Arc<ManualClock>) {
        let clock = Arc::new(ManualClock::new(1));
        let store = MemoryStore::with_clock(Arc::clone(&clock) as Arc<_>);
        let thread = NewThread {
            id: "t".to_owned(),
            ..NewThread::default()
        };
        store.create_thread(thread).await.unwrap();
        (Arc::new(store), clock)
    }

    /// Lets more time pass than a lease lasts, both on the clock of the store and on that of tokio, which times the renewals.
    async fn outlast_a_lease(clock: &ManualClock) {
        for _ in 0..4 {
            clock.advance(LEASE_MS / 3);
            sleep(RENEWAL_INTERVAL).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_does_not_expire_while_it_is_held() {
        let (store, clock) = store().await;
        let leases = Leases::default();
        let held = leases.hold(&store, store.acquire_lease("t").await.unwrap());
        outlast_a_lease(&clock).await;
        let of_another_host = store.acquire_lease("t").await;
        assert!(
            matches!(of_another_host, Err(StoreError::ThreadBusy { .. })),
            "{of_another_host:?}"
        );
        assert!(!held.lost.is_cancelled());
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_that_is_no_longer_held_expires() {
        let (store, clock) = store().await;
        let leases = Leases::default();
        drop(leases.hold(&store, store.acquire_lease("t").await.unwrap()));
        outlast_a_lease(&clock).await;
        assert!(store.acquire_lease("t").await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_renewal_notices_that_the_lease_is_lost() {
        let (store, _clock) = store().await;
        let leases = Leases::default();
        let held = leases.hold(&store, store.acquire_lease("t").await.unwrap());
        store.release_lease(&held.lease).await.unwrap();
        let _of_another_host = store.acquire_lease("t").await.unwrap();
        held.lost.cancelled().await;
    }

    #[tokio::test(start_paused = true)]
    async fn the_renewing_task_ends_when_no_lease_is_held_and_starts_again_with_the_next_lease() {
        let (store, _clock) = store().await;
        let leases = Leases::default();
        let lease = store.acquire_lease("t").await.unwrap();
        drop(leases.hold(&store, lease.clone()));
        sleep(2 * RENEWAL_INTERVAL).await;
        assert!(!has_renewing_task(&leases));
        let _held = leases.hold(&store, lease);
        assert!(has_renewing_task(&leases));
    }

    fn has_renewing_task(leases: &Leases) -> bool {
        !lock(&leases.0).is_empty()
    }

    #[test]
    fn a_lease_is_renewed_by_the_tokio_runtime_on_which_it_was_taken() {
        let tokio_runtime = || {
            let mut builder = runtime::Builder::new_current_thread();
            builder.enable_time().start_paused(true).build().unwrap()
        };
        let (first, second) = (tokio_runtime(), tokio_runtime());
        let (store, clock) = second.block_on(store());
        let leases = Leases::default();
        let other_lease = Lease {
            thread_id: "other".to_owned(),
            number: 1,
        };
        // The task that renews this lease exists, but nobody drives its tokio runtime.
        let _held_on_first = first.block_on(async { leases.hold(&store, other_lease) });
        second.block_on(async {
            let _held = leases.hold(&store, store.acquire_lease("t").await.unwrap());
            outlast_a_lease(&clock).await;
            let busy = store.acquire_lease("t").await;
            assert!(matches!(busy, Err(StoreError::ThreadBusy { .. })), "{busy:?}");
        });
    }
}
