//! The driver: carries out the actions of a run, writes their results to the journal, and applies them to the run.

mod answer;
pub(crate) mod clock;
pub(crate) mod journal;
mod notifier;
mod occasion;
pub(crate) mod prepare;
mod question;
pub(crate) mod records;
mod watcher;
mod work;

use art_agent::{Effect, Run, RunEvent, RunReport, RunStart};
use art_core::agent::RunStatus;
use art_core::error::{ArtError, ErrorCode};
use art_store::NewRun;
use futures_util::future::join;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::error::{RuntimeError, in_one_line};
use crate::runtime::Runtime;
use clock::now;
use notifier::Notifier;
use work::Work;
use work::event::WorkEvent;

pub use answer::{Answer, CallCost};
pub use question::{CallSettings, Question};
pub use watcher::{Streamed, Unwatched, Watcher};

impl Runtime {
    /// Asks a question and waits for its answer.
    ///
    /// # Errors
    /// Fails if the question is longer than [`Question::MAX_CHARS`], its thread does not exist, or the store fails.
    /// Other failures are part of the answer: see [`Answer::status`].
    pub async fn ask(&self, question: impl Into<Question>) -> Result<Answer, RuntimeError> {
        self.ask_watched(question.into(), CancellationToken::new(), &mut Unwatched)
            .await
    }

    /// Asks a question and notifies `watcher` of everything that happens. Cancelling `cancel` ends the run early.
    ///
    /// # Errors
    /// Same as [`ask`](Self::ask).
    pub async fn ask_watched(
        &self,
        question: Question,
        cancel: CancellationToken,
        watcher: &mut dyn Watcher,
    ) -> Result<Answer, RuntimeError> {
        Question::check(&question.query)?;
        let strict = question.settings.strict_watcher;
        let (start, version) = prepare::prepare(self, question).await?;
        let started = RunEvent::Started {
            at: now(),
            start: Box::new(start),
        };
        let (mut driver, effects) = Driver::begin(self, &started, cancel, watcher).await?;
        driver.state_version = version;
        driver.notifier.set_strict(strict);
        match driver.drive(&started, effects).await {
            Ok(report) => Ok(driver.answer(report)),
            Err(error) => {
                driver.end_with_error(&error).await;
                Err(error)
            }
        }
    }
}

struct Driver<'a> {
    runtime: &'a Runtime,
    notifier: Notifier<'a>,
    cancel: CancellationToken,
    run: Run,
    thread_id: String,
    trace_id: String,
    work: Work<'a>,
    journal_length: u64,
    state_version: Option<u64>,
    calls: Vec<CallCost>,
    /// Number of entries of the run's model work that are recorded.
    recorded_work: usize,
}

impl<'a> Driver<'a> {
    /// Creates the run in the store. Returns the driver, and the effects to publish once `started` is in the journal.
    async fn begin(
        runtime: &'a Runtime,
        started: &RunEvent,
        cancel: CancellationToken,
        watcher: &'a mut dyn Watcher,
    ) -> Result<(Self, Vec<Effect>), RuntimeError> {
        let (run, effects) = Run::start(started).map_err(RuntimeError::internal)?;
        let new = new_run(run.started_with());
        let (thread_id, trace_id) = (new.thread_id.clone(), new.trace_id.clone());
        runtime.store.begin_run(new).await?;
        let driver = Self {
            runtime,
            notifier: Notifier::new(watcher, run.started_with(), &trace_id),
            work: Work::new(runtime, run.started_with(), &trace_id, &cancel),
            cancel,
            run,
            thread_id,
            trace_id,
            journal_length: 0,
            state_version: None,
            calls: Vec::new(),
            recorded_work: 0,
        };
        Ok((driver, effects))
    }

    /// Carries out the run to its end and returns its report.
    async fn drive(&mut self, started: &RunEvent, effects: Vec<Effect>) -> Result<RunReport, RuntimeError> {
        self.notifier.run_started();
        // Journal first: a question that the store refuses must not be published to the conversation.
        self.journal(started).await?;
        self.publish(effects).await?;
        while self.run.finished().is_none() {
            self.work.start_open_actions(&self.run, &mut self.notifier);
            self.notifier.update(&self.run.view(), &self.calls);
            match self.next_event().await? {
                Some((event, costs)) => self.settle(&event, costs).await?,
                None => self.stop().await?,
            }
        }
        self.finish().await
    }

