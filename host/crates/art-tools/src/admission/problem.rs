//! Why a schema is refused.

use super::{MAX_DEPTH, MAX_NODES, MAX_PATHS, MAX_PATTERN_BYTES, MAX_PATTERNS, MAX_REFERENCES, MAX_TEXT_BYTES};

/// Why a schema is refused. `at` is a JSON pointer into it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaProblem {
    /// D06.
    #[error("its text has {0} bytes, more than {MAX_TEXT_BYTES}")]
    TextTooLong(usize),
    /// D01.
    #[error("it is nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
    /// D01, D06.
    #[error("it has more than {MAX_NODES} values")]
    TooManyNodes,
    /// D07.
    #[error("its root must have `\"type\": \"object\"`")]
    RootNotObject,
    /// D07.
    #[error("`$schema` names the dialect `{0}`; only `{dialect}` is supported", dialect = super::DIALECT)]
    Dialect(String),
    /// D07.
    #[error("there is no schema at `{at}`: a schema is an object or a boolean")]
    NotASchema {
        /// Where.
        at: String,
    },
    /// A keyword that changes what a reference means.
    #[error("`{keyword}` at `{at}` is not supported")]
    RefusedKeyword {
        /// Where.
        at: String,
        /// The keyword.
        keyword: String,
    },
    /// D03.
    #[error("the `$ref` `{reference}` at `{at}` does not start with `#/`, or has a `%` in it")]
    ForeignReference {
        /// Where.
        at: String,
        /// What it says.
        reference: String,
    },
    /// The reference names no schema.
    #[error("the `$ref` `{reference}` at `{at}` names no schema")]
    DanglingReference {
        /// Where.
        at: String,
        /// What it says.
        reference: String,
    },
    /// D04.
    #[error("the schema at `{at}` applies to a value only by applying itself to the same value")]
    UnproductiveCycle {
        /// Where.
        at: String,
    },
    /// D02.
    #[error("schemas refer to each other over more than {MAX_REFERENCES} references, or hold each other too deeply")]
    ReferencesTooDeep,
    /// D01.
    #[error("it unfolds to more than {MAX_PATHS} schemas")]
    TooManyPaths,
    /// D05.
    #[error("the pattern at `{at}` has {bytes} bytes, more than {MAX_PATTERN_BYTES}")]
    PatternTooLong {
        /// Where.
        at: String,
        /// How long it is.
        bytes: usize,
    },
    /// D05.
    #[error("the pattern at `{at}` is not supported: it must be linear (no lookaround, no backreference) and small")]
    PatternRefused {
        /// Where.
        at: String,
    },
    /// D05.
    #[error("it has more than {MAX_PATTERNS} patterns")]
    TooManyPatterns,
    /// D07: not a schema of 2020-12.
    #[error("`{at}` is not valid in JSON Schema 2020-12: {message}")]
    Invalid {
        /// Where.
        at: String,
        /// What is wrong.
        message: String,
    },
}
