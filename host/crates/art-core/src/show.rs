//! Shows results of tools to people: a value on one line, rows as a table.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::JsonObject;
use crate::text::truncate;

/// Maximum number of rows of a table that are shown.
const MAX_ROWS: usize = 50;
/// Maximum length of one value, in characters.
const MAX_VALUE_CHARS: usize = 2_000;
/// Maximum length of a label or another text on one line, in characters.
const MAX_LINE_CHARS: usize = 300;

/// Returns `label: result`. A list of objects is shown as a Markdown table of at most 50 rows below the label. Each value is cut
/// after 2,000 characters.
///
/// Only the main part of the result is shown. The main part of an object is its first field if that is a list, or its only field.
/// The main part of a list is its only item. Any other result is shown as a whole.
#[must_use]
pub fn labelled(label: &str, result: &Value) -> String {
    match main_value(result) {
        Value::Array(rows) if !rows.is_empty() && rows.iter().all(Value::is_object) => {
            let rows: Vec<&JsonObject> = rows.iter().filter_map(Value::as_object).collect();
            format!("{label}:\n\n{}", table(&rows))
        }
        Value::Object(object) => {
            let field = |(name, value): (&String, &Value)| format!("{} {}", name.replace('_', " "), value_text(value));
            format!("{label}: {}", join(object.iter().map(field)))
        }
        Value::String(text) if text.contains('\n') => format!("{label}:\n\n{}", truncate(&text, MAX_VALUE_CHARS)),
        value => format!("{label}: {}", value_text(&value)),
    }
}

/// Returns the description of a step as a label for its result: one line that begins with a capital letter, without an opening
/// such as "what is".
#[must_use]
pub fn step_label(description: &str) -> String {
    let line = one_line(description.trim().trim_end_matches(['?', '.', '!', ':', ',']));
    let lower = line.to_lowercase();
    let mut openings = "what is |what's |what are |how much is |calculate |compute ".split('|');
    let opening_len = openings.find(|opening| lower.starts_with(opening)).map_or(0, str::len);
    let mut letters = line.chars().skip(opening_len);
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// Returns a text on one line, cut after 300 characters.
#[must_use]
pub fn one_line(text: &str) -> String {
    truncate(&text.split_whitespace().collect::<Vec<_>>().join(" "), MAX_LINE_CHARS)
}

/// Returns the main part of a result, as [`labelled`] describes it. If this part has a main part itself, that is returned
/// instead, and so on. A text that is the JSON of a list or of an object is parsed first.
fn main_value(result: &Value) -> Value {
    let parsed = result.as_str().and_then(|text| crate::json::parse(text).ok());
    let part = match (result, &parsed) {
        (Value::Array(list), _) if list.len() == 1 => list.first(),
        (Value::Object(object), _) => object
            .values()
            .next()
            .filter(|first| first.is_array() || object.len() == 1),
        (_, Some(json @ (Value::Array(_) | Value::Object(_)))) => Some(json),
        _ => None,
    };
    part.map_or_else(|| result.clone(), main_value)
}

fn value_text(value: &Value) -> String {
    let text = match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(values) if values.is_empty() => "none".to_owned(),
        Value::Array(values) => join(values.iter().map(value_text)),
        value => value.to_string(),
    };
    truncate(&text, MAX_VALUE_CHARS)
}

fn join(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join(", ")
}

/// Returns a Markdown table with the columns of all shown rows, in the order in which the columns first appear.
fn table(rows: &[&JsonObject]) -> String {
    let shown_rows = || rows.iter().take(MAX_ROWS);
    let mut seen = BTreeSet::new();
    let names = shown_rows().flat_map(|row| row.keys());
    let columns: Vec<&String> = names.filter(|name| seen.insert(*name)).collect();
    let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let header = line(columns.iter().map(|name| cell(name)).collect());
    let mut lines = vec![header, line(vec!["---".to_owned(); columns.len()])];
    for row in shown_rows() {
        let value = |name: &&String| {
            row.get(*name)
                .map_or_else(String::new, |value| cell(&value_text(value)))
        };
        lines.push(line(columns.iter().map(value).collect()));
    }
    if rows.len() > MAX_ROWS {
        lines.push(format!("\n{} more rows", rows.len() - MAX_ROWS));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_object_with_one_field_is_shown_as_the_value_of_that_field() {
        assert_eq!(
            labelled("17.5% of 2340", &json!({"result": 409.5})),
            "17.5% of 2340: 409.5"
        );
    }

    #[test]
    fn one_row_is_shown_on_one_line_and_several_rows_as_a_table() {
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
    fn of_an_object_whose_first_field_is_a_list_only_the_list_is_shown() {
        let result = json!({"values": ["a", "b"], "count": 2});
        assert_eq!(labelled("Letters", &result), "Letters: a, b");
        assert_eq!(labelled("Letters", &json!({"values": []})), "Letters: none");
    }

    #[test]
    fn json_that_came_as_text_is_read() {
        assert_eq!(labelled("Days", &json!("{\"days\":998}")), "Days: 998");
    }
}
