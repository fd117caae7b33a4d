//! A commit: what one step of a run stores, in one transaction.

use std::collections::BTreeMap;

use art_core::agent::RunStatus;
use art_core::conversation::ConversationMessage;
use art_core::observation::{NewObservation, Observation};
use serde_json::Value;

use crate::check::{self, encode};
use crate::error::StoreError;
use crate::limits::MAX_RUN_BLOB_BYTES;
use crate::record::{CallRecord, JournalEntry, NewRun, RunRecord, WorkRecord};
use crate::suspension::{self, NewSuspension, Settled};
use crate::{Lease, blob};

/// Everything that one step of a run leads to. Stored in one transaction, or not at all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Commit {
    /// Creates the run. `Some` in the first commit of a run only.
    pub begin: Option<NewRun>,
    /// Run of the step.
    pub trace_id: String,
    /// Proof that the caller is the only writer of the thread.
    pub lease: Lease,
    /// Sequence of the last journal entry that the caller knows; 0 for a new run.
    pub after: u64,
    /// Entries to append to the journal.
    pub events: Vec<NewEvent>,
    /// Blobs to which the journal of the run refers. A run stores equal blobs once.
    pub blobs: Vec<Vec<u8>>,
    /// Replaces the state of the thread; its version increases by one.
    pub state: Option<Value>,
    /// Messages to add to the thread.
    pub messages: Vec<ConversationMessage>,
    /// Observations to record in the thread.
    pub observations: Vec<NewObservation>,
    /// What tool calls of the run used.
    pub calls: Vec<CallRecord>,
    /// What the model of the run used for steps and answers.
    pub work: Vec<WorkRecord>,
    /// Calls that begin to wait for a decision.
    pub suspended: Vec<NewSuspension>,
    /// Decisions that the run takes with this commit. The suspensions are of the run, and pending.
    pub settled: Vec<Settled>,
    /// Ends or suspends the run. Without it, a suspended run is running again.
    pub end: Option<RunEnd>,
}

/// An entry to append to the journal of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvent {
    /// Kind of the payload; the host defines the kinds.
    pub kind: String,
    /// Payload.
    pub payload: Value,
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
    /// The new entries of the journal.
    pub entries: Vec<JournalEntry>,
    /// The [digests](crate::digest) of the blobs, in the order of the commit.
    pub blobs: Vec<String>,
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
    pub(crate) after: u64,
    /// Each event with the text of its payload.
    pub(crate) events: Vec<(NewEvent, String)>,
    /// Digests of the blobs, in the order of the commit.
    pub(crate) digests: Vec<String>,
    /// The blobs by their digests.
    pub(crate) blobs: BTreeMap<String, Vec<u8>>,
    /// The state and its text.
    pub(crate) state: Option<(Value, String)>,
    /// Each message with the text of its metadata.
    pub(crate) messages: Vec<(ConversationMessage, String)>,
    /// Each observation with the texts of its content and metadata.
    pub(crate) observations: Vec<(NewObservation, String, String)>,
    pub(crate) calls: Vec<CallRecord>,
    pub(crate) work: Vec<WorkRecord>,
    /// Each suspension with the text of its question.
    pub(crate) suspended: Vec<(NewSuspension, String)>,
    pub(crate) settled: Vec<Settled>,
    /// The end and the text of its summary.
    pub(crate) end: Option<(RunEnd, String)>,
}

impl CheckedCommit {
    /// Checks and encodes the values of a commit.
    pub(crate) fn new(commit: Commit) -> Result<Self, StoreError> {
        check_begin(&commit)?;
        check::calls(&commit.calls)?;
        check::work(&commit.work)?;
        check::messages(&commit.lease.thread_id, &commit.messages)?;
        let (digests, blobs) = identified(&commit.trace_id, commit.blobs)?;
        Ok(Self {
            begin: commit.begin,
            after: commit.after,
            events: encode_each(commit.events, |event| encode_event(&commit.trace_id, event))?,
            digests,
            blobs,
            state: optionally(commit.state, |state| {
                encode("the state", &commit.lease.thread_id, state)
            })?,
            messages: encode_messages(commit.messages)?,
            observations: encode_observations(&commit.lease.thread_id, commit.observations)?,
            calls: commit.calls,
            work: commit.work,
            suspended: encode_each(commit.suspended, suspension::encode_new)?,
            settled: commit.settled,
            end: optionally(commit.end, |end| encode("the summary", &commit.trace_id, &end.summary))?,
            trace_id: commit.trace_id,
            lease: commit.lease,
        })
    }

    /// Returns the size of the payloads of all events, in bytes.
    pub(crate) fn event_bytes(&self) -> u64 {
        self.events.iter().map(|(_, text)| text.len() as u64).sum()
    }
}

fn check_begin(commit: &Commit) -> Result<(), StoreError> {
    let Some(new) = &commit.begin else { return Ok(()) };
    check::new_run(new)?;
    let problem = "is not the one of the commit: begin a run in its own commit";
    check::same("identifier of a new run", &new.trace_id, &commit.trace_id, problem)?;
    let problem = "is not the one of the lease: use the lease of the run's thread";
    check::same("thread of a new run", &new.thread_id, &commit.lease.thread_id, problem)
}

type Identified = (Vec<String>, BTreeMap<String, Vec<u8>>);

/// Returns the digests of the blobs in their order, and the blobs by their digests.
fn identified(trace_id: &str, blobs: Vec<Vec<u8>>) -> Result<Identified, StoreError> {
    let (mut digests, mut by_digest) = (Vec::with_capacity(blobs.len()), BTreeMap::new());
    for bytes in blobs {
        blob::take_room(trace_id, MAX_RUN_BLOB_BYTES, &bytes)?;
        let digest = blob::digest(&bytes);
        digests.push(digest.clone());
        by_digest.insert(digest, bytes);
    }
    Ok((digests, by_digest))
}

fn encode_event(trace_id: &str, event: &NewEvent) -> Result<String, StoreError> {
    check::name("kind of a journal entry", &event.kind)?;
    encode("a journal entry", trace_id, &event.payload)
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
    let encode = |new: NewObservation| {
        let problem = "is not the one of the lease: record it in its own thread";
        check::same("thread of an observation", &new.thread_id, thread_id, problem)?;
        let (content, metadata) = encode_observation(&new)?;
        Ok((new, content, metadata))
    };
    observations.into_iter().map(encode).collect()
}

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

fn optionally<T>(
    value: Option<T>,
    encode: impl FnOnce(&T) -> Result<String, StoreError>,
) -> Result<Option<(T, String)>, StoreError> {
    let Some(value) = value else { return Ok(None) };
    let text = encode(&value)?;
    Ok(Some((value, text)))
}
