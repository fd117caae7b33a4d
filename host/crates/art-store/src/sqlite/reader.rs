//! The threads that read. The write-ahead log lets them read during writes.

use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::mpsc;

/// More than one, so that a long listing does not hold up everybody; few, because each has its own page cache.
pub(super) const READERS: usize = 2;

/// Maximum number of queued reads; further callers wait.
pub(super) const QUEUE: usize = 64;

/// A queued read, which answers its caller itself.
pub(super) type Read = Box<dyn FnOnce(&Connection) + Send>;

/// Works until the store is dropped.
pub(super) fn work(connection: &Connection, reads: &Mutex<mpsc::Receiver<Read>>) {
    loop {
        // The lock is held while waiting: the other readers wait for the lock instead of for the queue.
        let next = reads.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
        let Some(read) = next else { break };
        read(connection);
    }
}
