//! Regular expressions inside a schema (D05).

use std::collections::HashMap;

use art_core::text::truncate;
use jsonschema::PatternOptions;
use jsonschema_regex::to_rust_regex;
use regex_automata::nfa::thompson::{Config, NFA};

use super::problem::SchemaProblem;
use super::{MAX_PATTERN_BYTES, MAX_PATTERN_PROGRAMS, MAX_PATTERNS};

/// Bytes of compiled program that count as one unit of weight.
const UNIT: usize = 256;
/// Bytes of the compiled program of an empty pattern.
const EMPTY: usize = 684;
/// Bytes that the states of an automaton may take, which are made while a pattern is matched and kept for the next match.
const PATTERN_CACHE: usize = 128 << 10;

/// The patterns of a schema so far.
#[derive(Debug, Default)]
pub(super) struct Patterns<'s> {
    count: usize,
    /// Of their compiled programs.
    bytes: usize,
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
        let bytes = self.program(pattern, at)?;
        self.bytes += bytes;
        let weight = u64::try_from(bytes.saturating_sub(EMPTY).div_ceil(UNIT))
            .unwrap_or(u64::MAX)
            .max(1);
        self.weights.insert(pattern, weight);
        Ok(weight)
    }

    /// Returns how many bytes the compiled program of a pattern has, if there is so much left.
    fn program(&self, pattern: &str, at: &str) -> Result<usize, SchemaProblem> {
        let at = || truncate(if at.is_empty() { "/" } else { at }, 200);
        let bytes = pattern.len();
        if bytes > MAX_PATTERN_BYTES {
            return Err(SchemaProblem::PatternTooLong { at: at(), bytes });
        }
        compile(pattern, MAX_PATTERN_PROGRAMS.saturating_sub(self.bytes))
            .map(|program| program.memory_usage())
            .ok_or_else(|| SchemaProblem::PatternRefused { at: at() })
    }
}

/// Compiles the validator's own translation of a pattern.
fn compile(pattern: &str, most: usize) -> Option<NFA> {
    let limits = Config::new().nfa_size_limit(Some(most));
    let translated = to_rust_regex(pattern).ok()?;
    NFA::compiler().configure(limits).build(&translated).ok()
}

/// Returns the linear engine with a bounded program and a bounded cache, which each pattern has twice.
pub(crate) fn pattern_options() -> PatternOptions<jsonschema::Regex> {
    PatternOptions::regex()
        .size_limit(MAX_PATTERN_PROGRAMS)
        .dfa_size_limit(PATTERN_CACHE)
}
