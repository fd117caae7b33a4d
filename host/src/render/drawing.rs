//! Draws the output of a display tool, which is only for the person and not for the model: rows as a table, text unchanged,
//! anything else as JSON.

use art_agent::RunReport;
use art_core::JsonObject;
use art_core::pes::TodoItem;
use art_core::text::prefix;
use art_core::tool::{ToolResult, ToolStatus};
use serde_json::{Value, json};

use super::{suggestions, table};

/// Maximum number of lines of one drawing.
const MAX_LINES: usize = 200;
/// Maximum number of characters of one line.
const MAX_LINE_CHARS: usize = 400;

/// Returns the tool results of a step of the plan that are to be shown to a person.
pub(crate) fn results_to_draw(step: &TodoItem) -> impl Iterator<Item = &ToolResult> {
    step.tool_results.iter().filter(|result| has_drawing(result))
}

/// Returns whether a result is to be shown to a person. A failed display tool has nothing to show.
pub(crate) fn has_drawing(result: &ToolResult) -> bool {
    result.metadata.for_display && result.status == ToolStatus::Success
}

/// Returns as JSON the results that are to be shown to a person, for programs that draw them themselves.
pub(crate) fn results_as_json(report: &RunReport) -> Vec<Value> {
    let entry = |step: &TodoItem, result: &ToolResult| {
        json!({
            "stepId": step.id,
            "callId": result.call_id,
            "toolName": result.tool_name,
            "title": result.metadata.title,
            "output": result.output,
        })
    };
    let entries = |step| results_to_draw(step).map(move |result| entry(step, result));
    report.items.iter().flat_map(entries).collect()
}

/// Draws a result under its title, or under the name of its tool. If its output is an object with the field `data`, draws only
/// this field. A long drawing is cut, and its last line says how many lines are omitted.
pub(crate) fn draw(result: &ToolResult) -> String {
    let output = result.output.as_deref().unwrap_or(&Value::Null);
    let all_lines = output_lines(output.get("data").unwrap_or(output));
    let omitted = all_lines.len().saturating_sub(MAX_LINES);
    let mut text = vec![
        result
            .metadata
            .title
            .clone()
            .unwrap_or_else(|| result.tool_name.clone()),
    ];
    text.extend(all_lines.into_iter().take(MAX_LINES).map(|line| cut_line(&line)));
    if omitted > 0 {
        let note = format!("... {omitted} more lines; `art --json runs show last` has all of them");
        text.push(suggestions::in_text(&note).into_owned());
    }
    text.join("\n")
}

fn output_lines(output: &Value) -> Vec<String> {
    if let Some(rows) = table_rows(output) {
        return table::lines(&rows);
    }
    let text = match output {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    };
    text.lines().map(str::to_owned).collect()
}

fn cut_line(line: &str) -> String {
    match prefix(line, MAX_LINE_CHARS) {
        kept if kept.len() == line.len() => line.to_owned(),
        kept => format!("{kept}..."),
    }
}

/// Returns the rows of a table, heading first, or `None` if the output is no table. A table is a list of objects, a list of
/// lists, or an object with the field `rows`, as [`rows_with_heading`] describes. No cell may be a list or an object.
fn table_rows(output: &Value) -> Option<Vec<Vec<String>>> {
    match output {
        Value::Array(entries) if !entries.is_empty() => rows_from_objects(entries).or_else(|| rows_from_lists(entries)),
        Value::Object(fields) => rows_with_heading(fields),
        _ => None,
    }
}

/// Returns the rows of an object whose field `rows` is a list of objects, or a list of lists with the heading in the field
/// `columns` or `headers`.
fn rows_with_heading(fields: &JsonObject) -> Option<Vec<Vec<String>>> {
    let entries = fields.get("rows")?.as_array()?;
    let Some(columns) = fields.get("columns").or_else(|| fields.get("headers")) else {
        return rows_from_objects(entries);
    };
    let heading = cells(columns)?;
    Some(std::iter::once(heading).chain(rows_from_lists(entries)?).collect())
}

