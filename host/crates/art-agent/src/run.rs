//! The state machine of a run. A run is computed from its events alone, one after the other, so a journal can be replayed.
//!
//! A run carries out a plan. A step of the plan is called an item here. What the run waits for is called an action: a model call,
//! or a batch of tool calls, which are the calls of one reply or of one step. The run opens an action when it needs one. The
//! driver, which owns the run, carries it out. Each of its calls is first *made*: an event announces it, and then the request is
//! sent or the tool runs. Later it *ends*: an event has its reply, result or error. When all calls of an action have ended, the
//! run closes the action and goes on. An open call may also be refused before it is made, or be *suspended*: it waits for a
//! person's decision.

mod ask;
mod budget;
mod calls;
mod check;
mod direct;
mod finish;
mod items;
mod planning;
mod request;
mod saved;
mod stop;
mod streams;
mod suspended;
mod task;
mod together;
mod view;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use art_core::Timestamp;
use art_core::agent::ExecutionConfig;
use art_core::error::ModelError;
use art_core::pes::{PesAgentStateData, TodoItem};
use art_core::stream::LlmMetadata;
use art_core::suspension::SuspendedCall;
use art_core::tool::{ParsedToolCall, ToolResult};
use art_core::usage::{ModelUsage, ModelWork, TokenUsage, ToolUsage};

use crate::action::{ActionId, Approval};
use crate::call::CallIds;
use crate::effect::{Effect, Outbox};
use crate::error::{ApplyError, ReplayError};
use crate::estimate::PlanEstimate;
use crate::event::{RunEvent, RunStart};
use crate::file::{Files, RunFile};
use crate::item::{ItemRun, Rejections};
use crate::prompt::PlannerConversation;
use crate::report::RunReport;
use crate::truncate;

pub use ask::ModelCallsToSend;
use budget::Reservation;
pub use suspended::OpenSuspension;
pub use together::KnownCall;
use together::PlanQuestions;
pub use view::{RunStage, RunView};

/// A run of the agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    start: RunStart,
    trace_id: String,
    started_at: Timestamp,
    /// Time of the latest event.
    now: Timestamp,
    stage: Stage,
    /// The conversation with the planner: the model writes the plan in it, and later the answer.
    conversation: PlannerConversation,
    /// The calls of the planner's last reply that have no result in the conversation yet.
    planner_calls: Vec<PlannerCall>,
    /// Identifiers of the items that were created for tool calls of the planner itself. The planner reads the results of these
    /// calls.
    planner_call_items: BTreeSet<String>,
    /// Those of `planner_call_items` that failed and whose tool the planner then called again.
    retried_items: BTreeSet<String>,
    state: PesAgentStateData,
    /// The items in progress, by identifier.
    running: BTreeMap<String, ItemRun>,
    open_actions: BTreeMap<ActionId, OpenAction>,
    /// The model calls that were made and have not ended, with the estimated tokens of their requests.
    model_calls_in_progress: BTreeMap<ActionId, u64>,
    /// The part of the budgets of tokens and cost that each model call in progress reserves. Empty if the run has no such budget.
    reservations: BTreeMap<ActionId, Reservation>,
    /// The estimate, made before the plan is carried out, of what its calls, its steps and the answer will use.
    estimate: PlanEstimate,
    /// The open model calls that repeat a call whose request the provider refused as too long, with the size of the refused
    /// request. The new request is cut to half of this size.
    refused_requests: BTreeMap<ActionId, RefusedRequest>,
    /// Number of actions that were opened, from which each gets its identifier.
    action_count: u64,
    /// Number of times that items were started, for the limit of the run. An item that is started again counts twice.
    item_start_count: u32,
    /// Whether the plan in the state is the one that this run made or continues. Before planning it may be one that an earlier
    /// run did not finish.
    plan_belongs_to_run: bool,
    /// Identifiers of the items that this run started.
    started_items: BTreeSet<String>,
    call_ids: CallIds,
    files: Files,
    usage: RunUsage,
    /// The estimated tokens of the last request to the planner and of its reply together.
    planner_tokens: Option<u64>,
    /// What the model used for each step and for the answer, for the estimates of later runs; see [`Run::model_work`].
    model_work: Vec<(ModelWork, ModelUsage)>,
    /// The limits that the run reached, in words.
    limits_hit: Vec<String>,
    /// How often a plan was sent back to the planner because of its faults.
    repair_count: u32,
    /// The calls and tools that a person rejected.
    rejections: Rejections,
    /// The questions to a person about planned calls, asked before the first step starts.
    plan_questions: PlanQuestions,
    /// Error of the last model call, until the model replies again.
    model_error: Option<ModelError>,
}

