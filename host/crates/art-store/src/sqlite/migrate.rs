//! The format of the database, and the migrations from older formats.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::fault::QueryError;
use super::journal;
use crate::error::StoreError;
use crate::fail_point::FailPoint;

/// `ARTS` in ASCII. Marks a database as one of this host.
pub(super) const APPLICATION_ID: i32 = 0x4152_5453;

/// A migration from one format to the next.
pub(super) struct Migration {
    /// SQL statements.
    script: &'static str,
    /// Does what SQL cannot do, after the script and in the same transaction.
    finish: fn(&Connection) -> Result<(), QueryError>,
}

impl Migration {
    /// Creates a migration that only runs a script.
    const fn of_script(script: &'static str) -> Self {
        Self {
            script,
            finish: |_| Ok(()),
        }
    }
}

/// The migrations: the first one turns an empty database into format 1, the second one turns format 1 into format 2, and so on. A
/// migration is never changed after a release.
pub(super) const MIGRATIONS: &[Migration] = &[
    Migration::of_script(include_str!("migrations/0001.sql")),
    Migration::of_script(include_str!("migrations/0002.sql")),
    Migration::of_script(include_str!("migrations/0003.sql")),
    Migration::of_script(include_str!("migrations/0004.sql")),
    Migration {
        script: include_str!("migrations/0005.sql"),
        finish: journal::add_digests,
    },
];

/// Migrates the database to the newest format, which is the number of `migrations`. Makes each migration in a transaction of its
/// own. Does nothing if the database has that format already.
pub(super) fn migrate(connection: &mut Connection, path: &Path, migrations: &[Migration]) -> Result<(), StoreError> {
    loop {
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|error| QueryError::from(error).at(path))?;
        let format = read_format(&transaction, path, migrations.len())?;
        let Some(next_migration) = usize::try_from(format).ok().and_then(|format| migrations.get(format)) else {
            return Ok(());
        };
        let make_migration = || {
            transaction.execute_batch(next_migration.script)?;
            (next_migration.finish)(&transaction)?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            transaction.pragma_update(None, "user_version", format + 1)?;
            FailPoint::BeforeMigrationCommit.reach();
            Ok::<_, QueryError>(transaction.commit()?)
        };
        make_migration().map_err(|error| error.at(path))?;
        tracing::info!(path = %path.display(), format = format + 1, "migrated the database");
    }
}

/// Refuses a database of another program, of a newer format, or with damage. Changes nothing.
pub(super) fn inspect(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let application_id = connection.pragma_query_value(None, "application_id", |row| row.get::<_, i32>(0));
    if application_id.map_err(|error| QueryError::from(error).at(path))? != APPLICATION_ID {
        return Err(StoreError::NotOurs {
            path: path.to_owned(),
            source: None,
        });
    }
    if read_format(connection, path, MIGRATIONS.len())? <= 0 {
        return Err(damaged(path, "it has no format number".to_owned()));
    }
    let report = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    match report {
        Ok(report) if report == "ok" => Ok(()),
        Ok(report) => Err(damaged(path, report.replace('\n', " "))),
        Err(error) => Err(QueryError::from(error).at(path)),
    }
}

/// Lets the queries of the store read a database of an older format without migrating it: adds temporary views that take the
/// place of tables without the newest columns, and temporary tables or views for blobs. Other tables that may be missing, such
/// as `calls`, are not added: their queries first look whether they exist.
pub(super) fn add_missing_schema(connection: &Connection) -> Result<(), QueryError> {
    let format: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    // Format 5 added the columns of leases and of digests, and the table `blob_uses`.
    if format < 5 {
        connection.execute_batch(include_str!("older.sql"))?;
    }
    match format {
        // Format 1 has no blobs.
        1 => connection.execute_batch(
            "CREATE TEMP TABLE blob_uses (run INTEGER, digest TEXT); CREATE TEMP TABLE blobs (digest TEXT, bytes BLOB)",
        )?,
        // In these formats each run has rows of its own in `blobs`.
        2..5 => connection.execute_batch("CREATE TEMP VIEW blob_uses AS SELECT run, digest FROM main.blobs")?,
        _ => {}
    }
    Ok(())
}

