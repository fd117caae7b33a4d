//! Queries for the leases of threads, which are conversations. The table `fence` has one row: the fencing number of the newest
//! lease of the database.

use art_core::Timestamp;
use rusqlite::{Connection, params};

use super::fault::QueryError;
use super::holder::Holders;
use super::row::{execute, get_u64, query_all, query_first, to_integer};
use crate::check;
use crate::error::StoreError;
use crate::lease::Lease;
use crate::limits::LEASE_MS;

/// Takes the lease of a thread for the holder with the identifier `holder`.
pub(super) fn acquire(
    connection: &Connection,
    holders: &Holders,
    holder: &str,
    thread_id: &str,
    now: Timestamp,
) -> Result<Lease, QueryError> {
    refuse_if_leased(connection, holders, thread_id, now)?;
    let take_number = "UPDATE fence SET number = number + 1 RETURNING number";
    let number = query_first(connection, take_number, [], |row| Ok(get_u64(row, 0)?))?.unwrap_or(0);
    let updated_threads = execute(
        connection,
        "UPDATE threads SET lease_holder = ?2, lease_number = ?3, lease_until = ?4 WHERE id = ?1",
        params![thread_id, holder, to_integer(number), to_integer(now + LEASE_MS)],
    )?;
    if updated_threads == 0 {
        return Err(check::unknown_thread_error(thread_id).into());
    }
    let thread_id = thread_id.to_owned();
    Ok(Lease { thread_id, number })
}

/// Fails with [`StoreError::ThreadBusy`] while somebody holds the lease of a thread. Somebody holds it if it has not expired and
/// its holder still runs.
pub(super) fn refuse_if_leased(
    connection: &Connection,
    holders: &Holders,
    thread_id: &str,
    now: Timestamp,
) -> Result<(), QueryError> {
    let held = query_first(
        connection,
        "SELECT lease_holder, lease_until FROM threads WHERE id = ?1 AND lease_holder IS NOT NULL AND lease_until > ?2",
        params![thread_id, to_integer(now)],
        |row| Ok((row.get::<_, String>(0)?, get_u64(row, 1)?)),
    )?;
    match held {
        Some((holder, until)) if holders.is_alive(&holder) => Err(QueryError::Store(StoreError::ThreadBusy {
            thread_id: thread_id.to_owned(),
            until,
        })),
        _ => Ok(()),
    }
}

/// Renews a lease, and fails if it is not the current one of its thread.
pub(super) fn renew(connection: &Connection, lease: &Lease, now: Timestamp) -> Result<(), QueryError> {
    let updated_threads = execute(
        connection,
        "UPDATE threads SET lease_until = ?3 WHERE id = ?1 AND lease_number = ?2 AND lease_holder IS NOT NULL",
        params![lease.thread_id, to_integer(lease.number), to_integer(now + LEASE_MS)],
    )?;
    if updated_threads == 0 {
        return Err(lease.lost_error().into());
    }
    Ok(())
}

/// Releases a lease if it is the current one of its thread.
pub(super) fn release(connection: &Connection, lease: &Lease) -> Result<(), QueryError> {
    execute(
        connection,
        "UPDATE threads SET lease_holder = NULL WHERE id = ?1 AND lease_number = ?2",
        params![lease.thread_id, to_integer(lease.number)],
    )
    .map(drop)
}

/// Returns the fencing numbers of all leases that somebody holds.
pub(super) fn held_numbers(connection: &Connection, holders: &Holders, now: Timestamp) -> Result<Vec<u64>, QueryError> {
    let held = query_all(
        connection,
        "SELECT lease_number, lease_holder FROM threads WHERE lease_holder IS NOT NULL AND lease_until > ?1",
        [to_integer(now)],
        |row| Ok((get_u64(row, 0)?, row.get::<_, String>(1)?)),
    )?;
    let live = held.into_iter().filter(|(_, holder)| holders.is_alive(holder));
    Ok(live.map(|(number, _)| number).collect())
}
