//! Queries for blobs.

use rusqlite::{Connection, params};

use super::fault::Fault;
use super::row::{execute, get_u64, query_first};
use super::runs;
use crate::blob;

pub(super) fn put(connection: &Connection, trace_id: &str, digest: &str, bytes: &[u8]) -> Result<(), Fault> {
    let run = runs::writable_key(connection, trace_id)?;
    let existing = "SELECT 1 FROM blobs WHERE run = ?1 AND digest = ?2";
    if query_first(connection, existing, params![run, digest], |_| Ok(()))?.is_some() {
        return Ok(());
    }
    let total = "SELECT coalesce(sum(length(bytes)), 0), count(*) FROM blobs WHERE run = ?1";
    let stored = query_first(connection, total, [run], |row| {
        Ok(blob::counted_size(get_u64(row, 0)?, get_u64(row, 1)?))
    })?;
    blob::check_size(trace_id, stored.unwrap_or_default(), bytes)?;
    let insert = "INSERT INTO blobs (run, digest, bytes) VALUES (?1, ?2, ?3)";
    execute(connection, insert, params![run, digest, bytes]).map(drop)
}

pub(super) fn get(connection: &Connection, thread_id: &str, digest: &str) -> Result<Option<Vec<u8>>, Fault> {
    query_first(
        connection,
        "SELECT b.bytes FROM threads t JOIN runs r ON r.thread = t.seq JOIN blobs b ON b.run = r.seq
         WHERE t.id = ?1 AND b.digest = ?2 LIMIT 1",
        [thread_id, digest],
        |row| Ok(row.get(0)?),
    )
}
