//! Admission of schemas: decides which schemas the host accepts.
//!
//! A schema comes from an untrusted tool, and the host applies it without metering. Therefore every `$ref` is first
//! replaced by its target, as long as the result stays within a limit. The result is a tree, and all later code works
//! on trees without references.
//!
//! A validator applies each schema of a tree once to each part of a value; `unevaluated*` applies schemas again, which is
//! counted. So the tree determines an upper bound of the cost of applying the schema, its [`Cost`]. Before the schema is applied to a
//! value, the host checks that this bound is low enough. The unit of work is to apply one empty schema to one value. A long text
//! counts as several values, and an expensive keyword as several empty schemas.

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

use crate::shape::{Shape, TooLarge, text_len, work_of_paths, work_of_text};

/// Maximum size of a schema as compact JSON text, in bytes. Applies both to the schema as it is written and to its
/// tree.
pub const MAX_TEXT_BYTES: usize = 64 << 10;
/// Maximum number of JSON values in a schema as it is written.
pub const MAX_NODES: usize = 2_000;
/// Maximum number of schemas in the tree.
pub const MAX_SCHEMAS: usize = 2_000;
/// Maximum nesting depth of the schemas in the tree; the root has depth 1.
pub const MAX_DEPTH: usize = 32;
/// Maximum nesting depth of a schema as JSON: most nested schemas add two levels, one of them for the keyword that
/// contains them.
pub const MAX_NESTING: usize = 2 * MAX_DEPTH;
/// Maximum number of references that are replaced inside one another: the target of each contains the next one.
pub const MAX_REFERENCES: usize = 64;
/// Maximum length of the JSON pointer in a reference, in bytes.
pub const MAX_REFERENCE_BYTES: usize = 512;
/// Maximum length of the JSON pointer to a schema in the tree, in bytes.
pub const MAX_POINTER_BYTES: usize = 4 << 10;
/// Maximum length of a pattern, in bytes.
pub const MAX_PATTERN_BYTES: usize = 512;
/// Maximum number of patterns in the tree. A pattern that occurs twice counts twice.
pub const MAX_PATTERNS: usize = 64;
/// Maximum total size of the compiled programs of the different patterns of a schema, in bytes. The compiled schema
/// takes about 20 times as much memory for them.
pub const MAX_PATTERN_PROGRAMS: usize = 512 << 10;
/// Maximum work of a tree for each value to which it is applied. Each schema counts once, and again for each `unevaluated*` that
/// applies it again. Long values of keywords and expensive keywords add further units.
pub const MAX_WORK_PER_VALUE: u64 = 20_000;
/// Maximum work of applying a schema to a value; [`Cost`] computes an upper bound of it. One unit is to
/// apply an empty schema to one part of the value.
pub const MAX_WORK: u64 = 10_000_000;
/// Maximum work of collecting every violation of a value: the work for each value, multiplied by the size of the paths and
/// texts that the violations may copy. It is lower than [`MAX_WORK`] because these copies take memory.
pub const MAX_LISTED_WORK: u64 = 250_000;
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

/// Replaces every `$ref` of a schema and bounds the cost of applying it. Does not check that it is valid in its
/// dialect; [`CompiledSchema::new`](crate::schema::CompiledSchema::new) does.
///
/// # Errors
/// Fails with the first problem found.
pub fn admit(schema: &Value, root: Root) -> Result<Tree, SchemaProblem> {
    // Check the depth before the length, because computing the length recurses.
    Shape::measure(schema, MAX_NESTING, MAX_NODES)?;
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
    Shape::measure(&schema, MAX_NESTING, usize::MAX)?;
    if root == Root::Object && schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(SchemaProblem::RootNotObject);
    }
    if weight.work > MAX_WORK_PER_VALUE {
        return Err(SchemaProblem::TooMuchWorkPerValue);
    }
    let cost = Cost {
        empty_schemas: weight.work,
        patterns: weight.patterns,
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
            TooLarge::Nodes(_) => Self::TooManyNodes,
        }
    }
}

/// Upper bound of the work of applying a schema, which depends on the size of the value. One unit of work takes at most 10 ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Number of empty schemas that take as much work as the schema, without the work of matching its patterns. It is multiplied
    /// by the size of the value, [`Shape::work`].
    empty_schemas: u64,
    /// Total weight of the patterns. Each byte of text is matched against each pattern.
    patterns: u64,
    /// Maximum number of passes over a value that are needed to find all violations and to explain them.
    passes: u64,
}

impl Cost {
    /// Returns whether the schema may be applied to a value of this shape.
    #[must_use]
    pub fn allows(&self, shape: &Shape) -> bool {
        self.work(shape) <= MAX_WORK
    }

    /// Returns whether applying the schema to a value of this shape takes at most a millisecond, too little to delay
    /// other calls.
    #[must_use]
    pub fn is_light(&self, shape: &Shape) -> bool {
        self.work(shape) <= MAX_WORK / 100
    }

    /// Returns whether every violation of this value may be collected. Each violation keeps a copy of the path to the
    /// invalid part.
    #[must_use]
    pub fn allows_listing(&self, shape: &Shape, value: &Value) -> bool {
        let copied = work_of_paths(value).saturating_add(work_of_text(shape.text_bytes));
        let work = self.work(shape).saturating_mul(self.passes);
        let listed_work = self.empty_schemas.saturating_mul(copied).saturating_mul(self.passes);
        work <= MAX_WORK && listed_work <= MAX_LISTED_WORK
    }

    /// Returns the work of one pass over a value of this shape.
    fn work(&self, shape: &Shape) -> u64 {
        let schema_work = self.empty_schemas.saturating_mul(shape.work());
        // Count values as well as text, because even matching an empty text has a cost.
        let matched = (shape.nodes as u64).saturating_add(shape.text_bytes as u64);
        let pattern_work = self.patterns.saturating_mul(PATTERN_MATCH_WORK).saturating_mul(matched);
        schema_work.saturating_add(pattern_work)
    }
}

#[cfg(test)]
mod tests;
