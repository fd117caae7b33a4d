//! A tool as one value: what the attribute makes of a function.

use serde_json::Value;

use crate::convert::{Fallible, ToolInput, ToolReturn};
use crate::{Context, Outcome, ToolError, schema};

/// How the host treats a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Runs to its end; the output goes back to the model.
    Functional,
    /// Needs a human decision: a call may end as [`Outcome::Suspended`].
    Blocking,
    /// Runs to its end; the output is drawn for a person, not read by the model.
    Display,
}

/// One worked call. Input and output are JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// Valid arguments.
    pub input: &'static str,
    /// What they give.
    pub output: Option<&'static str>,
    /// The question in words that this input answers.
    pub ask: Option<&'static str>,
}

/// Everything the attribute knows about a function. Implemented by `#[tool]` alone.
#[doc(hidden)]
pub trait Definition {
    /// The tool's name.
    const NAME: &'static str;
    /// The doc comment.
    const DESCRIPTION: &'static str;
    /// How the host treats a call.
    const MODE: Mode;
    /// Worked calls.
    const EXAMPLES: &'static [Example];
    /// The content of the manifest section.
    const MANIFEST: &'static str;

    /// The type of the first argument.
    type Input: ToolInput;
    /// The return type.
    type Return: ToolReturn;

    /// Runs the function.
    fn call(input: Self::Input, context: &Context) -> Self::Return;

    /// Says what the host is told of an error of the function.
    fn failed(error: <Self::Return as Fallible>::Error) -> ToolError;

    /// How a human is asked, as JSON text.
    fn blocking() -> Option<String> {
        None
    }

    /// How the output is drawn, as JSON text.
    fn display() -> Option<String> {
        None
    }
}

/// A tool. `#[tool]` on a function `word_count` makes the static `WORD_COUNT` of this type beside it.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) mode: Mode,
    pub(crate) examples: &'static [Example],
    pub(crate) manifest: &'static str,
    pub(crate) input_schema: fn() -> Value,
    pub(crate) output_schema: fn() -> Option<Value>,
    pub(crate) blocking: fn() -> Option<String>,
    pub(crate) display: fn() -> Option<String>,
    pub(crate) run: fn(&str, &Context) -> Outcome<String>,
}

impl Tool {
    /// The tool that `D` defines.
    #[doc(hidden)]
    pub const fn of<D: Definition>() -> Self {
        Self {
            name: D::NAME,
            description: D::DESCRIPTION,
            mode: D::MODE,
            examples: D::EXAMPLES,
            manifest: D::MANIFEST,
            input_schema: D::Input::schema,
            output_schema: schema::output_schema::<<D::Return as ToolReturn>::Output>,
            blocking: D::blocking,
            display: D::display,
            run: run::<D>,
        }
    }

    /// The name the model calls it by.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What the model reads.
    pub const fn description(&self) -> &'static str {
        self.description
    }

    /// How the host treats a call.
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// The worked calls.
    pub const fn examples(&self) -> &'static [Example] {
        self.examples
    }

    /// What the tool asks for, as the JSON text that the component carries in its section `art:manifest`.
    pub const fn manifest(&self) -> &'static str {
        self.manifest
    }

    /// JSON Schema of the arguments.
    pub fn input_schema(&self) -> Value {
        (self.input_schema)()
    }

    /// JSON Schema of the output of a success; `None` when it may be anything.
    pub fn output_schema(&self) -> Option<Value> {
        (self.output_schema)()
    }

    /// How a human is asked, as JSON text.
    pub fn blocking_config(&self) -> Option<String> {
        (self.blocking)()
    }

    /// How the output is drawn, as JSON text.
    pub fn display_config(&self) -> Option<String> {
        (self.display)()
    }

    /// Runs one call on JSON text, as the host does. The output of a success is JSON text.
    pub fn run(&self, input: &str, context: &Context) -> Outcome<String> {
        (self.run)(input, context)
    }
}

fn run<D: Definition>(input: &str, context: &Context) -> Outcome<String> {
    match D::Input::parse(input) {
        Ok(input) => written(D::call(input, context).finish(D::failed)),
        // The host checks the arguments against the schema; what fails here is a rule that the schema cannot say.
        Err(error) => Outcome::Failure(ToolError::validation(format_args!(
            "the arguments do not fit `{}`: {error}",
            D::NAME
        ))),
    }
}

fn written<T: serde::Serialize>(outcome: Outcome<T>) -> Outcome<String> {
    match outcome {
        Outcome::Success(reply) => match reply.try_map(|output| serde_json::to_string(&output)) {
            Ok(reply) => Outcome::Success(reply),
            Err(error) => Outcome::Failure(unwritable(&error)),
        },
        Outcome::Failure(error) => Outcome::Failure(error),
        Outcome::Suspended(suspension) => Outcome::Suspended(suspension),
        Outcome::Continuation(subtask) => Outcome::Continuation(subtask),
    }
}

fn unwritable(error: &serde_json::Error) -> ToolError {
    ToolError::unknown(format_args!("the output cannot be written as JSON: {error}"))
}
