//! The report of a finished run, and functions that choose the outputs of tool calls that count as results of a step.
//!
//! If an output is an object with a field `data`, some of the functions return it *unwrapped*: only the value of this field.
//!
//! The output of a display tool, for example a chart, is drawn for the person, and no model reads it. The results of such tools
//! have `for_display` set.

use std::borrow::Cow;
use std::collections::BTreeSet;

use art_core::agent::{AgentFinalResponse, RunStatus};
use art_core::error::ModelError;
use art_core::pes::TodoItem;
use art_core::shared::Shared;
use art_core::text::prefix;
use art_core::tool::{Source, ToolResult, ToolStatus};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::file::RunFile;

/// Maximum number of suggested questions.
const MAX_SUGGESTED_QUESTIONS: usize = 3;

/// Maximum length of a suggested question, in characters. Longer ones are ignored.
const MAX_QUESTION_CHARS: usize = 200;

/// The answer of a run, with its plan, results, files and errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunReport {
    /// The answer, with the cost and the status of the run.
    pub response: AgentFinalResponse,
    /// Whether the answer is the output of a tool as it is, in place of an answer of the model.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub raw: bool,
    /// Metadata of the answer for a user interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ui_metadata: Option<Value>,
    /// Parts of the question that the model reports as unanswered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unanswered: Vec<String>,
    /// The error of the last model call, after all retries; absent if that call succeeded or the host could not continue the run.
    /// If there is an error, the response still has a text, such as a list of the results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_error: Option<ModelError>,
    /// The sources of all results, without duplicates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// The steps of the plan of this question, with their results and errors at the end of the run.
    pub items: Vec<TodoItem>,
    /// Files that the tools of this run produced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<RunFile>,
}

impl RunReport {
    /// Returns the error of the last model call if the run ended with an error.
    #[must_use]
    pub fn model_failure(&self) -> Option<&ModelError> {
        let failed = self.response.metadata.status == RunStatus::Error;
        self.model_error.as_ref().filter(|_| failed)
    }

    /// Returns up to three questions that the model suggests to ask next, each on one line of at most 200 characters. They are
    /// the first texts in `suggestedQuestions` of the metadata that can be short questions.
    #[must_use]
    pub fn suggested_questions(&self) -> Vec<String> {
        let metadata = self.ui_metadata.as_ref();
        let list = metadata.and_then(|metadata| metadata.get("suggestedQuestions")?.as_array());
        let texts = list.into_iter().flatten().filter_map(Value::as_str);
        let lines = texts.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        lines
            .filter(|line| is_short_question(line))
            .take(MAX_SUGGESTED_QUESTIONS)
            .collect()
    }
}

/// Returns whether a line can be a short question. The placeholder `...`, which the instructions show and models copy, cannot.
fn is_short_question(line: &str) -> bool {
    line.contains(char::is_alphanumeric) && prefix(line, MAX_QUESTION_CHARS).len() == line.len()
}

/// Returns the sources of all results of `items`, without duplicates, in the order of the results.
pub(crate) fn collect_sources(items: &[TodoItem]) -> Vec<Source> {
    let mut seen = BTreeSet::new();
    let results = items.iter().flat_map(|item| &item.tool_results);
    results
        .flat_map(|result| &result.metadata.sources)
        .filter(|source| seen.insert((source.source_name.clone(), source.url.clone())))
        .cloned()
        .collect()
}

/// Returns the output of the last successful call whose output is not drawn for a person, unwrapped (contract P37). If only calls
/// of display tools succeeded, returns the note of [`output_for_model`] instead.
pub(crate) fn last_output(results: &[ToolResult]) -> Option<Shared<Value>> {
    let successes = || {
        results
            .iter()
            .rev()
            .filter(|result| result.status == ToolStatus::Success)
    };
    let success = successes().find(|result| !result.metadata.for_display);
    let success = success.or_else(|| successes().next())?;
    match (&success.output, unwrapped_output(success)?) {
        // Large outputs are not copied.
        (Some(whole), Cow::Borrowed(unwrapped)) if std::ptr::eq(&raw const **whole, unwrapped) => Some(whole.clone()),
        (_, unwrapped) => Some(unwrapped.into_owned().into()),
    }
}

