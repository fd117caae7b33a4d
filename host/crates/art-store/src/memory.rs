//! A store in memory.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use art_core::agent::{AgentState, RunStatus, ThreadConfig};
use art_core::conversation::ConversationMessage;
use art_core::observation::{NewObservation, Observation};
use art_core::usage::{ModelUsage, ModelWork, Usage};
use serde_json::Value;

use crate::check;
use crate::clock::{Clock, SystemClock};
use crate::error::StoreError;
use crate::record::{
    CallRecord, JournalEntry, MessageOptions, NewRun, NewThread, ObservationFilter, RunFilter, RunRecord, Thread,
    ThreadFilter, WorkRecord,
};
use crate::store::{Store, StoreFuture};

mod runs;
mod threads;

/// A store in memory, for tests and for hosts that do not need their data after they stop. Only deleting threads frees
/// memory.
#[derive(Debug)]
pub struct MemoryStore {
    clock: Arc<dyn Clock>,
    data: Mutex<Data>,
}

#[derive(Debug, Default)]
struct Data {
    threads: HashMap<String, ThreadData>,
    runs: HashMap<String, RunData>,
    message_ids: HashSet<String>,
    /// The tool calls with the identifiers of their runs, oldest first.
    calls: Vec<(String, CallRecord)>,
    /// What models used, with the identifiers of their runs, oldest first.
    work: Vec<(String, WorkRecord)>,
    /// Number of threads and runs that were created, which gives their order.
    created: u64,
}

#[derive(Debug)]
struct ThreadData {
    order: u64,
    thread: Thread,
    messages: Vec<ConversationMessage>,
    observations: Vec<Observation>,
    state: Option<AgentState>,
}

#[derive(Debug)]
struct RunData {
    order: u64,
    run: RunRecord,
    entries: Vec<JournalEntry>,
    bytes: u64,
    /// The blobs by their digests.
    blobs: BTreeMap<String, Vec<u8>>,
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::with_clock(Arc::new(SystemClock))
    }
}

impl MemoryStore {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty store that takes the time from `clock`.
    #[must_use]
    pub fn with_clock(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            data: Mutex::default(),
        }
    }

    /// Runs `work` when the future is polled. All work makes its checks before it changes anything, so a panic leaves
    /// no partial change and a poisoned lock can be used.
    fn defer<'a, T: Send + 'a>(
        &'a self,
        work: impl FnOnce(&mut Data, u64) -> Result<T, StoreError> + Send + 'a,
    ) -> StoreFuture<'a, T> {
        Box::pin(async move {
            let mut data: MutexGuard<'_, Data> = self.data.lock().unwrap_or_else(PoisonError::into_inner);
            work(&mut data, self.clock.now())
        })
    }
}

