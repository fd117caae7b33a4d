//! Arithmetic in words: `15 percent of 80`, `the square root of 144`, `average of 4, 8 and 15`, `divide 100 by 8`.
//!
//! Before parsing, each phrase becomes an operator, a number, the name of a function, or a keyword of the parser. For example,
//! `is what percent of` becomes `is_percent_of`, and the `tip` in `a 20% tip`, which is a share that is added, becomes `extra`.
//! The parser handles all words that belong to no phrase.

use crate::{
    error::EvalError,
    lexer::{self, Token, TokenKind},
    symbols::Symbols,
};

/// Phrases and their replacements: operators, numbers, names of functions, keywords of the parser, or nothing. The longest phrase
/// wins.
const PHRASES: &[(&str, &str)] = &[
    ("plus", "+"),
    ("increased by", "+"),
    ("raised by", "+"),
    ("minus", "-"),
    ("negative", "-"),
    ("take away", "-"),
    ("decreased by", "-"),
    ("reduced by", "-"),
    ("times", "*"),
    ("multiplied by", "*"),
    ("multiplied with", "*"),
    ("divided by", "/"),
    ("is divided by", "/"),
    ("divided between", "/"),
    ("divided among", "/"),
    ("split between", "/"),
    ("split among", "/"),
    ("split by", "/"),
    ("shared between", "/"),
    ("shared among", "/"),
    ("shared by", "/"),
    ("over", "/"),
    ("percent", "%"),
    ("per cent", "%"),
    ("pct", "%"),
    ("tip on", "of"),
    ("tip for", "of"),
    ("tip on a", "of"),
    ("tax on", "of"),
    ("sales tax on", "of"),
    ("vat on", "of"),
    ("interest on", "of"),
    ("on", "of"),
    ("tip of", ""),
    ("tip", "extra"),
    ("tax", "extra"),
    ("sales tax", "extra"),
    ("vat", "extra"),
    ("bill", ""),
    ("squared", "^2"),
    ("cubed", "^3"),
    ("power", "^"),
    ("to the power", "^"),
    ("to the power of", "^"),
    ("raised to", "^"),
    ("raised to the power", "^"),
    ("raised to the power of", "^"),
    ("to the third power", "^3"),
    ("to the fourth power", "^4"),
    ("to the fifth power", "^5"),
    ("third power of", "nth_power 3 of"),
    ("fourth power of", "nth_power 4 of"),
    ("fifth power of", "nth_power 5 of"),
    ("fourth root of", "nth_root 4 of"),
    ("fifth root of", "nth_root 5 of"),
    ("modulo", "mod"),
    ("modulus", "mod"),
    ("the", ""),
    ("numbers", ""),
    ("with a", "with"),
    ("after a", "with"),
    ("after", "with"),
    ("including", "with"),
    ("including a", "with"),
    ("discount", "off"),
    ("off of", "off"),
    ("half", "0.5"),
    ("a half", "0.5"),
    ("a third", "(1/3)"),
    ("a quarter", "0.25"),
    ("a fifth", "0.2"),
    ("a tenth", "0.1"),
    ("double", "2 *"),
    ("twice", "2 *"),
    ("triple", "3 *"),
    ("thrice", "3 *"),
    ("quadruple", "4 *"),
    ("more than", "more_than"),
    ("higher than", "more_than"),
    ("added to", "more_than"),
    ("on top of", "more_than"),
    ("less than", "less_than"),
    ("lower than", "less_than"),
    ("subtracted from", "less_than"),
    ("taken from", "less_than"),
    ("deduct", "subtract"),
    ("reduce", "decrease"),
    ("share", "split"),
    ("split a bill of", "split"),
    ("people", ""),
    // `log of 8 to base 2` becomes `log of 8 and 2`.
    ("to base", "and"),
    ("log base", "log_base"),
    ("logarithm base", "log_base"),
    ("remainder of", "remainder"),
    ("remainder when", "remainder"),
    ("remainder when dividing", "remainder"),
    ("percentage change from", "change_from"),
    ("percent change from", "change_from"),
    ("percentage increase from", "change_from"),
    ("percent increase from", "change_from"),
    ("percentage decrease from", "drop_from"),
    ("percent decrease from", "drop_from"),
    // `choose 2 out of 5` becomes `choose 2 from 5`.
    ("out of", "from"),
    ("add up", "sum of"),
    ("add together", "sum of"),
    ("total", "sum"),
    ("rounded to", "rounded_to"),
    ("to the nearest", "to_nearest"),
    ("rounded to the nearest", "to_nearest"),
    ("to the nearest whole number", "to 0"),
    ("to the nearest integer", "to 0"),
    ("to the nearest tenth", "to 1"),
    ("to the nearest hundredth", "to 2"),
    ("to the nearest cent", "to 2"),
    ("rounded to the nearest whole number", "rounded_to 0"),
    ("rounded to the nearest integer", "rounded_to 0"),
    ("rounded to the nearest tenth", "rounded_to 1"),
    ("rounded to the nearest hundredth", "rounded_to 2"),
    ("rounded to the nearest cent", "rounded_to 2"),
    ("round up", "ceil"),
    ("round down", "floor"),
    ("decimal places", "decimals"),
    ("decimal place", "decimals"),
    ("decimal points", "decimals"),
    ("decimal", "decimals"),
    ("square root", "sqrt"),
    ("squared root", "sqrt"),
    ("root", "sqrt"),
    ("cube root", "cbrt"),
    ("cubic root", "cbrt"),
    ("absolute value", "abs"),
    ("sine", "sin"),
    ("cosine", "cos"),
    ("tangent", "tan"),
    ("arcsine", "asin"),
    ("arccosine", "acos"),
    ("arctangent", "atan"),
    ("natural logarithm", "ln"),
    ("natural log", "ln"),
    ("binary logarithm", "log2"),
    ("common logarithm", "log10"),
    ("logarithm", "log"),
    ("average", "mean"),
    ("avg", "mean"),
    ("standard deviation", "std"),
    ("maximum", "max"),
    ("largest", "max"),
    ("biggest", "max"),
    ("highest", "max"),
    ("minimum", "min"),
    ("smallest", "min"),
    ("lowest", "min"),
    ("greatest common divisor", "gcd"),
    ("greatest common factor", "gcd"),
    ("highest common factor", "gcd"),
    ("least common multiple", "lcm"),
    ("lowest common multiple", "lcm"),
    ("is what percent of", "is_percent_of"),
    ("is what percentage of", "is_percent_of"),
    ("as a percent of", "is_percent_of"),
    ("as a percentage of", "is_percent_of"),
    ("what percent is", "percent_is"),
    ("what percentage is", "percent_is"),
    ("what percent of", "percent_of"),
    ("what percentage of", "percent_of"),
];

