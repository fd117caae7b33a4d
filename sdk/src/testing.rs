//! Runs a tool in a native unit test, with the same code as in a component, without a host.
//!
//! ```
//! use art_sdk::{prelude::*, testing};
//!
//! #[args]
//! struct In {
//!     text: String,
//! }
//!
//! /// Counts the words of a text.
//! #[tool(example(ask = "How many words are in \"to be\"?", input = r#"{"text":"to be"}"#, output = "2"))]
//! fn word_count(input: In) -> Result<usize> {
//!     Ok(input.text.split_whitespace().count())
//! }
//!
//! assert_eq!(testing::output(&WORD_COUNT, json!({"text": "to be or not"})), 4);
//! assert_eq!(testing::failure(&WORD_COUNT, json!({})).code, ErrorCode::ValidationError);
//! testing::check(&WORD_COUNT);
//! ```

use serde_json::{Map, Value};

use crate::{Context, Hitl, Level, Outcome, Tool, ToolError};

/// One report of [`Context::progress`].
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// The reported title.
    pub title: String,
    /// The reported metadata.
    pub metadata: Map<String, Value>,
}

/// Runs one call with a fresh context.
pub fn call(tool: &Tool, input: Value) -> Outcome<Value> {
    call_with(tool, input, &Context::for_test())
}

/// Runs one call with the given context.
#[expect(clippy::needless_pass_by_value, reason = "a test writes `json!(..)` here")]
pub fn call_with(tool: &Tool, input: Value, context: &Context) -> Outcome<Value> {
    match tool.run(&input.to_string(), context) {
        Outcome::Success(reply) => match reply.try_map(|text| serde_json::from_str(&text)) {
            Ok(reply) => Outcome::Success(reply),
            Err(error) => Outcome::Failure(ToolError::unknown(error)),
        },
        Outcome::Failure(error) => Outcome::Failure(error),
        Outcome::Suspended(suspension) => Outcome::Suspended(suspension),
        Outcome::Continuation(subtask) => Outcome::Continuation(subtask),
    }
}

/// Runs one call and returns its output.
///
/// # Panics
///
/// Panics if the call does not succeed.
#[track_caller]
#[expect(clippy::panic, reason = "a failed assertion of a test")]
pub fn output(tool: &Tool, input: Value) -> Value {
    match call(tool, input) {
        Outcome::Success(reply) => reply.output,
        other => panic!("`{}` did not succeed: {other:?}", tool.name()),
    }
}

/// Runs one call and returns its error.
///
/// # Panics
///
/// Panics if the call does not fail.
#[track_caller]
#[expect(clippy::panic, reason = "a failed assertion of a test")]
pub fn failure(tool: &Tool, input: Value) -> ToolError {
    match call(tool, input) {
        Outcome::Failure(error) => error,
        other => panic!("`{}` did not fail: {other:?}", tool.name()),
    }
}

/// Checks that the input schema describes an object, that no example fails, and that each example that succeeds returns
/// the output that it declares, if any.
///
/// # Panics
///
/// Panics if one of these checks fails.
#[track_caller]
#[expect(clippy::panic, reason = "a failed assertion of a test")]
pub fn check(tool: &Tool) {
    let schema = tool.input_schema();
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        panic!("the input of `{}` is not an object: {schema}", tool.name());
    }
    for example in tool.examples() {
        let parsed = |text| serde_json::from_str::<Value>(text).unwrap_or_else(|error| panic!("`{text}`: {error}"));
        let outcome = call(tool, parsed(example.input));
        match (outcome, example.output.map(parsed)) {
            (Outcome::Success(reply), Some(expected)) => {
                assert_eq!(reply.output, expected, "the example `{}`", example.input);
            }
            (Outcome::Failure(error), _) => panic!("the example `{}` fails: {error}", example.input),
            _ => {}
        }
    }
}

impl Context {
    /// Creates a context for native tests: no user, no decision of a person, not cancelled.
    pub fn for_test() -> Self {
        Self {
            thread_id: "thread-test".to_owned(),
            trace_id: "trace-test".to_owned(),
            call_id: "call-test".to_owned(),
            user_id: None,
            session_id: None,
            hitl: None,
            host: crate::host::Host::default(),
        }
    }

    /// Sets the user; native tests only.
    #[must_use]
    pub fn with_user(mut self, id: impl Into<String>) -> Self {
        self.user_id = Some(id.into());
        self
    }

    /// Sets the session; native tests only.
    #[must_use]
    pub fn with_session(mut self, id: impl Into<String>) -> Self {
        self.session_id = Some(id.into());
        self
    }

    /// Sets the decision of a person; native tests only.
    #[must_use]
    pub fn with_hitl(mut self, hitl: Hitl) -> Self {
        self.hitl = Some(hitl);
        self
    }

    /// Makes [`Context::cancelled`] true; native tests only.
    pub fn cancel(&self) {
        self.host.cancelled.set(true);
    }

    /// Returns the lines logged so far; native tests only.
    pub fn logged(&self) -> Vec<(Level, String)> {
        self.host.lines.borrow().clone()
    }

    /// Returns the progress reported so far; native tests only.
    pub fn progressed(&self) -> Vec<Progress> {
        self.host.steps.borrow().clone()
    }
}

impl Hitl {
    /// Creates a decision for native tests; `feedback` is `()` if the suspension had no `feedback_schema`.
    pub fn for_test(approved: bool, feedback: impl Into<Value>) -> Self {
        let suspension_id = "suspension-test".to_owned();
        Self {
            suspension_id,
            approved,
            feedback: feedback.into(),
            original_arguments: Value::Null,
        }
    }
}
