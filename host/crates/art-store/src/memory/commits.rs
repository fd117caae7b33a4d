//! Leases and commits of a store in memory. A commit makes all its checks before its first change.

use std::collections::{BTreeMap, HashSet};

use art_core::Timestamp;

use super::{Data, HeldLease, RunData, ThreadData};
use crate::commit::{CheckedCommit, Committed, NewEvent};
use crate::error::StoreError;
use crate::lease::Lease;
use crate::limits::LEASE_MS;
use crate::record::{JournalEntry, NewRun, RunState};
use crate::{blob, chain, check};

impl Data {
    pub(super) fn acquire_lease(&mut self, thread_id: &str, now: Timestamp) -> Result<Lease, StoreError> {
        self.thread(thread_id)?.refuse_if_leased(now)?;
        self.lease_count += 1;
        let number = self.lease_count;
        let until = now + LEASE_MS;
        if let Some(data) = self.threads.get_mut(thread_id) {
            data.lease = Some(HeldLease { number, until });
        }
        let thread_id = thread_id.to_owned();
        Ok(Lease { thread_id, number })
    }

    /// Renews a lease, and fails if it is not the current one of its thread.
    pub(super) fn renew_lease(&mut self, lease: &Lease, now: Timestamp) -> Result<(), StoreError> {
        let held = self
            .threads
            .get_mut(&lease.thread_id)
            .and_then(|data| data.lease.as_mut());
        let current = held.filter(|held| held.number == lease.number);
        current.ok_or_else(|| lease.lost_error())?.until = now + LEASE_MS;
        Ok(())
    }

    /// Releases a lease if it is the current one of its thread.
    pub(super) fn release_lease(&mut self, lease: &Lease) {
        if let Some(data) = self.threads.get_mut(&lease.thread_id)
            && data.lease.is_some_and(|held| held.number == lease.number)
        {
            data.lease = None;
        }
    }

    /// Refuses a lease that is not the current one of its thread. An expired lease stays the current one until somebody takes a
    /// new one.
    fn check_lease(&self, lease: &Lease) -> Result<(), StoreError> {
        let held = self.threads.get(&lease.thread_id).and_then(|data| data.lease);
        if held.is_some_and(|held| held.number == lease.number) {
            return Ok(());
        }
        Err(lease.lost_error())
    }

    pub(super) fn commit(&mut self, commit: CheckedCommit, now: Timestamp) -> Result<Committed, StoreError> {
        self.check_commit(&commit)?;
        self.renew_lease(&commit.lease, now)?;
        if let Some(new) = &commit.begin {
            self.begin_run(new, now);
        }
        let thread_id = commit.lease.thread_id;
        let run_data = self.run(&commit.trace_id)?;
        run_data.append_entries(commit.events, now);
        let blobs = commit.blobs.into_iter();
        run_data
            .blobs
            .extend(blobs.map(|blob| (blob.digest().to_owned(), blob)));
        match commit.end {
            Some((end, _)) => {
                run_data.run.status = end.status.into();
                run_data.run.ended = Some(now);
                run_data.run.summary = end.summary;
            }
            None => {
                run_data.run.status = RunState::Running;
                run_data.run.ended = None;
            }
        }
        let run = run_data.run.clone();
        self.add_suspensions(&run, commit.new_suspensions, now);
        // The run uses these decisions, so their suspensions are settled. A run that ends uses no other decisions, so its
        // other suspensions are closed or settled too.
        self.settle_suspensions(&commit.used_decisions);
        if run.status.is_final() {
            self.close_suspensions(&run.trace_id);
        }
        let trace_id = || commit.trace_id.clone();
        self.calls
            .extend(commit.calls.into_iter().map(|call| (trace_id(), call)));
        self.work
            .extend(commit.work.into_iter().map(|record| (trace_id(), record)));
        let messages: Vec<_> = commit.messages.into_iter().map(|(message, _)| message).collect();
        self.message_ids
            .extend(messages.iter().map(|message| message.message_id.clone()));
        let thread_data = self.touch(&thread_id, now)?;
        thread_data.messages.extend(messages);
        if commit.release {
            thread_data.lease = None;
        }
        let observations = commit
            .observations
            .into_iter()
            .map(|(new, ..)| thread_data.add_observation(new, now));
        Ok(Committed {
            run,
            observations: observations.collect(),
            state_version: commit.state.map(|state| thread_data.replace_state(state, now)),
        })
    }

    /// Refuses a commit that cannot be stored.
    fn check_commit(&self, commit: &CheckedCommit) -> Result<(), StoreError> {
        self.check_lease(&commit.lease)?;
        let existing = self.runs.get(&commit.trace_id);
        // The record of a new run is used only for the checks below, for which the time of its start does not matter.
        let new_run = match (&commit.begin, existing) {
            (None, None) => return Err(check::unknown_run_error(&commit.trace_id)),
            (Some(_), Some(_)) => return Err(check::run_exists_error(&commit.trace_id)),
            (Some(new), None) => Some(check::initial_run(new, 0)),
            (None, Some(_)) => None,
        };
        let run = new_run.as_ref().or(existing.map(|data| &data.run));
        if let Some(run) = run {
            check::lease_is_for_thread_of(run, &commit.lease)?;
            check::can_append(run, existing.map_or(0, |data| data.journal_bytes), commit)?;
        }
        let no_blobs = BTreeMap::new();
        let stored = existing.map_or(&no_blobs, |data| &data.blobs);
        let mut room = blob::remaining_room(stored.values().map(|blob| blob.bytes().len() as u64));
        let mut new_digests = HashSet::new();
        for blob in &commit.blobs {
            if !stored.contains_key(blob.digest()) && new_digests.insert(blob.digest()) {
                room = blob::take_room(&commit.trace_id, room, blob.bytes())?;
            }
        }
        self.check_suspensions(commit)?;
        self.check_new_messages(commit.messages.iter().map(|(message, _)| message))
    }

    fn begin_run(&mut self, new: &NewRun, now: Timestamp) {
        self.created_count += 1;
        let data = RunData {
            creation_number: self.created_count,
            run: check::initial_run(new, now),
            entries: Vec::new(),
            journal_bytes: 0,
            blobs: BTreeMap::new(),
        };
        self.runs.insert(new.trace_id.clone(), data);
    }
}

impl RunData {
    fn append_entries(&mut self, events: Vec<NewEvent>, timestamp: Timestamp) {
        for event in events {
            let sequence = self.run.last_sequence + 1;
            let digest = chain::next_digest(
                &self.run.head,
                sequence,
                timestamp,
                event.kind.as_bytes(),
                event.payload.as_bytes(),
            );
            self.run.last_sequence = sequence;
            self.run.head.clone_from(&digest);
            self.journal_bytes += event.payload.len() as u64;
            self.entries.push(JournalEntry {
                sequence,
                timestamp,
                kind: event.kind,
                payload: event.payload.into_string(),
                digest,
            });
        }
    }
}

impl ThreadData {
    /// Returns whether somebody holds the lease and it has not expired.
    pub(super) fn is_leased(&self, now: Timestamp) -> bool {
        self.lease.is_some_and(|held| held.until > now)
    }

    /// Refuses a change while somebody holds the lease and it has not expired.
    pub(super) fn refuse_if_leased(&self, now: Timestamp) -> Result<(), StoreError> {
        match self.lease {
            Some(held) if held.until > now => Err(StoreError::ThreadBusy {
                thread_id: self.thread.id.clone(),
                until: held.until,
            }),
            _ => Ok(()),
        }
    }
}
