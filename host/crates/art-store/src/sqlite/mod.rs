//! A store in one SQLite file.

use std::path::Path;
use std::sync::{Arc, Mutex};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::clock::{Clock, SystemClock};
use crate::error::StoreError;

mod blobs;
mod calls;
mod checkpoint;
mod commits;
mod fault;
mod file;
mod holder;
mod journal;
mod leases;
mod messages;
mod migrate;
mod observations;
mod queue;
mod reader;
mod row;
mod runs;
mod service;
mod suspensions;
mod threads;
mod work;
mod writer;

use fault::QueryError;
use holder::{Holder, Holders};
use queue::Queue;
use reader::{READER_THREADS, Read};
pub use writer::WriteStats;
use writer::{Counters, Job, Write, Writer};

/// A store in one SQLite file, which several processes can use at the same time.
///
/// - Writes of several processes wait for each other. A write that waits for 5 s fails with [`StoreError::Busy`] and can be
///   repeated.
/// - While a store that can write is open, it keeps a locked file in a directory beside the database, whose name is that of the
///   database with the suffix `-hosts`. When the process of the store ends, even by a crash, others can take the
///   [leases](crate::Lease) that it had.
/// - Every write is synced to the disk before its caller is told of its success (`synchronous = FULL`), so it survives a loss of
///   power. Writes that wait at the same time are synced together.
/// - After a failed write or sync no more writes are accepted ([`StoreError::Poisoned`]) until the database is opened again,
///   because the operating system may have forgotten what it could not write. If the disk is full, only the writes that need
///   space fail.
/// - Opening refuses a file that is damaged, has a newer format, or is not a database of this host, and does not change it.
/// - Only the owner of the files can read the database and its log. Deleted data is overwritten in the database, but the log can
///   contain it until the next checkpoint, at the latest until the store is dropped.
/// - Dropping the store completes the queued writes and closes the file, and blocks until that is done.
/// - Opening the store checks the whole database, and blocks until that is done.
#[derive(Debug)]
pub struct SqliteStore {
    path: Arc<Path>,
    clock: Arc<dyn Clock>,
    counters: Arc<Counters>,
    /// The queue of reads.
    readers: Queue<Read>,
    /// The queue of writes; `None` in a store that only reads.
    writer: Option<Queue<Box<dyn Job>>>,
    /// The holders of leases in the database, to find out whether they still run.
    holders: Holders,
    /// This store as a holder of leases; `None` in a store that only reads. This is the last field: fields are dropped in order,
    /// so the file of the holder is removed last.
    holder: Option<Holder>,
}

