//! Regular expressions inside a schema (D05).

use std::collections::HashMap;

use art_core::text::truncate;
use jsonschema::PatternOptions;
use serde_json::json;

use super::problem::SchemaProblem;
use super::{MAX_PATTERN_BYTES, MAX_PATTERN_PROGRAM, MAX_PATTERN_PROGRAMS, MAX_PATTERNS};

/// Bytes of compiled program that count as one unit of weight.
const UNIT: usize = 256;

/// The patterns of a schema so far.
#[derive(Debug, Default)]
pub(super) struct Patterns<'s> {
    count: usize,
    program: usize,
    weights: HashMap<&'s str, u64>,
}

impl<'s> Patterns<'s> {
    /// Returns the weight of one more pattern of the schema: the size of its compiled program in units. A byte of text
    /// costs a linear engine up to one step for each instruction of the program, so this is what text must be
    /// multiplied with.
    pub(super) fn weigh(&mut self, pattern: &'s str, at: &str) -> Result<u64, SchemaProblem> {
        self.count += 1;
        if self.count > MAX_PATTERNS {
            return Err(SchemaProblem::TooManyPatterns);
        }
        if let Some(weight) = self.weights.get(pattern) {
            return Ok(*weight);
        }
        let bytes = program(pattern, at)?;
        self.program += bytes;
        if self.program > MAX_PATTERN_PROGRAMS {
            return Err(SchemaProblem::PatternsTooLarge);
        }
        let weight = u64::try_from(bytes / UNIT).unwrap_or(u64::MAX);
        self.weights.insert(pattern, weight);
        Ok(weight)
    }
}

/// Returns bytes that the compiled program of a pattern fits into: one unit, two, four, and so on.
fn program(pattern: &str, at: &str) -> Result<usize, SchemaProblem> {
    let at = || truncate(if at.is_empty() { "/" } else { at }, 200);
    if pattern.len() > MAX_PATTERN_BYTES {
        return Err(SchemaProblem::PatternTooLong {
            at: at(),
            bytes: pattern.len(),
        });
    }
    let sizes = std::iter::successors(Some(UNIT), |size| size.checked_mul(2));
    sizes
        .take_while(|size| *size <= MAX_PATTERN_PROGRAM)
        .find(|size| compiles(pattern, *size))
        .ok_or_else(|| SchemaProblem::PatternRefused { at: at() })
}

/// Returns whether the validator's own translation of the pattern compiles to a program of at most `size` bytes.
fn compiles(pattern: &str, size: usize) -> bool {
    regex::RegexBuilder::new(pattern).size_limit(size).build().is_ok()
        || jsonschema::draft202012::options()
            .offline()
            .with_pattern_options(options(size))
            .build(&json!({ "patternProperties": { pattern: true } }))
            .is_ok()
}

/// Returns the linear engine with a bounded program and a bounded cache.
pub(super) fn options(size: usize) -> PatternOptions<jsonschema::Regex> {
    PatternOptions::regex().size_limit(size).dfa_size_limit(size)
}
