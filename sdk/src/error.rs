//! The error of a failed call.

use std::error::Error;
use std::fmt::{self, Display};
use std::io;

use serde_json::{Map, Value};

/// The result of a tool: its output, or a [`ToolError`].
pub type Result<T, E = ToolError> = core::result::Result<T, E>;

/// The kind of a failure, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// The arguments do not fit the input type of the tool, or they fit it but make no sense to the tool.
    ValidationError,
    /// Reading or writing failed.
    IoError,
    /// The tool is misconfigured.
    ConfigError,
    /// The tool lacks a permission. Calling again cannot help.
    PermissionDenied,
    /// A rate limit was reached.
    RateLimited,
    /// Something that the arguments name does not exist.
    NotFound,
    /// The tool asks the model for help: to decide or to rephrase something.
    LlmAssistRequired,
    /// The tool waited too long for something.
    Timeout,
    /// Any other failure.
    Unknown,
}

impl ErrorCode {
    /// Returns the name of the code in the contract (`wit/tool.wit`), for example `validation-error`.
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

/// The error of a failed call.
///
/// The operator `?` converts any [`std::error::Error`] to a `ToolError`. The code is [`ErrorCode::Unknown`], except that an
/// [`io::Error`] gets the code for its kind. To choose another code, pass a constructor to `map_err`:
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
/// The type does not implement [`std::error::Error`] itself: the conversion from any error would then also convert a `ToolError`
/// to a `ToolError`, for which the standard library already has a conversion.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolError {
    /// The kind of the failure, for programs.
    pub code: ErrorCode,
    /// One sentence for the model: what is wrong and what to change.
    pub message: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// Additional fields, for programs.
    pub metadata: Map<String, Value>,
}

impl ToolError {
    /// Creates an error that is not retryable.
    pub fn new(code: ErrorCode, message: impl Display) -> Self {
        Self {
            code,
            message: message.to_string(),
            retryable: false,
            metadata: Map::new(),
        }
    }

    /// Creates an error for arguments that have the right shape but make no sense to the tool.
    pub fn validation(message: impl Display) -> Self {
        Self::new(ErrorCode::ValidationError, message)
    }

    /// Creates an error for a failed read or write.
    pub fn io(message: impl Display) -> Self {
        Self::new(ErrorCode::IoError, message)
    }

    /// Creates an error for a tool that is misconfigured.
    pub fn config(message: impl Display) -> Self {
        Self::new(ErrorCode::ConfigError, message)
    }

    /// Creates an error for a missing permission.
    pub fn permission_denied(message: impl Display) -> Self {
        Self::new(ErrorCode::PermissionDenied, message)
    }

    /// Creates a retryable error for a rate limit that was reached.
    pub fn rate_limited(message: impl Display) -> Self {
        Self::new(ErrorCode::RateLimited, message).retryable()
    }

    /// Creates an error for something that the arguments name and that does not exist.
    pub fn not_found(message: impl Display) -> Self {
        Self::new(ErrorCode::NotFound, message)
    }

    /// Creates an error that asks the model for help: to decide or to rephrase something.
    pub fn llm_assist(message: impl Display) -> Self {
        Self::new(ErrorCode::LlmAssistRequired, message)
    }

    /// Creates a retryable error for something that took too long.
    pub fn timeout(message: impl Display) -> Self {
        Self::new(ErrorCode::Timeout, message).retryable()
    }

    /// Creates an error for a failure that no other code describes.
    pub fn unknown(message: impl Display) -> Self {
        Self::new(ErrorCode::Unknown, message)
    }

    /// Marks the error as retryable: the same call may succeed later.
    #[must_use]
    pub fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }

    /// Adds one field to the metadata.
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
        let io_error = (&error as &dyn Error).downcast_ref::<io::Error>();
        let code = io_error.map_or(ErrorCode::Unknown, |error| io_error_code(error.kind()));
        let mut text = message_with_sources(&error);
        if io_error.is_some_and(|error| error.kind() == io::ErrorKind::Unsupported) {
            text.push_str(
                " (a tool can use files only with `wasi = true` and a grant, can send requests only through \
                 `art_sdk::http`, and cannot start processes; otherwise, pass the data in as an argument)",
            );
        }
        let error = Self::new(code, text);
        if code == ErrorCode::Timeout {
            error.retryable()
        } else {
            error
        }
    }
}

pub(crate) fn io_error_code(kind: io::ErrorKind) -> ErrorCode {
    match kind {
        io::ErrorKind::NotFound => ErrorCode::NotFound,
        io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
        io::ErrorKind::TimedOut => ErrorCode::Timeout,
        _ => ErrorCode::IoError,
    }
}

/// Returns the texts of the error and of its sources in one line, because the text of a source often contains the
/// helpful part.
fn message_with_sources(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let part = error.to_string();
        // Many errors already include the text of their source.
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
    fn an_io_error_gets_the_code_of_its_kind() {
        let code = |kind| ToolError::from(io::Error::from(kind)).code;
        assert_eq!(code(io::ErrorKind::NotFound), ErrorCode::NotFound);
        assert_eq!(code(io::ErrorKind::PermissionDenied), ErrorCode::PermissionDenied);
        assert_eq!(code(io::ErrorKind::BrokenPipe), ErrorCode::IoError);
        assert!(ToolError::from(io::Error::from(io::ErrorKind::TimedOut)).retryable);
    }

    #[test]
    fn an_unsupported_operation_is_reported_with_an_alternative() {
        let error = ToolError::from(io::Error::from(io::ErrorKind::Unsupported));
        assert!(
            error.message.ends_with("pass the data in as an argument)"),
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
    fn an_error_can_be_made_retryable_and_get_metadata() {
        let error = ToolError::not_found("no row `7`").retryable().metadata("row", 7);
        assert_eq!(error.to_string(), "not-found: no row `7`");
        assert!(error.retryable);
        assert_eq!(error.metadata["row"], 7);
    }
}
