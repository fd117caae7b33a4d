//! Runs a tool in a native unit test: the code is the same as in a component, but is compiled for the machine of the developer
//! and runs without a host.
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

/// Lets `answer`, in place of the network, answer the requests that a tool sends on this thread.
#[cfg(feature = "http")]
pub fn answer_http(answer: impl FnMut(&crate::http::Request) -> crate::Result<crate::http::Response> + 'static) {
    crate::http::set_responder(Box::new(answer));
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
/// Panics if the call does not succeed, or if the output breaks a promise of the tool's schema (see [`promise`](crate::promise)).
#[track_caller]
#[expect(clippy::panic, reason = "a failed assertion of a test")]
#[expect(clippy::needless_pass_by_value, reason = "a test writes `json!(..)` here")]
pub fn output(tool: &Tool, input: Value) -> Value {
    match call(tool, input.clone()) {
        Outcome::Success(reply) => {
            assert_promises(tool, &input, &reply.output);
            reply.output
        }
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

/// Checks that the input schema describes an object, and calls the tool with each example. No call may end as
/// [`Outcome::Failure`]. The output of a success has to equal that of the example, if the example declares one, and has to keep
/// the promises of the tool's schema (see [`promise`](crate::promise)).
///
/// # Panics
///
/// Panics if one of these checks fails.
#[track_caller]
pub fn check(tool: &Tool) {
    check_where(tool, |_| true);
}

/// Checks the same as [`check`], with only the examples whose input `is_chosen` accepts, for example those that need no file.
///
/// # Panics
///
/// Panics if one of the checks fails.
#[track_caller]
#[expect(clippy::panic, reason = "a failed assertion of a test")]
pub fn check_where(tool: &Tool, is_chosen: impl Fn(&Value) -> bool) {
    let schema = tool.input_schema();
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        panic!("the input of `{}` is not an object: {schema}", tool.name());
    }
    for example in tool.examples() {
        let parse = |text| serde_json::from_str::<Value>(text).unwrap_or_else(|error| panic!("`{text}`: {error}"));
        let input = parse(example.input);
        if !is_chosen(&input) {
            continue;
        }
        let outcome = call(tool, input.clone());
        if let Outcome::Success(reply) = &outcome {
            assert_promises(tool, &input, &reply.output);
        }
        match (outcome, example.output.map(parse)) {
            (Outcome::Success(reply), Some(expected)) => {
                assert_eq!(reply.output, expected, "the example `{}`", example.input);
            }
            (Outcome::Failure(error), _) => panic!("the example `{}` fails: {error}", example.input),
            _ => {}
        }
    }
}

/// Asserts that an output keeps every promise that applies to its input. The promises are the items of `x-when` in the output
/// schema.
#[track_caller]
fn assert_promises(tool: &Tool, input: &Value, output: &Value) {
    let (input_schema, output_schema) = (tool.input_schema(), tool.output_schema().unwrap_or_default());
    let promises = output_schema.get("x-when").and_then(Value::as_array);
    for promise in promises.into_iter().flatten() {
        let broken = broken_promise(promise, &input_schema, input, output);
        assert_eq!(
            broken,
            None,
            "for `{input}`, `{}` returns `{output}`, against `{promise}`",
            tool.name()
        );
    }
}

/// Returns the name of a property with which an output breaks a promise, or `None` if the promise is kept or does not apply to
/// the input.
fn broken_promise<'a>(promise: &'a Value, input_schema: &Value, input: &Value, output: &Value) -> Option<&'a str> {
    let argument = |name: &str| {
        let default = || input_schema.pointer(&format!("/properties/{name}/default"));
        input.get(name).or_else(default).cloned().unwrap_or_default()
    };
    let has_listed_value =
        |(name, values): (&String, &Value)| values.as_array().is_some_and(|values| values.contains(&argument(name)));
    if !promise.get("input")?.as_object()?.iter().all(has_listed_value) {
        return None;
    }
    let promised = promise.get("output")?;
    let required = promised.get("required").and_then(Value::as_array).into_iter().flatten();
    let mut absent = required
        .filter_map(Value::as_str)
        .filter(|name| output.get(name).is_none_or(Value::is_null));
    let promised_types = promised
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    let mut mistyped = promised_types.filter(|(name, schema)| {
        let type_name = schema.get("type").and_then(Value::as_str).unwrap_or_default();
        output
            .get(name.as_str())
            .is_some_and(|value| !is_of_type(value, type_name))
    });
    absent.next().or_else(|| mistyped.next().map(|(name, _)| name.as_str()))
}

fn is_of_type(value: &Value, type_name: &str) -> bool {
    match type_name {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
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

    /// Returns the lines that were logged so far; native tests only.
    pub fn logged(&self) -> Vec<(Level, String)> {
        self.host.log_lines.borrow().clone()
    }

    /// Returns the progress that was reported so far; native tests only.
    pub fn progressed(&self) -> Vec<Progress> {
        self.host.progress_reports.borrow().clone()
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns the property with which an output breaks a promise. The promise is: if `only` is `words` or absent, and `mode` has
    /// its default `plain`, the output has the property `words`, and its property `answer` is an integer or absent.
    fn broken_property(input: &Value, output: &Value) -> Option<String> {
        let input_schema = json!({"properties": {"mode": {"default": "plain"}}});
        let types = json!({"answer": {"type": "integer"}});
        let promise = json!({
            "input": {"only": ["words", null], "mode": ["plain"]},
            "output": {"required": ["words"], "properties": types},
        });
        broken_promise(&promise, &input_schema, input, output).map(str::to_owned)
    }

    #[test]
    fn a_promise_is_broken_by_a_property_that_is_absent_null_or_of_another_type() {
        assert_eq!(broken_property(&json!({}), &json!({"words": 1, "answer": 2})), None);
        assert_eq!(broken_property(&json!({}), &json!({"words": 1})), None);
        assert_eq!(
            broken_property(&json!({"only": "words"}), &json!({})).as_deref(),
            Some("words")
        );
        assert_eq!(
            broken_property(&json!({}), &json!({"words": null})).as_deref(),
            Some("words")
        );
        assert_eq!(
            broken_property(&json!({}), &json!({"words": 1, "answer": "2"})).as_deref(),
            Some("answer")
        );
    }

    #[test]
    fn a_promise_is_not_checked_if_an_argument_has_another_value() {
        for input in [json!({"only": "lines"}), json!({"mode": "odd"})] {
            assert_eq!(broken_property(&input, &json!({"answer": "2"})), None, "{input}");
        }
    }
}
