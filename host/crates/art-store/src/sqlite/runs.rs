//! Queries for runs, and for appending to their journals.

use art_core::Timestamp;
use rusqlite::{Connection, Row, params};

use super::fault::QueryError;
use super::row::{
    conditions, execute, from_name, get_optional_u64, get_u64, limit_parameter, name_list, owner_parameter, parameter,
    query_all, query_first, to_integer,
};
use crate::commit::{NewEvent, RunEnd};
use crate::record::{NewRun, Owner, RunFilter, RunRecord, RunState};
use crate::{chain, check};

const SELECT: &str = "SELECT r.trace_id, t.id, r.query, r.status, r.started, r.ended, r.model, r.summary, r.entries, \
                      r.seq, r.bytes, r.head FROM runs r JOIN threads t ON t.seq = r.thread";

/// A run with the values of its row that only the store needs.
pub(super) struct RunRow {
    pub(super) run: RunRecord,
    /// Primary key.
    pub(super) key: i64,
    /// Size of all payloads in the journal, in bytes.
    pub(super) journal_bytes: u64,
}

/// Creates a run of the thread with that primary key.
pub(super) fn begin(connection: &Connection, thread_key: i64, new: &NewRun, now: Timestamp) -> Result<(), QueryError> {
    let run = check::initial_run(new, now);
    let added = execute(
        connection,
        "INSERT INTO runs (trace_id, thread, query, status, started, model, summary, head)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'null', ?7) ON CONFLICT DO NOTHING",
        params![
            run.trace_id,
            thread_key,
            run.query,
            run.status.name(),
            to_integer(now),
            run.model,
            run.head
        ],
    )?;
    if added == 0 {
        return Err(check::run_exists_error(&run.trace_id).into());
    }
    Ok(())
}

/// Appends events to the journal of a run.
pub(super) fn append(
    connection: &Connection,
    row: &mut RunRow,
    events: &[NewEvent],
    timestamp: Timestamp,
) -> Result<(), QueryError> {
    if events.is_empty() {
        return Ok(());
    }
    for event in events {
        append_one(connection, row, event, timestamp)?;
    }
    // The sequences have no gaps, so the last one is the number of entries.
    execute(
        connection,
        "UPDATE runs SET entries = ?2, bytes = ?3, head = ?4 WHERE seq = ?1",
        params![
            row.key,
            to_integer(row.run.last_sequence),
            to_integer(row.journal_bytes),
            row.run.head
        ],
    )
    .map(drop)
}

fn append_one(
    connection: &Connection,
    row: &mut RunRow,
    event: &NewEvent,
    timestamp: Timestamp,
) -> Result<(), QueryError> {
    let sequence = row.run.last_sequence + 1;
    let digest = chain::next_digest(
        &row.run.head,
        sequence,
        timestamp,
        event.kind.as_bytes(),
        event.payload.as_bytes(),
    );
    execute(
        connection,
        "INSERT INTO journal (run, sequence, timestamp, kind, payload, digest) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            row.key,
            to_integer(sequence),
            to_integer(timestamp),
            event.kind,
            &*event.payload,
            digest
        ],
    )?;
    row.run.last_sequence = sequence;
    row.run.head = digest;
    row.journal_bytes += event.payload.len() as u64;
    Ok(())
}

/// Ends or suspends a run. `summary` is the JSON text of its summary.
pub(super) fn end(
    connection: &Connection,
    row: &mut RunRow,
    end: RunEnd,
    summary: &str,
    now: Timestamp,
) -> Result<(), QueryError> {
    row.run.status = end.status.into();
    row.run.ended = Some(now);
    row.run.summary = end.summary;
    execute(
        connection,
        "UPDATE runs SET status = ?2, ended = ?3, summary = ?4 WHERE seq = ?1",
        params![row.key, row.run.status.name(), to_integer(now), summary],
    )
    .map(drop)
}

/// Marks a run as running again if it is suspended.
pub(super) fn resume(connection: &Connection, row: &mut RunRow) -> Result<(), QueryError> {
    if row.run.status == RunState::Suspended {
        row.run.status = RunState::Running;
        row.run.ended = None;
        let update = "UPDATE runs SET status = ?2, ended = NULL WHERE seq = ?1";
        execute(connection, update, params![row.key, row.run.status.name()])?;
    }
    Ok(())
}

pub(super) fn get(connection: &Connection, trace_id: &str) -> Result<Option<RunRecord>, QueryError> {
    get_for_owner(connection, trace_id, &Owner::Anyone)
}

/// Returns a run if its thread has that owner.
pub(super) fn get_for_owner(
    connection: &Connection,
    trace_id: &str,
    owner: &Owner,
) -> Result<Option<RunRecord>, QueryError> {
    find_row(connection, trace_id, owner).map(|row| row.map(|row| row.run))
}

/// Returns runs, the most recently started first. If the filter asks only for abandoned runs, `held_leases` has the fencing
/// numbers of all leases that somebody holds; otherwise it is `None`. A run is abandoned if it is running although nobody holds
/// the lease of its thread.
pub(super) fn list(
    connection: &Connection,
    filter: &RunFilter,
    held_leases: Option<Vec<u64>>,
) -> Result<Vec<RunRecord>, QueryError> {
    let limit = limit_parameter(filter.limit);
    let status = filter.status.map(RunState::name);
    let held_leases = held_leases.map(|numbers| name_list(numbers.iter().map(u64::to_string)));
    let (condition, mut values) = conditions(&[
        ("t.id = ?", parameter(filter.thread_id.as_ref())),
        ("t.user_id IS ?", owner_parameter(&filter.owner)),
        ("r.status = ?", parameter(status.as_ref())),
        ("instr(r.trace_id, ?) = 1", parameter(filter.id_prefix.as_ref())),
        (
            "r.status = 'running' AND instr(?, ',' || t.lease_number || ',') = 0",
            parameter(held_leases.as_ref()),
        ),
    ]);
    values.push(&limit);
    query_all(
        connection,
        &format!("{SELECT} {condition} ORDER BY r.started DESC, r.seq DESC LIMIT ?"),
        values.as_slice(),
        |row| read(row).map(|row| row.run),
    )
}

/// Returns the row of a run, and fails if the run does not exist.
pub(super) fn get_existing_row(connection: &Connection, trace_id: &str) -> Result<RunRow, QueryError> {
    find_row(connection, trace_id, &Owner::Anyone)?.ok_or_else(|| check::unknown_run_error(trace_id).into())
}

/// Returns the row of a run if its thread has that owner.
fn find_row(connection: &Connection, trace_id: &str, owner: &Owner) -> Result<Option<RunRow>, QueryError> {
    let (condition, values) = conditions(&[
        ("r.trace_id = ?", Some(&trace_id)),
        ("t.user_id IS ?", owner_parameter(owner)),
    ]);
    query_first(connection, &format!("{SELECT} {condition}"), values.as_slice(), read)
}

fn read(row: &Row<'_>) -> Result<RunRow, QueryError> {
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
            ended: get_optional_u64(row, 5)?,
            model: row.get(6)?,
            last_sequence: get_u64(row, 8)?,
            head: row.get(11)?,
        },
        key: row.get(9)?,
        journal_bytes: get_u64(row, 10)?,
    })
}
