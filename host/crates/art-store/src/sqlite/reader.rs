//! The threads that read the database. With a write-ahead log they can do so while another thread writes.

use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::mpsc;

/// Number of threads that read. There is more than one, so that reading a long list does not delay all other reads, and only a
/// few, because each has its own page cache.
pub(super) const READER_THREADS: usize = 2;

/// Maximum number of queued reads; further callers wait.
pub(super) const QUEUE_CAPACITY: usize = 64;

/// A queued read: a function that reads from the connection and sends the result to the caller.
pub(super) type Read = Box<dyn FnOnce(&Connection) + Send>;

/// Runs reads until the store is dropped.
pub(super) fn run_reads(connection: &Connection, reads: &Mutex<mpsc::Receiver<Read>>) {
    loop {
        // This thread holds the lock while it waits for a read; the other threads wait for the lock.
        let next = reads.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
        let Some(read) = next else { break };
        read(connection);
    }
}
