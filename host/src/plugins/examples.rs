//! Runs the examples of a tool as calls in the sandbox, and compares the outputs with those that the examples declare.

use art_core::tool::{ToolExample, ToolSchema};
use art_runtime::compose::Toolbox;
use art_tools::{EndingKind, ToolReport};
use serde::Serialize;
use serde_json::{Number, Value};

/// Maximum length of a value, an error or a log line in a message, in characters.
const MAX_SHOWN_CHARS: usize = 400;

/// Results of running the examples of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExampleResults {
    /// Number of examples whose call succeeded, with the declared output if the example has one.
    pub passed: usize,
    /// Examples that count as not run, because their call did not end in a way that can be checked, each with the reason. This
    /// is not an error of the tool.
    pub not_run: Vec<String>,
    /// Hints about examples whose question is missing or could be better. The question of an example is what a person would ask
    /// for the tool to be called with the input of the example. From these questions, the embedded model, which is built into
    /// this program, learns when to call the tool.
    pub hints: Vec<String>,
}

/// Result of one example.
#[derive(Debug, PartialEq, Eq)]
enum ExampleOutcome {
    Passed,
    /// The call did not end in a way that can be checked, for this reason.
    Unchecked(String),
    /// The call failed or had another output than declared, as this text says.
    Failed(String),
}

/// Calls the tool with the input of each of its examples, without any grants. `requests_capabilities` means that its manifest
/// requests capabilities, so that a call may fail for lack of a grant.
///
/// # Errors
/// Describes the first example whose call fails, or returns another output than declared.
pub(super) async fn check(
    toolbox: &Toolbox,
    schema: &ToolSchema,
    requests_capabilities: bool,
) -> Result<ExampleResults, String> {
    let mut results = ExampleResults::default();
    for (index, example) in schema.examples.iter().enumerate() {
        let report = toolbox.call(&schema.name, example.input.clone()).await;
        let with_number_and_input = |message: String| {
            format!(
                "example {} (`{}`) {message}",
                index + 1,
                shorten(&example.input.to_string())
            )
        };
        results.hints.extend(question_hint(example).map(with_number_and_input));
        match judge(example, &report, requests_capabilities) {
            ExampleOutcome::Passed => results.passed += 1,
            ExampleOutcome::Unchecked(reason) => results.not_run.push(with_number_and_input(reason)),
            ExampleOutcome::Failed(reason) => return Err(with_number_and_input(reason)),
        }
    }
    Ok(results)
}

/// Returns a hint if the embedded model learns little from the question of an example. The numbers of the question must occur in
/// the input: otherwise the model does not understand the same question with other numbers. Words are not checked: they may be
/// missing in the input for good reasons, such as an attached file.
fn question_hint(example: &ToolExample) -> Option<String> {
    // The description of an example is the question that a person would ask.
    let Some(question) = &example.description else {
        return Some("has no question: add `ask = \"..\"` with what a person would ask to get this input".to_owned());
    };
    let input = example.input.to_string();
    let mut numbers = question.split(|c: char| !c.is_ascii_digit());
    let missing = numbers.find(|digits| !input.contains(digits))?;
    Some(format!(
        "asks `{}` but has no `{missing}` in its input: write numbers in the input as in the question",
        shorten(question)
    ))
}

fn judge(example: &ToolExample, report: &ToolReport, requests_capabilities: bool) -> ExampleOutcome {
    match report.ending {
        EndingKind::Success => compare_output(example, report.result.output.as_deref()),
        EndingKind::Suspended => ExampleOutcome::Unchecked("waits for a decision of a person".to_owned()),
        EndingKind::Continuation => {
            ExampleOutcome::Unchecked("returns a subtask, which this host cannot run yet".to_owned())
        }
        EndingKind::Failure | EndingKind::Denied if requests_capabilities => ExampleOutcome::Unchecked(format!(
            "may need a capability that this host does not grant: {}",
            failure_message(report)
        )),
        _ => ExampleOutcome::Failed(failure_message(report)),
    }
}

/// Compares the output of a successful call with the output that the example declares, if it declares one.
fn compare_output(example: &ToolExample, output: Option<&Value>) -> ExampleOutcome {
    match (&example.output, output) {
        (Some(expected), Some(output)) if !json_equal(expected, output) => ExampleOutcome::Failed(format!(
            "returned `{}` instead of the declared output `{}`",
            shorten(&output.to_string()),
            shorten(&expected.to_string())
        )),
        _ => ExampleOutcome::Passed,
    }
}

/// Describes how the call failed, with the first log line of the tool or else its stderr. If the tool panicked, one of these
/// contains the message of the panic: the log without WASI, stderr with WASI.
fn failure_message(report: &ToolReport) -> String {
    let error = report.result.error.as_deref().unwrap_or("ended without an output");
    let mut message = format!("fails: {}", shorten(error));
    let logged = report.log.records.iter().map(|record| record.message.as_str());
    if let Some(logged) = logged.chain([report.log.stderr.trim()]).find(|text| !text.is_empty()) {
        message.push_str(&format!(" (log: {})", shorten(logged)));
    }
    message
}

fn shorten(text: &str) -> String {
    art_core::text::truncate(text, MAX_SHOWN_CHARS)
}

/// Returns whether two values are equal in JSON, where `1` equals `1.0`.
fn json_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => numbers_equal(left, right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| json_equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let has_equal_in_right = |(key, value)| right.get(key).is_some_and(|other| json_equal(value, other));
            left.len() == right.len() && left.iter().all(has_equal_in_right)
        }
        _ => left == right,
    }
}

fn numbers_equal(left: &Number, right: &Number) -> bool {
    left == right || ((left.is_f64() || right.is_f64()) && left.as_f64() == right.as_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns the hint for an example with this question and input.
    fn hint_for(question: Option<&str>, input: Value) -> Option<String> {
        question_hint(&ToolExample {
            input,
            output: None,
            description: question.map(str::to_owned),
        })
    }

    #[test]
    fn a_missing_question_or_a_number_missing_in_the_input_gets_a_hint() {
        let message = hint_for(Some("What time is it at 3 pm?"), json!({"date": "15:00"})).unwrap();
        assert!(message.contains("has no `3` in its input"), "{message}");
        assert!(hint_for(None, json!({})).unwrap().contains("add `ask = \"..\"`"));
    }

    #[test]
    fn a_question_with_all_its_numbers_in_the_input_gets_no_hint() {
        for (question, input) in [
            ("How many kilograms are 1,500 pounds?", json!({"value": 1500})),
            ("What is 17.5% of 80?", json!({"expression": "17.5% of 80"})),
            ("How many rows are there?", json!({"csv": "a\n1\n"})),
        ] {
            assert_eq!(hint_for(Some(question), input), None, "{question}");
        }
    }

    #[test]
    fn numbers_are_compared_by_value() {
        for (left, right) in [(json!(1), json!(1.0)), (json!({"a": [2.0]}), json!({"a": [2]}))] {
            assert!(json_equal(&left, &right), "{left} {right}");
        }
        for (left, right) in [
            (json!(1), json!(1.5)),
            (json!(9_007_199_254_740_993_u64), json!(9_007_199_254_740_992_u64)),
            (json!({"a": 1}), json!({"a": 1, "b": null})),
            (json!([1]), json!([1, 2])),
            (json!(1), json!("1")),
        ] {
            assert!(!json_equal(&left, &right), "{left} {right}");
        }
    }
}
