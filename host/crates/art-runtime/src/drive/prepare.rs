//! Prepares a run: takes the lease of its thread, and collects everything that the run starts with.

use std::time::Duration;

use art_agent::{PlanToRun, RunStart};
use art_core::agent::{AgentProps, ThreadConfig};
use art_core::conversation::{ConversationMessage, MessageRole};
use art_core::id;
use art_core::pes::PesAgentStateData;
use art_core::provider::ModelCapability;
use art_model::ModelInfo;
use art_sandbox::Sandbox;
use art_store::{Lease, MessageOptions, NewThread, Owner, StoreError, Thread};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::lease::ThreadLease;
use super::occasion;
use super::question::{Question, QuestionSettings};
use super::records;
use crate::compose::resolve_model;
use crate::config::Config;
use crate::decisions;
use crate::error::RuntimeError;
use crate::params::Params;
use crate::recover;
use crate::runtime::Runtime;

/// Maximum number of earlier messages that a model is shown, unless the thread sets another maximum.
const DEFAULT_HISTORY_LIMIT: usize = 20;
/// Maximum size of the earlier messages as JSON, in bytes. The size of a journal entry is limited, and the first entry of the
/// run contains these messages, the attachments of the question and the state of the thread.
const MAX_HISTORY_BYTES: usize = 512 << 10;

/// Maximum time that a question waits for its thread while another question is in progress there. After this time it fails.
const MAX_WAIT_FOR_THREAD: Duration = Duration::from_secs(60);
/// Interval at which a waiting question checks whether the thread is free.
const WAIT_INTERVAL: Duration = Duration::from_millis(50);

/// Finds or creates the thread and takes its lease. Returns everything that the run starts with, and the lease.
pub(super) async fn prepare(
    runtime: &Runtime,
    mut question: Question,
    cancel: &CancellationToken,
) -> Result<(RunStart, ThreadLease), RuntimeError> {
    question.plan = question.plan.take().map(complete_plan).transpose()?;
    // Fail before a thread is created if there is no such model.
    if let Some(model) = &question.settings.model {
        resolve_model(&runtime.engine, model)?;
    }
    let (start, lease) = match &question.thread_id {
        None => {
            let (thread, lease) = ThreadLease::for_new_thread(runtime, new_thread(&question)).await?;
            (
                run_start_in(runtime, question, ThreadForRun::new(thread.id)).await,
                lease,
            )
        }
        Some(id) => {
            let thread = runtime
                .find_thread(id, &Owner::user(question.user_id.as_deref()))
                .await?;
            let lease = wait_for_lease(runtime, &thread.id, cancel).await?;
            (
                run_start_under_lease(runtime, question, thread, lease.lease()).await,
                lease,
            )
        }
    };
    match start {
        Ok(start) => Ok((start, lease)),
        Err(error) => {
            lease.release().await;
            Err(error)
        }
    }
}

/// Ends the interrupted runs of a thread, whose lease this host has. Then returns the start of a run that answers the question.
/// Fails if a run of the thread waits for a decision.
async fn run_start_under_lease(
    runtime: &Runtime,
    question: Question,
    thread: Thread,
    lease: &Lease,
) -> Result<RunStart, RuntimeError> {
    // Check this before any interrupted run is ended: an interrupted run may have a decision that it has not applied yet, and
    // ending the run would lose that decision.
    decisions::refuse_if_waiting(runtime, &thread.id).await?;
    recover::end_unfinished_runs(runtime, &thread.id, lease).await?;
    // The settings of the thread may have changed while the question waited.
    let thread = runtime.store.get_thread(&thread.id).await?.unwrap_or(thread);
    let thread = ThreadForRun::load(runtime, thread).await?;
    run_start_in(runtime, question, thread).await
}

