//! Tests in which several processes, or several stores of one process, use one database.

use std::path::Path;
use std::sync::Arc;

use art_store::clock::{Clock, ManualClock, SystemClock};
use art_store::{Commit, Lease, RunFilter, SqliteStore, Store, StoreError, limits};
use serde_json::json;

use crate::children::{self, ChildTest};
use crate::fixture::{block_on, event, new_path, new_run, new_thread};

const PROCESSES: usize = 4;
/// Number of events that each process commits to a run of its own, one at a time.
const OWN_EVENTS: u64 = 60;
/// Number of own events for each event that a process commits to the run that all processes share.
const OWN_EVENTS_PER_SHARED_EVENT: u64 = 5;
/// The identifier of the thread that all processes share, and also that of its run.
const SHARED: &str = "shared";

/// Repeats an operation while another process holds the database or the lease, and fails on any other error.
macro_rules! until_free {
    ($operation:expr) => {
        loop {
            match $operation.await {
                Err(StoreError::Busy { .. } | StoreError::ThreadBusy { .. }) => tokio::task::yield_now().await,
                result => break result.unwrap(),
            }
        }
    };
}

/// Returns a commit of one event to a run whose last event is `last_sequence`. If that is 0, the commit also begins the run.
fn commit_of_event(trace_id: &str, lease: &Lease, last_sequence: u64) -> Commit {
    Commit {
        begin: (last_sequence == 0).then(|| new_run(trace_id, &lease.thread_id)),
        trace_id: trace_id.to_owned(),
        lease: lease.clone(),
        expected_last_sequence: last_sequence,
        events: vec![event("k", json!(last_sequence + 1))],
        ..Commit::default()
    }
}

