//! What goes in and what comes out.

use art_sdk::{args, output, schemars, serde_json};

/// JSON and a question about it.
#[args]
pub(crate) struct JsonQueryInput {
    /// The data: any JSON value, or text that holds JSON. Text with several values, such as JSON Lines, is queried value by value.
    #[schemars(transform = any_type)]
    pub(crate) json: serde_json::Value,
    /// The jq filter to run, for example `.items[] | select(.price > 10) | .name`, `length` or `group_by(.city)`.
    pub(crate) query: String,
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