impl Store for MemoryStore {
    fn create_thread(&self, new: NewThread) -> StoreFuture<'_, Thread> {
        self.defer(move |data, now| data.create_thread(new, now))
    }

    fn get_thread<'a>(&'a self, thread_id: &'a str) -> StoreFuture<'a, Option<Thread>> {
        self.defer(move |data, _| Ok(data.threads.get(thread_id).map(|data| data.thread.clone())))
    }

    fn set_thread_config<'a>(&'a self, thread_id: &'a str, config: ThreadConfig) -> StoreFuture<'a, Thread> {
        self.defer(move |data, now| {
            check::encode("the configuration", thread_id, &config)?;
            let thread = &mut data.touch(thread_id, now)?.thread;
            thread.config = config;
            Ok(thread.clone())
        })
    }

    fn list_threads(&self, filter: ThreadFilter) -> StoreFuture<'_, Vec<Thread>> {
        self.defer(move |data, _| Ok(data.list_threads(&filter)))
    }

    fn delete_thread<'a>(&'a self, thread_id: &'a str) -> StoreFuture<'a, bool> {
        self.defer(move |data, _| Ok(data.delete_thread(thread_id)))
    }

    fn append_messages<'a>(&'a self, thread_id: &'a str, messages: Vec<ConversationMessage>) -> StoreFuture<'a, ()> {
        self.defer(move |data, now| data.append_messages(thread_id, messages, now))
    }

    fn list_messages<'a>(
        &'a self,
        thread_id: &'a str,
        options: MessageOptions,
    ) -> StoreFuture<'a, Vec<ConversationMessage>> {
        self.defer(move |data, _| Ok(data.list_messages(thread_id, &options)))
    }

    fn record(&self, new: NewObservation) -> StoreFuture<'_, Observation> {
        self.defer(move |data, now| data.record(new, now))
    }

    fn list_observations<'a>(
        &'a self,
        thread_id: &'a str,
        filter: ObservationFilter,
    ) -> StoreFuture<'a, Vec<Observation>> {
        self.defer(move |data, _| Ok(data.list_observations(thread_id, &filter)))
    }

    fn load_state<'a>(&'a self, thread_id: &'a str) -> StoreFuture<'a, Option<AgentState>> {
        self.defer(move |data, _| Ok(data.threads.get(thread_id).and_then(|thread| thread.state.clone())))
    }

    fn save_state<'a>(&'a self, thread_id: &'a str, state: Value, expected: Option<u64>) -> StoreFuture<'a, u64> {
        self.defer(move |data, now| data.save_state(thread_id, state, expected, now))
    }

    fn begin_run(&self, new: NewRun) -> StoreFuture<'_, RunRecord> {
        self.defer(move |data, now| data.begin_run(&new, now))
    }

    fn append_journal<'a>(
        &'a self,
        trace_id: &'a str,
        expected_sequence: u64,
        kind: &'a str,
        payload: Value,
    ) -> StoreFuture<'a, JournalEntry> {
        self.defer(move |data, timestamp| {
            let entry = JournalEntry {
                sequence: expected_sequence,
                timestamp,
                kind: kind.to_owned(),
                payload,
            };
            data.append_journal(trace_id, entry)
        })
    }

    fn put_blob<'a>(&'a self, trace_id: &'a str, bytes: Vec<u8>) -> StoreFuture<'a, String> {
        self.defer(move |data, _| data.put_blob(trace_id, bytes))
    }

    fn get_blob<'a>(&'a self, thread_id: &'a str, digest: &'a str) -> StoreFuture<'a, Option<Vec<u8>>> {
        self.defer(move |data, _| Ok(data.get_blob(thread_id, digest)))
    }

    fn record_calls<'a>(&'a self, trace_id: &'a str, calls: Vec<CallRecord>) -> StoreFuture<'a, ()> {
        self.defer(move |data, _| data.record_calls(trace_id, calls))
    }

    fn list_calls<'a>(&'a self, tool_digest: &'a str, limit: Option<usize>) -> StoreFuture<'a, Vec<Usage>> {
        self.defer(move |data, _| Ok(data.list_calls(tool_digest, limit)))
    }

    fn record_work<'a>(&'a self, trace_id: &'a str, records: Vec<WorkRecord>) -> StoreFuture<'a, ()> {
        self.defer(move |data, _| data.record_work(trace_id, records))
    }

    fn list_work<'a>(
        &'a self,
        model: &'a str,
        work: ModelWork,
        limit: Option<usize>,
    ) -> StoreFuture<'a, Vec<ModelUsage>> {
        self.defer(move |data, _| Ok(data.list_work(model, work, limit)))
    }

    fn end_run<'a>(&'a self, trace_id: &'a str, status: RunStatus, summary: Value) -> StoreFuture<'a, RunRecord> {
        self.defer(move |data, now| data.end_run(trace_id, status, summary, now))
    }

    fn resume_run<'a>(&'a self, trace_id: &'a str) -> StoreFuture<'a, RunRecord> {
        self.defer(move |data, now| data.resume_run(trace_id, now))
    }

    fn get_run<'a>(&'a self, trace_id: &'a str) -> StoreFuture<'a, Option<RunRecord>> {
        self.defer(move |data, _| Ok(data.runs.get(trace_id).map(|data| data.run.clone())))
    }

    fn list_runs(&self, filter: RunFilter) -> StoreFuture<'_, Vec<RunRecord>> {
        self.defer(move |data, _| Ok(data.list_runs(&filter)))
    }

    fn read_journal<'a>(&'a self, trace_id: &'a str) -> StoreFuture<'a, Vec<JournalEntry>> {
        self.defer(move |data, _| {
            Ok(data
                .runs
                .get(trace_id)
                .map(|run| run.entries.clone())
                .unwrap_or_default())
        })
    }
}
