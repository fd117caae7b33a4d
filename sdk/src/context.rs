//! The context of a call: its caller, and the functions of the host that a tool may call.

use std::fmt::Display;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{Result, ToolError};

/// Severity of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Single steps of the work.
    Trace,
    /// Details for debugging.
    Debug,
    /// Normal events.
    Info,
    /// A possible problem.
    Warn,
    /// A problem.
    Error,
}

/// Context of a call: its caller, its run, and access to the host.
///
/// A test, which runs outside WebAssembly, creates a context with [`Context::for_test`]. That context records the log and the
/// progress of the tool.
#[derive(Debug)]
pub struct Context {
    pub(crate) thread_id: String,
    pub(crate) trace_id: String,
    pub(crate) call_id: String,
    pub(crate) user_id: Option<String>,
    pub(crate) session_id: Option<String>,
    pub(crate) hitl: Option<Hitl>,
    pub(crate) host: crate::host::Host,
}

impl Context {
    /// Returns the identifier of the conversation.
    pub fn thread_id(&self) -> &str {
        &self.thread_id
    }

    /// Returns the identifier of the run: the host's work on one question of the person.
    pub fn trace_id(&self) -> &str {
        &self.trace_id
    }

    /// Returns the identifier of this call.
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// Returns the identifier of the person for whom the call is made, if there is one.
    pub fn user_id(&self) -> Option<&str> {
        self.user_id.as_deref()
    }

    /// Returns the identifier of the person's session, if there is one.
    pub fn session_id(&self) -> Option<&str> {
        self.session_id.as_deref()
    }

    /// Returns the decision of the human in the loop (`hitl`) if the call was suspended and now runs again.
    pub fn hitl(&self) -> Option<&Hitl> {
        self.hitl.as_ref()
    }

    /// Writes one line to the log of this call. The host truncates a long line. The host drops the line if the log already has
    /// its maximum number of lines, or if the line would make the log larger than its maximum size.
    pub fn log(&self, level: Level, message: impl Display) {
        self.host.log(level, &message.to_string());
    }

    /// Logs a single step of the work.
    pub fn trace(&self, message: impl Display) {
        self.log(Level::Trace, message);
    }

    /// Logs a detail for debugging.
    pub fn debug(&self, message: impl Display) {
        self.log(Level::Debug, message);
    }

    /// Logs a normal event.
    pub fn info(&self, message: impl Display) {
        self.log(Level::Info, message);
    }

    /// Logs a possible problem.
    pub fn warn(&self, message: impl Display) {
        self.log(Level::Warn, message);
    }

    /// Logs a problem.
    pub fn error(&self, message: impl Display) {
        self.log(Level::Error, message);
    }

    /// Reports progress to the waiting person. `metadata` is a JSON object, or `()` for none; its numbers `done` and
    /// `of` are shown as a percentage. Only the newest report is shown, so frequent reports do no harm.
    ///
    /// ```
    /// # use art_sdk::prelude::*;
    /// # let ctx = Context::for_test();
    /// ctx.progress("opening the table", ());
    /// ctx.progress("reading", json!({"done": 3, "of": 10}));
    /// ```
    pub fn progress(&self, title: impl Display, metadata: impl Into<Value>) {
        let metadata = match metadata.into() {
            Value::Null => None,
            Value::Object(fields) => Some(fields),
            // The contract (`wit/tool.wit`) requires an object, so any other value becomes the field `value` of an object.
            other => Some(Map::from_iter([("value".to_owned(), other)])),
        };
        self.host.progress(&title.to_string(), metadata.as_ref());
    }

    /// Returns whether the call was cancelled. A tool that runs for a long time polls this and returns early.
    pub fn cancelled(&self) -> bool {
        self.host.cancelled()
    }
}

/// A person's answer to a suspended call. The name stands for human in the loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Hitl {
    /// Identifier of the suspension that was answered.
    pub suspension_id: String,
    /// Whether the person approved.
    pub approved: bool,
    /// The value that the person gave; null if the suspension had no `feedback_schema`.
    pub feedback: Value,
    /// The arguments of the call that was suspended.
    pub original_arguments: Value,
}

impl Hitl {
    /// Deserializes the value that the person gave.
    ///
    /// # Errors
    ///
    /// Fails with [`ErrorCode::ValidationError`](crate::ErrorCode::ValidationError) if the value does not deserialize
    /// to `T`.
    pub fn feedback<T: DeserializeOwned>(&self) -> Result<T> {
        T::deserialize(&self.feedback)
            .map_err(|error| ToolError::validation(format_args!("the feedback has the wrong type: {error}")))
    }
}
