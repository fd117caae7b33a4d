//! The report of a call: its result, usage, log and files.

use std::sync::Arc;
use std::time::Duration;

use art_core::error::ToolErrorCode;
use art_core::outcome::{Attachment, CallLog, Ending};
use art_core::text::truncate;
use art_core::tool::{ParsedToolCall, ToolResult, ToolResultMetadata, ToolStatus};
use art_core::usage::Usage;
use serde::Serialize;

/// Maximum length of a tool's name in a message, in characters.
const MAX_NAME_CHARS: usize = 200;

/// The report of one call. A batch has one report for each call, in the order of the calls.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolReport {
    /// Result for the model and the journal. Its `callId` and `toolName` are those of the request.
    pub result: ToolResult,
    /// Usage of the call; zero if it never ran.
    pub usage: Usage,
    /// How the call ended.
    pub ending: CallEnding,
    /// Digest of the code of the tool, if the call ran and the tool has one.
    pub digest: Option<Arc<str>>,
    /// Log of the call, within its limits.
    pub log: CallLog,
    /// The files that `result.metadata.attachments` describes, in the same order.
    pub attachments: Arc<[Attachment]>,
    /// Time from the request to the end, including time in the queue.
    pub duration: Duration,
    /// The output as the tool wrote it. It is moved into the observation.
    pub(crate) raw_output: Option<String>,
}

impl ToolReport {
    /// Creates a report with a result and no usage.
    pub(crate) fn new(result: ToolResult, ending: CallEnding) -> Self {
        Self {
            result,
            usage: Usage::default(),
            ending,
            digest: None,
            log: CallLog::default(),
            attachments: Arc::default(),
            duration: Duration::ZERO,
            raw_output: None,
        }
    }

    /// Creates the report of a failed call. `message` is for the model.
    pub(crate) fn error(call: &ParsedToolCall, ending: CallEnding, code: ToolErrorCode, message: String) -> Self {
        let mut result = ToolResult::error(call, code, message);
        result.metadata.retryable = code.is_retryable();
        Self::new(result, ending)
    }

    /// Creates the report of a call that did not run. `message` is for the model.
    #[must_use]
    pub fn not_run(call: &ParsedToolCall, code: ToolErrorCode, message: String) -> Self {
        Self::error(call, CallEnding::NotRun, code, message).marked_not_run()
    }

    /// Marks the call as not run.
    pub(crate) fn marked_not_run(mut self) -> Self {
        self.result.metadata.not_run = true;
        self
    }

    /// Replaces the result by an error, because the call could not be recorded and a restart would not know about it.
    pub(crate) fn withhold(&mut self) {
        self.ending = CallEnding::NotRecorded;
        self.attachments = Arc::default();
        self.result.status = ToolStatus::Error;
        self.result.output = None;
        self.result.code = Some(ToolErrorCode::HostError);
        self.result.error = Some(about_tool(
            &self.result.tool_name,
            "ran, but its result could not be stored and is withheld",
        ));
        self.result.metadata = ToolResultMetadata {
            retryable: ToolErrorCode::HostError.is_retryable(),
            ..ToolResultMetadata::default()
        };
    }
}

/// Returns the message `Tool "NAME" TEXT`. The name is shortened, because a model may have invented it.
pub(crate) fn about_tool(tool_name: &str, text: &str) -> String {
    format!("Tool \"{}\" {text}", truncate(tool_name, MAX_NAME_CHARS))
}

/// How a call ended, or why it did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallEnding {
    /// The call succeeded with a valid output.
    Success,
    /// The tool returned an error.
    Failure,
    /// The call waits for a person's decision.
    Suspended,
    /// The tool asked for a subtask, which this host cannot run yet.
    Continuation,
    /// The call exhausted its fuel.
    FuelExhausted,
    /// The call exceeded its time limit.
    Timeout,
    /// The call exceeded its memory limit.
    MemoryExhausted,
    /// The call recursed too deeply.
    StackOverflow,
    /// The guest trapped.
    Trap,
    /// The output violates the contract or the output schema of the tool.
    InvalidOutput,
    /// The tool used a capability that it was not granted.
    Denied,
    /// The caller cancelled the call.
    Cancelled,
    /// The queue was full.
    Busy,
    /// The host failed.
    HostError,
    /// Refused: the tool is not enabled for the thread.
    Disabled,
    /// Refused: there is no such tool.
    NotFound,
    /// Refused: the arguments are invalid.
    InvalidArguments,
    /// Not run: an earlier call waits for a decision, or a file that the call names no longer exists.
    NotRun,
    /// The call ran, but could not be recorded.
    NotRecorded,
}

impl CallEnding {
    /// Returns the name for tables, metrics and observations.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Suspended => "suspended",
            Self::Continuation => "continuation",
            Self::FuelExhausted => "fuel_exhausted",
            Self::Timeout => "timeout",
            Self::MemoryExhausted => "memory_exhausted",
            Self::StackOverflow => "stack_overflow",
            Self::Trap => "trap",
            Self::InvalidOutput => "invalid_output",
            Self::Denied => "denied",
            Self::Cancelled => "cancelled",
            Self::Busy => "busy",
            Self::HostError => "host_error",
            Self::Disabled => "disabled",
            Self::NotFound => "not_found",
            Self::InvalidArguments => "invalid_arguments",
            Self::NotRun => "not_run",
            Self::NotRecorded => "not_recorded",
        }
    }
}

impl From<&Ending> for CallEnding {
    fn from(ending: &Ending) -> Self {
        match ending {
            Ending::Success(_) => Self::Success,
            Ending::Failure(_) => Self::Failure,
            Ending::Suspended(_) => Self::Suspended,
            Ending::Continuation(_) => Self::Continuation,
            Ending::FuelExhausted { .. } => Self::FuelExhausted,
            Ending::Timeout { .. } => Self::Timeout,
            Ending::MemoryExhausted { .. } => Self::MemoryExhausted,
            Ending::StackOverflow => Self::StackOverflow,
            Ending::Trap { .. } => Self::Trap,
            Ending::InvalidOutput { .. } => Self::InvalidOutput,
            Ending::Denied { .. } => Self::Denied,
            Ending::Cancelled => Self::Cancelled,
            Ending::Busy => Self::Busy,
            Ending::HostError { .. } => Self::HostError,
        }
    }
}
