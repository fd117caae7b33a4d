//! Tests that a database of format 4, written by a host for which this was the newest format, can be read and migrated.

use std::fs;
use std::path::PathBuf;

use art_core::usage::ModelWork;
use art_store::{Commit, MessageOptions, ObservationFilter, RunState, SqliteStore, Store, digest};
use serde_json::json;
use tempfile::TempDir;

use crate::fixture::{block_on, event, new_path};

/// A database with the threads `t` and `other`. Each thread has two observations, a message and a state. The runs `run-t` and
/// `run-other` each have three events, a call of the tool with the digest `d`, a step of the model `m` and two blobs: the blob
/// `shared`, which both runs use, and a blob of their own, whose content is the identifier of the thread. The run `empty` has
/// nothing.
const FORMAT_4: &[u8] = include_bytes!("data/format-4.db");

/// Writes the database of format 4 into a new directory.
fn write_database() -> (TempDir, PathBuf) {
    let (directory, path) = new_path();
    fs::create_dir(path.parent().unwrap()).unwrap();
    fs::write(&path, FORMAT_4).unwrap();
    (directory, path)
}

/// Asserts that a store has all data of [`FORMAT_4`].
async fn assert_complete(store: &SqliteStore) {
    for thread_id in ["t", "other"] {
        let trace_id = format!("run-{thread_id}");
        let journal = store.read_journal(&trace_id).await.unwrap();
        let payloads: Vec<_> = journal.iter().map(|entry| entry.payload.clone()).collect();
        assert_eq!(payloads, [1, 2, 3].map(|n| json!({"n": n, "x": 0.1}).to_string()));
        for content in [b"shared".as_slice(), thread_id.as_bytes()] {
            let blob = store.get_blob(thread_id, &digest(content)).await.unwrap();
            assert_eq!(blob.as_deref(), Some(content));
        }
        let observations = store.list_observations(thread_id, ObservationFilter::default()).await;
        assert_eq!(observations.unwrap().len(), 2);
        let messages = store.list_messages(thread_id, MessageOptions::default()).await;
        assert_eq!(messages.unwrap().len(), 1);
        let state = store.load_state(thread_id).await.unwrap().unwrap();
        assert_eq!((state.version, state.data), (1, json!({"plan": thread_id})));
    }
    assert_eq!(store.get_blob("t", &digest(b"other")).await.unwrap(), None);
    assert_eq!(store.list_calls("d", None).await.unwrap().len(), 2);
    assert_eq!(
        store.list_model_usage("m", ModelWork::Step, None).await.unwrap().len(),
        2
    );
    assert!(store.read_journal("empty").await.unwrap().is_empty());
    let run = store.get_run("run-t").await.unwrap().unwrap();
    assert_eq!((run.status, run.last_sequence), (RunState::Success, 3));
    // The blobs of `run-t` take some of the room that each run has for blobs.
    assert!(store.remaining_blob_bytes("run-t").await.unwrap() < store.remaining_blob_bytes("empty").await.unwrap());
}

#[test]
fn migrating_a_database_of_format_4_keeps_all_its_data() {
    let (_directory, path) = write_database();
    let store = SqliteStore::open(&path).unwrap();
    block_on(assert_complete(&store));
    drop(store);
    block_on(assert_complete(&SqliteStore::open(&path).unwrap()));
}

#[test]
fn a_database_of_format_4_can_be_read_without_migrating_it() {
    let (_directory, path) = write_database();
    let store = SqliteStore::open_read_only(&path).unwrap();
    block_on(assert_complete(&store));
    drop(store);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let format: i64 = connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    assert_eq!(format, 4);
}

#[test]
fn a_run_of_format_4_can_continue_after_the_migration() {
    let (_directory, path) = write_database();
    let store = SqliteStore::open(&path).unwrap();
    block_on(async {
        let last = store.read_journal("run-other").await.unwrap().pop().unwrap();
        assert_eq!(store.get_run("run-other").await.unwrap().unwrap().head, last.digest);
        let commit = Commit {
            trace_id: "run-other".to_owned(),
            lease: store.acquire_lease("other").await.unwrap(),
            expected_last_sequence: last.sequence,
            events: vec![event("k", json!(4))],
            ..Commit::default()
        };
        store.commit(commit).await.unwrap();
        assert_eq!(store.read_journal("run-other").await.unwrap().len(), 4);
    });
}

#[test]
fn a_blob_of_two_runs_is_stored_once_after_the_migration() {
    let (_directory, path) = write_database();
    drop(SqliteStore::open(&path).unwrap());
    let connection = rusqlite::Connection::open(&path).unwrap();
    let count = |sql| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM blobs"), 3);
    assert_eq!(count("SELECT count(*) FROM blob_uses"), 4);
}
