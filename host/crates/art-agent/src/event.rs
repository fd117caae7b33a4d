//! The events of a run, as the journal stores them.
//!
//! The plan of a run has items, which are its steps. Each call of a model or a tool belongs to an action: an action is one model
//! call or one batch of tool calls. A batch has the calls of one reply, or the planned calls of one item. A call that waits for a
//! person's decision is suspended. Its suspension contains the question.

use std::collections::BTreeMap;

use art_core::Timestamp;
use art_core::agent::{AgentProps, ExecutionConfig};
use art_core::capability::GrantUse;
use art_core::conversation::ConversationMessage;
use art_core::error::{ArtError, ModelError};
use art_core::intake::Intake;
use art_core::outcome::EndingKind;
use art_core::pes::PesAgentStateData;
use art_core::price::Price;
use art_core::prompt::{AgentPersona, SystemPromptOverride, SystemPromptsRegistry};
use art_core::provider::{ContextWindow, RuntimeProviderConfig};
use art_core::stream::{ModelReply, PartialReply};
use art_core::suspension::{Decision, SuspendedCall};
use art_core::tool::{ToolResult, ToolSchema};
use art_core::usage::ToolUsage;
use art_core::{JsonObject, id};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::action::ActionId;
use crate::estimate::{ModelRecord, ToolRecord};
use crate::plan::SavedPlan;

/// An event of a run. The journal of a run is a list of events, the first of which is [`RunEvent::Started`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum RunEvent {
    /// The run started.
    Started {
        /// Time of the event.
        at: Timestamp,
        /// Everything that the run starts with.
        start: Box<RunStart>,
    },
    /// The model is asked. This event is in the journal before the request is sent.
    ModelAsked {
        /// Time of the event.
        at: Timestamp,
        /// Number of the model call among the actions of the run. All events call this field `step` in the journal, although it
        /// is no step of the plan.
        #[serde(rename = "step")]
        action: ActionId,
        /// The plan item for which the model is asked; `None` if it is asked for the plan or for the answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        item_id: Option<String>,
        /// Estimated number of tokens of the request; 0 if the context of the model is unlimited.
        #[serde(default, skip_serializing_if = "is_zero")]
        tokens: u64,
        /// Digest of the request as JSON.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        request: String,
    },
    /// A model call cannot be made.
    ModelNotAsked {
        /// Time of the event.
        at: Timestamp,
        /// Number of the model call.
        #[serde(rename = "step")]
        action: ActionId,
        /// The reason.
        refusal: CallRefusal,
    },
    /// The model replied.
    ModelReplied {
        /// Time of the event.
        at: Timestamp,
        /// Number of the model call.
        #[serde(rename = "step")]
        action: ActionId,
        /// The complete reply.
        reply: ModelReply,
    },
    /// A model call failed.
    ModelFailed {
        /// Time of the event.
        at: Timestamp,
        /// Number of the model call.
        #[serde(rename = "step")]
        action: ActionId,
        /// The error of the last try.
        error: ModelError,
        /// How much of the reply had arrived before the call failed.
        #[serde(default, skip_serializing_if = "PartialReply::is_empty")]
        received: PartialReply,
    },
    /// A tool is called. This event is in the journal before the tool runs. A host that takes over the run sees from it that the
    /// tool may have run.
    ToolCalled {
        /// Time of the event.
        at: Timestamp,
        /// Number of the batch to which the call belongs.
        #[serde(rename = "step")]
        action: ActionId,
        /// The plan item that makes the call.
        item_id: String,
        /// Identifier of the call.
        call_id: String,
        /// Name of the tool.
        tool_name: String,
        /// Digest of the code of the tool, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_digest: Option<String>,
        /// Digest of the input: the JSON text of the validated arguments, with default values and contents of files filled in.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        input: String,
        /// Identifier of the standing approval by which a person allowed such calls in advance; absent if the call needed none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        standing_approval: Option<String>,
    },
    /// A tool call ended, or was refused before its tool was called.
    ToolEnded {
        /// Time of the event.
        at: Timestamp,
        /// Number of the batch to which the call belongs.
        #[serde(rename = "step")]
        action: ActionId,
        /// The end of the call, with its result.
        end: Box<CallEnd>,
    },
    /// A tool call waits for a person's decision before it is made. If instead the tool runs and asks the person itself, the
    /// event is a [`RunEvent::ToolEnded`] with a [`CallEnd::suspension`].
    CallSuspended {
        /// Time of the event.
        at: Timestamp,
        /// Number of the batch to which the call belongs.
        #[serde(rename = "step")]
        action: ActionId,
        /// The question, which names the call.
        suspension: Box<SuspendedCall>,
    },
    /// The planned calls whose arguments are known were checked against the approval rules, before the first item starts: see
    /// [`RunStart::ask_together`].
    PlanChecked {
        /// Time of the event.
        at: Timestamp,
        /// The questions about these calls to a person, who has to decide all of them before the first item starts.
        questions: Vec<PlannedCallQuestion>,
    },
    /// A person decided about a suspended call, or the time for a decision is over.
    CallDecided {
        /// Time of the event.
        at: Timestamp,
        /// Identifier of the suspension.
        suspension_id: String,
        /// The decision. If it has an answer, the answer is valid for the form of the question.
        decision: Box<Decision>,
    },
    /// The operator changed the grants of tools, which are the permissions that calls of the tools have. A call that was denied
    /// may be made again now.
    GrantsChanged {
        /// Time of the event.
        at: Timestamp,
        /// Names of the tools.
        tools: Vec<String>,
    },
    /// A host resumes the run, for example after another host stopped. Model calls in progress are made again. Tool calls in
    /// progress are made again if their tools are repeatable, and otherwise end with an unknown outcome.
    Resumed {
        /// Time of the event.
        at: Timestamp,
        /// Identifier of the way in which the host that resumes the run counts fuel: see [`RunStart::fuel_basis`].
        #[serde(default, skip_serializing_if = "String::is_empty")]
        fuel_basis: String,
    },
    /// All calls of a batch ended. Only journals of version 1 have this event.
    ToolsReturned {
        /// Time of the event.
        at: Timestamp,
        /// Number of the batch.
        #[serde(rename = "step")]
        action: ActionId,
        /// One result for each call, in any order.
        results: Vec<ToolResult>,
        /// Resources that all calls used together.
        #[serde(default)]
        usage: ToolUsage,
    },
    /// The person cancelled the run.
    CancelRequested {
        /// Time of the event.
        at: Timestamp,
        /// The model calls that were in progress.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        interrupted: Vec<InterruptedCall>,
    },
    /// The host cannot continue the run, for example because the host is stopped. The run ends with an error.
    HostFailed {
        /// Time of the event.
        at: Timestamp,
        /// The reason.
        reason: String,
    },
}

