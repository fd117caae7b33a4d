//! Tests of group commit: the store commits all writes that wait at the same time in one transaction, with one sync.

use std::sync::Arc;
use std::time::Duration;

use art_store::{Commit, SqliteStore, Store};
use serde_json::json;

use crate::fixture::{block_on, event, new_path, new_run, new_thread, thought};

#[test]
fn waiting_writes_are_committed_together() {
    const WRITERS: u64 = 64;
    const WRITES_OF_EACH: u64 = 25;
    let (_directory, path) = new_path();
    let store = Arc::new(SqliteStore::open(path).unwrap());
    block_on(async {
        store.create_thread(new_thread("t")).await.unwrap();
        let before = store.stats();
        let writers: Vec<_> = (0..WRITERS)
            .map(|_| {
                let store = Arc::clone(&store);
                tokio::spawn(async move {
                    for _ in 0..WRITES_OF_EACH {
                        store.record(thought("t")).await.unwrap();
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.await.unwrap();
        }
        let after = store.stats();
        let (writes, transactions) = (after.writes - before.writes, after.commits - before.commits);
        assert_eq!(writes, WRITERS * WRITES_OF_EACH);
        // A transaction has four writes or more on average.
        assert!(
            transactions * 4 <= writes,
            "{transactions} transactions for {writes} writes"
        );
    });
}

/// Number of steps of each run.
const STEPS: u64 = 10;

/// Creates a thread and commits [`STEPS`] steps of a run in it. Thread and run have the identifier `id`.
async fn commit_steps(store: Arc<SqliteStore>, id: String) {
    store.create_thread(new_thread(&id)).await.unwrap();
    let lease = store.acquire_lease(&id).await.unwrap();
    for step in 0..STEPS {
        let commit = Commit {
            begin: (step == 0).then(|| new_run(&id, &id)),
            trace_id: id.clone(),
            lease: lease.clone(),
            expected_last_sequence: step,
            events: vec![event("k", json!(step))],
            state: Some(crate::fixture::json_text(&json!(step))),
            observations: vec![thought(&id), thought(&id)],
            ..Commit::default()
        };
        store.commit(commit).await.unwrap();
    }
}

#[test]
fn steps_of_several_runs_are_committed_together_and_each_is_one_write() {
    const RUNS: u64 = 32;
    let (_directory, path) = new_path();
    let store = Arc::new(SqliteStore::open(path).unwrap());
    block_on(async {
        let writers: Vec<_> = (0..RUNS)
            .map(|n| tokio::spawn(commit_steps(Arc::clone(&store), n.to_string())))
            .collect();
        for writer in writers {
            writer.await.unwrap();
        }
    });
    let stats = store.stats();
    // The thread, its lease and each step are one write each.
    assert_eq!(stats.writes, RUNS * (2 + STEPS));
    // A transaction has two writes or more on average.
    assert!(stats.commits * 2 <= stats.writes, "{stats:?}");
}

#[test]
fn sequential_writes_are_committed_one_by_one() {
    const OBSERVATIONS: u64 = 200;
    let (_directory, path) = new_path();
    let store = SqliteStore::open(path).unwrap();
    block_on(async {
        store.create_thread(new_thread("t")).await.unwrap();
        for _ in 0..OBSERVATIONS {
            store.record(thought("t")).await.unwrap();
        }
    });
    let writes = 1 + OBSERVATIONS;
    assert_eq!((store.stats().writes, store.stats().commits), (writes, writes));
}

#[test]
fn dropping_the_store_completes_its_queued_writes() {
    const QUEUED: u64 = 50;
    let (_directory, path) = new_path();
    let store = SqliteStore::open(&path).unwrap();
    block_on(async {
        store.create_thread(new_thread("t")).await.unwrap();
        // A timeout of zero polls the future once, so that its write is queued, and drops the future.
        for _ in 0..QUEUED {
            let abandoned = tokio::time::timeout(Duration::ZERO, store.record(thought("t"))).await;
            drop(abandoned);
        }
        drop(store);
    });
    let store = SqliteStore::open(&path).unwrap();
    let observation = block_on(store.record(thought("t"))).unwrap();
    assert_eq!(observation.sequence, QUEUED + 1);
}
