//! Inputs and results of a run. In a run, the agent answers one question: it makes a plan, works on the items of the plan and
//! writes the answer.

mod execution;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::Timestamp;
use crate::conversation::ConversationMessage;
use crate::error::ArtError;
use crate::prompt::{AgentPersona, SystemPromptOverride};
use crate::provider::RuntimeProviderConfig;
use crate::stream::LlmMetadata;
use crate::usage::{TokenUsage, ToolUsage};

pub use execution::{ExecutionConfig, ExecutionOverrides};

/// A question and its origin (contract C44).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentProps {
    /// The question.
    pub query: String,
    /// Identifier of the conversation, which is also called thread.
    pub thread_id: String,
    /// Identifier of the run; the host creates one if it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// Identifier of the person's session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Identifier of the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// Files that come with the question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<QueryAttachment>,
    /// Whether the answer should be the unchanged output of a tool, so that no model writes an answer. This needs a run with a
    /// single item that completed with a single successful call, and the call must not be one of a display tool, whose output is
    /// drawn for the person, for example as a chart. Otherwise, or if a limit was reached, the model writes the answer as usual.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub raw: bool,
}

/// A file that comes with a question. The model sees its name, the beginning of a text file, and the content of any
/// other file if it can read that type. A tool call can pass the complete content of any file to a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QueryAttachment {
    /// File name, unique among the attachments of a question.
    pub name: String,
    /// For example `text/csv`.
    pub media_type: String,
    /// The whole text of the file; empty if `base64` holds the file.
    #[serde(default)]
    pub text: String,
    /// Content of a file that is not text, such as a picture or a PDF, in base64 (RFC 4648, with padding).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
    /// Whether later questions of the thread may use the file too. Otherwise they may only if they name it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep: bool,
}

/// Settings of a conversation (contract C49).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ThreadConfig {
    /// The provider and the model that the thread uses, unless a question names others or a person chose others for the whole
    /// host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_config: Option<RuntimeProviderConfig>,
    /// Tools that may be called, by name, or [`ThreadConfig::ALL_TOOLS`]; calls of other tools are refused (contract
    /// X4). A list that is missing or cannot be read enables no tool.
    #[serde(deserialize_with = "names_or_empty")]
    pub enabled_tools: Vec<String>,
    /// Maximum number of earlier messages that the model is shown. 0 stands for the default of the host.
    pub history_limit: u32,
    /// System prompt of the thread, which is joined to the guidance of the persona.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<SystemPromptOverride>,
    /// The agent's name and guidance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persona: Option<AgentPersona>,
    /// Limits that the thread sets for its runs. `execution` is an older name of the JSON key (contract X5).
    #[serde(alias = "execution", skip_serializing_if = "Option::is_none")]
    pub execution_config: Option<ExecutionOverrides>,
}

impl ThreadConfig {
    /// Entry of `enabled_tools` that enables every tool.
    pub const ALL_TOOLS: &'static str = "*";

    /// Returns whether the thread may call the tool named `tool`.
    #[must_use]
    pub fn enables(&self, tool: &str) -> bool {
        let mut names = self.enabled_tools.iter();
        names.any(|name| name == tool || name == Self::ALL_TOOLS)
    }
}

/// Deserialises a list of names. Any other value becomes an empty list, so that it enables no tool.
fn names_or_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let names = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(names).unwrap_or_default())
}

/// The state that an agent keeps for a thread. A writer names the version that it replaces, and its write fails if somebody else
/// has written another version meanwhile (contract C50).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentState {
    /// The state; its shape depends on the agent. The agent of this host stores its plan, as [`crate::pes::PesAgentStateData`].
    pub data: serde_json::Value,
    /// Version, from 1; each write increases it by one.
    pub version: u64,
    /// Time of the last write.
    pub modified: Timestamp,
}

/// How a run ended (contracts C47, X6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// The run has a complete answer, every item of its plan was completed without an error or was removed before it started, and
    /// no limit was reached. Exception: a tool call that the model made while it was planning may have failed, if the model then
    /// called the same tool again.
    Success,
    /// The run has an answer, or a list of results in place of an answer that the model could not write. Something is missing: an
    /// item failed, has an error or is unfinished, a limit was reached, or the answer leaves a part of the question open.
    Partial,
    /// The run has no answer; [`ExecutionMetadata::error`] has the reason.
    Error,
    /// The run waits for a person's decision.
    Suspended,
    /// The person cancelled the run.
    Cancelled,
}

/// Cost and status of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionMetadata {
    /// Identifier of the conversation.
    pub thread_id: String,
    /// Identifier of the run.
    pub trace_id: String,
    /// Identifier of the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// How the run ended.
    pub status: RunStatus,
    /// Duration from start to end, in milliseconds.
    pub total_duration_ms: u64,
    /// Number of model calls, including those that were interrupted.
    pub llm_calls: u32,
    /// Number of model calls whose tokens and cost the host estimated: calls that were cancelled or broke off, and replies for
    /// which the provider reported no counts.
    #[serde(default, skip_serializing_if = "crate::wire::is_default")]
    pub estimated_calls: u32,
    /// Number of tool calls.
    pub tool_calls: u32,
    /// Tokens of all model calls (contract B20).
    pub tokens: TokenUsage,
    /// Cost of all model calls in US dollars; absent if there was no call, or if a call has no known price, since the
    /// sum would be too low then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llm_cost: Option<f64>,
    /// Token counts and times of all model calls together, including the calls that were made for failed items. Unlike
    /// `llm_cost`, its cost is also present if some calls have no known price: it is the sum of the others.
    #[serde(default, skip_serializing_if = "crate::wire::is_default")]
    pub llm_metadata: LlmMetadata,
    /// Resources that all tool calls used: fuel, memory, time and others.
    pub usage: ToolUsage,
    /// The reason why the run has no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ArtError>,
    /// The limits that were reached, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits_hit: Vec<String>,
}

/// The answer of a run (contract C46).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentFinalResponse {
    /// The answer, as a message of the agent.
    pub response: ConversationMessage,
    /// Cost and status of the run.
    pub metadata: ExecutionMetadata,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // Without a readable list, a thread may use no tool (contract X4).
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
