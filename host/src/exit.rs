//! Exit codes of `art`. Scripts rely on them; a code never changes its meaning.

use std::process::ExitCode;

use art_core::agent::RunStatus;

/// How the program ended, for scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Everything was done.
    Success = 0,
    /// The request failed.
    Failure = 1,
    /// The command line is wrong. (`clap` uses the same number.)
    Usage = 2,
    /// There is an answer, but a step failed or a limit was hit.
    Partial = 3,
    /// No tool fits the question, so there is no answer.
    NoTool = 4,
    /// A tool call ended in an error.
    ToolError = 5,
    /// The configuration or the store cannot be used.
    Environment = 6,
    /// The run waits for a person.
    Suspended = 7,
    /// The user gave up.
    Cancelled = 130,
}

/// The table that `art --help` shows.
pub const HELP: &str = "\
Exit codes:
  0    everything was done
  1    the request failed
  2    the command line is wrong
  3    there is an answer, but a step failed or a limit was hit
  4    no tool fits the question
  5    a tool call ended in an error
  6    the configuration or the store cannot be used
  7    the run waits for a person
  130  cancelled";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl Exit {
    /// The code of a run that ended with `status` after `tool_calls` calls of tools.
    #[must_use]
    pub const fn of_run(status: RunStatus, tool_calls: u32) -> Self {
        match status {
            RunStatus::Success if tool_calls == 0 => Self::NoTool,
            RunStatus::Success => Self::Success,
            RunStatus::Partial => Self::Partial,
            RunStatus::Error => Self::Failure,
            RunStatus::Suspended => Self::Suspended,
            RunStatus::Cancelled => Self::Cancelled,
        }
    }
}
