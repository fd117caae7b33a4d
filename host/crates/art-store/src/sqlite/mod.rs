//! A store in one SQLite file.

use std::path::Path;
use std::sync::{Arc, Mutex};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::clock::{Clock, SystemClock};
use crate::error::StoreError;

mod blobs;
mod fault;
mod file;
mod messages;
mod migrate;
mod observations;
mod queue;
mod reader;
mod row;
mod runs;
mod service;
mod threads;
mod writer;

use fault::Fault;
use queue::Queue;
use reader::{READERS, Read};
pub use writer::WriteStats;
use writer::{Counters, Job, Write, Writer};

/// A store in one SQLite file, for one process at a time.
///
/// - Every write is synced to the disk before it is acknowledged (`synchronous = FULL`), many at a time when many wait.
/// - Neither a file that is not a database of this host, nor one that is damaged or newer, is ever changed.
/// - Database and log are readable by their owner only. Deleted data is overwritten in the database, but the log can hold
///   it until the next checkpoint, at the latest until the store is dropped.
/// - Dropping the store finishes what waits and closes the file. That blocks for as long as one commit takes.
/// - Opening reads the whole database once to check it, and blocks.
#[derive(Debug)]
pub struct SqliteStore {
    path: Arc<Path>,
    clock: Arc<dyn Clock>,
    counters: Arc<Counters>,
    readers: Queue<Read>,
    /// Absent in a store that only reads.
    writer: Option<Queue<Box<dyn Job>>>,
    /// Absent in a store that only reads. Released last.
    _lock: Option<file::Lock>,
}

impl SqliteStore {
    /// Opens the database at `path`, and creates it and its directory if they do not exist.
    ///
    /// # Errors
    /// Fails if another process has it open, if it is foreign, newer or damaged, or if the system refuses.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with_clock(path, Arc::new(SystemClock))
    }

    /// Opens the database as [`Self::open`] does, with another clock.
    ///
    /// # Errors
    /// Fails as [`Self::open`] does.
    pub fn open_with_clock(path: impl AsRef<Path>, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        file::create_directory(path)?;
        let lock = file::lock(path)?;
        if !file::exists(path)? {
            file::create(path)?;
        }
        file::check_header(path)?;
        file::check_content(path)?;
        file::restrict(path)?;
        let mut connection = file::connect(path)?;
        migrate::migrate(&mut connection, path, migrate::MIGRATIONS)?;
        Self::start(path, clock, Some((connection, lock)))
    }

    /// Opens an existing database for reading, also while another process has it open. Every write fails with
    /// [`StoreError::ReadOnly`]. A process that has the database open already reads through its own store instead.
    ///
    /// # Errors
    /// Fails if it is not there, not ours, newer or damaged, or when the system refuses.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        file::check_kind(path)?;
        file::check_content(path)?;
        Self::start(path, Arc::new(SystemClock), None)
    }

    /// Returns the database.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns how much was written since the store was opened.
    #[must_use]
    pub fn stats(&self) -> WriteStats {
        self.counters.stats()
    }

    fn start(path: &Path, clock: Arc<dyn Clock>, write: Option<(Connection, file::Lock)>) -> Result<Self, StoreError> {
        let path: Arc<Path> = path.into();
        let counters = Arc::default();
        let readers = start_readers(&path)?;
        let (writer, lock) = match write {
            Some((connection, lock)) => (Some(start_writer(connection, &path, &counters)?), Some(lock)),
            None => (None, None),
        };
        Ok(Self {
            path,
            clock,
            counters,
            readers,
            writer,
            _lock: lock,
        })
    }

    /// Queues a write and waits until it is committed. `work` gets the time at which it runs.
    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection, u64) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let Some(writer) = &self.writer else {
            return Err(StoreError::ReadOnly {
                path: self.path.to_path_buf(),
            });
        };
        let clock = Arc::clone(&self.clock);
        let (reply, answer) = oneshot::channel();
        let write = Write::new(
            move |connection| work(connection, clock.now()),
            Arc::clone(&self.path),
            reply,
        );
        writer.send(Box::new(write)).await.ok_or_else(|| self.closed())?;
        answer.await.unwrap_or_else(|_| Err(self.closed()))
    }

    /// Queues a read and waits for its answer.
    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let read: Read = Box::new(move |connection| {
            if !reply.is_closed() && reply.send(work(connection)).is_err() {
                tracing::debug!("the caller of a read is gone");
            }
        });
        self.readers.send(read).await.ok_or_else(|| self.closed())?;
        match answer.await {
            Ok(found) => found.map_err(|fault| fault.at(&self.path)),
            Err(_) => Err(self.closed()),
        }
    }

    fn closed(&self) -> StoreError {
        StoreError::Closed {
            path: self.path.to_path_buf(),
        }
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        // Readers first: the connection that is closed last tidies the log, and only the writer's can.
        self.readers.finish(&self.path);
        if let Some(writer) = &mut self.writer {
            writer.finish(&self.path);
        }
    }
}

fn start_readers(path: &Arc<Path>) -> Result<Queue<Read>, StoreError> {
    let (mut queue, reads) = Queue::new(reader::QUEUE);
    let reads = Arc::new(Mutex::new(reads));
    for _ in 0..READERS {
        let (connection, reads) = (file::connect_read_only(path)?, Arc::clone(&reads));
        queue.spawn("art-store-read", path, move || reader::work(&connection, &reads))?;
    }
    Ok(queue)
}

fn start_writer(
    connection: Connection,
    path: &Arc<Path>,
    counters: &Arc<Counters>,
) -> Result<Queue<Box<dyn Job>>, StoreError> {
    let (mut queue, writes) = Queue::new(writer::QUEUE);
    let writer = Writer {
        connection,
        path: Arc::clone(path),
        counters: Arc::clone(counters),
        poison: None,
    };
    queue.spawn("art-store-write", path, move || writer.work(writes))?;
    Ok(queue)
}
