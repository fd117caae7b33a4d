//! The caller, and what a tool may ask of the host while it runs.

use std::fmt::Display;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{Result, ToolError};

/// How much a line of the log matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Every step.
    Trace,
    /// What helps to find a mistake.
    Debug,
    /// Payload.
    Info,
    /// What may be a problem.
    Warn,
    /// What is a problem.
    Error,
}

/// A call: its caller, its run, and access to the host.
///
/// In a native test it is made with [`Context::for_test`] and keeps what the tool logged.
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
    /// Returns the conversation of this call.
    pub fn thread_id(&self) -> &str {
        &self.thread_id
    }

    /// Returns the run of this call.
    pub fn trace_id(&self) -> &str {
        &self.trace_id
    }

    /// Returns the identifier of this call.
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// Returns the person for whom the call is made.
    pub fn user_id(&self) -> Option<&str> {
        self.user_id.as_deref()
    }

    /// Returns the session of this call.
    pub fn session_id(&self) -> Option<&str> {
        self.session_id.as_deref()
    }

    /// Returns a person's answer, when the call runs again after it was suspended.
    pub fn hitl(&self) -> Option<&Hitl> {
        self.hitl.as_ref()
    }

    /// Writes one line to the log of this call. The host cuts long lines and drops lines past its budget.
    pub fn log(&self, level: Level, message: impl Display) {
        self.host.log(level, &message.to_string());
    }

    /// Logs every step.
    pub fn trace(&self, message: impl Display) {
        self.log(Level::Trace, message);
    }

    /// Logs what helps to find a mistake.
    pub fn debug(&self, message: impl Display) {
        self.log(Level::Debug, message);
    }

    /// Logs what happened.
    pub fn info(&self, message: impl Display) {
        self.log(Level::Info, message);
    }

    /// Logs what may be a problem.
    pub fn warn(&self, message: impl Display) {
        self.log(Level::Warn, message);
    }

    /// Logs what is a problem.
    pub fn error(&self, message: impl Display) {
        self.log(Level::Error, message);
    }

    /// Reports progress to the waiting person. `metadata` is an object of facts, or `()`; `done` and `of` are shown as
    /// a percentage. Only the newest report is shown, so frequent reports do no harm.
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
            Value::Object(facts) => Some(facts),
            // The contract wants an object.
            other => Some(Map::from_iter([("value".to_owned(), other)])),
        };
        self.host.progress(&title.to_string(), metadata.as_ref());
    }

    /// Returns whether the caller has given up. A tool that works for long asks now and then and returns early.
    pub fn cancelled(&self) -> bool {
        self.host.cancelled()
    }
}

/// A person's answer to a suspended call.
#[derive(Clone, Debug, PartialEq)]
pub struct Hitl {
    /// The suspension that was answered.
    pub suspension_id: String,
    /// Whether the person agreed.
    pub approved: bool,
    /// The value the person gave; null when none was asked for.
    pub feedback: Value,
    /// The arguments of the call that was suspended.
    pub original_arguments: Value,
}

impl Hitl {
    /// Returns the value the person gave, as the type the tool asked for.
    ///
    /// # Errors
    ///
    /// Fails with a validation error when the value has another form.
    pub fn feedback<T: DeserializeOwned>(&self) -> Result<T> {
        T::deserialize(&self.feedback)
            .map_err(|error| ToolError::validation(format_args!("the answer does not fit: {error}")))
    }
}
