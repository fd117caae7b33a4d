//! How many of the best are asked for: "top 3", "the five largest".

use serde_json::Value;

use super::super::reading::{Reading, Shape};

/// Words for the best and the worst, behind a number.
const SUPERLATIVES: &[&str] = &[
    "highest", "lowest", "largest", "smallest", "biggest", "best", "worst", "cheapest", "latest", "earliest", "oldest",
    "newest", "fewest",
];

/// The number of rows of a ranking and the token that gives it; "2nd highest" gives none.
pub(super) fn ranked(part: &Reading) -> Option<(Value, usize)> {
    let counts = |from: usize, to: usize| {
        let cardinal = part.token(from).is_some_and(|token| !is_ordinal(&token.text));
        let before = part.before(from, 1);
        let led = matches!(before.as_str(), "top" | "bottom" | "first");
        cardinal && (led || part.token(to).is_some_and(|token| token.is_any(SUPERLATIVES)))
    };
    let numbers = part
        .candidates
        .iter()
        .filter(|candidate| matches!(candidate.shape, Shape::Number(_)));
    let mut whole = numbers.filter(|candidate| candidate.to == candidate.from + 1 && candidate.value.is_u64());
    let found = whole.find(|candidate| counts(candidate.from, candidate.to))?;
    Some((found.value.clone(), found.from))
}

/// Whether a mention at token `at` is what is ranked: "top 3 regions".
pub(super) fn is_ranked(part: &Reading, at: usize) -> bool {
    part.before(at, 1) == "top"
        || ranked(part).is_some_and(|(_, number)| number + 1 == at && part.before(number, 1) == "top")
}

fn is_ordinal(text: &str) -> bool {
    ["st", "nd", "rd", "th"].iter().any(|ending| text.ends_with(ending))
}
