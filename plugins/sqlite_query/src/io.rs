//! The input and the output of the tool.

use art_sdk::{
    Result, ToolError, args, output, promise, schemars,
    serde_json::{Map, Value, json},
};

/// A question about one database.
#[args]
#[derive(Clone)]
pub(crate) struct SqliteQueryInput {
    /// The path of the database: `~/data/shop.db`.
    pub(crate) path: String,
    /// One query in the SQL of SQLite: `SELECT`, `WITH` or `VALUES`. `?` stands for the next of `parameters`.
    pub(crate) sql: Option<String>,
    /// The values of the `?` in `sql`, in order. Put values here that come from earlier steps.
    #[serde(default)]
    pub(crate) parameters: Vec<Parameter>,
    /// What to say about the database instead of running `sql`: its `tables` with their columns, or the `columns`, the `row_count` or the `rows` of `table`. Defaults to `tables`, or to the `rows` if a `table` is named.
    pub(crate) about: Option<About>,
    /// The name of the table for `about`.
    pub(crate) table: Option<String>,
    /// The maximum number of rows to return.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) limit: usize,
    /// The path of the WAL file, `PATH-wal`, which SQLite keeps beside a database in WAL mode while a program uses the database. It has the latest changes.
    pub(crate) wal: Option<String>,
}

fn default_limit() -> usize {
    100
}

/// What can be said about a database.
#[args]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum About {
    Tables,
    Columns,
    RowCount,
    Rows,
}

/// The value of a `?`: text, a number, true or false, or null.
#[args]
#[derive(Clone, Debug, PartialEq)]
#[serde(untagged)]
#[schemars(transform = list_scalar_types)]
pub(crate) enum Parameter {
    Integer(i64),
    /// An integer that is too large for the database, which would round it.
    Large(u64),
    Real(f64),
    Text(String),
    Bool(bool),
    Null(()),
}

impl Parameter {
    /// Returns the text of the parameter, if it is one.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Replaces `anyOf` in the schema by one list of types, which is easier to read.
fn list_scalar_types(schema: &mut schemars::Schema) {
    schema.remove("anyOf");
    schema.insert("type".to_owned(), json!(["string", "number", "boolean", "null"]));
}

/// What a call asks for: the result of a query, or something about the database or the named table.
pub(crate) enum Question<'i> {
    Sql(&'i str),
    Tables,
    Columns(&'i str),
    RowCount(&'i str),
    Rows(&'i str),
}

impl SqliteQueryInput {
    /// Returns what the call asks for.
    ///
    /// # Errors
    ///
    /// Fails if the fields contradict each other, or if `about` needs a `table` and the call names none.
    pub(crate) fn question(&self) -> Result<Question<'_>> {
        match (self.sql.as_deref(), self.about, self.table.as_deref()) {
            (Some(sql), None, None) => Ok(Question::Sql(sql)),
            (Some(_), ..) => Err(ToolError::validation(
                "`sql` does not go together with `about` and `table`: leave these out, or `sql`",
            )),
            (None, None | Some(About::Tables), None) => Ok(Question::Tables),
            (None, None | Some(About::Rows), Some(table)) => Ok(Question::Rows(table)),
            // With a `table`, `about` = `tables` asks for the columns of this table.
            (None, Some(About::Tables | About::Columns), Some(table)) => Ok(Question::Columns(table)),
            (None, Some(About::RowCount), Some(table)) => Ok(Question::RowCount(table)),
            (None, Some(_), None) => Err(ToolError::validation(
                "name the table in `table`; `about` = `tables` lists them",
            )),
        }
    }
}

/// The rows of the answer.
#[output]
#[derive(Clone, PartialEq)]
#[schemars(transform = add_promises)]
pub(crate) struct SqliteQueryOutput {
    /// The rows: one object for each, from column name to value.
    pub(crate) rows: Vec<Map<String, Value>>,
    /// The result, if it is exactly one value: one row with one column that is not null.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "number_or_string")]
    pub(crate) value: Option<Value>,
    /// The names of the columns of `rows`, in order.
    pub(crate) columns: Vec<String>,
    /// How many rows are in `rows`.
    pub(crate) row_count: usize,
    /// Whether there are more rows than these.
    pub(crate) truncated: bool,
    /// What the caller should know: that texts were cut, rows were left out, or the latest changes may be missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
}

fn number_or_string(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": ["number", "string"]})
}

/// Adds to the schema the promise that `value` is a number if `about` is `row_count`.
fn add_promises(schema: &mut schemars::Schema) {
    let number = json!({"required": ["value"], "properties": {"value": {"type": "number"}}});
    promise(schema, json!({"about": ["row_count"]}), number);
}
