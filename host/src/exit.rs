//! Exit codes of `art`. Scripts rely on them, so a code never changes its meaning.

use std::process::ExitCode;

use art_agent::RunReport;
use art_core::agent::RunStatus;
use art_runtime::Answer;

/// An exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// The command succeeded.
    Success = 0,
    /// The command failed for a reason that has no code of its own.
    Failure = 1,
    /// The command line is wrong. (`clap` uses the same number.)
    Usage = 2,
    /// There is an answer, but a step failed, a part of the question has no tool, or a limit was hit.
    Partial = 3,
    /// No tool fits the question, so there is no answer.
    NoTool = 4,
    /// A tool call ended in an error.
    ToolError = 5,
    /// The configuration or the store cannot be used.
    Environment = 6,
    /// The run waits for a decision of a person.
    Suspended = 7,
    /// The model gave no answer: its provider refused or could not be reached.
    Model = 8,
    /// The answer could not be written to stdout.
    StdoutFailed = 9,
    /// `art plan` got no usable plan, or the check of a plan found faults; nothing was run.
    PlanFault = 10,
    /// The user cancelled the run.
    Cancelled = 130,
    /// The reader of the answer closed its pipe before the end. (A shell reports the same code for a process that SIGPIPE
    /// ends.)
    StdoutClosed = 141,
}

/// The table that `art --help` shows.
pub const HELP: &str = "\
Exit codes:
  0    everything was done
  1    the request failed
  2    the command line is wrong
  3    there is an answer, but a step failed, a part has no tool, or a limit was hit
  4    no tool fits the question
  5    a tool call ended in an error
  6    the configuration or the store cannot be used
  7    the run waits for a decision of a person
  8    the model gave no answer: its provider refused or could not be reached
  9    the answer could not be written
  10   `art plan` got no usable plan, or the check of a plan found faults; nothing was run
  130  cancelled
  141  the reader of the answer closed its pipe before the end";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl Exit {
    /// Returns the name of the code in JSON output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Usage => "usage",
            Self::Partial => "partial",
            Self::NoTool => "no_tool",
            Self::ToolError => "tool_error",
            Self::Environment => "environment",
            Self::Suspended => "suspended",
            Self::Model => "model",
            Self::StdoutFailed => "unwritten",
            Self::PlanFault => "plan_fault",
            Self::Cancelled => "cancelled",
            Self::StdoutClosed => "unread",
        }
    }

    /// Returns the worse of two codes, for the exit code of a chat with several questions.
    #[must_use]
    pub const fn worse(self, other: Self) -> Self {
        if other.severity() > self.severity() {
            other
        } else {
            self
        }
    }

    /// Returns the rank of a code. A partial result is worse than a question that no tool fits, and a failure is worse than both.
    const fn severity(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::NoTool => 1,
            Self::Partial => 2,
            Self::Suspended => 3,
            Self::ToolError => 4,
            Self::PlanFault => 5,
            Self::Usage => 6,
            Self::Failure => 7,
            Self::Model => 8,
            Self::Environment => 9,
            Self::StdoutFailed => 10,
            Self::StdoutClosed => 11,
            Self::Cancelled => 12,
        }
    }

    /// Returns the exit code for a question that was asked. `tools_only` means that the model can answer only with tools.
    #[must_use]
    pub fn for_answer(answer: &Answer, tools_only: bool) -> Self {
        match answer.report.model_failure() {
            Some(_) => Self::Model,
            None => Self::for_report(&answer.report, tools_only),
        }
    }

    /// Returns the exit code for the report of a run whose model did not fail.
    #[must_use]
    pub fn for_report(report: &RunReport, tools_only: bool) -> Self {
        let metadata = &report.response.metadata;
        match metadata.status {
            RunStatus::Success if tools_only && metadata.tool_calls == 0 && has_no_steps(report) => Self::NoTool,
            RunStatus::Success => Self::Success,
            RunStatus::Partial => Self::Partial,
            RunStatus::Error => Self::Failure,
            RunStatus::Suspended => Self::Suspended,
            RunStatus::Cancelled => Self::Cancelled,
        }
    }
}

/// Returns whether the plan has no steps for this question.
fn has_no_steps(report: &RunReport) -> bool {
    report.items.is_empty()
}
