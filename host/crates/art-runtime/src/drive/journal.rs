//! Writes and reads the journal of a run, and publishes effects.

use art_agent::{Effect, Run, RunEvent, RunReport};
use art_core::conversation::ConversationMessage;
use art_store::{Store, StoreError};
use serde_json::{Value, json};

use crate::error::RuntimeError;

/// Adds an event to the journal as entry number `sequence`.
pub(crate) async fn append(
    store: &dyn Store,
    trace_id: &str,
    sequence: u64,
    event: &RunEvent,
) -> Result<(), RuntimeError> {
    let payload = serde_json::to_value(event).map_err(RuntimeError::internal)?;
    let kind = payload.get("type").and_then(|kind| kind.as_str()).unwrap_or_default();
    let kind = kind.to_owned();
    store.append_journal(trace_id, sequence, &kind, payload).await?;
    Ok(())
}

/// Returns the events of a run, oldest first.
pub(crate) async fn events(store: &dyn Store, trace_id: &str) -> Result<Vec<RunEvent>, RuntimeError> {
    let entries = store.read_journal(trace_id).await?;
    let events = entries.into_iter().map(|entry| serde_json::from_value(entry.payload));
    let events: Result<_, _> = events.collect();
    events.map_err(|error| RuntimeError::Damaged(format!("the journal of run `{trace_id}` cannot be read: {error}")))
}

/// Publishes the effects of the last event of `run`, which is in its journal. If they are published twice, observations are stored
/// twice, and nothing else changes.
pub(crate) async fn publish(
    store: &dyn Store,
    thread_id: &str,
    version: &mut Option<u64>,
    run: &Run,
    effects: Vec<Effect>,
) -> Result<(), RuntimeError> {
    for effect in effects {
        match effect {
            Effect::SaveState => {
                *version = Some(store.save_state(thread_id, run.stored_state(), *version).await?);
            }
            Effect::Observe(observation) => drop(store.record(observation).await?),
            Effect::AddMessage(message) => add_message(store, thread_id, message).await?,
        }
    }
    Ok(())
}

/// Adds a message to a conversation. A message with the same identifier was added before a crash, so it is not an error.
async fn add_message(store: &dyn Store, thread_id: &str, message: ConversationMessage) -> Result<(), RuntimeError> {
    match store.append_messages(thread_id, vec![message]).await {
        Ok(()) | Err(StoreError::AlreadyExists { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Ends a run in the store with the status of its report.
pub(crate) async fn end(store: &dyn Store, trace_id: &str, report: &RunReport) -> Result<(), RuntimeError> {
    let status = report.response.metadata.status;
    store.end_run(trace_id, status, summary(report)).await?;
    Ok(())
}

/// Returns the summary of a finished run for listings: its cost, its answer, and its error if it has one.
fn summary(report: &RunReport) -> Value {
    let metadata = &report.response.metadata;
    let mut summary = json!({"metadata": metadata, "answer": report.response.response.content});
    if let (Some(error), Some(map)) = (&metadata.error, summary.as_object_mut()) {
        map.insert("error".to_owned(), json!(error.message));
    }
    summary
}
