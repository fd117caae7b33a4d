//! A commit: what one step of a run stores, in one transaction.

use art_core::agent::RunStatus;
use art_core::conversation::ConversationMessage;
use art_core::observation::{NewObservation, Observation};
use serde_json::Value;

use crate::blob::Blob;
use crate::check::{self, encode};
use crate::error::StoreError;
use crate::json::JsonText;
use crate::lease::Lease;
use crate::record::{CallRecord, NewRun, RunRecord, WorkRecord};
use crate::suspension::{self, NewSuspension, UsedDecision};

/// Everything that one step of a run leads to. Stored in one transaction, or not at all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Commit {
    /// Creates the run. `Some` in the first commit of a run only.
    pub begin: Option<NewRun>,
    /// Identifier of the run of the step. A trace is the same as a run.
    pub trace_id: String,
    /// Proof that the caller is the only writer of the thread.
    pub lease: Lease,
    /// Sequence that the last entry of the journal must have, or 0 for an empty journal. If it differs, another writer has
    /// appended entries that the caller does not know, and the commit is refused.
    pub expected_last_sequence: u64,
    /// Entries to append to the journal.
    pub events: Vec<NewEvent>,
    /// Blobs to which the journal of the run refers. A run stores equal blobs once.
    pub blobs: Vec<Blob>,
    /// Replaces the state of the thread; its version increases by one.
    pub state: Option<JsonText>,
    /// Messages to add to the thread.
    pub messages: Vec<ConversationMessage>,
    /// Observations to record in the thread.
    pub observations: Vec<NewObservation>,
    /// Resources that tool calls of the run used, for estimates of later calls.
    pub calls: Vec<CallRecord>,
    /// How many model calls and tokens the plan steps and the answers of the run took, for estimates of later plans.
    pub work: Vec<WorkRecord>,
    /// Tool calls that begin to wait for the decision of a person.
    pub new_suspensions: Vec<NewSuspension>,
    /// Stored decisions that the run uses with this commit: the run makes the suspended call, or goes on without the call. Each
    /// decision can be used once, by the run of its suspension.
    pub used_decisions: Vec<UsedDecision>,
    /// Ends or suspends the run. With `None` the run is running after the commit, even if it was suspended before.
    pub end: Option<RunEnd>,
    /// Releases the lease, after everything else.
    pub release: bool,
}

/// An entry to append to the journal of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvent {
    /// Kind of the payload; the host defines the kinds.
    pub kind: String,
    /// Payload.
    pub payload: JsonText,
}

/// How a run ends, or that it waits for a person.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEnd {
    /// Status; [`RunStatus::Suspended`] suspends the run.
    pub status: RunStatus,
    /// Summary for listings, so that they do not have to read the journal.
    pub summary: Value,
}

/// What a commit stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Committed {
    /// The run after the commit.
    pub run: RunRecord,
    /// The new observations.
    pub observations: Vec<Observation>,
    /// Version of the state, if the commit replaced it.
    pub state_version: Option<u64>,
}

/// A commit that passed all checks that need no stored data, with its values as JSON text.
pub(crate) struct CheckedCommit {
    pub(crate) begin: Option<NewRun>,
    pub(crate) trace_id: String,
    pub(crate) lease: Lease,
    pub(crate) expected_last_sequence: u64,
    pub(crate) events: Vec<NewEvent>,
    pub(crate) blobs: Vec<Blob>,
    pub(crate) state: Option<JsonText>,
    /// Each message with its metadata as JSON text.
    pub(crate) messages: Vec<(ConversationMessage, String)>,
    /// Each observation with its content and its metadata as JSON texts.
    pub(crate) observations: Vec<(NewObservation, String, String)>,
    pub(crate) calls: Vec<CallRecord>,
    pub(crate) work: Vec<WorkRecord>,
    /// Each suspension with its call as JSON text.
    pub(crate) new_suspensions: Vec<(NewSuspension, String)>,
    pub(crate) used_decisions: Vec<UsedDecision>,
    /// The end with its summary as JSON text.
    pub(crate) end: Option<(RunEnd, String)>,
    pub(crate) release: bool,
}

