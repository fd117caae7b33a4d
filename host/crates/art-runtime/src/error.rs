//! Errors of building and using a runtime.

use std::path::PathBuf;

pub use art_core::error::in_one_line;

use art_store::RunState;

use crate::config::ConfigError;

/// A runtime cannot be built, or cannot do what a program asks of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The sandbox cannot start.
    #[error(transparent)]
    Sandbox(#[from] art_sandbox::SandboxError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] art_store::StoreError),
    /// The staged changes cannot be used.
    #[error(transparent)]
    Staging(#[from] art_staging::StagingError),
    /// The model cannot be used.
    #[error(transparent)]
    Model(#[from] art_core::error::ModelError),
    /// A tool that the embedding program offers is refused.
    #[error(transparent)]
    Tool(#[from] art_tools::RegisterError),
    /// The plugins folder exists and cannot be read.
    #[error("failed to read the plugins folder `{path}`")]
    Plugins {
        /// The folder.
        path: PathBuf,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
    /// The plugins folder cannot be watched.
    #[error("failed to watch the plugins folder")]
    Watch(#[source] notify::Error),
    /// A grant that a person approved cannot be made.
    #[error(transparent)]
    Grant(#[from] crate::grants::GrantError),
    /// The secrets cannot be used.
    #[error(transparent)]
    Secrets(#[from] crate::secrets::SecretError),
    /// The question is too long.
    #[error(
        "the question has {chars} characters, and {most} are the most; attach the text as a file and ask about that"
    )]
    QuestionTooLong {
        /// Length of the question in characters.
        chars: usize,
        /// The maximum length in characters.
        most: usize,
    },
    /// The model that a thread names cannot be used.
    #[error(
        "thread `{thread_id}` is set to the model `{model}`, which cannot be used; set it up, give the thread another one, or name one \
         for the question"
    )]
    ThreadModel {
        /// The thread.
        thread_id: String,
        /// The model, `PROVIDER:MODEL`.
        model: String,
        /// Why it cannot be used.
        #[source]
        source: art_core::error::ModelError,
    },
    /// The identifier of a person or a session is empty or too long.
    #[error(
        "the identifier of the {what} has {bytes} bytes, and 1 to {} are allowed; use another one",
        art_store::limits::MAX_NAME_BYTES
    )]
    Identifier {
        /// What the identifier identifies: `user` or `session`.
        what: &'static str,
        /// Length of the identifier in bytes.
        bytes: usize,
    },
    /// The program passed something invalid, such as arguments of a call that nest too deep or a name that no tool can have.
    #[error("{0}")]
    Request(String),
    /// The instance was closed.
    #[error("the instance is closed; create another one")]
    Closed,
    /// A plan that was saved to be run again, or a value of its parameters, cannot be used.
    #[error("{0}")]
    Plan(String),
    /// The model made no usable plan.
    #[error("{message}")]
    NotPlanned {
        /// Why there is no plan.
        message: String,
        /// The error of the model, if that is the cause.
        #[source]
        model: Option<art_core::error::ModelError>,
    },
    /// There is no run with this identifier.
    #[error("there is no run `{id}`")]
    NoRun {
        /// The identifier.
        id: String,
    },
    /// The run cannot be resumed: it has ended, or it waits for a decision in a way that only an earlier version of the host
    /// supported.
    #[error("{}", cannot_resume_message(id, *status))]
    CannotResume {
        /// The run.
        id: String,
        /// How the run ended; [`RunState::Suspended`] if it waits for a decision.
        status: RunState,
    },
    /// The conversation has a run that waits for a decision.
    #[error(
        "thread `{thread_id}` waits for a decision about `{tool}`, with the identifier `{suspension_id}`; decide, go on with run \
         `{trace_id}` or cancel it, or ask in another thread"
    )]
    ThreadWaits {
        /// The conversation.
        thread_id: String,
        /// The run that waits.
        trace_id: String,
        /// The suspension about which the run waits for a decision.
        suspension_id: String,
        /// Name of the tool.
        tool: String,
    },
    /// A decision is invalid for its suspension.
    #[error("this decision about `{suspension_id}` cannot be taken: {problem}")]
    Decision {
        /// The suspension that the decision is about.
        suspension_id: String,
        /// What is wrong with the decision.
        problem: String,
    },
    /// There is no conversation with this identifier.
    #[error("there is no thread `{id}`")]
    NoThread {
        /// The identifier.
        id: String,
    },
    /// Stored data of a run or a conversation is damaged, or a file with a recorded run is invalid or too large.
    #[error("{0}")]
    Damaged(String),
    /// An invariant of the host is violated.
    #[error("internal error of the host: {0}")]
    Internal(String),
}

/// Returns the message that says why a run with this status cannot be resumed, and what to do instead.
fn cannot_resume_message(id: &str, status: RunState) -> String {
    match status {
        RunState::Suspended => format!(
            "run `{id}` waits for the decision of a person, but only an earlier version of the host, which began the \
             run, could accept it; the tool did not act, so ask again"
        ),
        status => format!("run `{id}` has ended with `{}`; ask again instead", status.name()),
    }
}

impl RuntimeError {
    /// Returns whether another host has taken over the thread on which this host worked.
    #[must_use]
    pub const fn is_lost_lease(&self) -> bool {
        matches!(self, Self::Store(art_store::StoreError::LeaseLost { .. }))
    }

    /// Creates an error that reports a violated invariant.
    pub(crate) fn internal(error: impl std::fmt::Display) -> Self {
        Self::Internal(error.to_string())
    }
}
