//! The one loop: asks the run what to do, does it, journals what came of it, and gives that back.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use art_agent::{Effect, Run, RunEvent, RunReport, RunStart, RunView, Step, StepId};
use art_core::agent::{AgentProps, QueryAttachment, RunStatus, ThreadConfig};
use art_core::conversation::{ConversationMessage, MessageRole};
use art_core::pes::PesAgentStateData;
use art_core::usage::Usage;
use art_core::{JsonObject, Timestamp, id};
use art_store::{MessageOptions, NewRun, NewThread, Store};
use art_tools::{CallScope, ToolReport};
use futures_util::StreamExt;
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::FuturesUnordered;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::compose::Host;
use crate::error::CommandError;

/// Messages of a conversation that a model is shown.
const HISTORY: usize = 20;

/// A question and where it belongs.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The question.
    pub query: String,
    /// Conversation to continue; none begins one.
    pub thread_id: Option<String>,
    /// Texts that come with it.
    pub attachments: Vec<QueryAttachment>,
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
}

/// Sees a run while it goes on.
pub trait Watcher {
    /// Something changed.
    fn update(&mut self, view: &RunView<'_>, calls: &[CallCost]);
}

/// Answers a question. The run stops early when `cancel` is cancelled.
///
/// # Errors
/// When the store fails; everything else becomes part of the answer (P82).
pub async fn answer(
    host: &Host,
    question: Question,
    cancel: CancellationToken,
    watcher: &mut dyn Watcher,
) -> Result<Answered, CommandError> {
    let (start, version) = prepare(host, question).await?;
    let driver = Driver::begin(host, start, version, cancel, watcher).await?;
    driver.drive().await
}

/// Finds or makes the thread and gathers what the run begins with.
async fn prepare(host: &Host, question: Question) -> Result<(RunStart, Option<u64>), CommandError> {
    let thread_id = open_thread(host, question.thread_id).await?;
    let store = &host.store;
    let options = MessageOptions {
        limit: Some(HISTORY),
        roles: vec![MessageRole::User, MessageRole::Ai],
        ..MessageOptions::default()
    };
    let history = store.list_messages(&thread_id, options).await?;
    let state = store.load_state(&thread_id).await?;
    let version = state.as_ref().map(|state| state.version);
    let prior = state
        .map(|state| serde_json::from_value::<PesAgentStateData>(state.data))
        .transpose();
    let props = AgentProps {
        query: question.query,
        thread_id,
        attachments: question.attachments,
        trace_id: Some(id::ordered()),
        ..AgentProps::default()
    };
    let enabled = host.tool_names();
    let start = RunStart {
        tools: host.tools.registry().available(&enabled),
        history,
        config: host.config.execution.value,
        prior: prior.map_err(|error| CommandError::Failed(format!("the state of the thread is damaged: {error}")))?,
        ..RunStart::new(props, host.model.config().clone())
    };
    Ok((start, version))
}

/// The thread of that identifier, which must exist, or a new one. Its tools are those of the plugins folder now.
async fn open_thread(host: &Host, thread_id: Option<String>) -> Result<String, CommandError> {
    let config = ThreadConfig {
        provider_config: Some(host.model.config().clone()),
        enabled_tools: host.tool_names(),
        ..ThreadConfig::default()
    };
    if let Some(id) = thread_id {
        host.store.set_thread_config(&id, config).await?;
        return Ok(id);
    }
    let new = NewThread {
        id: id::ordered(),
        user_id: None,
        config,
    };
    Ok(host.store.create_thread(new).await?.id)
}

/// What a step came to, before it is an event.
type Done = (RunEvent, Vec<CallCost>);

struct Driver<'a> {
    host: &'a Host,
    watcher: &'a mut dyn Watcher,
    cancel: CancellationToken,
    run: Run,
    thread_id: String,
    trace_id: String,
    scope: CallScope,
    journal_length: u64,
    state_version: Option<u64>,
    calls: Vec<CallCost>,
}

impl<'a> Driver<'a> {
    async fn begin(
        host: &'a Host,
        start: RunStart,
        state_version: Option<u64>,
        cancel: CancellationToken,
        watcher: &'a mut dyn Watcher,
    ) -> Result<Self, CommandError> {
        let thread_id = start.props.thread_id.clone();
        let trace_id = start.props.trace_id.clone().unwrap_or_default();
        let query = start.props.query.clone();
        let scope = CallScope {
            thread_id: thread_id.clone(),
            trace_id: trace_id.clone(),
            enabled_tools: start.tools.iter().map(|tool| tool.name.clone()).collect(),
            cancel: cancel.child_token(),
            ..CallScope::default()
        };
        let model = Some(format!("{}:{}", start.model.provider_name, start.model.model_id));
        let new = NewRun {
            trace_id: trace_id.clone(),
            thread_id: thread_id.clone(),
            query: query.clone(),
            model,
        };
        host.store
            .append_messages(&thread_id, vec![user_message(&thread_id, &trace_id, query)])
            .await?;
        host.store.begin_run(new).await?;
        let event = RunEvent::Started {
            at: now(),
            start: Box::new(start),
        };
        journal(host.store.as_ref(), &trace_id, 1, &event).await?;
        let (run, effects) = Run::start(&event).map_err(unexpected)?;
        let (journal_length, calls) = (1, Vec::new());
        let mut driver = Self {
            host,
            watcher,
            cancel,
            run,
            thread_id,
            trace_id,
            scope,
            journal_length,
            state_version,
            calls,
        };
        driver.publish(effects).await?;
        Ok(driver)
    }