/// Words for fractions, and how many of each make a whole: 3 for `third`.
const FRACTIONS: [(&str, f64); 10] = [
    ("half", 2.0),
    ("third", 3.0),
    ("quarter", 4.0),
    ("fourth", 4.0),
    ("fifth", 5.0),
    ("sixth", 6.0),
    ("seventh", 7.0),
    ("eighth", 8.0),
    ("ninth", 9.0),
    ("tenth", 10.0),
];

/// Words after a number that multiply it.
const MAGNITUDES: [(&str, f64); 4] = [("hundred", 1e2), ("thousand", 1e3), ("million", 1e6), ("billion", 1e9)];

/// Words for money. They do not change the number before them.
const MONEY: [&str; 9] = [
    "dollar", "dollars", "euro", "euros", "pounds", "bucks", "usd", "eur", "gbp",
];

/// Number of words of the longest of the [`PHRASES`].
const MAX_PHRASE_WORDS: usize = 6;

/// Words that cannot start a value, and so end the value before them. Two values side by side are a product, such as `5 pi`. But
/// `5 degrees` is no product. [`ends_value`] adds the words `of` and `mod`.
const VALUE_ENDS: [&str; 21] = [
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
    "to_nearest",
    "decimals",
    "with",
    "extra",
    "more_than",
    "less_than",
    "choose",
    "between",
    "among",
    "into",
    "digits",
];

