//! Suspensions of a store in memory: tool calls that wait for the decision of a person.

use std::collections::BTreeSet;

use art_core::Timestamp;
use art_core::suspension::Decision;

use super::Data;
use crate::check;
use crate::commit::CheckedCommit;
use crate::error::StoreError;
use crate::record::{Owner, RunRecord};
use crate::suspension::{
    ByteLimit, NewSuspension, SuspensionFilter, SuspensionRecord, SuspensionStatus, UsedDecision, encode_decision,
    unknown_suspension_error,
};

impl Data {
    /// Refuses a commit with a suspension that exists already, or with a decision that its run cannot use.
    pub(super) fn check_suspensions(&self, commit: &CheckedCommit) -> Result<(), StoreError> {
        let mut new_ids = BTreeSet::new();
        for (new, _) in &commit.new_suspensions {
            let id = new.call.suspension_id.as_str();
            if self.suspensions.iter().any(|record| record.id() == id) || !new_ids.insert(id) {
                return Err(check::suspension_exists_error(id));
            }
        }
        let mut used_ids = BTreeSet::new();
        for used in &commit.used_decisions {
            let id = used.suspension_id.as_str();
            let mut records = self.suspensions.iter();
            let record = records.find(|record| record.id() == id && record.trace_id == commit.trace_id);
            record
                .ok_or_else(|| unknown_suspension_error(id))?
                .check_use(&used.decision)?;
            if !used_ids.insert(id) {
                return Err(StoreError::AlreadyDecided {
                    suspension_id: id.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Adds open suspensions to a run.
    pub(super) fn add_suspensions(
        &mut self,
        run: &RunRecord,
        new_suspensions: Vec<(NewSuspension, String)>,
        now: Timestamp,
    ) {
        let records = new_suspensions.into_iter().map(|(new, _)| SuspensionRecord {
            trace_id: run.trace_id.clone(),
            thread_id: run.thread_id.clone(),
            item_id: new.item_id,
            since: now,
            call: new.call,
            decision: None,
            status: SuspensionStatus::Open,
        });
        self.suspensions.extend(records);
    }

    /// Marks the suspensions of `used_decisions` as settled.
    pub(super) fn settle_suspensions(&mut self, used_decisions: &[UsedDecision]) {
        for used in used_decisions {
            let mut records = self.suspensions.iter_mut();
            if let Some(record) = records.find(|record| record.id() == used.suspension_id) {
                record.status = SuspensionStatus::Settled;
            }
        }
    }

    /// Closes the open suspensions of a run that has ended, and settles the decided ones.
    pub(super) fn close_suspensions(&mut self, trace_id: &str) {
        let of_run_and_pending = |record: &&mut SuspensionRecord| record.trace_id == trace_id && record.is_pending();
        for record in self.suspensions.iter_mut().filter(of_run_and_pending) {
            let (is_decided, is_finished) = (record.decision.is_some(), true);
            record.status = SuspensionStatus::of(is_decided, is_finished);
        }
    }

    pub(super) fn decide(
        &mut self,
        suspension_id: &str,
        owner: &Owner,
        decision: Decision,
        now: Timestamp,
    ) -> Result<SuspensionRecord, StoreError> {
        // The text is not stored here; this only refuses what is too large or nested too deeply, as the SQLite store does.
        encode_decision(suspension_id, &decision)?;
        let found = self.find_suspension(suspension_id, owner);
        found
            .ok_or_else(|| unknown_suspension_error(suspension_id))?
            .check_decision(&decision.by, now)?;
        let mut records = self.suspensions.iter_mut();
        let record = records.find(|record| record.id() == suspension_id);
        let record = record.ok_or_else(|| unknown_suspension_error(suspension_id))?;
        record.decision = Some(decision);
        record.status = SuspensionStatus::Decided;
        Ok(record.clone())
    }

    /// Returns a suspension if its thread has that owner.
    pub(super) fn find_suspension(&self, suspension_id: &str, owner: &Owner) -> Option<SuspensionRecord> {
        let record = self.suspensions.iter().find(|record| record.id() == suspension_id)?;
        self.find_thread(&record.thread_id, owner).map(|_| record.clone())
    }

    pub(super) fn list_suspensions(&self, filter: &SuspensionFilter) -> Result<Vec<SuspensionRecord>, StoreError> {
        let mut records = self.suspensions.iter();
        if let Some(after) = &filter.after {
            self.find_suspension(after, &filter.owner)
                .ok_or_else(|| unknown_suspension_error(after))?;
            // Skips the suspensions up to and including `after`.
            records.by_ref().find(|record| record.id() == after);
        }
        let records = records.filter(|record| filter.matches(record));
        let records = records.filter(|record| self.find_thread(&record.thread_id, &filter.owner).is_some());
        let mut byte_limit = ByteLimit::of(filter);
        let records = records.take(check::list_limit(filter.limit));
        let records = records.take_while(|record| filter.max_bytes.is_none() || byte_limit.accepts(json_size(record)));
        Ok(records.cloned().collect())
    }
}

/// Returns the total size in bytes of the call and the decision as JSON texts, which the SQLite store keeps and counts.
fn json_size(record: &SuspensionRecord) -> usize {
    let length = |text: Result<String, _>| text.map_or(0, |text: String| text.len());
    let decision = record.decision.as_ref().map(serde_json::to_string);
    length(serde_json::to_string(&record.call)) + decision.map_or(0, length)
}
