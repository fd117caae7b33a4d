//! The current time in a query.
//!
//! The engine reads the clock for every row. This module reads it once and writes the time into the query, so that a query has
//! one time, as in SQLite, and a query of many rows does not make as many calls into the host. The engine still reads the clock
//! where the query does not show that it needs the time, such as in a view.

use std::ops::Range;

use art_sdk::{Result, ToolError};
use graphitesql::Value;
use graphitesql::exec::datetime::strftime;
use graphitesql::sql::token::{Spanned, Token, tokenize};

use crate::rewrite::Edit;

/// The functions whose first argument is a time. Without an argument they return the current time.
const TIME_FUNCTIONS: [&str; 5] = ["date", "time", "datetime", "julianday", "unixepoch"];

/// The words that stand for the current time.
const CURRENT: [&str; 3] = ["current_date", "current_time", "current_timestamp"];

/// The words after which an expression begins. After another word, `CURRENT_DATE` may be the name of a column.
const BEFORE_EXPRESSION: [&str; 17] = [
    "select", "distinct", "where", "and", "or", "not", "between", "in", "is", "like", "case", "when", "then", "else",
    "on", "by", "having",
];

/// Returns the edits that write the current time into a query, if the query needs it.
pub(crate) fn time_edits(sql: &str) -> Vec<Edit> {
    let places = places_of_time(&tokenize(sql).unwrap_or_default());
    let Some(time) = (!places.is_empty()).then(current_time).flatten() else {
        return Vec::new();
    };
    let edit = |(range, function): (_, Option<&str>)| match function {
        Some(function) => (range, format!("{function}('{time}')")),
        None => (range, format!("'{time}'")),
    };
    places.into_iter().map(edit).collect()
}

/// Refuses a query that converts between UTC and the time zone of the computer, which is not known in the sandbox.
///
/// # Errors
///
/// Fails if a function of time in `sql` has the modifier `localtime` or `utc`, or may get it from a parameter.
pub(crate) fn refuse_time_zones<'p>(sql: &str, text_parameters: impl IntoIterator<Item = &'p str>) -> Result<()> {
    let tokens = tokenize(sql).unwrap_or_default();
    let has_function = tokens.iter().any(|spanned| is_time_function(&spanned.token));
    let parameter = text_parameters.into_iter().find(|text| has_function && is_zone(text));
    let modifier = parameter.or_else(|| zone_modifier(&tokens));
    modifier.map_or(Ok(()), |modifier| {
        Err(ToolError::validation(format_args!(
            "the modifier `{modifier}` cannot be used, because the time zone is not known here: the current time is in UTC, and \
             a modifier such as `+02:00` adds the hours of a zone"
        )))
    })
}

/// Returns the first modifier that needs the time zone, such as `localtime`, in the arguments of a function of time.
fn zone_modifier(tokens: &[Spanned]) -> Option<&str> {
    // Whether each open parenthesis is that of a function of time.
    let mut open = Vec::new();
    let mut previous = None;
    for spanned in tokens {
        match &spanned.token {
            Token::LParen => open.push(previous.is_some_and(is_time_function)),
            Token::RParen => _ = open.pop(),
            Token::Str(text) if open.last() == Some(&true) && previous == Some(&Token::Comma) && is_zone(text) => {
                return Some(text);
            }
            _ => {}
        }
        previous = Some(&spanned.token);
    }
    None
}

fn is_zone(text: &str) -> bool {
    text.eq_ignore_ascii_case("localtime") || text.eq_ignore_ascii_case("utc")
}

fn is_time_function(token: &Token) -> bool {
    is_one_of(token, &TIME_FUNCTIONS) || is_one_of(token, &["strftime"])
}

/// Returns whether a token is one of these words. A function may be quoted as a name is.
fn is_one_of(token: &Token, words: &[&str]) -> bool {
    matches!(token, Token::Word(word) | Token::Ident(word) if words.iter().any(|known| known.eq_ignore_ascii_case(word)))
}

/// Returns the ranges of a query that stand for the current time, in order. For a word such as `CURRENT_DATE` it also returns the
/// function that makes its value from the time.
fn places_of_time(tokens: &[Spanned]) -> Vec<(Range<usize>, Option<&'static str>)> {
    let places = (0..tokens.len()).filter_map(|index| {
        let (before, rest) = tokens.split_at_checked(index)?;
        let (spanned, after) = rest.split_first()?;
        match &spanned.token {
            Token::Str(text) if text.eq_ignore_ascii_case("now") && is_time_argument(before) => {
                is_end_of_argument(after).then_some((spanned.start..spanned.end, None))
            }
            // A function of time without an argument.
            Token::RParen => match before {
                [.., function, parenthesis]
                    if parenthesis.token == Token::LParen && is_one_of(&function.token, &TIME_FUNCTIONS) =>
                {
                    Some((parenthesis.end..spanned.start, None))
                }
                _ => None,
            },
            Token::Word(word) if is_begin_of_expression(before) && !after.first().is_some_and(is_dot) => {
                let index = CURRENT.iter().position(|current| current.eq_ignore_ascii_case(word))?;
                TIME_FUNCTIONS
                    .get(index)
                    .map(|function| (spanned.start..spanned.end, Some(*function)))
            }
            _ => None,
        }
    });
    places.collect()
}

/// Returns whether a time is expected after these tokens: after `date(` or after `strftime('%Y',`.
fn is_time_argument(before: &[Spanned]) -> bool {
    let mut tokens = before.iter().rev().map(|spanned| &spanned.token);
    match (tokens.next(), tokens.next(), tokens.next(), tokens.next()) {
        (Some(Token::LParen), Some(function), ..) => is_one_of(function, &TIME_FUNCTIONS),
        (Some(Token::Comma), Some(Token::Str(_)), Some(Token::LParen), Some(function)) => {
            is_one_of(function, &["strftime"])
        }
        _ => false,
    }
}

fn is_end_of_argument(after: &[Spanned]) -> bool {
    matches!(
        after.first().map(|spanned| &spanned.token),
        Some(Token::Comma | Token::RParen)
    )
}

fn is_dot(spanned: &Spanned) -> bool {
    spanned.token == Token::Dot
}

/// Returns whether an expression begins after these tokens, so that the word `CURRENT_DATE` there is no name.
fn is_begin_of_expression(before: &[Spanned]) -> bool {
    match before.last().map(|spanned| &spanned.token) {
        None | Some(Token::Dot | Token::RParen | Token::Semicolon | Token::Star) => false,
        Some(Token::LParen | Token::Comma) => true,
        Some(Token::Word(word)) => BEFORE_EXPRESSION.contains(&word.to_ascii_lowercase().as_str()),
        Some(token) => is_operator(token),
    }
}

fn is_operator(token: &Token) -> bool {
    matches!(
        token,
        Token::Plus
            | Token::Minus
            | Token::Concat
            | Token::Eq
            | Token::NotEq
            | Token::Lt
            | Token::LtEq
            | Token::Gt
            | Token::GtEq
    )
}

/// Reads the clock. Returns the time in UTC, with milliseconds, in a form that the functions of time read.
fn current_time() -> Option<String> {
    match strftime(&[Value::Text("%Y-%m-%d %H:%M:%f".into()), Value::Text("now".into())]) {
        Value::Text(text) => Some(text.to_str_lossy().into_owned()),
        _ => None,
    }
}
