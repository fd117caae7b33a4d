//! Creates, checks and opens the file of a database, and takes the lock that is needed to create or migrate the database.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::checkpoint;
use super::fault::{QueryError, needs_rollback, sqlite_error};
use super::migrate::{APPLICATION_ID, MIGRATIONS, add_missing_schema, inspect, migrate};
use crate::error::StoreError;
use crate::fail_point::FailPoint;

/// How long a statement waits for another process that has locked the database.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Settings of every connection.
///
/// - `synchronous = FULL`: a commit that was acknowledged survives a power failure. `NORMAL` does not guarantee that
///   with a write-ahead log.
/// - `trusted_schema = OFF`: somebody may have tampered with the schema, so functions in it are not called.
/// - `wal_autocheckpoint = 0`: [`super::checkpoint`] copies the log into the database, and notices failures.
/// - `journal_size_limit`: the log is truncated to 64 MiB after a checkpoint; otherwise its file would stay as large as
///   the largest write.
const SETTINGS: &str = "
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA trusted_schema = OFF;
    PRAGMA cell_size_check = ON;
    PRAGMA secure_delete = ON;
    PRAGMA wal_autocheckpoint = 0;
    PRAGMA journal_size_limit = 67108864;
";

/// Number of prepared statements that a connection keeps. The store has more different statements than the default of 16.
const CACHED_STATEMENTS: usize = 64;

/// How long opening a database waits for another process that has the [`Guard`].
const GUARD_TIMEOUT: Duration = Duration::from_secs(5);

/// Time between two attempts to take the [`Guard`].
const GUARD_INTERVAL: Duration = Duration::from_millis(10);

/// The right to create or migrate the database, or to register a store as a [holder](super::holder) of leases. At most one store
/// has it at a time: it is a lock on the file with the suffix `-lock`, which the system releases when the process ends, even by a
/// crash.
#[derive(Debug)]
pub(super) struct Guard(#[expect(dead_code, reason = "the open file holds the lock")] File);

/// Takes the guard of the database. Waits while another process has it, at most [`GUARD_TIMEOUT`].
pub(super) fn take_guard(path: &Path) -> Result<Guard, StoreError> {
    let lock_path = with_suffix(path, "-lock");
    let file = art_files::open_or_create(&lock_path).map_err(|source| io_error("open", &lock_path, source))?;
    let deadline = Instant::now() + GUARD_TIMEOUT;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Guard(file)),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => thread::sleep(GUARD_INTERVAL),
            Err(TryLockError::WouldBlock) => return Err(busy_error(path)),
            Err(TryLockError::Error(source)) => return Err(io_error("lock", &lock_path, source)),
        }
    }
}

/// Returns the error for a database that other processes used for too long.
fn busy_error(path: &Path) -> StoreError {
    QueryError::from(sqlite_error(rusqlite::ffi::SQLITE_BUSY)).at(path)
}

/// Creates the directory of the database, for its owner only. An existing directory keeps its permissions.
pub(super) fn create_directory(path: &Path) -> Result<(), StoreError> {
    match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)
            .map_err(|source| io_error("create the directory", directory, source)),
        _ => Ok(()),
    }
}

/// Returns whether the path exists, even as a dangling link.
pub(super) fn exists(path: &Path) -> Result<bool, StoreError> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(io_error("read the metadata of", path, source)),
    }
}

/// Creates a new database in a temporary file and renames it when it is complete, so that a database is never empty or
/// partial.
pub(super) fn create(path: &Path) -> Result<(), StoreError> {
    for suffix in ["-wal", "-journal"] {
        let log = with_suffix(path, suffix);
        if exists(&log)? {
            // SQLite would apply the log of the lost database to the new one.
            let detail = format!("it is missing, but its log `{}` exists", log.display());
            return Err(StoreError::Damaged {
                path: path.to_owned(),
                detail,
                source: None,
            });
        }
    }
    let new_path = with_suffix(path, "-new");
    for suffix in ["", "-wal", "-journal", "-shm"] {
        remove_if_exists(&with_suffix(&new_path, suffix))?;
    }
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&new_path)
        .map_err(|source| io_error("create", &new_path, source))?;
    let mut connection = connect(&new_path)?;
    migrate(&mut connection, &new_path, MIGRATIONS)?;
    // Closing the connection also copies the log into the database, but ignores failures. What is only in the log would then be
    // lost, since the log is not renamed.
    checkpoint::copy_whole_log(&connection).map_err(|error| QueryError::from(error).at(&new_path))?;
    connection
        .close()
        .map_err(|(_, error)| QueryError::from(error).at(&new_path))?;
    file.sync_all().map_err(|source| io_error("sync", &new_path, source))?;
    FailPoint::BeforeRename.reach();
    fs::rename(&new_path, path).map_err(|source| io_error("rename the new database to", path, source))?;
    sync_directory(path)
}

