//! Reasons why a schema is refused.

use super::{
    MAX_JSON_VALUES, MAX_PATTERN_BYTES, MAX_PATTERN_PROGRAM_BYTES, MAX_PATTERNS, MAX_POINTER_BYTES,
    MAX_REFERENCE_BYTES, MAX_REFERENCES, MAX_SCHEMA_DEPTH, MAX_SCHEMAS, MAX_TEXT_BYTES, MAX_WORK_PER_VALUE,
};

/// The reason why a schema is refused. `at` is a JSON pointer, in most cases into the tree of the schema, in which each `$ref` is
/// replaced by its target. For a problem that is found before this replacement, it points into the schema as it is written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaProblem {
    /// The text of the schema is too long (contract D02).
    #[error("its text has {0} bytes, more than {MAX_TEXT_BYTES}")]
    TextTooLong(usize),
    /// The schemas are nested too deeply (contract D01).
    #[error("its schemas are nested more than {MAX_SCHEMA_DEPTH} levels deep")]
    TooDeep,
    /// The path to a schema is too long. The validator keeps a copy of it for every keyword of the schema.
    #[error(
        "the names on the way to the schema at `{at}` have more than {MAX_POINTER_BYTES} bytes together: shorten them"
    )]
    PointerTooLong {
        /// Position of the schema.
        at: String,
    },
    /// The schema has too many values.
    #[error("it has more than {MAX_JSON_VALUES} values")]
    TooManyValues,
    /// The root does not describe an object (contract D07).
    #[error("its root must have `\"type\": \"object\"`")]
    RootNotObject,
    /// The dialect is not JSON Schema 2020-12. Contains the dialect, shortened.
    #[error("`$schema` names the dialect `{0}`; only `{dialect}` is supported", dialect = super::DIALECT)]
    Dialect(String),
    /// A schema is neither an object nor a boolean.
    #[error("there is no schema at `{at}`: a schema is an object or a boolean")]
    NotASchema {
        /// Position of the value.
        at: String,
    },
    /// A keyword changes the target of references or loads another vocabulary, or `$id` or `$schema` is not at the root of the
    /// schema.
    #[error("`{keyword}` at `{at}` is not supported")]
    RefusedKeyword {
        /// Position of the schema with the keyword.
        at: String,
        /// The keyword.
        keyword: String,
    },
    /// A reference does not point into the schema, or is written in a way that is not supported (contract D03).
    #[error(
        "the `$ref` `{reference}` at `{at}` does not start with `#/`, has a `%` in it, or has more than \
         {MAX_REFERENCE_BYTES} bytes: write its target under `$defs`"
    )]
    ForeignReference {
        /// Position of the reference.
        at: String,
        /// The reference.
        reference: String,
    },
    /// There is no schema at the target of a reference.
    #[error("the `$ref` `{reference}` at `{at}` does not point to a schema")]
    DanglingReference {
        /// Position of the reference.
        at: String,
        /// The reference.
        reference: String,
    },
    /// A reference leads back to itself (contract D04).
    #[error(
        "the `$ref` `{reference}` at `{at}` leads back to itself, and a recursive schema has no end: write as many levels as \
         are needed and `true` below them, or take a list whose items name their parent"
    )]
    Recursive {
        /// Position of the reference.
        at: String,
        /// The reference.
        reference: String,
    },
    /// A chain of references is too long.
    #[error("a chain has more than {MAX_REFERENCES} references: refer to the last target directly")]
    TooManyReferences,
    /// The schema has too many nested schemas once its references are replaced. Contains the part of the message
    /// that names the reference that was being replaced.
    #[error(
        "it has more than {MAX_SCHEMAS} schemas when each `$ref` is replaced by its target{0}: write `true` or \
         `{{\"type\": \"object\"}}` for a definition that is used often, or split the tool"
    )]
    TooManySchemas(String),
    /// The schema has too much text once its references are replaced. Contains the part of the message that names the
    /// reference that was being replaced.
    #[error(
        "its text has more than {MAX_TEXT_BYTES} bytes when each `$ref` is replaced by its target{0}: shorten the \
         definitions that are used often"
    )]
    TreeTooLong(String),
    /// A schema with `unevaluatedProperties` or `unevaluatedItems` contains another schema that also has one of these keywords
    /// and applies to the same value. A validator would apply the subschemas of the inner schema again for each of the two
    /// keywords.
    #[error("the `unevaluated*` at `{at}` applies to the same value as an outer one: keep the outer one")]
    NestedUnevaluated {
        /// Position of the inner schema.
        at: String,
    },
    /// Applying the schema takes too much work for each unit of the size of a value. In most cases, nested `unevaluated*`
    /// keywords would apply their schemas too often.
    #[error(
        "checking one value takes more than {MAX_WORK_PER_VALUE} times the work of an empty schema: use fewer keywords, and \
         `additionalProperties` or `items` in place of `unevaluated*`"
    )]
    TooMuchWorkPerValue,
    /// A pattern is too long.
    #[error("the pattern at `{at}` has {bytes} bytes, more than {MAX_PATTERN_BYTES}")]
    PatternTooLong {
        /// Position of the schema with the pattern.
        at: String,
        /// Its length in bytes.
        bytes: usize,
    },
    /// A pattern is not valid or not linear, or the compiled patterns of the schema together are too large.
    #[error(
        "the pattern at `{at}` is not supported: it must be linear (no lookaround, no backreference), and all patterns \
         together must compile to at most {MAX_PATTERN_PROGRAM_BYTES} bytes (smaller counts, `[a-z]` instead \
         of `\\p{{L}}`)"
    )]
    PatternRefused {
        /// Position of the schema with the pattern.
        at: String,
    },
    /// There are too many patterns.
    #[error("it has more than {MAX_PATTERNS} patterns when each `$ref` is replaced by its target")]
    TooManyPatterns,
    /// The schema is not valid in its dialect.
    #[error("`{at}` is not valid in JSON Schema 2020-12: {message}")]
    Invalid {
        /// Position of the invalid part.
        at: String,
        /// The reason.
        message: String,
    },
}
