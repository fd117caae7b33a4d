//! The interface of a store.

use std::fmt::Debug;

use art_core::agent::{AgentState, RunStatus, ThreadConfig};
use art_core::conversation::ConversationMessage;
use art_core::observation::{NewObservation, Observation};
use art_core::usage::{ModelUsage, ModelWork, Usage};
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::error::StoreError;
use crate::record::{
    CallRecord, JournalEntry, MessageOptions, NewRun, NewThread, ObservationFilter, RunFilter, RunRecord, Thread,
    ThreadFilter, WorkRecord,
};

/// The future that a method of a store returns.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// Threads, conversations, observations, agent state and run journals (M1, M6, M8, M15, M16).
///
/// Every method follows these rules:
/// - A write is durable when its future is ready, and every read that starts later sees it. If the future is dropped
///   before that, the write may or may not happen.
/// - A write is atomic.
/// - Reading data that does not exist returns `None` or an empty list; writing to a thread or run that does not exist
///   is an error.
/// - [`crate::limits`] bounds the sizes of values and lists.
pub trait Store: Send + Sync + Debug {
    /// Creates a thread.
    ///
    /// Fails with [`StoreError::AlreadyExists`] when its identifier is in use.
    fn create_thread(&self, new: NewThread) -> StoreFuture<'_, Thread>;

    /// Returns the thread with that identifier.
    fn get_thread<'a>(&'a self, thread_id: &'a str) -> StoreFuture<'a, Option<Thread>>;

    /// Replaces the settings of a thread and does not change its state (M8).
    fn set_thread_config<'a>(&'a self, thread_id: &'a str, config: ThreadConfig) -> StoreFuture<'a, Thread>;

    /// Returns threads, the most recently updated first.
    fn list_threads(&self, filter: ThreadFilter) -> StoreFuture<'_, Vec<Thread>>;

    /// Deletes a thread with its messages, observations, state, runs, journals and blobs. Returns `false` if it does
    /// not exist (M1).
    fn delete_thread<'a>(&'a self, thread_id: &'a str) -> StoreFuture<'a, bool>;

    /// Adds messages to a thread. An empty list is accepted even for a thread that does not exist (M15).
    ///
    /// Fails with [`StoreError::ForeignMessage`] when a message has the identifier of another thread. The contract
    /// requires only a warning (M6), but a wrong thread would show messages of one user to another (B23). Fails with
    /// [`StoreError::AlreadyExists`] when the identifier of a message is in use.
    fn append_messages<'a>(&'a self, thread_id: &'a str, messages: Vec<ConversationMessage>) -> StoreFuture<'a, ()>;

