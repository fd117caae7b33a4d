//! Ends runs that an earlier process left unfinished.

use art_agent::{Effect, Run, RunEvent, RunReport};
use art_core::agent::RunStatus;
use art_store::{RunFilter, RunRecord, RunState, Store, StoreError};
use serde_json::json;

use crate::drive::clock::now;
use crate::drive::journal;
use crate::error::RuntimeError;

/// The reason why a run ended whose host stopped.
const HOST_STOPPED: &str = "the host stopped before the run was finished";

/// Ends every run whose status is `running`. Must be called only by the one process that writes to the store, before it
/// starts a run. A run whose journal contains its end gets the status of that end; any other run ends with an error, and its
/// model calls in progress are counted by their estimates (M12).
///
/// # Errors
/// Fails if the runs cannot be listed. A run that cannot be ended is left for the next start.
pub(crate) async fn end_unfinished_runs(store: &dyn Store) -> Result<(), RuntimeError> {
    let filter = RunFilter {
        status: Some(RunState::Running),
        ..RunFilter::default()
    };
    for run in store.list_runs(filter).await? {
        if let Err(error) = end_unfinished_run(store, &run).await {
            tracing::warn!(run = run.trace_id, %error, "a run of an earlier host could not be ended");
        }
    }
    Ok(())
}

async fn end_unfinished_run(store: &dyn Store, run: &RunRecord) -> Result<(), RuntimeError> {
    let finished = match finish(store, run).await {
        Ok(finished) => finished,
        Err(error) => {
            tracing::warn!(run = run.trace_id, %error, "the journal of a run cannot be replayed");
            None
        }
    };
    if let Some(report) = finished {
        return journal::end(store, &run.trace_id, &report).await;
    }
    let summary = json!({"error": HOST_STOPPED});
    store.end_run(&run.trace_id, RunStatus::Error, summary).await?;
    Ok(())
}

/// Replays the journal of a run, and adds the event that ends it if it has none. Publishes the effects of the last event that it
/// had, because the process may have stopped before it published them, and of the one that is added. Returns the report, or
/// `None` if the journal is empty.
async fn finish(store: &dyn Store, run: &RunRecord) -> Result<Option<RunReport>, RuntimeError> {
    let events = journal::events(store, &run.trace_id).await?;
    let Some((last, before)) = events.split_last() else {
        return Ok(None);
    };
    let (mut replayed, effects) = apply_last(before, last).map_err(RuntimeError::Damaged)?;
    publish(store, run, &replayed, effects).await?;
    if replayed.finished().is_none() {
        let event = RunEvent::HostFailed {
            at: now(),
            reason: HOST_STOPPED.to_owned(),
        };
        let sequence = events.len() as u64 + 1;
        journal::append(store, &run.trace_id, sequence, &event).await?;
        let effects = replayed.apply(&event).map_err(RuntimeError::internal)?;
        publish(store, run, &replayed, effects).await?;
    }
    Ok(replayed.finished().cloned())
}

/// Publishes the effects of an event. Does not overwrite the state that a later run of the thread stored.
async fn publish(
    store: &dyn Store,
    run: &RunRecord,
    replayed: &Run,
    mut effects: Vec<Effect>,
) -> Result<(), RuntimeError> {
    if !is_latest(store, run).await? {
        effects.retain(|effect| !matches!(effect, Effect::SaveState));
    }
    let state = store.load_state(&run.thread_id).await?;
    let mut version = state.map(|state| state.version);
    journal::publish(store, &run.thread_id, &mut version, replayed, effects).await
}

/// Returns the run after all events, and the effects of the last one.
fn apply_last(before: &[RunEvent], last: &RunEvent) -> Result<(Run, Vec<Effect>), String> {
    if before.is_empty() {
        return Run::start(last).map_err(|error| error.to_string());
    }
    let mut run = Run::replay(before).map_err(|error| error.to_string())?;
    let effects = run.apply(last).map_err(|error| error.to_string())?;
    Ok((run, effects))
}

async fn is_latest(store: &dyn Store, run: &RunRecord) -> Result<bool, StoreError> {
    let filter = RunFilter {
        thread_id: Some(run.thread_id.clone()),
        limit: Some(1),
        ..RunFilter::default()
    };
    let runs = store.list_runs(filter).await?;
    Ok(runs.first().is_some_and(|latest| latest.trace_id == run.trace_id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::store_with_run;
    use art_agent::RunStart;
    use art_core::agent::AgentProps;
    use art_core::provider::{ContextWindow, RuntimeProviderConfig};
    use art_store::{MemoryStore, MessageOptions};
    use serde_json::Value;

    async fn store_with(events: &[RunEvent]) -> MemoryStore {
        let store = store_with_run().await;
        for (event, sequence) in events.iter().zip(1..) {
            let payload = serde_json::to_value(event).unwrap();
            store.append_journal("r", sequence, "event", payload).await.unwrap();
        }
        store
    }

    fn events() -> Vec<RunEvent> {
        let props = AgentProps {
            query: "q".to_owned(),
            thread_id: "t".to_owned(),
            trace_id: Some("r".to_owned()),
            ..AgentProps::default()
        };
        let model = RuntimeProviderConfig::new("p", "m");
        let start = Box::new(RunStart::new(props, model));
        let cancel = RunEvent::CancelRequested {
            at: 2,
            interrupted: Vec::new(),
        };
        vec![RunEvent::Started { at: 1, start }, cancel]
    }

    /// Returns the run after recovery, and the messages of its thread.
    async fn recover(events: &[RunEvent]) -> (RunRecord, Vec<String>) {
        let store = store_with(events).await;
        end_unfinished_runs(&store).await.unwrap();
        let messages = store.list_messages("t", MessageOptions::default()).await.unwrap();
        let contents = messages.into_iter().map(|message| message.content).collect();
        (store.get_run("r").await.unwrap().unwrap(), contents)
    }

    #[tokio::test]
    async fn a_run_whose_journal_has_its_end_gets_that_status() {
        let (run, contents) = recover(&events()).await;
        assert_eq!((run.status, contents.len()), (RunState::Cancelled, 0));
        assert_eq!(run.summary.pointer("/metadata/traceId"), Some(&Value::from("r")));
    }

    #[tokio::test]
    async fn a_run_without_an_end_in_its_journal_is_an_error() {
        for events in [&events()[..1], &[]] {
            let (run, _) = recover(events).await;
            assert_eq!(run.status, RunState::Error);
            assert!(run.summary["error"].as_str().unwrap().contains("the host stopped"));
        }
    }

    // M12: a call that broke off.
    #[tokio::test]
    async fn a_model_call_that_the_end_of_its_host_interrupted_is_counted_by_its_estimate() {
        let mut events = events();
        events.truncate(1);
        let RunEvent::Started { start, .. } = &mut events[0] else {
            unreachable!("a journal begins with a start")
        };
        start.context = ContextWindow::Tokens(100_000);
        let (run, _) = recover(&events).await;
        let metadata = &run.summary["metadata"];
        assert_eq!(
            (&metadata["llmCalls"], &metadata["estimatedCalls"]),
            (&1.into(), &1.into())
        );
        assert!(metadata["tokens"]["promptTokens"].as_u64() > Some(100), "{metadata}");
        assert_eq!(run.last_sequence, 2, "the end is in the journal");
    }

    #[tokio::test]
    async fn a_question_that_is_in_a_journal_is_part_of_the_conversation() {
        assert_eq!(recover(&events()[..1]).await.1, ["q"]);
        assert!(recover(&[]).await.1.is_empty());
    }
}
