//! What goes into a run and what comes out (C44 to C50).

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::Timestamp;
use crate::conversation::ConversationMessage;
use crate::error::ArtError;
use crate::prompt::{AgentPersona, SystemPromptOverride};
use crate::provider::RuntimeProviderConfig;
use crate::usage::{TokenUsage, Usage};

/// A query and where it comes from (C44).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentProps {
    /// The question.
    pub query: String,
    /// Conversation.
    pub thread_id: String,
    /// Run; the host makes one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// Session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// Texts that come with the question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<QueryAttachment>,
}

/// A text that comes with a question. The model sees its name and its beginning; a tool can be given the whole of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QueryAttachment {
    /// File name, unique among the attachments of a question.
    pub name: String,
    /// For example `text/csv`.
    pub media_type: String,
    /// The whole text.
    pub text: String,
}

/// How hard a run may try (C48, X11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ExecutionConfig {
    /// Model calls for one item.
    pub max_iterations: u32,
    /// Times that a model is told to call a required tool.
    pub taef_max_retries: u32,
    /// Characters of tool results in one prompt.
    pub tool_result_max_length: usize,
    /// Items worked on in one run (P34).
    pub max_items: u32,
    /// Items worked on at the same time.
    pub max_parallel_items: u32,
    /// Tool calls of one run.
    pub max_tool_calls: u32,
    /// Steps may go to other agents. There are none here: asking for it is an error.
    #[serde(rename = "enableA2ADelegation", deserialize_with = "no_delegation")]
    pub enable_a2a_delegation: bool,
}

impl Default for ExecutionConfig {
    fn default() -> Self {
        Self {
            max_iterations: 5,
            taef_max_retries: 2,
            tool_result_max_length: 60_000,
            max_items: 20,
            max_parallel_items: 4,
            max_tool_calls: 64,
            enable_a2a_delegation: false,
        }
    }
}

fn no_delegation<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    if bool::deserialize(deserializer)? {
        return Err(D::Error::custom(
            "there is nobody to delegate to: `enableA2ADelegation` can only be `false`",
        ));
    }
    Ok(false)
}

/// Settings of a conversation (C49).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ThreadConfig {
    /// Model in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_config: Option<RuntimeProviderConfig>,
    /// Tools that may be used; a tool that is not named is refused (X4).
    pub enabled_tools: Vec<String>,
    /// Messages of history shown to the model.
    pub history_limit: u32,
    /// Joined to the persona's guidance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<SystemPromptOverride>,
    /// Who the agent is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persona: Option<AgentPersona>,
    /// How hard a run may try; `execution` is an older name (X5).
    #[serde(alias = "execution", skip_serializing_if = "Option::is_none")]
    pub execution_config: Option<ExecutionConfig>,
}

/// What an agent keeps of a thread, with the version that compare-and-set checks (C50).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentState {
    /// Shape by agent; [`crate::pes::PesAgentStateData`] for ours.
    pub data: serde_json::Value,
    /// Grows by one with each write, from 1.
    pub version: u64,
    /// When it was written.
    pub modified: Timestamp,
}

/// How a run ended (C47, X6, X7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// Everything that was planned was done.
    Success,
    /// An item failed or was left undone, or a limit was hit.
    Partial,
    /// There is no answer; `error` says why.
    Error,
    /// A person has to decide.
    Suspended,
    /// The person gave up.
    Cancelled,
}

/// What a run cost and how it ended (C47).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionMetadata {
    /// Conversation.
    pub thread_id: String,
    /// Run.
    pub trace_id: String,
    /// Person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// How it ended.
    pub status: RunStatus,
    /// Milliseconds from start to end.
    pub total_duration_ms: u64,
    /// Model calls.
    pub llm_calls: u32,
    /// Tool calls.
    pub tool_calls: u32,
    /// Tokens of all model calls together (B20).
    pub tokens: TokenUsage,
    /// What all tool calls used together.
    pub usage: Usage,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ArtError>,
    /// Limits that were hit, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits_hit: Vec<String>,
}

/// The answer of a run (C46).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentFinalResponse {
    /// The agent's message.
    pub response: ConversationMessage,
    /// Cost and ending.
    pub metadata: ExecutionMetadata,
}
