//! Queries for the usage of tool calls.

use art_core::usage::Usage;
use rusqlite::{Connection, params};

use super::fault::Fault;
use super::row::{execute, get_u64, limit_parameter, query_all, to_integer};
use crate::record::CallRecord;

pub(super) fn record(connection: &Connection, run: i64, calls: &[CallRecord]) -> Result<(), Fault> {
    for CallRecord { tool_digest, usage } in calls {
        execute(
            connection,
            "INSERT INTO calls (run, tool_digest, fuel, peak_memory_bytes, wall_us, cpu_us, bytes_in, bytes_out, host_calls)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                run,
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

/// Finds the newest calls of a tool with an index and reads no others, however many are stored.
pub(super) const LIST: &str =
    "SELECT fuel, peak_memory_bytes, wall_us, cpu_us, bytes_in, bytes_out, host_calls FROM calls
         WHERE tool_digest = ?1 ORDER BY seq DESC LIMIT ?2";

pub(super) fn list(connection: &Connection, tool_digest: &str, limit: Option<usize>) -> Result<Vec<Usage>, Fault> {
    // A database that is opened for reading may have an older format, without this table.
    if !connection.table_exists(None, "calls")? {
        return Ok(Vec::new());
    }
    query_all(connection, LIST, params![tool_digest, limit_parameter(limit)], |row| {
        Ok(Usage {
            fuel: get_u64(row, 0)?,
            peak_memory_bytes: get_u64(row, 1)?,
            wall_us: get_u64(row, 2)?,
            cpu_us: get_u64(row, 3)?,
            bytes_in: get_u64(row, 4)?,
            bytes_out: get_u64(row, 5)?,
            host_calls: get_u64(row, 6)?,
            // The HTTP requests of a call are stored in the journal only, since estimates do not use them.
            ..Usage::default()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::migrate::{MIGRATIONS, migrate};

    #[test]
    fn the_newest_calls_of_a_tool_are_found_without_reading_the_others() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, std::path::Path::new("x"), MIGRATIONS).unwrap();
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {LIST}")).unwrap();
        let steps = statement
            .query_map(params!["d", 5], |row| row.get::<_, String>(3))
            .unwrap();
        let steps: Vec<String> = steps.map(Result::unwrap).collect();
        assert_eq!(steps, ["SEARCH calls USING INDEX calls_by_tool (tool_digest=?)"]);
    }

    #[test]
    fn a_database_of_an_older_format_has_no_calls() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, std::path::Path::new("x"), &MIGRATIONS[..2]).unwrap();
        assert_eq!(list(&connection, "d", None).unwrap(), []);
    }
}
