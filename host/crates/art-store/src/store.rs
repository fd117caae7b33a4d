//! The contract of a store.

use std::fmt::Debug;

use art_core::agent::{AgentState, RunStatus, ThreadConfig};
use art_core::conversation::ConversationMessage;
use art_core::observation::{NewObservation, Observation};
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::error::StoreError;
use crate::record::{
    JournalEntry, MessageOptions, NewRun, NewThread, ObservationFilter, RunFilter, RunRecord, Thread, ThreadFilter,
};

/// Future of a store's answer.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// Threads, conversations, observations, agent state and run journals (M1, M6, M8, M15, M16).
///
/// Every method follows these rules:
/// - A write is durable when its future is ready, and every read that starts later sees it. A write whose future is
///   dropped early may or may not have happened.
/// - A write happens as a whole or not at all.
/// - Reading missing data gives `None` or an empty list; writing to a missing thread or run is an error.
/// - Sizes and listings are bounded by [`crate::limits`].
pub trait Store: Send + Sync + Debug {
    /// Creates a thread.
    ///
    /// Fails with [`StoreError::AlreadyExists`] when there is one of that identifier.
    fn create_thread(&self, new: NewThread) -> StoreFuture<'_, Thread>;

    /// Returns the thread with that identifier.
    fn get_thread<'a>(&'a self, thread_id: &'a str) -> StoreFuture<'a, Option<Thread>>;

    /// Replaces the settings of a thread and leaves its state alone (M8).
    fn set_thread_config<'a>(&'a self, thread_id: &'a str, config: ThreadConfig) -> StoreFuture<'a, Thread>;

    /// Returns threads, the most recently updated first.
    fn list_threads(&self, filter: ThreadFilter) -> StoreFuture<'_, Vec<Thread>>;

    /// Deletes a thread with its messages, observations, state, runs, journals and blobs. Returns `false` if there was
    /// none (M1).
    fn delete_thread<'a>(&'a self, thread_id: &'a str) -> StoreFuture<'a, bool>;

    /// Adds messages to a thread, all or none. An empty list does nothing, even for an unknown thread (M15).
    ///
    /// Fails with [`StoreError::ForeignMessage`] when a message names another thread, where the specification only warns
    /// (M6): a wrong thread would show one person's words to another (B23). Fails with [`StoreError::AlreadyExists`] when
    /// a message of that identifier is there.
    fn append_messages<'a>(&'a self, thread_id: &'a str, messages: Vec<ConversationMessage>) -> StoreFuture<'a, ()>;

    /// Returns messages by ascending timestamp, and in the order they were added when it is the same (M6).
    fn list_messages<'a>(
        &'a self,
        thread_id: &'a str,
        options: MessageOptions,
    ) -> StoreFuture<'a, Vec<ConversationMessage>>;

    /// Records an observation and gives it identifier, sequence, time and title (M16).
    fn record(&self, new: NewObservation) -> StoreFuture<'_, Observation>;

    /// Returns observations by ascending sequence.
    fn list_observations<'a>(
        &'a self,
        thread_id: &'a str,
        filter: ObservationFilter,
    ) -> StoreFuture<'a, Vec<Observation>>;

    /// Returns what the agent keeps of the thread.
    fn load_state<'a>(&'a self, thread_id: &'a str) -> StoreFuture<'a, Option<AgentState>>;

    /// Replaces the agent's state if it still has the version that was read, and returns the new version (B19).
    ///
    /// `None` expects that there is no state yet. Fails with [`StoreError::Conflict`] if another writer was faster; the
    /// caller loads again and decides again.
    fn save_state<'a>(&'a self, thread_id: &'a str, data: Value, expected: Option<u64>) -> StoreFuture<'a, u64>;

    /// Begins a run with an empty journal.
    fn begin_run(&self, new: NewRun) -> StoreFuture<'_, RunRecord>;

    /// Adds the entry number `expected_sequence` to the journal of a run: 1 for the first, then one more each time.
    ///
    /// Fails with [`StoreError::Conflict`] when the journal is not exactly one shorter, so that of two drivers of a run
    /// one learns that it is not alone; with [`StoreError::RunEnded`] when the run has ended for good.
    fn append_journal<'a>(
        &'a self,
        trace_id: &'a str,
        expected_sequence: u64,
        kind: &'a str,
        payload: Value,
    ) -> StoreFuture<'a, JournalEntry>;

    /// Stores bytes that the journal of a run names, and returns their [`digest`](crate::digest). Equal bytes of a run
    /// are stored once; they are deleted with the run.
    ///
    /// Fails with [`StoreError::TooLarge`] and [`StoreError::BlobsFull`] when they are too many for a blob or for the run, and
    /// with [`StoreError::RunEnded`] when the run has ended for good.
    fn put_blob<'a>(&'a self, trace_id: &'a str, bytes: Vec<u8>) -> StoreFuture<'a, String>;

    /// Returns the bytes that a run of the thread keeps under that digest.
    fn get_blob<'a>(&'a self, thread_id: &'a str, digest: &'a str) -> StoreFuture<'a, Option<Vec<u8>>>;

    /// Ends a run or suspends it, and keeps `summary` for listings.
    ///
    /// A running run can end in every way; a suspended one can be ended too, for example cancelled. Fails with
    /// [`StoreError::RunEnded`] when it has ended for good.
    fn end_run<'a>(&'a self, trace_id: &'a str, status: RunStatus, summary: Value) -> StoreFuture<'a, RunRecord>;

    /// Resumes a suspended run. Of several callers exactly one succeeds; the others get [`StoreError::NotSuspended`].
    fn resume_run<'a>(&'a self, trace_id: &'a str) -> StoreFuture<'a, RunRecord>;

    /// Returns the run of that identifier.
    fn get_run<'a>(&'a self, trace_id: &'a str) -> StoreFuture<'a, Option<RunRecord>>;

    /// Returns runs, the most recently begun first.
    fn list_runs(&self, filter: RunFilter) -> StoreFuture<'_, Vec<RunRecord>>;

    /// Returns the whole journal of a run by ascending sequence.
    fn read_journal<'a>(&'a self, trace_id: &'a str) -> StoreFuture<'a, Vec<JournalEntry>>;
}
