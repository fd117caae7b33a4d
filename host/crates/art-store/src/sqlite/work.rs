//! Queries for the model calls and tokens of steps and answers.

use art_core::usage::{ModelUsage, ModelWork};
use rusqlite::{Connection, params};

use super::fault::Fault;
use super::row::{execute, get_u64, limit_parameter, query_all, to_integer, to_name};
use crate::record::WorkRecord;

pub(super) fn record(connection: &Connection, run: i64, records: &[WorkRecord]) -> Result<(), Fault> {
    for WorkRecord { model, work, usage } in records {
        execute(
            connection,
            "INSERT INTO model_work (run, model, work, model_calls, input_tokens, output_tokens)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                run,
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

/// Finds the newest work of a model with an index and reads no other, however much is stored.
const LIST: &str = "SELECT model_calls, input_tokens, output_tokens FROM model_work
         WHERE model = ?1 AND work = ?2 ORDER BY seq DESC LIMIT ?3";

pub(super) fn list(
    connection: &Connection,
    model: &str,
    work: ModelWork,
    limit: Option<usize>,
) -> Result<Vec<ModelUsage>, Fault> {
    // A database that is opened for reading may have an older format, without this table.
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

    fn database(format: usize) -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, std::path::Path::new("x"), &MIGRATIONS[..format]).unwrap();
        connection
    }

    #[test]
    fn the_newest_work_of_a_model_is_found_without_reading_the_rest() {
        let connection = database(MIGRATIONS.len());
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {LIST}")).unwrap();
        let steps = statement
            .query_map(params!["m", "step", 5], |row| row.get::<_, String>(3))
            .unwrap();
        let steps: Vec<String> = steps.map(Result::unwrap).collect();
        let expected = "SEARCH model_work USING INDEX model_work_by_model (model=? AND work=?)";
        assert_eq!(steps, [expected]);
    }

    #[test]
    fn a_database_of_an_older_format_has_no_work() {
        assert_eq!(list(&database(3), "m", ModelWork::Step, None).unwrap(), []);
    }
}
