//! Queries for model work: the model calls that carry out one step of a plan, or write one answer. The store keeps the number of
//! calls and tokens of each step and answer.

use art_core::usage::{ModelUsage, ModelWork};
use rusqlite::{Connection, params};

use super::fault::QueryError;
use super::row::{execute, get_u64, limit_parameter, query_all, to_integer, to_name};
use crate::record::WorkRecord;

/// Stores the model work of the run with that primary key.
pub(super) fn record(connection: &Connection, run_key: i64, records: &[WorkRecord]) -> Result<(), QueryError> {
    for WorkRecord { model, work, usage } in records {
        execute(
            connection,
            "INSERT INTO model_work (run, model, work, model_calls, input_tokens, output_tokens)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                run_key,
                model,
                to_name(work),
                to_integer(usage.model_calls),
                to_integer(usage.input_tokens),
                to_integer(usage.output_tokens)
            ],
        )?;
    }
    Ok(())
}

/// Selects the newest records of a model and of one kind of work, `step` or `answer`. With the index of the table this reads no
/// other rows, however many are stored.
const LIST: &str = "SELECT model_calls, input_tokens, output_tokens FROM model_work
         WHERE model = ?1 AND work = ?2 ORDER BY seq DESC LIMIT ?3";

pub(super) fn list(
    connection: &Connection,
    model: &str,
    work: ModelWork,
    limit: Option<usize>,
) -> Result<Vec<ModelUsage>, QueryError> {
    // A database that is opened for reading only may have an older format, without this table.
    if !connection.table_exists(None, "model_work")? {
        return Ok(Vec::new());
    }
    let parameters = params![model, to_name(work), limit_parameter(limit)];
    query_all(connection, LIST, parameters, |row| {
        Ok(ModelUsage {
            model_calls: get_u64(row, 0)?,
            input_tokens: get_u64(row, 1)?,
            output_tokens: get_u64(row, 2)?,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::migrate::{MIGRATIONS, migrate};

    const MODEL: &str = "m";
    const LIMIT: i64 = 5;
    const FORMAT_WITHOUT_WORK_TABLE: usize = 3;
    /// Position of the description in a row of a query plan.
    const DESCRIPTION_COLUMN: usize = 3;

    /// Returns an empty database of that format.
    fn database(format: usize) -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, std::path::Path::new("x"), &MIGRATIONS[..format]).unwrap();
        connection
    }

    #[test]
    fn the_newest_work_of_a_model_is_found_without_reading_the_rest() {
        let connection = database(MIGRATIONS.len());
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {LIST}")).unwrap();
        let query_plan = statement
            .query_map(params![MODEL, "step", LIMIT], |row| {
                row.get::<_, String>(DESCRIPTION_COLUMN)
            })
            .unwrap();
        let query_plan: Vec<String> = query_plan.map(Result::unwrap).collect();
        let expected = "SEARCH model_work USING INDEX model_work_by_model (model=? AND work=?)";
        assert_eq!(query_plan, [expected]);
    }

    #[test]
    fn a_database_of_a_format_without_the_table_of_model_work_lists_no_work() {
        assert_eq!(
            list(&database(FORMAT_WITHOUT_WORK_TABLE), MODEL, ModelWork::Step, None).unwrap(),
            []
        );
    }
}
