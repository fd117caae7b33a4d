//! Which schemas are let in.
//!
//! A schema comes from a tool that nobody trusts and is applied inside the host, unmetered. So every `$ref` in it is replaced
//! by what it names, under one budget, before anything else looks at it: what comes out is a tree, and no code after this
//! ever sees a reference. A tree tries each of its schemas at most once on each part of a value, so its text bounds what
//! applying it costs: a [`Cost`], with which every value is checked before the schema is applied to it.

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

use crate::shape::{Shape, path_units, text_len, text_units};

/// Bytes of the compact text of a schema, as it is written and as a tree.
pub const MAX_TEXT_BYTES: usize = 64 << 10;
/// Values in a schema as it is written.
pub const MAX_NODES: usize = 2_000;
/// Schemas in the tree.
pub const MAX_SCHEMAS: usize = 2_000;
/// Schemas within schemas in the tree.
pub const MAX_DEPTH: usize = 32;
/// Levels of nesting of a schema as JSON: most schemas take two, one for the keyword that holds them.
pub const MAX_NESTING: usize = 2 * MAX_DEPTH;
/// References that lead to one another.
pub const MAX_REFERENCES: usize = 64;
/// Bytes of a reference.
pub const MAX_REFERENCE_BYTES: usize = 512;
/// Bytes of the path to a schema.
pub const MAX_POINTER_BYTES: usize = 4 << 10;
/// Bytes of a pattern.
pub const MAX_PATTERN_BYTES: usize = 512;
/// Patterns in the tree.
pub const MAX_PATTERNS: usize = 64;
/// Bytes of the compiled programs of all patterns of a schema. What the host keeps of them is some twenty times as large.
pub const MAX_PATTERN_PROGRAMS: usize = 512 << 10;
/// How often the schemas of a tree are tried on one value: once, unless `unevaluated*` has them tried again.
pub const MAX_TRIES: u64 = 20_000;
/// Times that a schema is tried on a part of one value, counted from above.
pub const MAX_WORK: u64 = 10_000_000;
/// The same for collecting every violation, which costs memory as well.
pub const MAX_LISTED_WORK: u64 = 250_000;
/// The dialect of every schema.
pub const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Tries that 256 bytes of the compiled program of a pattern cost for each byte of text, at worst.
const PATTERN_STEPS: u64 = 7;

/// What has to stand at the root of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// `"type": "object"` (C3): arguments have names.
    Object,
    /// Any schema.
    Any,
}

/// A schema without references.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The schema.
    pub schema: Value,
    /// What applying it costs.
    pub cost: Cost,
}

/// Replaces every `$ref` of a schema and bounds the cost of applying it, or refuses it. Does not look at whether it is valid
/// as a schema.
///
/// # Errors
/// The first problem found.
pub fn admit(schema: &Value, root: Root) -> Result<Tree, SchemaProblem> {
    Shape::measure(schema, MAX_NESTING, MAX_NODES)?;
    // Only now: the text of a value is made by recursion.
    let bytes = text_len(schema);
    if bytes > MAX_TEXT_BYTES {
        return Err(SchemaProblem::TextTooLong(bytes));
    }
    check_dialect(schema)?;
    if root == Root::Object && !schema.is_object() {
        return Err(SchemaProblem::RootNotObject);
    }
    let (schema, weight) = tree::grow(schema)?;
    // What a definition holds may be as deep as the place that it is put into.
    Shape::measure(&schema, MAX_NESTING, usize::MAX)?;
    if root == Root::Object && schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(SchemaProblem::RootNotObject);
    }
    if weight.tries > MAX_TRIES {
        return Err(SchemaProblem::TooManyTries);
    }
    let cost = Cost {
        tries: weight.tries,
        patterns: weight.patterns,
        passes: weight.choices + 2,
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

impl From<crate::shape::TooLarge> for SchemaProblem {
    fn from(problem: crate::shape::TooLarge) -> Self {
        match problem {
            crate::shape::TooLarge::Depth(_) => Self::TooDeep,
            crate::shape::TooLarge::Nodes(_) => Self::TooManyNodes,
        }
    }
}

/// What applying a schema costs at most, as a function of the value. One unit of work takes 10 ns at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    tries: u64,
    patterns: u64,
    /// How often all of it is done to find out that something is wrong, and what.
    passes: u64,
}

impl Cost {
    /// Returns whether the schema may be applied to a value of this shape at all.
    #[must_use]
    pub fn allows(&self, shape: &Shape) -> bool {
        self.work(shape) <= MAX_WORK
    }

    /// Returns whether applying the schema to a value of this shape takes a millisecond at most, so that it holds up nobody.
    #[must_use]
    pub fn is_light(&self, shape: &Shape) -> bool {
        self.work(shape) <= MAX_WORK / 100
    }

    /// Returns whether every violation of this value may be collected. Each keeps the path to what is wrong.
    #[must_use]
    pub fn allows_listing(&self, shape: &Shape, value: &Value) -> bool {
        let all = |work: u64| work.saturating_mul(self.passes);
        let kept = path_units(value).saturating_add(text_units(shape.text_bytes));
        all(self.work(shape)) <= MAX_WORK && all(self.tries.saturating_mul(kept)) <= MAX_LISTED_WORK
    }

    fn work(&self, shape: &Shape) -> u64 {
        let tries = self.tries.saturating_mul(shape.units());
        // A match costs something even on an empty text.
        let matched = (shape.nodes as u64).saturating_add(shape.text_bytes as u64);
        let matching = self.patterns.saturating_mul(PATTERN_STEPS).saturating_mul(matched);
        tries.saturating_add(matching)
    }
}

#[cfg(test)]
mod tests;
