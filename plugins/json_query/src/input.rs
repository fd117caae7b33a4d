//! The input and the output of the tool. A model reads the descriptions of the fields. The lists of words in them, such as
//! `highest, most`, are words of questions for which the model should use the field.

use art_sdk::serde::{self, Deserialize};
use art_sdk::{args, output, promise, schemars, serde_json, serde_json::json};

/// JSON and a question about it.
#[args]
pub(crate) struct JsonQueryInput {
    /// The data: any JSON value, or text that contains JSON. Text with several values, such as JSON Lines, is queried value by value.
    #[serde(default, deserialize_with = "deserialize_given")]
    #[schemars(with = "serde_json::Value", transform = any_type)]
    pub(crate) json: Option<serde_json::Value>,
    /// The path of a file with JSON or JSON Lines, instead of `json`: `~/data/users.json`.
    pub(crate) path: Option<String>,
    /// The jq filter to run, for example `.items[] | select(.price > 10) | .name`, `length` or `group_by(.city)`.
    pub(crate) query: Option<String>,
    /// The name of a field, instead of a filter: its values are collected wherever they are in the data.
    pub(crate) field: Option<String>,
    /// Keeps only the objects that match every condition: where, whose, with, above, below.
    #[serde(default)]
    pub(crate) filter: Vec<Condition>,
    /// The field whose largest value decides which object is used: highest, most, latest, oldest.
    pub(crate) largest: Option<String>,
    /// The field whose smallest value decides: lowest, least, earliest, youngest.
    pub(crate) smallest: Option<String>,
    /// How to combine the values of `field` into one; `length` is the number of items in the list that the field holds. If omitted, they are listed.
    pub(crate) combine: Option<Combine>,
}

/// Deserializes any value as `Some`, so that a null in the input, `Some(Null)`, differs from an absent value, `None`.
fn deserialize_given<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<serde_json::Value>, D::Error> {
    serde_json::Value::deserialize(deserializer).map(Some)
}

/// One condition on an object.
#[args]
pub(crate) struct Condition {
    /// The field to compare, in the object or in one inside it. If omitted, any value of the object may match.
    pub(crate) field: Option<String>,
    /// How to compare: `eq` equal, is; `ne` not equal; `lt` less than, below, before; `le` at most; `gt` greater than, more than, above, after; `ge` at least; `contains` has the text inside.
    pub(crate) operator: Operator,
    /// The value to compare with; text in any letter case.
    #[schemars(transform = scalar)]
    pub(crate) value: serde_json::Value,
}

/// A comparison of a value in the data with the value of a condition.
#[args]
#[derive(Clone, Copy, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Operator {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Contains,
}

/// A way to combine several values into one value, or with `distinct` and `length` into a list.
#[args]
#[derive(Clone, Copy, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Combine {
    Count,
    CountDistinct,
    Distinct,
    Sum,
    Mean,
    Median,
    Min,
    Max,
    Length,
}

/// Lists the types that the value of a condition may have.
fn scalar(schema: &mut schemars::Schema) {
    schema.insert("type".to_owned(), serde_json::json!(["string", "number", "boolean"]));
}

/// Lists all types by name, because some models treat a missing `type` as a string.
fn any_type(schema: &mut schemars::Schema) {
    let types = ["object", "array", "string", "number", "boolean", "null"];
    schema.insert("type".to_owned(), serde_json::json!(types));
}

/// The results of the query.
#[output]
#[schemars(transform = add_promises)]
pub(crate) struct JsonQueryOutput {
    /// The values that the query returned, in order.
    pub(crate) results: Vec<serde_json::Value>,
    /// The result, if it is exactly one number or text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "number_or_text")]
    pub(crate) value: Option<serde_json::Value>,
    /// How many values are in `results`.
    pub(crate) count: usize,
    /// Whether there were more values: at most 1000 are returned.
    pub(crate) truncated: bool,
}

fn number_or_text(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": ["number", "string"]})
}

/// Adds promises to the schema, which say what the output contains for certain values of the input: `value` is a number for each
/// `combine` that computes a number, and `value` is present for all of these except `mean` and `median`, which have no value if
/// there are no numbers.
fn add_promises(schema: &mut schemars::Schema) {
    let value_is_number = json!({"properties": {"value": {"type": "number"}}});
    promise(
        schema,
        json!({"combine": ["count", "count_distinct", "sum", "mean", "median"]}),
        value_is_number,
    );
    promise(
        schema,
        json!({"combine": ["count", "count_distinct", "sum"]}),
        json!({"required": ["value"]}),
    );
}
