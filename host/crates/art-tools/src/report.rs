//! The report on a call, next to its result.

use std::sync::Arc;
use std::time::Duration;

use art_core::outcome::{Attachment, CallLog, Ending};
use art_core::tool::ToolResult;
use art_core::usage::Usage;
use serde::Serialize;

/// One call, answered. A batch has one report for each call, in its order.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolReport {
    /// Result for the model and the wire. `callId` and `toolName` are those of the request.
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
    /// Not run, because a call before it waits for a decision.
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
