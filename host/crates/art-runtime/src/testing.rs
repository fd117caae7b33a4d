//! What several unit tests need.

use art_store::{MemoryStore, NewRun, NewThread, Store};

/// Creates a store with the run `r` of the thread `t`.
pub(crate) async fn store_with_run() -> MemoryStore {
    let store = MemoryStore::new();
    let thread = NewThread {
        id: "t".to_owned(),
        ..NewThread::default()
    };
    store.create_thread(thread).await.unwrap();
    let run = NewRun {
        trace_id: "r".to_owned(),
        thread_id: "t".to_owned(),
        ..NewRun::default()
    };
    store.begin_run(run).await.unwrap();
    store
}
