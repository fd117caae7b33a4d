//! The interface of a store.

use std::fmt::Debug;

use art_core::agent::{AgentState, ThreadConfig};
use art_core::conversation::ConversationMessage;
use art_core::observation::{NewObservation, Observation};
use art_core::suspension::Decision;
use art_core::usage::{ModelUsage, ModelWork, ToolUsage};
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::commit::{Commit, Committed};
use crate::error::StoreError;
use crate::lease::Lease;
use crate::record::{
    JournalEntry, MessageOptions, NewThread, ObservationFilter, Owner, RunFilter, RunRecord, Thread, ThreadFilter,
};
use crate::suspension::{SuspensionFilter, SuspensionRecord};

/// The future that a method of a store returns.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// Threads, conversations, observations, agent state and run journals, by the contracts M1, M6, M8, M15 and M16 of
/// `host/CONTRACTS.md`. A thread is a conversation with its settings, and has runs. A run answers one query.
///
/// Every method follows these rules, unless its documentation says otherwise:
/// - A write is durable when its future is ready, even if the power fails right after, and every read that starts later sees the
///   write. If the future is dropped before it is ready, the write may or may not happen.
/// - A write is atomic: no read, and no crash, shows a part of it.
/// - A write that fails is not visible. But if it failed because of the disk or the connection, the whole write may be found when
///   the store is opened again, so the caller reads before it repeats such a write.
/// - Reading data that does not exist returns `None` or an empty list; writing to a thread or run that does not exist
///   is an error.
/// - [`crate::limits`] bounds the sizes of values and lists.
///
/// # Implementing a store
///
/// PostgreSQL can do everything that this trait requires. `tests/it/conformance` tests what the trait requires: to test another
/// implementation, add a constructor to the `TestStore` of these tests. An implementation has to provide
/// - durability: a write is acknowledged after the commit of the database, with `synchronous_commit = on` or stronger;
/// - transactions, so that [`commit`](Self::commit) stores all or nothing and a read of a journal sees its run and its entries at
///   one point in time (`REPEATABLE READ`);
/// - a row for each thread, which every write to the thread locks first (`SELECT .. FOR UPDATE`). Under this lock the write
///   compares the fencing number and counts the sequences of observations, the entries of journals and the versions of states:
///   these have no gaps, so a `SEQUENCE` cannot count them;
/// - a source of growing numbers that are never given twice, such as a `SEQUENCE`, for the fencing numbers of leases;
/// - the clock of the database for the expiry of leases. The store need not know when the process of a holder ends: if it does
///   not know, the leases of the holder last until they expire;
/// - unique identifiers of threads, messages, runs and suspensions. A write with an identifier that is in use is refused with
///   [`StoreError::AlreadyExists`] and is not a failure of the database;
/// - [`StoreError::Busy`] for a short conflict with another process, after which the caller may repeat the write: a deadlock, a
///   failed serialization or a lock that was not free in time. A connection that is lost during a commit is a failure instead,
///   since nobody knows how the commit ended;
/// - values exactly as they were given. JSON has to be stored as text, since the type `jsonb` changes numbers and the order of
///   keys and thereby the digests. A text may contain the character 0, which the type `text` refuses;
/// - identifiers and their prefixes that are compared byte by byte, not by the rules of a language.
pub trait Store: Send + Sync + Debug {
    /// Creates a thread.
    ///
    /// Fails with [`StoreError::AlreadyExists`] when its identifier is in use.
    fn create_thread(&self, new: NewThread) -> StoreFuture<'_, Thread>;

    /// Creates a thread and takes its lease, so that its creator can begin the first run in it.
    ///
    /// Fails as [`create_thread`](Self::create_thread) does.
    fn create_leased_thread(&self, new: NewThread) -> StoreFuture<'_, (Thread, Lease)>;

    /// Returns the thread with that identifier.
    fn get_thread<'a>(&'a self, thread_id: &'a str) -> StoreFuture<'a, Option<Thread>>;

