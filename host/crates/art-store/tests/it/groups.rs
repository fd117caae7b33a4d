//! Tests of group commit.

use std::sync::Arc;
use std::time::Duration;

use art_store::{SqliteStore, Store};

use crate::fixture::{block_on, new_path, thought, thread};

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

#[test]
fn a_single_write_is_committed_immediately() {
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
fn queued_writes_are_made_before_the_store_is_dropped() {
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