/// Takes the lease of a thread. The questions of a thread are answered one after the other, so this waits up to
/// [`MAX_WAIT_FOR_THREAD`] while another question is in progress, unless `cancel` is cancelled.
pub(super) async fn wait_for_lease(
    runtime: &Runtime,
    thread_id: &str,
    cancel: &CancellationToken,
) -> Result<ThreadLease, RuntimeError> {
    let start = Instant::now();
    loop {
        match ThreadLease::acquire(runtime, thread_id).await {
            Err(StoreError::ThreadBusy { .. }) if start.elapsed() < MAX_WAIT_FOR_THREAD && !cancel.is_cancelled() => {
                sleep(WAIT_INTERVAL).await;
            }
            acquired => return Ok(acquired?),
        }
    }
}

/// The parts of a thread that a run starts with.
pub(crate) struct ThreadForRun {
    id: String,
    config: ThreadConfig,
    /// The newest messages of people and the agent.
    history: Vec<ConversationMessage>,
    /// The state in which the last run left the thread.
    prior_state: Option<PesAgentStateData>,
}

impl ThreadForRun {
    /// Returns the parts of a new thread, in which all tools are enabled.
    pub(crate) fn new(id: String) -> Self {
        Self {
            id,
            config: config_with_all_tools(),
            history: Vec::new(),
            prior_state: None,
        }
    }

    async fn load(runtime: &Runtime, thread: Thread) -> Result<Self, RuntimeError> {
        let history = load_history(runtime, &thread).await?;
        let prior_state = load_prior_state(runtime, &thread.id).await?;
        Ok(Self {
            id: thread.id,
            config: thread.config,
            history,
            prior_state,
        })
    }

    /// Loads the parts of the thread `id` of a user without changing the thread.
    ///
    /// # Errors
    /// Fails if the user has no such thread, or if the store cannot be read.
    pub(crate) async fn find(runtime: &Runtime, id: &str, user_id: Option<&str>) -> Result<Self, RuntimeError> {
        let thread = runtime.find_thread(id, &Owner::user(user_id)).await?;
        Self::load(runtime, thread).await
    }
}

/// Returns the start of a run that answers `question` in `thread`, even if the question names another thread.
pub(crate) async fn run_start_in(
    runtime: &Runtime,
    question: Question,
    thread: ThreadForRun,
) -> Result<RunStart, RuntimeError> {
    let props = AgentProps {
        query: question.query,
        thread_id: thread.id,
        attachments: question.attachments,
        trace_id: Some(id::time_ordered()),
        user_id: question.user_id,
        session_id: question.session_id,
        raw: question.settings.raw,
    };
    let registry = runtime.tools.registry();
    let tools = registry.available(|name| thread.config.enables(name));
    let model = runtime.choose_model(question.settings.model.as_deref(), &props.thread_id, &thread.config)?;
    let start = RunStart {
        // Identifies how this host counts fuel.
        fuel_basis: Sandbox::fuel_basis().to_owned(),
        records: records::read_tool_records(runtime.store.as_ref(), registry, &tools).await?,
        model_record: records::read_model_record(runtime.store.as_ref(), &model.config).await?,
        tools,
        disabled_tools: disabled_tools(runtime, &thread.config),
        plan: question.plan.map(Box::new),
        history: thread.history,
        prior: thread.prior_state,
        ..run_start_for_model(&model, props)
    };
    // A run that begins with a plan sends no planning request, but needs the size that such a request would have, to estimate
    // the size of its request for the answer. So the size is estimated here.
    Ok(merge_settings(&runtime.config, thread.config, question.settings, start).with_request_tokens())
}

/// Returns the settings of a thread that enables all tools, and has no other settings.
pub(super) fn config_with_all_tools() -> ThreadConfig {
    ThreadConfig {
        enabled_tools: vec![ThreadConfig::ALL_TOOLS.to_owned()],
        ..ThreadConfig::default()
    }
}

/// Returns the names of the registered tools that a thread may not call.
fn disabled_tools(runtime: &Runtime, thread: &ThreadConfig) -> Vec<String> {
    let disabled = runtime.tools.registry().available(|name| !thread.enables(name));
    disabled.into_iter().map(|tool| tool.name).collect()
}

