//! Finds calls of functions that the SQL engine `graphitesql` may answer differently from SQLite.

use art_sdk::{Result, ToolError};
use graphitesql::exec::func::is_aggregate_call;
use graphitesql::sql::ast::{BinaryOp, Expr, Literal, Select};

use crate::affinity::Affinity;
use crate::syntax::{Node, walk};

/// The functions whose results depend on the encoding of the texts in the database.
const OF_ENCODING: [&str; 3] = ["hex", "octet_length", "unicode"];

/// The functions that take modifiers of a time.
const OF_TIME: [&str; 6] = ["date", "time", "datetime", "julianday", "unixepoch", "strftime"];

/// Checks all calls of functions in a query. `is_utf16` is whether the texts of the database are stored in UTF-16.
///
/// # Errors
///
/// Fails if the engine may answer one of them wrongly.
pub(crate) fn check(query: &Select, is_utf16: bool) -> Result<()> {
    let mut found = None;
    walk(Node::Select(query), &mut |node| {
        if let Node::Expr(expr) = node {
            found = found.take().or_else(|| problem(expr, is_utf16));
        }
    });
    found.map_or(Ok(()), |problem| Err(ToolError::validation(problem)))
}

/// Returns what is wrong with an expression, and what to write in its place.
fn problem(expr: &Expr, is_utf16: bool) -> Option<String> {
    match expr {
        Expr::Cast { type_name, .. } if is_utf16 && Affinity::of_type(type_name) == Affinity::Blob => Some(format!(
            "`CAST(.. AS {type_name})` cannot be used, because this database stores texts in UTF-16"
        )),
        Expr::InList { list, .. } if list.iter().any(|item| matches!(item, Expr::Collate { .. })) => {
            Some("a `COLLATE` in the list of `IN` has no effect: write it before `IN`".to_owned())
        }
        Expr::Binary { op, left, .. } if binds_tighter_than_is(*op) && matches!(**left, Expr::IsNull { .. }) => {
            Some("an operator after `IS NULL` cannot be used without parentheses: write `(x IS NULL)`".to_owned())
        }
        Expr::Binary { op, left, right } if makes_new_text(*op) && (has_collation(left) || has_collation(right)) => {
            Some(MISPLACED_COLLATION.to_owned())
        }
        Expr::Function { name, args, star, .. }
            if !is_aggregate_call(name, args.len(), *star) && args.iter().any(has_collation) =>
        {
            Some(MISPLACED_COLLATION.to_owned())
        }
        Expr::Function {
            name, args, order_by, ..
        } => problem_of_call(&name.to_ascii_lowercase(), args, !order_by.is_empty(), is_utf16),
        _ => None,
    }
}

const MISPLACED_COLLATION: &str = "`COLLATE` cannot be used inside of an expression: write it at the end of the expression that is compared or sorted";

/// Returns whether an operator belongs to the `NULL` before it in SQLite, and to the whole `IS NULL` in the engine.
fn binds_tighter_than_is(operator: BinaryOp) -> bool {
    use BinaryOp::{And, Eq, Glob, Is, IsNot, Like, NotEq, Or};
    !matches!(operator, And | Or | Eq | NotEq | Is | IsNot | Like | Glob)
}

/// Returns whether the result of an operator has the collation of its operands in SQLite, but not in the engine.
fn makes_new_text(operator: BinaryOp) -> bool {
    matches!(
        operator,
        BinaryOp::Concat | BinaryOp::JsonExtract | BinaryOp::JsonExtractText
    )
}

/// Returns whether an expression ends with `COLLATE`.
fn has_collation(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(inner) => has_collation(inner),
        expr => matches!(expr, Expr::Collate { .. }),
    }
}

fn problem_of_call(name: &str, args: &[Expr], is_ordered: bool, is_utf16: bool) -> Option<String> {
    match name {
        "json_quote" => Some("`json_quote` cannot be used: `json_array` quotes a text as JSON too".to_owned()),
        "zeroblob" => Some("`zeroblob` cannot be used: write a blob such as `x'00'`".to_owned()),
        "timediff" => Some("`timediff` cannot be used: subtract two results of `julianday`, which are days".to_owned()),
        "printf" | "format" => problem_of_format(name, args.first()?),
        _ if is_ordered && (name.starts_with("json_group_") || name.starts_with("jsonb_group_")) => Some(format!(
            "`{name}` cannot be used with `ORDER BY` in its arguments: order the rows of a subquery in `FROM`"
        )),
        _ if is_utf16 && OF_ENCODING.contains(&name) => {
            Some(format!("`{name}` cannot be used, because this database stores texts in UTF-16"))
        }
        _ if OF_TIME.contains(&name) && args.iter().any(is_julianday) => Some(
            "the modifier `julianday` cannot be used: leave it out, because a number without a modifier is a Julian day".to_owned(),
        ),
        _ => None,
    }
}

fn is_julianday(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(Literal::Str(text)) if text.eq_ignore_ascii_case("julianday"))
}

/// Returns what is wrong with the format of `printf`. The engine takes no format that is a number, and counts the width of a text in
/// characters and not in bytes.
fn problem_of_format(name: &str, format: &Expr) -> Option<String> {
    let format = match format {
        Expr::Literal(Literal::Str(format)) => format,
        Expr::Parameter(_) => return None,
        _ => return Some(format!("the format of `{name}` has to be a text in quotes")),
    };
    let conversion = conversions(format).find(|conversion| {
        let is_sized = conversion.contains(|c: char| c.is_ascii_digit() || c == '*');
        is_sized && conversion.ends_with(['s', 'z', 'q', 'Q', 'w'])
    });
    conversion.map(|conversion| {
        format!(
            "`%{conversion}` in the format of `{name}` cannot be used: write `%s` without a width, or cut with `substr`"
        )
    })
}

/// Returns the conversions of a format, without their `%`: `d` and `-10s` for `%d %-10s`.
fn conversions(format: &str) -> impl Iterator<Item = &str> {
    let mut rest = format;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once('%')?;
        let is_end = |c: char| c.is_alphabetic() && c != 'l' || c == '%';
        let end = after.find(is_end).map_or(after.len(), |end| end + 1);
        let (conversion, after_conversion) = after.split_at_checked(end)?;
        rest = after_conversion;
        Some(conversion)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_split_into_its_conversions() {
        let of = |format| conversions(format).collect::<Vec<_>>();
        assert_eq!(of("%d of %-10s, 100%% %.2f%"), ["d", "-10s", "%", ".2f", ""]);
        assert_eq!(of("%lld ä"), ["lld"]);
        assert!(of("no").is_empty());
    }
}
