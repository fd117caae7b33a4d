//! Leases: the right to be the only writer of a thread.

use crate::check;
use crate::error::StoreError;

/// The right to write the runs of a thread, which at most one caller has at a time.
///
/// A lease is the current one of its thread until it is released, or until somebody else takes a new lease. Somebody else can
/// take a new lease when the current one has expired or the process of its holder has ended. A lease expires
/// [`LEASE_MS`](crate::limits::LEASE_MS) after it was acquired, renewed or used for a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lease {
    /// The thread.
    pub thread_id: String,
    /// Fencing number. Each new lease of the thread has a larger one, and none is given twice, so a holder that lost the lease
    /// without noticing cannot write.
    pub number: u64,
}

impl Lease {
    /// Returns the error for a lease that is not the current one of its thread.
    pub(crate) fn lost_error(&self) -> StoreError {
        StoreError::LeaseLost {
            thread_id: check::truncate_id(&self.thread_id),
        }
    }
}
