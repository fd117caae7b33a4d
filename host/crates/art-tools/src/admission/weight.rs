//! Weight of a schema: how much work it takes to apply it, for each unit of the size of a value. It is computed only from the
//! tree of the schema; [`Cost`](super::Cost) combines it with the size of a value.

use super::keywords::AppliesTo;

/// The work of applying a schema and all its subschemas, for each unit of the size of a value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weight {
    /// Work without that of the patterns: one unit for each schema, plus the size of the keyword values with which a value is
    /// compared, the extra work of expensive keywords, and what `unevaluated*` keywords repeat. One unit is the work of applying
    /// an empty schema to one value.
    pub(super) work: u64,
    /// Total weight of the patterns that are matched.
    pub(super) pattern_weight: u64,
    /// Maximum nesting depth of keywords whose subschemas are applied once more to explain a violation, such as `anyOf`.
    pub(super) explained_depth: u64,
    /// True if this schema itself has such a keyword.
    has_keyword_applied_again_to_explain: bool,
    /// Work that each `unevaluated*` keyword of this schema repeats, to find out which parts of the value the other keywords
    /// evaluated.
    repeated_work: u64,
    /// Weight of the patterns that each `unevaluated*` keyword of this schema matches again.
    repeated_pattern_weight: u64,
}

impl Weight {
    /// Returns the weight of a schema without keywords: one unit of work.
    pub(super) fn empty_schema() -> Self {
        Self {
            work: 1,
            repeated_work: 1,
            ..Self::default()
        }
    }

    /// Adds as much work as `work` empty schemas take.
    pub(super) fn add_work(&mut self, work: u64) {
        add(&mut self.work, work);
        add(&mut self.repeated_work, work);
    }

    /// Adds the weight of a pattern.
    pub(super) fn add_pattern(&mut self, weight: u64) {
        add(&mut self.pattern_weight, weight);
        add(&mut self.repeated_pattern_weight, weight);
    }

    /// Records that the schema has a keyword whose subschemas are applied once more to explain a violation.
    pub(super) fn set_applied_again_to_explain(&mut self) {
        self.has_keyword_applied_again_to_explain = true;
    }

    /// Adds the weight of a subschema. `applies_to` says to which value the subschema is applied.
    pub(super) fn add_subschema(&mut self, subschema: Self, applies_to: AppliesTo) {
        if applies_to == AppliesTo::Nothing {
            return;
        }
        add(&mut self.work, subschema.work);
        add(&mut self.pattern_weight, subschema.pattern_weight);
        self.explained_depth = self.explained_depth.max(subschema.explained_depth);
        if applies_to != AppliesTo::Part {
            // An `unevaluated*` keyword of this schema applies the subschema again.
            add(&mut self.repeated_work, subschema.work);
            add(&mut self.repeated_pattern_weight, subschema.pattern_weight);
        }
        if applies_to == AppliesTo::SameValue {
            // The `unevaluated*` keyword also finds out which parts of the value the keywords of the subschema evaluated.
            add(&mut self.repeated_work, subschema.repeated_work);
            add(&mut self.repeated_pattern_weight, subschema.repeated_pattern_weight);
        }
    }

    /// Adds what a validator does again: the work that each `unevaluated*` keyword of the schema repeats, and a level of
    /// `explained_depth` if the schema has a keyword whose subschemas are applied once more to explain a violation. Has to be
    /// called after all keywords of the schema were added.
    pub(super) fn add_repetitions(&mut self, unevaluated_count: usize) {
        for _ in 0..unevaluated_count {
            add(&mut self.work, self.repeated_work);
            add(&mut self.pattern_weight, self.repeated_pattern_weight);
        }
        self.explained_depth += u64::from(self.has_keyword_applied_again_to_explain);
    }
}

fn add(sum: &mut u64, summand: u64) {
    *sum = sum.saturating_add(summand);
}