fn remove_if_exists(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error("remove", path, error)),
        _ => Ok(()),
    }
}

/// Makes the name of a file durable by a sync of its directory.
fn sync_directory(path: &Path) -> Result<(), StoreError> {
    let directory = match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    };
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(|source| io_error("sync the directory", directory, source))
}

/// Refuses a path that is not a regular file, and a file that others can write: they could change what runs did and what people
/// have decided.
pub(super) fn check_is_file(path: &Path) -> Result<(), StoreError> {
    let metadata = fs::metadata(path).map_err(|source| io_error("read the metadata of", path, source))?;
    if !metadata.is_file() {
        return Err(not_ours_error(path));
    }
    match art_files::writable_by_others(&metadata) {
        None => Ok(()),
        Some(problem) => Err(StoreError::NotPrivate {
            path: path.to_owned(),
            problem,
        }),
    }
}

/// Refuses a file that is not a database of this host. Call this before SQLite opens the file for use: SQLite would take an empty
/// file for an empty database, and would apply the log of another program's database.
pub(super) fn check_header(path: &Path) -> Result<(), StoreError> {
    check_is_file(path)?;
    // SQLite reads the file here. If this function opened and closed the file itself, the system would release the locks of all
    // connections that this process has to the file. `immutable` ignores the log and takes no locks.
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let application_id = Connection::open_with_flags(immutable_uri(path), flags).and_then(|connection| {
        // A checkpoint in progress, or one that a crash interrupted, leaves a file that is shorter than its header says. The log
        // has the rest, so the file is not damaged. Without this setting, SQLite would report damage.
        connection.pragma_update(None, "writable_schema", true)?;
        connection.pragma_query_value(None, "application_id", |row| row.get::<_, i32>(0))
    });
    match application_id {
        Ok(APPLICATION_ID) => Ok(()),
        Ok(_) => Err(not_ours_error(path)),
        Err(error) => Err(QueryError::from(error).at(path)),
    }
}

/// Returns the URI with which SQLite opens a database as a file that never changes.
fn immutable_uri(path: &Path) -> PathBuf {
    let mut uri = b"file:".to_vec();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'%' | b'?' | b'#' => uri.extend_from_slice(format!("%{byte:02x}").as_bytes()),
            byte => uri.push(*byte),
        }
    }
    uri.extend_from_slice(b"?immutable=1");
    OsString::from_vec(uri).into()
}

fn not_ours_error(path: &Path) -> StoreError {
    StoreError::NotOurs {
        path: path.to_owned(),
        source: None,
    }
}

/// Refuses a database that is damaged or too new, without writing to it. There is one exception: in a database without a
/// write-ahead log, a transaction that a crash interrupted is undone first, since nobody can read the database before.
pub(super) fn check_content(path: &Path) -> Result<(), StoreError> {
    let inspect_read_only = || inspect(&connect_read_only(path)?, path);
    match inspect_read_only() {
        Err(StoreError::NotWritable { source, .. }) if needs_rollback(&source) => {
            roll_back(path).map_err(|error| QueryError::from(error).at(path))?;
            inspect_read_only()
        }
        result => result,
    }
}

/// Undoes the interrupted transaction, which a connection that only reads cannot do.
fn roll_back(path: &Path) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = open_configured(path, flags)?;
    // SQLite undoes the transaction at the first read of a connection that may write.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
}

/// Removes the permissions of other users from the database.
pub(super) fn restrict_permissions(path: &Path) -> Result<(), StoreError> {
    let mode = fs::metadata(path)
        .map_err(|source| io_error("read the metadata of", path, source))?
        .permissions()
        .mode();
    if mode & 0o077 == 0 {
        return Ok(());
    }
    fs::set_permissions(path, Permissions::from_mode(0o600))
        .map_err(|source| io_error("restrict the permissions of", path, source))
}