/// A question to a person about a planned call whose item has not started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedCallQuestion {
    /// The plan item that makes the call.
    pub item_id: String,
    /// Position among the planned calls of the item, from 0.
    pub index: usize,
    /// The question.
    pub suspension: Box<SuspendedCall>,
}

/// The end of a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallEnd {
    /// Result for the model, with the identifier of the call.
    pub result: ToolResult,
    /// The way in which the call ended, such as by success, by a timeout or by a refusal.
    pub ending: EndingKind,
    /// Resources that the call used; zero if its tool never ran.
    #[serde(default, skip_serializing_if = "is_unused")]
    pub usage: ToolUsage,
    /// Time that the call took, in milliseconds: for its checks, in the queue, and while its tool ran.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub duration_ms: u64,
    /// What the tool took in during the call apart from its input, such as random numbers and answers of the host. The call can
    /// be replayed from it.
    #[serde(default, skip_serializing_if = "Intake::is_empty")]
    pub intake: Intake,
    /// The uses that the call made of rights granted to the tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<GrantUse>,
    /// The question, if the tool asks a person. The call then has no final result before the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspension: Option<Box<SuspendedCall>>,
}

impl CallEnd {
    /// Creates the end of a call that used no resources and asks no person.
    #[must_use]
    pub fn new(result: ToolResult, ending: EndingKind) -> Self {
        Self {
            result,
            ending,
            usage: ToolUsage::default(),
            duration_ms: 0,
            intake: Intake::default(),
            uses: Vec::new(),
            suspension: None,
        }
    }
}

/// Why a model call cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CallRefusal {
    /// A budget of the run is used up.
    BudgetSpent,
    /// The request is invalid because of a bug in the host.
    Invalid {
        /// What is wrong with the request.
        error: ArtError,
    },
    /// The request does not fit into the context window of the model.
    TooLong {
        /// Reason that names the size of the request and of the window, in tokens.
        reason: String,
    },
    /// The provider refused the request as too long, and the request cannot be made shorter.
    NotShorter,
}

/// A model call that was in progress when its run was cancelled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InterruptedCall {
    /// Number of the model call.
    #[serde(rename = "step")]
    pub action: ActionId,
    /// How much of the reply had arrived before the run was cancelled.
    #[serde(default, skip_serializing_if = "PartialReply::is_empty")]
    pub received: PartialReply,
}

