//! Errors of the commands, and how errors are reported.

use std::path::PathBuf;

use art_core::error::ModelError;
use art_runtime::RuntimeError;
use art_runtime::config::ConfigError;
use art_runtime::error::in_one_line;
use art_runtime::grants::GrantError;
use art_runtime::secrets::SecretError;
use art_sandbox::SandboxError;
use art_staging::StagingError;
use art_store::StoreError;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::render::suggestions;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The runtime failed.
    #[error(transparent)]
    Runtime(RuntimeError),
    /// A file operation failed.
    #[error("failed to {action} `{path}`")]
    File {
        /// The attempted operation, as a verb.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
    /// The grants of a tool, which say what it is allowed to use, cannot be read or written, or are refused.
    #[error(transparent)]
    Grant(#[from] GrantError),
    /// Staged changes of files, which are not made until a person commits them, cannot be read, committed or dropped.
    #[error(transparent)]
    Staging(#[from] StagingError),
    /// The secrets cannot be read or stored.
    #[error(transparent)]
    Secrets(#[from] SecretError),
    /// What the person asks for is invalid, for example an argument of the command line. The text is the message.
    #[error("{0}")]
    Usage(String),
    /// What the person asks for is valid, but failed. The text is the message.
    #[error("{0}")]
    Failed(String),
}

impl CommandError {
    /// Returns the exit code for this error.
    #[must_use]
    pub const fn exit_code(&self) -> Exit {
        match self {
            Self::Runtime(RuntimeError::Store(
                StoreError::UnknownSuspension { .. }
                | StoreError::AlreadyDecided { .. }
                | StoreError::SuspensionExpired { .. }
                | StoreError::SuspensionClosed { .. },
            )) => Exit::Failure,
            Self::Runtime(
                RuntimeError::Config(_)
                | RuntimeError::Sandbox(_)
                | RuntimeError::Store(_)
                | RuntimeError::Model(_)
                | RuntimeError::Secrets(_),
            )
            | Self::Secrets(_) => Exit::Environment,
            // `model` is the error of the model, if that is why there is no plan.
            Self::Runtime(RuntimeError::NotPlanned { model: Some(_), .. }) => Exit::Model,
            Self::Runtime(RuntimeError::NotPlanned { model: None, .. }) => Exit::PlanFault,
            Self::Grant(GrantError::Read { .. } | GrantError::Write { .. } | GrantError::NotPrivate { .. }) => {
                Exit::Environment
            }
            Self::Staging(StagingError::Io { .. } | StagingError::Invalid { .. }) => Exit::Environment,
            Self::Staging(StagingError::Conflicts(_) | StagingError::ContentChanged { .. }) => Exit::Failure,
            Self::Staging(_) => Exit::Usage,
            Self::Runtime(RuntimeError::Plan(_)) | Self::Usage(_) | Self::Grant(_) => Exit::Usage,
            Self::Runtime(_) | Self::File { .. } | Self::Failed(_) => Exit::Failure,
        }
    }

    /// Returns the error as JSON, for programs. Suggested commands have the options of this command line.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let message = in_one_line(self);
        json!({"error": {"message": suggestions::in_text(&message), "code": self.exit_code().name()}})
    }

    /// Returns the error for an unknown conversation.
    pub(crate) fn no_thread(id: &str) -> Self {
        Self::Failed(format!("there is no thread `{id}`; `art thread list` shows all"))
    }

    /// Returns a function that wraps an I/O error with the attempted `action` and the `path`.
    pub fn file(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { action, path, source }
    }
}

/// Adds hints that apply to a command line.
impl From<RuntimeError> for CommandError {
    fn from(error: RuntimeError) -> Self {
        match error {
            RuntimeError::QuestionTooLong { .. } => {
                Self::Usage(format!("{error} (hint: `--attach FILE`, or `/attach FILE` in a chat)"))
            }
            RuntimeError::NoThread { id } => Self::no_thread(&id),
            RuntimeError::ThreadModel { ref thread_id, .. } => Self::Failed(format!(
                "{} (hint: `art thread set {thread_id} model null`, or `--model`)",
                in_one_line(&error)
            )),
            RuntimeError::Staging(error) => Self::Staging(error),
            error => Self::Runtime(error),
        }
    }
}

impl From<ConfigError> for CommandError {
    fn from(error: ConfigError) -> Self {
        Self::Runtime(error.into())
    }
}

impl From<SandboxError> for CommandError {
    fn from(error: SandboxError) -> Self {
        Self::Runtime(error.into())
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        RuntimeError::from(error).into()
    }
}

impl From<ModelError> for CommandError {
    fn from(error: ModelError) -> Self {
        Self::Runtime(error.into())
    }
}
