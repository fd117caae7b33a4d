//! Why a call failed.

use std::error::Error;
use std::fmt::{self, Display};
use std::io;

use serde_json::{Map, Value};

/// What a tool returns: the answer, or a [`ToolError`].
pub type Result<T, E = ToolError> = core::result::Result<T, E>;

/// Why a call failed, for programs. The host decides from it whether to call again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// The arguments have the right shape but make no sense to the tool.
    ValidationError,
    /// Reading or writing failed.
    IoError,
    /// The tool is set up wrongly.
    ConfigError,
    /// The tool lacks a right. Calling again cannot help.
    PermissionDenied,
    /// Too many calls in too short a time.
    RateLimited,
    /// Creates the error for something that the arguments name and that does not exist.
    NotFound,
    /// The tool needs the model to decide or to rephrase.
    LlmAssistRequired,
    /// Something the tool waited for took too long.
    Timeout,
    /// None of the above.
    Unknown,
}

impl ErrorCode {
    /// Returns the name used in the contract, for example `validation-error`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ValidationError => "validation-error",
            Self::IoError => "io-error",
            Self::ConfigError => "config-error",
            Self::PermissionDenied => "permission-denied",
            Self::RateLimited => "rate-limited",
            Self::NotFound => "not-found",
            Self::LlmAssistRequired => "llm-assist-required",
            Self::Timeout => "timeout",
            Self::Unknown => "unknown",
        }
    }
}

impl Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A call that failed.
///
/// Any [`std::error::Error`] becomes one through `?`, with the code [`ErrorCode::Unknown`], or one that fits better if
/// it is an [`io::Error`]. To choose the code, pass the constructor to `map_err`:
///
/// ```
/// use art_sdk::prelude::*;
///
/// fn port(text: &str) -> Result<u16> {
///     text.parse().map_err(ToolError::validation)
/// }
///
/// assert_eq!(port("many").unwrap_err().code, ErrorCode::ValidationError);
/// ```
///
/// It does not implement [`std::error::Error`] itself: that is what makes the conversion from every error possible.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolError {
    /// Why, for programs.
    pub code: ErrorCode,
    /// One sentence for the model: what is wrong and what to change.
    pub message: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// Further fields for programs.
    pub metadata: Map<String, Value>,
}

impl ToolError {
    /// Creates a failure that calling again with the same arguments will not cure.
    pub fn new(code: ErrorCode, message: impl Display) -> Self {
        Self {
            code,
            message: message.to_string(),
            retryable: false,
            metadata: Map::new(),
        }
    }

    /// Creates the error for arguments that have the right shape but make no sense.
    pub fn validation(message: impl Display) -> Self {
        Self::new(ErrorCode::ValidationError, message)
    }

    /// Creates the error for failed reading or writing.
    pub fn io(message: impl Display) -> Self {
        Self::new(ErrorCode::IoError, message)
    }

    /// Creates the error for a tool that is set up wrongly.
    pub fn config(message: impl Display) -> Self {
        Self::new(ErrorCode::ConfigError, message)
    }

    /// Creates the error for a missing right.
    pub fn permission_denied(message: impl Display) -> Self {
        Self::new(ErrorCode::PermissionDenied, message)
    }

    /// Creates the error for too many calls in too short a time; retryable.
    pub fn rate_limited(message: impl Display) -> Self {
        Self::new(ErrorCode::RateLimited, message).retryable()
    }

    /// Creates the error for something that the arguments name and that does not exist.
    pub fn not_found(message: impl Display) -> Self {
        Self::new(ErrorCode::NotFound, message)
    }

    /// Creates the error for a decision or a rephrasing that the tool needs from the model.
    pub fn llm_assist(message: impl Display) -> Self {
        Self::new(ErrorCode::LlmAssistRequired, message)
    }

    /// Creates the error for something that took too long; retryable.
    pub fn timeout(message: impl Display) -> Self {
        Self::new(ErrorCode::Timeout, message).retryable()
    }

    /// Creates the error for everything that no other code fits.
    pub fn unknown(message: impl Display) -> Self {
        Self::new(ErrorCode::Unknown, message)
    }

    /// Says that the same call may succeed later.
    #[must_use]
    pub fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }

    /// Adds one fact for programs.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }
}

impl Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl<E: Error + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        let io = (&error as &dyn Error).downcast_ref::<io::Error>();
        let code = io.map_or(ErrorCode::Unknown, |error| code_of(error.kind()));
        let mut text = chain(&error);
        if io.is_some_and(|error| error.kind() == io::ErrorKind::Unsupported) {
            text.push_str(" (a tool has no files, network or processes: take what it needs as an argument)");
        }
        let error = Self::new(code, text);
        if code == ErrorCode::Timeout {
            error.retryable()
        } else {
            error
        }
    }
}

fn code_of(kind: io::ErrorKind) -> ErrorCode {
    match kind {
        io::ErrorKind::NotFound => ErrorCode::NotFound,
        io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
        io::ErrorKind::TimedOut => ErrorCode::Timeout,
        _ => ErrorCode::IoError,
    }
}

/// Returns the error and its sources in one line, because a source often holds the part that helps.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let part = error.to_string();
        // Many errors print their source themselves.
        if !text.ends_with(&part) {
            text.push_str(": ");
            text.push_str(&part);
        }
        source = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_mark_converts_any_error() {
        fn parse() -> Result<u32> {
            Ok("x".parse::<u32>()?)
        }
        let error = parse().unwrap_err();
        assert_eq!((error.code, error.retryable), (ErrorCode::Unknown, false));
        assert_eq!(error.message, "invalid digit found in string");
    }

    #[test]
    fn an_io_error_keeps_its_meaning() {
        let code = |kind| ToolError::from(io::Error::from(kind)).code;
        assert_eq!(code(io::ErrorKind::NotFound), ErrorCode::NotFound);
        assert_eq!(code(io::ErrorKind::PermissionDenied), ErrorCode::PermissionDenied);
        assert_eq!(code(io::ErrorKind::BrokenPipe), ErrorCode::IoError);
        assert!(ToolError::from(io::Error::from(io::ErrorKind::TimedOut)).retryable);
    }

    #[test]
    fn what_a_tool_cannot_reach_is_told_with_what_to_do_instead() {
        let error = ToolError::from(io::Error::from(io::ErrorKind::Unsupported));
        assert!(
            error.message.ends_with("take what it needs as an argument)"),
            "{}",
            error.message
        );
        let error = ToolError::from(io::Error::from(io::ErrorKind::NotFound));
        assert!(!error.message.contains("argument"), "{}", error.message);
    }

    #[test]
    fn sources_are_part_of_the_message() {
        #[derive(Debug)]
        struct Outer(std::num::ParseIntError);
        impl Display for Outer {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bad port")
            }
        }
        impl Error for Outer {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                Some(&self.0)
            }
        }
        let error = ToolError::from(Outer("".parse::<u8>().unwrap_err()));
        assert_eq!(error.message, "bad port: cannot parse integer from empty string");
    }

    #[test]
    fn builders_set_one_thing_each() {
        let error = ToolError::not_found("no row `7`").retryable().metadata("row", 7);
        assert_eq!(error.to_string(), "not-found: no row `7`");
        assert!(error.retryable);
        assert_eq!(error.metadata["row"], 7);
    }
}
