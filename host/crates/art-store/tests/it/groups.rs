//! Tests of group commit.

use std::sync::Arc;
use std::time::Duration;

use art_store::{Commit, SqliteStore, Store};
use serde_json::json;

use crate::fixture::{block_on, event, new_path, run, thought, thread};

#[test]
fn waiting_writes_are_committed_together() {
    let (_directory, path) = new_path();
    let store = Arc::new(SqliteStore::open(path).unwrap());
    block_on(async {
        store.create_thread(thread("t")).await.unwrap();
        let before = store.stats();
        let writers: Vec<_> = (0..64)
            .map(|_| {
                let store = Arc::clone(&store);
                tokio::spawn(async move {
                    for _ in 0..25 {
                        store.record(thought("t")).await.unwrap();
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.await.unwrap();
        }
        let after = store.stats();
        let (writes, commits) = (after.writes - before.writes, after.commits - before.commits);
        assert_eq!(writes, 1_600);
        assert!(commits * 4 <= writes, "{commits} commits for {writes} writes");
    });
}

/// Creates a thread and commits ten steps of a run in it.
async fn commit_steps(store: Arc<SqliteStore>, id: String) {
    store.create_thread(thread(&id)).await.unwrap();
    let lease = store.acquire_lease(&id).await.unwrap();
    for after in 0..10 {
        let commit = Commit {
            begin: (after == 0).then(|| run(&id, &id)),
            trace_id: id.clone(),
            lease: lease.clone(),
            after,
            events: vec![event("k", json!(after))],
            state: Some(crate::fixture::text(&json!(after))),
            observations: vec![thought(&id), thought(&id)],
            ..Commit::default()
        };
        store.commit(commit).await.unwrap();
    }
}

#[test]
fn steps_of_several_runs_are_committed_together_and_each_is_one_write() {
    let (_directory, path) = new_path();
    let store = Arc::new(SqliteStore::open(path).unwrap());
    block_on(async {
        let writers: Vec<_> = (0..32)
            .map(|n| tokio::spawn(commit_steps(Arc::clone(&store), n.to_string())))
            .collect();
        for writer in writers {
            writer.await.unwrap();
        }
    });
    let stats = store.stats();
    assert_eq!(stats.writes, 32 * 12);
    assert!(stats.commits * 2 <= stats.writes, "{stats:?}");
}

#[test]
fn sequential_writes_are_committed_one_by_one() {
    let (_directory, path) = new_path();
    let store = SqliteStore::open(path).unwrap();
    block_on(async {
        store.create_thread(thread("t")).await.unwrap();
        for _ in 0..200 {
            store.record(thought("t")).await.unwrap();
        }
    });
    assert_eq!((store.stats().writes, store.stats().commits), (201, 201));
}

#[test]
fn dropping_the_store_completes_its_queued_writes() {
    let (_directory, path) = new_path();
    let store = SqliteStore::open(&path).unwrap();
    block_on(async {
        store.create_thread(thread("t")).await.unwrap();
        // Polls each future once, so that its write is queued, and drops it.
        for _ in 0..50 {
            let abandoned = tokio::time::timeout(Duration::ZERO, store.record(thought("t"))).await;
            drop(abandoned);
        }
        drop(store);
    });
    let store = SqliteStore::open(&path).unwrap();
    let observation = block_on(store.record(thought("t"))).unwrap();
    assert_eq!(observation.sequence, 51);
}