    /// Returns the thread with that identifier if it has that owner. A thread of another owner is `None`, like one that does not
    /// exist.
    fn find_thread<'a>(&'a self, thread_id: &'a str, owner: &'a Owner) -> StoreFuture<'a, Option<Thread>>;

    /// Replaces the settings of a thread and does not change its state (contract M8).
    fn set_thread_config<'a>(&'a self, thread_id: &'a str, config: ThreadConfig) -> StoreFuture<'a, Thread>;

    /// Returns threads, the most recently updated first.
    fn list_threads(&self, filter: ThreadFilter) -> StoreFuture<'_, Vec<Thread>>;

    /// Deletes a thread with its messages, observations, state and runs, and everything that is stored for these runs. Returns
    /// `false` if the thread does not exist (contract M1).
    ///
    /// Fails with [`StoreError::ThreadBusy`] while somebody holds the lease of the thread.
    fn delete_thread<'a>(&'a self, thread_id: &'a str) -> StoreFuture<'a, bool>;

    /// Adds messages to a thread. An empty list is accepted even for a thread that does not exist (contract M15).
    ///
    /// Fails with [`StoreError::ForeignMessage`] when a message names another thread. The contract
    /// requires only a warning (contract M6), but a wrong thread would show messages of one user to another (contract
    /// B23). Fails with [`StoreError::AlreadyExists`] when the identifier of a message is in use.
    fn append_messages<'a>(&'a self, thread_id: &'a str, messages: Vec<ConversationMessage>) -> StoreFuture<'a, ()>;

    /// Returns messages by ascending timestamp; messages with the same timestamp in the order in which they were added
    /// (contract M6).
    fn list_messages<'a>(
        &'a self,
        thread_id: &'a str,
        options: MessageOptions,
    ) -> StoreFuture<'a, Vec<ConversationMessage>>;

    /// Stores an observation, and assigns its identifier, sequence, timestamp and title (contract M16).
    fn record(&self, new: NewObservation) -> StoreFuture<'_, Observation>;

    /// Returns observations by ascending sequence.
    fn list_observations<'a>(
        &'a self,
        thread_id: &'a str,
        filter: ObservationFilter,
    ) -> StoreFuture<'a, Vec<Observation>>;

    /// Returns the agent's state of the thread.
    fn load_state<'a>(&'a self, thread_id: &'a str) -> StoreFuture<'a, Option<AgentState>>;

    /// Replaces the agent's state if it has the version `expected_version`, and returns the new version (contract B19). If
    /// `expected_version` is `None`, the thread must not have a state yet.
    ///
    /// Fails with [`StoreError::Conflict`] if another writer has changed the state; the caller then has to load it
    /// again.
    fn save_state<'a>(&'a self, thread_id: &'a str, data: Value, expected_version: Option<u64>)
    -> StoreFuture<'a, u64>;

    /// Takes the lease of a thread. It is free if nobody holds it, if it has expired by the clock of the store, or if the
    /// process of its holder is known to have ended.
    ///
    /// Fails with [`StoreError::ThreadBusy`] if the lease is not free, even if this store holds it itself.
    fn acquire_lease<'a>(&'a self, thread_id: &'a str) -> StoreFuture<'a, Lease>;

    /// Renews a lease for [`LEASE_MS`](crate::limits::LEASE_MS). A lease that has expired can be renewed as long as nobody else
    /// has taken it.
    ///
    /// Fails with [`StoreError::LeaseLost`] if the lease is not the current one of its thread.
    fn renew_lease<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()>;

    /// Releases a lease. Does nothing if it is not the current one of its thread.
    fn release_lease<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()>;

    /// Stores everything that one step of a run leads to, and renews the lease or, if the commit says so, releases it.
    ///
    /// Fails without any change
    /// - with [`StoreError::LeaseLost`] if the lease is not the current one of its thread, and with [`StoreError::Invalid`] if
    ///   the run belongs to another thread,
    /// - with [`StoreError::UnknownRun`] if the run does not exist and the commit does not begin it,
    /// - with [`StoreError::AlreadyExists`] if the identifier of the run to begin, of a message or of a new suspension is in use,
    /// - with [`StoreError::RunEnded`] if the run has ended,
    /// - with [`StoreError::Conflict`] if the journal does not end with `expected_last_sequence`,
    /// - with [`StoreError::JournalFull`], [`StoreError::BlobsFull`] or [`StoreError::TooLarge`] if a limit is reached,
    /// - with [`StoreError::UnknownSuspension`] if the suspension of a used decision is not one of the run,
    /// - with [`StoreError::NotDecided`] if no decision is stored for the suspension of a used decision, and with
    ///   [`StoreError::AlreadyDecided`] if the stored decision differs from the used one, or if the run has used it before.
    ///
    /// A suspended run accepts commits too, for example one that cancels it. A commit that ends the run closes its suspensions.
    fn commit(&self, commit: Commit) -> StoreFuture<'_, Committed>;

    /// Stores the decision about a suspension; its run uses it with a later commit. Of several callers at most one succeeds. The
    /// caller needs no lease, since somebody else may work on the run.
    ///
    /// Fails with
    /// - [`StoreError::UnknownSuspension`] if there is none with that identifier in a thread of the owner,
    /// - [`StoreError::AlreadyDecided`] if somebody has decided before,
    /// - [`StoreError::SuspensionExpired`] if a person decides after the suspension has expired by the clock of the store,
    /// - [`StoreError::SuspensionNotExpired`] if the host decides in place of a person who did not decide in time, but the
    ///   suspension has not expired yet by the clock of the store,
    /// - [`StoreError::SuspensionClosed`] if the run has ended without a decision.
    fn decide<'a>(
        &'a self,
        suspension_id: &'a str,
        owner: &'a Owner,
        decision: Decision,
    ) -> StoreFuture<'a, SuspensionRecord>;

    /// Returns the suspension with that identifier if its thread has that owner.
    fn find_suspension<'a>(
        &'a self,
        suspension_id: &'a str,
        owner: &'a Owner,
    ) -> StoreFuture<'a, Option<SuspensionRecord>>;

    /// Returns suspensions, the oldest first.
    ///
    /// Fails with [`StoreError::UnknownSuspension`] if the owner has no suspension with the identifier in `after`.
    fn list_suspensions(&self, filter: SuspensionFilter) -> StoreFuture<'_, Vec<SuspensionRecord>>;

    /// Returns how many bytes of blobs a run can still store. Each blob takes
    /// [`BLOB_OVERHEAD_BYTES`](crate::limits::BLOB_OVERHEAD_BYTES) more than its size. For a run that does not exist yet the
    /// result is [`MAX_RUN_BLOB_BYTES`](crate::limits::MAX_RUN_BLOB_BYTES).
    fn remaining_blob_bytes<'a>(&'a self, trace_id: &'a str) -> StoreFuture<'a, u64>;

    /// Returns the blob with that digest if a run of the thread uses it. A blob is deleted with the last run that uses it.
    ///
    /// Fails with [`StoreError::ChangedBlob`] if the stored bytes do not have this digest.
    fn get_blob<'a>(&'a self, thread_id: &'a str, digest: &'a str) -> StoreFuture<'a, Option<Vec<u8>>>;

    /// Returns the usage of the newest calls of a tool, in all threads, the newest first. `limit` is the maximum number of calls;
    /// `None`, 0 and more than [`MAX_LIST`](crate::limits::MAX_LIST) mean [`MAX_LIST`](crate::limits::MAX_LIST). A
    /// database needs an index for this, so that the time does not grow with the number of stored calls.
    fn list_calls<'a>(&'a self, tool_digest: &'a str, limit: Option<usize>) -> StoreFuture<'a, Vec<ToolUsage>>;

    /// Returns how many model calls and tokens a model took for each of its newest plan steps, or for each of its newest answers,
    /// in all threads, the newest first. `work` chooses between steps and answers. `limit` is the maximum number of steps or
    /// answers, as in [`list_calls`](Self::list_calls). A database needs an index for this too.
    fn list_model_usage<'a>(
        &'a self,
        model: &'a str,
        work: ModelWork,
        limit: Option<usize>,
    ) -> StoreFuture<'a, Vec<ModelUsage>>;

    /// Returns the run with that identifier.
    fn get_run<'a>(&'a self, trace_id: &'a str) -> StoreFuture<'a, Option<RunRecord>>;

    /// Returns the run with that identifier if its thread has that owner.
    fn find_run<'a>(&'a self, trace_id: &'a str, owner: &'a Owner) -> StoreFuture<'a, Option<RunRecord>>;

    /// Returns runs, the most recently started first.
    fn list_runs(&self, filter: RunFilter) -> StoreFuture<'_, Vec<RunRecord>>;

    /// Returns the whole journal of a run by ascending sequence, and verifies its digests.
    ///
    /// Fails with [`StoreError::BrokenChain`] if an entry was changed or is missing.
    fn read_journal<'a>(&'a self, trace_id: &'a str) -> StoreFuture<'a, Vec<JournalEntry>>;
}
