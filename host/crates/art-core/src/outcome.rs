//! Outcomes of calls in the sandbox, with a variant for each kind of ending.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::JsonObject;
use crate::capability::{Denial, GrantUse};
use crate::error::ToolErrorCode;
use crate::intake::Intake;
use crate::tool::Source;
use crate::usage::ToolUsage;

/// The outcome of a call in the sandbox.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How the call ended.
    pub ending: Ending,
    /// Resources that the call used, measured also if it failed.
    pub usage: ToolUsage,
    /// Log of the call, cut to its limits.
    pub log: CallLog,
    /// What the call took in from outside.
    pub intake: Intake,
    /// What the call was not allowed to do, whatever its ending.
    pub denials: Vec<Denial>,
    /// How the call used its grants.
    pub uses: Vec<GrantUse>,
}

/// How a call ended, with the data of that ending.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// The tool returned an output. It is text, not yet parsed or validated.
    Success(Success),
    /// The tool returned an error.
    Failure(Failure),
    /// The call waits for a person's decision.
    Suspended(Suspension),
    /// The tool asks the host to run a subtask.
    Continuation(SubtaskRequest),
    /// The call used up its fuel or its maximum number of calls into the host.
    FuelExhausted {
        /// The exhausted limit.
        limit: ExhaustedLimit,
    },
    /// The call exceeded its time limit.
    Timeout {
        /// Time limit in milliseconds.
        limit_ms: u64,
    },
    /// The call requested more memory than its limit.
    MemoryExhausted {
        /// The exhausted limit.
        limit: ExhaustedMemory,
    },
    /// The call recursed too deeply.
    StackOverflow,
    /// The guest trapped: it aborted, or violated a rule of WebAssembly.
    Trap {
        /// Message of the engine, cut to a limit.
        message: String,
    },
    /// The output exceeds its limit, or the tool returned something that the tool interface does not allow, such as metadata that
    /// is not JSON.
    InvalidOutput {
        /// The reason.
        reason: String,
    },
    /// The guest called a function that it was not granted and that cannot return an error, or its component is in quarantine,
    /// since it disclosed a decoy secret.
    Denied {
        /// What was denied and the smallest grant that would allow it, or the reason for the quarantine.
        message: String,
    },
    /// The caller cancelled the call.
    Cancelled,
    /// The call was not run, since the queue of waiting calls was full.
    Busy,
    /// The host failed, not the tool.
    HostError {
        /// What failed.
        message: String,
    },
}

impl Ending {
    /// Returns the code and the message of an ending that is an error, and `None` for a success, a suspension or a request for a
    /// subtask.
    #[must_use]
    pub fn error(&self) -> Option<(ToolErrorCode, String)> {
        use ToolErrorCode as Code;
        Some(match self {
            Self::Success(_) | Self::Suspended(_) | Self::Continuation(_) => return None,
            Self::Failure(failure) => (failure.code, failure.message.clone()),
            Self::FuelExhausted { limit } => (Code::FuelExhausted, format!("used up its {limit}")),
            Self::Timeout { limit_ms } => (Code::Timeout, format!("did not finish within {limit_ms} ms")),
            Self::MemoryExhausted { limit } => (Code::MemoryExhausted, format!("asked for more than its {limit}")),
            Self::StackOverflow => (Code::StackOverflow, "recursed too deeply".to_owned()),
            Self::Trap { message } => (Code::Trap, format!("trapped: {message}")),
            Self::InvalidOutput { reason } => (Code::InvalidOutput, format!("returned invalid output: {reason}")),
            Self::Denied { message } => (Code::PermissionDenied, message.clone()),
            Self::Cancelled => (Code::Cancelled, "was cancelled".to_owned()),
            Self::Busy => (
                Code::Busy,
                "was not run: too many calls are waiting, try again later".to_owned(),
            ),
            Self::HostError { message } => (Code::HostError, format!("could not be run: {message}")),
        })
    }

    /// Returns the short name for tables and metrics.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Success(_) => "success",
            Self::Failure(_) => "failure",
            Self::Suspended(_) => "suspended",
            Self::Continuation(_) => "continuation",
            Self::FuelExhausted { .. } => "fuel_exhausted",
            Self::Timeout { .. } => "timeout",
            Self::MemoryExhausted { .. } => "memory_exhausted",
            Self::StackOverflow => "stack_overflow",
            Self::Trap { .. } => "trap",
            Self::InvalidOutput { .. } => "invalid_output",
            Self::Denied { .. } => "denied",
            Self::Cancelled => "cancelled",
            Self::Busy => "busy",
            Self::HostError { .. } => "host_error",
        }
    }
}

