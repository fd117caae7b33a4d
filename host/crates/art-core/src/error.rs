//! Codes for every error, as programs read them.

mod message;

use std::error::Error;

use serde::{Deserialize, Serialize};

pub use message::ErrorContext;

/// Why a tool call failed. The first nine are those that a tool may give (C79); the others are endings that only a sandbox knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ToolErrorCode {
    ValidationError,
    IoError,
    ConfigError,
    PermissionDenied,
    RateLimited,
    NotFound,
    LlmAssistRequired,
    Timeout,
    Unknown,
    /// The tool is registered but not enabled for the thread.
    ToolDisabled,
    /// No tool of that name.
    ToolNotFound,
    /// The queue is full; the call may be made again.
    Busy,
    FuelExhausted,
    MemoryExhausted,
    StackOverflow,
    Trap,
    InvalidOutput,
    Cancelled,
    /// The host failed, not the tool.
    HostError,
    /// The call needs something that this host cannot do yet.
    NotImplemented,
}

impl ToolErrorCode {
    /// Returns whether the same call may succeed later without a change.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::RateLimited | Self::Timeout | Self::Busy | Self::IoError)
    }
}

/// Why a model call failed: the codes of a model call (C82), and one of this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ModelErrorCode {
    ProviderNotConfigured,
    ProviderNotSupported,
    AuthenticationError,
    RateLimited,
    ModelNotFound,
    ContextLengthExceeded,
    NetworkError,
    Timeout,
    InvalidResponse,
    /// The model takes no function calls; asked in text it may answer.
    ToolsNotSupported,
    Unknown,
}

impl ModelErrorCode {
    /// Returns whether the same request may succeed later.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::RateLimited | Self::NetworkError | Self::Timeout)
    }
}

/// A failed model call (C83).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
pub struct ModelError {
    /// Code; `error` on the wire, where `code` is accepted as well.
    #[serde(rename = "error", alias = "code")]
    pub code: ModelErrorCode,
    /// One sentence for a person, without secrets.
    pub message: String,
    /// The wait that the provider asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

/// A retry that is about to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RetryContext {
    /// Which retry it is, from 1.
    pub attempt: u32,
    /// Retries that a call may have.
    pub max_retries: u32,
    /// Milliseconds until it is made.
    pub delay_ms: u64,
    /// Why the attempt before it failed.
    pub error: ModelErrorCode,
    /// The same in words, without secrets.
    pub message: String,
}

/// Why a run failed as a whole (C72).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ErrorCode {
    InvalidConfig,
    StorageError,
    ThreadNotFound,
    LlmProviderError,
    PromptGenerationFailed,
    PromptAssemblyFailed,
    PromptFragmentNotFound,
    PromptValidationFailed,
    PromptTranslationFailed,
    OutputParsingFailed,
    PlanningFailed,
    ToolExecutionFailed,
    SynthesisFailed,
    AgentProcessingError,
    NotImplemented,
    Cancelled,
    UnknownError,
}

/// A failed run (C71).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ArtError {
    /// Code.
    pub code: ErrorCode,
    /// What went wrong and what to do.
    pub message: String,
    /// Phase of the run.
    pub phase: String,
}

/// Joins the text of an error and those of its causes, one after the other: `failed to load: the file is empty`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Told(&'static str, #[source] Option<Box<Told>>);

    #[test]
    fn causes_follow_and_what_was_told_already_is_not_told_again() {
        let cause = |text, cause| Some(Box::new(Told(text, cause)));
        let error = Told("failed to load", cause("the file: is empty", cause("is empty", None)));
        assert_eq!(in_one_line(&error), "failed to load: the file: is empty");
    }
}
