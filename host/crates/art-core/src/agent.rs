//! Inputs and results of a run.

mod execution;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::Timestamp;
use crate::conversation::ConversationMessage;
use crate::error::ArtError;
use crate::prompt::{AgentPersona, SystemPromptOverride};
use crate::provider::RuntimeProviderConfig;
use crate::stream::LlmMetadata;
use crate::usage::{TokenUsage, Usage};

pub use execution::{ExecutionConfig, ExecutionOverrides};

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
    /// Files that come with the question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<QueryAttachment>,
}

/// A file that comes with a question. The model sees the name and the beginning of a text, and the name of any other
/// file, with its content if the model reads such files. A tool can get all of either.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QueryAttachment {
    /// File name, unique among the attachments of a question.
    pub name: String,
    /// For example `text/csv`.
    pub media_type: String,
    /// The whole text; empty if `base64` holds the file.
    #[serde(default)]
    pub text: String,
    /// The whole of a file that is not text, such as a picture or a PDF, in base64 (RFC 4648, with padding).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
}

/// Settings of a conversation (C49).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ThreadConfig {
    /// Model in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_config: Option<RuntimeProviderConfig>,
    /// Tools that may be used, or [`ThreadConfig::ALL_TOOLS`]; a tool that is not named is refused (X4). A list that is
    /// missing, empty or cannot be read names none.
    #[serde(deserialize_with = "readable_names")]
    pub enabled_tools: Vec<String>,
    /// Messages of history shown to the model.
    pub history_limit: u32,
    /// Joined to the persona's guidance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<SystemPromptOverride>,
    /// The agent's name and guidance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persona: Option<AgentPersona>,
    /// Limits of a run, as far as the thread sets them; `execution` is an older name (X5).
    #[serde(alias = "execution", skip_serializing_if = "Option::is_none")]
    pub execution_config: Option<ExecutionOverrides>,
}

impl ThreadConfig {
    /// Entry of `enabled_tools` that enables every tool.
    pub const ALL_TOOLS: &'static str = "*";

    /// Returns whether the thread may use the tool of that name.
    #[must_use]
    pub fn enables(&self, tool: &str) -> bool {
        let mut names = self.enabled_tools.iter();
        names.any(|name| name == tool || name == Self::ALL_TOOLS)
    }
}

/// Reads a list of texts. Anything else is read as an empty list, because an unreadable list allows nothing.
fn readable_names<'de, D: Deserializer<'de>>(names: D) -> Result<Vec<String>, D::Error> {
    let names = Value::deserialize(names)?;
    Ok(serde_json::from_value(names).unwrap_or_default())
}

/// The agent's state of a thread, with the version for compare-and-set (C50).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentState {
    /// Shape by agent; [`crate::pes::PesAgentStateData`] for ours.
    pub data: serde_json::Value,
    /// Grows by one with each write, from 1.
    pub version: u64,
    /// When it was written.
    pub modified: Timestamp,
}

/// How a run ended (C47, X6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// Everything that was planned was done.
    Success,
    /// An item failed or was left undone, or a limit was hit.
    Partial,
    /// The run has no answer; `error` says why.
    Error,
    /// A person has to decide.
    Suspended,
    /// The person gave up.
    Cancelled,
}

/// Cost and ending of a run.
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
    /// US dollars of all model calls together; absent without calls, or if a call had no price, since the sum would be
    /// too low.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llm_cost: Option<f64>,
    /// Counts and times of all model calls together, those of items that failed among them.
    #[serde(default, skip_serializing_if = "crate::wire::is_default")]
    pub llm_metadata: LlmMetadata,
    /// Usage of all tool calls together.
    pub usage: Usage,
    /// Why the run has no answer.
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // X4
    #[test]
    fn a_list_of_tools_that_is_missing_empty_or_unreadable_enables_none() {
        for config in [
            json!({}),
            json!({"enabledTools": []}),
            json!({"enabledTools": null}),
            json!({"enabledTools": "*"}),
            json!({"enabledTools": {"*": true}}),
            json!({"enabledTools": ["a", 1]}),
        ] {
            let config: ThreadConfig = serde_json::from_value(config).unwrap();
            assert!(!config.enables("a"), "{config:?}");
        }
    }

    #[test]
    fn a_list_of_tools_enables_those_that_it_names_and_a_star_enables_all() {
        let config = |names: &[&str]| ThreadConfig {
            enabled_tools: names.iter().map(|name| (*name).to_owned()).collect(),
            ..ThreadConfig::default()
        };
        assert!(config(&["a", "b"]).enables("b"));
        assert!(!config(&["a", "b"]).enables("c"));
        assert!(config(&["*"]).enables("c"));
    }
}
