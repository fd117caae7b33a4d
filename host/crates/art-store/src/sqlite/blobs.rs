//! Queries for blobs. The table `blob_uses` says which runs use a blob, and a trigger deletes a blob with its last use.

use rusqlite::{Connection, params};

use super::fault::QueryError;
use super::row::{execute, get_u64, query_all, query_first};
use crate::blob::{self, Blob};

/// Stores blobs for a run, except for those that the run has already. `run_key` is the primary key of the run.
pub(super) fn put(connection: &Connection, run_key: i64, trace_id: &str, blobs: &[Blob]) -> Result<(), QueryError> {
    if blobs.is_empty() {
        return Ok(());
    }
    let mut room = remaining_room(connection, trace_id)?;
    for blob in blobs {
        let (digest, bytes) = (blob.digest(), blob.bytes());
        let find_use = "SELECT 1 FROM blob_uses WHERE run = ?1 AND digest = ?2";
        if query_first(connection, find_use, params![run_key, digest], |_| Ok(()))?.is_some() {
            continue;
        }
        room = blob::take_room(trace_id, room, bytes)?;
        let insert_blob = "INSERT INTO blobs (digest, bytes) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        execute(connection, insert_blob, params![digest, bytes])?;
        let insert_use = "INSERT INTO blob_uses (run, digest) VALUES (?1, ?2)";
        execute(connection, insert_use, params![run_key, digest])?;
    }
    Ok(())
}

/// Returns how many bytes of blobs a run can still store.
pub(super) fn remaining_room(connection: &Connection, trace_id: &str) -> Result<u64, QueryError> {
    let sizes = query_all(
        connection,
        "SELECT length(b.bytes) FROM runs r JOIN blob_uses u ON u.run = r.seq JOIN blobs b ON b.digest = u.digest
         WHERE r.trace_id = ?1",
        [trace_id],
        |row| Ok(get_u64(row, 0)?),
    )?;
    Ok(blob::remaining_room(sizes.into_iter()))
}

/// Returns the bytes of a blob if a run of the thread uses it. Fails if somebody changed the bytes, so that they no longer have
/// this digest.
pub(super) fn get(connection: &Connection, thread_id: &str, digest: &str) -> Result<Option<Vec<u8>>, QueryError> {
    let bytes = query_first(
        connection,
        "SELECT b.bytes FROM threads t JOIN runs r ON r.thread = t.seq JOIN blob_uses u ON u.run = r.seq
         JOIN blobs b ON b.digest = u.digest WHERE t.id = ?1 AND u.digest = ?2 LIMIT 1",
        [thread_id, digest],
        |row| Ok(row.get(0)?),
    )?;
    bytes.map(|bytes| Ok(blob::verify_digest(digest, bytes)?)).transpose()
}
