//! What several unit tests need.

use art_store::{Commit, MemoryStore, NewEvent, NewRun, NewThread, Store};
use serde_json::json;

/// Creates a store with the run `r` of the thread `t`, and commits what `add` adds.
pub(crate) async fn store_with_run(add: impl FnOnce(&mut Commit)) -> MemoryStore {
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
            payload: json!({}),
        }],
        ..Commit::default()
    };
    add(&mut commit);
    store.commit(commit).await.unwrap();
    store
}
