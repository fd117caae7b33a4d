//! Error codes for programs, and their messages for people.

mod message;

use std::error::Error;

use serde::{Deserialize, Serialize};

pub use message::ErrorContext;

/// Code of a failed tool call. A tool may return the codes up to `Unknown` (contract C79); only the host sets the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum ToolErrorCode {
    ValidationError,
    IoError,
    ConfigError,
    PermissionDenied,
    RateLimited,
    NotFound,
    /// The tool asks the model for help.
    LlmAssistRequired,
    Timeout,
    Unknown,
    /// The tool is registered but not enabled for the thread.
    ToolDisabled,
    /// There is no tool of that name.
    ToolNotFound,
    /// The queue of waiting calls is full. The caller may retry.
    Busy,
    FuelExhausted,
    MemoryExhausted,
    StackOverflow,
    Trap,
    InvalidOutput,
    Cancelled,
    /// The host failed, not the tool.
    HostError,
    /// The call needs a feature that this host does not have yet.
    NotImplemented,
    /// The host stopped while the tool ran, so it is not known whether the call took effect.
    UnknownOutcome,
}

impl ToolErrorCode {
    /// Returns whether the same call may succeed later.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::RateLimited | Self::Timeout | Self::Busy | Self::IoError)
    }
}

/// Code of a failed model call (contract C82). `ToolsNotSupported` is an addition of this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
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
    /// The model does not support function calls. It may still answer if its prompt lists the tools as text.
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

/// A failed model call (contract C83).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
pub struct ModelError {
    /// Code. On the wire its key is `error`; `code` is accepted as well.
    #[serde(rename = "error", alias = "code")]
    pub code: ModelErrorCode,
    /// One sentence for a person, without secrets.
    pub message: String,
    /// Delay that the provider asks for before a retry, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// Whether it is certain that the model has not read the request, because no connection was made or the provider refused the
    /// request. No tokens are counted for such a request.
    #[serde(rename = "unread", default, skip_serializing_if = "std::ops::Not::not")]
    pub request_not_read: bool,
}

/// A retry that is about to be made, because a model call failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RetryContext {
    /// Number of the retry, from 1.
    pub attempt: u32,
    /// Maximum number of retries of the call.
    pub max_retries: u32,
    /// Delay before the retry, in milliseconds.
    pub delay_ms: u64,
    /// Code of the failed attempt.
    pub error: ModelErrorCode,
    /// Message of the failed attempt, without secrets.
    pub message: String,
}

/// Code of a failed run (contract C72).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum ErrorCode {
    InvalidConfig,
    StorageError,
    ThreadNotFound,
    LlmProviderError,
    /// The prompt of a model call could not be written.
    PromptGenerationFailed,
    /// The parts of a prompt do not fit together.
    PromptAssemblyFailed,
    /// A prompt names an instruction text that does not exist.
    PromptFragmentNotFound,
    /// A prompt has faults, so that it is not sent.
    PromptValidationFailed,
    /// A prompt cannot be written in the format of the provider.
    PromptTranslationFailed,
    OutputParsingFailed,
    PlanningFailed,
    ToolExecutionFailed,
    /// The answer could not be written from the results.
    SynthesisFailed,
    /// The host could not continue the run.
    AgentProcessingError,
    NotImplemented,
    Cancelled,
    UnknownError,
}

/// The error of a failed run (contract C71).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ArtError {
    /// Code.
    pub code: ErrorCode,
    /// Message: what went wrong and what to do about it.
    pub message: String,
    /// Phase in which the run failed, for example `planning` or `synthesis`.
    pub phase: String,
}

/// Returns the message of an error followed by those of its causes: `failed to load: the file is empty`.
#[must_use]
pub fn in_one_line(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        // Some libraries repeat the message of the cause.
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
    struct TestError(&'static str, #[source] Option<Box<TestError>>);

    #[test]
    fn causes_follow_without_repeating_a_message() {
        let cause = |text, cause| Some(Box::new(TestError(text, cause)));
        let error = TestError("failed to load", cause("the file: is empty", cause("is empty", None)));
        assert_eq!(in_one_line(&error), "failed to load: the file: is empty");
    }
}