/// Opens the connection that writes.
pub(super) fn connect(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connect = || {
        let connection = open_configured(path, flags)?;
        // If the file cannot be written, SQLite opens it for reading only, and the first write would fail.
        if connection.is_readonly("main")? {
            return Err(sqlite_error(rusqlite::ffi::SQLITE_READONLY).into());
        }
        let mode = connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0))?;
        if mode != "wal" {
            tracing::warn!(path = %path.display(), mode, "the file system does not support a write-ahead log");
        }
        Ok::<_, QueryError>(connection)
    };
    connect().map_err(|error| error.at(path))
}

/// Opens a connection that only reads, to check the database. If the database has an older format, the queries of the store may
/// not work: they need a connection of [`connect_reader`].
pub(super) fn connect_read_only(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    open_configured(path, flags).map_err(|error| QueryError::from(error).at(path))
}

/// Opens the connection of a reader thread, which only reads. If the database has an older format, adds what the queries of the
/// store need and the database lacks.
pub(super) fn connect_reader(path: &Path) -> Result<Connection, StoreError> {
    let connection = connect_read_only(path)?;
    add_missing_schema(&connection).map_err(|error| error.at(path))?;
    Ok(connection)
}

fn open_configured(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.execute_batch(SETTINGS)?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    Ok(connection)
}

pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

pub(super) fn io_error(action: &'static str, path: &Path, source: io::Error) -> StoreError {
    StoreError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_writing_connection_has_durable_and_safe_settings() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("art.db");
        create(&path).unwrap();
        let connection = connect(&path).unwrap();
        let setting = |name| {
            connection
                .pragma_query_value(None, name, |row| row.get::<_, i64>(0))
                .unwrap()
        };
        for (name, value) in [
            // 2 is `FULL`.
            ("synchronous", 2),
            ("foreign_keys", 1),
            ("trusted_schema", 0),
            ("cell_size_check", 1),
            ("secure_delete", 1),
            ("wal_autocheckpoint", 0),
            ("busy_timeout", 5_000),
        ] {
            assert_eq!(setting(name), value, "{name}");
        }
        let mode = connection.pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0));
        assert_eq!(mode.unwrap(), "wal");
    }

    /// Copies the newest version of page 1 from the log into the database, as a checkpoint does at its beginning.
    fn begin_checkpoint(path: &Path) {
        const LOG_HEADER_BYTES: usize = 32;
        const FRAME_HEADER_BYTES: usize = 24;
        const PAGE_BYTES: usize = 4_096;
        let log = fs::read(with_suffix(path, "-wal")).unwrap();
        let mut frames = log[LOG_HEADER_BYTES..].chunks_exact(FRAME_HEADER_BYTES + PAGE_BYTES);
        // A frame begins with the number of its page.
        let page_1 = frames.rfind(|frame| frame[..4] == 1_u32.to_be_bytes());
        let mut database = fs::read(path).unwrap();
        database[..PAGE_BYTES].copy_from_slice(&page_1.unwrap()[FRAME_HEADER_BYTES..]);
        fs::write(path, database).unwrap();
    }

    #[test]
    fn a_database_whose_checkpoint_was_interrupted_is_not_damaged() {
        let directory = tempfile::tempdir().unwrap();
        let (path, crashed) = (directory.path().join("art.db"), directory.path().join("crashed.db"));
        create(&path).unwrap();
        let connection = connect(&path).unwrap();
        let fill_large_table = "CREATE TABLE large (x); INSERT INTO large VALUES (randomblob(100000))";
        connection.execute_batch(fill_large_table).unwrap();
        for suffix in ["", "-wal"] {
            fs::copy(with_suffix(&path, suffix), with_suffix(&crashed, suffix)).unwrap();
        }
        begin_checkpoint(&crashed);
        check_header(&crashed).unwrap();
        check_content(&crashed).unwrap();
        let recovered = connect(&crashed).unwrap();
        let bytes = recovered.query_row("SELECT length(x) FROM large", [], |row| row.get::<_, i64>(0));
        assert_eq!(bytes.unwrap(), 100_000);
    }

    #[test]
    fn a_read_only_connection_cannot_write() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("art.db");
        create(&path).unwrap();
        let connection = connect_read_only(&path).unwrap();
        assert!(connection.execute("DELETE FROM threads", []).is_err());
    }
}
