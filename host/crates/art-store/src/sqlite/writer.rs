//! The thread that writes the database. It commits several writes at once, as a group.
//!
//! A commit costs one sync of the disk, whatever its size. So the thread takes all waiting writes, runs each in a savepoint of
//! one transaction, commits once and then sends all results. Further writes wait in the queue during the sync, so the groups grow
//! with the load. After sending the results, the thread copies the write-ahead log into the database if the log has become long.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use super::checkpoint;
use super::fault::{QueryError, is_fatal, to_store_error};
use crate::error::StoreError;
use crate::fail_point::FailPoint;

/// Maximum number of queued writes, and of writes in one commit; further callers wait.
pub(super) const QUEUE_CAPACITY: usize = 256;

/// A queued [`Write`] without the type of its result, so that one queue has the writes of all types.
pub(super) trait Job: Send {
    /// Makes the write, in the transaction of its group, and keeps the result for [`finish`](Self::finish). Returns an error only
    /// if SQLite failed, not if the store refuses the write.
    fn run(&mut self, connection: &Connection) -> Result<(), Arc<rusqlite::Error>>;

    /// Sends the caller the result that `run` kept, or the error in `committed` if the group was not committed.
    fn finish(self: Box<Self>, committed: Result<(), StoreError>);
}

/// Counts of writes and commits, for tests and benches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteStats {
    /// Number of writes in the groups that were committed, including writes that the store refused.
    pub writes: u64,
    /// Number of these groups. Each is one commit of SQLite.
    pub commits: u64,
}

/// The counts behind [`WriteStats`], which the thread that writes and the store share.
#[derive(Debug, Default)]
pub(super) struct Counters {
    writes: AtomicU64,
    commits: AtomicU64,
}

impl Counters {
    pub(super) fn stats(&self) -> WriteStats {
        WriteStats {
            writes: self.writes.load(Ordering::Relaxed),
            commits: self.commits.load(Ordering::Relaxed),
        }
    }

    /// Counts a committed group of that many writes.
    fn add_group(&self, writes: usize) {
        self.writes.fetch_add(writes as u64, Ordering::Relaxed);
        self.commits.fetch_add(1, Ordering::Relaxed);
    }
}

/// The thread that writes, with its connection.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) connection: Connection,
    pub(super) path: Arc<Path>,
    pub(super) counters: Arc<Counters>,
    /// The failure after which all writes are refused.
    pub(super) poison: Option<Arc<rusqlite::Error>>,
}

impl Writer {
    /// Processes writes until the store is dropped and the queue is empty.
    pub(super) fn run(mut self, mut jobs: mpsc::Receiver<Box<dyn Job>>) {
        let mut group = Vec::with_capacity(QUEUE_CAPACITY);
        while jobs.blocking_recv_many(&mut group, QUEUE_CAPACITY) > 0 {
            self.commit(&mut group);
        }
        if self.poison.is_none()
            && let Err(error) = self.connection.execute_batch("PRAGMA optimize")
        {
            tracing::warn!(path = %self.path.display(), %error, "failed to update the statistics of the database");
        }
    }

    /// Runs the jobs of a group, commits them together and sends their results.
    fn commit(&mut self, group: &mut Vec<Box<dyn Job>>) {
        let result = match &self.poison {
            Some(source) => Err(Arc::clone(source)),
            None => self.run_and_commit(group),
        };
        match &result {
            Ok(()) => self.counters.add_group(group.len()),
            Err(error) => tracing::error!(path = %self.path.display(), %error, "failed to commit"),
        }
        for job in group.drain(..) {
            job.finish(result.clone().map_err(|error| self.commit_error(error)));
        }
        match result {
            Ok(()) => self.copy_log(),
            Err(error) if is_fatal(&error) => {
                self.poison.get_or_insert(error);
            }
            Err(_) => {}
        }
    }

