//! Queries for observations, which are records of what runs did.

use art_core::observation::{NewObservation, Observation};
use art_core::{Timestamp, id};
use rusqlite::{Connection, Row, params};

use super::fault::QueryError;
use super::row::{
    execute, from_name, get_u64, limit_parameter, name_list, query_all, query_first, time_bounds, to_integer, to_name,
};
use super::threads;
use crate::check;
use crate::record::ObservationFilter;

/// Stores an observation. `content` and `metadata` are its content and metadata as JSON texts.
pub(super) fn record(
    connection: &Connection,
    new: NewObservation,
    content: &str,
    metadata: &str,
    now: Timestamp,
) -> Result<Observation, QueryError> {
    let (thread_key, sequence) = take_next_sequence(connection, &new.thread_id, now)?;
    let observation = Observation {
        id: id::time_ordered(),
        sequence,
        timestamp: now,
        title: check::observation_title(new.kind),
        body: new,
    };
    execute(
        connection,
        "INSERT INTO observations (id, thread, sequence, timestamp, trace_id, parent_id, type, content, metadata)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![
            observation.id,
            thread_key,
            to_integer(sequence),
            to_integer(now),
            observation.body.trace_id,
            observation.body.parent_id,
            to_name(observation.body.kind),
            content,
            metadata
        ],
    )?;
    Ok(observation)
}

/// Adds one to the number of observations of a thread, and sets the time of its last write. Returns the primary key of the thread
/// and the new number, which is the sequence of the observation that the caller adds.
fn take_next_sequence(connection: &Connection, thread_id: &str, now: Timestamp) -> Result<(i64, u64), QueryError> {
    query_first(
        connection,
        "UPDATE threads SET updated = ?2, observations = observations + 1 WHERE id = ?1 RETURNING seq, observations",
        params![thread_id, to_integer(now)],
        |row| Ok((row.get(0)?, get_u64(row, 1)?)),
    )?
    .ok_or_else(|| check::unknown_thread_error(thread_id).into())
}

/// Returns observations by ascending sequence, and none if the thread does not have the owner of the filter.
pub(super) fn list(
    connection: &Connection,
    thread_id: &str,
    filter: &ObservationFilter,
) -> Result<Vec<Observation>, QueryError> {
    let Some(thread_key) = threads::find_key(connection, thread_id, &filter.owner)? else {
        return Ok(Vec::new());
    };
    let (before, after) = time_bounds(filter.before, filter.after);
    query_all(
        connection,
        "SELECT id, sequence, timestamp, trace_id, parent_id, type, content, metadata FROM observations
         WHERE thread = ?1 AND sequence > ?2 AND timestamp < ?3 AND timestamp > ?4
           AND (?5 = '' OR instr(?5, ',' || type || ',') > 0) AND (?6 IS NULL OR trace_id = ?6)
         ORDER BY sequence LIMIT ?7",
        params![
            thread_key,
            to_integer(filter.after_sequence.unwrap_or(0)),
            before,
            after,
            name_list(filter.types.iter().map(to_name)),
            filter.trace_id,
            limit_parameter(filter.limit)
        ],
        |row| read(row, thread_id),
    )
}

fn read(row: &Row<'_>, thread_id: &str) -> Result<Observation, QueryError> {
    let id: String = row.get(0)?;
    let kind = from_name("the type", &id, row.get(5)?)?;
    let content = row.get_ref(6)?.as_str().map_err(rusqlite::Error::from)?;
    let metadata = row.get_ref(7)?.as_str().map_err(rusqlite::Error::from)?;
    Ok(Observation {
        sequence: get_u64(row, 1)?,
        timestamp: get_u64(row, 2)?,
        title: check::observation_title(kind),
        body: NewObservation {
            thread_id: thread_id.to_owned(),
            trace_id: row.get(3)?,
            parent_id: row.get(4)?,
            kind,
            content: check::decode("an observation", &id, content)?,
            metadata: check::decode("an observation's metadata", &id, metadata)?,
        },
        id,
    })
}
