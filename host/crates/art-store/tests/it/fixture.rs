//! The fixture of the tests: a store with a clock that the test controls, and values to store.

use std::collections::HashMap;
use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use art_core::agent::RunStatus;
use art_core::conversation::{ConversationMessage, MessageRole};
use art_core::observation::{NewObservation, ObservationType};
use art_store::clock::ManualClock;
use art_store::{
    Blob, CallRecord, Commit, Committed, JournalEntry, JsonText, Lease, MemoryStore, NewEvent, NewRun, NewThread,
    RunEnd, RunRecord, SqliteStore, Store, StoreError, WorkRecord,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Time at which the clock of a [`TestStore`] stands until the test advances it, in milliseconds.
pub(crate) const START_TIME: u64 = 1_000;

/// A store with a clock that the test controls.
pub(crate) struct TestStore {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<ManualClock>,
    /// The leases that the test holds, by the identifiers of their threads.
    leases: Mutex<HashMap<String, Lease>>,
    /// The last field, so that the directory is deleted after the store is closed.
    _directory: Option<TempDir>,
}

impl TestStore {
    pub(crate) fn memory() -> Self {
        let clock = Arc::new(ManualClock::new(START_TIME));
        Self {
            store: Arc::new(MemoryStore::with_clock(clock.clone())),
            clock,
            leases: Mutex::default(),
            _directory: None,
        }
    }

    pub(crate) fn sqlite() -> Self {
        let clock = Arc::new(ManualClock::new(START_TIME));
        let (directory, path) = new_path();
        Self {
            store: Arc::new(SqliteStore::open_with_clock(path, clock.clone()).unwrap()),
            clock,
            leases: Mutex::default(),
            _directory: Some(directory),
        }
    }

    /// Creates a thread, and returns the fixture.
    pub(crate) async fn with_thread(self, id: &str) -> Self {
        self.store.create_thread(new_thread(id)).await.unwrap();
        self
    }

    /// Returns the lease of a thread, and acquires it if the test does not hold it yet. If it cannot be acquired, returns a lease
    /// that no store accepts, so that the operation under test is refused.
    pub(crate) async fn lease(&self, thread_id: &str) -> Lease {
        let held = self.leases.lock().unwrap().get(thread_id).cloned();
        if let Some(lease) = held {
            return lease;
        }
        let Ok(lease) = self.store.acquire_lease(thread_id).await else {
            // The thread does not exist, or somebody else has its lease. Stores refuse the lease number 0, since they never
            // assign it.
            return Lease {
                thread_id: thread_id.to_owned(),
                number: 0,
            };
        };
        let mut leases = self.leases.lock().unwrap();
        leases.insert(thread_id.to_owned(), lease.clone());
        lease
    }

    /// Releases the lease of a thread if the test holds it.
    pub(crate) async fn release_lease(&self, thread_id: &str) {
        let held = self.leases.lock().unwrap().remove(thread_id);
        if let Some(lease) = held {
            self.store.release_lease(&lease).await.unwrap();
        }
    }

    /// Returns a commit without any content, which expects the journal of the run to be as long as it is now. If the run does not
    /// exist, the commit has the lease of thread `t`.
    pub(crate) async fn empty_commit(&self, trace_id: &str) -> Commit {
        let run = self.store.get_run(trace_id).await.unwrap();
        let thread_id = run.as_ref().map_or("t", |run| &run.thread_id);
        Commit {
            trace_id: trace_id.to_owned(),
            lease: self.lease(thread_id).await,
            expected_last_sequence: run.as_ref().map_or(0, |run| run.last_sequence),
            ..Commit::default()
        }
    }

    pub(crate) async fn begin_run(&self, new: NewRun) -> Result<RunRecord, StoreError> {
        let commit = Commit {
            trace_id: new.trace_id.clone(),
            lease: self.lease(&new.thread_id).await,
            begin: Some(new),
            ..Commit::default()
        };
        self.store.commit(commit).await.map(|committed| committed.run)
    }

    /// Appends an entry to the journal of a run, and returns the stored entry. The store refuses the new entry unless
    /// the last entry of the journal has the sequence `expected_last_sequence`.
    pub(crate) async fn append_entry(
        &self,
        trace_id: &str,
        expected_last_sequence: u64,
        kind: &str,
        payload: Value,
    ) -> Result<JournalEntry, StoreError> {
        let event = NewEvent {
            kind: kind.to_owned(),
            payload: JsonText::of("a journal entry", trace_id, &payload)?,
        };
        let commit = Commit {
            expected_last_sequence,
            events: vec![event],
            ..self.empty_commit(trace_id).await
        };
        self.store.commit(commit).await?;
        Ok(self.store.read_journal(trace_id).await?.pop().unwrap())
    }

    /// Stores a blob for a run, and returns its digest.
    pub(crate) async fn put_blob(&self, trace_id: &str, bytes: Vec<u8>) -> Result<String, StoreError> {
        let blob = Blob::new(bytes);
        let digest = blob.digest().to_owned();
        let commit = Commit {
            blobs: vec![blob],
            ..self.empty_commit(trace_id).await
        };
        self.store.commit(commit).await.map(|_| digest)
    }

    pub(crate) async fn record_calls(&self, trace_id: &str, calls: Vec<CallRecord>) -> Result<Committed, StoreError> {
        let commit = Commit {
            calls,
            ..self.empty_commit(trace_id).await
        };
        self.store.commit(commit).await
    }

    /// Stores the model usage of steps and answers of a run.
    pub(crate) async fn record_work(&self, trace_id: &str, work: Vec<WorkRecord>) -> Result<Committed, StoreError> {
        let commit = Commit {
            work,
            ..self.empty_commit(trace_id).await
        };
        self.store.commit(commit).await
    }

    /// Ends or suspends a run.
    pub(crate) async fn end_run(
        &self,
        trace_id: &str,
        status: RunStatus,
        summary: Value,
    ) -> Result<RunRecord, StoreError> {
        let commit = Commit {
            end: Some(RunEnd { status, summary }),
            ..self.empty_commit(trace_id).await
        };
        self.store.commit(commit).await.map(|committed| committed.run)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the tests read better without references")]
pub(crate) fn event(kind: &str, payload: Value) -> NewEvent {
    NewEvent {
        kind: kind.to_owned(),
        payload: json_text(&payload),
    }
}

pub(crate) fn json_text(value: &Value) -> JsonText {
    JsonText::of("a value", "test", value).unwrap()
}

/// Returns a temporary directory, and the path in it at which a database can be created.
pub(crate) fn new_path() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("home").join("art.db");
    (directory, path)
}

/// Runs a test on several threads of the operating system, so that writers run in parallel.
pub(crate) fn block_on<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_time()
        .build()
        .unwrap()
        .block_on(test)
}

pub(crate) fn new_thread(id: &str) -> NewThread {
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

pub(crate) fn new_observation(thread_id: &str, kind: ObservationType, content: Value) -> NewObservation {
    NewObservation {
        thread_id: thread_id.to_owned(),
        trace_id: None,
        parent_id: None,
        kind,
        content: content.into(),
        metadata: Default::default(),
    }
}

pub(crate) fn thought(thread_id: &str) -> NewObservation {
    new_observation(thread_id, ObservationType::Thoughts, json!({"text": "hm"}))
}

pub(crate) fn new_run(trace_id: &str, thread_id: &str) -> NewRun {
    NewRun {
        trace_id: trace_id.to_owned(),
        thread_id: thread_id.to_owned(),
        query: "what is it?".to_owned(),
        model: Some("model".to_owned()),
    }
}
