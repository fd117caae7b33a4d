//! The report on a call: its result, and what the host knows of it besides.

use std::sync::Arc;
use std::time::Duration;

use art_core::error::ToolErrorCode;
use art_core::outcome::{Attachment, CallLog, Ending};
use art_core::text::truncate;
use art_core::tool::{ParsedToolCall, ToolResult, ToolResultMetadata, ToolStatus};
use art_core::usage::Usage;
use serde::Serialize;

/// Characters of a tool's name in a text.
const MAX_NAME: usize = 200;

/// What came of one call. A batch has one report for each call, in the order of the calls.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolReport {
    /// Result for the model and the journal. `callId` and `toolName` are those of the request.
    pub result: ToolResult,
    /// What the call used; zero if it never ran.
    pub usage: Usage,
    /// How it ended.
    pub ending: CallEnding,
    /// Log of the call, bounded.
    pub log: CallLog,
    /// The files that `result.metadata.attachments` describes, in the same order.
    pub attachments: Arc<[Attachment]>,
    /// From the request to the ending, the wait for a place included.
    pub duration: Duration,
    /// The output as the tool wrote it, for the observation; taken when that is stored.
    pub(crate) text: Option<String>,
}

impl ToolReport {
    /// Creates the report of a call with that result, which used nothing yet.
    pub(crate) fn new(result: ToolResult, ending: CallEnding) -> Self {
        Self {
            result,
            usage: Usage::default(),
            ending,
            log: CallLog::default(),
            attachments: Arc::new([]),
            duration: Duration::ZERO,
            text: None,
        }
    }

    /// Creates the report of a call that failed. `message` is for the model.
    pub(crate) fn error(call: &ParsedToolCall, ending: CallEnding, code: ToolErrorCode, message: String) -> Self {
        let mut result = ToolResult::error(call, code, message);
        result.metadata.retryable = code.is_retryable();
        Self::new(result, ending)
    }

    /// Creates the report of a call that its caller could not give to the tool system. `message` is for the model.
    #[must_use]
    pub fn not_run(call: &ParsedToolCall, code: ToolErrorCode, message: String) -> Self {
        Self::error(call, CallEnding::NotRun, code, message).without_running()
    }

    /// Marks the result as that of a call whose tool never ran.
    pub(crate) fn without_running(mut self) -> Self {
        self.result.metadata.not_run = true;
        self
    }

    /// Replaces everything that a restart would not know of, when the call could not be recorded.
    pub(crate) fn withhold(&mut self) {
        self.ending = CallEnding::NotRecorded;
        self.attachments = Arc::new([]);
        self.result.status = ToolStatus::Error;
        self.result.output = None;
        self.result.code = Some(ToolErrorCode::HostError);
        self.result.error = Some(about(
            &self.result.tool_name,
            "ran, but its result could not be stored and is withheld",
        ));
        self.result.metadata = ToolResultMetadata {
            retryable: ToolErrorCode::HostError.is_retryable(),
            ..ToolResultMetadata::default()
        };
    }
}

/// Returns `Tool "NAME" <text>`. The name comes from a model, so it is cut.
pub(crate) fn about(tool_name: &str, text: &str) -> String {
    format!("Tool \"{}\" {text}", truncate(tool_name, MAX_NAME))
}

/// How a call ended: the endings of a call that ran, and the reasons for which one did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallEnding {
    /// It answered, and the answer is valid.
    Success,
    /// The tool says why it could not answer.
    Failure,
    /// A person has to decide.
    Suspended,
    /// The call requested a subtask, which this host cannot run yet.
    Continuation,
    /// It burnt all its fuel.
    FuelExhausted,
    /// It took too long.
    Timeout,
    /// The call requested too much memory.
    MemoryExhausted,
    /// Its recursion was too deep.
    StackOverflow,
    /// It stopped itself.
    Trap,
    /// The output breaks the contract or the tool's output schema.
    InvalidOutput,
    /// It used a right that it was not granted.
    Denied,
    /// The caller gave up.
    Cancelled,
    /// There was no place in the queue.
    Busy,
    /// The host failed.
    HostError,
    /// Refused: not enabled for the thread.
    Disabled,
    /// Refused: no such tool.
    NotFound,
    /// Refused: its arguments are not valid.
    InvalidArguments,
    /// Not run: a call before it waits for a decision, or a file that it names is gone.
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
