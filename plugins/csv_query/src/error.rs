//! Why a query has no answer.

use thiserror::Error;

/// A query that cannot be answered.
#[derive(Debug, Error)]
pub(crate) enum CsvError {
    /// Not CSV, or rows of different lengths.
    #[error("cannot read the csv text: {0}")]
    Csv(#[from] csv::Error),
    /// A row whose length is not that of the header.
    #[error("line {line} has {found} fields, the header has {expected}: quote fields that hold a `{delimiter}`")]
    Ragged {
        /// 1-based line of the text.
        line: u64,
        /// Fields of this row.
        found: usize,
        /// Fields of the header.
        expected: usize,
        /// What separates fields.
        delimiter: char,
    },
    /// Nothing to read.
    #[error("the csv text is empty: give a header row and at least one data row")]
    Empty,
    /// Not exactly one ASCII character.
    #[error("`delimiter` is `{0}`: use one character such as `,`, `;`, `|` or a tab")]
    Delimiter(String),
    /// A column that the table does not have.
    #[error("no column `{name}`; the columns are {columns}")]
    UnknownColumn {
        /// As asked for.
        name: String,
        /// Every column.
        columns: String,
    },
    /// Sums and averages need numbers.
    #[error(
        "column `{column}` is not numeric (line {line} holds `{cell}`), so it has no {aggregate}; numeric columns: {numeric}"
    )]
    NotNumeric {
        /// The column asked for.
        column: String,
        /// Where the first cell that is no number stands.
        line: u64,
        /// That cell.
        cell: String,
        /// What was asked for.
        aggregate: &'static str,
        /// Columns that would do.
        numeric: String,
    },
    /// No column was named and the table does not settle which one is meant.
    #[error("name the column to {purpose} in `column`; numeric columns: {numeric}")]
    WhichColumn {
        /// Aggregate or sort by.
        purpose: &'static str,
        /// The choice.
        numeric: String,
    },
    /// A filter that compares a numeric column with text.
    #[error("filter value `{value}` is not a number, but column `{column}` is numeric: compare it with a number")]
    FilterValue {
        /// As given.
        value: String,
        /// The numeric column.
        column: String,
    },
}
