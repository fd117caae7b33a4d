//! The fixture of the tests: a store with a clock, and values to store.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;

use art_core::conversation::{ConversationMessage, MessageRole};
use art_core::observation::{NewObservation, ObservationType};
use art_store::clock::ManualClock;
use art_store::{MemoryStore, NewRun, NewThread, SqliteStore, Store};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A store with a clock that the test controls.
pub(crate) struct TestStore {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<ManualClock>,
    /// The last field, so that the directory is deleted after the store is closed.
    _directory: Option<TempDir>,
}

impl TestStore {
    pub(crate) fn memory() -> Self {
        let clock = Arc::new(ManualClock::new(1_000));
        Self {
            store: Arc::new(MemoryStore::with_clock(clock.clone())),
            clock,
            _directory: None,
        }
    }

    pub(crate) fn sqlite() -> Self {
        let clock = Arc::new(ManualClock::new(1_000));
        let (directory, path) = new_path();
        Self {
            store: Arc::new(SqliteStore::open_with_clock(path, clock.clone()).unwrap()),
            clock,
            _directory: Some(directory),
        }
    }

    pub(crate) async fn with_thread(self, id: &str) -> Self {
        self.store.create_thread(thread(id)).await.unwrap();
        self
    }
}

/// Returns a temporary directory, and the path in it at which a database can be created.
pub(crate) fn new_path() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("home").join("art.db");
    (directory, path)
}

/// Runs a test on several threads, so that writers run in parallel.
pub(crate) fn block_on<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_time()
        .build()
        .unwrap()
        .block_on(test)
}

pub(crate) fn thread(id: &str) -> NewThread {
    NewThread {
        id: id.to_owned(),
        ..NewThread::default()
    }
}

pub(crate) fn message(id: &str, thread_id: &str, timestamp: u64) -> ConversationMessage {
    ConversationMessage {
        message_id: id.to_owned(),
        thread_id: thread_id.to_owned(),
        role: MessageRole::User,
        content: format!("content of {id}"),
        timestamp,
        metadata: Default::default(),
    }
}

pub(crate) fn observation(thread_id: &str, kind: ObservationType, content: Value) -> NewObservation {
    NewObservation {
        thread_id: thread_id.to_owned(),
        trace_id: None,
        parent_id: None,
        kind,
        content,
        metadata: Default::default(),
    }
}

pub(crate) fn thought(thread_id: &str) -> NewObservation {
    observation(thread_id, ObservationType::Thoughts, json!({"text": "hm"}))
}

pub(crate) fn run(trace_id: &str, thread_id: &str) -> NewRun {
    NewRun {
        trace_id: trace_id.to_owned(),
        thread_id: thread_id.to_owned(),
        query: "what is it?".to_owned(),
        model: Some("model".to_owned()),
    }
}
