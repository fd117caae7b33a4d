//! The state machine of a run: the fold of its events.

mod ask;
mod budget;
mod calls;
mod check;
mod direct;
mod finish;
mod items;
mod kept;
mod planning;
mod request;
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
use art_core::error::{ErrorCode, ModelError};
use art_core::pes::{PesAgentStateData, TodoItem};
use art_core::stream::LlmMetadata;
use art_core::suspension::SuspendedCall;
use art_core::tool::{ParsedToolCall, ToolResult};
use art_core::usage::{ModelUsage, ModelWork, TokenUsage, Usage};

use crate::action::{ActionId, Approval};
use crate::call::CallIds;
use crate::effect::{Effect, Outbox};
use crate::error::{ApplyError, ReplayError};
use crate::estimate::PlanEstimate;
use crate::event::{RunEvent, RunStart};
use crate::file::{Files, RunFile};
use crate::item::{ItemRun, Rejections};
use crate::prompt::Conversation;
use crate::report::RunReport;
use crate::truncate;

pub use ask::AskedModels;
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
    now: Timestamp,
    stage: Stage,
    /// The conversation with the planner, which also writes the answer.
    conversation: Conversation,
    /// The calls of the planner's last turn that have no result in the conversation yet.
    planner_calls: Vec<PlannerCall>,
    /// Identifiers of the items that were created for native calls of the planner. The planner reads the results of these calls itself.
    planner_call_items: BTreeSet<String>,
    /// Those of `planner_call_items` that failed and whose tool the planner then called again.
    retried_items: BTreeSet<String>,
    state: PesAgentStateData,
    /// The items in progress, by identifier.
    running: BTreeMap<String, ItemRun>,
    /// The open actions.
    open: BTreeMap<ActionId, OpenAction>,
    /// The model calls whose requests were sent and that have not ended, with the tokens of the requests.
    asked: BTreeMap<ActionId, u64>,
    /// What the calls in `asked` may use. Empty if the run has no budget of tokens or cost.
    reserved: BTreeMap<ActionId, Reservation>,
    /// The estimate of the plan.
    estimate: PlanEstimate,
    /// The model calls that are made again because the provider refused their requests as too long, with the tokens of the refused
    /// requests. The new requests are cut to half of that.
    shortened: BTreeMap<ActionId, u64>,
    action_count: u64,
    /// Number of times that items were started, for the limit of the run. An item that is started again counts twice.
    started_item_count: u32,
    /// Whether the plan in the state was made in this run. Before planning it may be one that an earlier run did not finish.
    has_own_plan: bool,
    /// Identifiers of the items that this run started.
    started_items: BTreeSet<String>,
    call_ids: CallIds,
    files: Files,
    usage: RunUsage,
    /// The tokens of the last request to the planner and of its reply, estimated.
    planner_tokens: Option<u64>,
    /// Model calls and tokens of the steps and answers that count for later estimates; see [`Run::model_work`].
    work: Vec<(ModelWork, ModelUsage)>,
    limits_hit: Vec<String>,
    /// How often a plan was sent back to the model.
    repairs: u32,
    /// The calls and tools that a person rejected.
    rejections: Rejections,
    /// The questions to a person about planned calls, asked before the first step starts.
    plan_questions: PlanQuestions,
    /// Error of the last model call, until the model replies again.
    model_error: Option<ModelError>,
}

/// Stage of a run, with the data that only this stage needs.
#[derive(Clone, Debug, PartialEq)]
enum Stage {
    Planning,
    Execution,
    Synthesis,
    Finished(Box<RunReport>),
}

/// A native call of the planner.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PlannerCall {
    call_id: String,
    tool_name: String,
    /// The item that makes the call; `None` for the call that submits a plan.
    item_id: Option<String>,
}

/// An open action. Its request and its expanded arguments are not stored; they are built when the call is made.
#[derive(Clone, Debug, PartialEq)]
enum OpenAction {
    /// Ask the model for a plan.
    Plan,
    /// Ask the model about the item with this identifier.
    Item(String),
    /// Call tools.
    Tools(ToolBatch),
    /// Ask the model for the answer.
    Answer,
}

/// The calls of one reply or of a step of the plan, in progress.
#[derive(Clone, Debug, Default, PartialEq)]
struct ToolBatch {
    item_id: String,
    calls: Vec<ParsedToolCall>,
    /// Identifiers of the calls that were made.
    called: BTreeSet<String>,
    /// The results so far, in the order in which the calls ended.
    results: Vec<ToolResult>,
    /// The calls that wait for a decision, by identifier.
    waiting: BTreeMap<String, Waiting>,
    /// The calls that a person approved and that run next, by identifier.
    approved: BTreeMap<String, Approval>,
}

