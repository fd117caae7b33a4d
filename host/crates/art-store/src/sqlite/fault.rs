//! Errors of queries, and how errors of SQLite become errors of the store.

use std::ffi::c_int;
use std::path::Path;
use std::sync::Arc;

use rusqlite::ErrorCode;

use crate::error::StoreError;

/// An error of a query: the store refuses the request, or SQLite failed. An error of SQLite becomes a [`StoreError`] with
/// [`QueryError::at`], which adds the path of the database.
#[derive(Debug)]
pub(super) enum QueryError {
    Store(StoreError),
    Sqlite(rusqlite::Error),
}

impl From<StoreError> for QueryError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<rusqlite::Error> for QueryError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl QueryError {
    /// Returns the error of the store for the database at `path`.
    pub(super) fn at(self, path: &Path) -> StoreError {
        match self {
            Self::Store(error) => error,
            Self::Sqlite(error) => to_store_error(path, Arc::new(error)),
        }
    }
}

/// Returns the error of SQLite with that code.
pub(super) fn sqlite_error(code: c_int) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None)
}

/// Returns the error of the store for an error of SQLite.
pub(super) fn to_store_error(path: &Path, source: Arc<rusqlite::Error>) -> StoreError {
    let path = path.to_owned();
    if lacks_space_for_index(&source) {
        return StoreError::NoSpace { path, source };
    }
    if is_damaged_value(&source) {
        return StoreError::Damaged {
            path,
            detail: "it has a value that this program never writes".to_owned(),
            source: Some(source),
        };
    }
    match source.sqlite_error_code() {
        // `FileLockingProtocolFailed` means that several processes used the index of the write-ahead log at the same moment.
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
            StoreError::Busy { path, source }
        }
        Some(ErrorCode::DiskFull) => StoreError::NoSpace { path, source },
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => StoreError::NotWritable { path, source },
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged {
            path,
            detail: "SQLite cannot read it".to_owned(),
            source: Some(source),
        },
        Some(ErrorCode::NotADatabase) => StoreError::NotOurs {
            path,
            source: Some(source),
        },
        _ => StoreError::Sqlite { path, source },
    }
}

/// Returns whether the error means that a row has a value of another type or range than the store writes.
fn is_damaged_value(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::Utf8Error(..)
    )
}

/// Returns whether the error means that there is no space for the index of the write-ahead log, which is the file with the suffix
/// `-shm`. SQLite calls that a failure of the disk, but nothing is lost: the index is rebuilt from the log.
fn lacks_space_for_index(error: &rusqlite::Error) -> bool {
    extended_code(error) == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
}

/// Returns whether a connection that only reads failed because a crash has interrupted a transaction. A connection that may write
/// has to undo this transaction before anybody can read the database.
pub(super) fn needs_rollback(error: &rusqlite::Error) -> bool {
    extended_code(error) == Some(rusqlite::ffi::SQLITE_READONLY_ROLLBACK)
}

fn extended_code(error: &rusqlite::Error) -> Option<c_int> {
    error.sqlite_error().map(|error| error.extended_code)
}

/// Returns whether all later writes have to be refused after this error. After a failed sync the system may have dropped data,
/// and the next sync would succeed without it. In a damaged file each write may cause more damage.
pub(super) fn is_fatal(error: &rusqlite::Error) -> bool {
    let is_disk_or_file_error = matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::SystemIoFailure | ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    );
    is_disk_or_file_error && !lacks_space_for_index(error)
}
