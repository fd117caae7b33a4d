//! Regular expressions inside a schema (D05).

use jsonschema::PatternOptions;
use serde_json::{Value, json};

use super::graph::Graph;
use super::problem::SchemaProblem;
use super::{MAX_PATTERN_BYTES, MAX_PATTERN_PROGRAM, MAX_PATTERNS};

/// Bytes of compiled program that count as one unit of weight.
const UNIT: usize = 4 << 10;

/// The weight of all patterns together: the size of their compiled programs in units. A byte of text costs a linear engine
/// up to one step for each instruction of the program, so this is what text has to be multiplied with.
pub(super) fn weigh(graph: &Graph<'_>) -> Result<u64, SchemaProblem> {
    let mut weight: u64 = 0;
    let mut count = 0;
    for (index, node) in graph.nodes.iter().enumerate() {
        for pattern in patterns(node.schema) {
            count += 1;
            if count > MAX_PATTERNS {
                return Err(SchemaProblem::TooManyPatterns);
            }
            weight = weight.saturating_add(weigh_one(graph, index, pattern)?);
        }
    }
    Ok(weight)
}

fn patterns(schema: &Value) -> impl Iterator<Item = &str> {
    let own = schema.get("pattern").and_then(Value::as_str);
    let names = schema.get("patternProperties").and_then(Value::as_object);
    own.into_iter()
        .chain(names.into_iter().flat_map(|names| names.keys().map(String::as_str)))
}

fn weigh_one(graph: &Graph<'_>, node: usize, pattern: &str) -> Result<u64, SchemaProblem> {
    if pattern.len() > MAX_PATTERN_BYTES {
        return Err(SchemaProblem::PatternTooLong {
            at: graph.pointer(node),
            bytes: pattern.len(),
        });
    }
    // The first of 4 KiB, 8 KiB, .. that it fits into. The largest is tried first: most of what fails, fails there.
    if !compiles(pattern, MAX_PATTERN_PROGRAM) {
        return Err(SchemaProblem::PatternRefused {
            at: graph.pointer(node),
        });
    }
    let sizes = std::iter::successors(Some(UNIT), |size| size.checked_mul(2));
    let fits = sizes
        .take_while(|size| *size < MAX_PATTERN_PROGRAM)
        .find(|size| compiles(pattern, *size))
        .unwrap_or(MAX_PATTERN_PROGRAM);
    Ok(u64::try_from(fits / UNIT).unwrap_or(u64::MAX))
}

/// Whether the validator's own translation of the pattern compiles to a program of at most `size` bytes.
fn compiles(pattern: &str, size: usize) -> bool {
    regex::RegexBuilder::new(pattern).size_limit(size).build().is_ok()
        || jsonschema::draft202012::options()
            .offline()
            .with_pattern_options(options(size))
            .build(&json!({ "patternProperties": { pattern: true } }))
            .is_ok()
}

/// The linear engine with a bounded program and a bounded cache.
pub(super) fn options(size: usize) -> PatternOptions<jsonschema::Regex> {
    PatternOptions::regex().size_limit(size).dfa_size_limit(size)
}
