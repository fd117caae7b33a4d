//! The clock of the store.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use art_core::Timestamp;

use crate::limits::MAX_TIMESTAMP;

/// A source of timestamps.
pub trait Clock: Send + Sync + Debug {
    /// Returns the time in milliseconds since the Unix epoch.
    fn now(&self) -> Timestamp;
}

/// The system clock. It may jump back, so the store never relies on it alone for the order of entries.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // A clock that is wrong by many thousands of years must not make times overflow.
        Timestamp::try_from(since_epoch.as_millis()).map_or(MAX_TIMESTAMP, |now| now.min(MAX_TIMESTAMP))
    }
}

/// A clock for tests, which stands still until the test sets or advances it.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicU64);

impl ManualClock {
    /// Creates a clock with the time `now`.
    #[must_use]
    pub const fn new(now: Timestamp) -> Self {
        Self(AtomicU64::new(now))
    }

    /// Sets the time to `now`.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now, Ordering::SeqCst);
    }

    /// Advances the time by `milliseconds`.
    pub fn advance(&self, milliseconds: u64) {
        self.0.fetch_add(milliseconds, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.0.load(Ordering::SeqCst)
    }
}
