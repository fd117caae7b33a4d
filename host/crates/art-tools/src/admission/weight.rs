//! Cost of applying a schema to one value, from its tree alone.

use super::keywords::Applies;

/// The weight of a schema with all that it holds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weight {
    /// Schemas that are tried, and values of their keywords that a value is compared with.
    pub(super) tries: u64,
    /// Units of patterns that are matched.
    pub(super) patterns: u64,
    /// Nested choices: each tries its schemas once more to explain a violation.
    pub(super) choices: u64,
    chooses: bool,
    /// Work that is repeated to find out what the schemas in place evaluated.
    tries_again: u64,
    patterns_again: u64,
}

impl Weight {
    /// Creates the weight of an empty schema.
    pub(super) fn of_one() -> Self {
        Self {
            tries: 1,
            tries_again: 1,
            ..Self::default()
        }
    }

    /// Adds what takes as long as so many tries of a schema.
    pub(super) fn try_more(&mut self, tries: u64) {
        add(&mut self.tries, tries);
        add(&mut self.tries_again, tries);
    }

    /// Adds a pattern.
    pub(super) fn match_pattern(&mut self, units: u64) {
        add(&mut self.patterns, units);
        add(&mut self.patterns_again, units);
    }

    /// Says whether a keyword of the schema tries its schemas twice.
    pub(super) fn choose(&mut self, chooses: bool) {
        self.chooses |= chooses;
    }

    /// Adds a schema that this one holds.
    pub(super) fn hold(&mut self, held: Self, applies: Applies) {
        if applies == Applies::Nowhere {
            return;
        }
        add(&mut self.tries, held.tries);
        add(&mut self.patterns, held.patterns);
        self.choices = self.choices.max(held.choices);
        if applies != Applies::Part {
            add(&mut self.tries_again, held.tries);
            add(&mut self.patterns_again, held.patterns);
        }
        if applies == Applies::Here {
            add(&mut self.tries_again, held.tries_again);
            add(&mut self.patterns_again, held.patterns_again);
        }
    }

    /// Ends a schema with `looks_back` keywords `unevaluated*`.
    pub(super) fn close(&mut self, looks_back: usize) {
        for _ in 0..looks_back {
            add(&mut self.tries, self.tries_again);
            add(&mut self.patterns, self.patterns_again);
        }
        self.choices += u64::from(self.chooses);
    }
}

fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}
