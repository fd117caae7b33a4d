//! Errors of the host's commands, and how every error is told.

use std::path::PathBuf;

use art_core::error::ModelError;
use art_runtime::RuntimeError;
use art_runtime::config::ConfigError;
use art_runtime::error::in_one_line;
use art_sandbox::SandboxError;
use art_store::StoreError;
use serde_json::{Value, json};

use crate::exit::Exit;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The library that the program is built on.
    #[error(transparent)]
    Runtime(RuntimeError),
    /// A file cannot be used.
    #[error("failed to {action} `{path}`")]
    File {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
    /// What was asked for makes no sense.
    #[error("{0}")]
    Usage(String),
    /// What was asked for failed.
    #[error("{0}")]
    Failed(String),
}

impl CommandError {
    /// The exit code that tells it to scripts.
    #[must_use]
    pub const fn exit(&self) -> Exit {
        match self {
            Self::Runtime(
                RuntimeError::Config(_) | RuntimeError::Sandbox(_) | RuntimeError::Store(_) | RuntimeError::Model(_),
            ) => Exit::Environment,
            Self::Usage(_) => Exit::Usage,
            Self::Runtime(_) | Self::File { .. } | Self::Failed(_) => Exit::Failure,
        }
    }

    /// The error for programs.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({"error": {"message": in_one_line(self), "code": self.exit().name()}})
    }

    /// There is no conversation of that identifier.
    pub(crate) fn no_thread(id: &str) -> Self {
        Self::Failed(format!("there is no thread `{id}`; `art thread list` shows all"))
    }

    /// A file operation that failed.
    pub fn file(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { action, path, source }
    }
}

/// Adds what to do at a command line.
impl From<RuntimeError> for CommandError {
    fn from(error: RuntimeError) -> Self {
        match error {
            RuntimeError::QuestionTooLong { .. } => {
                Self::Usage(format!("{error} (hint: `--attach FILE`, or `/attach FILE` in a chat)"))
            }
            RuntimeError::NoThread { id } => Self::no_thread(&id),
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
        Self::Runtime(error.into())
    }
}

impl From<ModelError> for CommandError {
    fn from(error: ModelError) -> Self {
        Self::Runtime(error.into())
    }
}
