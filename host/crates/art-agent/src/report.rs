//! What a run ends with.

use std::collections::BTreeSet;

use art_core::agent::AgentFinalResponse;
use art_core::pes::TodoItem;
use art_core::tool::{Source, ToolResult, ToolStatus};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The answer of a run and what belongs to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunReport {
    /// The answer, what it cost and how the run ended (C46).
    pub response: AgentFinalResponse,
    /// What a user interface may add to the answer (P80).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ui_metadata: Option<Value>,
    /// Where the results came from, each source once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// The plan as it stands at the end, with results and errors.
    pub items: Vec<TodoItem>,
}

/// The sources of all results of `items`, each once, in the order in which they came.
pub(crate) fn collect_sources(items: &[TodoItem]) -> Vec<Source> {
    let mut seen = BTreeSet::new();
    let results = items.iter().flat_map(|item| &item.tool_results);
    results
        .flat_map(|result| &result.metadata.sources)
        .filter(|source| seen.insert((source.source_name.clone(), source.url.clone())))
        .cloned()
        .collect()
}

/// The output of the last success, unwrapped (smart result capture, P37).
pub(crate) fn last_output(results: &[ToolResult]) -> Option<&Value> {
    let success = results
        .iter()
        .rev()
        .find(|result| result.status == ToolStatus::Success)?;
    success.output.as_ref().map(unwrap_data)
}

/// `output.data` of an output that has it, else the output (P43).
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
        assert_eq!(last_output(&results), Some(&json!([1])));
    }

    #[test]
    fn a_falsy_output_is_an_output() {
        assert_eq!(last_output(&[result(json!(0), json!([]))]), Some(&json!(0)));
    }
}
