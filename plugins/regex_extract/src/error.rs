//! Why nothing was searched.

use thiserror::Error;

/// A search that cannot be made.
#[derive(Debug, Error)]
pub(crate) enum ExtractError {
    #[error("`pattern` is empty: give a regular expression such as `\\d+`")]
    Empty,
    #[error("`pattern` has {0} characters, at most {1} are allowed")]
    TooLong(usize, usize),
    #[error("`pattern` is not a regular expression: {what} at character {at}, near `{near}`")]
    Syntax {
        /// What is wrong.
        what: String,
        /// 1-based character of the pattern.
        at: usize,
        /// The pattern from there on, shortened.
        near: String,
    },
    #[error("`pattern` is too large when compiled: use smaller repetitions")]
    TooLarge,
    #[error("`limit` is {0}: give a number from 1 to 1000")]
    Limit(u32),
    #[error("`pattern` has no group `{group}`; its groups are {known}")]
    UnknownGroup {
        /// As asked for.
        group: String,
        /// Numbers, with names.
        known: String,
    },
}