/// Returns the format of the database. Fails if it is newer than `supported`.
fn read_format(connection: &Connection, path: &Path, supported: usize) -> Result<i64, StoreError> {
    let found = connection
        .pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))
        .map_err(|error| QueryError::from(error).at(path))?;
    let supported = i64::try_from(supported).unwrap_or(i64::MAX);
    if found > supported {
        return Err(StoreError::NewerFormat {
            path: path.to_owned(),
            found,
            supported,
        });
    }
    Ok(found)
}

fn damaged(path: &Path, detail: String) -> StoreError {
    StoreError::Damaged {
        path: path.to_owned(),
        detail,
        source: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::{blobs, runs};

    fn format_of(connection: &Connection) -> i64 {
        read_format(connection, Path::new("x"), usize::MAX).unwrap()
    }

    #[test]
    fn each_migration_runs_once_and_in_order() {
        let mut connection = Connection::open_in_memory().unwrap();
        let path = Path::new("x");
        let migrations = ["CREATE TABLE a (x)", "INSERT INTO a VALUES (1)"].map(Migration::of_script);
        migrate(&mut connection, path, &migrations[..1]).unwrap();
        migrate(&mut connection, path, &migrations).unwrap();
        migrate(&mut connection, path, &migrations).unwrap();
        assert_eq!(format_of(&connection), 2);
        let rows = connection.query_row("SELECT count(*) FROM a", [], |row| row.get::<_, i64>(0));
        assert_eq!(rows.unwrap(), 1);
    }

    #[test]
    fn a_failed_migration_changes_nothing_and_the_migrations_before_it_are_kept() {
        let mut connection = Connection::open_in_memory().unwrap();
        let path = Path::new("x");
        let second_fails = [
            "CREATE TABLE a (x)",
            "CREATE TABLE b (x); INSERT INTO missing VALUES (1)",
        ]
        .map(Migration::of_script);
        assert!(migrate(&mut connection, path, &second_fails).is_err());
        assert_eq!(format_of(&connection), 1);
        assert!(connection.execute_batch("SELECT * FROM b").is_err());
    }

    /// Returns a database of that format with a run `r` in a thread `t`. The journal of the run has one entry.
    fn database(format: usize) -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, Path::new("x"), &MIGRATIONS[..format]).unwrap();
        connection
            .execute_batch(
                "INSERT INTO threads (id, created, updated, config) VALUES ('t', 1, 1, '{}');
                 INSERT INTO runs (trace_id, thread, query, status, started, summary)
                 VALUES ('r', 1, 'q', 'running', 1, 'null');
                 INSERT INTO journal (run, sequence, timestamp, kind, payload) VALUES (1, 1, 1, 'k', '1')",
            )
            .unwrap();
        connection
    }

    /// Asserts that the data of [`database`] can be read, and that the queries of blobs work.
    fn assert_readable(connection: &Connection) {
        assert_eq!(runs::get(connection, "r").unwrap().unwrap().query, "q");
        assert_eq!(journal::read(connection, "r").unwrap().len(), 1);
        assert_eq!(blobs::get(connection, "t", "blake3:0").unwrap(), None);
        assert!(blobs::remaining_room(connection, "r").unwrap() > 0);
    }

    #[test]
    fn a_database_of_each_older_format_can_be_migrated() {
        for format in 1..MIGRATIONS.len() {
            let mut connection = database(format);
            // The row of the run has the number and the size of its journal entries, which `database` does not set.
            connection
                .execute_batch("UPDATE runs SET entries = 1, bytes = 1")
                .unwrap();
            migrate(&mut connection, Path::new("x"), MIGRATIONS).unwrap();
            assert_readable(&connection);
        }
    }

    #[test]
    fn a_database_of_each_older_format_can_be_read_without_migrating_it() {
        for format in 1..MIGRATIONS.len() {
            let connection = database(format);
            add_missing_schema(&connection).unwrap();
            assert_readable(&connection);
        }
    }
}
