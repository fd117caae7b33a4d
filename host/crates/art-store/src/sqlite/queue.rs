//! A queue of reads or writes, and the threads that process them.

use std::fmt;
use std::path::Path;
use std::thread::{self, JoinHandle};

use tokio::sync::mpsc;

use crate::error::StoreError;

/// The sender of a queue, and the threads that process it.
pub(super) struct Queue<T> {
    /// `None` when the queue is closed.
    sender: Option<mpsc::Sender<T>>,
    threads: Vec<JoinHandle<()>>,
}

impl<T> fmt::Debug for Queue<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Queue")
            .field("threads", &self.threads.len())
            .finish_non_exhaustive()
    }
}

impl<T> Queue<T> {
    /// Creates a queue with room for `capacity` entries, and returns it with its receiver. Senders of further entries wait.
    pub(super) fn new(capacity: usize) -> (Self, mpsc::Receiver<T>) {
        let (sender, receiver) = mpsc::channel(capacity);
        let queue = Self {
            sender: Some(sender),
            threads: Vec::new(),
        };
        (queue, receiver)
    }

    /// Starts a thread of the queue. It runs `work`, which has to process entries and to return when the queue is closed and
    /// empty. An error names the database by its `path`.
    pub(super) fn spawn(
        &mut self,
        name: &str,
        path: &Path,
        work: impl FnOnce() + Send + 'static,
    ) -> Result<(), StoreError> {
        let spawned = thread::Builder::new().name(name.to_owned()).spawn(work);
        let thread = spawned.map_err(|source| StoreError::Io {
            action: "start a thread for the database",
            path: path.to_owned(),
            source,
        })?;
        self.threads.push(thread);
        Ok(())
    }

    /// Sends an entry, and waits for room first. Returns `None` if the threads have stopped.
    pub(super) async fn send(&self, entry: T) -> Option<()> {
        self.sender.as_ref()?.send(entry).await.ok()
    }

    /// Closes the queue and waits until all its entries are processed.
    pub(super) fn finish(&mut self, path: &Path) {
        self.sender = None;
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!(path = %path.display(), "a thread of the store has panicked");
            }
        }
    }
}