impl RunEvent {
    /// Returns the event that answers a model call. If the call failed, the event says that no part of a reply had arrived.
    #[must_use]
    pub fn of_reply(at: Timestamp, action: ActionId, reply: Result<ModelReply, ModelError>) -> Self {
        match reply {
            Ok(reply) => Self::ModelReplied { at, action, reply },
            Err(error) => Self::ModelFailed {
                at,
                action,
                error,
                received: PartialReply::default(),
            },
        }
    }

    /// Returns the name of the kind of event, which is its `type` in the journal.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Started { .. } => "started",
            Self::ModelAsked { .. } => "model_asked",
            Self::ModelNotAsked { .. } => "model_not_asked",
            Self::ModelReplied { .. } => "model_replied",
            Self::ModelFailed { .. } => "model_failed",
            Self::ToolCalled { .. } => "tool_called",
            Self::ToolEnded { .. } => "tool_ended",
            Self::CallSuspended { .. } => "call_suspended",
            Self::PlanChecked { .. } => "plan_checked",
            Self::CallDecided { .. } => "call_decided",
            Self::GrantsChanged { .. } => "grants_changed",
            Self::Resumed { .. } => "resumed",
            Self::ToolsReturned { .. } => "tools_returned",
            Self::CancelRequested { .. } => "cancel_requested",
            Self::HostFailed { .. } => "host_failed",
        }
    }

    /// Returns the time of the event.
    #[must_use]
    pub const fn at(&self) -> Timestamp {
        match self {
            Self::Started { at, .. }
            | Self::ModelReplied { at, .. }
            | Self::ModelFailed { at, .. }
            | Self::ModelAsked { at, .. }
            | Self::ModelNotAsked { at, .. }
            | Self::ToolCalled { at, .. }
            | Self::ToolEnded { at, .. }
            | Self::CallSuspended { at, .. }
            | Self::PlanChecked { at, .. }
            | Self::CallDecided { at, .. }
            | Self::GrantsChanged { at, .. }
            | Self::Resumed { at, .. }
            | Self::ToolsReturned { at, .. }
            | Self::CancelRequested { at, .. }
            | Self::HostFailed { at, .. } => *at,
        }
    }
}

/// Everything that a run starts with, so that its journal can be replayed on its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunStart {
    /// Version of the journal that begins with this start: see [`RunStart::VERSION`].
    #[serde(default = "first_version")]
    pub version: u32,
    /// Identifier of the way in which the host that starts the run counts fuel. It names the version of the WebAssembly engine,
    /// the version of the code that instruments modules to count fuel, and a digest of the fuel that instructions cost. A call
    /// that is repeated on a host with another identifier may use other amounts of fuel.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fuel_basis: String,
    /// The question, its thread and its person. `traceId`, the identifier of the run, must be set.
    pub props: AgentProps,
    /// The tools that the thread may call.
    #[serde(default)]
    pub tools: Vec<ToolSchema>,
    /// Names of tools that exist and that the thread may not call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disabled_tools: Vec<String>,
    /// A saved plan, which a person saved earlier, to carry out in place of one that a model writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Box<PlanToRun>>,
    /// A tool call of a person, which the run makes in place of answering a question. No model is asked then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Box<CallToMake>>,
    /// Whether the questions about all planned calls whose arguments are known are put to a person all together, before the first
    /// item starts. A question about any other call is asked when the call is due.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ask_together: bool,
    /// What each tool may use in a call, and what its recorded calls used, by name of the tool.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub records: BTreeMap<String, ToolRecord>,
    /// Numbers of model calls and tokens that the recorded steps and answers of the model took.
    #[serde(default, skip_serializing_if = "ModelRecord::is_empty")]
    pub model_record: ModelRecord,
    /// The last messages of the thread, oldest first (contract P10).
    #[serde(default)]
    pub history: Vec<ConversationMessage>,
    /// Limits and other settings of the run.
    #[serde(default)]
    pub config: ExecutionConfig,
    /// Name and guidance of the agent.
    #[serde(default)]
    pub persona: AgentPersona,
    /// Instruction texts of the operator, by the names that [`crate::PromptManager`] lists.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fragments: BTreeMap<String, String>,
    /// Templates for system prompts, by the tags that `system_prompts` use.
    #[serde(default, skip_serializing_if = "is_empty_registry")]
    pub system_prompts_registry: SystemPromptsRegistry,
    /// System prompts of the configuration, of the thread and of this question alone, in this order. They are joined to the
    /// guidance of the persona.
    #[serde(default)]
    pub system_prompts: Vec<SystemPromptOverride>,
    /// The model that the driver calls for the run.
    pub model: RuntimeProviderConfig,
    /// Price of the model, from which costs are estimated; absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Context window of the model. If it is limited, prompts show the schemas of as many tools as fit, beginning with those most
    /// similar to the question, and requests are cut to fit.
    #[serde(
        default,
        rename = "contextTokens",
        skip_serializing_if = "ContextWindow::is_unbounded"
    )]
    pub context: ContextWindow,
    /// Estimated tokens that a request to the planner would have. Only a run that begins with a plan, and so sends no such
    /// request, needs this number: its request for the answer begins like a request to the planner, so the size of the request
    /// for the answer is estimated from this number. See [`with_request_tokens`](Self::with_request_tokens).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub request_tokens: u64,
    /// Whether the model can only plan. If so, an item without planned calls fails, and so does an item that is not completed by
    /// its planned calls.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub plans_only: bool,
    /// Whether the model has vision. If not, no request contains pictures or similar files, and the prompts say so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub vision: bool,
    /// Whether requests contain the schemas of tools in the format of the provider, beside the messages. If so, the prompt of an
    /// item lists the tools by name only, so that no schema is sent twice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub native_tools: bool,
    /// When and where the question is asked, as models are told; `None` if they are not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occasion: Option<Occasion>,
    /// Parameters for the provider, such as `temperature`.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub params: JsonObject,
    /// State of the thread, which earlier runs stored: unfinished plans and results of earlier questions (contract
    /// P14).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior: Option<PesAgentStateData>,
}

