//! Queries for suspensions: tool calls that wait for the decision of a person.
//!
//! The column `settled` is 1 if the run has used the decision or has ended, and otherwise 0. A suspension whose `settled` is 1
//! and that has no decision is closed: its run ended before anybody decided.

use art_core::Timestamp;
use art_core::suspension::Decision;
use rusqlite::{Connection, Row, params};

use super::fault::QueryError;
use super::row::{
    conditions, execute, get_u64, limit_parameter, owner_parameter, parameter, query_first, query_while, to_integer,
};
use crate::check;
use crate::record::Owner;
use crate::suspension::{
    ByteLimit, NewSuspension, SuspensionFilter, SuspensionRecord, SuspensionStatus, UsedDecision,
    unknown_suspension_error,
};

const SELECT: &str = "SELECT s.id, r.trace_id, t.id, s.item_id, s.since, s.call, s.decision, s.settled
                      FROM suspensions s JOIN runs r ON r.seq = s.run JOIN threads t ON t.seq = r.thread";

/// Position of the suspended call in a row of [`SELECT`].
const CALL_COLUMN: usize = 5;
/// Position of the decision in a row of [`SELECT`].
const DECISION_COLUMN: usize = 6;

/// Adds open suspensions to the run with that primary key. Each comes with its call as JSON text.
pub(super) fn add(
    connection: &Connection,
    run_key: i64,
    new_suspensions: &[(NewSuspension, String)],
    now: Timestamp,
) -> Result<(), QueryError> {
    for (new, call) in new_suspensions {
        let id = new.call.suspension_id.as_str();
        let added = execute(
            connection,
            "INSERT INTO suspensions (id, run, item_id, since, call) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
            params![id, run_key, new.item_id, to_integer(now), call],
        )?;
        if added == 0 {
            return Err(check::suspension_exists_error(id).into());
        }
    }
    Ok(())
}

/// Marks the suspensions of `used_decisions` as settled, since the run now uses these decisions. Fails if it cannot use one of
/// them.
pub(super) fn settle(
    connection: &Connection,
    trace_id: &str,
    used_decisions: &[UsedDecision],
) -> Result<(), QueryError> {
    for used in used_decisions {
        let id = used.suspension_id.as_str();
        let record = find(connection, id, &Owner::Anyone)?.filter(|record| record.trace_id == trace_id);
        record
            .ok_or_else(|| unknown_suspension_error(id))?
            .check_use(&used.decision)?;
        execute(
            connection,
            "UPDATE suspensions SET settled = 1 WHERE id = ?1",
            params![id],
        )?;
    }
    Ok(())
}

/// Closes the open suspensions of a run that has ended, and settles the decided ones.
pub(super) fn close(connection: &Connection, run_key: i64) -> Result<(), QueryError> {
    execute(
        connection,
        "UPDATE suspensions SET settled = 1 WHERE run = ?1 AND settled = 0",
        params![run_key],
    )
    .map(drop)
}

/// Stores the decision about an open suspension. `text` is the decision as JSON text.
pub(super) fn decide(
    connection: &Connection,
    suspension_id: &str,
    owner: &Owner,
    decision: Decision,
    text: &str,
    now: Timestamp,
) -> Result<SuspensionRecord, QueryError> {
    let record = find(connection, suspension_id, owner)?.ok_or_else(|| unknown_suspension_error(suspension_id))?;
    record.check_decision(&decision.by, now)?;
    execute(
        connection,
        "UPDATE suspensions SET decision = ?2 WHERE id = ?1",
        params![suspension_id, text],
    )?;
    Ok(SuspensionRecord {
        decision: Some(decision),
        status: SuspensionStatus::Decided,
        ..record
    })
}

/// Returns a suspension if the owner of its thread meets the condition `owner`.
pub(super) fn find(connection: &Connection, id: &str, owner: &Owner) -> Result<Option<SuspensionRecord>, QueryError> {
    let (condition, values) = conditions(&[("s.id = ?", Some(&id)), ("t.user_id IS ?", owner_parameter(owner))]);
    query_first(connection, &format!("{SELECT} {condition}"), values.as_slice(), read)
}

pub(super) fn list(connection: &Connection, filter: &SuspensionFilter) -> Result<Vec<SuspensionRecord>, QueryError> {
    // A database that is opened for reading only may have an older format, without this table.
    if !connection.table_exists(None, "suspensions")? {
        return Ok(Vec::new());
    }
    if let Some(after) = &filter.after {
        // Refuses a suspension of another owner: from the entries that come after it, the caller would learn when it was made.
        find(connection, after, &filter.owner)?.ok_or_else(|| unknown_suspension_error(after))?;
    }
    let limit = limit_parameter(filter.limit);
    // A suspension is pending if it is open or decided; its `settled` is then 0.
    let settled = filter.pending.then_some(0);
    let (condition, mut values) = conditions(&[
        ("s.settled = ?", parameter(settled.as_ref())),
        ("t.user_id IS ?", owner_parameter(&filter.owner)),
        ("t.id = ?", parameter(filter.thread_id.as_ref())),
        ("r.trace_id = ?", parameter(filter.trace_id.as_ref())),
        ("instr(s.id, ?) = 1", parameter(filter.id_prefix.as_ref())),
        (
            "(s.since, s.seq) > (SELECT since, seq FROM suspensions WHERE id = ?)",
            parameter(filter.after.as_ref()),
        ),
    ]);
    values.push(&limit);
    let mut byte_limit = ByteLimit::of(filter);
    query_while(
        connection,
        &format!("{SELECT} {condition} ORDER BY s.since, s.seq LIMIT ?"),
        values.as_slice(),
        |row| byte_limit.accepts(json_size(row)).then(|| read(row)).transpose(),
    )
}

/// Returns the size of the call and the decision in bytes, as JSON texts.
fn json_size(row: &Row<'_>) -> usize {
    let texts = [CALL_COLUMN, DECISION_COLUMN].map(|column| row.get_ref(column).ok()?.as_str().ok().map(str::len));
    texts.into_iter().flatten().sum()
}

fn read(row: &Row<'_>) -> Result<SuspensionRecord, QueryError> {
    let id: String = row.get(0)?;
    let call = row.get_ref(CALL_COLUMN)?.as_str().map_err(rusqlite::Error::from)?;
    let decision = row
        .get_ref(DECISION_COLUMN)?
        .as_str_or_null()
        .map_err(rusqlite::Error::from)?;
    let decision: Option<Decision> = decision
        .map(|text| check::decode("the decision", &id, text))
        .transpose()?;
    Ok(SuspensionRecord {
        trace_id: row.get(1)?,
        thread_id: row.get(2)?,
        item_id: row.get(3)?,
        since: get_u64(row, 4)?,
        call: check::decode::<art_core::suspension::SuspendedCall>("the suspended call", &id, call)?,
        status: SuspensionStatus::of(decision.is_some(), row.get(7)?),
        decision,
    })
}