    /// Copies the write-ahead log into the database if the log has become long. The writes in the log are durable already, so
    /// no caller gets the error of a failed copy. If a failure may have lost a part of the copy, only the log has all writes, and
    /// its file must not be removed.
    fn copy_log(&mut self) {
        let Err(error) = checkpoint::copy_long_log(&self.connection) else {
            return;
        };
        tracing::error!(path = %self.path.display(), %error, "failed to copy the log into the database");
        if is_fatal(&error) {
            self.poison.get_or_insert(Arc::new(error));
            // Closing the connection would copy the log again. SQLite would not notice what the operating system has lost, and
            // would remove the log.
            let disabled = self
                .connection
                .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
            if let Err(error) = disabled {
                tracing::error!(path = %self.path.display(), %error, "failed to keep the log");
            }
        }
    }

    /// Runs the jobs of a group in one transaction and commits it. Fails if the transaction was not committed.
    fn run_and_commit(&mut self, group: &mut [Box<dyn Job>]) -> Result<(), Arc<rusqlite::Error>> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        for job in group {
            // Most failures undo only the write that failed, and the group goes on. But some, such as a full disk, roll back the
            // whole transaction with the earlier writes of the group: the connection is then in autocommit mode again.
            if let Err(error) = job.run(&transaction)
                && (is_fatal(&error) || transaction.is_autocommit())
            {
                return Err(error);
            }
        }
        FailPoint::BeforeCommit.reach();
        transaction.commit()?;
        FailPoint::AfterCommit.reach();
        Ok(())
    }

    /// Returns the error for the writes of a group that was not committed.
    fn commit_error(&self, source: Arc<rusqlite::Error>) -> StoreError {
        if self.poison.is_some() {
            return StoreError::Poisoned {
                path: self.path.to_path_buf(),
                source,
            };
        }
        to_store_error(&self.path, source)
    }
}

/// A write whose caller waits for the result.
pub(super) struct Write<T, F> {
    /// The function that makes the write; `None` after it has run.
    query: Option<F>,
    path: Arc<Path>,
    /// What the query returned, until it is sent to the caller.
    result: Option<Result<T, StoreError>>,
    sender: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Write<T, F>
where
    T: Send + 'static,
    F: FnOnce(&Connection) -> Result<T, QueryError> + Send + 'static,
{
    pub(super) fn new(query: F, path: Arc<Path>, sender: oneshot::Sender<Result<T, StoreError>>) -> Self {
        Self {
            query: Some(query),
            path,
            result: None,
            sender,
        }
    }
}

impl<T, F> Job for Write<T, F>
where
    T: Send + 'static,
    F: FnOnce(&Connection) -> Result<T, QueryError> + Send + 'static,
{
    fn run(&mut self, connection: &Connection) -> Result<(), Arc<rusqlite::Error>> {
        let Some(query) = self.query.take() else { return Ok(()) };
        match in_savepoint(connection, query) {
            Ok(value) => self.result = Some(Ok(value)),
            Err(QueryError::Store(error)) => self.result = Some(Err(error)),
            Err(QueryError::Sqlite(error)) => {
                let error = Arc::new(error);
                self.result = Some(Err(to_store_error(&self.path, Arc::clone(&error))));
                return Err(error);
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>, committed: Result<(), StoreError>) {
        let result = match (committed, self.result) {
            (Err(error), _) => Err(error),
            (Ok(()), Some(result)) => result,
            (Ok(()), None) => Err(StoreError::Closed {
                path: self.path.to_path_buf(),
            }),
        };
        if self.sender.send(result).is_err() {
            tracing::debug!("the caller of a write was dropped");
        }
    }
}

/// Runs `query` in a savepoint, and undoes its changes if it fails. Other changes in the transaction are kept.
fn in_savepoint<T>(
    connection: &Connection,
    query: impl FnOnce(&Connection) -> Result<T, QueryError>,
) -> Result<T, QueryError> {
    let execute = |sql| connection.prepare_cached(sql)?.execute([]);
    execute("SAVEPOINT job")?;
    match query(connection) {
        Ok(value) => {
            execute("RELEASE job")?;
            Ok(value)
        }
        Err(error) => {
            // If SQLite has rolled back the whole transaction, the savepoint is gone. Rolling back to it would fail, and this
            // second error would replace the cause.
            if !connection.is_autocommit() {
                execute("ROLLBACK TO job")?;
                execute("RELEASE job")?;
            }
            Err(error)
        }
    }
}

#[cfg(test)]
mod tests;
