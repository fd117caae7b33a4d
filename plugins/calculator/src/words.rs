//! Arithmetic in words: `15 percent of 80`, `the square root of 144`, `average of 4, 8 and 15`, `divide 100 by 8`.
//!
//! Words that are an operator become its sign before an expression is parsed; the parser knows the others by name.

use crate::{
    error::EvalError,
    lexer::{self, Kind, Token},
    symbols::Symbols,
};

/// What words stand for, written with signs and the names of functions. The longest phrase wins.
const PHRASES: [(&str, &str); 39] = [
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

/// Words of the longest phrase.
const MAX_WORDS: usize = 5;

/// Words between two values. They end the value before them, so they are no names of variables.
const BETWEEN: [&str; 8] = ["and", "to", "from", "by", "is", "off", "degrees", "is_percent_of"];

/// Whether `name` stands behind a value.
pub(crate) fn is_between(name: &str) -> bool {
    name == "of" || name == "mod" || BETWEEN.contains(&name)
}

/// Puts signs and names of functions in the place of words. Names that have a value keep it.
pub(crate) fn in_signs(tokens: &[Token], symbols: &Symbols<'_>) -> Result<Vec<Token>, EvalError> {
    let mut signs = Vec::with_capacity(tokens.len());
    let mut rest = tokens;
    while let [first, others @ ..] = rest {
        let phrase = phrase(rest, symbols);
        if let Some((length, meaning)) = phrase {
            let meaning = lexer::tokenize(meaning)?.into_iter();
            let meaning = meaning.filter(|token| token.kind != Kind::End);
            signs.extend(meaning.map(|token| Token { at: first.at, ..token }));
            rest = rest.get(length..).unwrap_or_default();
        } else {
            let is_times = is_times(signs.last(), rest, symbols);
            signs.push(if is_times { times(first.at) } else { first.clone() });
            rest = others;
        }
    }
    Ok(signs)
}

/// The longest phrase at the start of `tokens`: its words, and what it stands for.
fn phrase(tokens: &[Token], symbols: &Symbols<'_>) -> Option<(usize, &'static str)> {
    let words: Vec<_> = tokens
        .iter()
        .map_while(|token| match &token.kind {
            Kind::Name(name) if !symbols.contains(name) => Some(name.to_lowercase()),
            _ => None,
        })
        .take(MAX_WORDS)
        .collect();
    (1..=words.len()).rev().find_map(|length| {
        let text = words.get(..length)?.join(" ");
        let found = PHRASES.iter().find(|(phrase, _)| *phrase == text)?;
        Some((length, found.1))
    })
}

/// Whether the `x` at the start of `tokens` stands between two values, as in `12 x 12`.
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
