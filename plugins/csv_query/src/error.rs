//! The errors of a query.

use thiserror::Error;

/// A query that cannot be answered.
#[derive(Debug, Error)]
pub(crate) enum CsvError {
    /// The text is not CSV.
    #[error("cannot read the csv text: {0}")]
    Csv(#[from] csv::Error),
    /// A row does not have as many fields as the header.
    #[error("line {line} has {found} fields, the header has {expected}: quote fields that hold a `{delimiter}`")]
    WrongFieldCount {
        /// 1-based line of the text at which the row starts.
        line: u64,
        /// Number of fields of this row.
        found: usize,
        /// Number of fields of the header.
        expected: usize,
        /// The character that separates fields.
        delimiter: char,
    },
    /// The text is empty.
    #[error("the csv text is empty: give a header row and at least one data row")]
    Empty,
    /// The delimiter is not exactly one ASCII character.
    #[error("`delimiter` is `{0}`: use one character such as `,`, `;`, `|` or a tab")]
    BadDelimiter(String),
    /// The table has no such column.
    #[error("no column `{name}`; the columns are {columns}")]
    UnknownColumn {
        /// The requested name.
        name: String,
        /// All columns of the table.
        columns: String,
    },
    /// The cells of the column cannot be combined by the aggregate, since the column is not numeric.
    #[error(
        "column `{column}` is not numeric (line {line} holds `{cell}`), so it has no {aggregate}; numeric columns: {numeric}"
    )]
    NotNumeric {
        /// The requested column.
        column: String,
        /// 1-based line of the text at which the row of `cell` starts.
        line: u64,
        /// The first cell that is not a number. If all cells are numbers, but not of one style, the first that is not of
        /// `Style::Point`. Empty if all cells are empty.
        cell: String,
        /// The requested aggregate.
        aggregate: &'static str,
        /// The numeric columns.
        numeric: String,
    },
    /// No column is named, and not exactly one column besides the group column is numeric.
    #[error("name the column to {purpose} in `column`; numeric columns: {numeric}")]
    WhichColumn {
        /// What is done with the column: `aggregate` or `sort by`.
        purpose: &'static str,
        /// The numeric columns.
        numeric: String,
    },
    /// No column fits an adjective such as `oldest`, or several columns do.
    #[error("not exactly one column fits the adjective (found: {found}): name the column")]
    WhichAdjectiveColumn {
        /// The columns that fit.
        found: String,
    },
    /// The name of a column says that its numbers have another unit than the number of a filter.
    #[error("column `{column}` is not in `{unit}`: give the number in the unit of the column")]
    OtherUnit {
        /// The unit of the filter.
        unit: String,
        /// The column.
        column: String,
    },
    /// A filter names no column, and no column fits the filter, or several columns do.
    #[error("`{value}` can be in {columns}: name the column of the condition in `column`")]
    WhichFilterColumn {
        /// The value or the date of the filter.
        value: String,
        /// The columns that fit.
        columns: String,
    },
    /// A question counts things such as customers, but several of the counted rows are about the same customer, so that the
    /// number of rows is not the number of customers.
    #[error("`{value}` stands in several rows of column `{column}`: ask for rows or for different values")]
    RepeatedValue {
        /// The column that names the things.
        column: String,
        /// A value that several rows have.
        value: String,
    },
    /// Two fields of the input contradict each other.
    #[error("`{0}` and `{1}` do not go together: leave one of them out")]
    Contradiction(&'static str, &'static str),
    /// `columns` is given together with an aggregate or a group.
    #[error("`columns` lists columns of single rows: leave it out, or leave out `aggregate` and `group_by`")]
    ColumnsOfCombinedRows,
    /// A filter lacks something that its operator needs, such as a value or a bound.
    #[error("{filter} needs {needs}")]
    IncompleteFilter {
        /// The filter, in words.
        filter: &'static str,
        /// What is missing, in words.
        needs: &'static str,
    },
    /// A filter compares with a date that cannot be read, or compares a date with a column that is no column of dates.
    #[error(
        "cannot compare column `{column}` with the date `{date}`: write it as `2026-03-05`, and name a column of dates"
    )]
    NotComparableWithDate {
        /// The date of the filter.
        date: String,
        /// The column.
        column: String,
    },
    /// A filter compares a numeric column with text.
    #[error("filter value `{value}` is not a number, but column `{column}` is numeric: compare it with a number")]
    NotComparableWithText {
        /// The value of the filter.
        value: String,
        /// The numeric column.
        column: String,
    },
}
