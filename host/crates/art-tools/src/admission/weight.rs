//! Weight of a schema: how much work it takes to apply it, for each unit of the size of a value. It is computed only from the
//! tree of the schema; [`Cost`](super::Cost) combines it with the size of a value.

use super::keywords::AppliesTo;

/// The work of applying a schema and all its subschemas, for each unit of the size of a value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weight {
    /// Number of tries: one for each schema, plus the size of the keyword values with which a value is compared.
    pub(super) tries: u64,
    /// Total weight of the patterns that are matched.
    pub(super) patterns: u64,
    /// Maximum nesting depth of keywords whose subschemas are tried once more to explain a violation, such as `anyOf`.
    pub(super) tried_twice_depth: u64,
    /// True if this schema itself has such a keyword.
    tried_twice: bool,
    /// Tries that each `unevaluated*` keyword of this schema makes again, to find out which parts of the value the
    /// other keywords evaluated.
    repeated_tries: u64,
    /// Weight of the patterns that each `unevaluated*` keyword of this schema matches again.
    repeated_patterns: u64,
}

impl Weight {
    /// Returns the weight of a schema without keywords: one try.
    pub(super) fn empty_schema() -> Self {
        Self {
            tries: 1,
            repeated_tries: 1,
            ..Self::default()
        }
    }

    /// Adds work that takes as long as `tries` tries of an empty schema.
    pub(super) fn add_tries(&mut self, tries: u64) {
        add(&mut self.tries, tries);
        add(&mut self.repeated_tries, tries);
    }

    /// Adds the weight of a pattern.
    pub(super) fn add_pattern(&mut self, weight: u64) {
        add(&mut self.patterns, weight);
        add(&mut self.repeated_patterns, weight);
    }

    /// Records that the schema has a keyword whose subschemas are tried twice.
    pub(super) fn set_tried_twice(&mut self) {
        self.tried_twice = true;
    }

    /// Adds the weight of a subschema.
    pub(super) fn add_subschema(&mut self, subschema: Self, applies_to: AppliesTo) {
        if applies_to == AppliesTo::Nothing {
            return;
        }
        add(&mut self.tries, subschema.tries);
        add(&mut self.patterns, subschema.patterns);
        self.tried_twice_depth = self.tried_twice_depth.max(subschema.tried_twice_depth);
        if applies_to != AppliesTo::Part {
            add(&mut self.repeated_tries, subschema.tries);
            add(&mut self.repeated_patterns, subschema.patterns);
        }
        if applies_to == AppliesTo::SameValue {
            add(&mut self.repeated_tries, subschema.repeated_tries);
            add(&mut self.repeated_patterns, subschema.repeated_patterns);
        }
    }

    /// Completes the weight of a schema: adds the work that each of its `unevaluated*` keywords repeats.
    pub(super) fn finish(&mut self, unevaluated_count: usize) {
        for _ in 0..unevaluated_count {
            add(&mut self.tries, self.repeated_tries);
            add(&mut self.patterns, self.repeated_patterns);
        }
        self.tried_twice_depth += u64::from(self.tried_twice);
    }
}

fn add(sum: &mut u64, summand: u64) {
    *sum = sum.saturating_add(summand);
}
