//! The errors of a query.

use art_sdk::serde_json;
use thiserror::Error;

/// A query that cannot be answered.
#[derive(Debug, Error)]
pub(crate) enum QueryError {
    #[error("give either `query`, a jq filter, or at least one of `field`, `filter`, `largest` and `smallest`")]
    NeedsEitherQueryOrLookup,
    #[error("`combine` does not go together with `largest` or `smallest`: leave it out")]
    CombineWithLargestOrSmallest,
    #[error("`largest` and `smallest` do not go together: leave one of them out")]
    LargestWithSmallest,
    #[error("no field `{field}`; the fields are {known}")]
    NoField {
        /// The requested field.
        field: String,
        /// The first fields of the data, or `none`.
        known: String,
    },
    #[error("no object has the fields {0} together; name fields of the same object")]
    NoObjectWithFields(String),
    #[error("`{0}` is no list, so it has no number of items")]
    NotAList(String),
    #[error("`{0}` is no number, so it cannot be added")]
    NotANumber(String),
    #[error("the sum of the values is too large for a 64-bit float: combine fewer of them, with `filter`")]
    SumTooLarge,
    #[error(
        "`{0}` and `{1}` cannot be compared, since only one of them is a number: leave one of them out with `filter`"
    )]
    NotComparable(String, String),
    #[error("the data is text but not valid JSON: {0}; to query the text itself, put it in quotes")]
    InvalidJson(#[from] serde_json::Error),
    #[error("the data is empty: give a JSON value")]
    NoData,
    #[error("`query` has {0} characters, at most {1} are allowed")]
    QueryTooLong(usize, usize),
    #[error("`query` is nested more than {0} levels deep")]
    QueryTooDeep(usize),
    #[error("`query` is not a jq filter: {reason} at character {at}{}", near(.found))]
    InvalidFilter {
        /// The expected token, or the missing name.
        reason: String,
        /// The position of the error: the number of a character of the query, from 1.
        at: usize,
        /// The text from this character on, shortened.
        found: String,
    },
    #[error("`import` and `include` are not available: write the definitions into the query")]
    ImportUnavailable,
    #[error("the filter failed after {results_before} results: {message}")]
    FilterFailed {
        /// The message of the engine `jaq`.
        message: String,
        /// Number of values that the filter returned before the error.
        results_before: usize,
    },
    #[error("a result cannot be converted to JSON: {0}")]
    ResultNotJson(&'static str),
}

fn near(found: &str) -> String {
    if found.is_empty() {
        " (the end)".to_owned()
    } else {
        format!(", near `{found}`")
    }
}
