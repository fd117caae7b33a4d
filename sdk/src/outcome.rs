//! The outcome of a call.

use serde_json::Value;

use crate::{Reply, ToolError};

/// The ways in which a tool can end its call.
///
/// Most tools return their output or a [`Reply`]. A tool that may also wait for a person, or delegate its work, returns
/// `Result<Outcome<Out>>`. [`Reply`], [`ToolError`], [`Suspension`] and [`Subtask`] convert into an `Outcome`:
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
    /// The call succeeded.
    Success(Reply<T>),
    /// The call failed.
    Failure(ToolError),
    /// The call waits for the decision of a person.
    Suspended(Suspension),
    /// The call asks for a subtask, which is a separate run whose result becomes that of the call. Hosts of version 0.1 have no
    /// subtasks: such a call ends its own run with the code `NOT_IMPLEMENTED`.
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

/// A question to a person. The call is run again with the answer in [`Context::hitl`](crate::Context::hitl), except if
/// `completesOnApproval` in the tool's blocking configuration makes the answer itself the result.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Suspension {
    /// The question, in one sentence.
    pub message: String,
    /// Information that the person needs to decide.
    pub details: Option<Value>,
    /// A preview of what happens on approval.
    pub preview: Option<Value>,
    /// JSON Schema of the answer, or a form: an object with `inputType`. If this is `None`, the person only approves or rejects.
    pub feedback_schema: Option<Value>,
}

impl Suspension {
    /// Creates a question that the person approves or rejects.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            details: None,
            preview: None,
            feedback_schema: None,
        }
    }

    /// Sets the information that the person needs to decide.
    pub fn details(mut self, details: impl Into<Value>) -> Self {
        self.details = Some(details.into());
        self
    }

    /// Sets the preview of what happens on approval.
    pub fn preview(mut self, preview: impl Into<Value>) -> Self {
        self.preview = Some(preview.into());
        self
    }

    /// Sets what the person has to answer: `schema` is the JSON Schema of the answer, or a form (an object with `inputType`).
    pub fn feedback_schema(mut self, schema: impl Into<Value>) -> Self {
        self.feedback_schema = Some(schema.into());
        self
    }
}

/// Work that a tool hands over to a separate run. Hosts of version 0.1 have no such runs: see [`Outcome::Continuation`].
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Subtask {
    /// Description of the task.
    pub description: String,
    /// A JSON object: the only data that the subtask receives.
    pub inputs: Value,
    /// Names of templates of subtasks that may fit this one, best first.
    pub template_hints: Vec<String>,
    /// Maximum depth of nested subtasks.
    pub max_depth: Option<u32>,
    /// Settings that say which part of this run's context the subtask inherits, and what it returns.
    pub context_management: Option<Value>,
}

impl Subtask {
    /// Creates a subtask that receives `inputs`, a JSON object, and nothing else.
    pub fn new(description: impl Into<String>, inputs: impl Into<Value>) -> Self {
        Self {
            description: description.into(),
            inputs: inputs.into(),
            template_hints: Vec::new(),
            max_depth: None,
            context_management: None,
        }
    }

    /// Adds the name of a template of subtasks that may fit this one.
    pub fn template_hint(mut self, hint: impl Into<String>) -> Self {
        self.template_hints.push(hint.into());
        self
    }

    /// Sets the maximum depth of nested subtasks.
    pub fn max_depth(mut self, depth: u32) -> Self {
        self.max_depth = Some(depth);
        self
    }

    /// Sets which part of this run's context the subtask inherits, and what it returns.
    pub fn context_management(mut self, settings: impl Into<Value>) -> Self {
        self.context_management = Some(settings.into());
        self
    }
}
