//! Errors of building and asking a runtime.

use std::path::PathBuf;

pub use art_core::error::in_one_line;

use crate::config::ConfigError;

/// A runtime cannot be built, or a question cannot be asked.
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
    /// The model cannot be used.
    #[error(transparent)]
    Model(#[from] art_core::error::ModelError),
    /// A tool of the program is refused.
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
    /// The question is too long.
    #[error(
        "the question has {chars} characters, and {most} are the most; attach the text as a file and ask about that"
    )]
    QuestionTooLong {
        /// Its length in characters.
        chars: usize,
        /// The maximum length in characters.
        most: usize,
    },
    /// A kept plan or the values of its parameters cannot be used.
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
    /// There is no conversation with this identifier.
    #[error("there is no thread `{id}`")]
    NoThread {
        /// The identifier.
        id: String,
    },
    /// Stored data of a run or a conversation is damaged.
    #[error("{0}")]
    Damaged(String),
    /// Reports a violated invariant.
    #[error("internal error of the host: {0}")]
    Internal(String),
}

impl RuntimeError {
    /// Creates an error that reports a violated invariant.
    pub(crate) fn internal(error: impl std::fmt::Display) -> Self {
        Self::Internal(error.to_string())
    }
}
