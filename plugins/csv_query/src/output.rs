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
/// Without groups, the output of a count or a sum always has a `value`, which is a number. The output of a mean, a median or a
/// share has no `value` if there are no numbers, or if the share would be one of 0; otherwise its `value` is a number.
fn add_promises(schema: &mut schemars::Schema) {
    let value_is_present_number = json!({"required": ["value"], "properties": {"value": {"type": "number"}}});
    let always_numbers = ["count", "count_distinct", "sum"];
    let without_groups = json!({"aggregate": always_numbers, "group_by": [null], "about": [null]});
    promise(schema, without_groups, value_is_present_number.clone());
    promise(schema, json!({"about": ["column_count"]}), value_is_present_number);
    let numbers_or_nothing = ["mean", "median", "share"];
    let without_groups = json!({"aggregate": numbers_or_nothing, "group_by": [null], "about": [null]});
    promise(
        schema,
        without_groups,
        json!({"properties": {"value": {"type": "number"}}}),
    );
}
