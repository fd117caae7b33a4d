//! What several writers store, and what each of them finds after each of its writes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use art_core::agent::{AgentState, RunStatus};
use art_core::conversation::{ConversationMessage, MessageRole};
use art_core::observation::{NewObservation, Observation, ObservationType};
use art_store::clock::ManualClock;
use art_store::{
    Blob, Commit, JournalEntry, JsonText, Lease, MessageOptions, NewEvent, NewRun, NewThread, ObservationFilter,
    RunEnd, RunRecord, SqliteStore, Store, StoreError,
};
use futures_util::future::join3;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::disk::Disk;

/// The names of the writers. Each writer has a conversation thread and a run with its name as their identifiers.
pub(crate) const WRITERS: [&str; 3] = ["a", "b", "c"];

/// Everything that is stored for a writer: in its thread and its run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StoredData {
    run: Option<RunRecord>,
    journal: Vec<JournalEntry>,
    messages: Vec<ConversationMessage>,
    observations: Vec<Observation>,
    state: Option<AgentState>,
    /// Whether every blob that an event names is stored.
    has_all_blobs: bool,
}

impl StoredData {
    /// Returns the number of events in the journal.
    pub(crate) fn event_count(&self) -> usize {
        self.journal.len()
    }
}

/// What is stored for one writer: first before its first write, and then after each of its acknowledged writes.
pub(crate) type Versions = Vec<StoredData>;

/// Returns a temporary directory and the path of a database in it.
pub(crate) fn new_path() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("art.db");
    (directory, path)
}

/// Waits for a future on the calling thread of the process. The store has threads of its own for its reads and writes.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

/// Opens a store whose clock stands still, so that equal writes store equal values.
pub(crate) fn open(path: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open_with_clock(path, Arc::new(ManualClock::new(1_000)))
}

/// Creates a database with an empty thread for each writer.
pub(crate) fn create(path: &Path) {
    let store = open(path).unwrap();
    for id in WRITERS {
        let id = id.to_owned();
        block_on(store.create_thread(NewThread {
            id,
            ..NewThread::default()
        }))
        .unwrap();
    }
}

/// Reads everything that is stored for a writer, and fails if its journal is damaged.
pub(crate) async fn read_stored(store: &SqliteStore, writer: &str) -> StoredData {
    read_stored_run(store, writer, writer).await
}

/// Reads everything that is stored for a run and its thread, and fails if the journal is damaged: `read_journal` verifies it.
pub(crate) async fn read_stored_run(store: &SqliteStore, thread_id: &str, trace_id: &str) -> StoredData {
    let journal = store.read_journal(trace_id).await.unwrap();
    let mut has_all_blobs = true;
    for entry in &journal {
        let payload: serde_json::Value = serde_json::from_str(&entry.payload).unwrap();
        if let Some(digest) = payload["blob"].as_str() {
            has_all_blobs &= store.get_blob(thread_id, digest).await.unwrap().is_some();
        }
    }
    let observations = store.list_observations(thread_id, ObservationFilter::default()).await;
    StoredData {
        run: store.get_run(trace_id).await.unwrap(),
        journal,
        messages: store.list_messages(thread_id, MessageOptions::default()).await.unwrap(),
        observations: observations.unwrap(),
        state: store.load_state(thread_id).await.unwrap(),
        has_all_blobs,
    }
}

/// Returns the next commit of a writer: an event, a blob, a state, a message and an observation. `last_sequence` is the number of
/// events that the run of the writer has already; if it is 0, the commit begins the run.
pub(crate) fn next_commit(writer: &str, lease: &Lease, last_sequence: u64) -> Commit {
    let blob = Blob::new(format!("blob {last_sequence} of {writer}").into_bytes());
    let payload = json!({"n": last_sequence + 1, "blob": blob.digest()});
    // Each commit replaces the state, so that the write-ahead log grows and the database does not. The states have different
    // sizes, so the commits write different numbers of pages.
    let state = json!({"n": last_sequence + 1, "text": "x".repeat(20_000 * (last_sequence as usize % 4))});
    Commit {
        begin: (last_sequence == 0).then(|| new_run(writer)),
        trace_id: writer.to_owned(),
        lease: lease.clone(),
        expected_last_sequence: last_sequence,
        events: vec![NewEvent {
            kind: "k".to_owned(),
            payload: json_text(&payload),
        }],
        blobs: vec![blob],
        state: Some(json_text(&state)),
        messages: vec![message(writer, last_sequence)],
        observations: vec![thought(writer)],
        ..Commit::default()
    }
}

fn json_text(value: &serde_json::Value) -> JsonText {
    JsonText::of("a value", "test", value).unwrap()
}

fn new_run(writer: &str) -> NewRun {
    NewRun {
        trace_id: writer.to_owned(),
        thread_id: writer.to_owned(),
        query: "what is it?".to_owned(),
        model: None,
    }
}

fn message(writer: &str, number: u64) -> ConversationMessage {
    ConversationMessage {
        message_id: format!("{writer}-{number}"),
        thread_id: writer.to_owned(),
        role: MessageRole::User,
        content: "what is it?".to_owned(),
        timestamp: number,
        metadata: Default::default(),
    }
}

fn thought(writer: &str) -> NewObservation {
    NewObservation {
        thread_id: writer.to_owned(),
        trace_id: None,
        parent_id: None,
        kind: ObservationType::Thoughts,
        content: json!({"text": "hm"}).into(),
        metadata: Default::default(),
    }
}

/// Lets all writers commit at the same time, each `rounds` times, and reports each acknowledgement to `disk`, which records it.
/// Returns the versions of each writer.
pub(crate) fn commit_all(store: &SqliteStore, disk: &Disk, rounds: u64) -> [Versions; 3] {
    let writers = [0, 1, 2].map(|writer| commit_rounds(store, disk, writer, rounds));
    let [a, b, c] = writers;
    block_on(join3(a, b, c)).into()
}

async fn commit_rounds(store: &SqliteStore, disk: &Disk, writer: usize, rounds: u64) -> Versions {
    let name = WRITERS[writer];
    let lease = store.acquire_lease(name).await.unwrap();
    let mut versions = vec![read_stored(store, name).await];
    for round in 0..rounds {
        let last_sequence = versions.last().unwrap().journal.len() as u64;
        // Every fifth commit suspends the run, and the next one resumes it.
        let end = (round % 5 == 3).then(|| RunEnd {
            status: RunStatus::Suspended,
            summary: Value::Null,
        });
        let commit = Commit {
            end,
            ..next_commit(name, &lease, last_sequence)
        };
        store.commit(commit).await.unwrap();
        disk.acknowledge(writer);
        versions.push(read_stored(store, name).await);
    }
    versions
}