/// Returns whether `name` cannot start a value, and so ends the value before it.
pub(crate) fn ends_value(name: &str) -> bool {
    name == "of" || name == "mod" || VALUE_ENDS.contains(&name)
}

/// Replaces the [`PHRASES`], powers and roots such as `12th power`, fractions such as `2 thirds`, numbers such as `3 million`,
/// and an `x` that means `times`. Drops words for money after a number. Writes in lower case the words that end a value. Does not
/// change a word that is the name of a variable or a constant, except in a power or a root such as `12th power`.
pub(crate) fn replace_phrases(tokens: &[Token], symbols: &Symbols<'_>) -> Result<Vec<Token>, EvalError> {
    let tokens: Vec<Token> = tokens
        .iter()
        .map(|token| lowercase_if_value_end(token, symbols))
        .collect();
    let mut output = Vec::with_capacity(tokens.len());
    let mut rest = tokens.as_slice();
    while let [first, others @ ..] = rest {
        if let Some(length) =
            replace_ordinal_phrase(rest, &mut output).or_else(|| scale_number(rest, &mut output, symbols))
        {
            rest = rest.get(length..).unwrap_or_default();
        } else if let Some((length, replacement)) = find_phrase(rest, symbols) {
            let replacement = lexer::tokenize(replacement)?.into_iter();
            let replacement = replacement.filter(|token| token.kind != TokenKind::End);
            output.extend(replacement.map(|token| Token { at: first.at, ..token }));
            rest = rest.get(length..).unwrap_or_default();
        } else {
            output.extend(replace_x(output.last(), rest, symbols).unwrap_or_else(|| vec![first.clone()]));
            rest = others;
        }
    }
    Ok(output)
}

/// Returns the token, in lower case if it is a word that ends a value and is not the name of a variable or a constant: the `OF`
/// in `15% OF 80` becomes `of`.
fn lowercase_if_value_end(token: &Token, symbols: &Symbols<'_>) -> Token {
    let lower = match &token.kind {
        TokenKind::Name(name) if !symbols.contains(name) => name.to_lowercase(),
        _ => return token.clone(),
    };
    if !ends_value(&lower) || symbols.contains(&lower) {
        return token.clone();
    }
    Token {
        at: token.at,
        kind: TokenKind::Name(lower),
    }
}

/// Replaces a phrase such as `12th power` or `4th root` at the start of `tokens`, and adds the new tokens to `output`.
/// `to the 12th power` becomes `^ 12`. Without `to`, as in `12th power of 2`, `12th power` becomes `nth_power 12`, and `4th root`
/// becomes `nth_root 4`. Returns how many of `tokens` it replaces, or `None` if there is no such phrase.
fn replace_ordinal_phrase(tokens: &[Token], output: &mut Vec<Token>) -> Option<usize> {
    let at = tokens.first()?.at;
    let word_at = |index: usize| match &tokens.get(index)?.kind {
        TokenKind::Name(name) => Some(name.to_lowercase()),
        _ => None,
    };
    let is_one_of = |index: usize, words: &[&str]| word_at(index).is_some_and(|word| words.contains(&word.as_str()));
    let skip_word = |index: usize, words: &[&str]| index + usize::from(is_one_of(index, words));
    let index_of_to = skip_word(0, &["raised"]);
    let is_after_base = is_one_of(index_of_to, &["to"]);
    let ordinal_index = if is_after_base {
        skip_word(index_of_to + 1, &["the"])
    } else {
        skip_word(0, &["the"])
    };
    // An ordinal such as `12th` is two tokens: `12` and `th`.
    let ordinal = tokens
        .get(ordinal_index)
        .filter(|token| matches!(token.kind, TokenKind::Number(_) | TokenKind::Whole(_)))?;
    let next_index = ordinal_index + 2;
    let keyword = |name: &str| TokenKind::Name(name.to_owned());
    let (kinds, length) = match () {
        () if !is_one_of(ordinal_index + 1, &["st", "nd", "rd", "th"]) => return None,
        () if is_after_base => (
            vec![TokenKind::Punct('^'), ordinal.kind.clone()],
            skip_word(next_index, &["power"]),
        ),
        () if is_one_of(next_index, &["power"]) => (vec![keyword("nth_power"), ordinal.kind.clone()], next_index + 1),
        () if is_one_of(next_index, &["root"]) => (vec![keyword("nth_root"), ordinal.kind.clone()], next_index + 1),
        () => return None,
    };
    output.extend(kinds.into_iter().map(|kind| Token { at, kind }));
    Some(length)
}

