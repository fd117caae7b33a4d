//! Cost of applying a schema to one value, computed only from its tree.

use super::keywords::Applies;

/// The cost of applying a schema and all schemas in it to one value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weight {
    /// Number of tries: one for each schema, plus the size of the keyword values with which a value is compared.
    pub(super) tries: u64,
    /// Total weight of the patterns that are matched, in units.
    pub(super) patterns: u64,
    /// Maximum number of choices, such as `anyOf`, inside one another. Each tries its schemas once more to explain a
    /// violation.
    pub(super) choices: u64,
    /// True if a keyword of this schema is a choice.
    chooses: bool,
    /// Tries that one `unevaluated*` repeats to find out what the schemas for the same value evaluated.
    tries_again: u64,
    /// Weight of the patterns that one `unevaluated*` matches again.
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

    /// Adds work that takes as long as that many tries of a schema.
    pub(super) fn try_more(&mut self, tries: u64) {
        add(&mut self.tries, tries);
        add(&mut self.tries_again, tries);
    }

    /// Adds a pattern with a weight of that many units.
    pub(super) fn match_pattern(&mut self, units: u64) {
        add(&mut self.patterns, units);
        add(&mut self.patterns_again, units);
    }

    /// Records whether a keyword of the schema is a choice, which tries its schemas twice.
    pub(super) fn choose(&mut self, chooses: bool) {
        self.chooses |= chooses;
    }

    /// Adds the weight of a schema that this one contains.
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

    /// Completes the weight of a schema that has `looks_back` keywords `unevaluated*`.
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
