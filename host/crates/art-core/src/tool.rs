//! Tools as the model and the host see them (C2, C3, C4, C5, C7, C9).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::JsonObject;
use crate::error::ToolErrorCode;
use crate::hitl::FeedbackSchema;

/// What a tool says of itself (C2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolSchema {
    /// `^[a-z][a-z0-9_-]{0,63}$`, unique in a host, where `_` and `-` are the same.
    pub name: String,
    /// What the tool does, when to use it, what it returns.
    pub description: String,
    /// JSON Schema 2020-12 with an object at its root (C3).
    pub input_schema: Value,
    /// JSON Schema of the output of a success; absent means any JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Worked calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<ToolExample>,
    /// How the host treats a call.
    #[serde(default)]
    pub execution_mode: ExecutionMode,
    /// How a human is asked, for blocking tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocking_config: Option<BlockingToolConfig>,
    /// How the output is drawn, for display tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_config: Option<DisplayToolConfig>,
}

/// One worked call of a tool (C2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolExample {
    /// Valid under the input schema.
    pub input: Value,
    /// Valid under the output schema.
    #[serde(
        default,
        deserialize_with = "crate::wire::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub output: Option<Value>,
    /// The question in words that this input answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// How the host treats a call of a tool (C9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExecutionMode {
    /// Runs to its end; the output goes to the model. `immediate` is an older name of it.
    #[default]
    #[serde(alias = "immediate")]
    Functional,
    /// Needs a human decision.
    Blocking,
    /// The output is drawn for a person and not read by the model.
    Display,
}

/// How a blocking tool asks (C16).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BlockingToolConfig {
    /// Form of the answer; absent means approve or reject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback_schema: Option<FeedbackSchema>,
    /// Question shown; `{{name}}` stands for the argument `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_prompt: Option<String>,
    /// The decision is the result and the tool is not run again.
    #[serde(default = "yes")]
    pub completes_on_approval: bool,
    /// The model may try another way after a rejection.
    #[serde(default = "yes")]
    pub allow_retry_on_reject: bool,
    /// Milliseconds until an open question counts as rejected; absent means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Free grouping for approval rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// How much harm a wrong approval can do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk_level: Option<RiskLevel>,
}

const fn yes() -> bool {
    true
}

/// How much harm a wrong approval can do (C16).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum RiskLevel {
    Low,
    Medium,
    High,
    Critical,
}

/// How the output of a display tool is drawn (C17).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DisplayToolConfig {
    /// Name of the component that draws it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component_type: Option<String>,
    /// Where it stays.
    #[serde(default)]
    pub display_mode: DisplayMode,
    /// A person can act on it.
    #[serde(default)]
    pub interactive: bool,
    /// JSON Schema of the data drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_schema: Option<Value>,
}

/// Where the drawing of a display tool stays (C17).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum DisplayMode {
    #[default]
    Persistent,
    Ephemeral,
    Modal,
}

/// A call inside an assistant turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCallRequest {
    /// Identifier that the result repeats.
    pub id: String,
    /// Always `function`.
    #[serde(rename = "type")]
    pub kind: FunctionKind,
    /// What is called.
    pub function: FunctionCall,
}

/// The one kind of call there is.
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
    /// Tool name.
    pub name: String,
    /// Arguments as JSON text.
    pub arguments: String,
}

/// A call as a model asked for it: untrusted until it is admitted (C4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ParsedToolCall {
    /// Identifier of the call; see [`crate::id::call_id`].
    pub call_id: String,
    /// Tool asked for.
    pub tool_name: String,
    /// Arguments, of any shape.
    pub arguments: Value,
}

/// How a call ended, for the model and for the wire (C5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolStatus {
    /// `output` holds the answer.
    Success,
    /// `error` says why not.
    Error,
    /// A person has to decide first.
    Suspended,
}

/// The result of one call (C5). `callId` and `toolName` are always those of the request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The request's.
    pub call_id: String,
    /// The request's.
    pub tool_name: String,
    /// How it ended.
    pub status: ToolStatus,
    /// The data; present on success, be it `null`. A failure may have some too, which says more than its `error`.
    #[serde(
        default,
        deserialize_with = "crate::wire::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub output: Option<Value>,
    /// Text the model may see; present on error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Code beside `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ToolErrorCode>,
    /// Sources, attachments, title and whatever else the tool gave.
    #[serde(default, skip_serializing_if = "ToolResultMetadata::is_empty")]
    pub metadata: ToolResultMetadata,
}

/// What accompanies a result (C5).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResultMetadata {
    /// One line for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Where the output came from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// Files that accompany the output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<AttachmentInfo>,
    /// Made by the host when a call suspends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspension_id: Option<String>,
    /// The same call may succeed later.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retryable: bool,
    /// The host answered before the tool ran, because the call was not valid or could not begin. Such a call was not
    /// made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_run: bool,
    /// The output is for a person alone: a success of a display tool is drawn, and no prompt has it (C9). Set by the
    /// host.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub for_display: bool,
    /// The name in the store of what the call logged and wrote, a [`CallLog`](crate::outcome::CallLog) as JSON; absent when it
    /// said nothing or that was not kept. Set by the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_digest: Option<String>,
    /// Anything else.
    #[serde(flatten)]
    pub extra: JsonObject,
}

impl ToolResultMetadata {
    /// Whether there is nothing to say.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Where a piece of an output came from (C5).
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

/// A file beside an output, without its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttachmentInfo {
    /// For example `text/csv`.
    pub media_type: String,
    /// Name the tool gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    /// Size in bytes.
    pub bytes: u64,
    /// The name of its bytes in the store; absent when they were not kept. Set by the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// Who calls a tool, and in which run (C7). The host makes every identifier.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionContext {
    /// Conversation.
    pub thread_id: String,
    /// Run.
    pub trace_id: String,
    /// Call.
    pub call_id: String,
    /// Person on whose behalf the call is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// Session of that person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Set when the tool is run again after a decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hitl_context: Option<crate::hitl::HitlContext>,
}

impl ToolResult {
    /// A success that carries `output`.
    #[must_use]
    pub fn success(call: &ParsedToolCall, output: Value) -> Self {
        Self::new(call, ToolStatus::Success, Some(output), None)
    }

    /// A failure with its code and a text the model may see.
    #[must_use]
    pub fn error(call: &ParsedToolCall, code: ToolErrorCode, message: impl Into<String>) -> Self {
        let mut result = Self::new(call, ToolStatus::Error, None, Some(message.into()));
        result.code = Some(code);
        result
    }

    fn new(call: &ParsedToolCall, status: ToolStatus, output: Option<Value>, error: Option<String>) -> Self {
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
