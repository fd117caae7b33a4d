//! The input and the output of the tool.

use art_sdk::{args, output, schemars, serde_json};

use crate::error::QueryError;

/// JSON and a question about it.
#[args]
pub(crate) struct JsonQueryInput {
    /// The data: any JSON value, or text that contains JSON. Text with several values, such as JSON Lines, is queried value by value.
    #[schemars(transform = any_type)]
    pub(crate) json: serde_json::Value,
    /// The jq filter to run, for example `.items[] | select(.price > 10) | .name`, `length` or `group_by(.city)`.
    pub(crate) query: Option<String>,
    /// The name of a field, instead of a filter: its values are collected wherever they are in the data.
    pub(crate) field: Option<String>,
    /// How to combine the values of `field` into one. If omitted, they are listed.
    pub(crate) combine: Option<Combine>,
}

/// How several values are combined into one.
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
    /// Returns the filter to run: the given one, or one that collects the values of the field.
    pub(crate) fn filter(&self) -> Result<String, QueryError> {
        match (&self.query, &self.field) {
            (Some(query), None) if self.combine.is_none() => Ok(query.clone()),
            (None, Some(field)) => Ok(field_filter(field, self.combine)),
            _ => Err(QueryError::QueryOrField),
        }
    }
}

fn field_filter(field: &str, combine: Option<Combine>) -> String {
    // A JSON string is a valid jq string: JSON has no `\(`, the only sequence that jq treats differently.
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

/// Lists all types by name, because some models treat a missing `type` as a string.
fn any_type(schema: &mut schemars::Schema) {
    let types = ["object", "array", "string", "number", "boolean", "null"];
    schema.insert("type".to_owned(), serde_json::json!(types));
}

/// The results of the filter.
#[output]
pub(crate) struct JsonQueryOutput {
    /// The values that the filter returned, in order.
    pub(crate) results: Vec<serde_json::Value>,
    /// How many values are in `results`.
    pub(crate) count: usize,
    /// Whether there were more values: at most 1000 are returned.
    pub(crate) truncated: bool,
}