impl SqliteStore {
    /// Opens the database at `path`, and creates it and its directory if they do not exist.
    ///
    /// # Errors
    /// Fails if the file is damaged, has a newer format or is not a database of this host, if another process takes too long to
    /// create or migrate it, or if a file operation fails.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with_clock(path, Arc::new(SystemClock))
    }

    /// Opens the database as [`Self::open`] does, but takes the time from `clock`.
    ///
    /// # Errors
    /// Fails as [`Self::open`] does.
    pub fn open_with_clock(path: impl AsRef<Path>, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        file::create_directory(path)?;
        // While this process has the guard, no other process creates or migrates the database, or registers a holder.
        let guard = file::take_guard(path)?;
        if !file::exists(path)? {
            file::create(path)?;
        }
        drop(guard);
        // These checks run without the guard: other processes wait for it only a few seconds, and the checks of a large database
        // take longer.
        file::check_header(path)?;
        file::check_content(path)?;
        file::restrict_permissions(path)?;
        let mut connection = file::connect(path)?;
        let guard = file::take_guard(path)?;
        migrate::migrate(&mut connection, path, migrate::MIGRATIONS)?;
        let holder = Holder::register(path)?;
        drop(guard);
        Self::start(path, clock, Some((connection, holder)))
    }

    /// Opens an existing database for reading, even while another process has it open. Every write fails with
    /// [`StoreError::ReadOnly`].
    ///
    /// # Errors
    /// Fails if the file does not exist, is damaged, has a newer format or is not a database of this host, or if a file operation
    /// fails.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        file::check_is_file(path)?;
        file::check_content(path)?;
        Self::start(path, Arc::new(SystemClock), None)
    }

    /// Returns the path of the database.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of writes since the store was opened, and the number of SQLite transactions that committed them.
    #[must_use]
    pub fn stats(&self) -> WriteStats {
        self.counters.stats()
    }

    /// Starts the reader threads and the writer thread of a store. `write_access` has the connection and the holder of a store
    /// that can write; `None` starts a store that only reads.
    fn start(
        path: &Path,
        clock: Arc<dyn Clock>,
        write_access: Option<(Connection, Holder)>,
    ) -> Result<Self, StoreError> {
        let path: Arc<Path> = path.into();
        let counters = Arc::default();
        let readers = spawn_readers(&path)?;
        let (writer, holder) = match write_access {
            Some((connection, holder)) => (Some(spawn_writer(connection, &path, &counters)?), Some(holder)),
            None => (None, None),
        };
        Ok(Self {
            holders: Holders::of(&path),
            path,
            clock,
            counters,
            readers,
            writer,
            holder,
        })
    }

    /// Queues a write and waits until it is committed. `query` gets the time at which it runs, which may be later than this call.
    async fn write<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection, u64) -> Result<T, QueryError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let Some(writer) = &self.writer else {
            return Err(StoreError::ReadOnly {
                path: self.path.to_path_buf(),
            });
        };
        let clock = Arc::clone(&self.clock);
        let (sender, receiver) = oneshot::channel();
        let write = Write::new(
            move |connection| query(connection, clock.now()),
            Arc::clone(&self.path),
            sender,
        );
        writer.send(Box::new(write)).await.ok_or_else(|| self.closed_error())?;
        receiver.await.unwrap_or_else(|_| Err(self.closed_error()))
    }

    /// Queues a read and waits for its result.
    async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, QueryError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, receiver) = oneshot::channel();
        let read: Read = Box::new(move |connection| {
            // The sender is closed if the caller was dropped while the read was queued. The read is then not run.
            if !sender.is_closed() && sender.send(query(connection)).is_err() {
                tracing::debug!("the caller of a read was dropped");
            }
        });
        self.readers.send(read).await.ok_or_else(|| self.closed_error())?;
        match receiver.await {
            Ok(result) => result.map_err(|error| error.at(&self.path)),
            Err(_) => Err(self.closed_error()),
        }
    }

    /// Returns the identifier of this store as a holder of leases, or an empty one for a store that only reads.
    fn holder_id(&self) -> String {
        self.holder.as_ref().map(|holder| holder.id.clone()).unwrap_or_default()
    }

    fn closed_error(&self) -> StoreError {
        StoreError::Closed {
            path: self.path.to_path_buf(),
        }
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        // The readers end first, so that the connection of the writer is the last one to close. SQLite removes the log when the
        // last connection closes, but only if that connection can write.
        self.readers.finish(&self.path);
        if let Some(writer) = &mut self.writer {
            writer.finish(&self.path);
        }
    }
}

fn spawn_readers(path: &Arc<Path>) -> Result<Queue<Read>, StoreError> {
    let (mut queue, reads) = Queue::new(reader::QUEUE_CAPACITY);
    let reads = Arc::new(Mutex::new(reads));
    for _ in 0..READER_THREADS {
        let (connection, reads) = (file::connect_reader(path)?, Arc::clone(&reads));
        queue.spawn("art-store-read", path, move || reader::run_reads(&connection, &reads))?;
    }
    Ok(queue)
}

fn spawn_writer(
    connection: Connection,
    path: &Arc<Path>,
    counters: &Arc<Counters>,
) -> Result<Queue<Box<dyn Job>>, StoreError> {
    let (mut queue, writes) = Queue::new(writer::QUEUE_CAPACITY);
    let writer = Writer {
        connection,
        path: Arc::clone(path),
        counters: Arc::clone(counters),
        poison: None,
    };
    queue.spawn("art-store-write", path, move || writer.run(writes))?;
    Ok(queue)
}
