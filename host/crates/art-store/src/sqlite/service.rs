//! Implements [`Store`] with the queues. Values are checked and encoded before they are queued.

use art_core::agent::{AgentState, RunStatus, ThreadConfig};
use art_core::conversation::ConversationMessage;
use art_core::observation::{NewObservation, Observation};
use art_core::usage::{ModelUsage, ModelWork, Usage};
use serde_json::Value;

use super::{SqliteStore, blobs, calls, messages, observations, runs, threads, work};
use crate::blob;
use crate::check::{self, encode};
use crate::record::{
    CallRecord, JournalEntry, MessageOptions, NewRun, NewThread, ObservationFilter, RunFilter, RunRecord, Thread,
    ThreadFilter, WorkRecord,
};
use crate::store::{Store, StoreFuture};

impl Store for SqliteStore {
    fn create_thread(&self, new: NewThread) -> StoreFuture<'_, Thread> {
        Box::pin(async move {
            check::new_thread(&new)?;
            let config = encode("the configuration", &new.id, &new.config)?;
            self.write(move |connection, now| threads::create(connection, new, &config, now))
                .await
        })
    }

    fn get_thread<'a>(&'a self, thread_id: &'a str) -> StoreFuture<'a, Option<Thread>> {
        let thread_id = thread_id.to_owned();
        Box::pin(self.read(move |connection| threads::get(connection, &thread_id)))
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
        let thread_id = thread_id.to_owned();
        Box::pin(self.write(move |connection, _| threads::delete(connection, &thread_id)))
    }

    fn append_messages<'a>(&'a self, thread_id: &'a str, messages: Vec<ConversationMessage>) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            if messages.is_empty() {
                return Ok(());
            }
            check::messages(thread_id, &messages)?;
            let encoded = messages.into_iter().map(|message| {
                let metadata = encode("the metadata", &message.message_id, &message.metadata)?;
                Ok((message, metadata))
            });
            let messages = encoded.collect::<Result<Vec<_>, crate::StoreError>>()?;
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
            check::new_observation(&new)?;
            let content = encode("an observation", &new.thread_id, &new.content)?;
            let metadata = encode("an observation's metadata", &new.thread_id, &new.metadata)?;
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

    fn save_state<'a>(&'a self, thread_id: &'a str, data: Value, expected: Option<u64>) -> StoreFuture<'a, u64> {
        Box::pin(async move {
            let data = encode("the state", thread_id, &data)?;
            let thread_id = thread_id.to_owned();
            self.write(move |connection, now| threads::save_state(connection, &thread_id, &data, expected, now))
                .await
        })
    }

    fn begin_run(&self, new: NewRun) -> StoreFuture<'_, RunRecord> {
        Box::pin(async move {
            check::new_run(&new)?;
            self.write(move |connection, now| runs::begin(connection, &new, now))
                .await
        })
    }

    fn append_journal<'a>(
        &'a self,
        trace_id: &'a str,
        expected_sequence: u64,
        kind: &'a str,
        payload: Value,
    ) -> StoreFuture<'a, JournalEntry> {
        Box::pin(async move {
            check::name("kind of a journal entry", kind)?;
            let text = encode("a journal entry", trace_id, &payload)?;
            let (trace_id, kind) = (trace_id.to_owned(), kind.to_owned());
            let append = move |connection: &_, timestamp| {
                let entry = JournalEntry {
                    sequence: expected_sequence,
                    timestamp,
                    kind,
                    payload,
                };
                runs::append(connection, &trace_id, entry, &text)
            };
            self.write(append).await
        })
    }

    fn put_blob<'a>(&'a self, trace_id: &'a str, bytes: Vec<u8>) -> StoreFuture<'a, String> {
        Box::pin(async move {
            blob::check_size(trace_id, 0, &bytes)?;
            let (trace_id, digest) = (trace_id.to_owned(), blob::digest(&bytes));
            let returned = digest.clone();
            self.write(move |connection, _| blobs::put(connection, &trace_id, &digest, &bytes))
                .await?;
            Ok(returned)
        })
    }

    fn get_blob<'a>(&'a self, thread_id: &'a str, digest: &'a str) -> StoreFuture<'a, Option<Vec<u8>>> {
        let (thread_id, digest) = (thread_id.to_owned(), digest.to_owned());
        Box::pin(self.read(move |connection| blobs::get(connection, &thread_id, &digest)))
    }

    fn record_calls<'a>(&'a self, trace_id: &'a str, calls: Vec<CallRecord>) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            if calls.is_empty() {
                return Ok(());
            }
            check::calls(&calls)?;
            let trace_id = trace_id.to_owned();
            self.write(move |connection, _| calls::record(connection, &trace_id, &calls))
                .await
        })
    }

    fn list_calls<'a>(&'a self, tool_digest: &'a str, limit: Option<usize>) -> StoreFuture<'a, Vec<Usage>> {
        let tool_digest = tool_digest.to_owned();
        Box::pin(self.read(move |connection| calls::list(connection, &tool_digest, limit)))
    }

    fn record_work<'a>(&'a self, trace_id: &'a str, records: Vec<WorkRecord>) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            if records.is_empty() {
                return Ok(());
            }
            check::work(&records)?;
            let trace_id = trace_id.to_owned();
            self.write(move |connection, _| work::record(connection, &trace_id, &records))
                .await
        })
    }

    fn list_work<'a>(
        &'a self,
        model: &'a str,
        work: ModelWork,
        limit: Option<usize>,
    ) -> StoreFuture<'a, Vec<ModelUsage>> {
        let model = model.to_owned();
        Box::pin(self.read(move |connection| work::list(connection, &model, work, limit)))
    }

    fn end_run<'a>(&'a self, trace_id: &'a str, status: RunStatus, summary: Value) -> StoreFuture<'a, RunRecord> {
        Box::pin(async move {
            let summary = encode("the summary", trace_id, &summary)?;
            let trace_id = trace_id.to_owned();
            self.write(move |connection, now| runs::end(connection, &trace_id, status.into(), &summary, now))
                .await
        })
    }

    fn resume_run<'a>(&'a self, trace_id: &'a str) -> StoreFuture<'a, RunRecord> {
        let trace_id = trace_id.to_owned();
        Box::pin(self.write(move |connection, now| runs::resume(connection, &trace_id, now)))
    }

    fn get_run<'a>(&'a self, trace_id: &'a str) -> StoreFuture<'a, Option<RunRecord>> {
        let trace_id = trace_id.to_owned();
        Box::pin(self.read(move |connection| runs::get(connection, &trace_id)))
    }

    fn list_runs(&self, filter: RunFilter) -> StoreFuture<'_, Vec<RunRecord>> {
        Box::pin(self.read(move |connection| runs::list(connection, &filter)))
    }

    fn read_journal<'a>(&'a self, trace_id: &'a str) -> StoreFuture<'a, Vec<JournalEntry>> {
        let trace_id = trace_id.to_owned();
        Box::pin(self.read(move |connection| runs::read_journal(connection, &trace_id)))
    }
}
