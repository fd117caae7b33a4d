//! Errors of a store.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use art_core::Timestamp;

use crate::record::RunState;

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A write is for a thread that does not exist.
    #[error("there is no thread `{thread_id}`: create it first")]
    UnknownThread {
        /// The thread.
        thread_id: String,
    },
    /// A write is for a run that does not exist.
    #[error("there is no run `{trace_id}`: begin it first")]
    UnknownRun {
        /// The run.
        trace_id: String,
    },
    /// The identifier is already in use.
    #[error("there is already a {what} `{id}`: use another identifier")]
    AlreadyExists {
        /// `thread`, `message`, `run` or `suspension`.
        what: &'static str,
        /// The identifier.
        id: String,
    },
    /// A message that names another thread was to be added to a thread.
    #[error("message `{message_id}` belongs to thread `{actual}` and cannot be added to thread `{thread_id}`")]
    ForeignMessage {
        /// The message.
        message_id: String,
        /// The thread that the message names.
        actual: String,
        /// The thread to which it was to be added.
        thread_id: String,
    },
    /// The value has another version than the caller expects: mostly because another writer changed it after the caller had read
    /// it.
    #[error(
        "{what} `{id}` has changed (expected {}, found {}): read it again before writing",
        describe_version(*expected),
        describe_version(*actual)
    )]
    Conflict {
        /// `the state of thread` or `the journal of run`.
        what: &'static str,
        /// Identifier of the thread or run.
        id: String,
        /// Version of the state, or last sequence of the journal, that the caller expects. `None` if the caller expects that
        /// the thread has no state.
        expected: Option<u64>,
        /// Actual version or sequence. `None` if the thread has no state.
        actual: Option<u64>,
    },
    /// Another caller holds the lease of the thread. In the message, a turn is a run in the thread.
    #[error("thread `{thread_id}` is in use by another turn: wait for it, or use another thread")]
    ThreadBusy {
        /// The thread.
        thread_id: String,
        /// Time at which the lease expires unless its holder renews it.
        until: Timestamp,
    },
    /// The lease was released, or somebody else has taken it after it expired or after the process of its holder ended.
    #[error("thread `{thread_id}` was taken over by another turn: read it again and begin another turn")]
    LeaseLost {
        /// The thread.
        thread_id: String,
    },
    /// The stored journal differs from the one that the host wrote.
    #[error("the journal of run `{trace_id}` was changed at event `{sequence}`: restore a backup or begin another run")]
    BrokenChain {
        /// The run.
        trace_id: String,
        /// Sequence of the first entry that is missing or differs.
        sequence: u64,
    },
    /// The stored bytes of a blob differ from the ones that the host wrote.
    #[error("the file or log `{digest}` was changed in the database: restore a backup or begin another run")]
    ChangedBlob {
        /// Digest of the blob.
        digest: String,
    },
    /// The run has ended and cannot be resumed.
    #[error("run `{trace_id}` has ended with `{}`: begin another one", status.name())]
    RunEnded {
        /// The run.
        trace_id: String,
        /// How it ended.
        status: RunState,
    },
    /// There is no suspension with that identifier in a thread of the person who asks.
    #[error("nothing waits for a decision with the identifier `{suspension_id}`: list what waits")]
    UnknownSuspension {
        /// Identifier, truncated.
        suspension_id: String,
    },
    /// Somebody has decided about the suspension before. Or a commit of the run uses a decision that the run has used already, or
    /// one that differs from the stored decision.
    #[error("`{suspension_id}` was decided already: the first decision holds")]
    AlreadyDecided {
        /// Identifier of the suspension.
        suspension_id: String,
    },
    /// A person decided too late, after the suspension had expired. This decision is not stored, and the run goes on with the
    /// default decision of the suspension.
    #[error("the time to decide about `{suspension_id}` is over: its run goes on with the default decision")]
    SuspensionExpired {
        /// Identifier of the suspension.
        suspension_id: String,
    },
    /// The host wants to store the default decision, in place of a person who did not decide in time, but the suspension has not
    /// expired yet.
    #[error("the time to decide about `{suspension_id}` is not over: a person can still decide")]
    SuspensionNotExpired {
        /// Identifier of the suspension.
        suspension_id: String,
    },
    /// A commit of the run uses a decision that nobody has stored.
    #[error("nobody has decided about `{suspension_id}`: store the decision before its run uses it")]
    NotDecided {
        /// Identifier of the suspension.
        suspension_id: String,
    },
    /// The run of the suspension ended before anybody decided.
    #[error("the run of `{suspension_id}` has ended: there is nothing left to decide")]
    SuspensionClosed {
        /// Identifier of the suspension.
        suspension_id: String,
    },
    /// A name, an identifier or a number is not allowed, or does not fit the rest of the request.
    #[error("{what} `{value}` {problem}")]
    Invalid {
        /// Kind of the value.
        what: &'static str,
        /// The value, truncated.
        value: String,
        /// What is wrong with it, and what is allowed.
        problem: &'static str,
    },
    /// A value is over [`MAX_VALUE_BYTES`](crate::limits::MAX_VALUE_BYTES).
    #[error("{what} of `{id}` has more than {maximum} bytes: shorten it")]
    TooLarge {
        /// Kind of the value.
        what: &'static str,
        /// Identifier of what the value belongs to, such as a thread, a run or a message.
        id: String,
        /// The maximum size in bytes.
        maximum: usize,
    },
    /// JSON is nested deeper than [`MAX_JSON_DEPTH`](crate::limits::MAX_JSON_DEPTH).
    #[error("{what} of `{id}` is nested deeper than {maximum}: flatten it")]
    TooDeep {
        /// Kind of the value.
        what: &'static str,
        /// Identifier of what the value belongs to, such as a thread, a run or a message.
        id: String,
        /// The maximum depth.
        maximum: usize,
    },
    /// The journal of a run would exceed [`MAX_JOURNAL_ENTRIES`](crate::limits::MAX_JOURNAL_ENTRIES) or
    /// [`MAX_JOURNAL_BYTES`](crate::limits::MAX_JOURNAL_BYTES).
    #[error("the journal of run `{trace_id}` is full: end the run and begin another one")]
    JournalFull {
        /// The run.
        trace_id: String,
    },
    /// The blobs of a run would exceed [`MAX_RUN_BLOB_BYTES`](crate::limits::MAX_RUN_BLOB_BYTES).
    #[error("run `{trace_id}` has reached the maximum size of its files and logs: begin another run")]
    BlobsFull {
        /// The run.
        trace_id: String,
    },
    /// A value could not be written as JSON.
    #[error("failed to write {what} of `{id}` as JSON")]
    Encode {
        /// Kind of the value.
        what: &'static str,
        /// Identifier of what the value belongs to, such as a thread, a run or a message.
        id: String,
        /// The cause.
        source: serde_json::Error,
    },
    /// A stored value cannot be parsed.
    #[error("failed to read {what} of `{id}`: this host did not write the stored value")]
    Decode {
        /// Kind of the value.
        what: &'static str,
        /// Identifier of what the value belongs to, such as a thread, a run or a message.
        id: String,
        /// The cause.
        source: serde_json::Error,
    },
    /// Another program locked the database for too long.
    #[error("the database `{}` is locked by another process: close it and try again", path.display())]
    Busy {
        /// The database.
        path: PathBuf,
        /// The cause.
        source: Arc<rusqlite::Error>,
    },
    /// The disk or a quota is full. The write failed; later writes succeed when there is space again.
    #[error("there is no space left for the database `{}`: free some space and try again", path.display())]
    NoSpace {
        /// The database.
        path: PathBuf,
        /// The cause.
        source: Arc<rusqlite::Error>,
    },
    /// The file, its folder or the file system can only be read.
    #[error("the database `{}` cannot be written: make it and its folder writable or use another --home", path.display())]
    NotWritable {
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
        /// The error of SQLite, if SQLite found the problem.
        source: Option<Arc<rusqlite::Error>>,
    },
    /// The database was written by a newer host. It is left unchanged.
    #[error(
        "the database `{}` has format {found}, this host supports up to {supported}: use a newer art or another --home",
        path.display()
    )]
    NewerFormat {
        /// The database.
        path: PathBuf,
        /// The format of the database.
        found: i64,
        /// The newest format that this host supports.
        supported: i64,
    },
    /// Others could change the database.
    #[error("the database `{}` is not private: {problem}: make it yours, and run `chmod 600` on it", path.display())]
    NotPrivate {
        /// The database.
        path: PathBuf,
        /// Why others can change it.
        problem: &'static str,
    },
    /// The database is damaged. It is left unchanged.
    #[error("the database `{}` is damaged ({detail}): restore a backup or use another --home", path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// The reason.
        detail: String,
        /// The error of SQLite, if SQLite found the problem.
        source: Option<Arc<rusqlite::Error>>,
    },
    /// An earlier failure may have lost a write that the system had accepted, so all later writes are refused. Opening
    /// the database again shows what is stored.
    #[error("an earlier write to the database `{}` failed, so no more writes are made: check the disk and restart", path.display())]
    Poisoned {
        /// The database.
        path: PathBuf,
        /// The first failure.
        source: Arc<rusqlite::Error>,
    },
    /// Any other failure of SQLite.
    #[error("the database `{}` failed: check the disk and the permissions of the file and its folder", path.display())]
    Sqlite {
        /// The database.
        path: PathBuf,
        /// The cause.
        source: Arc<rusqlite::Error>,
    },
    /// A file operation failed.
    #[error("failed to {action} `{}`{}", path.display(), advice(source))]
    Io {
        /// The action that failed.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The store was opened for reading only.
    #[error("the database `{}` is open for reading only", path.display())]
    ReadOnly {
        /// The database.
        path: PathBuf,
    },
    /// A worker thread of the store has stopped, which only a bug in the host can cause.
    #[error("the database `{}` was closed: restart the host", path.display())]
    Closed {
        /// The database.
        path: PathBuf,
    },
}

