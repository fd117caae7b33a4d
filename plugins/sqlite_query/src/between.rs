//! Finds comparisons that the SQL engine `graphitesql` may get wrong: the engine treats a null bound of `BETWEEN` as the smallest
//! value, but in SQL no value is between two bounds of which one is null. Only constant numbers and texts are known not to be
//! null, so this module finds each `BETWEEN` with a bound of any other form.

use graphitesql::sql::token::{Token, tokenize};

/// Returns whether a query has a `BETWEEN` with a bound that may be null.
pub(crate) fn may_have_null_bound(sql: &str) -> bool {
    // An error of `tokenize` is ignored: the engine refuses the query later, with a better message.
    let tokens: Vec<_> = tokenize(sql)
        .unwrap_or_default()
        .into_iter()
        .map(|spanned| spanned.token)
        .collect();
    let mut rest = tokens.as_slice();
    while let Some((first, after_first)) = rest.split_first() {
        if is_word(first, "between") && !is_window_frame(after_first) && !has_constant_bounds(after_first) {
            return true;
        }
        rest = after_first;
    }
    false
}

/// Returns whether a `BETWEEN` belongs to a window frame: `ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW`.
fn is_window_frame(after_between: &[Token]) -> bool {
    let is_word_at = |index: usize, word| after_between.get(index).is_some_and(|token| is_word(token, word));
    is_word_at(1, "preceding") || is_word_at(1, "following") || is_word_at(0, "current") && is_word_at(1, "row")
}

/// Returns whether both bounds of a `BETWEEN` are constants.
fn has_constant_bounds(after_between: &[Token]) -> bool {
    let after_lower_bound = skip_constant(after_between).and_then(<[Token]>::split_first);
    let Some((and, upper_bound)) = after_lower_bound else {
        return false;
    };
    // If an operator, such as `+`, or the word `COLLATE` follows the constant, the upper bound is more than this constant.
    let is_end_of_bound = |after_constant: &[Token]| match after_constant.first() {
        None | Some(Token::RParen | Token::Comma | Token::Semicolon) => true,
        Some(Token::Word(word)) => !word.eq_ignore_ascii_case("collate"),
        Some(_) => false,
    };
    is_word(and, "and") && skip_constant(upper_bound).is_some_and(is_end_of_bound)
}

/// Returns the tokens after the constant number or text with which `tokens` begins, or `None` if it begins with something else.
fn skip_constant(tokens: &[Token]) -> Option<&[Token]> {
    let tokens = match tokens {
        [Token::Minus, rest @ ..] => rest,
        tokens => tokens,
    };
    match tokens {
        [Token::Integer(_) | Token::Float(_) | Token::Str(_), rest @ ..] => Some(rest),
        _ => None,
    }
}

fn is_word(token: &Token, expected: &str) -> bool {
    matches!(token, Token::Word(word) if word.eq_ignore_ascii_case(expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_bounds_and_window_frames_are_not_found() {
        for sql in [
            "SELECT * FROM t WHERE a BETWEEN 1 AND -2.5 AND b = 3",
            "SELECT * FROM t WHERE (a NOT between 'x' and 'y')",
            "SELECT 'BETWEEN a AND b' FROM t",
            "SELECT sum(a) OVER (ORDER BY b ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM t",
            "SELECT sum(a) OVER (ORDER BY b ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) FROM t",
        ] {
            assert!(!may_have_null_bound(sql), "{sql}");
        }
    }

    #[test]
    fn bounds_that_are_no_constants_are_found() {
        for sql in [
            "SELECT * FROM t WHERE a BETWEEN b AND 2",
            "SELECT * FROM t WHERE a BETWEEN 1 AND b",
            "SELECT * FROM t WHERE a BETWEEN 1 AND 2 + b",
            "SELECT * FROM t WHERE a BETWEEN 1 + b AND 2",
            "SELECT * FROM t WHERE a BETWEEN NULL AND 2",
            "SELECT * FROM t WHERE a BETWEEN ? AND 2",
            "SELECT a BETWEEN 1 AND 2, a BETWEEN 1 AND (SELECT b FROM u) FROM t",
        ] {
            assert!(may_have_null_bound(sql), "{sql}");
        }
    }
}
