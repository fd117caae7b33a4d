//! Stores a commit: everything that one step of a run leads to.

use art_core::Timestamp;
use rusqlite::Connection;

use super::fault::QueryError;
use super::{blobs, calls, leases, messages, observations, runs, suspensions, threads, work};
use crate::check;
use crate::commit::{CheckedCommit, Committed};

/// Stores a commit. If this fails, it may have made some of the changes, and the caller has to undo them.
pub(super) fn store(connection: &Connection, commit: CheckedCommit, now: Timestamp) -> Result<Committed, QueryError> {
    leases::renew(connection, &commit.lease, now)?;
    let thread_id = &commit.lease.thread_id;
    let thread_key = threads::touch(connection, thread_id, now)?;
    if let Some(new) = &commit.begin {
        runs::begin(connection, thread_key, new, now)?;
    }
    let mut row = runs::get_existing_row(connection, &commit.trace_id)?;
    check::lease_is_for_thread_of(&row.run, &commit.lease)?;
    check::can_append(&row.run, row.journal_bytes, &commit)?;
    blobs::put(connection, row.key, &commit.trace_id, &commit.blobs)?;
    runs::append(connection, &mut row, &commit.events, now)?;
    suspensions::add(connection, row.key, &commit.new_suspensions, now)?;
    suspensions::settle(connection, &commit.trace_id, &commit.used_decisions)?;
    match commit.end {
        Some((end, summary)) => runs::end(connection, &mut row, end, &summary, now)?,
        None => runs::resume(connection, &mut row)?,
    }
    if row.run.status.is_final() {
        suspensions::close(connection, row.key)?;
    }
    messages::insert(connection, thread_key, &commit.messages)?;
    let recorded = commit
        .observations
        .into_iter()
        .map(|(new, content, metadata)| observations::record(connection, new, &content, &metadata, now));
    let observations = recorded.collect::<Result<_, QueryError>>()?;
    calls::record(connection, row.key, &commit.calls)?;
    work::record(connection, row.key, &commit.work)?;
    let state_version = commit
        .state
        .map(|state| threads::replace_state(connection, thread_key, &state, now));
    if commit.release {
        leases::release(connection, &commit.lease)?;
    }
    Ok(Committed {
        run: row.run,
        observations,
        state_version: state_version.transpose()?,
    })
}