/// A call that waits for a decision.
#[derive(Clone, Debug, PartialEq)]
struct Waiting {
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
    /// Whether a call has no known cost.
    unpriced: bool,
    /// Model calls whose tokens were estimated.
    estimated_calls: u32,
    /// Tool calls that have ended.
    tool_calls: u32,
    /// Tool calls that were opened, whether or not they have ended.
    tool_calls_opened: u32,
    /// Tokens that count towards the budget of the run.
    tokens: TokenUsage,
    /// What the tool calls that have ended used.
    tool_usage: Usage,
    /// What the last model call used.
    last_call: ModelUsage,
}

impl RunUsage {
    /// Returns the cost of all calls if every price is known.
    fn llm_cost(&self) -> Option<f64> {
        self.llm.cost_usd.filter(|_| !self.unpriced)
    }
}

impl Run {
    /// Starts a run. Returns it with the effects to commit together with `event`.
    ///
    /// # Errors
    /// Fails if `event` is not a [`RunEvent::Started`] or does not name the run.
    pub fn start(event: &RunEvent) -> Result<(Self, Vec<Effect>), ReplayError> {
        let RunEvent::Started { at, start } = event else {
            return Err(ReplayError::NotStarted);
        };
        let trace_id = start.props.trace_id.clone().ok_or(ReplayError::NoTraceId)?;
        let mut run = Self::new(start, trace_id, *at);
        let mut out = run.outbox();
        run.add_question(&mut out);
        run.begin(&mut out);
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

    /// Restores a run from the first event of its journal, without effects. [`apply_recorded`](Self::apply_recorded) applies the others.
    ///
    /// # Errors
    /// Same as [`start`](Self::start).
    pub fn restore(event: &RunEvent) -> Result<Self, ReplayError> {
        let (mut run, _) = Self::start(event)?;
        run.ask_if_version_1();
        Ok(run)
    }

    /// Applies the next event of a journal, of any version, without effects.
    ///
    /// # Errors
    /// Same as [`apply`](Self::apply).
    pub fn apply_recorded(&mut self, event: &RunEvent) -> Result<(), ApplyError> {
        self.apply(event)?;
        self.ask_if_version_1();
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
            RunEvent::ModelNotAsked { action, refusal, .. } => self.handle_refusal(*action, refusal, &mut out),
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
            } => self.decide(suspension_id, decision, &mut out),
            RunEvent::Resumed { .. } => self.reopen_calls_in_progress(&mut out),
            RunEvent::CancelRequested { interrupted, .. } => self.cancel(interrupted, &mut out),
            RunEvent::HostFailed { reason, .. } => self.fail_run(ErrorCode::AgentProcessingError, reason, &mut out),
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

    /// Returns the model calls and tokens that were used for each ended step without planned calls, and for the answer, in the order in
    /// which they ended. An answer to which no tool contributed is left out. For a model with an unbounded context the list is empty.
    #[must_use]
    pub fn model_work(&self) -> &[(ModelWork, ModelUsage)] {
        &self.work
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
            stage: Stage::Execution,
            conversation: Conversation::default(),
            planner_calls: Vec::new(),
            planner_call_items: BTreeSet::new(),
            retried_items: BTreeSet::new(),
            state,
            running: BTreeMap::new(),
            open: BTreeMap::new(),
            asked: BTreeMap::new(),
            reserved: BTreeMap::new(),
            estimate: PlanEstimate::default(),
            shortened: BTreeMap::new(),
            action_count: 0,
            started_item_count: 0,
            has_own_plan: false,
            started_items: BTreeSet::new(),
            call_ids: CallIds::default(),
            files: Files::default(),
            usage: RunUsage::default(),
            planner_tokens: None,
            work: Vec::new(),
            limits_hit: Vec::new(),
            repairs: 0,
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

    fn open_action(&mut self, action: OpenAction) -> ActionId {
        self.action_count += 1;
        let id = ActionId(self.action_count);
        self.open.insert(id, action);
        id
    }

    /// Closes an action, and releases what it reserved.
    fn close_action(&mut self, id: ActionId) -> Option<OpenAction> {
        self.reserved.remove(&id);
        self.asked.remove(&id);
        self.shortened.remove(&id);
        self.open.remove(&id)
    }

    /// Returns the items of the plan that was made in this run. There are none before.
    fn own_items(&self) -> &[TodoItem] {
        if self.has_own_plan { &self.state.todo_list } else { &[] }
    }

    fn item(&self, id: &str) -> Option<&TodoItem> {
        self.state.todo_list.iter().find(|item| item.id == id)
    }

    fn item_mut(&mut self, id: &str) -> Option<&mut TodoItem> {
        self.state.todo_list.iter_mut().find(|item| item.id == id)
    }

    fn record_limit(&mut self, limit: String) {
        if !self.limits_hit.contains(&limit) {
            self.limits_hit.push(limit);
        }
    }
}
