//! Errors of the host's commands, and how every error is told.

use std::error::Error;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::config::ConfigError;
use crate::exit::Exit;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The sandbox cannot start.
    #[error(transparent)]
    Sandbox(#[from] art_sandbox::SandboxError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] art_store::StoreError),
    /// The model is not to be had.
    #[error(transparent)]
    Model(#[from] art_core::error::ModelError),
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
            Self::Config(_) | Self::Sandbox(_) | Self::Store(_) | Self::Model(_) => Exit::Environment,
            Self::Usage(_) => Exit::Usage,
            Self::File { .. } | Self::Failed(_) => Exit::Failure,
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

/// The error and its causes, one after the other: `failed to load: the file is empty`.
#[must_use]
pub fn in_one_line(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        // Some libraries repeat the text of their cause.
        if !text.ends_with(&next) {
            text.push_str(": ");
            text.push_str(&next);
        }
        cause = error.source();
    }
    text
}