    /// Returns messages by ascending timestamp; messages with the same timestamp in the order in which they were added
    /// (M6).
    fn list_messages<'a>(
        &'a self,
        thread_id: &'a str,
        options: MessageOptions,
    ) -> StoreFuture<'a, Vec<ConversationMessage>>;

    /// Stores an observation, and assigns its identifier, sequence, timestamp and title (M16).
    fn record(&self, new: NewObservation) -> StoreFuture<'_, Observation>;

    /// Returns observations by ascending sequence.
    fn list_observations<'a>(
        &'a self,
        thread_id: &'a str,
        filter: ObservationFilter,
    ) -> StoreFuture<'a, Vec<Observation>>;

    /// Returns the agent's state of the thread.
    fn load_state<'a>(&'a self, thread_id: &'a str) -> StoreFuture<'a, Option<AgentState>>;

    /// Replaces the agent's state if it has the version `expected`, and returns the new version (B19). `None` expects
    /// that there is no state.
    ///
    /// Fails with [`StoreError::Conflict`] if another writer has changed the state; the caller then has to load it
    /// again.
    fn save_state<'a>(&'a self, thread_id: &'a str, data: Value, expected: Option<u64>) -> StoreFuture<'a, u64>;

    /// Begins a run with an empty journal.
    fn begin_run(&self, new: NewRun) -> StoreFuture<'_, RunRecord>;

    /// Appends the entry with the sequence `expected_sequence` to the journal of a run. The first entry has the
    /// sequence 1.
    ///
    /// Fails with [`StoreError::Conflict`] when the journal does not have exactly `expected_sequence - 1` entries,
    /// which happens when two hosts drive the same run, and with [`StoreError::RunEnded`] when the run has ended.
    fn append_journal<'a>(
        &'a self,
        trace_id: &'a str,
        expected_sequence: u64,
        kind: &'a str,
        payload: Value,
    ) -> StoreFuture<'a, JournalEntry>;

    /// Stores a blob to which the journal of a run refers, and returns its [`digest`](crate::digest). A run stores
    /// equal blobs once. They are deleted with the run.
    ///
    /// Fails with [`StoreError::TooLarge`] when the blob is too large, with [`StoreError::BlobsFull`] when all blobs of
    /// the run together would be, and with [`StoreError::RunEnded`] when the run has ended.
    fn put_blob<'a>(&'a self, trace_id: &'a str, bytes: Vec<u8>) -> StoreFuture<'a, String>;

    /// Returns the blob with that digest from any run of the thread.
    fn get_blob<'a>(&'a self, thread_id: &'a str, digest: &'a str) -> StoreFuture<'a, Option<Vec<u8>>>;

    /// Records what tool calls of a run used. They are deleted with the run. An empty list is accepted even for a run that
    /// does not exist.
    ///
    /// Fails with [`StoreError::RunEnded`] when the run has ended.
    fn record_calls<'a>(&'a self, trace_id: &'a str, calls: Vec<CallRecord>) -> StoreFuture<'a, ()>;

    /// Returns what the newest calls of a tool used, in all threads, the newest first. `limit` is the maximum number of calls;
    /// `None`, 0 and more than [`MAX_LIST`](crate::limits::MAX_LIST) mean [`MAX_LIST`](crate::limits::MAX_LIST). The time that
    /// this takes does not depend on how many calls are stored.
    fn list_calls<'a>(&'a self, tool_digest: &'a str, limit: Option<usize>) -> StoreFuture<'a, Vec<Usage>>;

    /// Records what the model of a run used for steps and answers. The records are deleted with the run. An empty list is accepted
    /// even for a run that does not exist.
    ///
    /// Fails with [`StoreError::RunEnded`] when the run has ended.
    fn record_work<'a>(&'a self, trace_id: &'a str, records: Vec<WorkRecord>) -> StoreFuture<'a, ()>;

    /// Returns what a model used for the newest pieces of work of one kind, in all threads, the newest first. `limit` is the maximum
    /// number, as in [`list_calls`](Self::list_calls), and the time that this takes does not depend on how many are stored either.
    fn list_work<'a>(
        &'a self,
        model: &'a str,
        work: ModelWork,
        limit: Option<usize>,
    ) -> StoreFuture<'a, Vec<ModelUsage>>;

    /// Ends or suspends a run, and stores `summary` for listings. A suspended run can be ended as well, for example
    /// cancelled.
    ///
    /// Fails with [`StoreError::RunEnded`] when the run has already ended.
    fn end_run<'a>(&'a self, trace_id: &'a str, status: RunStatus, summary: Value) -> StoreFuture<'a, RunRecord>;

    /// Resumes a suspended run. Of several callers exactly one succeeds; the others get [`StoreError::NotSuspended`].
    fn resume_run<'a>(&'a self, trace_id: &'a str) -> StoreFuture<'a, RunRecord>;

    /// Returns the run with that identifier.
    fn get_run<'a>(&'a self, trace_id: &'a str) -> StoreFuture<'a, Option<RunRecord>>;

    /// Returns runs, the most recently started first.
    fn list_runs(&self, filter: RunFilter) -> StoreFuture<'_, Vec<RunRecord>>;

    /// Returns the whole journal of a run by ascending sequence.
    fn read_journal<'a>(&'a self, trace_id: &'a str) -> StoreFuture<'a, Vec<JournalEntry>>;
}
