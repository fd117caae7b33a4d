//! Queries that read and verify the journals of runs. A journal is the list of the events of a run; it is not the journal of
//! SQLite.

use rusqlite::{Connection, Row, params};

use super::fault::QueryError;
use super::row::{execute, get_u64, query_all, to_integer};
use super::runs;
use crate::chain;
use crate::error::StoreError;
use crate::record::JournalEntry;

const SELECT: &str = "SELECT sequence, timestamp, kind, payload, digest FROM journal
         WHERE run = (SELECT seq FROM runs WHERE trace_id = ?1) ORDER BY sequence";

// Positions of the columns in a row of `SELECT`.
const SEQUENCE: usize = 0;
const TIMESTAMP: usize = 1;
const KIND: usize = 2;
const PAYLOAD: usize = 3;
const DIGEST: usize = 4;

/// First format whose journals have digests.
const FIRST_FORMAT_WITH_DIGESTS: i64 = 5;

/// Returns the journal of a run, which is empty if the run does not exist. Fails if somebody changed the journal. This cannot be
/// seen if the database has a format without digests.
pub(super) fn read(connection: &Connection, trace_id: &str) -> Result<Vec<JournalEntry>, QueryError> {
    // One transaction, so that no commit falls between the reads of the run and of its entries.
    let transaction = connection.unchecked_transaction()?;
    let Some(run) = runs::get(&transaction, trace_id)? else {
        return Ok(Vec::new());
    };
    let format: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let has_digests = format >= FIRST_FORMAT_WITH_DIGESTS;
    let (mut last_digest, mut entries) = (chain::initial_digest(trace_id), Vec::new());
    let mut statement = transaction.prepare_cached(SELECT)?;
    let mut rows = statement.query([trace_id])?;
    while let Some(row) = rows.next()? {
        let expected_sequence = entries.len() as u64 + 1;
        last_digest = compute_digest(row, &last_digest)?;
        let sequence = get_u64(row, SEQUENCE)?;
        if has_digests && (sequence != expected_sequence || bytes(row, DIGEST)? != last_digest.as_bytes()) {
            return Err(broken_at(trace_id, expected_sequence));
        }
        entries.push(entry(row, last_digest.clone())?);
    }
    // `run.head` is the digest of the last entry that was written. It differs if entries are missing at the end.
    if has_digests && (run.head != last_digest || run.last_sequence != entries.len() as u64) {
        return Err(broken_at(trace_id, entries.len() as u64 + 1));
    }
    Ok(entries)
}

/// Computes and stores the digests of all journals, for the migration from a format without digests.
pub(super) fn add_digests(connection: &Connection) -> Result<(), QueryError> {
    let runs = query_all(connection, "SELECT seq, trace_id FROM runs", [], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
    })?;
    for (run_key, trace_id) in runs {
        let (mut last_digest, mut digests) = (chain::initial_digest(&trace_id), Vec::new());
        let mut statement = connection.prepare_cached(SELECT)?;
        let mut rows = statement.query([&trace_id])?;
        while let Some(row) = rows.next()? {
            last_digest = compute_digest(row, &last_digest)?;
            digests.push((get_u64(row, SEQUENCE)?, last_digest.clone()));
        }
        for (sequence, digest) in digests {
            let update = "UPDATE journal SET digest = ?3 WHERE run = ?1 AND sequence = ?2";
            execute(connection, update, params![run_key, to_integer(sequence), digest])?;
        }
        execute(
            connection,
            "UPDATE runs SET head = ?2 WHERE seq = ?1",
            params![run_key, last_digest],
        )?;
    }
    Ok(())
}

/// Computes the digest of the entry in a row. `previous` is the digest of the entry before it.
fn compute_digest(row: &Row<'_>, previous: &str) -> Result<String, QueryError> {
    let (sequence, timestamp) = (get_u64(row, SEQUENCE)?, get_u64(row, TIMESTAMP)?);
    Ok(chain::next_digest(
        previous,
        sequence,
        timestamp,
        bytes(row, KIND)?,
        bytes(row, PAYLOAD)?,
    ))
}

/// Returns the text in a column as bytes, since a text that somebody changed may not be valid UTF-8.
fn bytes<'a>(row: &'a Row<'_>, index: usize) -> Result<&'a [u8], QueryError> {
    Ok(row.get_ref(index)?.as_bytes().map_err(rusqlite::Error::from)?)
}

/// Returns the entry in a row, with its computed digest.
fn entry(row: &Row<'_>, digest: String) -> Result<JournalEntry, QueryError> {
    let payload = row.get_ref(PAYLOAD)?.as_str().map_err(rusqlite::Error::from)?;
    Ok(JournalEntry {
        sequence: get_u64(row, SEQUENCE)?,
        timestamp: get_u64(row, TIMESTAMP)?,
        kind: row.get(KIND)?,
        payload: payload.to_owned(),
        digest,
    })
}

fn broken_at(trace_id: &str, sequence: u64) -> QueryError {
    QueryError::Store(StoreError::BrokenChain {
        trace_id: trace_id.to_owned(),
        sequence,
    })
}