impl CheckedCommit {
    /// Checks and encodes the values of a commit.
    pub(crate) fn new(commit: Commit) -> Result<Self, StoreError> {
        check_begin(&commit)?;
        check::calls(&commit.calls)?;
        check::work(&commit.work)?;
        check::messages(&commit.lease.thread_id, &commit.messages)?;
        check::event_kinds(&commit.events)?;
        check::blobs(&commit.trace_id, &commit.blobs)?;
        Ok(Self {
            begin: commit.begin,
            expected_last_sequence: commit.expected_last_sequence,
            events: commit.events,
            blobs: commit.blobs,
            state: commit.state,
            messages: encode_messages(commit.messages)?,
            observations: encode_observations(&commit.lease.thread_id, commit.observations)?,
            calls: commit.calls,
            work: commit.work,
            new_suspensions: encode_each(commit.new_suspensions, suspension::encode_new)?,
            used_decisions: commit.used_decisions,
            end: encode_end(&commit.trace_id, commit.end)?,
            release: commit.release,
            trace_id: commit.trace_id,
            lease: commit.lease,
        })
    }

    /// Returns the size of the payloads of all events, in bytes.
    pub(crate) fn event_bytes(&self) -> u64 {
        self.events.iter().map(|event| event.payload.len() as u64).sum()
    }
}

/// Refuses a new run that is not the run of the commit, or not in the thread of the lease.
fn check_begin(commit: &Commit) -> Result<(), StoreError> {
    let Some(new) = &commit.begin else { return Ok(()) };
    check::new_run(new)?;
    let problem = "differs from the run of the commit: use the same identifier for both";
    check::same("identifier of a new run", &new.trace_id, &commit.trace_id, problem)?;
    let problem = "is not the one of the lease: use the lease of the run's thread";
    check::same("thread of a new run", &new.thread_id, &commit.lease.thread_id, problem)
}

/// Returns each message with the JSON text of its metadata.
pub(crate) fn encode_messages(
    messages: Vec<ConversationMessage>,
) -> Result<Vec<(ConversationMessage, String)>, StoreError> {
    encode_each(messages, |message| {
        encode("the metadata", &message.message_id, &message.metadata)
    })
}

/// Checks an observation, and returns the JSON texts of its content and metadata.
pub(crate) fn encode_observation(new: &NewObservation) -> Result<(String, String), StoreError> {
    check::new_observation(new)?;
    let content = encode("an observation", &new.thread_id, &new.content)?;
    let metadata = encode("an observation's metadata", &new.thread_id, &new.metadata)?;
    Ok((content, metadata))
}

fn encode_observations(
    thread_id: &str,
    observations: Vec<NewObservation>,
) -> Result<Vec<(NewObservation, String, String)>, StoreError> {
    let check_and_encode = |new: NewObservation| {
        let problem = "cannot be recorded with the lease of another thread: use the lease of its own thread";
        check::same("observation of thread", &new.thread_id, thread_id, problem)?;
        let (content, metadata) = encode_observation(&new)?;
        Ok((new, content, metadata))
    };
    observations.into_iter().map(check_and_encode).collect()
}

/// Returns each value with the text that `encode` makes of it.
fn encode_each<T>(
    values: Vec<T>,
    encode: impl Fn(&T) -> Result<String, StoreError>,
) -> Result<Vec<(T, String)>, StoreError> {
    let encoded = values.into_iter().map(|value| {
        let text = encode(&value)?;
        Ok((value, text))
    });
    encoded.collect()
}

fn encode_end(trace_id: &str, end: Option<RunEnd>) -> Result<Option<(RunEnd, String)>, StoreError> {
    let Some(end) = end else { return Ok(None) };
    let text = encode("the summary", trace_id, &end.summary)?;
    Ok(Some((end, text)))
}
