//! Admission of schemas: decides which schemas the host accepts.
//!
//! A schema comes from an untrusted tool, and the host applies it without metering the work. Therefore every `$ref` is first
//! replaced by its target. The schema is refused if the result exceeds a limit. The result is a tree, and all later code works
//! on trees without references.
//!
//! In one pass, a validator applies each schema of a tree at most once to each part of a value. Only the keywords
//! `unevaluatedProperties` and `unevaluatedItems`, below called `unevaluated*`, apply some schemas again, which is counted. So
//! the tree and the size of a value determine an upper bound of the work of applying the schema, its [`Cost`]. Before the schema
//! is applied to a value, the host checks that this bound is low enough. One unit of work is that of applying one empty
//! schema to one value. A long text counts as several values, and an expensive keyword as several empty schemas.

mod keywords;
mod multiple;
mod patterns;
mod problem;
mod tree;
mod unique;
mod weight;

use serde_json::Value;

pub(crate) use multiple::multiple_of;
pub(crate) use patterns::pattern_options;
pub use problem::SchemaProblem;
pub(crate) use unique::unique_items;

use crate::shape::{JsonSize, TooLarge, text_len, work_of_paths, work_of_text};

/// Maximum size of a schema as compact JSON text, in bytes. Applies both to the schema as it is written and to its
/// tree.
pub const MAX_TEXT_BYTES: usize = 64 << 10;
/// Maximum number of JSON values in a schema as it is written.
pub const MAX_JSON_VALUES: usize = 2_000;
/// Maximum number of schemas in the tree.
pub const MAX_SCHEMAS: usize = 2_000;
/// Maximum nesting depth of the schemas in the tree; the root has depth 1.
pub const MAX_SCHEMA_DEPTH: usize = 32;
/// Maximum nesting depth of the JSON values in a schema. Most nested schemas add two levels: one for the value of the keyword
/// that contains them, and one for themselves.
pub const MAX_JSON_DEPTH: usize = 2 * MAX_SCHEMA_DEPTH;
/// Maximum length of a chain of references, in which the target of each reference contains the next reference.
pub const MAX_REFERENCES: usize = 64;
/// Maximum length of the JSON pointer in a reference, in bytes.
pub const MAX_REFERENCE_BYTES: usize = 512;
/// Maximum length of the JSON pointer to a schema in the tree, in bytes.
pub const MAX_POINTER_BYTES: usize = 4 << 10;
/// Maximum length of a pattern, in bytes.
pub const MAX_PATTERN_BYTES: usize = 512;
/// Maximum number of patterns in the tree. A pattern that occurs twice counts twice.
pub const MAX_PATTERNS: usize = 64;
/// Maximum total size of the compiled programs of the patterns of a schema, in bytes. A pattern that occurs twice counts once.
/// The patterns of a compiled schema take about 20 times as much memory as these programs.
pub const MAX_PATTERN_PROGRAM_BYTES: usize = 512 << 10;
/// Maximum work of applying a tree, for each unit of the size of a value. Each schema counts once, and again for each
/// `unevaluated*` that applies it again. Long values of keywords and expensive keywords add further units.
pub const MAX_WORK_PER_VALUE: u64 = 20_000;
/// Maximum work of applying a schema to a value; [`Cost`] computes an upper bound of it. One unit is the work of applying an
/// empty schema to one part of the value.
pub const MAX_WORK: u64 = 10_000_000;
/// Maximum work of listing every violation of a value. This work is the product of three numbers: the work of applying the schema
/// for each unit of the size of the value, the size of the paths and texts that the violations may copy, and the number of
/// passes. The maximum is lower than [`MAX_WORK`] because these copies take memory.
pub const MAX_LISTING_WORK: u64 = 250_000;
/// The only supported dialect.
pub const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Maximum work of matching a pattern, for each byte of text and each unit of the pattern's weight, which is the size of its
/// compiled program.
const PATTERN_MATCH_WORK: u64 = 7;

/// The required form of the root of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// An object with `"type": "object"`, because arguments have names (contract C3).
    Object,
    /// Any schema.
    Any,
}

/// An admitted schema: every `$ref` is replaced by its target.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The schema without references.
    pub schema: Value,
    /// The cost of applying it.
    pub cost: Cost,
}