/// The kind of an [`Ending`], or the reason why a call was refused or not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndingKind {
    /// The call succeeded with a valid output.
    Success,
    /// The tool returned an error.
    Failure,
    /// The call waits for a person's decision.
    Suspended,
    /// The tool asked for a subtask, which this host cannot run yet.
    Continuation,
    /// The call used up its fuel or its maximum number of calls into the host.
    FuelExhausted,
    /// The call exceeded its time limit.
    Timeout,
    /// The call exceeded its memory limit.
    MemoryExhausted,
    /// The call recursed too deeply.
    StackOverflow,
    /// The guest trapped.
    Trap,
    /// The output exceeds its limit, or violates the tool interface or the output schema of the tool.
    InvalidOutput,
    /// The tool used a capability that it was not granted, or its component is in quarantine.
    Denied,
    /// The caller cancelled the call.
    Cancelled,
    /// The call was not run, since the queue of waiting calls was full.
    Busy,
    /// The host failed.
    HostError,
    /// Refused: the tool is not enabled for the thread.
    Disabled,
    /// Refused: there is no such tool.
    NotFound,
    /// Refused: the arguments are invalid.
    InvalidArguments,
    /// Not run, for example because an earlier call waits for a decision, or because a file that the call names no longer exists.
    NotRun,
    /// The host stopped while the call ran.
    UnknownOutcome,
}

impl EndingKind {
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
            Self::UnknownOutcome => "unknown_outcome",
        }
    }
}

impl From<&Ending> for EndingKind {
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

/// The limit on computation that a call exhausted, with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExhaustedLimit {
    /// Units of fuel.
    Fuel(u64),
    /// Number of calls into the host.
    HostCalls(u64),
}

impl std::fmt::Display for ExhaustedLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fuel(units) => write!(f, "{units} units of fuel"),
            Self::HostCalls(calls) => write!(f, "{calls} calls into the host"),
        }
    }
}

/// The limit on memory that a call exceeded, with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExhaustedMemory {
    /// Bytes of the memories and tables of the tool.
    Guest(u64),
    /// Bytes of the memory of the host for the objects that the tool fills through calls into the host, such as headers, requests
    /// and lists of directories.
    Host(u64),
}

impl std::fmt::Display for ExhaustedMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Guest(bytes) => write!(f, "{bytes} bytes of memory"),
            Self::Host(bytes) => write!(
                f,
                "{bytes} bytes of memory of the host, for requests, lists and staged changes"
            ),
        }
    }
}

/// The result of a successful call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Success {
    /// Output: JSON text, bounded in bytes and not yet parsed.
    pub output: String,
    /// Title: one line for a person.
    pub title: Option<String>,
    /// Sources of the output.
    pub sources: Vec<Source>,
    /// Files that accompany the output.
    pub attachments: Vec<Attachment>,
    /// Further metadata.
    pub metadata: JsonObject,
}

/// A file that accompanies an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// Media type, for example `text/csv`.
    pub media_type: String,
    /// File name that the tool chose; not a path.
    pub filename: Option<String>,
    /// Content.
    pub data: Vec<u8>,
}

/// An error that a tool returned.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// One of the nine codes that a tool may return.
    pub code: ToolErrorCode,
    /// Message for the model.
    pub message: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// Further metadata.
    pub metadata: JsonObject,
}

/// A question to a person, which suspends the call (contract C19).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Suspension {
    /// The question.
    pub message: String,
    /// Details for the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Preview of the effect of an approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview_data: Option<Value>,
    /// The form that the person fills in, as JSON of a [`FeedbackSchema`](crate::hitl::FeedbackSchema); not yet validated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback_schema: Option<Value>,
}

/// A subtask that a tool asks the host to run (contract C93).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubtaskRequest {
    /// Description of the task.
    pub description: String,
    /// Input of the subtask.
    pub inputs: Value,
    /// Names of templates that may fit the subtask, best first.
    #[serde(default)]
    pub template_hints: Vec<String>,
    /// Maximum depth of further subtasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<u32>,
    /// What the subtask inherits and returns (contract C94).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_management: Option<Value>,
}

/// Severity of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum LogLevel {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
}

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogRecord {
    /// Severity.
    pub level: LogLevel,
    /// Text, cut to the limit. It is untrusted.
    pub message: String,
}

