//! The format of the database, and the migrations from older formats.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::fault::Fault;
use super::journal;
use crate::error::StoreError;
use crate::fail_point::FailPoint;

/// `ARTS` in ASCII. Marks a database as one of this host.
pub(super) const APPLICATION_ID: i32 = 0x4152_5453;

/// A migration from one format to the next.
pub(super) struct Migration {
    script: &'static str,
    /// Does what SQL cannot do, after the script and in the same transaction.
    finish: fn(&Connection) -> Result<(), Fault>,
}

impl Migration {
    const fn script(script: &'static str) -> Self {
        Self {
            script,
            finish: |_| Ok(()),
        }
    }
}

/// The migrations in the order of the formats. A migration is never changed after a release.
pub(super) const MIGRATIONS: &[Migration] = &[
    Migration::script(include_str!("migrations/0001.sql")),
    Migration::script(include_str!("migrations/0002.sql")),
    Migration::script(include_str!("migrations/0003.sql")),
    Migration::script(include_str!("migrations/0004.sql")),
    Migration {
        script: include_str!("migrations/0005.sql"),
        finish: journal::add_digests,
    },
];

/// Migrates the database to the format after the last of `migrations`, with one transaction for each step.
pub(super) fn migrate(connection: &mut Connection, path: &Path, migrations: &[Migration]) -> Result<(), StoreError> {
    loop {
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|error| Fault::from(error).at(path))?;
        let format = read_format(&transaction, path, migrations.len())?;
        let Some(migration) = usize::try_from(format).ok().and_then(|format| migrations.get(format)) else {
            return Ok(());
        };
        let step = || {
            transaction.execute_batch(migration.script)?;
            (migration.finish)(&transaction)?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            transaction.pragma_update(None, "user_version", format + 1)?;
            FailPoint::BeforeMigration.reach();
            Ok::<_, Fault>(transaction.commit()?)
        };
        step().map_err(|fault| fault.at(path))?;
        tracing::info!(path = %path.display(), format = format + 1, "migrated the database");
    }
}

/// Refuses a database of another program, of a newer format, or with damage. Changes nothing.
pub(super) fn inspect(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let application = connection.pragma_query_value(None, "application_id", |row| row.get::<_, i32>(0));
    if application.map_err(|error| Fault::from(error).at(path))? != APPLICATION_ID {
        return Err(StoreError::NotOurs {
            path: path.to_owned(),
            source: None,
        });
    }
    if read_format(connection, path, MIGRATIONS.len())? == 0 {
        return Err(damaged(path, "it has no format number".to_owned()));
    }
    let report = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    match report {
        Ok(report) if report == "ok" => Ok(()),
        Ok(report) => Err(damaged(path, report.replace('\n', " "))),
        Err(error) => Err(Fault::from(error).at(path)),
    }
}

/// Adds temporary views and tables for the columns and the tables of blobs that a database of an older format lacks. For connections
/// that only read. The queries of other tables that may be missing look for them first.
pub(super) fn add_missing(connection: &Connection) -> Result<(), Fault> {
    let format: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if format < 5 {
        connection.execute_batch(include_str!("older.sql"))?;
    }
    match format {
        1 => connection.execute_batch(
            "CREATE TEMP TABLE blob_uses (run INTEGER, digest TEXT); CREATE TEMP TABLE blobs (digest TEXT, bytes BLOB)",
        )?,
        2..5 => connection.execute_batch("CREATE TEMP VIEW blob_uses AS SELECT run, digest FROM main.blobs")?,
        _ => {}
    }
    Ok(())
}

/// Returns the format of the database. Fails if it is newer than `supported`.
fn read_format(connection: &Connection, path: &Path, supported: usize) -> Result<i64, StoreError> {
    let found = connection
        .pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))
        .map_err(|error| Fault::from(error).at(path))?;
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

    fn format(connection: &Connection) -> i64 {
        read_format(connection, Path::new("x"), usize::MAX).unwrap()
    }

    #[test]
    fn each_migration_runs_once_and_in_order() {
        let mut connection = Connection::open_in_memory().unwrap();
        let path = Path::new("x");
        let migrations = ["CREATE TABLE a (x)", "INSERT INTO a VALUES (1)"].map(Migration::script);
        migrate(&mut connection, path, &migrations[..1]).unwrap();
        migrate(&mut connection, path, &migrations).unwrap();
        migrate(&mut connection, path, &migrations).unwrap();
        assert_eq!(format(&connection), 2);
        let rows = connection.query_row("SELECT count(*) FROM a", [], |row| row.get::<_, i64>(0));
        assert_eq!(rows.unwrap(), 1);
    }

    #[test]
    fn a_failed_migration_leaves_the_database_in_the_format_before_it() {
        let mut connection = Connection::open_in_memory().unwrap();
        let path = Path::new("x");
        let broken = [
            "CREATE TABLE a (x)",
            "CREATE TABLE b (x); INSERT INTO missing VALUES (1)",
        ]
        .map(Migration::script);
        assert!(migrate(&mut connection, path, &broken).is_err());
        assert_eq!(format(&connection), 1);
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

    fn assert_readable(connection: &Connection) {
        assert_eq!(runs::get(connection, "r").unwrap().unwrap().query, "q");
        assert_eq!(journal::read(connection, "r").unwrap().len(), 1);
        assert_eq!(blobs::get(connection, "t", "blake3:0").unwrap(), None);
        assert!(blobs::run_room(connection, "r").unwrap() > 0);
    }

    #[test]
    fn a_database_of_each_older_format_can_be_migrated() {
        for format in 1..MIGRATIONS.len() {
            let mut connection = database(format);
            // Counts the entry in the row of the run, as the host does.
            connection
                .execute_batch("UPDATE runs SET entries = 1, bytes = 1")
                .unwrap();
            migrate(&mut connection, Path::new("x"), MIGRATIONS).unwrap();
            assert_readable(&connection);
        }
    }

    #[test]
    fn a_database_of_each_older_format_can_be_read() {
        for format in 1..MIGRATIONS.len() {
            let connection = database(format);
            add_missing(&connection).unwrap();
            assert_readable(&connection);
        }
    }
}
