//! Why a tool is not registered.

use std::fmt;

use art_core::limits::LimitTooHigh;

use crate::admission::SchemaProblem;

/// Bytes of a tool's description and input schema together: what a prompt may have to carry.
pub const MAX_PROMPT_BYTES: usize = 16 << 10;
/// Bytes of a tool's examples together. A prompt carries only a few short ones; the embedded model learns from all.
pub const MAX_EXAMPLE_BYTES: usize = 64 << 10;

/// Why a tool is not registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// No name, or one that is not allowed (T1).
    #[error("Invalid tool executor provided for registration.")]
    InvalidExecutor {
        /// The name.
        source: InvalidName,
    },
    /// Another tool has the name.
    #[error("tool `{name}` of `{newcomer}` is not registered: `{owner}` already has a tool of that name")]
    Duplicate {
        /// The name.
        name: String,
        /// Owner of the tool with that name.
        owner: String,
        /// Owner of the refused tool.
        newcomer: String,
    },
    /// A schema is not admitted or not valid.
    #[error("the {part} is refused: {problem}")]
    Schema {
        /// Which schema.
        part: Part,
        /// Why.
        problem: SchemaProblem,
    },
    /// An example breaks the schema that it is an example of.
    #[error("example {index} does not match the {part}: {message}")]
    Example {
        /// Position, from 0.
        index: usize,
        /// Which schema.
        part: Part,
        /// The violations.
        message: String,
    },
    /// It would take too much of every prompt (D06).
    #[error("description and input schema of `{name}` have {bytes} bytes, more than {MAX_PROMPT_BYTES}")]
    PromptTooLong {
        /// The tool.
        name: String,
        /// How many.
        bytes: usize,
    },
    /// Its examples would take too long to check, and to learn from.
    #[error("the examples of `{name}` have {bytes} bytes, more than {MAX_EXAMPLE_BYTES}: leave some out")]
    ExamplesTooLong {
        /// The tool.
        name: String,
        /// How many.
        bytes: usize,
    },
    /// The tool requests more than the maximum of the host.
    #[error("tool `{name}` is not registered: {problem}")]
    Limits {
        /// The tool.
        name: String,
        /// Which limit.
        problem: LimitTooHigh,
    },
}

/// A name that is not `^[a-z][a-z0-9_-]{0,63}$`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name `{0}` is not a lower-case letter and up to 63 lower-case letters, digits, underscores and hyphens")]
pub struct InvalidName(
    /// The name, shortened.
    pub String,
);

/// One of the schemas of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// `inputSchema`.
    Input,
    /// `outputSchema`.
    Output,
    /// `displayConfig.dataSchema`.
    DisplayData,
    /// `blockingConfig.feedbackSchema.customSchema`.
    Feedback,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Input => "input schema",
            Self::Output => "output schema",
            Self::DisplayData => "schema of the displayed data",
            Self::Feedback => "schema of the feedback",
        })
    }
}
