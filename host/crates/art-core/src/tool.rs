//! Tools as the model and the host see them: declarations, calls and results.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::JsonObject;
use crate::capability::Denial;
use crate::error::ToolErrorCode;
use crate::examples::Examples;
use crate::hitl::FeedbackSchema;
use crate::shared::Shared;

/// The declaration of a tool (contract C2). Clones share its schemas and examples, since each run and each request has
/// a clone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolSchema {
    /// Name: `^[a-z][a-z0-9_-]{0,63}$`, unique in a host, where `_` and `-` count as the same character.
    pub name: String,
    /// Description: what the tool does, when to use it, what it returns.
    pub description: String,
    /// JSON Schema 2020-12 with an object at its root (contract C3).
    pub input_schema: Shared<Value>,
    /// JSON Schema of a successful output; absent means any JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Shared<Value>>,
    /// Example calls.
    #[serde(default, skip_serializing_if = "has_no_examples")]
    pub examples: Examples,
    /// How the host handles a call.
    #[serde(default)]
    pub execution_mode: ExecutionMode,
    /// How a person is asked, for blocking tools. A tool that is not blocking may have this too: approval rules use the risk
    /// level and the category in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocking_config: Option<BlockingToolConfig>,
    /// How the output is drawn, for display tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_config: Option<DisplayToolConfig>,
}

impl ToolSchema {
    /// Returns whether `self` and `other` are clones of one declaration, so that their JSON texts are equal too.
    /// Equal declarations that were read separately are no clones, because their JSON texts may have different orders of keys.
    #[must_use]
    pub fn is_clone_of(&self, other: &Self) -> bool {
        let shares_output_schema = match (&self.output_schema, &other.output_schema) {
            (Some(output), Some(other_output)) => output.is_clone_of(other_output),
            (None, None) => true,
            _ => false,
        };
        shares_output_schema
            && self.input_schema.is_clone_of(&other.input_schema)
            && self.examples.is_clone_of(&other.examples)
            && (&self.name, &self.description, self.execution_mode)
                == (&other.name, &other.description, other.execution_mode)
            && (&self.blocking_config, &self.display_config) == (&other.blocking_config, &other.display_config)
    }
}

fn has_no_examples(examples: &Examples) -> bool {
    examples.is_empty()
}

/// An example call of a tool (contract C2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolExample {
    /// Input, valid under the input schema.
    pub input: Value,
    /// Output, valid under the output schema.
    #[serde(
        default,
        deserialize_with = "crate::wire::keep_null",
        skip_serializing_if = "Option::is_none"
    )]
    pub output: Option<Value>,
    /// The question that the call answers, as a person would ask it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// How the host handles a call of a tool (contract C9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExecutionMode {
    /// The tool runs to its end, and the output goes to the model. `immediate` is an older name.
    #[default]
    #[serde(alias = "immediate")]
    Functional,
    /// The tool needs a person's decision.
    Blocking,
    /// The output is drawn for a person and not read by the model.
    Display,
}

/// How a blocking tool asks a person (contract C16).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BlockingToolConfig {
    /// Form of the answer; absent means a choice between approving and rejecting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback_schema: Option<FeedbackSchema>,
    /// Question to the person; `{{name}}` is replaced by the argument `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_prompt: Option<String>,
    /// Whether the decision itself is the result, so that the tool is not called again.
    #[serde(default = "yes")]
    pub completes_on_approval: bool,
    /// Whether the model may call the tool again in the same run after a rejection, with other arguments.
    #[serde(default = "yes")]
    pub allow_retry_on_reject: bool,
    /// Time in milliseconds after which an undecided question counts as rejected; absent means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Category to which approval rules can refer; any text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Risk of a wrong approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk_level: Option<RiskLevel>,
}

const fn yes() -> bool {
    true
}

/// Risk of a wrong approval (contract C16).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum RiskLevel {
    Low,
    Medium,
    High,
    Critical,
}

impl RiskLevel {
    /// Returns the name, as in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

/// How the output of a display tool is drawn (contract C17).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DisplayToolConfig {
    /// Name of the user interface component that draws it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component_type: Option<String>,
    /// Where the output is shown, and whether it stays.
    #[serde(default)]
    pub display_mode: DisplayMode,
    /// Whether a person can interact with it.
    #[serde(default)]
    pub interactive: bool,
    /// JSON Schema of the data to draw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_schema: Option<Value>,
}

/// Where the output of a display tool is shown, and whether it stays (contract C17).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum DisplayMode {
    #[default]
    Persistent,
    Ephemeral,
    Modal,
}

/// A tool call in an assistant message, with the arguments as JSON text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCallRequest {
    /// Identifier, which the result repeats.
    pub id: String,
    /// Always `function`.
    #[serde(rename = "type")]
    pub kind: FunctionKind,
    /// Name and arguments.
    pub function: FunctionCall,
}

