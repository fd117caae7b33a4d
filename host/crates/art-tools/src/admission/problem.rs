//! Why a schema is refused.

use super::{
    MAX_DEPTH, MAX_NODES, MAX_PATTERN_BYTES, MAX_PATTERN_PROGRAMS, MAX_PATTERNS, MAX_POINTER_BYTES,
    MAX_REFERENCE_BYTES, MAX_REFERENCES, MAX_SCHEMAS, MAX_TEXT_BYTES, MAX_TRIES,
};

/// Why a schema is refused. `at` is a JSON pointer into it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaProblem {
    /// The schema has too much text (D02).
    #[error("its text has {0} bytes, more than {MAX_TEXT_BYTES}")]
    TextTooLong(usize),
    /// The schemas are nested too deeply (D01).
    #[error("its schemas are nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
    /// The path to a schema is too long: everything that can go wrong there keeps a copy of it.
    #[error(
        "the names on the way to the schema at `{at}` have more than {MAX_POINTER_BYTES} bytes together: shorten them"
    )]
    PointerTooLong {
        /// Where.
        at: String,
    },
    /// The schema has too many values.
    #[error("it has more than {MAX_NODES} values")]
    TooManyNodes,
    /// The root is not an object (D07).
    #[error("its root must have `\"type\": \"object\"`")]
    RootNotObject,
    /// The dialect is not JSON Schema 2020-12.
    #[error("`$schema` names the dialect `{0}`; only `{dialect}` is supported", dialect = super::DIALECT)]
    Dialect(String),
    /// A schema is neither an object nor a boolean.
    #[error("there is no schema at `{at}`: a schema is an object or a boolean")]
    NotASchema {
        /// Where.
        at: String,
    },
    /// A keyword that changes the meaning of a reference.
    #[error("`{keyword}` at `{at}` is not supported")]
    RefusedKeyword {
        /// Where.
        at: String,
        /// The keyword.
        keyword: String,
    },
    /// A reference leaves the schema (D03).
    #[error(
        "the `$ref` `{reference}` at `{at}` does not start with `#/`, has a `%` in it, or has more than \
         {MAX_REFERENCE_BYTES} bytes: write what it names under `$defs`"
    )]
    ForeignReference {
        /// Where.
        at: String,
        /// The reference.
        reference: String,
    },
    /// The reference names no schema.
    #[error("the `$ref` `{reference}` at `{at}` names no schema")]
    DanglingReference {
        /// Where.
        at: String,
        /// The reference.
        reference: String,
    },
    /// A reference leads back to itself (D04).
    #[error(
        "the `$ref` `{reference}` at `{at}` leads back to itself, and a recursive schema has no end: write as many levels as \
         are needed and `true` below them, or take a list whose items name their parent"
    )]
    Recursive {
        /// Where, in the schema without references.
        at: String,
        /// The reference.
        reference: String,
    },
    /// A chain of references is too long.
    #[error("more than {MAX_REFERENCES} references lead to one another: refer to the last of them at once")]
    TooManyReferences,
    /// The schema has too many parts once its references are replaced; names those references.
    #[error(
        "it has more than {MAX_SCHEMAS} schemas when each `$ref` is replaced by what it names{0}: write `true` or \
         `{{\"type\": \"object\"}}` for a definition that is used often, or split the tool"
    )]
    TooManySchemas(String),
    /// The schema has too much text once its references are replaced; names those references.
    #[error(
        "its text has more than {MAX_TEXT_BYTES} bytes when each `$ref` is replaced by what it names{0}: shorten the \
         definitions that are used often"
    )]
    TreeTooLong(String),
    /// Validators evaluate what is below once for each of them.
    #[error("the `unevaluated*` at `{at}` lies in place below another one: keep the outer one")]
    NestedUnevaluated {
        /// Where.
        at: String,
    },
    /// The same through parts of a value.
    #[error(
        "`unevaluated*` has its schemas tried more than {MAX_TRIES} times: write `additionalProperties` or `items`"
    )]
    TooManyTries,
    /// A pattern is too long.
    #[error("the pattern at `{at}` has {bytes} bytes, more than {MAX_PATTERN_BYTES}")]
    PatternTooLong {
        /// Where.
        at: String,
        /// How long it is.
        bytes: usize,
    },
    /// A pattern is not linear, or compiles to too much together with those before it.
    #[error(
        "the pattern at `{at}` is not supported: it must be linear (no lookaround, no backreference), and all patterns \
         together must compile to at most {MAX_PATTERN_PROGRAMS} bytes (smaller counts, `[a-z]` instead of `\\p{{L}}`)"
    )]
    PatternRefused {
        /// Where.
        at: String,
    },
    /// There are too many patterns.
    #[error("it has more than {MAX_PATTERNS} patterns when each `$ref` is replaced by what it names")]
    TooManyPatterns,
    /// The schema is not valid in its dialect.
    #[error("`{at}` is not valid in JSON Schema 2020-12: {message}")]
    Invalid {
        /// Where.
        at: String,
        /// The reason.
        message: String,
    },
}