/// Stage of a run. A finished run has a report.
#[derive(Clone, Debug, PartialEq)]
enum Stage {
    Planning,
    Execution,
    Synthesis,
    Finished(Box<RunReport>),
}

/// The size of a request that the provider refused as too long, and the error of the refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RefusedRequest {
    tokens: u64,
    error: ModelError,
}

/// A call that a reply of the planner contains. It calls a tool, or the function that submits a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PlannerCall {
    call_id: String,
    tool_name: String,
    /// The item that makes the call; `None` for the call that submits a plan.
    item_id: Option<String>,
}

/// An open action. It contains neither the request of its model call nor the contents of files that its tool calls take; these
/// are added when a call is made.
#[derive(Clone, Debug, PartialEq)]
enum OpenAction {
    /// Ask the model for a plan.
    Plan,
    /// Ask the model what to do next for the item with this identifier.
    Item(String),
    /// Call tools.
    Tools(ToolBatch),
    /// Ask the model for the answer.
    Answer,
}

/// The tool calls of one reply of the model or of one step of the plan, until all have results.
#[derive(Clone, Debug, Default, PartialEq)]
struct ToolBatch {
    item_id: String,
    calls: Vec<ParsedToolCall>,
    /// Identifiers of the calls that were made. A call that has to be made again is removed.
    made: BTreeSet<String>,
    /// The results so far, in the order in which the calls ended.
    results: Vec<ToolResult>,
    /// The calls that wait for a decision, by identifier.
    waiting: BTreeMap<String, WaitingCall>,
    /// The calls that a person approved and that run next, by identifier.
    approved: BTreeMap<String, Approval>,
}

/// A call that waits for a decision.
#[derive(Clone, Debug, PartialEq)]
struct WaitingCall {
    suspension: SuspendedCall,
    since: Timestamp,
}

/// Usage of the run so far.
#[derive(Clone, Debug, Default, PartialEq)]
struct RunUsage {
    /// Model calls that have ended.
    llm_calls: u32,
    /// Model calls that were opened, whether or not they have ended.
    llm_calls_opened: u32,
    /// Token counts, times and known costs of all model calls, as the report of the run states them.
    llm: LlmMetadata,
    /// Whether the cost of at least one model call is unknown.
    unpriced: bool,
    /// Model calls whose tokens were estimated.
    estimated_calls: u32,
    /// Tool calls that have ended.
    tool_calls: u32,
    /// Tool calls that were opened, whether or not they have ended.
    tool_calls_opened: u32,
    /// Tokens that count towards the budget of the run.
    tokens: TokenUsage,
    /// Resources that the tool calls that have ended used: fuel, memory and time.
    tool_usage: ToolUsage,
    /// What the last model call used: its tokens, and 1 as the number of calls.
    last_call: ModelUsage,
}

impl RunUsage {
    /// Returns the cost of all model calls if the cost of each is known.
    fn llm_cost(&self) -> Option<f64> {
        self.llm.cost_usd.filter(|_| !self.unpriced)
    }
}

impl Run {
    /// Starts a run. Returns it with the effects to commit together with `event`.
    ///
    /// # Errors
    /// Fails if `event` is not a [`RunEvent::Started`], or has no `traceId`, which identifies the run.
    pub fn start(event: &RunEvent) -> Result<(Self, Vec<Effect>), ReplayError> {
        let RunEvent::Started { at, start } = event else {
            return Err(ReplayError::NotStarted);
        };
        let trace_id = start.props.trace_id.clone().ok_or(ReplayError::NoTraceId)?;
        let mut run = Self::new(start, trace_id, *at);
        let mut out = run.outbox();
        run.add_question(&mut out);
        run.begin_work(&mut out);
        let effects = out.into_effects();
        Ok((run, effects))
    }

