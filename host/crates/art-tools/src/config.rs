//! How much the tool system does at a time.

use std::time::Duration;

/// Bounds of a [`ToolSystem`](crate::system::ToolSystem).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemConfig {
    /// Calls that run at the same time, over all batches.
    pub max_parallel: usize,
    /// Calls that may wait for one of them to end; the next is refused with `BUSY`.
    pub queue: usize,
    /// How long an executor may continue after its time is over or its call was cancelled, to report its usage. Then it
    /// is dropped.
    pub grace: Duration,
}

impl Default for SystemConfig {
    /// Allows twice the number of processors but at least 4 calls at a time, 128 waiting, and 2 s of grace.
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        Self {
            max_parallel: processors.saturating_mul(2).max(4),
            queue: 128,
            grace: Duration::from_secs(2),
        }
    }
}