/// Replaces every `$ref` of a schema and bounds the cost of applying it. Does not check that the schema is valid in its
/// dialect; [`CompiledSchema::new`](crate::schema::CompiledSchema::new) does.
///
/// # Errors
/// Fails with the first problem found.
pub fn admit(schema: &Value, root: Root) -> Result<Tree, SchemaProblem> {
    // Check the depth before the length, because computing the length recurses.
    JsonSize::measure(schema, MAX_JSON_DEPTH, MAX_JSON_VALUES)?;
    let bytes = text_len(schema);
    if bytes > MAX_TEXT_BYTES {
        return Err(SchemaProblem::TextTooLong(bytes));
    }
    check_dialect(schema)?;
    if root == Root::Object && !schema.is_object() {
        return Err(SchemaProblem::RootNotObject);
    }
    let (schema, weight) = tree::dereference(schema)?;
    // Check the depth again: a definition is now nested as deeply as the references to it.
    JsonSize::measure(&schema, MAX_JSON_DEPTH, usize::MAX)?;
    if root == Root::Object && schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(SchemaProblem::RootNotObject);
    }
    if weight.work > MAX_WORK_PER_VALUE {
        return Err(SchemaProblem::TooMuchWorkPerValue);
    }
    let cost = Cost {
        work_per_value: weight.work,
        pattern_weight: weight.pattern_weight,
        // One pass finds out whether a value is valid, and another lists its violations. Each level of nested keywords such as
        // `anyOf` adds a pass that explains its violation.
        passes: weight.explained_depth + 2,
    };
    Ok(Tree { schema, cost })
}

fn check_dialect(schema: &Value) -> Result<(), SchemaProblem> {
    match schema.get("$schema") {
        None => Ok(()),
        Some(Value::String(dialect)) if dialect.trim_end_matches('#') == DIALECT => Ok(()),
        Some(other) => Err(SchemaProblem::Dialect(art_core::text::safe_stringify(other, 200))),
    }
}

impl From<TooLarge> for SchemaProblem {
    fn from(problem: TooLarge) -> Self {
        match problem {
            TooLarge::Depth(_) => Self::TooDeep,
            TooLarge::Nodes(_) | TooLarge::Memory(_) => Self::TooManyValues,
        }
    }
}

/// Upper bound of the work of applying a schema to a value, as a function of the size of the value. One unit of work takes at
/// most 10 ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Work of applying the schema for each unit of the size of the value, without the work of matching its patterns. The size is
    /// [`JsonSize::work`].
    work_per_value: u64,
    /// Total weight of the patterns. Each byte of text is matched against each pattern.
    pattern_weight: u64,
    /// Maximum number of passes over a value that are needed to find all violations and to explain them.
    passes: u64,
}

impl Cost {
    /// Returns whether the schema may be applied to a value of this size.
    #[must_use]
    pub fn allows(&self, size: &JsonSize) -> bool {
        self.work(size) <= MAX_WORK
    }

    /// Returns whether applying the schema to a value of this size takes at most a millisecond, too little to delay
    /// other calls.
    #[must_use]
    pub fn is_light(&self, size: &JsonSize) -> bool {
        self.work(size) <= MAX_WORK / 100
    }

    /// Returns whether every violation of this value may be listed. Each violation keeps a copy of the path to the
    /// invalid part.
    #[must_use]
    pub fn allows_listing(&self, size: &JsonSize, value: &Value) -> bool {
        let copy_work = work_of_paths(value).saturating_add(work_of_text(size.text_bytes));
        let work = self.work(size).saturating_mul(self.passes);
        let listing_work = self
            .work_per_value
            .saturating_mul(copy_work)
            .saturating_mul(self.passes);
        work <= MAX_WORK && listing_work <= MAX_LISTING_WORK
    }

    /// Returns the work of one pass over a value of this size.
    fn work(&self, size: &JsonSize) -> u64 {
        let schema_work = self.work_per_value.saturating_mul(size.work());
        // Count values as well as text, because even matching an empty text has a cost.
        let matched_units = (size.nodes as u64).saturating_add(size.text_bytes as u64);
        let pattern_work = self
            .pattern_weight
            .saturating_mul(PATTERN_MATCH_WORK)
            .saturating_mul(matched_units);
        schema_work.saturating_add(pattern_work)
    }
}

#[cfg(test)]
mod tests;
