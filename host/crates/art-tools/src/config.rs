//! Limits of the tool system as a whole.

use std::time::Duration;

/// Limits of a [`ToolSystem`](crate::system::ToolSystem).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemConfig {
    /// Maximum number of running calls, over all batches.
    pub max_parallel: usize,
    /// Maximum number of waiting calls. Further calls are refused with `BUSY`.
    pub max_queue: usize,
    /// Time that an executor has to report its usage after a call was cancelled or has reached its time limit. After this time,
    /// the host drops the call.
    pub grace: Duration,
}

impl Default for SystemConfig {
    /// Returns limits of two running calls per processor (at least 4 in total), 128 waiting calls, and 2 s of grace.
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        Self {
            max_parallel: processors.saturating_mul(2).max(4),
            max_queue: 128,
            grace: Duration::from_secs(2),
        }
    }
}
