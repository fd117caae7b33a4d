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
    /// JSON Schema of the arguments.
    #[doc(hidden)]
    fn schema() -> Value;

    /// The arguments out of JSON text.
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

/// What a tool can fail with: a [`ToolError`], or any error that converts into one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool",
    label = "needs `std::error::Error`",
    note = "return `art_sdk::Result<Out>`, whose error is `ToolError`; `?` converts other errors into it"
)]
pub trait IntoToolError {
    /// The failure to report.
    fn into_tool_error(self) -> ToolError;
}

#[diagnostic::do_not_recommend]
impl<E: Into<ToolError>> IntoToolError for E {
    fn into_tool_error(self) -> ToolError {
        self.into()
    }
}

/// What a tool function returns: a `Result`.
#[diagnostic::on_unimplemented(
    message = "a tool returns `Result<Out>`, not `{Self}`",
    label = "should be `Result<{Self}>`",
    note = "a tool that cannot fail returns `Ok(...)`"
)]
pub trait ToolReturn {
    /// The output of a success.
    type Output: Serialize + JsonSchema;

    /// Ends the call.
    fn finish(self) -> Outcome<Self::Output>;
}

impl<T: IntoOutcome, E: IntoToolError> ToolReturn for Result<T, E> {
    type Output = T::Output;

    fn finish(self) -> Outcome<T::Output> {
        match self {
            Ok(value) => value.into_outcome(),
            Err(error) => Outcome::Failure(error.into_tool_error()),
        }
    }
}
