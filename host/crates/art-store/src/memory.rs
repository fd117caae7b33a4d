//! A store in memory.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use art_core::Timestamp;
use art_core::agent::{AgentState, ThreadConfig};
use art_core::conversation::ConversationMessage;
use art_core::observation::{NewObservation, Observation};
use art_core::suspension::Decision;
use art_core::usage::{ModelUsage, ModelWork, ToolUsage};
use serde_json::Value;

use crate::blob::Blob;
use crate::check;
use crate::clock::{Clock, SystemClock};
use crate::commit::{CheckedCommit, Commit, Committed};
use crate::error::StoreError;
use crate::json::JsonText;
use crate::lease::Lease;
use crate::record::{
    CallRecord, JournalEntry, MessageOptions, NewThread, ObservationFilter, Owner, RunFilter, RunRecord, Thread,
    ThreadFilter, WorkRecord,
};
use crate::store::{Store, StoreFuture};
use crate::suspension::{SuspensionFilter, SuspensionRecord};

mod commits;
mod runs;
mod suspensions;
mod threads;

/// A store in memory, for tests and for hosts that do not need their data after they stop. It grows until
/// threads are deleted.
#[derive(Debug)]
pub struct MemoryStore {
    clock: Arc<dyn Clock>,
    data: Mutex<Data>,
}

#[derive(Debug, Default)]
struct Data {
    threads: HashMap<String, ThreadData>,
    runs: HashMap<String, RunData>,
    /// The identifiers of all messages, so that a new message with one of them is refused.
    message_ids: HashSet<String>,
    /// The tool calls with the identifiers of their runs, oldest first.
    calls: Vec<(String, CallRecord)>,
    /// Model calls and tokens of steps and answers, with the identifiers of their runs, oldest first.
    work: Vec<(String, WorkRecord)>,
    /// The suspensions, oldest first.
    suspensions: Vec<SuspensionRecord>,
    /// Number of threads and runs that were created, which is the `creation_number` of the last one.
    created_count: u64,
    /// Number of leases that were given, which is the fencing number of the last one.
    lease_count: u64,
}

#[derive(Debug)]
struct ThreadData {
    /// Position of this thread among all threads and runs in the order of their creation. Sorts threads with equal times.
    creation_number: u64,
    thread: Thread,
    messages: Vec<ConversationMessage>,
    observations: Vec<Observation>,
    state: Option<StoredState>,
    lease: Option<HeldLease>,
}

/// The agent's state as JSON text. It is parsed only when it is loaded, since most states are replaced before that.
#[derive(Debug)]
struct StoredState {
    data: JsonText,
    version: u64,
    modified: Timestamp,
}

#[derive(Clone, Copy, Debug)]
struct HeldLease {
    /// Fencing number.
    number: u64,
    /// Time at which it expires.
    until: Timestamp,
}

#[derive(Debug)]
struct RunData {
    /// Position of this run among all threads and runs in the order of their creation. Sorts runs with equal times.
    creation_number: u64,
    run: RunRecord,
    entries: Vec<JournalEntry>,
    /// Size of all payloads in the journal, in bytes.
    journal_bytes: u64,
    /// The blobs by their digests.
    blobs: BTreeMap<String, Blob>,
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

    /// Runs an operation when the future is polled. Each operation makes all its checks before it changes anything. So a panic
    /// leaves no partial change, and a lock that a panic poisoned can still be used.
    fn defer<'a, T: Send + 'a>(
        &'a self,
        operation: impl FnOnce(&mut Data, Timestamp) -> Result<T, StoreError> + Send + 'a,
    ) -> StoreFuture<'a, T> {
        Box::pin(async move {
            let mut data: MutexGuard<'_, Data> = self.data.lock().unwrap_or_else(PoisonError::into_inner);
            operation(&mut data, self.clock.now())
        })
    }
}

