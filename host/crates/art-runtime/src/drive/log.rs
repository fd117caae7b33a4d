//! The log of a run: collects events with their effects (observations, messages and changes of the thread's state), and commits
//! them to the store in one transaction, which adds the events to the journal of the run.
//!
//! Large data, such as files, the logs of tools and large values of events, is stored as blobs. An event names a blob by its
//! digest.

use std::collections::HashSet;
use std::sync::Arc;

use art_agent::{Effect, Run, RunEvent, RunReport};
use art_core::intake::Intake;
use art_core::observation::NewObservation;
use art_store::limits::{self, MAX_RUN_BLOB_BYTES, MAX_VALUE_BYTES};
use art_store::{Blob, Commit, FailPoint, JsonText, Lease, NewRun, RunEnd, RunRecord, Store, StoreError, UsedDecision};
use serde_json::json;

use super::answer::CallUsage;
use super::records;
use crate::decisions;
use crate::error::RuntimeError;
use crate::journal::{DeclarationCache, MAX_INLINE_BYTES, encode, read_events};

/// Part of the space for the blobs of a run, in bytes, that is reserved for results. The records of what calls took in, such as
/// the files that they read, may use only the rest of the space.
const MIN_RESULT_ROOM: u64 = MAX_RUN_BLOB_BYTES / 2;

/// How often a commit is repeated while the store is busy. Each attempt waits for some seconds.
const MAX_BUSY_RETRIES: u32 = 3;

/// Writes the log of one run. What was added is durable once [`commit`](Self::commit) has succeeded, all of it or nothing.
pub(crate) struct RunLog {
    store: Arc<dyn Store>,
    /// The encoded declarations of tools, which most runs share.
    declarations: Arc<DeclarationCache>,
    /// What was added since the last commit.
    pending: Commit,
    /// Identifiers of the new suspensions, which the pending events create.
    suspended: Vec<String>,
    /// Whether a pending event changed the state of the thread.
    state_changed: bool,
    /// How many more bytes of files, logs and large values the run may store.
    remaining_blob_bytes: u64,
    /// Digests of the blobs that were added to this log. Adding one of them again takes no room.
    blobs: HashSet<String>,
    /// Number of committed entries of [`Run::model_work`], which lists the usage of the model for each step and for the answer.
    committed_work: usize,
    /// Whether the commit that ends the run releases the lease.
    releases_lease_at_end: bool,
    /// Whether a commit has released the lease.
    has_released_lease: bool,
}

impl RunLog {
    /// Begins the log of a new run. The lease is that of its thread.
    pub(crate) fn begin(store: Arc<dyn Store>, declarations: Arc<DeclarationCache>, lease: Lease, new: NewRun) -> Self {
        let pending = Commit {
            begin: Some(new.clone()),
            ..commit_after(new.trace_id, lease, 0)
        };
        Self::new(store, declarations, pending, MAX_RUN_BLOB_BYTES)
    }

