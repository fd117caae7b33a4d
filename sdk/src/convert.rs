//! What a tool function may take and return.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Outcome, Reply, ToolError, schema};

/// A type that a tool can take as its arguments: one that derives `Deserialize` and `JsonSchema`, or [`NoArgs`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the input of a tool",
    label = "needs `Deserialize` and `JsonSchema`",
    note = "put `#[args]` on the type, or derive `serde::Deserialize` and `schemars::JsonSchema`"
)]
pub trait ToolInput: Sized {
    /// Returns the JSON Schema of the arguments.
    #[doc(hidden)]
    fn schema() -> Value;

    /// Parses the arguments from JSON text.
    #[doc(hidden)]
    fn parse(text: &str) -> Result<Self, serde_json::Error>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> ToolInput for T {
    fn schema() -> Value {
        schema::input_schema::<T>()
    }

    fn parse(text: &str) -> Result<T, serde_json::Error> {
        serde_json::from_str(text)
    }
}

/// The input of a tool that takes no arguments: `fn now(_: NoArgs) -> Result<String>`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoArgs;

// An empty object; derived for `NoArgs` itself it would be `null`. A doc comment would end up in the schema.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

impl ToolInput for NoArgs {
    fn schema() -> Value {
        schema::input_schema::<Nothing>()
    }

    fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text).map(|Nothing {}| Self)
    }
}

/// What a tool can answer with: an output, a [`Reply`] or an [`Outcome`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a tool",
    label = "needs `Serialize` and `JsonSchema`",
    note = "put `#[output]` on the type, or derive `serde::Serialize` and `schemars::JsonSchema`"
)]
pub trait IntoOutcome {
    /// The output of a success.
    type Output: Serialize + JsonSchema;

    /// Ends the call.
    fn into_outcome(self) -> Outcome<Self::Output>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema> IntoOutcome for T {
    type Output = T;

    fn into_outcome(self) -> Outcome<T> {
        Outcome::Success(Reply::new(self))
    }
}

impl<T: Serialize + JsonSchema> IntoOutcome for Reply<T> {
    type Output = T;

    fn into_outcome(self) -> Outcome<T> {
        Outcome::Success(self)
    }
}

impl<T: Serialize + JsonSchema> IntoOutcome for Outcome<T> {
    type Output = T;

    fn into_outcome(self) -> Self {
        self
    }
}

/// An error that converts itself to the [`ToolError`] that the host receives: [`ToolError`], and error types of a tool
/// that choose a code.
///
/// A type without this is reported by its text, with the code [`ErrorCode::Unknown`](crate::ErrorCode::Unknown).
///
/// ```
/// use art_sdk::prelude::*;
///
/// #[derive(Debug)]
/// enum RowError {
///     Missing(u32),
/// }
///
/// impl std::fmt::Display for RowError {
///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
///         let Self::Missing(row) = self;
///         write!(f, "there is no row `{row}`")
///     }
/// }
///
/// impl IntoToolError for RowError {
///     fn into_tool_error(self) -> ToolError {
///         match self {
///             Self::Missing(_) => ToolError::not_found(self),
///         }
///     }
/// }
///
/// #[args]
/// struct In {
///     row: u32,
/// }
///
/// /// Reads a row.
/// #[tool]
/// fn row(input: In) -> Result<String, RowError> {
///     Err(RowError::Missing(input.row))
/// }
///
/// let error = art_sdk::testing::failure(&ROW, json!({"row": 7}));
/// assert_eq!((error.code, error.message.as_str()), (ErrorCode::NotFound, "there is no row `7`"));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool",
    label = "needs `Display`",
    note = "implement `Display` or `std::error::Error` for it, which gives the text, or `art_sdk::IntoToolError`, which also \
            gives the code; or return `art_sdk::Result<Out>`, whose error is `ToolError`: `?` converts other errors into it"
)]
pub trait IntoToolError {
    /// Returns the failure to report.
    fn into_tool_error(self) -> ToolError;
}

impl IntoToolError for ToolError {
    fn into_tool_error(self) -> ToolError {
        self
    }
}

/// What a tool function returns: a `Result`.
#[diagnostic::on_unimplemented(
    message = "a tool returns `Result<Out>`, not `{Self}`",
    label = "should be `Result<{Self}>`",
    note = "a tool that cannot fail returns `Ok(...)`"
)]
pub trait ToolReturn: Fallible {
    /// The output of a success.
    type Output: Serialize + JsonSchema;

    /// Ends the call; `failed` converts an error to the one that the host receives.
    #[doc(hidden)]
    fn finish(self, failed: fn(Self::Error) -> ToolError) -> Outcome<Self::Output>;
}

/// Any `Result`, so that a mistake in its output is not reported a second time for its error.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a tool returns `Result<Out>`, not `{Self}`",
    label = "should be `Result<{Self}>`"
)]
pub trait Fallible {
    /// The error of a failure.
    type Error;
}

impl<T, E> Fallible for Result<T, E> {
    type Error = E;
}

impl<T: IntoOutcome, E> ToolReturn for Result<T, E> {
    type Output = T::Output;

    fn finish(self, failed: fn(E) -> ToolError) -> Outcome<T::Output> {
        match self {
            Ok(value) => value.into_outcome(),
            Err(error) => Outcome::Failure(failed(error)),
        }
    }
}

/// Chooses one of three conversions from an error to a [`ToolError`](crate::ToolError) where the type is known: its
/// own, that of `?`, or by its text. Each is a trait with one more reference, and the compiler takes the first that
/// fits.
pub mod failing {
    use std::fmt::Display;

    use super::IntoToolError;
    use crate::ToolError;

    /// An error, to be asked for its way.
    #[derive(Debug)]
    pub struct Failed<'a, E>(pub &'a E);

    /// By itself.
    #[derive(Debug)]
    pub struct Itself;
    /// As `?` converts it.
    #[derive(Debug)]
    pub struct Converted;
    /// By its text.
    #[derive(Debug)]
    pub struct Text;

    /// The first way.
    pub trait FailsItself {
        /// Picks it.
        fn way(&self) -> Itself {
            Itself
        }
    }
    impl<E: IntoToolError> FailsItself for &&&Failed<'_, E> {}

    /// The second way.
    pub trait FailsConverted {
        /// Picks it.
        fn way(&self) -> Converted {
            Converted
        }
    }
    impl<E: Into<ToolError>> FailsConverted for &&Failed<'_, E> {}

    /// The third way.
    pub trait FailsWithText {
        /// Picks it.
        fn way(&self) -> Text {
            Text
        }
    }
    impl<E: Display> FailsWithText for &Failed<'_, E> {}

    /// No way: the first one then says what is missing.
    pub trait Fails {
        /// Picks the first.
        fn way(&self) -> Itself {
            Itself
        }
    }
    impl<E> Fails for Failed<'_, E> {}

    impl Itself {
        /// Makes the failure.
        pub fn tool_error<E: IntoToolError>(self, error: E) -> ToolError {
            error.into_tool_error()
        }
    }

    impl Converted {
        /// Makes the failure.
        pub fn tool_error<E: Into<ToolError>>(self, error: E) -> ToolError {
            error.into()
        }
    }

    impl Text {
        /// Makes the failure. Errors that keep their causes to themselves write them in this form.
        pub fn tool_error<E: Display>(self, error: E) -> ToolError {
            ToolError::unknown(format_args!("{error:#}"))
        }
    }
}
