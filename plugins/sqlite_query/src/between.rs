//! Finds comparisons that the engine gets wrong: it treats a null bound of `BETWEEN` as the smallest value, but in SQL such a
//! comparison finds no row. Constant bounds are never null.

use graphitesql::sql::token::{Token, tokenize};

/// Returns whether a query has a `BETWEEN` with a bound that may be null.
pub(crate) fn may_have_null_bound(sql: &str) -> bool {
    // The engine refuses a query that cannot be read, with a better message.
    let tokens: Vec<_> = tokenize(sql)
        .unwrap_or_default()
        .into_iter()
        .map(|spanned| spanned.token)
        .collect();
    let mut rest = tokens.as_slice();
    while let Some((first, after)) = rest.split_first() {
        if is_word(first, "between") && !is_frame(after) && !has_constant_bounds(after) {
            return true;
        }
        rest = after;
    }
    false
}

/// Returns whether a `BETWEEN` belongs to a window frame: `ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW`.
fn is_frame(after: &[Token]) -> bool {
    let word = |at: usize, word| after.get(at).is_some_and(|token| is_word(token, word));
    word(1, "preceding") || word(1, "following") || word(0, "current") && word(1, "row")
}

fn has_constant_bounds(after: &[Token]) -> bool {
    let lower = skip_constant(after).and_then(<[Token]>::split_first);
    let Some((and, upper)) = lower else { return false };
    let ends_bound = |rest: &[Token]| match rest.first() {
        None | Some(Token::RParen | Token::Comma | Token::Semicolon) => true,
        Some(Token::Word(word)) => !word.eq_ignore_ascii_case("collate"),
        Some(_) => false,
    };
    is_word(and, "and") && skip_constant(upper).is_some_and(ends_bound)
}

/// Returns the tokens after a constant number or text, or `None` if there is no constant.
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
    fn constant_bounds_and_window_frames_pass() {
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
