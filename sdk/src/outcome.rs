//! How a call ends.

use serde_json::Value;

use crate::{Reply, ToolError};

/// How a call ends when the tool itself ends it.
///
/// Most tools return their output or a [`Reply`]. A tool that may also stop for a person, or hand its work on, returns
/// `Result<Outcome<Out>>`; every ending converts into it:
///
/// ```
/// use art_sdk::prelude::*;
///
/// fn delete(count: u32, ctx: &Context) -> Result<Outcome<u32>> {
///     match ctx.hitl() {
///         Some(answer) if answer.approved => Ok(Reply::new(count).into()),
///         Some(_) => Err(ToolError::permission_denied("the person said no")),
///         None => Ok(Suspension::new(format!("delete {count} files?")).into()),
///     }
/// }
///
/// assert!(matches!(delete(3, &Context::for_test()), Ok(Outcome::Suspended(_))));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Outcome<T> {
    /// The call did what it was asked to do.
    Success(Reply<T>),
    /// The call could not do it.
    Failure(ToolError),
    /// The call waits for a person.
    Suspended(Suspension),
    /// The call ends with the result of a separate run.
    Continuation(Subtask),
}

impl<T> From<Reply<T>> for Outcome<T> {
    fn from(reply: Reply<T>) -> Self {
        Self::Success(reply)
    }
}

impl<T> From<ToolError> for Outcome<T> {
    fn from(error: ToolError) -> Self {
        Self::Failure(error)
    }
}

impl<T> From<Suspension> for Outcome<T> {
    fn from(suspension: Suspension) -> Self {
        Self::Suspended(suspension)
    }
}

impl<T> From<Subtask> for Outcome<T> {
    fn from(subtask: Subtask) -> Self {
        Self::Continuation(subtask)
    }
}

/// A question to a person. The call is run again with the answer in [`Context::hitl`](crate::Context::hitl), unless the
/// tool's blocking configuration makes the answer itself the result.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Suspension {
    /// What is asked, in one sentence.
    pub message: String,
    /// What the person should know to decide.
    pub details: Option<Value>,
    /// What would happen on approval.
    pub preview: Option<Value>,
    /// The form of the answer; without it the person approves or rejects.
    pub feedback_schema: Option<Value>,
}

impl Suspension {
    /// Asks for approval.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            details: None,
            preview: None,
            feedback_schema: None,
        }
    }

    /// Adds what the person should know.
    pub fn details(mut self, details: impl Into<Value>) -> Self {
        self.details = Some(details.into());
        self
    }

    /// Shows what would happen on approval.
    pub fn preview(mut self, preview: impl Into<Value>) -> Self {
        self.preview = Some(preview.into());
        self
    }

    /// Asks for a value of this form.
    pub fn feedback_schema(mut self, schema: impl Into<Value>) -> Self {
        self.feedback_schema = Some(schema.into());
        self
    }
}

/// Work for a separate run.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Subtask {
    /// The task.
    pub description: String,
    /// A JSON object: all that the subtask sees.
    pub inputs: Value,
    /// Templates that may fit, best first.
    pub template_hints: Vec<String>,
    /// How many subtasks may be nested below this one.
    pub max_depth: Option<u32>,
    /// How the context is handed on.
    pub context_management: Option<Value>,
}

impl Subtask {
    /// Creates a subtask that sees `inputs`, a JSON object, and nothing else.
    pub fn new(description: impl Into<String>, inputs: impl Into<Value>) -> Self {
        Self {
            description: description.into(),
            inputs: inputs.into(),
            template_hints: Vec::new(),
            max_depth: None,
            context_management: None,
        }
    }

    /// Adds the name of a template that may fit.
    pub fn template_hint(mut self, hint: impl Into<String>) -> Self {
        self.template_hints.push(hint.into());
        self
    }

    /// Sets how deep subtasks may be nested.
    pub fn max_depth(mut self, depth: u32) -> Self {
        self.max_depth = Some(depth);
        self
    }

    /// Says how the context is handed on.
    pub fn context_management(mut self, settings: impl Into<Value>) -> Self {
        self.context_management = Some(settings.into());
        self
    }
}
