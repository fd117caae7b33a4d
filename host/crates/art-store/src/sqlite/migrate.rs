//! The format of the database, and the migrations from older formats.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::fault::Fault;
use crate::error::StoreError;

/// `ARTS` in ASCII. Marks a database as one of this host.
pub(super) const APPLICATION_ID: i32 = 0x4152_5453;

/// Migration scripts, each from one format to the next. A script is never changed after a release.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    include_str!("migrations/0003.sql"),
    include_str!("migrations/0004.sql"),
];

/// Migrates the database to the newest format, with one transaction for each step.
pub(super) fn migrate(connection: &mut Connection, path: &Path, migrations: &[&str]) -> Result<(), StoreError> {
    loop {
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|error| Fault::from(error).at(path))?;
        let format = format_of(&transaction, path, migrations.len())?;
        let Some(script) = usize::try_from(format).ok().and_then(|format| migrations.get(format)) else {
            return Ok(());
        };
        let step = || {
            transaction.execute_batch(script)?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            transaction.pragma_update(None, "user_version", format + 1)?;
            transaction.commit()
        };
        step().map_err(|error| Fault::from(error).at(path))?;
        tracing::info!(path = %path.display(), format = format + 1, "migrated the database");
    }
}

/// Refuses a database that is of another program, newer or damaged. Changes nothing.
pub(super) fn inspect(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let application = connection.pragma_query_value(None, "application_id", |row| row.get::<_, i32>(0));
    if application.map_err(|error| Fault::from(error).at(path))? != APPLICATION_ID {
        return Err(StoreError::NotOurs {
            path: path.to_owned(),
            source: None,
        });
    }
    if format_of(connection, path, MIGRATIONS.len())? == 0 {
        return Err(damaged(path, "it has no format number".to_owned()));
    }
    let report = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    match report {
        Ok(report) if report == "ok" => Ok(()),
        Ok(report) => Err(damaged(path, report.replace('\n', " "))),
        Err(error) => Err(Fault::from(error).at(path)),
    }
}

fn format_of(connection: &Connection, path: &Path, supported: usize) -> Result<i64, StoreError> {
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

    fn format(connection: &Connection) -> i64 {
        format_of(connection, Path::new("x"), usize::MAX).unwrap()
    }

    #[test]
    fn each_migration_runs_once_and_in_order() {
        let mut connection = Connection::open_in_memory().unwrap();
        let path = Path::new("x");
        migrate(&mut connection, path, &["CREATE TABLE a (x)"]).unwrap();
        migrate(
            &mut connection,
            path,
            &["CREATE TABLE a (x)", "INSERT INTO a VALUES (1)"],
        )
        .unwrap();
        migrate(
            &mut connection,
            path,
            &["CREATE TABLE a (x)", "INSERT INTO a VALUES (1)"],
        )
        .unwrap();
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
        ];
        assert!(migrate(&mut connection, path, &broken).is_err());
        assert_eq!(format(&connection), 1);
        assert!(connection.execute_batch("SELECT * FROM b").is_err());
    }
}
