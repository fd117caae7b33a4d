//! Compares the calls that a model made for one case with the expected calls.

use art_core::JsonObject;
use art_core::json::compare_numbers;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cases::{EvalCase, ExpectedCall};

/// A call that a model requested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposedCall {
    /// The tool.
    pub tool_name: String,
    /// Its arguments.
    pub arguments: JsonObject,
}

/// The result of one case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CaseResult {
    /// Line number of the case in its file, from 1.
    pub line: usize,
    /// The question.
    pub query: String,
    /// Number of expected calls.
    #[serde(rename = "expected")]
    pub expected_calls: usize,
    /// Number of expected calls for which a call of the same tool was made.
    pub tools_right: usize,
    /// Number of expected calls that were made with all required arguments, no unexpected ones, and only accepted values.
    pub calls_right: usize,
    /// Number of required arguments of the expected calls.
    pub arguments: usize,
    /// Number of required arguments that had an accepted value.
    pub arguments_right: usize,
    /// Number of calls beyond the expected number. A call of a wrong tool in place of an expected call is not counted.
    #[serde(rename = "invented")]
    pub extra_calls: usize,
    /// The calls made.
    pub calls: Vec<ProposedCall>,
    /// The error, if the model failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl CaseResult {
    /// Returns whether the model did not fail and made exactly the expected calls, with the right arguments.
    #[must_use]
    pub const fn is_right(&self) -> bool {
        self.error.is_none() && self.calls_right == self.expected_calls && self.extra_calls == 0
    }
}

/// Compares the calls made for `case` with the expected ones, in any order.
///
/// Numbers are compared by value, and strings without the white space around them.
#[must_use]
pub fn score(case: &EvalCase, calls: &[ProposedCall]) -> CaseResult {
    let mut unmatched_calls: Vec<&ProposedCall> = calls.iter().collect();
    let mut result = CaseResult {
        line: case.line,
        query: case.query.clone(),
        expected_calls: case.expected.len(),
        arguments: case.expected.iter().map(|call| call.arguments.len()).sum(),
        extra_calls: calls.len().saturating_sub(case.expected.len()),
        calls: calls.to_vec(),
        ..CaseResult::default()
    };
    for expected in &case.expected {
        let Some(call) = take_best_match(expected, &mut unmatched_calls) else {
            continue;
        };
        result.tools_right += 1;
        result.arguments_right += count_right_arguments(expected, call);
        result.calls_right += usize::from(has_right_arguments(expected, call));
    }
    result
}

/// Removes from `calls` the call that matches `expected` best, and returns it: a call of the same tool with the right
/// arguments, or else the one with the most right arguments. Returns `None` if `calls` has no call of the tool.
fn take_best_match<'a>(expected: &ExpectedCall, calls: &mut Vec<&'a ProposedCall>) -> Option<&'a ProposedCall> {
    let same_tool = calls
        .iter()
        .enumerate()
        .filter(|(_, call)| call.tool_name == expected.tool_name);
    let rank = |call: &ProposedCall| {
        (
            has_right_arguments(expected, call),
            count_right_arguments(expected, call),
        )
    };
    // Of calls with equal rank, `max_by_key` returns the last one, which is the first in `calls` because of `rev`.
    let (index, _) = same_tool.rev().max_by_key(|(_, call)| rank(call))?;
    Some(calls.remove(index))
}

/// Returns the number of required arguments that have an accepted value in `call`.
fn count_right_arguments(expected: &ExpectedCall, call: &ProposedCall) -> usize {
    let mut right = 0;
    for (name, accepted) in &expected.arguments {
        if call.arguments.get(name).is_some_and(|value| accepts(accepted, value)) {
            right += 1;
        }
    }
    right
}

/// Returns whether `call` has all required arguments, no others except optional ones, and only accepted values.
fn has_right_arguments(expected: &ExpectedCall, call: &ProposedCall) -> bool {
    if count_right_arguments(expected, call) < expected.arguments.len() {
        return false;
    }
    call.arguments.iter().all(|(name, value)| {
        let accepted = expected.arguments.get(name).or_else(|| expected.optional.get(name));
        accepted.is_some_and(|accepted| accepts(accepted, value))
    })
}

fn accepts(accepted: &[Value], value: &Value) -> bool {
    accepted.iter().any(|candidate| json_equal(candidate, value))
}

fn json_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => compare_numbers(a, b).is_eq(),
        (Value::String(a), Value::String(b)) => a.trim() == b.trim(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| json_equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| json_equal(a, b)))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns a case that expects one call of the tool `t`: `n` is 3, `s` is `a` or `b`, and `o` may be omitted or `true`.
    fn case() -> EvalCase {
        let arguments: std::collections::BTreeMap<String, Vec<Value>> =
            serde_json::from_value(json!({"n": [3], "s": ["a", "b"]})).unwrap();
        let optional: std::collections::BTreeMap<String, Vec<Value>> =
            serde_json::from_value(json!({"o": [true]})).unwrap();
        let call = ExpectedCall {
            tool_name: "t".into(),
            arguments,
            optional,
        };
        EvalCase {
            line: 1,
            query: "q".into(),
            tools: None,
            expected: vec![call],
        }
    }

    fn call(tool: &str, arguments: &Value) -> ProposedCall {
        ProposedCall {
            tool_name: tool.into(),
            arguments: arguments.as_object().unwrap().clone(),
        }
    }

    #[test]
    fn numbers_compare_by_value_and_strings_after_trimming() {
        assert!(score(&case(), &[call("t", &json!({"n": 3.0, "s": " b "}))]).is_right());
    }

    #[test]
    fn an_optional_argument_must_have_an_accepted_value() {
        assert!(score(&case(), &[call("t", &json!({"n": 3, "s": "a", "o": true}))]).is_right());
        assert!(!score(&case(), &[call("t", &json!({"n": 3, "s": "a", "o": false}))]).is_right());
    }

    #[test]
    fn an_unexpected_argument_makes_the_call_wrong_but_not_its_tool_or_other_arguments() {
        let result = score(&case(), &[call("t", &json!({"n": 3, "s": "a", "x": 1}))]);
        assert_eq!(
            (result.calls_right, result.arguments_right, result.tools_right),
            (0, 2, 1)
        );
    }

    #[test]
    fn a_call_beyond_the_expected_number_is_an_extra_call() {
        let right = call("t", &json!({"n": 3, "s": "a"}));
        let result = score(&case(), &[call("u", &json!({})), right]);
        assert_eq!((result.calls_right, result.extra_calls), (1, 1));
    }

    #[test]
    fn any_call_is_an_extra_call_if_none_is_expected() {
        let no_call_expected = EvalCase {
            expected: Vec::new(),
            ..case()
        };
        assert_eq!(score(&no_call_expected, &[call("t", &json!({}))]).extra_calls, 1);
        assert!(score(&no_call_expected, &[]).is_right());
    }
}
