//! The input of the tool. The doc comments of the fields are their descriptions in the schema. They list words that people use,
//! such as "for each, per, every or by region", because tools are ranked by comparing these words with the question.

use art_sdk::{args, schemars, serde_json};

use crate::{
    superlative::{Comparative, Superlative},
    unit::Unit,
};

/// A question about one CSV table.
#[args]
#[derive(Clone, Default)]
pub(crate) struct CsvQueryInput {
    /// The CSV text: a header row with the column names, then one line for each row.
    pub(crate) csv: Option<String>,
    /// The path of a CSV file, instead of `csv`: `~/data/sales.csv`.
    pub(crate) path: Option<String>,
    /// The character between two fields: `,`, `;`, tab or `|`. Detected if omitted.
    pub(crate) delimiter: Option<String>,
    /// Keeps only the rows that match every condition: where, only, with, whose, above, below, at least.
    #[serde(default)]
    pub(crate) filter: Vec<Filter>,
    /// The column to group by: one output row for each, per, every or by region, category, month, customer and so on.
    pub(crate) group_by: Option<String>,
    /// How to combine the values of a group, or of the whole table: `sum` for the total or overall amount, `mean` for the average, `count` for how many or the number of rows, `min` for the smallest, lowest, least or earliest value, `max` for the largest, highest, most or latest value, `median` for the middle value, `count_distinct` for how many different or unique values, `share` for the percentage of the total.
    pub(crate) aggregate: Option<Aggregate>,
    /// The column to aggregate or to sort by, such as sales, revenue, price or amount. Defaults to the only numeric column.
    pub(crate) column: Option<String>,
    /// The order of the rows: `descending` puts the highest, largest, biggest, top, most, best, latest first; `ascending` the lowest, smallest, least, fewest, worst, earliest first. Sorts by the aggregated value, or by `column`.
    pub(crate) sort: Option<Sort>,
    /// The adjective for the row that comes first, instead of `sort` and `column`: the oldest, the cheapest, heaviest first. The column is found by its name, `age` or `year` for `oldest`; refused unless exactly one fits.
    pub(crate) superlative: Option<Superlative>,
    /// The maximum number of rows to return: 1 for the single highest or lowest, 3 for the top three. Defaults to 1000.
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) limit: Option<u32>,
    /// The columns to show, in this order; defaults to all. For rows that are not grouped or aggregated.
    pub(crate) columns: Option<Vec<String>>,
    /// Whether to list equal rows only once: the different or unique values of `columns`.
    #[serde(default)]
    pub(crate) distinct: bool,
    /// The column by which a question names the rows, such as `flight` in how many flights are late. A count is refused if two of its rows have the same value there.
    // This field only checks a count: the number of rows is the number of flights only if no flight has two rows.
    pub(crate) noun: Option<String>,
    /// Says something about the table instead of its rows: the names of its `columns`, or the `column_count`.
    pub(crate) about: Option<About>,
}

/// What can be said about a table.
#[args]
#[derive(Clone, Copy, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum About {
    Columns,
    ColumnCount,
}

/// One condition on a row.
// `#[output]`, here and at the types of the fields, makes a filter serialisable, so that the schema can state the default of
// `CsvQueryInput::filter`.
#[args]
#[output]
#[derive(Clone, Default)]
pub(crate) struct Filter {
    /// The column to compare, in any letter case. If omitted, the only column that has the value, or the only column of dates.
    pub(crate) column: Option<String>,
    /// How to compare: `between` lies from `value` to `upper`, or from `date` to `until`; `eq` equal, is; `ne` not equal, other than; `lt` less than, below, before; `le` at most; `gt` greater than, more than, above, after; `ge` at least; `contains` has the text inside; `starts_with` begins with the text.
    pub(crate) operator: Option<Operator>,
    /// The adjective to compare by, instead of `column` and `operator`: older than 40, cheaper than 5. The column is found by its name; refused unless exactly one fits.
    pub(crate) comparative: Option<Comparative>,
    /// The value to compare with: as a number if the column is numeric, otherwise as text in any letter case.
    pub(crate) value: Option<FilterValue>,
    /// The unit of `value`, such as `kg` or `minutes`: refused if the name of the column says another one.
    pub(crate) unit: Option<Unit>,
    /// The upper bound for `between`.
    pub(crate) upper: Option<serde_json::Number>,
    /// The date or month to compare with, instead of `value`: `2026-03-05`, `5 March 2026`, `March 2026`.
    pub(crate) date: Option<String>,
    /// The last date for `between`.
    pub(crate) until: Option<String>,
}

/// The value to compare with: text, a number, true or false.
#[args]
#[output]
#[derive(Clone)]
#[serde(untagged)]
#[schemars(transform = merge_alternatives)]
pub(crate) enum FilterValue {
    /// A number.
    Number(serde_json::Number),
    /// Any text, including a number or a date.
    Text(String),
    /// True or false, compared as text.
    Bool(bool),
}

/// Replaces `anyOf`, a list of the schemas of the three variants, by one list of their types, which is easier to read.
fn merge_alternatives(schema: &mut schemars::Schema) {
    schema.remove("anyOf");
    schema.insert("type".to_owned(), serde_json::json!(["string", "number", "boolean"]));
}

/// The comparison of a cell with the value of a filter.
#[args]
#[output]
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
    StartsWith,
    Between,
}

/// The way in which many values are combined into one.
#[args]
#[derive(Clone, Copy, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Aggregate {
    Count,
    Sum,
    Mean,
    Min,
    Max,
    Median,
    CountDistinct,
    Share,
}

impl Aggregate {
    /// Returns the name that the input uses.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Min => "min",
            Self::Max => "max",
            Self::Median => "median",
            Self::CountDistinct => "count_distinct",
            Self::Share => "share",
        }
    }
}

/// The order of rows.
#[args]
#[derive(Clone, Copy, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Sort {
    Ascending,
    Descending,
}
