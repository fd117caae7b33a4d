//! If another program has changed a journal or a blob, the store detects this when it reads the journal or the blob. The entries
//! of a journal form a chain: the digest of each entry also covers the digest of the entry before it, and the row of the run
//! stores the digest of the last entry. Blobs that no run uses are deleted.

use std::path::Path;

use art_store::{Commit, SqliteStore, Store, StoreError, digest};
use rusqlite::{Connection, params};
use serde_json::json;
use tempfile::TempDir;

use crate::fixture::{block_on, event, new_path, new_run, new_thread};

/// Number of events of the run.
const EVENTS: u64 = 3;

/// Creates a store with the run `r` in the thread `t`. The run has [`EVENTS`] events and the blob `content`.
fn filled_store() -> (TempDir, SqliteStore) {
    let (directory, path) = new_path();
    let store = SqliteStore::open(&path).unwrap();
    block_on(async {
        store.create_thread(new_thread("t")).await.unwrap();
        let commit = Commit {
            begin: Some(new_run("r", "t")),
            trace_id: "r".to_owned(),
            lease: store.acquire_lease("t").await.unwrap(),
            events: (0..EVENTS).map(|n| event("kind", json!({"n": n, "x": 0.1}))).collect(),
            blobs: vec![art_store::Blob::new(*b"content")],
            ..Commit::default()
        };
        store.commit(commit).await.unwrap();
    });
    (directory, store)
}

/// Runs `work` with another connection to the database.
fn with_connection<T>(path: &Path, work: impl FnOnce(&Connection) -> T) -> T {
    let connection = Connection::open(path).unwrap();
    work(&connection)
}

/// Returns the sequence at which the store finds that the journal was changed, or `None` if it does not find a change.
fn broken_sequence(store: &SqliteStore) -> Option<u64> {
    match block_on(store.read_journal("r")) {
        Err(StoreError::BrokenChain { sequence, .. }) => Some(sequence),
        _ => None,
    }
}

#[test]
fn a_flipped_bit_in_any_byte_of_an_event_is_detected() {
    let (_directory, store) = filled_store();
    let connection = Connection::open(store.path()).unwrap();
    for column in ["kind", "payload", "digest"] {
        for sequence in 1..=EVENTS {
            let select = format!("SELECT CAST({column} AS BLOB) FROM journal WHERE sequence = ?1");
            let update = format!("UPDATE journal SET {column} = CAST(?2 AS TEXT) WHERE sequence = ?1");
            let original: Vec<u8> = connection
                .query_row(&select, [sequence as i64], |row| row.get(0))
                .unwrap();
            let set = |bytes: &[u8]| connection.execute(&update, params![sequence as i64, bytes]).unwrap();
            for position in 0..original.len() {
                let mut changed = original.clone();
                changed[position] ^= 1 << (position % 8);
                set(&changed);
                assert_eq!(broken_sequence(&store), Some(sequence), "{column} {position}");
            }
            set(&original);
        }
    }
    assert_eq!(block_on(store.read_journal("r")).unwrap().len(), EVENTS as usize);
}

#[test]
fn a_flipped_bit_in_the_timestamp_or_the_sequence_of_an_event_is_detected() {
    let (_directory, store) = filled_store();
    let connection = Connection::open(store.path()).unwrap();
    for column in ["timestamp", "sequence"] {
        for bit in 0..63_i64 {
            // SQLite has no exclusive or: this is `column XOR ?1`.
            let update = format!("UPDATE journal SET {column} = ({column} | ?1) - ({column} & ?1) WHERE rowid = 2");
            let flip = || connection.execute(&update, [1_i64 << bit]);
            // SQLite itself refuses a sequence that another entry has.
            if flip().is_ok() {
                assert!(broken_sequence(&store).is_some(), "{column} {bit}");
                flip().unwrap();
            }
        }
    }
    assert_eq!(block_on(store.read_journal("r")).unwrap().len(), EVENTS as usize);
}

#[test]
fn a_missing_last_entry_is_detected() {
    let (_directory, store) = filled_store();
    with_connection(store.path(), |connection| {
        connection
            .execute("DELETE FROM journal WHERE sequence = 3", [])
            .unwrap();
    });
    assert_eq!(broken_sequence(&store), Some(3));
}

#[test]
fn a_missing_entry_in_the_middle_is_detected() {
    let (_directory, store) = filled_store();
    with_connection(store.path(), |connection| {
        connection
            .execute("DELETE FROM journal WHERE sequence = 2", [])
            .unwrap();
    });
    let error = block_on(store.read_journal("r")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the journal of run `r` was changed at event `2`: restore a backup or begin another run"
    );
}

#[test]
fn a_change_of_the_last_digest_in_the_row_of_the_run_is_detected() {
    let (_directory, store) = filled_store();
    with_connection(store.path(), |connection| {
        connection.execute("UPDATE runs SET head = 'other'", []).unwrap();
    });
    // The entries themselves are intact, so the store reports the sequence after the last one.
    assert_eq!(broken_sequence(&store), Some(EVENTS + 1));
}

#[test]
fn a_changed_blob_is_detected() {
    let (_directory, store) = filled_store();
    with_connection(store.path(), |connection| {
        connection.execute("UPDATE blobs SET bytes = x'00'", []).unwrap();
    });
    let error = block_on(store.get_blob("t", &digest(b"content"))).unwrap_err();
    assert!(matches!(error, StoreError::ChangedBlob { .. }), "{error}");
}

#[test]
fn a_blob_that_no_run_uses_any_more_is_deleted() {
    let (_directory, store) = filled_store();
    let path = store.path().to_owned();
    let count_blobs = || {
        with_connection(&path, |connection| {
            let count = connection.query_row("SELECT count(*) FROM blobs", [], |row| row.get::<_, i64>(0));
            count.unwrap()
        })
    };
    assert_eq!(count_blobs(), 1);
    // Dropping the store frees the lease of the thread.
    drop(store);
    let store = SqliteStore::open(&path).unwrap();
    assert!(block_on(store.delete_thread("t")).unwrap());
    assert_eq!(count_blobs(), 0);
}
