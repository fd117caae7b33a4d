//! Queries that read journals and compute their digests.

use rusqlite::{Connection, Row, params};

use super::fault::Fault;
use super::row::{execute, get_u64, query_all, to_integer};
use super::runs;
use crate::chain;
use crate::error::StoreError;
use crate::record::JournalEntry;

const SELECT: &str = "SELECT sequence, timestamp, kind, payload, digest FROM journal
         WHERE run = (SELECT seq FROM runs WHERE trace_id = ?1) ORDER BY sequence";

/// First format whose journals have digests.
const FIRST_FORMAT_WITH_DIGESTS: i64 = 5;

/// Returns the journal of a run. Fails if it was changed, unless the database has a format without digests.
pub(super) fn read(connection: &Connection, trace_id: &str) -> Result<Vec<JournalEntry>, Fault> {
    // One transaction, so that no commit falls between the reads of the run and of its entries.
    let transaction = connection.unchecked_transaction()?;
    let Some(run) = runs::get(&transaction, trace_id)? else {
        return Ok(Vec::new());
    };
    let format: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let has_digests = format >= FIRST_FORMAT_WITH_DIGESTS;
    let (mut head, mut entries) = (chain::initial_digest(trace_id), Vec::new());
    let mut statement = transaction.prepare_cached(SELECT)?;
    let mut rows = statement.query([trace_id])?;
    while let Some(row) = rows.next()? {
        let sequence = entries.len() as u64 + 1;
        head = digest_after(row, &head)?;
        if has_digests && (get_u64(row, 0)? != sequence || bytes(row, 4)? != head.as_bytes()) {
            return Err(broken(trace_id, sequence));
        }
        entries.push(entry(row, head.clone())?);
    }
    if has_digests && (run.head != head || run.last_sequence != entries.len() as u64) {
        return Err(broken(trace_id, entries.len() as u64 + 1));
    }
    Ok(entries)
}

/// Computes the digests of all journals, for the migration from a format without them.
pub(super) fn add_digests(connection: &Connection) -> Result<(), Fault> {
    let runs = query_all(connection, "SELECT seq, trace_id FROM runs", [], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
    })?;
    for (run, trace_id) in runs {
        let (mut head, mut digests) = (chain::initial_digest(&trace_id), Vec::new());
        let mut statement = connection.prepare_cached(SELECT)?;
        let mut rows = statement.query([&trace_id])?;
        while let Some(row) = rows.next()? {
            head = digest_after(row, &head)?;
            digests.push((get_u64(row, 0)?, head.clone()));
        }
        for (sequence, digest) in digests {
            let update = "UPDATE journal SET digest = ?3 WHERE run = ?1 AND sequence = ?2";
            execute(connection, update, params![run, to_integer(sequence), digest])?;
        }
        execute(
            connection,
            "UPDATE runs SET head = ?2 WHERE seq = ?1",
            params![run, head],
        )?;
    }
    Ok(())
}

/// Returns the digest of the entry in a row, whose predecessor has the digest `previous`.
fn digest_after(row: &Row<'_>, previous: &str) -> Result<String, Fault> {
    let (sequence, timestamp) = (get_u64(row, 0)?, get_u64(row, 1)?);
    Ok(chain::next_digest(
        previous,
        sequence,
        timestamp,
        bytes(row, 2)?,
        bytes(row, 3)?,
    ))
}

fn bytes<'a>(row: &'a Row<'_>, index: usize) -> Result<&'a [u8], Fault> {
    Ok(row.get_ref(index)?.as_bytes().map_err(rusqlite::Error::from)?)
}

fn entry(row: &Row<'_>, digest: String) -> Result<JournalEntry, Fault> {
    let payload = row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)?;
    Ok(JournalEntry {
        sequence: get_u64(row, 0)?,
        timestamp: get_u64(row, 1)?,
        kind: row.get(2)?,
        payload: payload.to_owned(),
        digest,
    })
}

fn broken(trace_id: &str, sequence: u64) -> Fault {
    Fault::Store(StoreError::BrokenChain {
        trace_id: trace_id.to_owned(),
        sequence,
    })
}
