//! Runs of a store in memory, with their blobs and with what their tool calls and models used.

use std::cmp::Reverse;

use art_core::Timestamp;
use art_core::usage::{ModelUsage, ModelWork, ToolUsage};

use super::threads::has_prefix;
use super::{Data, RunData};
use crate::error::StoreError;
use crate::record::{Owner, RunFilter, RunRecord, RunState};
use crate::{blob, check};

impl Data {
    /// Returns a run, and fails if it does not exist.
    pub(super) fn run(&mut self, trace_id: &str) -> Result<&mut RunData, StoreError> {
        self.runs
            .get_mut(trace_id)
            .ok_or_else(|| check::unknown_run_error(trace_id))
    }

    pub(super) fn remaining_blob_bytes(&self, trace_id: &str) -> u64 {
        let blobs = self.runs.get(trace_id).into_iter().flat_map(|data| data.blobs.values());
        blob::remaining_room(blobs.map(|blob| blob.bytes().len() as u64))
    }

    pub(super) fn get_blob(&self, thread_id: &str, digest: &str) -> Option<Vec<u8>> {
        let mut runs_of_thread = self.runs.values().filter(|data| data.run.thread_id == thread_id);
        runs_of_thread.find_map(|data| Some(data.blobs.get(digest)?.bytes().to_vec()))
    }

    pub(super) fn list_calls(&self, tool_digest: &str, limit: Option<usize>) -> Vec<ToolUsage> {
        let newest_first = self.calls.iter().rev().map(|(_, call)| call);
        let of_tool = newest_first.filter(|call| call.tool_digest == tool_digest);
        of_tool.take(check::list_limit(limit)).map(|call| call.usage).collect()
    }

    pub(super) fn list_model_usage(&self, model: &str, work: ModelWork, limit: Option<usize>) -> Vec<ModelUsage> {
        let newest_first = self.work.iter().rev().map(|(_, record)| record);
        let of_model = newest_first.filter(|record| record.model == model && record.work == work);
        let limited = of_model.take(check::list_limit(limit));
        limited.map(|record| record.usage).collect()
    }

    pub(super) fn find_run(&self, trace_id: &str, owner: &Owner) -> Option<RunRecord> {
        let run = &self.runs.get(trace_id)?.run;
        self.find_thread(&run.thread_id, owner).map(|_| run.clone())
    }

    pub(super) fn list_runs(&self, filter: &RunFilter, now: Timestamp) -> Vec<RunRecord> {
        let mut runs: Vec<_> = self
            .runs
            .values()
            .filter(|data| self.find_thread(&data.run.thread_id, &filter.owner).is_some())
            .filter(|data| filter.thread_id.as_ref().is_none_or(|id| *id == data.run.thread_id))
            .filter(|data| has_prefix(&data.run.trace_id, filter.id_prefix.as_deref()))
            .filter(|data| filter.status.is_none_or(|status| status == data.run.status))
            .filter(|data| !filter.abandoned || self.is_abandoned(&data.run, now))
            .collect();
        runs.sort_by_key(|data| Reverse((data.run.started, data.creation_number)));
        runs.truncate(check::list_limit(filter.limit));
        runs.into_iter().map(|data| data.run.clone()).collect()
    }

    /// Returns whether a run is running although nobody holds the lease of its thread.
    fn is_abandoned(&self, run: &RunRecord, now: Timestamp) -> bool {
        let thread = self.threads.get(&run.thread_id);
        run.status == RunState::Running && !thread.is_some_and(|thread| thread.is_leased(now))
    }
}
