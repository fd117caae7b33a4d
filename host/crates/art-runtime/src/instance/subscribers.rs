//! Callbacks that notify the embedding program of what the store has stored.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, Weak};

type Callback<T> = dyn Fn(&T) + Send + Sync;

/// Keeps a callback registered until this value is dropped. The callback is not called for what is stored after that.
#[must_use = "the callback is not called any more once this is dropped"]
pub struct Subscription<T> {
    _callback: Arc<Callback<T>>,
}

impl<T> fmt::Debug for Subscription<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").finish_non_exhaustive()
    }
}

/// The registered callbacks.
pub(super) struct Subscribers<T> {
    /// The callbacks, each with the identifier of the thread for which it is registered.
    callbacks: Mutex<Vec<(String, Weak<Callback<T>>)>>,
}

impl<T> Default for Subscribers<T> {
    fn default() -> Self {
        Self {
            callbacks: Mutex::default(),
        }
    }
}

impl<T> fmt::Debug for Subscribers<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscribers").finish_non_exhaustive()
    }
}

impl<T> Subscribers<T> {
    /// Registers a callback for what is added to a thread.
    pub(super) fn subscribe(&self, thread_id: &str, callback: impl Fn(&T) + Send + Sync + 'static) -> Subscription<T> {
        let callback: Arc<Callback<T>> = Arc::new(callback);
        let mut registered = self.callbacks.lock().unwrap_or_else(PoisonError::into_inner);
        registered.retain(|(_, callback)| callback.strong_count() > 0);
        registered.push((thread_id.to_owned(), Arc::downgrade(&callback)));
        Subscription { _callback: callback }
    }

    /// Calls the callbacks of a thread with each value, one after the other. A callback that panics is logged, and the others
    /// are still called.
    pub(super) fn notify(&self, thread_id: &str, values: &[T]) {
        let registered = self.callbacks.lock().unwrap_or_else(PoisonError::into_inner);
        let of_thread = registered.iter().filter(|(id, _)| id == thread_id);
        let callbacks: Vec<_> = of_thread.filter_map(|(_, callback)| callback.upgrade()).collect();
        // Release the lock, because a callback may call `subscribe`.
        drop(registered);
        for value in values {
            for callback in &callbacks {
                if catch_unwind(AssertUnwindSafe(|| callback(value))).is_err() {
                    tracing::warn!(thread = thread_id, "a subscriber of a thread panicked");
                }
            }
        }
    }
}
