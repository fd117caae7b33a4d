//! What a run ends with.

use std::borrow::Cow;
use std::collections::BTreeSet;

use art_core::agent::{AgentFinalResponse, RunStatus};
use art_core::error::ModelError;
use art_core::pes::TodoItem;
use art_core::tool::{Source, ToolResult, ToolStatus};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::file::RunFile;

/// The answer of a run and what belongs to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunReport {
    /// The answer, what it cost and how the run ended.
    pub response: AgentFinalResponse,
    /// What a user interface may add to the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ui_metadata: Option<Value>,
    /// Parts of the question that the model says it left unanswered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unanswered: Vec<String>,
    /// The failure of the last model call, after all retries. The report may have an answer all the same, such as a
    /// listing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_error: Option<ModelError>,
    /// The sources of all results, without duplicates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// The plan as it stands at the end, with results and errors.
    pub items: Vec<TodoItem>,
    /// Files that the tools of this run produced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<RunFile>,
    /// Identifiers of the items that belong to earlier questions.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub earlier: BTreeSet<String>,
}

impl RunReport {
    /// Returns the items of this question.
    pub fn own_items(&self) -> impl Iterator<Item = &TodoItem> {
        self.items.iter().filter(|item| !self.earlier.contains(&item.id))
    }

    /// Returns the failure of the model, when it is the reason for which there is no answer.
    #[must_use]
    pub fn model_failure(&self) -> Option<&ModelError> {
        let failed = self.response.metadata.status == RunStatus::Error;
        self.model_error.as_ref().filter(|_| failed)
    }
}

/// Returns the sources of all results of `items`, without duplicates, in the order in which they came.
pub(crate) fn collect_sources(items: &[TodoItem]) -> Vec<Source> {
    let mut seen = BTreeSet::new();
    let results = items.iter().flat_map(|item| &item.tool_results);
    results
        .flat_map(|result| &result.metadata.sources)
        .filter(|source| seen.insert((source.source_name.clone(), source.url.clone())))
        .cloned()
        .collect()
}

/// Returns the output of the last success, unwrapped (smart result capture, P37). The output of a display tool is used
/// only when there is no other.
pub(crate) fn last_output(results: &[ToolResult]) -> Option<Cow<'_, Value>> {
    let successes = || {
        results
            .iter()
            .rev()
            .filter(|result| result.status == ToolStatus::Success)
    };
    let success = successes().find(|result| !result.metadata.for_display);
    Some(match readable(success.or_else(|| successes().next())?)? {
        Cow::Borrowed(output) => Cow::Borrowed(unwrap_data(output)),
        displayed => displayed,
    })
}

/// Returns the output of a result as a model may read it. The output of a display tool is drawn for a person (C9), so
/// the model reads only that it was displayed, or nothing if the call failed.
pub(crate) fn readable(result: &ToolResult) -> Option<Cow<'_, Value>> {
    let output = result.output.as_ref()?;
    match (result.metadata.for_display, &result.error) {
        (true, None) => Some(Cow::Owned(json!({"displayed": true}))),
        (true, Some(_)) => None,
        (false, _) => Some(Cow::Borrowed(output)),
    }
}

/// Returns `output.data` when `output` has it, else `output`.
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
    fn a_source_is_listed_once() {
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
    fn the_data_of_an_output_is_its_result() {
        let results = [result(json!({"status": "ok", "data": [1]}), json!([]))];
        assert_eq!(last_output(&results), Some(Cow::Owned(json!([1]))));
    }

    #[test]
    fn a_falsy_output_is_an_output() {
        assert_eq!(last_output(&[result(json!(0), json!([]))]), Some(Cow::Owned(json!(0))));
    }

    #[test]
    fn what_was_drawn_is_no_result_and_stands_back_behind_one() {
        let mut drawn = result(json!({"secret": 1}), json!([]));
        drawn.metadata.for_display = true;
        let displayed = Some(Cow::Owned(json!({"displayed": true})));
        assert_eq!(last_output(&[drawn.clone()]), displayed);
        let read = result(json!(7), json!([]));
        assert_eq!(last_output(&[read, drawn]), Some(Cow::Owned(json!(7))));
    }
}
