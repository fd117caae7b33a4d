//! Bytes by their digest.

use rusqlite::{Connection, params};

use super::fault::Fault;
use super::row::{change, one, unsigned};
use super::runs;
use crate::blob;

pub(super) fn put(connection: &Connection, trace_id: &str, digest: &str, bytes: &[u8]) -> Result<(), Fault> {
    let run = runs::open(connection, trace_id)?;
    let known = "SELECT 1 FROM blobs WHERE run = ?1 AND digest = ?2";
    if one(connection, known, params![run, digest], |_| Ok(()))?.is_some() {
        return Ok(());
    }
    let kept = "SELECT coalesce(sum(length(bytes)), 0), count(*) FROM blobs WHERE run = ?1";
    let kept = one(connection, kept, [run], |row| {
        Ok(blob::weight(unsigned(row, 0)?, unsigned(row, 1)?))
    })?;
    blob::fits(trace_id, kept.unwrap_or_default(), bytes)?;
    let added = "INSERT INTO blobs (run, digest, bytes) VALUES (?1, ?2, ?3)";
    change(connection, added, params![run, digest, bytes]).map(drop)
}

pub(super) fn get(connection: &Connection, thread_id: &str, digest: &str) -> Result<Option<Vec<u8>>, Fault> {
    one(
        connection,
        "SELECT b.bytes FROM threads t JOIN runs r ON r.thread = t.seq JOIN blobs b ON b.run = r.seq
         WHERE t.id = ?1 AND b.digest = ?2 LIMIT 1",
        [thread_id, digest],
        |row| Ok(row.get(0)?),
    )
}