/// When and where a question is asked. The date has no time, so that a prompt stays the same for a day and providers can cache
/// it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Occasion {
    /// Day of the week and date where the person is, such as `Monday, 2026-11-23`.
    pub date: String,
    /// Time zone, as its IANA name or else as its offset, such as `Europe/Berlin` or `+01:00`.
    pub time_zone: String,
    /// Language and country, such as `de-DE`, if they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
}

/// A saved plan, which a person saved earlier, to carry out with these values of its parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanToRun {
    /// The plan.
    pub plan: SavedPlan,
    /// A value for each parameter.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub values: JsonObject,
}

/// A tool call that a person asks for. Its arguments are data: nothing in them is a reference to a result or the name of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallToMake {
    /// Name of the tool.
    pub tool_name: String,
    /// Arguments, which are passed to the tool unchanged.
    pub arguments: Value,
}

fn is_empty_registry(registry: &SystemPromptsRegistry) -> bool {
    *registry == SystemPromptsRegistry::default()
}

fn is_unused(usage: &ToolUsage) -> bool {
    *usage == ToolUsage::default()
}

const fn first_version() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl RunStart {
    /// The version of the journals that this host writes. The host also reads journals of all earlier versions. In version 1, no
    /// event announced a model call, and one event ended all calls of a batch.
    pub const VERSION: u32 = 2;

    /// Name of the provider and of the model in the start of a run that asks no model.
    pub const NO_MODEL: &str = "none";

    /// Creates the start of a run that makes one call and asks no model. Adds a random `traceId` if `props` has none.
    #[must_use]
    pub fn of_call(props: AgentProps, call: CallToMake) -> Self {
        Self {
            call: Some(Box::new(call)),
            plans_only: true,
            ..Self::new(props, RuntimeProviderConfig::new(Self::NO_MODEL, Self::NO_MODEL))
        }
    }

    /// Creates a start with default settings, without tools and without history. Adds a random `traceId` if `props` has none.
    #[must_use]
    pub fn new(mut props: AgentProps, model: RuntimeProviderConfig) -> Self {
        props.trace_id.get_or_insert_with(id::random);
        Self {
            version: Self::VERSION,
            fuel_basis: String::new(),
            props,
            tools: Vec::new(),
            disabled_tools: Vec::new(),
            plan: None,
            call: None,
            ask_together: false,
            records: BTreeMap::new(),
            model_record: ModelRecord::default(),
            history: Vec::new(),
            config: ExecutionConfig::default(),
            persona: AgentPersona::default(),
            fragments: BTreeMap::new(),
            system_prompts_registry: SystemPromptsRegistry::default(),
            system_prompts: Vec::new(),
            model,
            price: None,
            context: ContextWindow::Unbounded,
            request_tokens: 0,
            plans_only: false,
            vision: false,
            native_tools: false,
            occasion: None,
            params: JsonObject::new(),
            prior: None,
        }
    }
}
