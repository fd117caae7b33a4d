//! Converts failures of SQLite to errors of the store.

use std::path::Path;
use std::sync::Arc;

use rusqlite::ErrorCode;

use crate::error::StoreError;

/// A failure of a query. It does not contain the path of the database yet.
#[derive(Debug)]
pub(super) enum Fault {
    Store(StoreError),
    Sqlite(rusqlite::Error),
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl Fault {
    /// Returns the error of the store for the database at `path`.
    pub(super) fn at(self, path: &Path) -> StoreError {
        match self {
            Self::Store(error) => error,
            Self::Sqlite(error) => classify(path, Arc::new(error)),
        }
    }
}

/// Returns the error of the store for an error of SQLite.
pub(super) fn classify(path: &Path, source: Arc<rusqlite::Error>) -> StoreError {
    let path = path.to_owned();
    match source.sqlite_error_code() {
        // The last one is a race of several processes for the index of the log.
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
            StoreError::Busy { path, source }
        }
        Some(ErrorCode::DiskFull) => StoreError::NoSpace { path, source },
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

/// Returns whether all later writes have to be refused. After a failed sync the system may have dropped data, and the
/// next sync would succeed without it. In a damaged file each write may cause more damage.
pub(super) fn is_fatal(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::SystemIoFailure | ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    )
}
