//! The types that a tool function may take and return.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Outcome, Reply, ToolError, json, schema};

/// A type that can be the input of a tool: one that derives `Deserialize` and `JsonSchema`, or [`NoArgs`].
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
        serde_json::from_str(text).or_else(|error| match json::with_integers(text) {
            Cow::Borrowed(_) => Err(error),
            Cow::Owned(text) => serde_json::from_str(&text),
        })
    }
}

/// The input of a tool that takes no arguments: `fn now(_: NoArgs) -> Result<String>`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoArgs;

// Gives the schema of an empty object; a derive on `NoArgs` itself would give `null`. Not a doc comment, because that
// would become a description in the schema.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EmptyObject {}

impl ToolInput for NoArgs {
    fn schema() -> Value {
        schema::input_schema::<EmptyObject>()
    }

    fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text).map(|EmptyObject {}| Self)
    }
}

/// A type that a tool can return on success: an output, a [`Reply`] or an [`Outcome`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a tool",
    label = "needs `Serialize` and `JsonSchema`",
    note = "put `#[output]` on the type, or derive `serde::Serialize` and `schemars::JsonSchema`"
)]
pub trait IntoOutcome {
    /// The output of a success.
    type Output: Serialize + JsonSchema;

    /// Returns the outcome of the call.
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

/// An error that converts to the [`ToolError`] that the host receives. Implemented by [`ToolError`], and by a tool's own error
/// types that choose their [`ErrorCode`](crate::ErrorCode).
///
/// An error type without this trait may implement `Into<ToolError>`; its errors are then converted with `into`, as by `?`. An
/// error of a type with neither trait is reported with its `Display` text and the code
/// [`ErrorCode::Unknown`](crate::ErrorCode::Unknown).
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
    note = "implement `Display` or `std::error::Error` for it, which sets the text, or `art_sdk::IntoToolError`, which \
            also sets the code; or return `art_sdk::Result<Out>`, whose error is `ToolError`: `?` converts other errors \
            into it"
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

/// The return type of a tool function: a `Result`.
#[diagnostic::on_unimplemented(
    message = "a tool returns `Result<Out>`, not `{Self}`",
    label = "should be `Result<{Self}>`",
    note = "a tool that cannot fail returns `Ok(...)`"
)]
pub trait ToolReturn: Fallible {
    /// The output of a success.
    type Output: Serialize + JsonSchema;

    /// Returns the outcome of the call; `to_tool_error` converts an error to the one that the host receives.
    #[doc(hidden)]
    fn finish(self, to_tool_error: fn(Self::Error) -> ToolError) -> Outcome<Self::Output>;
}

/// Any `Result`, even one whose output type keeps it from being a [`ToolReturn`]. Generated code takes the error type from this
/// trait and not from [`ToolReturn`]; otherwise the compiler would report a mistake in the output type a second time, where that
/// code names the error type.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a tool returns `Result<Out>`, not `{Self}`",
    label = "should be `Result<{Self}>`"
)]
pub trait Fallible {
    /// The error type.
    type Error;
}

impl<T, E> Fallible for Result<T, E> {
    type Error = E;
}

impl<T: IntoOutcome, E> ToolReturn for Result<T, E> {
    type Output = T::Output;

    fn finish(self, to_tool_error: fn(E) -> ToolError) -> Outcome<T::Output> {
        match self {
            Ok(value) => value.into_outcome(),
            Err(error) => Outcome::Failure(to_tool_error(error)),
        }
    }
}

/// Chooses one of three conversions from an error to a [`ToolError`](crate::ToolError) by the traits that the error type has:
/// [`IntoToolError`], `Into<ToolError>` or `Display`, in this order.
///
/// This is autoref-based specialization: the traits below are implemented for `&&&Probe`, `&&Probe`, `&Probe` and `Probe`, and
/// method lookup on `&&&&Probe` finds the first of them that applies. The fourth reference is the `&self` of the methods.
pub mod conversion {
    use std::fmt::Display;

    use super::IntoToolError;
    use crate::ToolError;

    /// A reference to an error for which one of the conversions is to be chosen.
    #[derive(Debug)]
    pub struct Probe<'a, E>(pub &'a E);

    /// Converts with [`IntoToolError`].
    #[derive(Debug)]
    pub struct ByIntoToolError;
    /// Converts with `Into`, as `?` does.
    #[derive(Debug)]
    pub struct ByInto;
    /// Converts with `Display`.
    #[derive(Debug)]
    pub struct ByDisplay;

    /// The first choice, for an error type with [`IntoToolError`].
    pub trait HasIntoToolError {
        /// Returns the conversion.
        fn conversion(&self) -> ByIntoToolError {
            ByIntoToolError
        }
    }
    impl<E: IntoToolError> HasIntoToolError for &&&Probe<'_, E> {}

    /// The second choice, for an error type with `Into<ToolError>`.
    pub trait HasInto {
        /// Returns the conversion.
        fn conversion(&self) -> ByInto {
            ByInto
        }
    }
    impl<E: Into<ToolError>> HasInto for &&Probe<'_, E> {}

    /// The third choice, for an error type with `Display`.
    pub trait HasDisplay {
        /// Returns the conversion.
        fn conversion(&self) -> ByDisplay {
            ByDisplay
        }
    }
    impl<E: Display> HasDisplay for &Probe<'_, E> {}

    /// The last choice, for an error type with none of the traits.
    pub trait HasNone {
        /// Returns the first conversion, so that the compiler reports the missing [`IntoToolError`].
        fn conversion(&self) -> ByIntoToolError {
            ByIntoToolError
        }
    }
    impl<E> HasNone for Probe<'_, E> {}

    impl ByIntoToolError {
        /// Converts the error.
        pub fn tool_error<E: IntoToolError>(self, error: E) -> ToolError {
            error.into_tool_error()
        }
    }

    impl ByInto {
        /// Converts the error.
        pub fn tool_error<E: Into<ToolError>>(self, error: E) -> ToolError {
            error.into()
        }
    }

    impl ByDisplay {
        /// Converts the error. Uses the alternate format, `{:#}`, in which errors such as `anyhow::Error` include their sources.
        pub fn tool_error<E: Display>(self, error: E) -> ToolError {
            ToolError::unknown(format_args!("{error:#}"))
        }
    }
}
