//! Copies the write-ahead log into the database. SQLite calls this a checkpoint.
//!
//! SQLite can do this by itself at the end of a commit, but then it ignores failures. To ignore a failed sync of the database
//! would lose data: the system forgets what it could not write, the next sync succeeds without that data, and then SQLite
//! overwrites the log, which had the only other copy of the data. So `wal_autocheckpoint` is off, and the writer thread copies
//! the log with this module and notices a failure.

use rusqlite::Connection;

use super::fault::sqlite_error;

/// The log is copied when it has this many pages that are not copied yet. SQLite has the same default; it is about 4 MiB.
const MAX_UNCOPIED_PAGES: i64 = 1_000;

/// Copies the log if it has become long. Pages that cannot be copied because of a reader stay in the log and are copied later.
pub(super) fn copy_long_log(connection: &Connection) -> rusqlite::Result<()> {
    // `NOOP` only counts the pages. If the database has no write-ahead log, both counts are -1, and nothing is copied.
    let counted = run_checkpoint(connection, "NOOP")?;
    if counted.pages - counted.copied >= MAX_UNCOPIED_PAGES {
        run_checkpoint(connection, "PASSIVE")?;
    }
    Ok(())
}

/// Copies the whole log, syncs the database and empties the log. Fails with `SQLITE_BUSY` if somebody uses the database.
pub(super) fn copy_whole_log(connection: &Connection) -> rusqlite::Result<()> {
    if run_checkpoint(connection, "TRUNCATE")?.is_busy {
        return Err(sqlite_error(rusqlite::ffi::SQLITE_BUSY));
    }
    Ok(())
}

/// The result of a checkpoint.
struct Checkpoint {
    /// Whether the checkpoint could not finish because another connection used the database.
    is_busy: bool,
    /// Number of pages in the log.
    pages: i64,
    /// Number of these pages that are in the database as well.
    copied: i64,
}

fn run_checkpoint(connection: &Connection, mode: &str) -> rusqlite::Result<Checkpoint> {
    let mut statement = connection.prepare_cached(&format!("PRAGMA wal_checkpoint({mode})"))?;
    statement.query_row([], |row| {
        Ok(Checkpoint {
            is_busy: row.get(0)?,
            pages: row.get(1)?,
            copied: row.get(2)?,
        })
    })
}
