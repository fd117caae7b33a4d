//! The threads that read. With the write-ahead log they can read while another thread writes.

use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::mpsc;

/// Number of threads. There is more than one, so that a long list does not delay all other reads, and only a few,
/// because each has its own page cache.
pub(super) const READERS: usize = 2;

/// Maximum number of queued reads; further callers wait.
pub(super) const QUEUE_CAPACITY: usize = 64;

/// A queued read, which sends its result to its caller itself.
pub(super) type Read = Box<dyn FnOnce(&Connection) + Send>;

/// Runs reads until the store is dropped.
pub(super) fn run_reads(connection: &Connection, reads: &Mutex<mpsc::Receiver<Read>>) {
    loop {
        // Holds the lock while waiting for the queue; the other readers wait for the lock.
        let next = reads.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
        let Some(read) = next else { break };
        read(connection);
    }
}
