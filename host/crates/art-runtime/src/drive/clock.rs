//! The clock of runs.

use art_core::Timestamp;
use art_store::Clock;
use art_store::clock::SystemClock;

/// Returns the current time, in milliseconds since the Unix epoch.
pub(crate) fn now() -> Timestamp {
    SystemClock.now()
}