    /// Waits for the next event of the run, and passes pieces of replies to the watcher in the meantime. Returns `None`
    /// if the run was cancelled.
    async fn next_event(&mut self) -> Result<Option<(RunEvent, Vec<CallCost>)>, RuntimeError> {
        loop {
            let next = tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Ok(None),
                next = self.work.next() => next,
            };
            match next {
                Some(WorkEvent::Ended(event, costs)) => {
                    self.notifier.model_ended(&event);
                    return Ok(Some((*event, costs)));
                }
                Some(WorkEvent::Piece { call, event }) => self.notifier.stream(&call, &event),
                Some(WorkEvent::ToolProgress(progress)) => self.notifier.call_progressed(&progress),
                None => return Err(RuntimeError::internal("the run is stuck")),
            }
        }
    }

    /// Ends a cancelled run. First applies the results of tools that have ended, because they are part of the run. These
    /// results may finish the run before the cancellation does.
    async fn stop(&mut self) -> Result<(), RuntimeError> {
        let interrupted = self.work.model_calls();
        for (event, costs) in self.work.drain(&mut self.notifier).await {
            if self.run.finished().is_none() {
                self.settle(&event, costs).await?;
            } else {
                self.calls.extend(costs);
            }
        }
        if self.run.finished().is_none() {
            let at = now();
            self.record_and_apply(&RunEvent::CancelRequested { at, interrupted })
                .await?;
        }
        Ok(())
    }

    /// Applies an event, and records the costs of its tool calls for estimates. Both are written at the same time, so that they
    /// share a sync of the disk. Then records the model work that the event ended.
    async fn settle(&mut self, event: &RunEvent, costs: Vec<CallCost>) -> Result<(), RuntimeError> {
        let (runtime, trace_id) = (self.runtime, self.trace_id.clone());
        let recorded = records::add(runtime.store.as_ref(), &trace_id, &costs);
        let ((), applied) = join(recorded, self.record_and_apply(event)).await;
        self.calls.extend(costs);
        applied?;
        self.record_work().await;
        Ok(())
    }

    /// Records what the model used for the steps and the answer that ended since the last time.
    async fn record_work(&mut self) {
        let (store, model) = (self.runtime.store.as_ref(), &self.run.started_with().model);
        let work = self.run.model_work();
        let new = work.get(self.recorded_work..).unwrap_or_default();
        records::add_work(store, &self.trace_id, model, new).await;
        self.recorded_work = work.len();
    }

    /// Writes the event to the journal, then applies it and publishes its effects.
    async fn record_and_apply(&mut self, event: &RunEvent) -> Result<(), RuntimeError> {
        self.journal(event).await?;
        let effects = self.run.apply(event).map_err(RuntimeError::internal)?;
        self.publish(effects).await
    }

    async fn journal(&mut self, event: &RunEvent) -> Result<(), RuntimeError> {
        let sequence = self.journal_length + 1;
        journal::append(self.runtime.store.as_ref(), &self.trace_id, sequence, event).await?;
        self.journal_length = sequence;
        Ok(())
    }

    async fn publish(&mut self, effects: Vec<Effect>) -> Result<(), RuntimeError> {
        let store = self.runtime.store.as_ref();
        journal::publish(store, &self.thread_id, &mut self.state_version, &self.run, effects).await
    }

    /// Ends the finished run in the store and notifies the watcher. Returns the report.
    async fn finish(&mut self) -> Result<RunReport, RuntimeError> {
        let drained = self.work.drain(&mut self.notifier).await;
        self.calls.extend(drained.into_iter().flat_map(|(_, costs)| costs));
        self.notifier.update(&self.run.view(), &self.calls);
        let report = self.run.finished().cloned();
        let report = report.ok_or_else(|| RuntimeError::internal("the run has no answer"))?;
        journal::end(self.runtime.store.as_ref(), &self.trace_id, &report).await?;
        let response = &report.response;
        let failed = response.metadata.status == RunStatus::Error;
        let error = response.metadata.error.as_ref().filter(|_| failed);
        self.notifier.run_ended(error, &response.response.content);
        Ok(report)
    }

    /// Ends the run after an error of the runtime, with its cost if the journal can still be written. If the store fails as
    /// well, only logs that.
    async fn end_with_error(&mut self, error: &RuntimeError) {
        drop(self.work.drain(&mut self.notifier).await);
        let message = in_one_line(error);
        let status = RunStatus::Error;
        let metadata = self.fail(&message).await.map(|report| report.response.metadata);
        let summary = json!({"error": message, "metadata": metadata.ok()});
        self.notifier
            .run_ended(Some(&run_error(error, &message)), &format!("Error: {message}"));
        if let Err(error) = self.runtime.store.end_run(&self.trace_id, status, summary).await {
            tracing::warn!(run = self.trace_id, %error, "a run that failed could not be ended");
        }
    }

    /// Ends the fold of the run with an error, unless its journal is empty. Returns its report.
    async fn fail(&mut self, reason: &str) -> Result<RunReport, RuntimeError> {
        let (at, reason) = (now(), reason.to_owned());
        if self.run.finished().is_none() && self.journal_length > 0 {
            self.record_and_apply(&RunEvent::HostFailed { at, reason }).await?;
        }
        let report = self.run.finished().cloned();
        report.ok_or_else(|| RuntimeError::internal("the run has no report"))
    }

    fn answer(self, report: RunReport) -> Answer {
        Answer {
            thread_id: self.thread_id,
            trace_id: self.trace_id,
            report,
            calls: self.calls,
            watcher_panics: self.notifier.panics(),
        }
    }
}

fn new_run(start: &RunStart) -> NewRun {
    NewRun {
        trace_id: start.props.trace_id.clone().unwrap_or_default(),
        thread_id: start.props.thread_id.clone(),
        query: start.props.query.clone(),
        model: Some(format!("{}:{}", start.model.provider_name, start.model.model_id)),
    }
}

/// Converts an error of the runtime to an error of the run.
fn run_error(error: &RuntimeError, message: &str) -> ArtError {
    let code = match error {
        RuntimeError::Store(_) => ErrorCode::StorageError,
        _ => ErrorCode::AgentProcessingError,
    };
    ArtError {
        code,
        message: message.to_owned(),
        phase: "finalization".to_owned(),
    }
}

#[cfg(test)]
mod tests;
