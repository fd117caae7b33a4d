//! Replaces subqueries of `IN` that have no rows.
//!
//! A null is in no empty list: `NULL IN (SELECT ..)` is false if the subquery has no rows. The engine takes it for null in some
//! queries, but not in `NULL IN ()`.

use std::ops::Range;

use graphitesql::sql::token::{Spanned, Token, tokenize};

/// A subquery of `IN`.
#[derive(Debug, PartialEq)]
pub(crate) struct ListQuery {
    /// The place of the subquery, without its parentheses.
    pub(crate) range: Range<usize>,
    /// A query that has a row if the subquery has one.
    pub(crate) probe: String,
    /// The number of `?` before the subquery, and in it.
    pub(crate) parameters: (usize, usize),
}

/// Finds the subqueries of `IN` in a query.
pub(crate) fn find(sql: &str) -> Vec<ListQuery> {
    let tokens = tokenize(sql).unwrap_or_default();
    let with = with_clause(sql, &tokens);
    let mut found: Vec<ListQuery> = Vec::new();
    for index in 0..tokens.len() {
        if let Some(query) = list_query(sql, with, &tokens, index) {
            // A subquery in one of the subqueries is replaced together with it.
            let is_inside = found.iter().any(|outer| outer.range.contains(&query.range.start));
            found.extend((!is_inside).then_some(query));
        }
    }
    found
}

/// Returns the subquery whose `IN` is at an index.
fn list_query(sql: &str, with: &str, tokens: &[Spanned], index: usize) -> Option<ListQuery> {
    let [is_in, parenthesis, first, ..] = tokens.get(index..)? else {
        return None;
    };
    let begins_query = ["select", "with", "values"]
        .iter()
        .any(|word| is_word(&first.token, word));
    if !is_word(&is_in.token, "in") || parenthesis.token != Token::LParen || !begins_query {
        return None;
    }
    let inner = tokens.get(index + 2..)?;
    let length = length_in_parentheses(inner)?;
    let range = parenthesis.end..inner.get(length)?.start;
    let text = sql.get(range.clone())?;
    Some(ListQuery {
        probe: format!("{with} SELECT 1 FROM ({text}) LIMIT 1"),
        range,
        parameters: (
            count_parameters(tokens.get(..index)?),
            count_parameters(inner.get(..length)?),
        ),
    })
}

/// Returns the number of tokens before the parenthesis that closes the one before these tokens.
fn length_in_parentheses(tokens: &[Spanned]) -> Option<usize> {
    let mut depth = 1;
    tokens.iter().position(|spanned| {
        match spanned.token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ => {}
        }
        depth == 0
    })
}

/// Returns the `WITH` clause at the beginning of a query, or an empty text.
fn with_clause<'s>(sql: &'s str, tokens: &[Spanned]) -> &'s str {
    let [first, rest @ ..] = tokens else { return "" };
    if !is_word(&first.token, "with") {
        return "";
    }
    let mut depth = 0;
    let end = rest.iter().find(|spanned| {
        match spanned.token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ => {}
        }
        depth == 0 && (is_word(&spanned.token, "select") || is_word(&spanned.token, "values"))
    });
    end.and_then(|end| sql.get(first.start..end.start)).unwrap_or_default()
}

fn count_parameters(tokens: &[Spanned]) -> usize {
    tokens
        .iter()
        .filter(|spanned| matches!(spanned.token, Token::Param(_)))
        .count()
}

fn is_word(token: &Token, expected: &str) -> bool {
    matches!(token, Token::Word(word) if word.eq_ignore_ascii_case(expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subqueries_are_found_with_the_clause_that_they_need() {
        let sql = "WITH w (a) AS (SELECT ?) SELECT 1 WHERE ? NOT IN (SELECT (a) FROM w WHERE a > ? AND a IN (SELECT 2)) AND 3 in (4)";
        let [query] = &find(sql)[..] else {
            panic!("{:?}", find(sql))
        };
        let text = "SELECT (a) FROM w WHERE a > ? AND a IN (SELECT 2)";
        assert_eq!(&sql[query.range.clone()], text);
        assert_eq!(
            query.probe,
            format!("WITH w (a) AS (SELECT ?)  SELECT 1 FROM ({text}) LIMIT 1")
        );
        assert_eq!(query.parameters, (2, 1));
    }
}
