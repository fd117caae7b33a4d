//! Which schemas are let in (D01 to D07).
//!
//! A schema comes from a tool that nobody trusts and is applied inside the host, unmetered. So before it is compiled its cost
//! is bounded from its text alone, in time linear in its size: how deep it is, how far its references unfold, whether it ever
//! gets on with the value, how its work grows with a recursive value, how large the programs of its patterns are. What comes
//! out is a [`Cost`], with which every value is checked before the schema is applied to it.

mod cost;
mod graph;
mod growth;
mod keywords;
mod patterns;
mod problem;

use serde_json::Value;

use graph::Graph;
pub use problem::SchemaProblem;

use crate::shape::{Shape, text_len};

/// Bytes of the compact text of a schema.
pub const MAX_TEXT_BYTES: usize = 64 << 10;
/// Levels of nesting of a schema.
pub const MAX_DEPTH: usize = 32;
/// Values in a schema.
pub const MAX_NODES: usize = 2_000;
/// Schemas that a schema unfolds to when its references are written out.
pub const MAX_PATHS: u64 = 10_000;
/// References on one way through a schema.
pub const MAX_REFERENCES: usize = 64;
/// Schemas on one way through a schema: what a validator recurses over.
pub const MAX_HEIGHT: usize = 128;
/// Bytes of a pattern.
pub const MAX_PATTERN_BYTES: usize = 512;
/// Patterns in a schema.
pub const MAX_PATTERNS: usize = 64;
/// Bytes of the compiled program of a pattern; all patterns of a schema together stay under 32 MiB.
pub const MAX_PATTERN_PROGRAM: usize = 512 << 10;
/// Applications of a schema to a part of one value, counted from above: a second or two.
pub const MAX_WORK: u64 = 100_000_000;
/// The same for collecting every violation, which costs memory as well.
pub const MAX_LISTED_WORK: u64 = 1_000_000;
/// Compiled programs of patterns in units of 4 KiB, times bytes of text: 8 KiB of programs may see 1 MiB of text. The worst
/// patterns take a linear engine some seconds for that, ordinary ones a millisecond.
pub const MAX_PATTERN_WORK: u64 = 2 << 20;
/// Schemas within schemas within a value: what a validator of a recursive schema recurses over. Keeps it within a stack of
/// 2 MiB.
pub const MAX_RECURSION: usize = 1_024;
/// The dialect of every schema.
pub const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// What `unevaluated*` multiplies; a level of it tries its schemas once to decide and again to learn what they looked at.
const LOOK_BACK_FACTOR: u64 = 4;

/// What has to stand at the root of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// `"type": "object"` (C3): arguments have names.
    Object,
    /// Any schema.
    Any,
}

/// Bounds the cost of applying a schema, or refuses it. Does not look at whether it is valid as a schema.
///
/// # Errors
/// The first problem found.
pub fn admit(schema: &Value, root: Root) -> Result<Cost, SchemaProblem> {
    let shape = Shape::measure(schema, MAX_DEPTH, MAX_NODES)?;
    // Only now: the text of a value is made by recursion.
    let bytes = text_len(schema);
    if bytes > MAX_TEXT_BYTES {
        return Err(SchemaProblem::TextTooLong(bytes));
    }
    check_root(schema, root)?;
    let graph = Graph::build(schema)?;
    let work = cost::measure(&graph)?;
    Ok(Cost {
        each: work
            .paths
            .saturating_add(u64::try_from(shape.nodes).unwrap_or(u64::MAX)),
        growth: work.growth,
        chain: work.chain,
        patterns: patterns::weigh(&graph)?,
    })
}

pub(crate) fn pattern_options() -> jsonschema::PatternOptions<jsonschema::Regex> {
    patterns::options(MAX_PATTERN_PROGRAM)
}

fn check_root(schema: &Value, root: Root) -> Result<(), SchemaProblem> {
    if root == Root::Object && schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(SchemaProblem::RootNotObject);
    }
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

/// What applying a schema costs at most, as a function of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    each: u64,
    growth: u64,
    chain: usize,
    patterns: u64,
}

impl Cost {
    /// Whether the schema may be applied to a value of this shape at all.
    #[must_use]
    pub fn allows(&self, shape: &Shape) -> bool {
        let text = u64::try_from(shape.text_bytes).unwrap_or(u64::MAX);
        self.work(shape) <= MAX_WORK
            && self.deepening(shape).saturating_mul(text).saturating_mul(self.patterns) <= MAX_PATTERN_WORK
            && (self.growth == 0 || shape.depth.saturating_mul(self.chain) <= MAX_RECURSION)
    }

    /// Whether every violation of such a value may be collected.
    #[must_use]
    pub fn allows_listing(&self, shape: &Shape) -> bool {
        self.work(shape) <= MAX_LISTED_WORK
    }

    fn work(&self, shape: &Shape) -> u64 {
        let nodes = u64::try_from(shape.nodes).unwrap_or(u64::MAX);
        self.deepening(shape).saturating_mul(nodes).saturating_mul(self.each)
    }

    fn deepening(&self, shape: &Shape) -> u64 {
        let levels = u32::try_from(shape.depth).unwrap_or(u32::MAX);
        self.growth.max(1).saturating_pow(levels)
    }
}

#[cfg(test)]
mod tests;