/// Returns the plan with checked schemas of its parameters and a value for each parameter. Fails if a schema is invalid or a
/// value is missing.
fn complete_plan(PlanToRun { mut plan, values }: PlanToRun) -> Result<PlanToRun, RuntimeError> {
    let refused = |problems: Vec<String>| RuntimeError::Plan(problems.join("; "));
    let params = Params::admit(&plan).map_err(refused)?;
    let values = params.with_defaults(&values).map_err(refused)?;
    plan.params = params.schemas();
    match params.missing(&values).as_slice() {
        [] => Ok(PlanToRun { plan, values }),
        names => Err(RuntimeError::Plan(format!(
            "the plan needs a value for `{}`",
            names.join("`, `")
        ))),
    }
}

/// Returns the start of a run with `props` and the properties of the model.
pub(crate) fn run_start_for_model(model: &ModelInfo, props: AgentProps) -> RunStart {
    RunStart {
        context: model.context,
        plans_only: model.plans_only,
        price: model.price,
        vision: model.capabilities.contains(&ModelCapability::Vision),
        native_tools: model.capabilities.contains(&ModelCapability::ToolUse),
        ..RunStart::new(props, model.config.clone())
    }
}

/// Returns `start` with the settings of the configuration, the thread and the question. Field by field, the question takes
/// precedence over the thread, and the thread over the configuration. The system prompts of all three are joined, beginning with
/// that of the configuration.
pub(crate) fn merge_settings(
    config: &Config,
    thread: ThreadConfig,
    question: QuestionSettings,
    start: RunStart,
) -> RunStart {
    let thread_execution = thread.execution_config.unwrap_or_default();
    let persona = question.persona.with_defaults(thread.persona.unwrap_or_default());
    let system_prompts = [
        config.system_prompt.value.clone(),
        thread.system_prompt,
        question.system_prompt,
    ];
    RunStart {
        config: question.execution.apply(thread_execution.apply(config.execution.value)),
        params: config.params.value.clone(),
        ask_together: config.approval.value.ask_together,
        occasion: config.tell_date.value.then(occasion::now),
        persona: persona.with_defaults(config.persona.value.clone()),
        fragments: config.prompts.value.clone(),
        system_prompts_registry: config.system_prompts.value.clone(),
        system_prompts: system_prompts.into_iter().flatten().collect(),
        ..start
    }
}

/// Returns a new thread for the question, in which all tools are enabled.
fn new_thread(question: &Question) -> NewThread {
    NewThread {
        id: id::time_ordered(),
        user_id: question.user_id.clone(),
        config: config_with_all_tools(),
    }
}

async fn load_history(runtime: &Runtime, thread: &Thread) -> Result<Vec<ConversationMessage>, RuntimeError> {
    let limit = match thread.config.history_limit {
        0 => DEFAULT_HISTORY_LIMIT,
        limit => usize::try_from(limit).unwrap_or(usize::MAX),
    };
    let options = MessageOptions {
        limit: Some(limit),
        roles: vec![MessageRole::User, MessageRole::Ai],
        ..MessageOptions::default()
    };
    Ok(newest_that_fit(runtime.store.list_messages(&thread.id, options).await?))
}

/// Returns the newest messages that fit into [`MAX_HISTORY_BYTES`] together.
fn newest_that_fit(mut messages: Vec<ConversationMessage>) -> Vec<ConversationMessage> {
    // `None` once a message did not fit.
    let mut remaining = Some(MAX_HISTORY_BYTES);
    let newest = messages.iter().rev().take_while(|message| {
        let bytes = serde_json::to_vec(message).map_or(usize::MAX, |json| json.len());
        remaining = remaining.and_then(|remaining| remaining.checked_sub(bytes));
        remaining.is_some()
    });
    let older_count = messages.len() - newest.count();
    messages.split_off(older_count)
}

/// Returns the state in which the last run left the thread, or `None` if the thread has no state yet.
async fn load_prior_state(runtime: &Runtime, thread_id: &str) -> Result<Option<PesAgentStateData>, RuntimeError> {
    let Some(state) = runtime.store.load_state(thread_id).await? else {
        return Ok(None);
    };
    let damaged = |error| RuntimeError::Damaged(format!("the state of the thread is damaged: {error}"));
    Ok(Some(serde_json::from_value(state.data).map_err(damaged)?))
}
