//! Why a query has no answer.

use art_sdk::serde_json;
use thiserror::Error;

/// A query that cannot be answered.
#[derive(Debug, Error)]
pub(crate) enum QueryError {
    #[error("give either `query`, a jq filter, or `field`, the name of a field, with or without `combine`")]
    Which,
    #[error("`json` is text but not valid JSON: {0}; to query the text itself, put it in quotes")]
    Json(#[from] serde_json::Error),
    #[error("`json` is empty: give a JSON value")]
    Empty,
    #[error("`query` has {0} characters, at most {1} are allowed")]
    TooLong(usize, usize),
    #[error("`query` is nested more than {0} levels deep")]
    TooDeep(usize),
    #[error("`query` is not a jq filter: {what} at character {at}{}", near(.found))]
    Compile {
        /// What was expected or is missing.
        what: String,
        /// 1-based character of the query.
        at: usize,
        /// The text from there on, shortened.
        found: String,
    },
    #[error("`import` and `include` are not available: write the definitions into the query")]
    Import,
    #[error("the filter failed after {after} results: {message}")]
    Run {
        /// What jq says.
        message: String,
        /// How many values had come out.
        after: usize,
    },
    #[error("a result cannot be written as JSON: {0}")]
    Output(&'static str),
}

fn near(found: &str) -> String {
    if found.is_empty() {
        " (the end)".to_owned()
    } else {
        format!(", near `{found}`")
    }
}
