//! Queries for the resources that tool calls used.

use art_core::usage::ToolUsage;
use rusqlite::{Connection, params};

use super::fault::QueryError;
use super::row::{execute, get_u64, limit_parameter, query_all, to_integer};
use crate::record::CallRecord;

/// Stores calls of the run with that primary key.
pub(super) fn record(connection: &Connection, run_key: i64, calls: &[CallRecord]) -> Result<(), QueryError> {
    for CallRecord { tool_digest, usage } in calls {
        execute(
            connection,
            "INSERT INTO calls (run, tool_digest, fuel, peak_memory_bytes, wall_us, cpu_us, bytes_in, bytes_out, host_calls)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                run_key,
                tool_digest,
                to_integer(usage.fuel),
                to_integer(usage.peak_memory_bytes),
                to_integer(usage.wall_us),
                to_integer(usage.cpu_us),
                to_integer(usage.bytes_in),
                to_integer(usage.bytes_out),
                to_integer(usage.host_calls)
            ],
        )?;
    }
    Ok(())
}

/// Selects the newest calls of a tool. With the index of the table this reads no other calls, however many are stored.
pub(super) const LIST: &str =
    "SELECT fuel, peak_memory_bytes, wall_us, cpu_us, bytes_in, bytes_out, host_calls FROM calls
         WHERE tool_digest = ?1 ORDER BY seq DESC LIMIT ?2";

pub(super) fn list(
    connection: &Connection,
    tool_digest: &str,
    limit: Option<usize>,
) -> Result<Vec<ToolUsage>, QueryError> {
    // A database that is opened for reading only may have an older format, without this table.
    if !connection.table_exists(None, "calls")? {
        return Ok(Vec::new());
    }
    query_all(connection, LIST, params![tool_digest, limit_parameter(limit)], |row| {
        Ok(ToolUsage {
            fuel: get_u64(row, 0)?,
            peak_memory_bytes: get_u64(row, 1)?,
            wall_us: get_u64(row, 2)?,
            cpu_us: get_u64(row, 3)?,
            bytes_in: get_u64(row, 4)?,
            bytes_out: get_u64(row, 5)?,
            host_calls: get_u64(row, 6)?,
            // The HTTP requests of a call are stored in the journal only, since estimates do not use them.
            ..ToolUsage::default()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::migrate::{MIGRATIONS, migrate};

    const TOOL_DIGEST: &str = "d";
    const LIMIT: i64 = 5;
    /// The newest format of the database that has no table `calls`.
    const FORMAT_WITHOUT_CALLS: usize = 2;
    /// Position of the description of a step in a row of a query plan.
    const DESCRIPTION_COLUMN: usize = 3;

    #[test]
    fn the_newest_calls_of_a_tool_are_found_without_reading_the_others() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, std::path::Path::new("x"), MIGRATIONS).unwrap();
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {LIST}")).unwrap();
        let steps = statement
            .query_map(params![TOOL_DIGEST, LIMIT], |row| {
                row.get::<_, String>(DESCRIPTION_COLUMN)
            })
            .unwrap();
        let steps: Vec<String> = steps.map(Result::unwrap).collect();
        assert_eq!(steps, ["SEARCH calls USING INDEX calls_by_tool (tool_digest=?)"]);
    }

    #[test]
    fn a_database_of_a_format_without_the_table_of_calls_lists_no_calls() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(
            &mut connection,
            std::path::Path::new("x"),
            &MIGRATIONS[..FORMAT_WITHOUT_CALLS],
        )
        .unwrap();
        assert_eq!(list(&connection, TOOL_DIGEST, None).unwrap(), []);
    }
}
