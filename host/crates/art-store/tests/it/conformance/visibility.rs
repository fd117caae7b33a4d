//! Conformance tests of atomic writes and of the exact storage of values. `test_each_store!` runs each listed test once with each
//! store.

use std::sync::Arc;
use std::task::{Context, Waker};

use art_core::usage::ModelWork;
use art_store::{Commit, MessageOptions, ObservationFilter, Owner, RunFilter, digest, limits};
use serde_json::json;

use crate::fixture::{TestStore, event, message, new_run, thought};

test_each_store! {
    a_reader_never_sees_a_part_of_a_commit,
    a_write_whose_future_is_dropped_is_whole_or_missing,
    a_read_that_starts_after_a_write_sees_it,
    reads_of_data_that_does_not_exist_find_nothing,
    text_with_a_nul_character_is_stored_unchanged,
    json_numbers_are_stored_to_the_last_bit,
}

/// Adds the thread `t` with the run `r`, and returns the fixture.
async fn with_run(fixture: TestStore) -> TestStore {
    let fixture = fixture.with_thread("t").await;
    fixture.begin_run(new_run("r", "t")).await.unwrap();
    fixture
}

/// Returns a commit of three events, a message and an observation.
async fn commit_with_parts(fixture: &TestStore) -> Commit {
    let empty = fixture.empty_commit("r").await;
    Commit {
        events: vec![event("a", json!(1)), event("b", json!(2)), event("c", json!(3))],
        messages: vec![message(&format!("m{}", empty.expected_last_sequence), "t", 1)],
        observations: vec![thought("t")],
        ..empty
    }
}

/// Returns the number of whole commits, and asserts that there is no part of another one.
async fn count_commits(fixture: &TestStore) -> usize {
    let events = fixture.store.read_journal("r").await.unwrap().len();
    let messages = fixture.store.list_messages("t", MessageOptions::default()).await;
    let observations = fixture.store.list_observations("t", ObservationFilter::default()).await;
    let commits = observations.unwrap().len();
    assert_eq!((events, messages.unwrap().len()), (commits * 3, commits));
    commits
}

// `read_journal` of the SQLite store compares the digest of the last entry with the head of the run, which is a copy of it that
// is stored with the run. So it would fail if a commit took place between its reads of the entries and of the run.
async fn a_reader_never_sees_a_part_of_a_commit(fixture: TestStore) {
    const COMMITS: usize = 30;
    let fixture = with_run(fixture).await;
    let store = Arc::clone(&fixture.store);
    let reader = tokio::spawn(async move {
        let mut seen = 0;
        while seen < COMMITS * 3 {
            let journal = store.read_journal("r").await.unwrap();
            assert!(journal.len() % 3 == 0 && journal.len() >= seen, "{}", journal.len());
            seen = journal.len();
        }
    });
    for _ in 0..COMMITS {
        let commit = commit_with_parts(&fixture).await;
        fixture.store.commit(commit).await.unwrap();
    }
    reader.await.unwrap();
}

async fn a_write_whose_future_is_dropped_is_whole_or_missing(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    let before = count_commits(&fixture).await;
    for _ in 0..20 {
        let commit = commit_with_parts(&fixture).await;
        // Poll once, so that the write has begun, and drop it.
        let mut write = fixture.store.commit(commit);
        let _begun = write.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        drop(write);
        // This write waits for those before it, so the dropped one has happened now or never will.
        let lease = fixture.lease("t").await;
        fixture.store.renew_lease(&lease).await.unwrap();
        count_commits(&fixture).await;
    }
    let stored = count_commits(&fixture).await;
    assert!((before..=before + 20).contains(&stored), "{stored}");
}

async fn a_read_that_starts_after_a_write_sees_it(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    for commits in 1..=30 {
        let commit = commit_with_parts(&fixture).await;
        let committed = fixture.store.commit(commit).await.unwrap();
        let run = fixture.store.get_run("r").await.unwrap();
        assert_eq!(run, Some(committed.run));
        assert_eq!(count_commits(&fixture).await, commits);
    }
}

async fn reads_of_data_that_does_not_exist_find_nothing(fixture: TestStore) {
    let store = &fixture.store;
    assert_eq!(store.find_thread("t", &Owner::Anyone).await.unwrap(), None);
    assert_eq!(store.find_run("r", &Owner::Anyone).await.unwrap(), None);
    assert_eq!(store.get_blob("t", &digest(b"x")).await.unwrap(), None);
    assert_eq!(
        store.remaining_blob_bytes("r").await.unwrap(),
        limits::MAX_RUN_BLOB_BYTES
    );
    assert!(store.list_calls("d", None).await.unwrap().is_empty());
    assert!(
        store
            .list_model_usage("m", ModelWork::Step, None)
            .await
            .unwrap()
            .is_empty()
    );
    assert!(store.list_runs(RunFilter::default()).await.unwrap().is_empty());
}

// PostgreSQL refuses a text with a NUL character, so a store in PostgreSQL would have to encode such a text.
async fn text_with_a_nul_character_is_stored_unchanged(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    let mut new = new_run("r", "t");
    new.query = "a\0b".to_owned();
    assert_eq!(fixture.begin_run(new).await.unwrap().query, "a\0b");
    assert_eq!(fixture.store.get_run("r").await.unwrap().unwrap().query, "a\0b");
    let mut added = message("m", "t", 1);
    added.content = "a\0b".to_owned();
    fixture.store.append_messages("t", vec![added.clone()]).await.unwrap();
    let listed = fixture
        .store
        .list_messages("t", MessageOptions::default())
        .await
        .unwrap();
    assert_eq!(listed, [added]);
    let payload = json!({"a\0b": "\0"});
    fixture.append_entry("r", 0, "k\0", payload.clone()).await.unwrap();
    let entry = fixture.store.read_journal("r").await.unwrap().remove(0);
    assert_eq!((entry.kind.as_str(), entry.payload), ("k\0", payload.to_string()));
}

// A database column of a JSON type would parse the numbers and change some of them, and thereby the digests.
async fn json_numbers_are_stored_to_the_last_bit(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    let payload = json!([0.1, 1.0, 1e300, 5e-324, -0.0, u64::MAX, i64::MIN, 0.30000000000000004]);
    fixture.append_entry("r", 0, "k", payload.clone()).await.unwrap();
    let entry = fixture.store.read_journal("r").await.unwrap().remove(0);
    assert_eq!(entry.payload, payload.to_string());
}