/// Log and output streams of a call, bounded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallLog {
    /// The lines of the log, up to the limit.
    pub records: Vec<LogRecord>,
    /// Number of lines dropped after the limit was reached.
    pub dropped: u64,
    /// Standard output of the tool, cut to the limit.
    pub stdout: String,
    /// Standard error of the tool, cut to the limit.
    pub stderr: String,
}

impl CallLog {
    /// Returns whether the call wrote nothing to its log, standard output and standard error.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(text: &str) -> String {
        text.to_owned()
    }

    fn failure() -> Failure {
        Failure {
            code: ToolErrorCode::NotFound,
            message: owned("no such row"),
            retryable: false,
            metadata: JsonObject::new(),
        }
    }

    fn endings_with_an_error() -> Vec<Ending> {
        vec![
            Ending::Failure(failure()),
            Ending::FuelExhausted {
                limit: ExhaustedLimit::Fuel(2_000_000_000),
            },
            Ending::Timeout { limit_ms: 30_000 },
            Ending::MemoryExhausted {
                limit: ExhaustedMemory::Guest(67_108_864),
            },
            Ending::StackOverflow,
            Ending::Trap {
                message: owned("wasm `unreachable` instruction executed"),
            },
            Ending::InvalidOutput {
                reason: owned("1048577 bytes, more than 1048576"),
            },
            Ending::Denied {
                message: owned("file access to `/etc` is not granted"),
            },
            Ending::Cancelled,
            Ending::Busy,
            Ending::HostError {
                message: owned("the disk is full"),
            },
        ]
    }

    fn endings_without_an_error() -> [Ending; 3] {
        let suspension = Suspension {
            message: owned("Send it?"),
            details: None,
            preview_data: None,
            feedback_schema: None,
        };
        let subtask = SubtaskRequest {
            description: owned("read"),
            inputs: Value::Null,
            template_hints: Vec::new(),
            max_depth: None,
            context_management: None,
        };
        [
            Ending::Success(Success::default()),
            Ending::Suspended(suspension),
            Ending::Continuation(subtask),
        ]
    }

    #[test]
    fn each_error_has_its_name_its_code_and_its_text() {
        let line = |ending: &Ending| {
            let (code, text) = ending.error()?;
            let code = serde_json::to_value(code).ok()?;
            Some(format!("{} {} {text}", ending.name(), code.as_str()?))
        };
        let lines: Option<Vec<_>> = endings_with_an_error().iter().map(line).collect();
        insta::assert_snapshot!(lines.unwrap().join("\n"), @r"
        failure NOT_FOUND no such row
        fuel_exhausted FUEL_EXHAUSTED used up its 2000000000 units of fuel
        timeout TIMEOUT did not finish within 30000 ms
        memory_exhausted MEMORY_EXHAUSTED asked for more than its 67108864 bytes of memory
        stack_overflow STACK_OVERFLOW recursed too deeply
        trap TRAP trapped: wasm `unreachable` instruction executed
        invalid_output INVALID_OUTPUT returned invalid output: 1048577 bytes, more than 1048576
        denied PERMISSION_DENIED file access to `/etc` is not granted
        cancelled CANCELLED was cancelled
        busy BUSY was not run: too many calls are waiting, try again later
        host_error HOST_ERROR could not be run: the disk is full
        ");
    }

    #[test]
    fn exhausted_memory_of_the_host_is_told_with_its_figure_and_what_takes_it() {
        let limit = ExhaustedMemory::Host(16_777_216);
        let (_, message) = Ending::MemoryExhausted { limit }.error().unwrap();
        let expected =
            "asked for more than its 16777216 bytes of memory of the host, for requests, lists and staged changes";
        assert_eq!(message, expected);
    }

    #[test]
    fn a_success_a_suspension_and_a_subtask_request_return_no_error() {
        for ending in endings_without_an_error() {
            assert_eq!(ending.error(), None, "{}", ending.name());
        }
    }

    #[test]
    fn no_two_endings_share_a_name_or_a_code() {
        let (errors, others) = (endings_with_an_error(), endings_without_an_error());
        let codes: std::collections::HashSet<_> =
            errors.iter().filter_map(Ending::error).map(|error| error.0).collect();
        assert_eq!(codes.len(), errors.len());
        let names: std::collections::HashSet<_> = errors.iter().chain(&others).map(Ending::name).collect();
        assert_eq!(names.len(), errors.len() + others.len());
    }
}