/// Runs in the child processes of the test below. Does nothing when the test runner starts it.
#[test]
fn child_commits_and_deletes_beside_other_processes() {
    let Some(path) = children::database_path() else { return };
    let store = SqliteStore::open(path).unwrap();
    // The identifier of the thread and the run of this process.
    let own_id = std::process::id().to_string();
    block_on(async {
        until_free!(store.create_thread(new_thread(&own_id)));
        match store.create_thread(new_thread(SHARED)).await {
            Ok(_) | Err(StoreError::AlreadyExists { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        let lease = until_free!(store.acquire_lease(&own_id));
        for last_sequence in 0..OWN_EVENTS {
            until_free!(store.commit(commit_of_event(&own_id, &lease, last_sequence)));
            if last_sequence % OWN_EVENTS_PER_SHARED_EVENT == 0 {
                commit_to_shared_run(&store).await;
            }
            if last_sequence % 10 == 0 {
                let temporary = format!("{own_id}-{last_sequence}");
                until_free!(store.create_thread(new_thread(&temporary)));
                assert!(until_free!(store.delete_thread(&temporary)));
            }
        }
    });
    children::send_line(&own_id);
}

async fn commit_to_shared_run(store: &SqliteStore) {
    let lease = until_free!(store.acquire_lease(SHARED));
    let run = store.get_run(SHARED).await.unwrap();
    let last_sequence = run.map_or(0, |run| run.last_sequence);
    until_free!(store.commit(commit_of_event(SHARED, &lease, last_sequence)));
    until_free!(store.release_lease(&lease));
}

#[test]
fn several_processes_create_and_use_one_database() {
    let (_directory, path) = new_path();
    let test = "processes::child_commits_and_deletes_beside_other_processes";
    let mut children: Vec<_> = (0..PROCESSES).map(|_| ChildTest::start(test, &path)).collect();
    let mut own_runs = Vec::new();
    for child in &mut children {
        let (lines, status) = child.finish();
        assert!(status.success());
        own_runs.extend(lines);
    }
    assert_eq!(own_runs.len(), PROCESSES);
    let store = SqliteStore::open(&path).unwrap();
    for trace_id in own_runs {
        assert_eq!(journal_length(&store, &trace_id), OWN_EVENTS);
    }
    assert_eq!(
        journal_length(&store, SHARED),
        PROCESSES as u64 * OWN_EVENTS / OWN_EVENTS_PER_SHARED_EVENT
    );
}

/// Returns the number of entries in the journal of a run. Reading a journal also verifies its digests, so the entries have no
/// gaps.
fn journal_length(store: &SqliteStore, trace_id: &str) -> u64 {
    block_on(store.read_journal(trace_id)).unwrap().len() as u64
}

/// Runs in the child processes of the tests below: begins the run `r`, and commits another event to it when the parent resumes
/// the child. Does nothing when the test runner starts it.
#[test]
fn child_holds_a_lease_and_commits_when_it_is_resumed() {
    let Some(path) = children::database_path() else { return };
    let store = SqliteStore::open(path).unwrap();
    block_on(async {
        store.create_thread(new_thread("t")).await.unwrap();
        let lease = store.acquire_lease("t").await.unwrap();
        store.commit(commit_of_event("r", &lease, 0)).await.unwrap();
        children::send_line("holds");
        children::wait_for_parent();
        match store.commit(commit_of_event("r", &lease, 1)).await {
            Ok(_) => children::send_line("stored"),
            Err(error) => children::send_line(&error.to_string()),
        }
    });
}

/// Starts a child process, and waits until it has begun the run `r` and holds the lease of its thread `t`.
fn start_child_with_lease(path: &Path) -> ChildTest {
    let mut child = ChildTest::start("processes::child_holds_a_lease_and_commits_when_it_is_resumed", path);
    assert_eq!(child.next_line().as_deref(), Some("holds"));
    child
}

/// Returns the number of runs that have not ended and whose thread has no holder of its lease.
fn count_abandoned_runs(store: &SqliteStore) -> usize {
    let filter = RunFilter {
        abandoned: true,
        ..RunFilter::default()
    };
    block_on(store.list_runs(filter)).unwrap().len()
}

#[test]
fn the_lease_of_a_killed_process_is_free_at_once() {
    let (_directory, path) = new_path();
    let mut child = start_child_with_lease(&path);
    let store = SqliteStore::open(&path).unwrap();
    assert!(matches!(
        block_on(store.acquire_lease("t")),
        Err(StoreError::ThreadBusy { .. })
    ));
    assert_eq!(count_abandoned_runs(&store), 0);
    child.kill();
    child.finish();
    assert_eq!(count_abandoned_runs(&store), 1);
    let lease = block_on(store.acquire_lease("t")).unwrap();
    block_on(store.commit(commit_of_event("r", &lease, 1))).unwrap();
}

#[test]
fn a_paused_process_cannot_commit_after_another_took_its_expired_lease() {
    let (_directory, path) = new_path();
    let mut child = start_child_with_lease(&path);
    child.signal("STOP");
    let clock = Arc::new(ManualClock::new(SystemClock.now()));
    let store = SqliteStore::open_with_clock(&path, clock.clone()).unwrap();
    assert!(matches!(
        block_on(store.acquire_lease("t")),
        Err(StoreError::ThreadBusy { .. })
    ));
    // The lease of the child expires after one `LEASE_MS`. Three more are a margin.
    clock.advance(limits::LEASE_MS * 4);
    let lease = block_on(store.acquire_lease("t")).unwrap();
    // The operating system runs the process again, and then the child stops waiting for its parent.
    child.signal("CONT");
    child.resume();
    let expected = "thread `t` was taken over by another turn: read it again and begin another turn";
    assert_eq!(child.next_line().as_deref(), Some(expected));
    block_on(store.commit(commit_of_event("r", &lease, 1))).unwrap();
    assert_eq!(journal_length(&store, "r"), 2);
}

#[test]
fn a_process_whose_lease_nobody_took_can_commit() {
    let (_directory, path) = new_path();
    let mut child = start_child_with_lease(&path);
    child.resume();
    assert_eq!(child.next_line().as_deref(), Some("stored"));
    assert!(child.finish().1.success());
}

#[test]
fn the_leases_of_a_store_are_free_when_it_is_dropped() {
    let (_directory, path) = new_path();
    let (first_store, second_store) = (SqliteStore::open(&path).unwrap(), SqliteStore::open(&path).unwrap());
    block_on(first_store.create_thread(new_thread("t"))).unwrap();
    block_on(first_store.acquire_lease("t")).unwrap();
    assert!(block_on(second_store.acquire_lease("t")).is_err());
    drop(first_store);
    block_on(second_store.acquire_lease("t")).unwrap();
}

#[test]
fn a_write_waits_for_a_short_transaction_of_another_connection() {
    let (_directory, path) = new_path();
    let store = SqliteStore::open(&path).unwrap();
    let other_connection = rusqlite::Connection::open(&path).unwrap();
    other_connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    block_on(async {
        let creation = store.create_thread(new_thread("t"));
        let release = async {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            other_connection.execute_batch("COMMIT").unwrap();
        };
        tokio::join!(async { creation.await.unwrap() }, release);
    });
}

#[test]
fn a_database_that_stays_locked_is_busy_and_can_be_written_later() {
    let (_directory, path) = new_path();
    let store = SqliteStore::open(&path).unwrap();
    let other_connection = rusqlite::Connection::open(&path).unwrap();
    other_connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    let busy = block_on(store.create_thread(new_thread("t")));
    assert!(matches!(busy, Err(StoreError::Busy { .. })));
    other_connection.execute_batch("COMMIT").unwrap();
    block_on(store.create_thread(new_thread("t"))).unwrap();
}
