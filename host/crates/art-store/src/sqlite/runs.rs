//! Queries for runs and their journals.

use art_core::Timestamp;
use rusqlite::{Connection, Row, params};

use super::fault::Fault;
use super::row::{
    conditions, execute, from_name, get_u64, limit_parameter, parameter, query_all, query_first, to_integer,
};
use super::threads;
use crate::check;
use crate::error::StoreError;
use crate::record::{JournalEntry, NewRun, RunFilter, RunRecord, RunState};

const SELECT: &str = "SELECT r.trace_id, t.id, r.query, r.status, r.started, r.ended, r.model, r.summary, r.entries, \
                      r.seq, r.bytes FROM runs r JOIN threads t ON t.seq = r.thread";

/// A row of the table of runs.
struct RunRow {
    run: RunRecord,
    /// Primary key.
    seq: i64,
    /// Size of all payloads in the journal, in bytes.
    bytes: u64,
}

pub(super) fn begin(connection: &Connection, new: &NewRun, now: Timestamp) -> Result<RunRecord, Fault> {
    let thread = threads::touch(connection, &new.thread_id, now)?;
    let run = check::initial_run(new, now);
    let added = execute(
        connection,
        "INSERT INTO runs (trace_id, thread, query, status, started, model, summary)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'null') ON CONFLICT DO NOTHING",
        params![
            run.trace_id,
            thread,
            run.query,
            run.status.name(),
            to_integer(now),
            run.model
        ],
    )?;
    if added == 0 {
        return Err(Fault::Store(StoreError::AlreadyExists {
            what: "run",
            id: run.trace_id,
        }));
    }
    Ok(run)
}

pub(super) fn append(
    connection: &Connection,
    trace_id: &str,
    entry: JournalEntry,
    payload: &str,
) -> Result<JournalEntry, Fault> {
    let row = existing(connection, trace_id)?;
    let added = payload.len() as u64;
    check::next_entry(&row.run, row.bytes, entry.sequence, added)?;
    execute(
        connection,
        "INSERT INTO journal (run, sequence, timestamp, kind, payload) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![
            row.seq,
            to_integer(entry.sequence),
            to_integer(entry.timestamp),
            entry.kind,
            payload
        ],
    )?;
    execute(
        connection,
        "UPDATE runs SET entries = ?2, bytes = ?3 WHERE seq = ?1",
        params![row.seq, to_integer(entry.sequence), to_integer(row.bytes + added)],
    )?;
    Ok(entry)
}

pub(super) fn end(
    connection: &Connection,
    trace_id: &str,
    status: RunState,
    summary: &str,
    now: Timestamp,
) -> Result<RunRecord, Fault> {
    let row = existing(connection, trace_id)?;
    check::not_ended(&row.run)?;
    threads::touch(connection, &row.run.thread_id, now)?;
    execute(
        connection,
        "UPDATE runs SET status = ?2, ended = ?3, summary = ?4 WHERE seq = ?1",
        params![row.seq, status.name(), to_integer(now), summary],
    )?;
    existing(connection, trace_id).map(|row| row.run)
}

pub(super) fn resume(connection: &Connection, trace_id: &str, now: Timestamp) -> Result<RunRecord, Fault> {
    let row = existing(connection, trace_id)?;
    check::suspended(&row.run)?;
    threads::touch(connection, &row.run.thread_id, now)?;
    execute(
        connection,
        "UPDATE runs SET status = ?2, ended = NULL WHERE seq = ?1",
        params![row.seq, RunState::Running.name()],
    )?;
    existing(connection, trace_id).map(|row| row.run)
}

pub(super) fn get(connection: &Connection, trace_id: &str) -> Result<Option<RunRecord>, Fault> {
    find(connection, trace_id).map(|row| row.map(|row| row.run))
}

pub(super) fn list(connection: &Connection, filter: &RunFilter) -> Result<Vec<RunRecord>, Fault> {
    let limit = limit_parameter(filter.limit);
    let status = filter.status.map(RunState::name);
    let (condition, mut values) = conditions(&[
        ("t.id = ?", parameter(filter.thread_id.as_ref())),
        ("r.status = ?", parameter(status.as_ref())),
        ("instr(r.trace_id, ?) = 1", parameter(filter.id_prefix.as_ref())),
    ]);
    values.push(&limit);
    query_all(
        connection,
        &format!("{SELECT} {condition} ORDER BY r.started DESC, r.seq DESC LIMIT ?"),
        values.as_slice(),
        |row| read(row).map(|row| row.run),
    )
}

pub(super) fn read_journal(connection: &Connection, trace_id: &str) -> Result<Vec<JournalEntry>, Fault> {
    query_all(
        connection,
        "SELECT sequence, timestamp, kind, payload FROM journal
         WHERE run = (SELECT seq FROM runs WHERE trace_id = ?1) ORDER BY sequence",
        [trace_id],
        |row| {
            let payload = row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)?;
            Ok(JournalEntry {
                sequence: get_u64(row, 0)?,
                timestamp: get_u64(row, 1)?,
                kind: row.get(2)?,
                payload: check::decode("a journal entry", trace_id, payload)?,
            })
        },
    )
}

/// Returns the primary key of a run, and fails if the run has ended.
pub(super) fn writable_key(connection: &Connection, trace_id: &str) -> Result<i64, Fault> {
    let row = existing(connection, trace_id)?;
    check::not_ended(&row.run)?;
    Ok(row.seq)
}

fn existing(connection: &Connection, trace_id: &str) -> Result<RunRow, Fault> {
    find(connection, trace_id)?.ok_or_else(|| check::unknown_run(trace_id).into())
}

fn find(connection: &Connection, trace_id: &str) -> Result<Option<RunRow>, Fault> {
    query_first(connection, &format!("{SELECT} WHERE r.trace_id = ?1"), [trace_id], read)
}

fn read(row: &Row<'_>) -> Result<RunRow, Fault> {
    let trace_id: String = row.get(0)?;
    let summary = row.get_ref(7)?.as_str().map_err(rusqlite::Error::from)?;
    Ok(RunRow {
        run: RunRecord {
            status: from_name("the status", &trace_id, row.get(3)?)?,
            summary: check::decode("the summary", &trace_id, summary)?,
            trace_id,
            thread_id: row.get(1)?,
            query: row.get(2)?,
            started: get_u64(row, 4)?,
            ended: row
                .get::<_, Option<i64>>(5)?
                .and_then(|ended| u64::try_from(ended).ok()),
            model: row.get(6)?,
            last_sequence: get_u64(row, 8)?,
        },
        seq: row.get(9)?,
        bytes: get_u64(row, 10)?,
    })
}