impl Store for MemoryStore {
    fn create_thread(&self, new: NewThread) -> StoreFuture<'_, Thread> {
        self.defer(move |data, now| data.create_thread(new, now))
    }

    fn create_leased_thread(&self, new: NewThread) -> StoreFuture<'_, (Thread, Lease)> {
        self.defer(move |data, now| {
            let thread = data.create_thread(new, now)?;
            let lease = data.acquire_lease(&thread.id, now)?;
            Ok((thread, lease))
        })
    }

    fn get_thread<'a>(&'a self, thread_id: &'a str) -> StoreFuture<'a, Option<Thread>> {
        self.defer(move |data, _| Ok(data.threads.get(thread_id).map(|found| found.thread.clone())))
    }

    fn find_thread<'a>(&'a self, thread_id: &'a str, owner: &'a Owner) -> StoreFuture<'a, Option<Thread>> {
        self.defer(move |data, _| Ok(data.find_thread(thread_id, owner).map(|found| found.thread.clone())))
    }

    fn set_thread_config<'a>(&'a self, thread_id: &'a str, config: ThreadConfig) -> StoreFuture<'a, Thread> {
        self.defer(move |data, now| {
            // The text is not stored here; this only refuses what is too large or nested too deeply, as the SQLite store does.
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
        self.defer(move |data, now| data.delete_thread(thread_id, now))
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
        self.defer(move |data, now| data.record_observation(new, now))
    }

    fn list_observations<'a>(
        &'a self,
        thread_id: &'a str,
        filter: ObservationFilter,
    ) -> StoreFuture<'a, Vec<Observation>> {
        self.defer(move |data, _| Ok(data.list_observations(thread_id, &filter)))
    }

    fn load_state<'a>(&'a self, thread_id: &'a str) -> StoreFuture<'a, Option<AgentState>> {
        self.defer(move |data, _| data.load_state(thread_id))
    }

    fn save_state<'a>(
        &'a self,
        thread_id: &'a str,
        state: Value,
        expected_version: Option<u64>,
    ) -> StoreFuture<'a, u64> {
        self.defer(move |data, now| data.save_state(thread_id, &state, expected_version, now))
    }

    fn acquire_lease<'a>(&'a self, thread_id: &'a str) -> StoreFuture<'a, Lease> {
        self.defer(move |data, now| data.acquire_lease(thread_id, now))
    }

    fn renew_lease<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        self.defer(move |data, now| data.renew_lease(lease, now))
    }

    fn release_lease<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        self.defer(move |data, _| {
            data.release_lease(lease);
            Ok(())
        })
    }

    fn commit(&self, commit: Commit) -> StoreFuture<'_, Committed> {
        self.defer(move |data, now| data.commit(CheckedCommit::new(commit)?, now))
    }

    fn decide<'a>(
        &'a self,
        suspension_id: &'a str,
        owner: &'a Owner,
        decision: Decision,
    ) -> StoreFuture<'a, SuspensionRecord> {
        self.defer(move |data, now| data.decide(suspension_id, owner, decision, now))
    }

    fn find_suspension<'a>(
        &'a self,
        suspension_id: &'a str,
        owner: &'a Owner,
    ) -> StoreFuture<'a, Option<SuspensionRecord>> {
        self.defer(move |data, _| Ok(data.find_suspension(suspension_id, owner)))
    }

    fn list_suspensions(&self, filter: SuspensionFilter) -> StoreFuture<'_, Vec<SuspensionRecord>> {
        self.defer(move |data, _| data.list_suspensions(&filter))
    }

    fn remaining_blob_bytes<'a>(&'a self, trace_id: &'a str) -> StoreFuture<'a, u64> {
        self.defer(move |data, _| Ok(data.remaining_blob_bytes(trace_id)))
    }

    fn get_blob<'a>(&'a self, thread_id: &'a str, digest: &'a str) -> StoreFuture<'a, Option<Vec<u8>>> {
        self.defer(move |data, _| Ok(data.get_blob(thread_id, digest)))
    }

    fn list_calls<'a>(&'a self, tool_digest: &'a str, limit: Option<usize>) -> StoreFuture<'a, Vec<ToolUsage>> {
        self.defer(move |data, _| Ok(data.list_calls(tool_digest, limit)))
    }

    fn list_model_usage<'a>(
        &'a self,
        model: &'a str,
        work: ModelWork,
        limit: Option<usize>,
    ) -> StoreFuture<'a, Vec<ModelUsage>> {
        self.defer(move |data, _| Ok(data.list_model_usage(model, work, limit)))
    }

    fn get_run<'a>(&'a self, trace_id: &'a str) -> StoreFuture<'a, Option<RunRecord>> {
        self.defer(move |data, _| Ok(data.runs.get(trace_id).map(|found| found.run.clone())))
    }

    fn find_run<'a>(&'a self, trace_id: &'a str, owner: &'a Owner) -> StoreFuture<'a, Option<RunRecord>> {
        self.defer(move |data, _| Ok(data.find_run(trace_id, owner)))
    }

    fn list_runs(&self, filter: RunFilter) -> StoreFuture<'_, Vec<RunRecord>> {
        self.defer(move |data, now| Ok(data.list_runs(&filter, now)))
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
