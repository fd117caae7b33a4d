//! Helpers for unit tests.

use art_store::{Commit, JournalEntry, JsonText, MemoryStore, NewEvent, NewRun, NewThread, Store};
use serde::Serialize;
use serde_json::{Value, json};

use crate::journal::read_journal;

/// Creates a store with the run `r` of the thread `t`. `change` may add to the commit that begins the run.
pub(crate) async fn store_with_run(change: impl FnOnce(&mut Commit)) -> MemoryStore {
    let store = MemoryStore::new();
    let thread = NewThread {
        id: "t".to_owned(),
        ..NewThread::default()
    };
    store.create_thread(thread).await.unwrap();
    let lease = store.acquire_lease("t").await.unwrap();
    let mut commit = Commit {
        begin: Some(NewRun {
            trace_id: "r".to_owned(),
            thread_id: "t".to_owned(),
            ..NewRun::default()
        }),
        trace_id: "r".to_owned(),
        lease,
        events: vec![NewEvent {
            kind: "started".to_owned(),
            payload: json_text(&json!({})),
        }],
        ..Commit::default()
    };
    change(&mut commit);
    store.commit(commit).await.unwrap();
    store
}

/// Returns a value as JSON text. The two texts only name the value in an error.
pub(crate) fn json_text<T: Serialize>(value: &T) -> JsonText {
    JsonText::of("a value", "of a test", value).unwrap()
}

/// Returns the journal of a run. The store keeps large values apart from the events; here they are in the events again.
pub(crate) async fn stored_journal(store: &dyn Store, trace_id: &str) -> Vec<JournalEntry> {
    let run = store.get_run(trace_id).await.unwrap().unwrap();
    read_journal(store, &run).await.unwrap()
}

pub(crate) fn parse_payload(entry: &JournalEntry) -> Value {
    serde_json::from_str(&entry.payload).unwrap()
}
