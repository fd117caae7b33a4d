//! Runs and their journals.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use art_core::Timestamp;
use art_core::agent::RunStatus;
use art_core::usage::{ModelUsage, ModelWork, Usage};
use serde_json::Value;

use super::threads::has_prefix;
use super::{Data, RunData};
use crate::error::StoreError;
use crate::record::{CallRecord, JournalEntry, NewRun, RunFilter, RunRecord, RunState, WorkRecord};
use crate::{blob, check};

impl Data {
    pub(super) fn begin_run(&mut self, new: &NewRun, now: Timestamp) -> Result<RunRecord, StoreError> {
        check::new_run(new)?;
        self.thread(&new.thread_id)?;
        if self.runs.contains_key(&new.trace_id) {
            return Err(StoreError::AlreadyExists {
                what: "run",
                id: new.trace_id.clone(),
            });
        }
        self.touch(&new.thread_id, now)?;
        let run = check::initial_run(new, now);
        self.created += 1;
        let data = RunData {
            order: self.created,
            run: run.clone(),
            entries: Vec::new(),
            bytes: 0,
            blobs: BTreeMap::new(),
        };
        self.runs.insert(run.trace_id.clone(), data);
        Ok(run)
    }

    fn run(&mut self, trace_id: &str) -> Result<&mut RunData, StoreError> {
        self.runs.get_mut(trace_id).ok_or_else(|| check::unknown_run(trace_id))
    }

    pub(super) fn append_journal(&mut self, trace_id: &str, entry: JournalEntry) -> Result<JournalEntry, StoreError> {
        check::name("kind of a journal entry", &entry.kind)?;
        let added = check::encode("a journal entry", trace_id, &entry.payload)?.len() as u64;
        let data = self.run(trace_id)?;
        check::next_entry(&data.run, data.bytes, entry.sequence, added)?;
        data.run.last_sequence = entry.sequence;
        data.bytes += added;
        data.entries.push(entry.clone());
        Ok(entry)
    }

    pub(super) fn put_blob(&mut self, trace_id: &str, bytes: Vec<u8>) -> Result<String, StoreError> {
        let data = self.run(trace_id)?;
        check::not_ended(&data.run)?;
        let digest = blob::digest(&bytes);
        if !data.blobs.contains_key(&digest) {
            let sizes = data.blobs.values().map(|blob| blob::counted_size(blob.len() as u64, 1));
            blob::check_size(trace_id, sizes.sum(), &bytes)?;
            data.blobs.insert(digest.clone(), bytes);
        }
        Ok(digest)
    }

    pub(super) fn get_blob(&self, thread_id: &str, digest: &str) -> Option<Vec<u8>> {
        let mut runs_of_thread = self.runs.values().filter(|data| data.run.thread_id == thread_id);
        runs_of_thread.find_map(|data| data.blobs.get(digest).cloned())
    }

    pub(super) fn record_calls(&mut self, trace_id: &str, calls: Vec<CallRecord>) -> Result<(), StoreError> {
        if calls.is_empty() {
            return Ok(());
        }
        check::calls(&calls)?;
        check::not_ended(&self.run(trace_id)?.run)?;
        self.calls
            .extend(calls.into_iter().map(|call| (trace_id.to_owned(), call)));
        Ok(())
    }

    pub(super) fn list_calls(&self, tool_digest: &str, limit: Option<usize>) -> Vec<Usage> {
        let newest = self.calls.iter().rev().map(|(_, call)| call);
        let of_tool = newest.filter(|call| call.tool_digest == tool_digest);
        of_tool.take(check::list_limit(limit)).map(|call| call.usage).collect()
    }

    pub(super) fn record_work(&mut self, trace_id: &str, records: Vec<WorkRecord>) -> Result<(), StoreError> {
        if records.is_empty() {
            return Ok(());
        }
        check::work(&records)?;
        check::not_ended(&self.run(trace_id)?.run)?;
        let records = records.into_iter().map(|record| (trace_id.to_owned(), record));
        self.work.extend(records);
        Ok(())
    }

    pub(super) fn list_work(&self, model: &str, work: ModelWork, limit: Option<usize>) -> Vec<ModelUsage> {
        let newest = self.work.iter().rev().map(|(_, record)| record);
        let of_model = newest.filter(|record| record.model == model && record.work == work);
        let limited = of_model.take(check::list_limit(limit));
        limited.map(|record| record.usage).collect()
    }

    pub(super) fn end_run(
        &mut self,
        trace_id: &str,
        status: RunStatus,
        summary: Value,
        now: Timestamp,
    ) -> Result<RunRecord, StoreError> {
        check::encode("the summary", trace_id, &summary)?;
        let run = &mut self.run(trace_id)?.run;
        check::not_ended(run)?;
        run.status = status.into();
        run.ended = Some(now);
        run.summary = summary;
        let run = run.clone();
        self.touch(&run.thread_id, now)?;
        Ok(run)
    }

    pub(super) fn resume_run(&mut self, trace_id: &str, now: Timestamp) -> Result<RunRecord, StoreError> {
        let run = &mut self.run(trace_id)?.run;
        check::suspended(run)?;
        run.status = RunState::Running;
        run.ended = None;
        let run = run.clone();
        self.touch(&run.thread_id, now)?;
        Ok(run)
    }

    pub(super) fn list_runs(&self, filter: &RunFilter) -> Vec<RunRecord> {
        let mut runs: Vec<_> = self
            .runs
            .values()
            .filter(|data| filter.thread_id.as_ref().is_none_or(|id| *id == data.run.thread_id))
            .filter(|data| has_prefix(&data.run.trace_id, filter.id_prefix.as_deref()))
            .filter(|data| filter.status.is_none_or(|status| status == data.run.status))
            .collect();
        runs.sort_by_key(|data| Reverse((data.run.started, data.order)));
        runs.truncate(check::list_limit(filter.limit));
        runs.into_iter().map(|data| data.run.clone()).collect()
    }
}