/// Returns a heading with the keys of the first object, then a row for each object. Returns `None` if an object has a key that
/// the first one lacks, or if a value is a list or an object.
fn rows_from_objects(entries: &[Value]) -> Option<Vec<Vec<String>>> {
    let objects: Vec<&JsonObject> = entries.iter().map(Value::as_object).collect::<Option<_>>()?;
    let heading: Vec<&String> = objects.first()?.keys().collect();
    let row = |object: &&JsonObject| {
        let has_only_known_keys = object.keys().all(|name| heading.contains(&name));
        let values = heading
            .iter()
            .map(|name| cell(object.get(*name).unwrap_or(&Value::Null)));
        has_only_known_keys.then(|| values.collect::<Option<Vec<_>>>())?
    };
    let rows: Vec<_> = objects.iter().map(row).collect::<Option<_>>()?;
    let heading = heading.into_iter().cloned().collect();
    Some(std::iter::once(heading).chain(rows).collect())
}

fn rows_from_lists(entries: &[Value]) -> Option<Vec<Vec<String>>> {
    entries.iter().map(cells).collect()
}

fn cells(list: &Value) -> Option<Vec<String>> {
    list.as_array()?.iter().map(cell).collect()
}

/// Returns the text of a table cell, or `None` if the value is a list or an object.
fn cell(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::String(text) => Some(cut_line(text)),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use art_core::tool::ParsedToolCall;

    /// Returns a result of the display tool `chart`.
    fn chart_result(output: Value) -> ToolResult {
        let call = ParsedToolCall {
            call_id: "c".to_owned(),
            tool_name: "chart".to_owned(),
            arguments: json!({}),
        };
        let mut result = ToolResult::success(&call, output);
        result.metadata.for_display = true;
        result
    }

    #[test]
    fn rows_are_drawn_as_a_table_in_each_of_their_forms() {
        let table = "chart\na    b\n1    x\n250";
        for output in [
            json!([{"a": 1, "b": "x"}, {"a": 250, "b": null}]),
            json!({"rows": [{"a": 1, "b": "x"}, {"a": 250}]}),
            json!({"columns": ["a", "b"], "rows": [[1, "x"], [250, null]]}),
            json!([["a", "b"], [1, "x"], [250, ""]]),
            json!({"data": [{"a": 1, "b": "x"}, {"a": 250}]}),
        ] {
            assert_eq!(draw(&chart_result(output.clone())), table, "{output}");
        }
    }

    #[test]
    fn text_is_unchanged_and_other_values_are_json_under_the_title() {
        let mut titled = chart_result(json!("#\n##"));
        titled.metadata.title = Some("Sales".to_owned());
        assert_eq!(draw(&titled), "Sales\n#\n##");
        // The title, and seven lines of indented JSON.
        assert_eq!(draw(&chart_result(json!([{"a": [1]}]))).lines().count(), 1 + 7);
        assert_eq!(draw(&chart_result(json!([]))), "chart\n[]");
    }

    #[test]
    fn a_long_drawing_is_cut() {
        let drawn = draw(&chart_result(json!("x\n".repeat(MAX_LINES + 800))));
        let title_and_note = 2;
        assert_eq!(drawn.lines().count(), MAX_LINES + title_and_note);
        assert!(drawn.contains("... 800 more lines"), "{drawn}");
        let long_line = draw(&chart_result(json!("x".repeat(10 * MAX_LINE_CHARS))));
        assert!(long_line.len() < MAX_LINE_CHARS + 100);
    }

    #[test]
    fn a_failed_result_is_not_drawn() {
        let mut failed = chart_result(json!("x"));
        assert!(has_drawing(&failed));
        failed.status = ToolStatus::Error;
        assert!(!has_drawing(&failed));
    }
}
