//! The output of the tool.

use art_sdk::{
    output, promise, schemars,
    serde_json::{Map, Value, json},
};

/// The rows that answer the query.
#[output]
#[derive(Clone, PartialEq)]
#[schemars(transform = add_promises)]
pub(crate) struct CsvQueryOutput {
    /// The rows: one object for each, from column name to value. Cells of numeric columns are numbers, empty cells null.
    pub(crate) rows: Vec<Map<String, Value>>,
    /// The result, if it is exactly one value: one row with one column.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "scalar_schema")]
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
fn scalar_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": ["number", "string"]})
}

/// Adds to the schema for which inputs the output has a single value. A count and a sum of all rows always have one, but a mean, a median
/// and a share have none if there are no numbers.
fn add_promises(schema: &mut schemars::Schema) {
    let number = json!({"required": ["value"], "properties": {"value": {"type": "number"}}});
    let counted = ["count", "count_distinct", "sum"];
    let of_all = json!({"aggregate": counted, "group_by": [null], "about": [null]});
    promise(schema, of_all, number.clone());
    promise(schema, json!({"about": ["column_count"]}), number);
    let calculated = ["mean", "median", "share"];
    let may_be_none = json!({"aggregate": calculated, "group_by": [null], "about": [null]});
    promise(
        schema,
        may_be_none,
        json!({"properties": {"value": {"type": "number"}}}),
    );
}
