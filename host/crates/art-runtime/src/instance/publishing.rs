//! A store that tells subscribers what it has stored.

use std::sync::Arc;

use art_core::agent::{AgentState, ThreadConfig};
use art_core::conversation::ConversationMessage;
use art_core::observation::{NewObservation, Observation};
use art_core::suspension::Decision;
use art_core::usage::{ModelUsage, ModelWork, ToolUsage};
use art_store::{
    Commit, Committed, JournalEntry, Lease, MessageOptions, NewThread, ObservationFilter, Owner, RunFilter, RunRecord,
    Store, StoreFuture, SuspensionFilter, SuspensionRecord, Thread, ThreadFilter,
};
use serde_json::Value;

use super::subscribers::Subscribers;

/// Passes everything on to another store, and notifies subscribers of the messages and observations that it has stored.
#[derive(Debug)]
pub(super) struct PublishingStore {
    /// The other store.
    store: Arc<dyn Store>,
    /// Subscribers of the messages of threads.
    pub(super) message_subscribers: Subscribers<ConversationMessage>,
    /// Subscribers of the observations of threads.
    pub(super) observation_subscribers: Subscribers<Observation>,
}

impl PublishingStore {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            message_subscribers: Subscribers::default(),
            observation_subscribers: Subscribers::default(),
        }
    }
}

impl Store for PublishingStore {
    fn create_thread(&self, new: NewThread) -> StoreFuture<'_, Thread> {
        self.store.create_thread(new)
    }

    fn create_leased_thread(&self, new: NewThread) -> StoreFuture<'_, (Thread, Lease)> {
        self.store.create_leased_thread(new)
    }

    fn get_thread<'a>(&'a self, thread_id: &'a str) -> StoreFuture<'a, Option<Thread>> {
        self.store.get_thread(thread_id)
    }

    fn find_thread<'a>(&'a self, thread_id: &'a str, owner: &'a Owner) -> StoreFuture<'a, Option<Thread>> {
        self.store.find_thread(thread_id, owner)
    }

    fn set_thread_config<'a>(&'a self, thread_id: &'a str, config: ThreadConfig) -> StoreFuture<'a, Thread> {
        self.store.set_thread_config(thread_id, config)
    }

    fn list_threads(&self, filter: ThreadFilter) -> StoreFuture<'_, Vec<Thread>> {
        self.store.list_threads(filter)
    }

    fn delete_thread<'a>(&'a self, thread_id: &'a str) -> StoreFuture<'a, bool> {
        self.store.delete_thread(thread_id)
    }

    fn append_messages<'a>(&'a self, thread_id: &'a str, messages: Vec<ConversationMessage>) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            self.store.append_messages(thread_id, messages.clone()).await?;
            self.message_subscribers.notify(thread_id, &messages);
            Ok(())
        })
    }

    fn list_messages<'a>(
        &'a self,
        thread_id: &'a str,
        options: MessageOptions,
    ) -> StoreFuture<'a, Vec<ConversationMessage>> {
        self.store.list_messages(thread_id, options)
    }

    fn record(&self, new: NewObservation) -> StoreFuture<'_, Observation> {
        Box::pin(async move {
            let observation = self.store.record(new).await?;
            let thread_id = observation.body.thread_id.clone();
            self.observation_subscribers
                .notify(&thread_id, std::slice::from_ref(&observation));
            Ok(observation)
        })
    }

    fn list_observations<'a>(
        &'a self,
        thread_id: &'a str,
        filter: ObservationFilter,
    ) -> StoreFuture<'a, Vec<Observation>> {
        self.store.list_observations(thread_id, filter)
    }

    fn load_state<'a>(&'a self, thread_id: &'a str) -> StoreFuture<'a, Option<AgentState>> {
        self.store.load_state(thread_id)
    }

    fn save_state<'a>(
        &'a self,
        thread_id: &'a str,
        data: Value,
        expected_version: Option<u64>,
    ) -> StoreFuture<'a, u64> {
        self.store.save_state(thread_id, data, expected_version)
    }

    fn acquire_lease<'a>(&'a self, thread_id: &'a str) -> StoreFuture<'a, Lease> {
        self.store.acquire_lease(thread_id)
    }

    fn renew_lease<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        self.store.renew_lease(lease)
    }

    fn release_lease<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        self.store.release_lease(lease)
    }

    fn commit(&self, commit: Commit) -> StoreFuture<'_, Committed> {
        Box::pin(async move {
            let (thread_id, messages) = (commit.lease.thread_id.clone(), commit.messages.clone());
            let committed = self.store.commit(commit).await?;
            self.message_subscribers.notify(&thread_id, &messages);
            self.observation_subscribers.notify(&thread_id, &committed.observations);
            Ok(committed)
        })
    }

    fn decide<'a>(
        &'a self,
        suspension_id: &'a str,
        owner: &'a Owner,
        decision: Decision,
    ) -> StoreFuture<'a, SuspensionRecord> {
        self.store.decide(suspension_id, owner, decision)
    }

    fn find_suspension<'a>(
        &'a self,
        suspension_id: &'a str,
        owner: &'a Owner,
    ) -> StoreFuture<'a, Option<SuspensionRecord>> {
        self.store.find_suspension(suspension_id, owner)
    }

    fn list_suspensions(&self, filter: SuspensionFilter) -> StoreFuture<'_, Vec<SuspensionRecord>> {
        self.store.list_suspensions(filter)
    }

    fn remaining_blob_bytes<'a>(&'a self, trace_id: &'a str) -> StoreFuture<'a, u64> {
        self.store.remaining_blob_bytes(trace_id)
    }

    fn get_blob<'a>(&'a self, thread_id: &'a str, digest: &'a str) -> StoreFuture<'a, Option<Vec<u8>>> {
        self.store.get_blob(thread_id, digest)
    }

    fn list_calls<'a>(&'a self, tool_digest: &'a str, limit: Option<usize>) -> StoreFuture<'a, Vec<ToolUsage>> {
        self.store.list_calls(tool_digest, limit)
    }

    fn list_model_usage<'a>(
        &'a self,
        model: &'a str,
        work: ModelWork,
        limit: Option<usize>,
    ) -> StoreFuture<'a, Vec<ModelUsage>> {
        self.store.list_model_usage(model, work, limit)
    }

    fn get_run<'a>(&'a self, trace_id: &'a str) -> StoreFuture<'a, Option<RunRecord>> {
        self.store.get_run(trace_id)
    }

    fn find_run<'a>(&'a self, trace_id: &'a str, owner: &'a Owner) -> StoreFuture<'a, Option<RunRecord>> {
        self.store.find_run(trace_id, owner)
    }

    fn list_runs(&self, filter: RunFilter) -> StoreFuture<'_, Vec<RunRecord>> {
        self.store.list_runs(filter)
    }

    fn read_journal<'a>(&'a self, trace_id: &'a str) -> StoreFuture<'a, Vec<JournalEntry>> {
        self.store.read_journal(trace_id)
    }
}
