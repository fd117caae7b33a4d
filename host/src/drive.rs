//! The one loop: asks the run what to do, does it, journals what came of it, and gives that back.

pub(crate) mod journal;
pub(crate) mod prepare;
mod watched;
mod watcher;
mod work;

use std::time::{SystemTime, UNIX_EPOCH};

use art_agent::{Effect, Run, RunEvent, RunReport, RunStart};
use art_core::Timestamp;
use art_core::agent::{ExecutionOverrides, QueryAttachment, RunStatus};
use art_core::error::{ArtError, ErrorCode};
use art_core::prompt::{AgentPersona, SystemPromptOverride};
use art_core::usage::Usage;
use art_store::NewRun;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::compose::Host;
use crate::error::{CommandError, in_one_line};
use watched::Watched;
use work::{Progress, Work};

pub use watcher::{Streamed, Watcher};

/// A question and where it belongs.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The question.
    pub query: String,
    /// Conversation to continue; none begins one.
    pub thread_id: Option<String>,
    /// Files that come with it.
    pub attachments: Vec<QueryAttachment>,
    /// What is set for this question alone.
    pub settings: CallSettings,
}

impl Question {
    /// Characters that a question may have. What is longer belongs into an attachment, which only tools read whole.
    pub const MAX_CHARS: usize = 8_000;

    /// Refuses a question that is too long for any model to plan in time.
    ///
    /// # Errors
    /// When it has more than [`Question::MAX_CHARS`] characters.
    pub(crate) fn check(query: &str) -> Result<(), CommandError> {
        let chars = query.chars().count();
        if chars <= Self::MAX_CHARS {
            return Ok(());
        }
        Err(CommandError::Usage(format!(
            "the question has {chars} characters, and {} are the most; attach the text as a file and ask about that \
             (hint: `--attach FILE`, or `/attach FILE` in a chat)",
            Self::MAX_CHARS
        )))
    }
}

/// What a question sets for itself, over what its thread and the configuration say.
#[derive(Clone, Debug, Default)]
pub struct CallSettings {
    /// How hard the run may try (C48).
    pub execution: ExecutionOverrides,
    /// Who the agent is (P5).
    pub persona: AgentPersona,
    /// Joined after those of the thread and the configuration (M28).
    pub system_prompt: Option<SystemPromptOverride>,
    /// The panic of a watcher is the panic of the run, for tests of watchers (X10).
    pub strict_watcher: bool,
}

/// What one tool call cost, for the table at the end.
#[derive(Clone, Debug, PartialEq)]
pub struct CallCost {
    /// The step of the plan.
    pub item_id: String,
    /// The tool.
    pub tool: String,
    /// How the call ended.
    pub ending: &'static str,
    /// What it used.
    pub usage: Usage,
}

/// A run from its question to its answer.
#[derive(Debug)]
pub struct Answered {
    /// Conversation.
    pub thread_id: String,
    /// Run.
    pub trace_id: String,
    /// The answer and how the run ended.
    pub report: RunReport,
    /// The tool calls in the order in which they ended.
    pub calls: Vec<CallCost>,
    /// How often the watcher panicked (X10). It hears nothing after the first time, so this is 0 or 1.
    pub watcher_panics: u32,
}

/// Answers a question. The run stops early when `cancel` is cancelled.
///
/// # Errors
/// When the question is longer than [`Question::MAX_CHARS`], or the store fails; everything else becomes part of the answer
/// (P82).
pub async fn answer(
    host: &Host,
    question: Question,
    cancel: CancellationToken,
    watcher: &mut dyn Watcher,
) -> Result<Answered, CommandError> {
    Question::check(&question.query)?;
    let strict = question.settings.strict_watcher;
    let (start, version) = prepare::prepare(host, question).await?;
    let started = RunEvent::Started {
        at: now(),
        start: Box::new(start),
    };
    let (mut driver, effects) = Driver::begin(host, &started, cancel, watcher).await?;
    driver.state_version = version;
    driver.watched.be_strict(strict);
    match driver.drive(&started, effects).await {
        Ok(report) => Ok(driver.answered(report)),
        Err(error) => {
            driver.give_up(&error).await;
            Err(error)
        }
    }
}

struct Driver<'a> {
    host: &'a Host,
    watched: Watched<'a>,
    cancel: CancellationToken,
    run: Run,
    thread_id: String,
    trace_id: String,
    work: Work<'a>,
    journal_length: u64,
    state_version: Option<u64>,
    calls: Vec<CallCost>,
}

impl<'a> Driver<'a> {
    /// Begins the run; gives what is to be published once `started` is in the journal.
    async fn begin(
        host: &'a Host,
        started: &RunEvent,
        cancel: CancellationToken,
        watcher: &'a mut dyn Watcher,
    ) -> Result<(Self, Vec<Effect>), CommandError> {
        let (run, effects) = Run::start(started).map_err(unexpected)?;
        let new = new_run(run.started_with());
        let (thread_id, trace_id) = (new.thread_id.clone(), new.trace_id.clone());
        host.store.begin_run(new).await?;
        let driver = Self {
            host,
            watched: Watched::new(watcher, run.started_with(), &trace_id),
            work: Work::new(host, run.started_with(), &trace_id, &cancel),
            cancel,
            run,
            thread_id,
            trace_id,
            journal_length: 0,
            state_version: None,
            calls: Vec::new(),
        };
        Ok((driver, effects))
    }

