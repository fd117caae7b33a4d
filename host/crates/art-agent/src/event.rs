//! The events of a run, as the journal stores them.

use std::collections::BTreeMap;

use art_core::Timestamp;
use art_core::agent::{AgentProps, ExecutionConfig};
use art_core::conversation::ConversationMessage;
use art_core::error::ModelError;
use art_core::pes::PesAgentStateData;
use art_core::prompt::{AgentPersona, SystemPromptOverride, SystemPromptsRegistry};
use art_core::provider::{ContextWindow, RuntimeProviderConfig};
use art_core::stream::ModelReply;
use art_core::tool::{ToolResult, ToolSchema};
use art_core::usage::Usage;
use art_core::{JsonObject, id};
use serde::{Deserialize, Serialize};

use crate::action::ActionId;

/// One event. The journal of a run is a list of these, the first of which is [`RunEvent::Started`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[expect(clippy::large_enum_variant, reason = "one at a time is made, journaled and applied")]
pub enum RunEvent {
    /// The run began.
    Started {
        /// When.
        at: Timestamp,
        /// What it begins with.
        start: Box<RunStart>,
    },
    /// A model answered a [`crate::Action::CallModel`].
    ModelReplied {
        /// When.
        at: Timestamp,
        /// The action. Its name in the journal is `step`.
        #[serde(rename = "step")]
        action: ActionId,
        /// The whole reply.
        reply: ModelReply,
    },
    /// A model did not answer a [`crate::Action::CallModel`].
    ModelFailed {
        /// When.
        at: Timestamp,
        /// The action. Its name in the journal is `step`.
        #[serde(rename = "step")]
        action: ActionId,
        /// Why not, after all retries.
        error: ModelError,
    },
    /// All calls of a [`crate::Action::CallTools`] ended.
    ToolsReturned {
        /// When.
        at: Timestamp,
        /// The action. Its name in the journal is `step`.
        #[serde(rename = "step")]
        action: ActionId,
        /// One for each call, in any order.
        results: Vec<ToolResult>,
        /// What all of them used together.
        #[serde(default)]
        usage: Usage,
    },
    /// The person cancelled the run.
    CancelRequested {
        /// When.
        at: Timestamp,
    },
}

impl RunEvent {
    /// When it happened.
    #[must_use]
    pub const fn at(&self) -> Timestamp {
        match self {
            Self::Started { at, .. }
            | Self::ModelReplied { at, .. }
            | Self::ModelFailed { at, .. }
            | Self::ToolsReturned { at, .. }
            | Self::CancelRequested { at } => *at,
        }
    }
}

/// Everything that a run begins with, so that its journal needs nothing else to be replayed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunStart {
    /// The question and where it comes from; `traceId` has to be set.
    pub props: AgentProps,
    /// Tools that the thread may use.
    #[serde(default)]
    pub tools: Vec<ToolSchema>,
    /// The last messages of the thread, oldest first (P10).
    #[serde(default)]
    pub history: Vec<ConversationMessage>,
    /// Limits of the run.
    #[serde(default)]
    pub config: ExecutionConfig,
    /// Who the agent is.
    #[serde(default)]
    pub persona: AgentPersona,
    /// Instruction texts of the operator, by the names of [`crate::PromptManager`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fragments: BTreeMap<String, String>,
    /// Templates that system prompts may name.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub system_prompts_registry: SystemPromptsRegistry,
    /// Joined to the persona's guidance one after the other: the instance's, the thread's, then the call's.
    #[serde(default)]
    pub system_prompts: Vec<SystemPromptOverride>,
    /// The model in use; the run only records it.
    pub model: RuntimeProviderConfig,
    /// What the model reads and writes in one call. With a bound, prompts list the nearest tools only, and every request is
    /// made to fit.
    #[serde(
        default,
        rename = "contextTokens",
        skip_serializing_if = "ContextWindow::is_unbounded"
    )]
    pub context: ContextWindow,
    /// The model looks at pictures and other files. Without it they are not part of any request, and the prompts say so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub vision: bool,
    /// The model reads the schemas of tools beside the prompt and calls them in its provider's form. With it, the prompt of a
    /// step lists the tools by name only, so that no schema is sent twice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub native_tools: bool,
    /// Parameters for the provider.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub params: JsonObject,
    /// What earlier runs of the thread left (P14).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior: Option<PesAgentStateData>,
}

fn is_empty(registry: &SystemPromptsRegistry) -> bool {
    *registry == SystemPromptsRegistry::default()
}

impl RunStart {
    /// Creates a start with no tools, no history and the default limits. Draws a random `traceId` when `props` has
    /// none.
    #[must_use]
    pub fn new(mut props: AgentProps, model: RuntimeProviderConfig) -> Self {
        props.trace_id.get_or_insert_with(id::random);
        Self {
            props,
            tools: Vec::new(),
            history: Vec::new(),
            config: ExecutionConfig::default(),
            persona: AgentPersona::default(),
            fragments: BTreeMap::new(),
            system_prompts_registry: SystemPromptsRegistry::default(),
            system_prompts: Vec::new(),
            model,
            context: ContextWindow::Unbounded,
            vision: false,
            native_tools: false,
            params: JsonObject::new(),
            prior: None,
        }
    }
}
