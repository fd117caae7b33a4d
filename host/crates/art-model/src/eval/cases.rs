//! Parses evaluation cases.

use std::collections::BTreeMap;

use art_core::tool::ToolSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One line of an evaluation set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EvalCase {
    /// Line number in the file, from 1; not part of the JSON.
    #[serde(skip)]
    pub line: usize,
    /// The question.
    pub query: String,
    /// The available tools. If absent, the tools of the host are used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<ToolSchema>>,
    /// The expected calls; empty if no tool fits.
    pub expected: Vec<ExpectedCall>,
}

/// An expected call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExpectedCall {
    /// The tool.
    pub tool_name: String,
    /// Required arguments, each with its accepted values.
    #[serde(default)]
    pub arguments: BTreeMap<String, Vec<Value>>,
    /// Arguments that may be omitted, each with its accepted values.
    #[serde(default)]
    pub optional: BTreeMap<String, Vec<Value>>,
}

/// The error for a line that is not an evaluation case.
#[derive(Debug, thiserror::Error)]
#[error("line {line} is not an evaluation case: {reason}")]
pub struct EvalError {
    /// Line number in the file, from 1.
    pub line: usize,
    /// The reason.
    pub reason: String,
}

/// Parses JSON lines and skips blank lines.
///
/// # Errors
/// Fails with the first line that is not a case, expects a tool that is not available, or has an argument without an accepted
/// value.
pub fn parse_cases(text: &str) -> Result<Vec<EvalCase>, EvalError> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(index, line)| parse_case(index + 1, line)).collect()
}

fn parse_case(line: usize, text: &str) -> Result<EvalCase, EvalError> {
    let error = |reason: String| EvalError { line, reason };
    let mut case: EvalCase = serde_json::from_str(text).map_err(|cause| error(cause.to_string()))?;
    for call in &case.expected {
        let is_offered = |tools: &Vec<ToolSchema>| tools.iter().any(|tool| tool.name == call.tool_name);
        if !case.tools.as_ref().is_none_or(is_offered) {
            return Err(error(format!(
                "expected tool `{}` is not among the tools",
                call.tool_name
            )));
        }
        let mut arguments = call.arguments.iter().chain(&call.optional);
        if let Some((name, _)) = arguments.find(|(_, accepted)| accepted.is_empty()) {
            return Err(error(format!("argument `{name}` has no accepted value")));
        }
    }
    case.line = line;
    Ok(case)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_for_a_malformed_line_has_its_number() {
        let error = parse_cases("\n{\"query\":\"q\",\"tools\":[],\"expected\":[]}\n{\"query\":1}").unwrap_err();
        assert_eq!(error.line, 3);
        assert!(
            error
                .to_string()
                .starts_with("line 3 is not an evaluation case: invalid type"),
            "{error}"
        );
    }

    #[test]
    fn an_expected_tool_must_be_available() {
        let error = parse_cases(r#"{"query":"q","tools":[],"expected":[{"toolName":"t"}]}"#).unwrap_err();
        assert_eq!(error.reason, "expected tool `t` is not among the tools");
    }

    #[test]
    fn blank_lines_count_in_line_numbers() {
        let cases = parse_cases("\n\n{\"query\":\"q\",\"tools\":[],\"expected\":[]}").unwrap();
        assert_eq!(cases.first().map(|case| case.line), Some(3));
    }
}