    async fn drive(&mut self, started: &RunEvent, effects: Vec<Effect>) -> Result<RunReport, CommandError> {
        self.watched.run_started();
        // A question that the store refuses is no part of the conversation.
        self.journal(started).await?;
        self.publish(effects).await?;
        while self.run.finished().is_none() {
            self.work.begin(&self.run, &mut self.watched);
            self.watched.update(&self.run.view(), &self.calls);
            match self.next_event().await? {
                Some((event, costs)) => {
                    self.calls.extend(costs);
                    self.take_in(&event).await?;
                }
                None => self.stop().await?,
            }
        }
        self.finish().await
    }

    /// The next thing that happens, or none when the run is to stop; pieces of replies are shown on the way.
    async fn next_event(&mut self) -> Result<Option<(RunEvent, Vec<CallCost>)>, CommandError> {
        loop {
            let next = tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Ok(None),
                next = self.work.next() => next,
            };
            match next {
                Some(Progress::Ended(event, costs)) => {
                    self.watched.model_ended(&event);
                    return Ok(Some((*event, costs)));
                }
                Some(Progress::Piece { call, event }) => self.watched.stream(&call, &event),
                Some(Progress::Call(progress)) => self.watched.tool(&progress),
                None => return Err(unexpected("the run is stuck")),
            }
        }
    }

    /// The person gave up. What the tools did until they ended is part of the run, so it is taken in first; it may even be
    /// what ends the run.
    async fn stop(&mut self) -> Result<(), CommandError> {
        for (event, costs) in self.work.drain(&mut self.watched).await {
            self.calls.extend(costs);
            if self.run.finished().is_none() {
                self.take_in(&event).await?;
            }
        }
        if self.run.finished().is_none() {
            self.take_in(&RunEvent::CancelRequested { at: now() }).await?;
        }
        Ok(())
    }

    /// Journals the event, and only then acts on it.
    async fn take_in(&mut self, event: &RunEvent) -> Result<(), CommandError> {
        self.journal(event).await?;
        let effects = self.run.apply(event).map_err(unexpected)?;
        self.publish(effects).await
    }

    async fn journal(&mut self, event: &RunEvent) -> Result<(), CommandError> {
        self.journal_length += 1;
        journal::append(self.host.store.as_ref(), &self.trace_id, self.journal_length, event).await
    }

    async fn publish(&mut self, effects: Vec<Effect>) -> Result<(), CommandError> {
        let store = self.host.store.as_ref();
        journal::publish(store, &self.thread_id, &mut self.state_version, effects).await
    }

    async fn finish(&mut self) -> Result<RunReport, CommandError> {
        let drained = self.work.drain(&mut self.watched).await;
        self.calls.extend(drained.into_iter().flat_map(|(_, costs)| costs));
        self.watched.update(&self.run.view(), &self.calls);
        let report = self.run.finished().cloned();
        let report = report.ok_or_else(|| unexpected("the run has no answer"))?;
        journal::end(self.host.store.as_ref(), &self.trace_id, &report).await?;
        let response = &report.response;
        let failed = response.metadata.status == RunStatus::Error;
        let error = response.metadata.error.as_ref().filter(|_| failed);
        self.watched.run_ended(error, &response.response.content);
        Ok(report)
    }

    /// The run cannot go on. It is ended as far as the store still takes anything.
    async fn give_up(&mut self, error: &CommandError) {
        drop(self.work.drain(&mut self.watched).await);
        let message = in_one_line(error);
        let (status, summary) = (RunStatus::Error, json!({"error": message}));
        self.watched
            .run_ended(Some(&run_error(error, &message)), &format!("Error: {message}"));
        if let Err(error) = self.host.store.end_run(&self.trace_id, status, summary).await {
            tracing::warn!(run = self.trace_id, %error, "a run that failed could not be ended");
        }
    }

    fn answered(self, report: RunReport) -> Answered {
        Answered {
            thread_id: self.thread_id,
            trace_id: self.trace_id,
            report,
            calls: self.calls,
            watcher_panics: self.watched.panics(),
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

/// Why a run could not go on, in the form in which a run tells its own failures.
fn run_error(error: &CommandError, message: &str) -> ArtError {
    let code = match error {
        CommandError::Store(_) => ErrorCode::StorageError,
        _ => ErrorCode::AgentProcessingError,
    };
    ArtError {
        code,
        message: message.to_owned(),
        phase: "finalization".to_owned(),
    }
}

/// A defect of the host: told, not hidden.
fn unexpected(error: impl std::fmt::Display) -> CommandError {
    CommandError::Failed(format!("the host made a mistake: {error}"))
}

pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
