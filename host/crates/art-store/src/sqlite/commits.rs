//! Stores a commit.

use art_core::Timestamp;
use rusqlite::Connection;

use super::fault::Fault;
use super::{blobs, calls, leases, messages, observations, runs, suspensions, threads, work};
use crate::check;
use crate::commit::{CheckedCommit, Committed};

/// Stores a commit. The caller undoes all changes if it fails.
pub(super) fn store(connection: &Connection, commit: CheckedCommit, now: Timestamp) -> Result<Committed, Fault> {
    leases::renew(connection, &commit.lease, now)?;
    let thread_id = &commit.lease.thread_id;
    let thread = threads::touch(connection, thread_id, now)?;
    if let Some(new) = &commit.begin {
        runs::begin(connection, thread, new, now)?;
    }
    let mut row = runs::get_existing(connection, &commit.trace_id)?;
    check::lease_thread(&row.run, &commit.lease)?;
    check::next_entries(&row.run, row.bytes, &commit)?;
    blobs::put(connection, row.seq, &commit.trace_id, &commit.blobs)?;
    runs::append(connection, &mut row, &commit.events, now)?;
    suspensions::add(connection, row.seq, &commit.suspended, now)?;
    suspensions::settle(connection, &commit.trace_id, &commit.settled)?;
    match commit.end {
        Some((end, text)) => runs::end(connection, &mut row, end, &text, now)?,
        None => runs::resume(connection, &mut row)?,
    }
    if row.run.status.is_final() {
        suspensions::close(connection, row.seq)?;
    }
    messages::insert(connection, thread, &commit.messages)?;
    let observed = commit
        .observations
        .into_iter()
        .map(|(new, content, metadata)| observations::record(connection, new, &content, &metadata, now));
    let observations = observed.collect::<Result<_, Fault>>()?;
    calls::record(connection, row.seq, &commit.calls)?;
    work::record(connection, row.seq, &commit.work)?;
    let state = commit
        .state
        .map(|state| threads::replace_state(connection, thread, &state, now));
    if commit.release {
        leases::release(connection, &commit.lease)?;
    }
    Ok(Committed {
        run: row.run,
        observations,
        state_version: state.transpose()?,
    })
}