/// Returns the end of a message about a failed file operation: what to do about it, or nothing if there is no advice.
fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            ": make its folder writable or use another --home"
        }
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
            ": something else is there, move it away or use another --home"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ": free some space and try again",
        _ => "",
    }
}

fn describe_version(version: Option<u64>) -> String {
    version.map_or_else(|| "none".to_owned(), |version| format!("`{version}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the message about a lock file that cannot be opened.
    fn open_error(kind: io::ErrorKind) -> String {
        let error = StoreError::Io {
            action: "open",
            path: "/home/art.db-lock".into(),
            source: kind.into(),
        };
        error.to_string()
    }

    #[test]
    fn an_error_for_a_folder_that_cannot_be_written_has_advice() {
        let expected = "failed to open `/home/art.db-lock`: make its folder writable or use another --home";
        assert_eq!(open_error(io::ErrorKind::ReadOnlyFilesystem), expected);
        assert_eq!(open_error(io::ErrorKind::PermissionDenied), expected);
    }

    #[test]
    fn an_error_for_a_full_disk_has_advice() {
        let expected = "failed to open `/home/art.db-lock`: free some space and try again";
        assert_eq!(open_error(io::ErrorKind::StorageFull), expected);
    }

    #[test]
    fn an_error_for_a_missing_file_has_no_advice() {
        assert_eq!(
            open_error(io::ErrorKind::NotFound),
            "failed to open `/home/art.db-lock`"
        );
    }
}