/// The value of `type` in a tool call, which is always `function`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FunctionKind {
    /// A function.
    #[default]
    Function,
}

/// Name and arguments of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionCall {
    /// Name of the tool.
    pub name: String,
    /// Arguments as JSON text.
    pub arguments: String,
}

/// A tool call as a model requested it, with the arguments parsed (contract C4). It is untrusted until the host has checked it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ParsedToolCall {
    /// Identifier of the call; see [`crate::id::call_id`].
    pub call_id: String,
    /// Name of the requested tool.
    pub tool_name: String,
    /// Arguments, of any shape.
    pub arguments: Value,
}

/// How a call ended, for models and for programs (contract C5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolStatus {
    /// The call succeeded; `output` has the result.
    Success,
    /// The call failed; `error` has the reason.
    Error,
    /// The call waits for a person's decision.
    Suspended,
}

/// The result of one call (contract C5). `callId` and `toolName` are always those of the request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// Identifier of the requested call.
    pub call_id: String,
    /// Name of the requested tool.
    pub tool_name: String,
    /// How the call ended.
    pub status: ToolStatus,
    /// The output; present on success, possibly null. A failed call may have one as well, with more detail than `error`.
    #[serde(
        default,
        deserialize_with = "crate::wire::keep_null",
        skip_serializing_if = "Option::is_none"
    )]
    pub output: Option<Shared<Value>>,
    /// Message for the model; present on error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Code of the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ToolErrorCode>,
    /// Title, sources, attachments and further metadata.
    #[serde(default, skip_serializing_if = "ToolResultMetadata::is_empty")]
    pub metadata: ToolResultMetadata,
}

/// Metadata of a result (contract C5).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResultMetadata {
    /// Title: one line for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Sources of the output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// Files that accompany the output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<AttachmentInfo>,
    /// Identifier that the host gave to a suspended call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspension_id: Option<String>,
    /// Whether the same call may succeed later.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retryable: bool,
    /// Whether the host refused the call before the tool ran, because the call was not valid or could not be started.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_run: bool,
    /// What the call was not allowed to do. Set by the host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denials: Vec<Denial>,
    /// Whether the output is only for a person: the output of a display tool is drawn and appears in no prompt
    /// (contract C9). Set by the host.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub for_display: bool,
    /// Whether a person rejected the call. Set by the host.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rejected: bool,
    /// Digest of the log of the call, by which the store finds the log, a [`CallLog`](crate::outcome::CallLog) as JSON;
    /// absent if the log is empty or was not stored. Set by the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_digest: Option<String>,
    /// Further metadata.
    #[serde(flatten)]
    pub extra: JsonObject,
}

impl ToolResultMetadata {
    /// Returns whether there is no metadata.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A source of an output (contract C5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// Name of the source.
    pub source_name: String,
    /// Address of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Further fields.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// Shows the name, and the address in brackets if there is one.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.url.as_deref() {
            None | Some("") => f.write_str(&self.source_name),
            Some(url) => write!(f, "{} ({url})", self.source_name),
        }
    }
}

/// Description of a file that accompanies an output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttachmentInfo {
    /// Media type, for example `text/csv`.
    pub media_type: String,
    /// File name that the tool chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    /// Size in bytes.
    pub bytes: u64,
    /// Digest of the content, by which the store finds it; absent if it was not stored. Set by the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// The run and the person for which a tool is called (contract C7). A tool cannot choose any of the identifiers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionContext {
    /// Identifier of the conversation.
    pub thread_id: String,
    /// Identifier of the run, which the contracts call a trace.
    pub trace_id: String,
    /// Identifier of the call.
    pub call_id: String,
    /// Identifier of the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// Identifier of the person's session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Present if the tool is called again after a decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hitl_context: Option<crate::hitl::HitlContext>,
}

impl ToolResult {
    /// Creates a successful result.
    #[must_use]
    pub fn success(call: &ParsedToolCall, output: impl Into<Shared<Value>>) -> Self {
        Self::new(call, ToolStatus::Success, Some(output.into()), None)
    }

    /// Creates a failed result. `message` is for the model.
    #[must_use]
    pub fn error(call: &ParsedToolCall, code: ToolErrorCode, message: impl Into<String>) -> Self {
        let mut result = Self::new(call, ToolStatus::Error, None, Some(message.into()));
        result.code = Some(code);
        result
    }

    fn new(call: &ParsedToolCall, status: ToolStatus, output: Option<Shared<Value>>, error: Option<String>) -> Self {
        Self {
            call_id: call.call_id.clone(),
            tool_name: call.tool_name.clone(),
            status,
            output,
            error,
            code: None,
            metadata: ToolResultMetadata::default(),
        }
    }
}
