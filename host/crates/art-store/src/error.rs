//! Errors of a store.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::record::RunState;

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A write names a thread that does not exist.
    #[error("there is no thread `{thread_id}`: create it first")]
    UnknownThread {
        /// The thread.
        thread_id: String,
    },
    /// A write names a run that does not exist.
    #[error("there is no run `{trace_id}`: begin it first")]
    UnknownRun {
        /// The run.
        trace_id: String,
    },
    /// The identifier is taken.
    #[error("there is already a {what} `{id}`: use another identifier")]
    AlreadyExists {
        /// `thread`, `message` or `run`.
        what: &'static str,
        /// Its identifier.
        id: String,
    },
    /// A message was to be added to a thread that it does not belong to.
    #[error("message `{message_id}` belongs to thread `{actual}` and cannot be added to thread `{thread_id}`")]
    ForeignMessage {
        /// The message.
        message_id: String,
        /// The thread it names.
        actual: String,
        /// The thread it was to be added to.
        thread_id: String,
    },
    /// Another writer was faster.
    #[error(
        "{what} `{id}` is at {}, not at {}: read it again before writing",
        position(*actual),
        position(*expected)
    )]
    Conflict {
        /// `the state of thread` or `the journal of run`.
        what: &'static str,
        /// Thread or run.
        id: String,
        /// Version of the state, or last sequence of the journal, that the caller expects; `None` for none yet.
        expected: Option<u64>,
        /// Actual version or sequence.
        actual: Option<u64>,
    },
    /// The run has ended for good.
    #[error("run `{trace_id}` has ended with `{}`: begin another one", status.name())]
    RunEnded {
        /// The run.
        trace_id: String,
        /// How it ended.
        status: RunState,
    },
    /// The run does not wait for a person, or no longer.
    #[error("run `{trace_id}` is `{}`, not `suspended`: there is nothing to resume", status.name())]
    NotSuspended {
        /// The run.
        trace_id: String,
        /// The stage of the run.
        status: RunState,
    },
    /// A name or a number is out of bounds.
    #[error("{what} `{value}` {problem}")]
    Invalid {
        /// Kind of the value.
        what: &'static str,
        /// The value, cut short.
        value: String,
        /// The problem, and a value that would be right.
        problem: &'static str,
    },
    /// A value is over [`MAX_VALUE_BYTES`](crate::limits::MAX_VALUE_BYTES).
    #[error("{what} of `{id}` has more than {maximum} bytes: shorten it")]
    TooLarge {
        /// Kind of the value.
        what: &'static str,
        /// Identifier of its owner.
        id: String,
        /// The most that is taken.
        maximum: usize,
    },
    /// JSON is nested deeper than [`MAX_JSON_DEPTH`](crate::limits::MAX_JSON_DEPTH).
    #[error("{what} of `{id}` is nested deeper than {maximum}: flatten it")]
    TooDeep {
        /// Kind of the value.
        what: &'static str,
        /// Identifier of its owner.
        id: String,
        /// The deepest that is taken.
        maximum: usize,
    },
    /// The journal of a run is at [`MAX_JOURNAL_ENTRIES`](crate::limits::MAX_JOURNAL_ENTRIES) or
    /// [`MAX_JOURNAL_BYTES`](crate::limits::MAX_JOURNAL_BYTES).
    #[error("the journal of run `{trace_id}` is full: end the run and begin another one")]
    JournalFull {
        /// The run.
        trace_id: String,
    },
    /// The blobs of a run are at [`MAX_RUN_BLOB_BYTES`](crate::limits::MAX_RUN_BLOB_BYTES).
    #[error("run `{trace_id}` keeps as many bytes of files and logs as it may: begin another one")]
    BlobsFull {
        /// The run.
        trace_id: String,
    },
    /// A value could not be written as JSON.
    #[error("failed to write {what} of `{id}` as JSON")]
    Encode {
        /// Kind of the value.
        what: &'static str,
        /// Identifier of its owner.
        id: String,
        /// The cause.
        source: serde_json::Error,
    },
    /// A stored value cannot be read by this host.
    #[error("failed to read {what} of `{id}`: the stored value is not one that this host writes")]
    Decode {
        /// Kind of the value.
        what: &'static str,
        /// Identifier of its owner.
        id: String,
        /// The cause.
        source: serde_json::Error,
    },
    /// Another host has the database open.
    #[error("the database `{}` is in use by another process: stop it or use another --home", path.display())]
    InUse {
        /// The database.
        path: PathBuf,
    },
    /// Another program held the database too long.
    #[error("the database `{}` is locked by another process: close it and try again", path.display())]
    Busy {
        /// The database.
        path: PathBuf,
        /// The cause.
        source: Arc<rusqlite::Error>,
    },
    /// The disk or a quota is full. The write was not made; the store works again when there is space.
    #[error("there is no space left for the database `{}`: free some and try again", path.display())]
    NoSpace {
        /// The database.
        path: PathBuf,
        /// The cause.
        source: Arc<rusqlite::Error>,
    },
    /// The file is not a database of this host. It is left unchanged.
    #[error("`{}` is not a database of this host: move it away or use another --home", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
        /// What SQLite says, where it was asked.
        source: Option<Arc<rusqlite::Error>>,
    },
    /// The database was written by a newer host. It is left as it is.
    #[error(
        "the database `{}` has format {found}, this host knows up to {known}: use a newer art or another --home",
        path.display()
    )]
    NewerFormat {
        /// The database.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest this host knows.
        known: i64,
    },
    /// The database is damaged. It is left as it is.
    #[error("the database `{}` is damaged ({detail}): restore a backup or use another --home", path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// The reason.
        detail: String,
        /// What SQLite says, where it was asked.
        source: Option<Arc<rusqlite::Error>>,
    },
    /// The database may have lost a write that the system had accepted, so no more writes are made. Opening it again
    /// shows what was kept.
    #[error("writing to the database `{}` failed and it takes no more writes: check the disk and restart", path.display())]
    Poisoned {
        /// The database.
        path: PathBuf,
        /// The first failure.
        source: Arc<rusqlite::Error>,
    },
    /// Any other failure of SQLite.
    #[error("the database `{}` failed: check the disk and the permissions of the file", path.display())]
    Sqlite {
        /// The database.
        path: PathBuf,
        /// The cause.
        source: Arc<rusqlite::Error>,
    },
    /// A file operation failed.
    #[error("failed to {action} `{}`", path.display())]
    Io {
        /// The action.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The store was opened for reading.
    #[error("the database `{}` is open for reading only", path.display())]
    ReadOnly {
        /// The database.
        path: PathBuf,
    },
    /// A thread of the store has stopped; only a defect of the host can do that.
    #[error("the database `{}` was closed: restart the host", path.display())]
    Closed {
        /// The database.
        path: PathBuf,
    },
}

fn position(position: Option<u64>) -> String {
    position.map_or_else(|| "none".to_owned(), |position| format!("`{position}`"))
}