    /// Continues the log of a run that an earlier host left unfinished.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub(crate) async fn resume(
        store: Arc<dyn Store>,
        lease: Lease,
        record: &RunRecord,
        run: &Run,
    ) -> Result<Self, RuntimeError> {
        let pending = commit_after(record.trace_id.clone(), lease, record.last_sequence);
        let remaining_blob_bytes = store.remaining_blob_bytes(&record.trace_id).await?;
        let committed_work = run.model_work().len();
        Ok(Self {
            committed_work,
            ..Self::new(store, Arc::default(), pending, remaining_blob_bytes)
        })
    }

    fn new(
        store: Arc<dyn Store>,
        declarations: Arc<DeclarationCache>,
        pending: Commit,
        remaining_blob_bytes: u64,
    ) -> Self {
        Self {
            store,
            declarations,
            pending,
            suspended: Vec::new(),
            state_changed: false,
            remaining_blob_bytes,
            blobs: HashSet::new(),
            committed_work: 0,
            releases_lease_at_end: false,
            has_released_lease: false,
        }
    }

    /// Sets that the commit which ends the run also releases the lease of the thread.
    pub(crate) const fn release_lease_at_end(&mut self) {
        self.releases_lease_at_end = true;
    }

    /// Returns whether the lease was released with a commit.
    pub(crate) const fn has_released_lease(&self) -> bool {
        self.has_released_lease
    }

    /// Adds an event, which the run has accepted, with its effects.
    ///
    /// # Errors
    /// Fails if the event cannot be written as JSON.
    pub(crate) fn add(&mut self, event: &RunEvent, effects: Vec<Effect>) -> Result<(), RuntimeError> {
        self.add_event(event)?;
        self.add_effects(effects);
        Ok(())
    }

    /// Adds events with the effects of all of them.
    ///
    /// # Errors
    /// Fails if an event cannot be written as JSON.
    pub(crate) fn add_all(&mut self, events: &[RunEvent], effects: Vec<Effect>) -> Result<(), RuntimeError> {
        for event in events {
            self.add_event(event)?;
        }
        self.add_effects(effects);
        Ok(())
    }

    fn add_event(&mut self, event: &RunEvent) -> Result<(), RuntimeError> {
        let trace_id = self.pending.trace_id.clone();
        let declarations = Arc::clone(&self.declarations);
        let event_to_store = encode(&trace_id, event, &declarations, |blob| self.add_if_room(blob))?;
        self.pending.events.push(event_to_store);
        self.note_suspensions_and_decision(event);
        Ok(())
    }

    /// Notes the calls that begin to wait for a decision with this event, or the decision that the run applies with it.
    fn note_suspensions_and_decision(&mut self, event: &RunEvent) {
        match event {
            RunEvent::CallSuspended { suspension, .. } => self.suspended.push(suspension.suspension_id.clone()),
            RunEvent::PlanChecked { questions, .. } => {
                let ids = questions
                    .iter()
                    .map(|question| question.suspension.suspension_id.clone());
                self.suspended.extend(ids);
            }
            RunEvent::ToolEnded { end, .. } => {
                let suspension = end.suspension.iter();
                self.suspended
                    .extend(suspension.map(|suspension| suspension.suspension_id.clone()));
            }
            RunEvent::CallDecided {
                suspension_id,
                decision,
                ..
            } => self.pending.used_decisions.push(UsedDecision {
                suspension_id: suspension_id.clone(),
                decision: decision.as_ref().clone(),
            }),
            _ => {}
        }
    }

    fn add_effects(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::SaveState => self.state_changed = true,
                Effect::Observe(observation) => self.pending.observations.push(observation),
                Effect::AddMessage(message) => self.pending.messages.push(message),
            }
        }
    }

    /// Adds an observation that belongs to no event.
    pub(crate) fn add_observation(&mut self, observation: NewObservation) {
        self.pending.observations.push(observation);
    }

    /// Adds a file, a log or a large value, and returns its digest. Returns `None` if it is too large, or if the run has
    /// no room for it.
    pub(crate) fn add_blob(&mut self, bytes: Vec<u8>) -> Option<String> {
        self.add_if_room(Blob::new(bytes))
    }

    fn add_if_room(&mut self, blob: Blob) -> Option<String> {
        let bytes = blob.bytes().len();
        let size = (bytes as u64).saturating_add(limits::BLOB_OVERHEAD_BYTES);
        let is_within_value_limit = bytes <= MAX_VALUE_BYTES;
        let digest = blob.digest().to_owned();
        if self.blobs.contains(&digest) {
            return Some(digest);
        }
        let remaining = self.remaining_blob_bytes.checked_sub(size);
        let Some(remaining) = remaining.filter(|_| is_within_value_limit) else {
            tracing::warn!(
                run = self.pending.trace_id,
                bytes = size,
                "a file, a log or a value is not stored as a blob: it is too large, or the run has no room left"
            );
            return None;
        };
        self.remaining_blob_bytes = remaining;
        self.blobs.insert(digest.clone());
        self.pending.blobs.push(blob);
        Some(digest)
    }

    /// Returns the record of what a call took in, such as the files that it read. If the record would leave too little room for
    /// the results of the run, returns it truncated: without the files and the other answers that the call got.
    pub(crate) fn limit_intake(&self, mut intake: Intake) -> Intake {
        let size = intake.max_encoded_bytes() as u64;
        // A small record stays in its event, so it needs no room for blobs.
        if size > MAX_INLINE_BYTES as u64 && self.remaining_blob_bytes.saturating_sub(size) < MIN_RESULT_ROOM {
            intake.truncate();
        }
        intake
    }

    /// Adds the resources that a tool call used, for the estimates of later runs.
    pub(crate) fn add_call_usage(&mut self, call_usage: &CallUsage) {
        self.pending.calls.extend(records::call_record(call_usage));
    }

    /// Commits what was added, with the state of the thread if it changed, and the status of the run if it has ended or waits.
    ///
    /// # Errors
    /// Fails if the store fails or another host has taken the run over. In the second case nothing is stored.
    pub(crate) async fn commit(&mut self, run: &Run) -> Result<(), RuntimeError> {
        let work = run.model_work();
        let new_work = work.get(self.committed_work..).unwrap_or_default();
        self.pending.work = records::work_records(&run.started_with().model, new_work);
        self.pending.state = self.state_changed.then(|| self.state_json(run)).transpose()?;
        self.pending.end = run.finished().map(run_end);
        self.pending.release = self.releases_lease_at_end && run.finished().is_some();
        if self.is_empty() {
            return Ok(());
        }
        // The status of a run that waits is stored with its other changes. It is no reason for a commit by itself.
        if self.pending.end.is_none() {
            self.pending.end = run.waiting_report().as_ref().map(run_end);
        }
        let suspended = std::mem::take(&mut self.suspended);
        self.pending.new_suspensions = decisions::new_suspensions(run, &suspended);
        let next = commit_after(
            self.pending.trace_id.clone(),
            self.pending.lease.clone(),
            self.pending.expected_last_sequence + self.pending.events.len() as u64,
        );
        let commit = std::mem::replace(&mut self.pending, next);
        let (contents, releases) = (CommitContents::of(&commit), commit.release);
        // Intents are the announcements of tool calls.
        contents.reach_fail_points(
            FailPoint::BeforeIntents,
            FailPoint::BeforeToolEnds,
            FailPoint::BeforeRunEnd,
        );
        self.commit_with_retries(commit).await?;
        contents.reach_fail_points(
            FailPoint::AfterIntents,
            FailPoint::AfterToolEnds,
            FailPoint::AfterRunEnd,
        );
        self.has_released_lease |= releases;
        self.state_changed = false;
        self.committed_work = work.len();
        Ok(())
    }

    fn state_json(&self, run: &Run) -> Result<JsonText, StoreError> {
        JsonText::of("the state", &self.pending.lease.thread_id, run.stored_state().as_ref())
    }

    /// Stores a commit. Repeats it while another process keeps the store busy.
    async fn commit_with_retries(&self, commit: Commit) -> Result<(), RuntimeError> {
        for _ in 0..MAX_BUSY_RETRIES {
            match self.store.commit(commit.clone()).await {
                Err(StoreError::Busy { .. }) => {
                    tracing::warn!(run = commit.trace_id, "the store is busy; trying again");
                }
                stored => {
                    stored?;
                    return Ok(());
                }
            }
        }
        self.store.commit(commit).await?;
        Ok(())
    }

    fn is_empty(&self) -> bool {
        let pending = &self.pending;
        pending.events.is_empty()
            && pending.observations.is_empty()
            && pending.end.is_none()
            && pending.calls.is_empty()
    }

    /// Discards what was added since the last commit. Returns the run as the committed events make it, or `None` if no event
    /// was committed.
    ///
    /// # Errors
    /// Fails if the store cannot be read, or if its events do not fit together.
    pub(crate) async fn reload(&mut self) -> Result<Option<Run>, RuntimeError> {
        let (trace_id, lease) = (self.pending.trace_id.clone(), self.pending.lease.clone());
        let events = read_events(self.store.as_ref(), &trace_id).await?;
        // The last commit may have failed, so it is not known which of the added blobs are stored.
        self.remaining_blob_bytes = self.store.remaining_blob_bytes(&trace_id).await?;
        self.blobs.clear();
        self.pending = commit_after(trace_id, lease, events.len() as u64);
        self.suspended.clear();
        self.state_changed = false;
        if events.is_empty() {
            return Ok(None);
        }
        let run = Run::replay(&events).map_err(RuntimeError::internal)?;
        // The last commit may have been stored although it was reported as failed. Its entries of the model work are then
        // committed too.
        self.committed_work = run.model_work().len();
        Ok(Some(run))
    }
}

