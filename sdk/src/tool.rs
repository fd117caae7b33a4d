//! A tool as a value, [`Tool`], which the attribute `#[tool]` generates from a function.

use serde_json::Value;

use crate::convert::{Fallible, ToolInput, ToolReturn};
use crate::{Context, Outcome, ToolError, schema};

/// The execution mode of a tool, which determines how the host treats its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Runs to its end; the output goes back to the model.
    Functional,
    /// Needs the decision of a person: a call may end as [`Outcome::Suspended`].
    Blocking,
    /// Runs to its end; the output is rendered for a person, and the model does not read it.
    Display,
}

/// One example call. Input and output are JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// Valid arguments.
    pub input: &'static str,
    /// The output of this call, if the example declares it.
    pub output: Option<&'static str>,
    /// A question for which this is the right input, worded as a person would ask it.
    pub ask: Option<&'static str>,
}

/// Everything that the attribute `#[tool]` knows about a function. Only code that `#[tool]` generates implements this trait.
#[doc(hidden)]
pub trait Definition {
    /// The tool's name.
    const NAME: &'static str;
    /// The description, from the doc comment of the function.
    const DESCRIPTION: &'static str;
    /// The execution mode.
    const MODE: Mode;
    /// The example calls.
    const EXAMPLES: &'static [Example];
    /// The JSON text of the component's section `art:manifest`: the requested limits and capabilities.
    const MANIFEST: &'static str;

    /// The type of the first argument.
    type Input: ToolInput;
    /// The return type.
    type Return: ToolReturn;

    /// Runs the function.
    fn call(input: Self::Input, context: &Context) -> Self::Return;

    /// Converts an error of the function to the error that the host receives.
    fn to_tool_error(error: <Self::Return as Fallible>::Error) -> ToolError;

    /// Returns the `blockingConfig`, a JSON text that says how a person is asked about a call.
    fn blocking() -> Option<String> {
        None
    }

    /// Returns the `displayConfig`, a JSON text that says how the output is rendered.
    fn display() -> Option<String> {
        None
    }
}

/// A tool. `#[tool]` on a function `word_count` also generates a static `WORD_COUNT` of this type.
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
    /// Returns the tool that `D` defines.
    #[doc(hidden)]
    pub const fn from_definition<D: Definition>() -> Self {
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

    /// Returns the name by which the model calls the tool.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the description that the model reads.
    pub const fn description(&self) -> &'static str {
        self.description
    }

    /// Returns the execution mode.
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns the example calls.
    pub const fn examples(&self) -> &'static [Example] {
        self.examples
    }

    /// Returns the requested limits and capabilities: the JSON text of the component's section `art:manifest`.
    pub const fn manifest(&self) -> &'static str {
        self.manifest
    }

    /// Returns the JSON Schema of the arguments.
    pub fn input_schema(&self) -> Value {
        (self.input_schema)()
    }

    /// Returns the JSON Schema of the output of a success; `None` if any JSON is valid.
    pub fn output_schema(&self) -> Option<Value> {
        (self.output_schema)()
    }

    /// Returns the `blockingConfig`, a JSON text that says how a person is asked about a call.
    pub fn blocking_config(&self) -> Option<String> {
        (self.blocking)()
    }

    /// Returns the `displayConfig`, a JSON text that says how the output is rendered.
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
        Ok(input) => serialize_output(D::call(input, context).finish(D::to_tool_error)),
        // Before the host calls a component, it checks the arguments against the schema. So arguments that fail here in a
        // component break a rule that a schema cannot express.
        Err(error) => Outcome::Failure(ToolError::validation(format_args!(
            "the arguments of `{}` are not valid: {error}",
            D::NAME
        ))),
    }
}

/// Serializes the output of a success to JSON text.
fn serialize_output<T: serde::Serialize>(outcome: Outcome<T>) -> Outcome<String> {
    match outcome {
        Outcome::Success(reply) => match reply.try_map(|output| serde_json::to_string(&output)) {
            Ok(reply) => Outcome::Success(reply),
            Err(error) => Outcome::Failure(not_serializable(&error)),
        },
        Outcome::Failure(error) => Outcome::Failure(error),
        Outcome::Suspended(suspension) => Outcome::Suspended(suspension),
        Outcome::Continuation(subtask) => Outcome::Continuation(subtask),
    }
}

fn not_serializable(error: &serde_json::Error) -> ToolError {
    ToolError::unknown(format_args!("the output cannot be serialized as JSON: {error}"))
}