    /// Restores a run from its journal, without effects. To get the effects of the last event again, replay the events
    /// before it and apply the last one.
    ///
    /// # Errors
    /// Fails if the events are not the journal of a run.
    pub fn replay<'a>(events: impl IntoIterator<Item = &'a RunEvent>) -> Result<Self, ReplayError> {
        let mut events = events.into_iter();
        let mut run = Self::restore(events.next().ok_or(ReplayError::NotStarted)?)?;
        for (n, event) in events.enumerate() {
            run.apply_recorded(event)
                .map_err(|source| ReplayError::DoesNotFit { index: n + 1, source })?;
        }
        Ok(run)
    }

    /// Restores a run from the first event of its journal, without effects. [`apply_recorded`](Self::apply_recorded) applies the
    /// others.
    ///
    /// # Errors
    /// Same as [`start`](Self::start).
    pub fn restore(event: &RunEvent) -> Result<Self, ReplayError> {
        let (mut run, _) = Self::start(event)?;
        // Journals of version 1 have no events that announce model calls, so after each event all open model calls count as made.
        run.ask_models_if_version_1();
        Ok(run)
    }

    /// Applies the next event of a journal, of any version, without effects.
    ///
    /// # Errors
    /// Same as [`apply`](Self::apply).
    pub fn apply_recorded(&mut self, event: &RunEvent) -> Result<(), ApplyError> {
        self.apply(event)?;
        self.ask_models_if_version_1();
        Ok(())
    }

    /// Applies an event. Returns the effects to commit together with it.
    ///
    /// # Errors
    /// Fails if `event` does not fit the run, which is then unchanged.
    pub fn apply(&mut self, event: &RunEvent) -> Result<Vec<Effect>, ApplyError> {
        self.check(event)?;
        self.now = self.now.max(event.at());
        let mut out = self.outbox();
        match event {
            // `check` has refused this event.
            RunEvent::Started { .. } => {}
            RunEvent::ModelReplied { action, reply, .. } => self.handle_model_reply(*action, reply, &mut out),
            RunEvent::ModelFailed {
                action,
                error,
                received,
                ..
            } => self.handle_model_failure(*action, error, received, &mut out),
            RunEvent::ModelAsked { action, tokens, .. } => self.note_model_call(*action, *tokens, &mut out),
            RunEvent::ModelNotAsked { action, refusal, .. } => {
                self.handle_model_call_refusal(*action, refusal, &mut out);
            }
            RunEvent::ToolCalled { action, call_id, .. } => self.note_tool_call(*action, call_id),
            RunEvent::ToolEnded { action, end, .. } => self.handle_tool_end(*action, end, &mut out),
            RunEvent::ToolsReturned {
                action, results, usage, ..
            } => self.handle_tool_results(*action, results, *usage, &mut out),
            RunEvent::CallSuspended { action, suspension, .. } => self.suspend_call(*action, suspension, &mut out),
            RunEvent::PlanChecked { questions, .. } => self.record_plan_questions(questions, &mut out),
            RunEvent::CallDecided {
                suspension_id,
                decision,
                ..
            } => self.handle_decision(suspension_id, decision, &mut out),
            RunEvent::GrantsChanged { tools, .. } => {
                self.running.values_mut().for_each(|item| item.allow_denied(tools))
            }
            RunEvent::Resumed { .. } => self.restart_calls_in_progress(&mut out),
            RunEvent::CancelRequested { interrupted, .. } => self.cancel(interrupted, &mut out),
            RunEvent::HostFailed { reason, .. } => self.end_after_host_failure(reason, &mut out),
        }
        Ok(out.into_effects())
    }

    /// Returns the report of a finished run.
    #[must_use]
    pub fn finished(&self) -> Option<&RunReport> {
        match &self.stage {
            Stage::Finished(report) => Some(report),
            _ => None,
        }
    }

    /// Returns the names of the tools that were denied a right in a call that may not be made again, in the items that are
    /// carried out now.
    #[must_use]
    pub fn denied_tools(&self) -> BTreeSet<&str> {
        self.running.values().flat_map(ItemRun::denied_tools).collect()
    }

    /// Returns the current state of the thread.
    #[must_use]
    pub const fn state(&self) -> &PesAgentStateData {
        &self.state
    }

    /// Returns the state of the thread as it is stored, with large outputs truncated.
    #[must_use]
    pub fn stored_state(&self) -> Cow<'_, PesAgentStateData> {
        truncate::state(&self.state)
    }

    /// Returns the files that the tools of this run produced.
    #[must_use]
    pub fn files(&self) -> &[RunFile] {
        self.files.of_this_run()
    }

    /// Returns the model calls and tokens that were used for each ended step without planned calls, and for the answer, in the
    /// order in which they ended. An answer is not listed if the run had no tool calls. For a model with an unbounded context the
    /// list is empty.
    #[must_use]
    pub fn model_work(&self) -> &[(ModelWork, ModelUsage)] {
        &self.model_work
    }

    /// Returns the identifier of the run.
    #[must_use]
    pub fn trace_id(&self) -> &str {
        &self.trace_id
    }

    /// Returns everything that the run started with.
    #[must_use]
    pub const fn started_with(&self) -> &RunStart {
        &self.start
    }

    fn new(start: &RunStart, trace_id: String, at: Timestamp) -> Self {
        let mut state = start.prior.clone().unwrap_or_default();
        state.thread_id.clone_from(&start.props.thread_id);
        Self {
            start: start.clone(),
            trace_id,
            started_at: at,
            now: at,
            // `begin_work` sets the stage to planning, unless the run continues the plan of the last question.
            stage: Stage::Execution,
            conversation: PlannerConversation::default(),
            planner_calls: Vec::new(),
            planner_call_items: BTreeSet::new(),
            retried_items: BTreeSet::new(),
            state,
            running: BTreeMap::new(),
            open_actions: BTreeMap::new(),
            model_calls_in_progress: BTreeMap::new(),
            reservations: BTreeMap::new(),
            estimate: PlanEstimate::default(),
            refused_requests: BTreeMap::new(),
            action_count: 0,
            item_start_count: 0,
            plan_belongs_to_run: false,
            started_items: BTreeSet::new(),
            call_ids: CallIds::default(),
            files: Files::default(),
            usage: RunUsage::default(),
            planner_tokens: None,
            model_work: Vec::new(),
            limits_hit: Vec::new(),
            repair_count: 0,
            rejections: Rejections::default(),
            plan_questions: PlanQuestions::default(),
            model_error: None,
        }
    }

    fn outbox(&self) -> Outbox {
        Outbox::new(&self.start.props.thread_id, &self.trace_id, self.now)
    }

    /// Returns the configuration. Limits of 0 that would keep the run from making any progress are raised to 1.
    fn config(&self) -> ExecutionConfig {
        let config = self.start.config;
        ExecutionConfig {
            max_iterations: config.max_iterations.max(1),
            max_parallel_items: config.max_parallel_items.max(1),
            ..config
        }
    }

    /// Opens an action. Returns its identifier.
    fn open_action(&mut self, action: OpenAction) -> ActionId {
        self.action_count += 1;
        let id = ActionId(self.action_count);
        self.open_actions.insert(id, action);
        id
    }

    /// Closes an action, and releases what it reserved. Returns the action if it was open.
    fn close_action(&mut self, id: ActionId) -> Option<OpenAction> {
        self.reservations.remove(&id);
        self.model_calls_in_progress.remove(&id);
        self.refused_requests.remove(&id);
        self.open_actions.remove(&id)
    }

    /// Returns the items of the plan that this run made or continues. There are none before planning.
    fn own_items(&self) -> &[TodoItem] {
        if self.plan_belongs_to_run {
            &self.state.todo_list
        } else {
            &[]
        }
    }

    fn item(&self, id: &str) -> Option<&TodoItem> {
        self.state.todo_list.iter().find(|item| item.id == id)
    }

    fn item_mut(&mut self, id: &str) -> Option<&mut TodoItem> {
        self.state.todo_list.iter_mut().find(|item| item.id == id)
    }

    /// Records, once, a limit that the run reached, in words.
    fn record_limit(&mut self, limit: String) {
        if !self.limits_hit.contains(&limit) {
            self.limits_hit.push(limit);
        }
    }
}
