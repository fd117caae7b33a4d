//! Several processes, and several stores of one process, use one database.

use std::path::Path;
use std::sync::Arc;

use art_store::clock::{Clock, ManualClock, SystemClock};
use art_store::{Commit, Lease, RunFilter, SqliteStore, Store, StoreError, limits};
use serde_json::json;

use crate::children::{self, ChildTest};
use crate::fixture::{block_on, event, new_path, run, thread};

const PROCESSES: usize = 4;
const STEPS: u64 = 60;

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

fn step(trace_id: &str, lease: &Lease, after: u64) -> Commit {
    Commit {
        begin: (after == 0).then(|| run(trace_id, &lease.thread_id)),
        trace_id: trace_id.to_owned(),
        lease: lease.clone(),
        after,
        events: vec![event("k", json!(after + 1))],
        ..Commit::default()
    }
}

/// The child process of a test below. Does nothing when the test runner starts it.
#[test]
fn child_commits_and_deletes_beside_other_processes() {
    let Some(path) = children::database_path() else { return };
    let store = SqliteStore::open(path).unwrap();
    let own = std::process::id().to_string();
    block_on(async {
        until_free!(store.create_thread(thread(&own)));
        match store.create_thread(thread("shared")).await {
            Ok(_) | Err(StoreError::AlreadyExists { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        let lease = until_free!(store.acquire_lease(&own));
        for after in 0..STEPS {
            until_free!(store.commit(step(&own, &lease, after)));
            if after % 5 == 0 {
                commit_to_shared(&store).await;
            }
            if after % 10 == 0 {
                let temporary = format!("{own}-{after}");
                until_free!(store.create_thread(thread(&temporary)));
                assert!(until_free!(store.delete_thread(&temporary)));
            }
        }
    });
    children::send_line(&own);
}

async fn commit_to_shared(store: &SqliteStore) {
    let lease = until_free!(store.acquire_lease("shared"));
    let run = store.get_run("shared").await.unwrap();
    let after = run.map_or(0, |run| run.last_sequence);
    until_free!(store.commit(step("shared", &lease, after)));
    until_free!(store.release_lease(&lease));
}

#[test]
fn several_processes_create_and_use_one_database() {
    let (_directory, path) = new_path();
    let test = "processes::child_commits_and_deletes_beside_other_processes";
    let mut children: Vec<_> = (0..PROCESSES).map(|_| ChildTest::start(test, &path)).collect();
    let mut runs = Vec::new();
    for child in &mut children {
        let (lines, status) = child.finish();
        assert!(status.success());
        runs.extend(lines);
    }
    assert_eq!(runs.len(), PROCESSES);
    let store = SqliteStore::open(&path).unwrap();
    for trace_id in runs {
        assert_eq!(journal_length(&store, &trace_id), STEPS);
    }
    assert_eq!(journal_length(&store, "shared"), PROCESSES as u64 * STEPS / 5);
}

/// Returns the number of entries of a journal, which has no gaps, since reading it verifies its digests.
fn journal_length(store: &SqliteStore, trace_id: &str) -> u64 {
    block_on(store.read_journal(trace_id)).unwrap().len() as u64
}

/// The child process of the tests below. Does nothing when the test runner starts it.
#[test]
fn child_holds_a_lease_and_commits_when_it_is_resumed() {
    let Some(path) = children::database_path() else { return };
    let store = SqliteStore::open(path).unwrap();
    block_on(async {
        store.create_thread(thread("t")).await.unwrap();
        let lease = store.acquire_lease("t").await.unwrap();
        store.commit(step("r", &lease, 0)).await.unwrap();
        children::send_line("holds");
        children::wait_for_parent();
        match store.commit(step("r", &lease, 1)).await {
            Ok(_) => children::send_line("stored"),
            Err(error) => children::send_line(&error.to_string()),
        }
    });
}

/// Starts a child process, and waits until it holds the lease of the thread `t`.
fn start_holding_child(path: &Path) -> ChildTest {
    let mut child = ChildTest::start("processes::child_holds_a_lease_and_commits_when_it_is_resumed", path);
    assert_eq!(child.next_line().as_deref(), Some("holds"));
    child
}

fn count_abandoned_runs(store: &SqliteStore) -> usize {
    let filter = RunFilter {
        abandoned: true,
        ..RunFilter::default()
    };
    block_on(store.list_runs(filter)).unwrap().len()
}

#[test]
fn the_lease_of_a_process_is_free_as_soon_as_it_is_killed() {
    let (_directory, path) = new_path();
    let mut child = start_holding_child(&path);
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
    block_on(store.commit(step("r", &lease, 1))).unwrap();
}

#[test]
fn a_stopped_process_cannot_commit_after_another_took_its_expired_lease() {
    let (_directory, path) = new_path();
    let mut child = start_holding_child(&path);
    child.signal("STOP");
    let clock = Arc::new(ManualClock::new(SystemClock.now()));
    let store = SqliteStore::open_with_clock(&path, clock.clone()).unwrap();
    assert!(matches!(
        block_on(store.acquire_lease("t")),
        Err(StoreError::ThreadBusy { .. })
    ));
    clock.advance(limits::LEASE_MS * 4);
    let lease = block_on(store.acquire_lease("t")).unwrap();
    child.signal("CONT");
    child.resume();
    let expected = "thread `t` was taken over by another turn: read it again and begin another turn";
    assert_eq!(child.next_line().as_deref(), Some(expected));
    block_on(store.commit(step("r", &lease, 1))).unwrap();
    assert_eq!(journal_length(&store, "r"), 2);
}

#[test]
fn a_process_whose_lease_nobody_took_can_commit() {
    let (_directory, path) = new_path();
    let mut child = start_holding_child(&path);
    child.resume();
    assert_eq!(child.next_line().as_deref(), Some("stored"));
    assert!(child.finish().1.success());
}

#[test]
fn the_leases_of_a_store_are_free_when_it_is_dropped() {
    let (_directory, path) = new_path();
    let (first, second) = (SqliteStore::open(&path).unwrap(), SqliteStore::open(&path).unwrap());
    block_on(first.create_thread(thread("t"))).unwrap();
    block_on(first.acquire_lease("t")).unwrap();
    assert!(block_on(second.acquire_lease("t")).is_err());
    drop(first);
    block_on(second.acquire_lease("t")).unwrap();
}

#[test]
fn a_write_waits_for_a_short_transaction_of_another_connection() {
    let (_directory, path) = new_path();
    let store = SqliteStore::open(&path).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    block_on(async {
        let created = store.create_thread(thread("t"));
        let released = async {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            other.execute_batch("COMMIT").unwrap();
        };
        tokio::join!(async { created.await.unwrap() }, released);
    });
}

#[test]
fn a_database_that_stays_locked_is_busy_and_can_be_written_later() {
    let (_directory, path) = new_path();
    let store = SqliteStore::open(&path).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let busy = block_on(store.create_thread(thread("t")));
    assert!(matches!(busy, Err(StoreError::Busy { .. })));
    other.execute_batch("COMMIT").unwrap();
    block_on(store.create_thread(thread("t"))).unwrap();
}
