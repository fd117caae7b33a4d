//! The errors of a search.

use thiserror::Error;

/// A search that cannot be run.
#[derive(Debug, Error)]
pub(crate) enum ExtractError {
    #[error("give either `kind`, such as `email`, or `pattern`, a regular expression such as `\\d+`")]
    NeedsEitherPatternOrKind,
    #[error("`pattern` is empty: give a regular expression such as `\\d+`")]
    EmptyPattern,
    #[error("`pattern` has {0} characters, at most {1} are allowed")]
    PatternTooLong(usize, usize),
    #[error("`pattern` is not a regular expression: {reason} at character {at}, near `{near}`")]
    InvalidPattern {
        /// The error of the parser.
        reason: String,
        /// The position of the error: the number of a character of the pattern, from 1.
        at: usize,
        /// The pattern from this character on, shortened.
        near: String,
    },
    #[error("`pattern` is too large when compiled: use smaller repetitions")]
    PatternTooLarge,
    #[error("`limit` is {0}: give a number from 1 to 1000")]
    LimitOutOfRange(u32),
    #[error("`pattern` has no group `{group}`; its groups are {known}")]
    UnknownGroup {
        /// The requested group.
        group: String,
        /// The numbers of the existing groups, with their names.
        known: String,
    },
}
