//! Implements [`Store`] with the queues of reads and writes. The values of a write are checked and encoded as JSON before the
//! write is queued.

use art_core::agent::{AgentState, ThreadConfig};
use art_core::conversation::ConversationMessage;
use art_core::observation::{NewObservation, Observation};
use art_core::suspension::Decision;
use art_core::usage::{ModelUsage, ModelWork, ToolUsage};
use serde_json::Value;

use super::{
    SqliteStore, blobs, calls, commits, journal, leases, messages, observations, runs, suspensions, threads, work,
};
use crate::check::{self, encode};
use crate::commit::{CheckedCommit, Commit, Committed, encode_messages, encode_observation};
use crate::lease::Lease;
use crate::record::{
    JournalEntry, MessageOptions, NewThread, ObservationFilter, Owner, RunFilter, RunRecord, Thread, ThreadFilter,
};
use crate::store::{Store, StoreFuture};
use crate::suspension::{self, SuspensionFilter, SuspensionRecord};

impl Store for SqliteStore {
    fn create_thread(&self, new: NewThread) -> StoreFuture<'_, Thread> {
        Box::pin(async move {
            check::new_thread(&new)?;
            let config = encode("the configuration", &new.id, &new.config)?;
            self.write(move |connection, now| threads::create(connection, new, &config, now))
                .await
        })
    }

    fn create_leased_thread(&self, new: NewThread) -> StoreFuture<'_, (Thread, Lease)> {
        Box::pin(async move {
            check::new_thread(&new)?;
            let config = encode("the configuration", &new.id, &new.config)?;
            let (holders, holder_id) = (self.holders.clone(), self.holder_id());
            self.write(move |connection, now| {
                let thread = threads::create(connection, new, &config, now)?;
                let lease = leases::acquire(connection, &holders, &holder_id, &thread.id, now)?;
                Ok((thread, lease))
            })
            .await
        })
    }

    fn get_thread<'a>(&'a self, thread_id: &'a str) -> StoreFuture<'a, Option<Thread>> {
        let thread_id = thread_id.to_owned();
        Box::pin(self.read(move |connection| threads::find(connection, &thread_id, &Owner::Anyone)))
    }

    fn find_thread<'a>(&'a self, thread_id: &'a str, owner: &'a Owner) -> StoreFuture<'a, Option<Thread>> {
        let (thread_id, owner) = (thread_id.to_owned(), owner.clone());
        Box::pin(self.read(move |connection| threads::find(connection, &thread_id, &owner)))
    }

    fn set_thread_config<'a>(&'a self, thread_id: &'a str, config: ThreadConfig) -> StoreFuture<'a, Thread> {
        Box::pin(async move {
            let config = encode("the configuration", thread_id, &config)?;
            let thread_id = thread_id.to_owned();
            self.write(move |connection, now| threads::set_config(connection, &thread_id, &config, now))
                .await
        })
    }

    fn list_threads(&self, filter: ThreadFilter) -> StoreFuture<'_, Vec<Thread>> {
        Box::pin(self.read(move |connection| threads::list(connection, &filter)))
    }

    fn delete_thread<'a>(&'a self, thread_id: &'a str) -> StoreFuture<'a, bool> {
        let (thread_id, holders) = (thread_id.to_owned(), self.holders.clone());
        Box::pin(self.write(move |connection, now| {
            leases::refuse_if_leased(connection, &holders, &thread_id, now)?;
            threads::delete(connection, &thread_id)
        }))
    }

    fn append_messages<'a>(&'a self, thread_id: &'a str, messages: Vec<ConversationMessage>) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            if messages.is_empty() {
                return Ok(());
            }
            check::messages(thread_id, &messages)?;
            let messages = encode_messages(messages)?;
            let thread_id = thread_id.to_owned();
            self.write(move |connection, now| messages::append(connection, &thread_id, &messages, now))
                .await
        })
    }

    fn list_messages<'a>(
        &'a self,
        thread_id: &'a str,
        options: MessageOptions,
    ) -> StoreFuture<'a, Vec<ConversationMessage>> {
        let thread_id = thread_id.to_owned();
        Box::pin(self.read(move |connection| messages::list(connection, &thread_id, &options)))
    }

    fn record(&self, new: NewObservation) -> StoreFuture<'_, Observation> {
        Box::pin(async move {
            let (content, metadata) = encode_observation(&new)?;
            self.write(move |connection, now| observations::record(connection, new, &content, &metadata, now))
                .await
        })
    }

    fn list_observations<'a>(
        &'a self,
        thread_id: &'a str,
        filter: ObservationFilter,
    ) -> StoreFuture<'a, Vec<Observation>> {
        let thread_id = thread_id.to_owned();
        Box::pin(self.read(move |connection| observations::list(connection, &thread_id, &filter)))
    }

    fn load_state<'a>(&'a self, thread_id: &'a str) -> StoreFuture<'a, Option<AgentState>> {
        let thread_id = thread_id.to_owned();
        Box::pin(self.read(move |connection| threads::load_state(connection, &thread_id)))
    }

    fn save_state<'a>(
        &'a self,
        thread_id: &'a str,
        data: Value,
        expected_version: Option<u64>,
    ) -> StoreFuture<'a, u64> {
        Box::pin(async move {
            let data = encode("the state", thread_id, &data)?;
            let thread_id = thread_id.to_owned();
            self.write(move |connection, now| threads::save_state(connection, &thread_id, &data, expected_version, now))
                .await
        })
    }

    fn acquire_lease<'a>(&'a self, thread_id: &'a str) -> StoreFuture<'a, Lease> {
        let (thread_id, holders, holder_id) = (thread_id.to_owned(), self.holders.clone(), self.holder_id());
        Box::pin(self.write(move |connection, now| leases::acquire(connection, &holders, &holder_id, &thread_id, now)))
    }

    fn renew_lease<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        let lease = lease.clone();
        Box::pin(self.write(move |connection, now| leases::renew(connection, &lease, now)))
    }

    fn release_lease<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        let lease = lease.clone();
        Box::pin(self.write(move |connection, _| leases::release(connection, &lease)))
    }

    fn commit(&self, commit: Commit) -> StoreFuture<'_, Committed> {
        Box::pin(async move {
            let commit = CheckedCommit::new(commit)?;
            self.write(move |connection, now| commits::store(connection, commit, now))
                .await
        })
    }

    fn decide<'a>(
        &'a self,
        suspension_id: &'a str,
        owner: &'a Owner,
        decision: Decision,
    ) -> StoreFuture<'a, SuspensionRecord> {
        Box::pin(async move {
            let text = suspension::encode_decision(suspension_id, &decision)?;
            let (id, owner) = (suspension_id.to_owned(), owner.clone());
            self.write(move |connection, now| suspensions::decide(connection, &id, &owner, decision, &text, now))
                .await
        })
    }

    fn find_suspension<'a>(
        &'a self,
        suspension_id: &'a str,
        owner: &'a Owner,
    ) -> StoreFuture<'a, Option<SuspensionRecord>> {
        let (id, owner) = (suspension_id.to_owned(), owner.clone());
        Box::pin(self.read(move |connection| suspensions::find(connection, &id, &owner)))
    }

    fn list_suspensions(&self, filter: SuspensionFilter) -> StoreFuture<'_, Vec<SuspensionRecord>> {
        Box::pin(self.read(move |connection| suspensions::list(connection, &filter)))
    }

    fn remaining_blob_bytes<'a>(&'a self, trace_id: &'a str) -> StoreFuture<'a, u64> {
        let trace_id = trace_id.to_owned();
        Box::pin(self.read(move |connection| blobs::remaining_room(connection, &trace_id)))
    }

    fn get_blob<'a>(&'a self, thread_id: &'a str, digest: &'a str) -> StoreFuture<'a, Option<Vec<u8>>> {
        let (thread_id, digest) = (thread_id.to_owned(), digest.to_owned());
        Box::pin(self.read(move |connection| blobs::get(connection, &thread_id, &digest)))
    }

    fn list_calls<'a>(&'a self, tool_digest: &'a str, limit: Option<usize>) -> StoreFuture<'a, Vec<ToolUsage>> {
        let tool_digest = tool_digest.to_owned();
        Box::pin(self.read(move |connection| calls::list(connection, &tool_digest, limit)))
    }

    fn list_model_usage<'a>(
        &'a self,
        model: &'a str,
        work: ModelWork,
        limit: Option<usize>,
    ) -> StoreFuture<'a, Vec<ModelUsage>> {
        let model = model.to_owned();
        Box::pin(self.read(move |connection| work::list(connection, &model, work, limit)))
    }

    fn get_run<'a>(&'a self, trace_id: &'a str) -> StoreFuture<'a, Option<RunRecord>> {
        let trace_id = trace_id.to_owned();
        Box::pin(self.read(move |connection| runs::get(connection, &trace_id)))
    }

    fn find_run<'a>(&'a self, trace_id: &'a str, owner: &'a Owner) -> StoreFuture<'a, Option<RunRecord>> {
        let (trace_id, owner) = (trace_id.to_owned(), owner.clone());
        Box::pin(self.read(move |connection| runs::get_for_owner(connection, &trace_id, &owner)))
    }

    fn list_runs(&self, filter: RunFilter) -> StoreFuture<'_, Vec<RunRecord>> {
        let (holders, now) = (self.holders.clone(), self.clock.now());
        Box::pin(self.read(move |connection| {
            let held_leases = filter
                .abandoned
                .then(|| leases::held_numbers(connection, &holders, now));
            runs::list(connection, &filter, held_leases.transpose()?)
        }))
    }

    fn read_journal<'a>(&'a self, trace_id: &'a str) -> StoreFuture<'a, Vec<JournalEntry>> {
        let trace_id = trace_id.to_owned();
        Box::pin(self.read(move |connection| journal::read(connection, &trace_id)))
    }
}
