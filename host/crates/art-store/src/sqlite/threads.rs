//! Queries for threads, which are conversations with their settings, and for agent state.

use art_core::Timestamp;
use art_core::agent::AgentState;
use rusqlite::{Connection, Row, params};

use super::fault::QueryError;
use super::row::{
    conditions, execute, get_u64, limit_parameter, owner_parameter, parameter, query_all, query_first, to_integer,
};
use crate::check;
use crate::error::StoreError;
use crate::record::{NewThread, Owner, Thread, ThreadFilter};

/// Creates a thread. `config` is its settings as JSON text.
pub(super) fn create(
    connection: &Connection,
    new: NewThread,
    config: &str,
    now: Timestamp,
) -> Result<Thread, QueryError> {
    let added = execute(
        connection,
        "INSERT INTO threads (id, user_id, created, updated, config) VALUES (?1, ?2, ?3, ?3, ?4) ON CONFLICT DO NOTHING",
        params![new.id, new.user_id, to_integer(now), config],
    )?;
    if added == 0 {
        return Err(QueryError::Store(StoreError::AlreadyExists {
            what: "thread",
            id: new.id,
        }));
    }
    Ok(Thread {
        id: new.id,
        user_id: new.user_id,
        created: now,
        updated: now,
        config: new.config,
    })
}

/// Returns a thread if its owner meets the condition `owner`.
pub(super) fn find(connection: &Connection, thread_id: &str, owner: &Owner) -> Result<Option<Thread>, QueryError> {
    let (condition, values) = conditions(&[("id = ?", Some(&thread_id)), ("user_id IS ?", owner_parameter(owner))]);
    query_first(
        connection,
        &format!("SELECT id, user_id, created, updated, config FROM threads {condition}"),
        values.as_slice(),
        read,
    )
}

/// Returns the primary key of a thread if its owner meets the condition `owner`.
pub(super) fn find_key(connection: &Connection, thread_id: &str, owner: &Owner) -> Result<Option<i64>, QueryError> {
    let (condition, values) = conditions(&[("id = ?", Some(&thread_id)), ("user_id IS ?", owner_parameter(owner))]);
    let select = format!("SELECT seq FROM threads {condition}");
    query_first(connection, &select, values.as_slice(), |row| Ok(row.get(0)?))
}

fn read(row: &Row<'_>) -> Result<Thread, QueryError> {
    let id: String = row.get(0)?;
    let config = check::decode(
        "the configuration",
        &id,
        row.get_ref(4)?.as_str().map_err(rusqlite::Error::from)?,
    )?;
    Ok(Thread {
        id,
        user_id: row.get(1)?,
        created: get_u64(row, 2)?,
        updated: get_u64(row, 3)?,
        config,
    })
}

pub(super) fn list(connection: &Connection, filter: &ThreadFilter) -> Result<Vec<Thread>, QueryError> {
    let limit = limit_parameter(filter.limit);
    let (condition, mut values) = conditions(&[
        ("user_id IS ?", owner_parameter(&filter.owner)),
        ("instr(id, ?) = 1", parameter(filter.id_prefix.as_ref())),
    ]);
    values.push(&limit);
    query_all(
        connection,
        &format!(
            "SELECT id, user_id, created, updated, config FROM threads {condition}
             ORDER BY updated DESC, seq DESC LIMIT ?"
        ),
        values.as_slice(),
        read,
    )
}

/// Sets the time of the last write to a thread, and returns its primary key.
pub(super) fn touch(connection: &Connection, thread_id: &str, now: Timestamp) -> Result<i64, QueryError> {
    query_first(
        connection,
        "UPDATE threads SET updated = ?2 WHERE id = ?1 RETURNING seq",
        params![thread_id, to_integer(now)],
        |row| Ok(row.get(0)?),
    )?
    .ok_or_else(|| check::unknown_thread_error(thread_id).into())
}

/// Replaces the settings of a thread. `config` is their JSON text.
pub(super) fn set_config(
    connection: &Connection,
    thread_id: &str,
    config: &str,
    now: Timestamp,
) -> Result<Thread, QueryError> {
    query_first(
        connection,
        "UPDATE threads SET config = ?2, updated = ?3 WHERE id = ?1 RETURNING id, user_id, created, updated, config",
        params![thread_id, config, to_integer(now)],
        read,
    )?
    .ok_or_else(|| check::unknown_thread_error(thread_id).into())
}

/// Deletes a thread, and returns whether it existed. The foreign keys of the other tables also delete
/// the rows that belong to the thread.
pub(super) fn delete(connection: &Connection, thread_id: &str) -> Result<bool, QueryError> {
    execute(connection, "DELETE FROM threads WHERE id = ?1", [thread_id]).map(|deleted| deleted > 0)
}

pub(super) fn load_state(connection: &Connection, thread_id: &str) -> Result<Option<AgentState>, QueryError> {
    query_first(
        connection,
        "SELECT s.version, s.modified, s.data FROM states s JOIN threads t ON t.seq = s.thread WHERE t.id = ?1",
        [thread_id],
        |row| {
            let text = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
            Ok(AgentState {
                version: get_u64(row, 0)?,
                modified: get_u64(row, 1)?,
                data: check::decode("the state", thread_id, text)?,
            })
        },
    )
}

pub(super) fn save_state(
    connection: &Connection,
    thread_id: &str,
    data: &str,
    expected_version: Option<u64>,
    now: Timestamp,
) -> Result<u64, QueryError> {
    let thread_key = touch(connection, thread_id, now)?;
    let actual_version = query_first(
        connection,
        "SELECT version FROM states WHERE thread = ?1",
        [thread_key],
        |row| Ok(get_u64(row, 0)?),
    )?;
    check::expected_version(thread_id, actual_version, expected_version)?;
    replace_state(connection, thread_key, data, now)
}

/// Replaces the state of the thread with that primary key, and returns the new version.
pub(super) fn replace_state(
    connection: &Connection,
    thread_key: i64,
    data: &str,
    now: Timestamp,
) -> Result<u64, QueryError> {
    let version = query_first(
        connection,
        "INSERT INTO states (thread, version, modified, data) VALUES (?1, 1, ?2, ?3)
         ON CONFLICT (thread) DO UPDATE SET version = version + 1, modified = ?2, data = ?3 RETURNING version",
        params![thread_key, to_integer(now), data],
        |row| Ok(get_u64(row, 0)?),
    )?;
    // The statement always returns a row, so there is always a version.
    Ok(version.unwrap_or(0))
}
