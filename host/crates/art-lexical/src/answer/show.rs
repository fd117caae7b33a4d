//! Shows a result for people: a value on its line, rows as a table.

use art_core::JsonObject;
use serde_json::Value;

/// Rows of a table that are shown.
const ROWS: usize = 50;
/// Characters of one value.
const VALUE: usize = 2_000;

/// `label: result`, or the label and a table below it.
pub(super) fn labelled(label: &str, result: &Value) -> String {
    let result = parsed(result);
    if let Some(asked) = asked_for(label, &result) {
        return format!("{label}: {}", fields(&asked));
    }
    if let Some(rows) = rows(&result) {
        return match rows.as_slice() {
            [] => format!("{label}: no rows"),
            [row] => format!("{label}: {}", fields(row)),
            _ => format!("{label}:\n\n{}", table(&rows)),
        };
    }
    match &result {
        Value::Object(object) => format!("{label}: {}", only_value(object).unwrap_or_else(|| fields(object))),
        Value::String(text) if text.contains('\n') => format!("{label}:\n\n{}", bounded(text)),
        value => format!("{label}: {}", scalar(value)),
    }
}

/// The simple fields that the label names: `words` of a text's statistics in "How many words are in ...".
fn asked_for(label: &str, result: &Value) -> Option<JsonObject> {
    let object = result.as_object().filter(|object| object.len() > 1)?;
    let label = label.to_lowercase();
    let words: Vec<&str> = label.split(|c: char| !c.is_alphanumeric()).collect();
    let is_named = |name: &str| name.to_lowercase().split('_').all(|word| words.contains(&word));
    let is_simple = |value: &Value| value.is_number() || value.is_string() || value.is_boolean();
    let asked = object.iter().filter(|(name, value)| is_simple(value) && is_named(name));
    let asked: JsonObject = asked.map(|(name, value)| (name.clone(), value.clone())).collect();
    (!asked.is_empty()).then_some(asked)
}

/// JSON that arrived as text.
fn parsed(result: &Value) -> Value {
    let inner = result
        .as_str()
        .and_then(|text| serde_json::from_str::<Value>(text).ok());
    inner
        .filter(|value| value.is_object() || value.is_array())
        .unwrap_or_else(|| result.clone())
}

/// The rows of a result: a list of objects, on its own or as the only such field.
fn rows(result: &Value) -> Option<Vec<JsonObject>> {
    let list = match result {
        Value::Array(list) => list,
        Value::Object(object) => object
            .values()
            .find_map(|value| value.as_array().filter(|list| is_rows(list)))?,
        _ => return None,
    };
    is_rows(list).then(|| list.iter().filter_map(Value::as_object).cloned().collect())
}

fn is_rows(list: &[Value]) -> bool {
    !list.is_empty() && list.iter().all(Value::is_object)
}

fn only_value(object: &JsonObject) -> Option<String> {
    let mut values = object.values();
    match (values.next(), values.next()) {
        (Some(value), None) => Some(scalar(value)),
        _ => None,
    }
}

fn fields(object: &JsonObject) -> String {
    object
        .iter()
        .map(|(name, value)| format!("{} {}", name.replace('_', " "), scalar(value)))
        .collect::<Vec<_>>()
        .join(", ")
}

fn scalar(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => bounded(text),
        Value::Array(values) if values.iter().all(|value| !value.is_object() && !value.is_array()) => {
            bounded(&values.iter().map(scalar).collect::<Vec<_>>().join(", "))
        }
        value => bounded(&value.to_string()),
    }
}

fn bounded(text: &str) -> String {
    art_core::text::truncate(text, VALUE)
}

/// A table with the columns of all rows, in the order in which they first appear.
fn table(rows: &[JsonObject]) -> String {
    let mut columns: Vec<&String> = Vec::new();
    for name in rows.iter().take(ROWS).flat_map(JsonObject::keys) {
        if !columns.contains(&name) {
            columns.push(name);
        }
    }
    let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let mut lines = vec![
        line(columns.iter().map(|name| cell(name)).collect()),
        line(vec!["---".to_owned(); columns.len()]),
    ];
    for row in rows.iter().take(ROWS) {
        let value = |name: &&String| row.get(*name).map_or_else(String::new, |value| cell(&scalar(value)));
        lines.push(line(columns.iter().map(value).collect()));
    }
    if rows.len() > ROWS {
        lines.push(format!("\n{} more rows", rows.len() - ROWS));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_field_that_was_asked_for_is_the_answer() {
        let result = serde_json::json!({"words": 6, "characters": 18, "frequent_words": [{"word": "to", "count": 2}]});
        assert_eq!(
            super::labelled("How many words are in it", &result),
            "How many words are in it: words 6"
        );
    }

    use super::*;
    use serde_json::json;

    #[test]
    fn a_single_field_stands_for_its_object() {
        assert_eq!(
            labelled("17.5% of 2340", &json!({"result": 409.5})),
            "17.5% of 2340: 409.5"
        );
    }

    #[test]
    fn one_row_is_a_sentence_and_several_are_a_table() {
        assert_eq!(
            labelled(
                "Highest",
                &json!({"rows": [{"region": "North", "total": 30}], "row_count": 1})
            ),
            "Highest: region North, total 30"
        );
        let shown = labelled("All", &json!([{"a": 1}, {"a": 2, "b": "x|y"}]));
        assert_eq!(shown, "All:\n\n| a | b |\n| --- | --- |\n| 1 |  |\n| 2 | x\\|y |");
    }

    #[test]
    fn json_that_came_as_text_is_read() {
        assert_eq!(labelled("Days", &json!("{\"days\":998}")), "Days: 998");
    }
}
