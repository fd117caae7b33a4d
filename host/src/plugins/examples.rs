//! Runs the examples of a tool as calls of it: what it says of itself has to be true in the sandbox, not on paper alone.

use art_core::tool::{ToolExample, ToolSchema};
use art_runtime::compose::Toolbox;
use art_tools::{CallEnding, ToolReport};
use serde::Serialize;
use serde_json::{Number, Value};

use crate::error::CommandError;

/// Longest piece of a value, an error or a log that is told.
const TOLD: usize = 400;

/// What became of the examples of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Examples {
    /// How many gave what they say.
    pub passed: usize,
    /// Why each of the others could not be checked, which says nothing against the tool.
    pub not_run: Vec<String>,
    /// Questions from which the embedded model learns less than it could.
    pub hints: Vec<String>,
}

/// What became of one example.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Passed,
    NotRun(String),
    Failed(String),
}

/// Calls the tool with the input of each of its examples. `asks_rights` says that it asks for more than this host grants.
///
/// # Errors
/// With the first example that does not give what it says.
pub(super) async fn check(
    toolbox: &Toolbox,
    schema: &ToolSchema,
    asks_rights: bool,
) -> Result<Result<Examples, String>, CommandError> {
    let mut examples = Examples::default();
    for (index, example) in schema.examples.iter().enumerate() {
        let report = toolbox.call(&schema.name, example.input.clone()).await?;
        let named = |what: String| {
            format!(
                "example {} (`{}`) {what}",
                index + 1,
                shortened(&example.input.to_string())
            )
        };
        examples.hints.extend(hint(example).map(named));
        match verdict(example, &report, asks_rights) {
            Verdict::Passed => examples.passed += 1,
            Verdict::NotRun(why) => examples.not_run.push(named(why)),
            Verdict::Failed(why) => return Ok(Err(named(why))),
        }
    }
    Ok(Ok(examples))
}

/// Why the question of an example teaches little, if it does. Numbers are looked at because a question with another number is
/// understood only if the number went into the input; words may be missing there for good reasons, an attached file for one.
fn hint(example: &ToolExample) -> Option<String> {
    let Some(ask) = &example.description else {
        return Some("has no question: add `ask = \"..\"`, what a person would ask to get this input".to_owned());
    };
    let input = example.input.to_string();
    let mut numbers = ask.split(|c: char| !c.is_ascii_digit());
    let missing = numbers.find(|digits| !input.contains(digits))?;
    Some(format!(
        "asks `{}` and has no `{missing}` in its input: write the input as the question has it",
        shortened(ask)
    ))
}

fn verdict(example: &ToolExample, report: &ToolReport, asks_rights: bool) -> Verdict {
    match report.ending {
        CallEnding::Success => output_verdict(example, report.result.output.as_ref()),
        CallEnding::Suspended => Verdict::NotRun("waits for a person".to_owned()),
        CallEnding::Continuation => Verdict::NotRun("hands its work on, which this host cannot do yet".to_owned()),
        CallEnding::Failure | CallEnding::Denied if asks_rights => Verdict::NotRun(format!(
            "may need a right that this host does not grant: {}",
            ended(report)
        )),
        _ => Verdict::Failed(ended(report)),
    }
}

fn output_verdict(example: &ToolExample, output: Option<&Value>) -> Verdict {
    match (&example.output, output) {
        (Some(expected), Some(output)) if !same(expected, output) => Verdict::Failed(format!(
            "gives `{}`, and says that it gives `{}`",
            shortened(&output.to_string()),
            shortened(&expected.to_string())
        )),
        _ => Verdict::Passed,
    }
}

/// How the call ended, with what the tool logged: the words of a panic are there.
fn ended(report: &ToolReport) -> String {
    let error = report.result.error.as_deref().unwrap_or("ended without an output");
    let mut told = format!("fails: {}", shortened(error));
    let logged = report.log.records.iter().map(|record| record.message.as_str());
    if let Some(logged) = logged.chain([report.log.stderr.trim()]).find(|text| !text.is_empty()) {
        told.push_str(&format!(" (log: {})", shortened(logged)));
    }
    told
}

fn shortened(text: &str) -> String {
    art_core::text::truncate(text, TOLD)
}

/// Whether two values are the same for JSON, where `1` and `1.0` are.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => same_number(left, right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let has = |(key, value)| right.get(key).is_some_and(|other| same(value, other));
            left.len() == right.len() && left.iter().all(has)
        }
        _ => left == right,
    }
}

fn same_number(left: &Number, right: &Number) -> bool {
    left == right || ((left.is_f64() || right.is_f64()) && left.as_f64() == right.as_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn hinted(ask: Option<&str>, input: Value) -> Option<String> {
        hint(&ToolExample {
            input,
            output: None,
            description: ask.map(str::to_owned),
        })
    }

    #[test]
    fn a_number_that_the_input_lacks_is_hinted_at() {
        let told = hinted(Some("What time is it at 3 pm?"), json!({"date": "15:00"})).unwrap();
        assert!(told.contains("has no `3` in its input"), "{told}");
        assert!(hinted(None, json!({})).unwrap().contains("add `ask = \"..\"`"));
    }

    #[test]
    fn a_question_whose_numbers_are_all_in_the_input_is_fine() {
        for (ask, input) in [
            ("How many kilograms are 1,500 pounds?", json!({"value": 1500})),
            ("What is 17.5% of 80?", json!({"expression": "17.5% of 80"})),
            ("How many rows are there?", json!({"csv": "a\n1\n"})),
        ] {
            assert_eq!(hinted(Some(ask), input), None, "{ask}");
        }
    }

    #[test]
    fn numbers_are_compared_as_json_has_them() {
        for (left, right) in [(json!(1), json!(1.0)), (json!({"a": [2.0]}), json!({"a": [2]}))] {
            assert!(same(&left, &right), "{left} {right}");
        }
        for (left, right) in [
            (json!(1), json!(1.5)),
            (json!(9_007_199_254_740_993_u64), json!(9_007_199_254_740_992_u64)),
            (json!({"a": 1}), json!({"a": 1, "b": null})),
            (json!([1]), json!([1, 2])),
            (json!(1), json!("1")),
        ] {
            assert!(!same(&left, &right), "{left} {right}");
        }
    }
}