/// What a commit contains, for the fail points before and after it, at which tests stop the host.
struct CommitContents {
    /// Announcements of tool calls.
    intents: bool,
    tool_ends: bool,
    run_end: bool,
}

impl CommitContents {
    fn of(commit: &Commit) -> Self {
        let has = |kind| commit.events.iter().any(|event| event.kind == kind);
        Self {
            intents: has("tool_called"),
            tool_ends: has("tool_ended"),
            run_end: commit.end.is_some(),
        }
    }

    /// Reaches the fail points that belong to the contents of the commit.
    fn reach_fail_points(&self, intents: FailPoint, tool_ends: FailPoint, run_end: FailPoint) {
        let points = [
            (self.intents, intents),
            (self.tool_ends, tool_ends),
            (self.run_end, run_end),
        ];
        points
            .into_iter()
            .filter(|(contained, _)| *contained)
            .for_each(|(_, point)| point.reach());
    }
}

/// Returns an empty commit. Events that are added to it follow the journal entry with the number `last_sequence`; 0 means that
/// there is no entry yet.
fn commit_after(trace_id: String, lease: Lease, last_sequence: u64) -> Commit {
    Commit {
        trace_id,
        lease,
        expected_last_sequence: last_sequence,
        ..Commit::default()
    }
}

/// Returns what the store notes about a run that has ended or waits: its status, and a summary for listings. The summary has the
/// metadata of the run, such as its cost, and its answer and error.
fn run_end(report: &RunReport) -> RunEnd {
    let metadata = &report.response.metadata;
    let mut summary = json!({"metadata": metadata, "answer": report.response.response.content});
    if let (Some(error), Some(map)) = (&metadata.error, summary.as_object_mut()) {
        map.insert("error".to_owned(), json!(error.message));
    }
    RunEnd {
        status: metadata.status,
        summary,
    }
}