    async fn drive(mut self) -> Result<Answered, CommandError> {
        let host = self.host;
        let cancel = self.cancel.clone();
        let mut begun = BTreeSet::new();
        let mut open = FuturesUnordered::new();
        let mut cancelled = false;
        while self.run.finished().is_none() {
            for id in self.run.open_steps().collect::<Vec<_>>() {
                if begun.insert(id)
                    && let Some(step) = self.run.step(id)
                {
                    open.push(perform(host, step, self.scope.clone()));
                }
            }
            self.watcher.update(&self.run.view(), &self.calls);
            let next = tokio::select! {
                done = open.next() => done,
                () = cancel.cancelled(), if !cancelled => {
                    cancelled = true;
                    Some((RunEvent::CancelRequested { at: now() }, Vec::new()))
                }
            };
            let Some((event, costs)) = next else {
                return Err(unexpected("the run is stuck"));
            };
            self.calls.extend(costs);
            self.take_in(&event).await?;
        }
        self.finish().await
    }

    /// Journals the event, and only then acts on it.
    async fn take_in(&mut self, event: &RunEvent) -> Result<(), CommandError> {
        self.journal_length += 1;
        journal(self.host.store.as_ref(), &self.trace_id, self.journal_length, event).await?;
        let effects = self.run.apply(event).map_err(unexpected)?;
        self.publish(effects).await
    }

    async fn publish(&mut self, effects: Vec<Effect>) -> Result<(), CommandError> {
        let store = &self.host.store;
        for effect in effects {
            match effect {
                Effect::SaveState(state) => {
                    let data = serde_json::to_value(state).map_err(unexpected)?;
                    self.state_version = Some(store.save_state(&self.thread_id, data, self.state_version).await?);
                }
                Effect::Observe(observation) => drop(store.record(observation).await?),
                Effect::Say(message) => store.append_messages(&self.thread_id, vec![message]).await?,
            }
        }
        Ok(())
    }

    async fn finish(self) -> Result<Answered, CommandError> {
        self.watcher.update(&self.run.view(), &self.calls);
        let report = self
            .run
            .finished()
            .cloned()
            .ok_or_else(|| unexpected("the run has no answer"))?;
        let metadata = &report.response.metadata;
        // This host cannot resume a run yet, so one that waits for a person ends here for good.
        let status = match metadata.status {
            RunStatus::Suspended => RunStatus::Cancelled,
            status => status,
        };
        let summary = json!({"metadata": metadata, "answer": report.response.response.content});
        self.host.store.end_run(&self.trace_id, status, summary).await?;
        Ok(Answered {
            thread_id: self.thread_id,
            trace_id: self.trace_id,
            report,
            calls: self.calls,
        })
    }
}

/// Does what a step says. Never fails: what went wrong is an event as well.
fn perform(host: &Host, step: Step, scope: CallScope) -> BoxFuture<'_, Done> {
    match step {
        Step::CallModel { id, request, .. } => async move {
            let model = Arc::clone(&host.model);
            let event = match art_model::reply(model.as_ref(), *request).await {
                Ok(reply) => RunEvent::ModelReplied {
                    at: now(),
                    step: id,
                    reply,
                },
                Err(error) => RunEvent::ModelFailed {
                    at: now(),
                    step: id,
                    error,
                },
            };
            (event, Vec::new())
        }
        .boxed(),
        Step::CallTools { id, item_id, calls } => async move {
            let scope = CallScope {
                parent_id: Some(item_id.clone()),
                ..scope
            };
            let reports = host.tools.execute_batch(calls, &scope).await;
            returned(id, &item_id, reports)
        }
        .boxed(),
        // The loop ends before it asks for this.
        Step::Finish(_) => std::future::pending().boxed(),
    }
}

fn returned(step: StepId, item_id: &str, reports: Vec<ToolReport>) -> Done {
    let mut usage = Usage::default();
    let mut costs = Vec::new();
    let mut results = Vec::new();
    for report in reports {
        usage += report.usage;
        costs.push(CallCost {
            item_id: item_id.to_owned(),
            tool: report.result.tool_name.clone(),
            ending: report.ending.as_str(),
            usage: report.usage,
        });
        results.push(report.result);
    }
    (
        RunEvent::ToolsReturned {
            at: now(),
            step,
            results,
            usage,
        },
        costs,
    )
}

async fn journal(store: &dyn Store, trace_id: &str, sequence: u64, event: &RunEvent) -> Result<(), CommandError> {
    let payload = serde_json::to_value(event).map_err(unexpected)?;
    let kind = payload
        .get("type")
        .and_then(|kind| kind.as_str())
        .unwrap_or_default()
        .to_owned();
    store.append_journal(trace_id, sequence, &kind, payload).await?;
    Ok(())
}

fn user_message(thread_id: &str, trace_id: &str, content: String) -> ConversationMessage {
    let mut metadata = JsonObject::new();
    metadata.insert("traceId".to_owned(), trace_id.into());
    ConversationMessage {
        message_id: id::ordered(),
        thread_id: thread_id.to_owned(),
        role: MessageRole::User,
        content,
        timestamp: now(),
        metadata,
    }
}

/// A defect of the host: told, not hidden.
fn unexpected(error: impl std::fmt::Display) -> CommandError {
    CommandError::Failed(format!("the host made a mistake: {error}"))
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
