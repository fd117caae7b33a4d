//! Arithmetic in words: `15 percent of 80`, `the square root of 144`, `average of 4, 8 and 15`, `divide 100 by 8`.
//!
//! Phrases that stand for an operator or a function are replaced before parsing; the parser handles the other words by
//! name.

use crate::{
    error::EvalError,
    lexer::{self, Kind, Token},
    symbols::Symbols,
};

/// Phrases and their replacements: operators and names of functions. The longest phrase wins.
const PHRASES: [(&str, &str); 59] = [
    ("plus", "+"),
    ("increased by", "+"),
    ("minus", "-"),
    ("decreased by", "-"),
    ("reduced by", "-"),
    ("times", "*"),
    ("multiplied by", "*"),
    ("divided by", "/"),
    ("over", "/"),
    ("percent", "%"),
    ("per cent", "%"),
    ("tip on", "of"),
    ("squared", "^2"),
    ("cubed", "^3"),
    ("to the power of", "^"),
    ("raised to the power of", "^"),
    ("modulo", "mod"),
    ("half", "0.5"),
    ("the", ""),
    ("with", "-"),
    ("after a", "-"),
    ("discount", ""),
    ("a third", "(1/3)"),
    ("a quarter", "0.25"),
    ("double", "2 *"),
    ("twice", "2 *"),
    ("to base", "and"),
    ("log base", "log_base"),
    ("remainder of", "remainder"),
    ("percentage change from", "change_from"),
    ("out of", "from"),
    ("add up", "sum of"),
    ("total", "sum"),
    ("rounded to", "rounded_to"),
    ("to the nearest whole number", "to 0"),
    ("rounded to the nearest whole number", "rounded_to 0"),
    ("decimal places", ""),
    ("decimal place", ""),
    ("decimals", ""),
    ("square root", "sqrt"),
    ("cube root", "cbrt"),
    ("absolute value", "abs"),
    ("sine", "sin"),
    ("cosine", "cos"),
    ("tangent", "tan"),
    ("natural logarithm", "ln"),
    ("logarithm", "log"),
    ("average", "mean"),
    ("standard deviation", "std"),
    ("maximum", "max"),
    ("largest", "max"),
    ("minimum", "min"),
    ("smallest", "min"),
    ("greatest common divisor", "gcd"),
    ("least common multiple", "lcm"),
    ("is what percent of", "is_percent_of"),
    ("is what percentage of", "is_percent_of"),
    ("what percent of", "percent_of"),
    ("what percentage of", "percent_of"),
];

/// Number of words of the longest phrase.
const MAX_PHRASE_WORDS: usize = 6;

/// Words that end the value before them, so they cannot be names of variables.
const VALUE_ENDS: [&str; 10] = [
    "and",
    "to",
    "from",
    "by",
    "is",
    "off",
    "degrees",
    "factorial",
    "is_percent_of",
    "rounded_to",
];

/// Returns whether `name` ends the value before it.
pub(crate) fn ends_value(name: &str) -> bool {
    name == "of" || name == "mod" || VALUE_ENDS.contains(&name)
}

/// Replaces phrases by operators and names of functions. Words that are variables stay.
pub(crate) fn replace_phrases(tokens: &[Token], symbols: &Symbols<'_>) -> Result<Vec<Token>, EvalError> {
    let mut replaced = Vec::with_capacity(tokens.len());
    let mut rest = tokens;
    while let [first, others @ ..] = rest {
        let phrase = phrase(rest, symbols);
        if let Some((length, meaning)) = phrase {
            let meaning = lexer::tokenize(meaning)?.into_iter();
            let meaning = meaning.filter(|token| token.kind != Kind::End);
            replaced.extend(meaning.map(|token| Token { at: first.at, ..token }));
            rest = rest.get(length..).unwrap_or_default();
        } else {
            let is_times = is_times(replaced.last(), rest, symbols);
            replaced.push(if is_times { times(first.at) } else { first.clone() });
            rest = others;
        }
    }
    Ok(replaced)
}

/// Returns the longest phrase at the start of `tokens`: its number of words, and its replacement.
fn phrase(tokens: &[Token], symbols: &Symbols<'_>) -> Option<(usize, &'static str)> {
    let words: Vec<_> = tokens
        .iter()
        .map_while(|token| match &token.kind {
            Kind::Name(name) if !symbols.contains(name) => Some(name.to_lowercase()),
            _ => None,
        })
        .take(MAX_PHRASE_WORDS)
        .collect();
    (1..=words.len()).rev().find_map(|length| {
        let text = words.get(..length)?.join(" ");
        let found = PHRASES.iter().find(|(phrase, _)| *phrase == text)?;
        Some((length, found.1))
    })
}

/// Returns whether `tokens` start with an `x` between two values, as in `12 x 12`.
fn is_times(before: Option<&Token>, tokens: &[Token], symbols: &Symbols<'_>) -> bool {
    let [
        Token {
            kind: Kind::Name(name), ..
        },
        after,
        ..,
    ] = tokens
    else {
        return false;
    };
    let is_value = |kind: &Kind, bracket| matches!(kind, Kind::Number(_)) || *kind == Kind::Sign(bracket);
    name.eq_ignore_ascii_case("x")
        && !symbols.contains(name)
        && before.is_some_and(|before| is_value(&before.kind, ')'))
        && is_value(&after.kind, '(')
}

fn times(at: usize) -> Token {
    let kind = Kind::Sign('*');
    Token { at, kind }
}
