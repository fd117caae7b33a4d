//! Cost of the regular expressions in a schema. They run on a linear engine, whose time is proportional to the length of the
//! text, and are bounded in length, number and compiled size (contract D05).

use std::collections::HashMap;

use art_core::text::truncate;
use jsonschema::PatternOptions;
use jsonschema_regex::to_rust_regex;
use regex_automata::nfa::thompson::{Config, NFA};

use super::problem::SchemaProblem;
use super::{MAX_PATTERN_BYTES, MAX_PATTERN_PROGRAM_BYTES, MAX_PATTERNS};

/// Size of a compiled program that counts as one unit of weight, in bytes.
const WEIGHT_UNIT_BYTES: usize = 64;
/// Size of the compiled program of an empty pattern, in bytes.
const EMPTY_PROGRAM_BYTES: usize = 684;
/// Maximum size of a cache of automaton states, in bytes. The states are computed while a pattern is matched and kept
/// for the next match.
const MAX_CACHE_BYTES: usize = 128 << 10;

/// The patterns of a schema that were counted so far.
#[derive(Debug, Default)]
pub(super) struct Patterns<'s> {
    /// Number of patterns. A pattern that occurs twice counts twice.
    count: usize,
    /// Total size of the compiled programs, in bytes. A pattern that occurs twice counts once.
    total_program_bytes: usize,
    /// The weight of each pattern.
    weights: HashMap<&'s str, u64>,
}

impl<'s> Patterns<'s> {
    /// Adds a pattern and returns its weight: the size of its compiled program beyond that of an empty pattern, in units of
    /// [`WEIGHT_UNIT_BYTES`], rounded up, and at least 1. A linear engine takes at most one step for each byte of text and each
    /// instruction of the program, so the cost of a match is proportional to this weight times the length of the text. `at` is
    /// the position of the schema, for messages.
    ///
    /// # Errors
    /// Fails if the schema has too many patterns, or if this one is too long, is not supported, or makes all programs together
    /// larger than [`MAX_PATTERN_PROGRAM_BYTES`].
    pub(super) fn add(&mut self, pattern: &'s str, at: &str) -> Result<u64, SchemaProblem> {
        self.count += 1;
        if self.count > MAX_PATTERNS {
            return Err(SchemaProblem::TooManyPatterns);
        }
        if let Some(weight) = self.weights.get(pattern) {
            return Ok(*weight);
        }
        let bytes = self.program_bytes(pattern, at)?;
        self.total_program_bytes += bytes;
        let weight = u64::try_from(bytes.saturating_sub(EMPTY_PROGRAM_BYTES).div_ceil(WEIGHT_UNIT_BYTES))
            .unwrap_or(u64::MAX)
            .max(1);
        self.weights.insert(pattern, weight);
        Ok(weight)
    }

    /// Returns the size of the compiled program of a pattern, in bytes. Fails if the pattern is too long or not supported, or if
    /// the programs of this pattern and of all earlier ones are together larger than [`MAX_PATTERN_PROGRAM_BYTES`].
    fn program_bytes(&self, pattern: &str, at: &str) -> Result<usize, SchemaProblem> {
        let at = || truncate(if at.is_empty() { "/" } else { at }, 200);
        let bytes = pattern.len();
        if bytes > MAX_PATTERN_BYTES {
            return Err(SchemaProblem::PatternTooLong { at: at(), bytes });
        }
        let remaining_bytes = MAX_PATTERN_PROGRAM_BYTES.saturating_sub(self.total_program_bytes);
        compile(pattern, remaining_bytes)
            .map(|program| program.memory_usage())
            .ok_or_else(|| SchemaProblem::PatternRefused { at: at() })
    }
}

/// Compiles a pattern after translating it in the same way as the validator. Returns `None` if it is not supported or
/// the program exceeds `max_bytes` bytes.
fn compile(pattern: &str, max_bytes: usize) -> Option<NFA> {
    let limits = Config::new().nfa_size_limit(Some(max_bytes));
    let translated = to_rust_regex(pattern).ok()?;
    NFA::compiler().configure(limits).build(&translated).ok()
}

/// Returns the options that select the linear engine and bound its programs and caches. Each pattern has two programs and two
/// caches, for matching forwards and backwards.
pub(crate) fn pattern_options() -> PatternOptions<jsonschema::Regex> {
    PatternOptions::regex()
        .size_limit(MAX_PATTERN_PROGRAM_BYTES)
        .dfa_size_limit(MAX_CACHE_BYTES)
}
