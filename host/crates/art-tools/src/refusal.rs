//! The reasons why a tool is not registered.

use std::fmt;

use art_core::limits::LimitTooHigh;

use crate::admission::SchemaProblem;
use crate::form::FormProblem;

/// Maximum size of a tool's description and input schema together, in bytes. A prompt of a model may have to contain both.
pub const MAX_PROMPT_BYTES: usize = 16 << 10;
/// Maximum size of a tool's examples as compact JSON, in bytes. A prompt contains only a few short examples. But the lexical
/// model, which is built into the host and finds the tool whose examples are like a question, may read all of them.
pub const MAX_EXAMPLE_BYTES: usize = 192 << 10;

/// The reason why a tool is not registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// The name is empty or not allowed. The contract prescribes the text (contract T1).
    #[error("Invalid tool executor provided for registration.")]
    InvalidExecutor {
        /// The invalid name.
        source: InvalidName,
    },
    /// Another tool has the same name, or one that differs only in `_` and `-`.
    #[error("tool `{name}` of `{new_owner}` is not registered: `{owner}` already has the tool `{existing}`")]
    Duplicate {
        /// Name of the refused tool.
        name: String,
        /// Name of the tool that is already registered.
        existing: String,
        /// Owner of the tool that is already registered.
        owner: String,
        /// Owner of the refused tool.
        new_owner: String,
    },
    /// A schema of the tool is not valid, or [`admission`](crate::admission) refuses it, for example because it costs too much to
    /// apply.
    #[error("the {kind} is refused: {problem}")]
    Schema {
        /// Which schema is refused.
        kind: SchemaKind,
        /// The reason.
        problem: SchemaProblem,
    },
    /// The settings of the tool for its questions to a person are refused (contract C16).
    #[error("the question to a person is refused: {problem}")]
    Form {
        /// The reason.
        problem: FormProblem,
    },
    /// An example violates a schema of its tool.
    #[error("example {index} does not match the {kind}: {message}")]
    Example {
        /// Index of the example, from 0.
        index: usize,
        /// Which schema the example violates.
        kind: SchemaKind,
        /// The violations, or why the example is too large.
        message: String,
    },
    /// The description and the input schema are too long for a prompt (contract D06).
    #[error("description and input schema of `{name}` have {bytes} bytes, more than {MAX_PROMPT_BYTES}")]
    PromptTooLong {
        /// Name of the tool.
        name: String,
        /// Total size in bytes.
        bytes: usize,
    },
    /// The examples are too long.
    #[error("the examples of `{name}` have {bytes} bytes, more than {MAX_EXAMPLE_BYTES}: leave some out")]
    ExamplesTooLong {
        /// Name of the tool.
        name: String,
        /// Total size in bytes.
        bytes: usize,
    },
    /// The tool requests a limit above the host's maximum.
    #[error("tool `{name}` is not registered: {problem}")]
    Limits {
        /// Name of the tool.
        name: String,
        /// The limit that is too high.
        problem: LimitTooHigh,
    },
}

/// The error for a name that does not match `^[a-z][a-z0-9_-]{0,63}$`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name `{0}` must be a lower-case letter, then up to 63 lower-case letters, digits, underscores or hyphens")]
pub struct InvalidName(
    /// The name, shortened.
    pub String,
);

/// The schemas that a tool can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaKind {
    /// `inputSchema`.
    Input,
    /// `outputSchema`.
    Output,
    /// `displayConfig.dataSchema`.
    DisplayData,
}

impl fmt::Display for SchemaKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Input => "input schema",
            Self::Output => "output schema",
            Self::DisplayData => "schema of the displayed data",
        })
    }
}