/// Returns the outputs of a completed item; there is at least one. If the plan has several calls for the item, and several
/// calls succeeded with an output, returns these outputs, unwrapped (contract P37). Otherwise returns the result of the item
/// as its only output.
pub(crate) fn outputs(item: &TodoItem) -> Vec<Cow<'_, Value>> {
    let succeeded = |result: &&ToolResult| result.status == ToolStatus::Success;
    let results = item.tool_results.iter().filter(succeeded);
    let outputs: Vec<_> = results.filter_map(unwrapped_output).collect();
    if item.tool_calls.len() > 1 && outputs.len() > 1 {
        return outputs;
    }
    vec![item.result.as_deref().map_or(Cow::Owned(Value::Null), Cow::Borrowed)]
}

/// Returns the output of a result as the model reads it, unwrapped.
fn unwrapped_output(result: &ToolResult) -> Option<Cow<'_, Value>> {
    Some(match output_for_model(result)? {
        Cow::Borrowed(output) => Cow::Borrowed(unwrap_data(output)),
        note_on_displayed_output => note_on_displayed_output,
    })
}

/// Returns the output of the only successful call of `item`, as the tool gave it, for use as the answer. Returns `None` if no
/// call or several calls succeeded. Also returns `None` if the output is drawn for a person: models read the answer later in the
/// conversation, and must not read such an output (contract C9).
pub(crate) fn only_output(item: &TodoItem) -> Option<&Value> {
    let mut successes = item
        .tool_results
        .iter()
        .filter(|result| result.status == ToolStatus::Success);
    let result = successes.next().filter(|result| !result.metadata.for_display)?;
    result.output.as_deref().filter(|_| successes.next().is_none())
}

/// Returns the output of a result as the model reads it. The output of a display tool is drawn for a person (contract
/// C9), so the model gets only a note that it was displayed, or nothing if the call failed.
pub(crate) fn output_for_model(result: &ToolResult) -> Option<Cow<'_, Value>> {
    let output = result.output.as_ref()?;
    match (result.metadata.for_display, &result.error) {
        (true, None) => Some(Cow::Owned(json!({"displayed": true}))),
        (true, Some(_)) => None,
        (false, _) => Some(Cow::Borrowed(output)),
    }
}

/// Returns `output.data` if present, else `output`.
pub(crate) fn unwrap_data(output: &Value) -> &Value {
    output.get("data").unwrap_or(output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use art_core::tool::ParsedToolCall;
    use serde_json::json;

    fn result(output: Value, sources: Value) -> ToolResult {
        let call = ParsedToolCall {
            call_id: "c".to_owned(),
            tool_name: "t".to_owned(),
            arguments: json!({}),
        };
        let mut result = ToolResult::success(&call, output);
        result.metadata.sources = serde_json::from_value(sources).unwrap();
        result
    }

    #[test]
    fn a_repeated_source_is_listed_once() {
        let a = json!([{"sourceName": "A", "url": "https://a"}]);
        let ab = json!([{"sourceName": "A", "url": "https://a"}, {"sourceName": "B"}]);
        let mut item = crate::plan::tests::item("a", &[]);
        item.tool_results = vec![result(json!(1), a), result(json!(2), ab)];
        let names: Vec<_> = collect_sources(&[item])
            .into_iter()
            .map(|source| source.source_name)
            .collect();
        assert_eq!(names, ["A", "B"]);
    }

    #[test]
    fn an_output_is_unwrapped_if_it_has_a_field_with_the_name_data() {
        let results = [result(json!({"status": "ok", "data": [1]}), json!([]))];
        assert_eq!(last_output(&results), Some(json!([1]).into()));
    }

    #[test]
    fn zero_counts_as_an_output() {
        assert_eq!(last_output(&[result(json!(0), json!([]))]), Some(json!(0).into()));
    }

    #[test]
    fn display_output_counts_as_the_last_output_only_if_there_is_no_other() {
        let mut drawn = result(json!({"secret": 1}), json!([]));
        drawn.metadata.for_display = true;
        let displayed = Some(json!({"displayed": true}).into());
        assert_eq!(last_output(&[drawn.clone()]), displayed);
        let not_drawn = result(json!(7), json!([]));
        assert_eq!(last_output(&[not_drawn, drawn]), Some(json!(7).into()));
    }
}
