//! Words that a part does not say but asks for all the same, in the way tools describe themselves.

use super::super::reading::{Candidate, Reading, Shape};

/// Words for what a phrase as a whole asks for.
pub(super) fn hints(part: &Reading) -> Vec<&'static str> {
    let mut hints = Vec::new();
    let follows = |first: &str, second: &[&str]| {
        part.tokens
            .windows(2)
            .any(|pair| matches!(pair, [a, b] if a.is(first) && b.is_any(second)))
    };
    if follows("how", &["far"]) {
        hints.push("distance");
    }
    if follows("you", &["say"]) || follows("to", &["say"]) {
        hints.extend(["translate", "language"]);
    }
    let currencies = part
        .candidates
        .iter()
        .filter(|candidate| is_currency(candidate))
        .count();
    if currencies > 0 {
        hints.extend(["currency", "money"]);
    }
    if currencies > 1 {
        hints.extend(["convert", "exchange", "rate"]);
    }
    if part
        .tokens
        .iter()
        .any(|token| token.text.starts_with('#') && token.is_code())
    {
        hints.extend(["color", "colour", "hex"]);
    }
    hints
}

fn is_currency(candidate: &Candidate) -> bool {
    match &candidate.shape {
        Shape::Phrase | Shape::Name => candidate.value.as_str().is_some_and(super::super::fill::names_currency),
        Shape::Number(number) => number.currency.is_some(),
        _ => false,
    }
}

/// Words for what a candidate is, in the way tools describe themselves.
pub(super) fn kinds(shape: &Shape) -> &'static [&'static str] {
    match shape {
        Shape::Expression => &["arithmetic", "expression", "calculate", "math"],
        Shape::Date | Shape::RelativeDate => &["date"],
        Shape::Number(number) if number.looks_like_a_year() => &["year"],
        Shape::Url => &["url", "web"],
        Shape::Email => &["email"],
        Shape::Path => &["file"],
        _ => &[],
    }
}
