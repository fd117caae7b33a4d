//! What goes in and what comes out.

use art_sdk::{args, output, schemars, serde_json};

use crate::error::QueryError;

/// JSON and a question about it.
#[args]
pub(crate) struct JsonQueryInput {
    /// The data: any JSON value, or text that holds JSON. Text with several values, such as JSON Lines, is queried value by value.
    #[schemars(transform = any_type)]
    pub(crate) json: serde_json::Value,
    /// The jq filter to run, for example `.items[] | select(.price > 10) | .name`, `length` or `group_by(.city)`.
    pub(crate) query: Option<String>,
    /// Instead of a filter: the name of a field, whose values are collected wherever it is in the data.
    pub(crate) field: Option<String>,
    /// What to make of the values of `field`. Left out, they are listed.
    pub(crate) combine: Option<Combine>,
}

/// How several values become one.
#[args]
#[output]
#[derive(Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Combine {
    Count,
    Sum,
    Mean,
    Min,
    Max,
}

impl JsonQueryInput {
    /// The filter to run: the one that was given, or the one that collects a field.
    pub(crate) fn filter(&self) -> Result<String, QueryError> {
        match (&self.query, &self.field) {
            (Some(query), None) if self.combine.is_none() => Ok(query.clone()),
            (None, Some(field)) => Ok(collecting(field, self.combine)),
            _ => Err(QueryError::Which),
        }
    }
}

fn collecting(field: &str, combine: Option<Combine>) -> String {
    // The text of a JSON string is that of a jq string but for `\(`, which JSON does not have.
    let field = serde_json::Value::from(field).to_string();
    let values = format!("[.. | objects | select(has({field})) | .[{field}]]");
    let then = match combine {
        None => ".[]",
        Some(Combine::Count) => "length",
        Some(Combine::Sum) => "add",
        Some(Combine::Mean) => "if length > 0 then add / length else null end",
        Some(Combine::Min) => "min",
        Some(Combine::Max) => "max",
    };
    format!("{values} | {then}")
}

/// All types by name: some readers of a schema take a missing `type` for a string.
fn any_type(schema: &mut schemars::Schema) {
    let types = ["object", "array", "string", "number", "boolean", "null"];
    schema.insert("type".to_owned(), serde_json::json!(types));
}

/// What the filter gave.
#[output]
pub(crate) struct JsonQueryOutput {
    /// The values that the filter gave, in order.
    pub(crate) results: Vec<serde_json::Value>,
    /// How many values are in `results`.
    pub(crate) count: usize,
    /// Whether the filter would have given more: at most 1000 values are returned.
    pub(crate) truncated: bool,
}
