//! Words that point at the result of an earlier part.

use super::super::measure;
use super::super::token::Token;
use super::super::words;
use super::{Candidate, Reading, Shape};

impl Reading {
    pub(super) fn references(&self) -> Vec<Candidate> {
        let all = (0..self.tokens.len()).filter_map(|index| {
            let length = self.reference_at(index)?;
            Some(self.candidate(Shape::Reference, index, index + length))
        });
        all.collect()
    }

    /// How many tokens of a reference to an earlier result start at `index`.
    pub(in super::super) fn reference_at(&self, index: usize) -> Option<usize> {
        let token = self.token(index)?;
        let next = self.token(index + 1).map(Token::lower).unwrap_or_default();
        if token.is_any(&["the", "that", "this", "its"])
            && ["result", "results", "answer", "answers", "outcome", "output"].contains(&next.as_str())
        {
            return Some(2);
        }
        if token.is_any(&["that", "this"])
            && ["number", "value", "amount", "sum", "total", "figure", "list"].contains(&next.as_str())
        {
            return Some(2);
        }
        // "that" before another noun points at something else, as does "it" after a verb of being.
        let noun_follows = self
            .token(index + 1)
            .is_some_and(|token| token.is_word() && !words::is_empty(&next));
        let free = !noun_follows || FOLLOWERS.contains(&next.as_str());
        let being = matches!(
            self.before(index, 1).as_str(),
            "is" | "was" | "does" | "will" | "if" | "be"
        );
        // "3 weeks after that" starts from a result, "after that" alone does not.
        let timed = measure::named(&self.before(index, 2)).is_some_and(measure::Unit::is_time);
        let after = !timed
            && matches!(
                self.before(index, 1).as_str(),
                "after" | "before" | "besides" | "so" | "like" | "than"
            );
        let stand_alone = token.is_any(&["that", "this", "those", "these"]) && free;
        let object = token.is_any(&["it", "them"]) && free && !being;
        ((stand_alone || object) && !after).then_some(1)
    }
}

/// Words that go on after a reference without being what it points at.
const FOLLOWERS: &[&str] = &[
    "divided",
    "times",
    "multiplied",
    "plus",
    "minus",
    "squared",
    "cubed",
    "converted",
    "rounded",
    "raised",
    "expressed",
    "come",
    "written",
    "translated",
];
