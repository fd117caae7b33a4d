//! The output of the tool.

use art_sdk::{
    output, schemars,
    serde_json::{Map, Value},
};

/// The rows that answer the query.
#[output]
#[derive(Clone, PartialEq)]
pub(crate) struct CsvQueryOutput {
    /// The rows: one object for each, from column name to value. Cells of numeric columns are numbers, empty cells null.
    pub(crate) rows: Vec<Map<String, Value>>,
    /// The result, if it is exactly one value: one row with one column.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "scalar")]
    pub(crate) value: Option<Value>,
    /// The names of the columns of `rows`, in order. An aggregated column is named `sum_<column>` and so on, or `count`.
    pub(crate) columns: Vec<String>,
    /// How many rows are in `rows`.
    pub(crate) row_count: usize,
    /// How many rows of the table match the filter.
    pub(crate) matched_rows: usize,
    /// Notes about ignored data: rows over the limit, empty cells.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
}

/// The schema of a number or a text.
fn scalar(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": ["number", "string"]})
}