/// Applies the word at the start of `tokens` to the number before it, which is the last token of `output`: `2 thirds`,
/// `3 million`, `80 dollars`. A fraction before `of` needs no number before it: the `half` of `half of 50` becomes 0.5.
/// Returns 1, because it uses up one token, or `None` if there is no such word.
fn scale_number(tokens: &[Token], output: &mut Vec<Token>, symbols: &Symbols<'_>) -> Option<usize> {
    let [
        Token {
            at,
            kind: TokenKind::Name(name),
        },
        after,
        ..,
    ] = tokens
    else {
        return None;
    };
    let name = Some(name.to_lowercase()).filter(|lower| !symbols.contains(name) && !symbols.contains(lower))?;
    let singular = name.strip_suffix('s').unwrap_or(&name);
    let find =
        |table: &[(&str, f64)], word: &str| table.iter().find(|(known, _)| *known == word).map(|(_, value)| *value);
    let parts_of_whole = find(&FRACTIONS, if name == "halves" { "half" } else { singular });
    let number = output.last_mut().and_then(|token| match &mut token.kind {
        TokenKind::Number(number) => Some(number),
        _ => None,
    });
    match (number, parts_of_whole, find(&MAGNITUDES, &name)) {
        (Some(number), Some(parts), _) => *number /= parts,
        (Some(number), _, Some(magnitude)) => *number *= magnitude,
        (Some(_), ..) if MONEY.contains(&name.as_str()) => {}
        (None, Some(parts), _) if matches!(&after.kind, TokenKind::Name(of) if of == "of") => {
            let kind = TokenKind::Number(1.0 / parts);
            output.push(Token { at: *at, kind });
        }
        _ => return None,
    }
    Some(1)
}

/// Returns the longest phrase at the start of `tokens`: its number of words, and its replacement.
fn find_phrase(tokens: &[Token], symbols: &Symbols<'_>) -> Option<(usize, &'static str)> {
    let words: Vec<_> = tokens
        .iter()
        .map_while(|token| match &token.kind {
            TokenKind::Name(name) if !symbols.contains(name) => Some(name.to_lowercase()),
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

/// Returns the replacement of the first token if that token starts with an `x` that means `times`, as in `12 x 12` and `12x12`.
/// `before` is the token before the `x`.
fn replace_x(before: Option<&Token>, tokens: &[Token], symbols: &Symbols<'_>) -> Option<Vec<Token>> {
    let [
        Token {
            at,
            kind: TokenKind::Name(name),
        },
        after,
        ..,
    ] = tokens
    else {
        return None;
    };
    // The token beside the `x` is a number, or the `)` of the left factor, or the `(` of the right one.
    let is_factor = |kind: &TokenKind, paren| {
        matches!(kind, TokenKind::Number(_) | TokenKind::Whole(_)) || *kind == TokenKind::Punct(paren)
    };
    let digits_after_x = name.strip_prefix(['x', 'X']).filter(|_| !symbols.contains(name))?;
    before.filter(|before| is_factor(&before.kind, ')'))?;
    let times = Token {
        at: *at,
        kind: TokenKind::Punct('*'),
    };
    if digits_after_x.is_empty() {
        return is_factor(&after.kind, '(').then(|| vec![times]);
    }
    let number = digits_after_x
        .parse()
        .ok()
        .filter(|_| digits_after_x.bytes().all(|byte| byte.is_ascii_digit()));
    let kind = TokenKind::Number(number?);
    Some(vec![times, Token { at: *at + 1, kind }])
}
