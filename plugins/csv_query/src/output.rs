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
    /// The names of the columns of `rows`, in order. Aggregates are `sum_<column>` and so on, or `count` (if taken, `count_2`).
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

/// Adds to the schema what the output promises about `value` for certain inputs. A promise lists fields of the input, and for
/// each of them some values, where `null` stands for a field that is left out. The promise holds if each of these fields has one
/// of its listed values.
///
/// Without groups, the output of a count or a sum always has a `value`; so does the output of `column_count`. A count is a number. A
/// sum with more digits than a number of JSON has is a text, and so is such a mean or median. The output of a share has no `value` if
/// the total of all rows is 0; otherwise it is a number.
fn add_promises(schema: &mut schemars::Schema) {
    let always_number = json!({"required": ["value"], "properties": {"value": {"type": "number"}}});
    let counts = json!({"aggregate": ["count", "count_distinct"], "group_by": [null], "about": [null]});
    promise(schema, counts, always_number.clone());
    promise(schema, json!({"about": ["column_count"]}), always_number);
    let sum = json!({"aggregate": ["sum"], "group_by": [null], "about": [null]});
    promise(schema, sum, json!({"required": ["value"]}));
    let share = json!({"aggregate": ["share"], "group_by": [null], "about": [null]});
    promise(schema, share, json!({"properties": {"value": {"type": "number"}}}));
}
