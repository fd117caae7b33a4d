//! Finds comparisons and aggregates that the SQL engine `graphitesql` may get wrong.
//!
//! SQLite converts a value before it compares it with a column: a text column is compared with `'5'` and not with 5. The engine
//! does this only for columns of tables, not for columns of subqueries, common table expressions, views and functions. This module
//! finds each comparison with such a column in which SQLite would convert a value.
//!
//! In SQLite an aggregate in a subquery belongs to the outer query if it has only columns of the outer query. The engine never
//! does this, so this module finds these aggregates as well.

use art_sdk::{Result, ToolError};
use graphitesql::exec::func::is_aggregate_call;
use graphitesql::sql::ast::{BinaryOp, CompoundOp, Expr, FromClause, Select, TableRef, UnaryOp};
use graphitesql::sql::print;

use crate::scope::{Environment, Scope, first_part};
use crate::shape::{Collation, Origin, Shape};
use crate::syntax::{Node, children, result_expr, tables_of, walk};

/// Checks all comparisons and aggregates of a query.
///
/// # Errors
///
/// Fails if the engine may evaluate one of them wrongly.
pub(crate) fn check(query: &Select, environment: &Environment<'_>) -> Result<()> {
    check_select(query, environment, None)
}

fn check_select(select: &Select, environment: &Environment<'_>, outer: Option<&Scope<'_>>) -> Result<()> {
    let environment = &environment.with_ctes(&select.ctes, outer);
    for cte in &select.ctes {
        check_select(&cte.select, environment, outer)?;
    }
    let scope = Scope::of_select(select, environment, outer);
    if let Some(from) = &select.from {
        check_from(from, &scope)?;
    }
    check_order(select, &scope)?;
    check_compound(select, environment, outer)?;
    // Aggregates and common table expressions of the parts of a compound query are checked with the environment of the whole.
    for (_, part) in &select.compound {
        check_select(part, environment, outer)?;
    }
    for node in children(Node::Select(select)) {
        if let Node::Expr(expr) = node {
            check_expr(expr, &scope)?;
        }
    }
    Ok(())
}

/// Refuses to sort and to group by an expression whose collation the engine does not know.
fn check_order(select: &Select, scope: &Scope<'_>) -> Result<()> {
    let results = select.columns.iter().filter_map(result_expr);
    let order = select.order_by.iter().map(|term| &term.expr);
    // A key may be the number or the name of a result column.
    let has_keys = !select.group_by.is_empty() || !select.order_by.is_empty();
    let compares_results = select.distinct || has_keys || !select.compound.is_empty();
    let mut keys = select
        .group_by
        .iter()
        .chain(order)
        .chain(results.filter(|_| compares_results));
    keys.try_for_each(|key| check_key(key, scope))
}

/// Refuses to combine queries whose texts are compared differently, because the engine may choose another rule than SQLite.
fn check_compound(select: &Select, environment: &Environment<'_>, outer: Option<&Scope<'_>>) -> Result<()> {
    if select
        .compound
        .iter()
        .all(|(operator, _)| *operator == CompoundOp::UnionAll)
    {
        return Ok(());
    }
    let first = first_part(select, environment, outer);
    for (_, part) in &select.compound {
        let columns = environment.columns_of(part, outer);
        let mut pairs = first.iter().zip(&columns);
        if let Some((column, _)) = pairs.find(|(one, other)| one.shape.collation != other.shape.collation) {
            return Err(ToolError::validation(format_args!(
                "the collation of `{}` is not certain here, because it is another one in each of the combined queries: write \
                 `COLLATE BINARY` or `COLLATE NOCASE` after the column in all of them",
                column.name
            )));
        }
    }
    Ok(())
}

/// Refuses a key by which rows are sorted, if the engine does not know its collation.
fn check_key(key: &Expr, scope: &Scope<'_>) -> Result<()> {
    let collated = Collated::of(key, scope);
    if collated.collation == Collation::Binary || collated.is_known_to_engine {
        return Ok(());
    }
    Err(ToolError::validation(format_args!(
        "the collation of `{}` is not certain here: write `COLLATE BINARY` or `COLLATE NOCASE` after it",
        text_of(key)
    )))
}

fn check_from(from: &FromClause, scope: &Scope<'_>) -> Result<()> {
    for table in tables_of(from) {
        check_table(table, scope)?;
    }
    for join in &from.joins {
        for name in scope.shared_columns(join) {
            let shapes = scope.columns_named(&name);
            let Some((first, rest)) = shapes.split_first() else {
                continue;
            };
            for shape in rest {
                check_shapes(first, shape, &name, &name)?;
            }
        }
    }
    Ok(())
}

fn check_table(table: &TableRef, scope: &Scope<'_>) -> Result<()> {
    if let Some(subquery) = &table.subquery {
        check_select(subquery, scope.environment, scope.outer)?;
    }
    let mut arguments = table.tvf_args.iter().flatten();
    arguments.try_for_each(|argument| check_expr(argument, scope))
}

fn check_expr(expr: &Expr, scope: &Scope<'_>) -> Result<()> {
    check_operands(expr, scope)?;
    check_aggregate(expr, scope)?;
    for node in children(Node::Expr(expr)) {
        match node {
            Node::Expr(child) => check_expr(child, scope)?,
            Node::Select(select) => check_select(select, scope.environment, Some(scope))?,
            Node::Table(_) => {}
        }
    }
    Ok(())
}

/// Checks the comparison that an expression makes with its operands, if it makes one.
fn check_operands(expr: &Expr, scope: &Scope<'_>) -> Result<()> {
    match expr {
        Expr::Binary { op, left, right } if is_comparison(*op) => {
            if matches!(op, BinaryOp::Is | BinaryOp::IsNot) {
                check_is(left, right, scope)?;
            }
            check_pair(left, right, scope)
        }
        Expr::Function {
            name,
            args,
            distinct,
            order_by,
            over,
            ..
        } => {
            let windows = over.iter().flat_map(|window| {
                window
                    .order_by
                    .iter()
                    .map(|term| &term.expr)
                    .chain(&window.partition_by)
            });
            let mut keys = order_by.iter().map(|term| &term.expr).chain(windows);
            keys.try_for_each(|key| check_key(key, scope))?;
            check_json_arguments(name, args, scope)?;
            check_arguments(name, args, *distinct, over.is_some(), scope)
        }
        Expr::Between { expr, low, high, .. } => {
            check_pair(expr, low, scope)?;
            check_pair(expr, high, scope)
        }
        Expr::InList { expr, list, .. } => list.iter().try_for_each(|item| check_pair(expr, item, scope)),
        Expr::InSelect { expr, select, .. } => check_in_select(expr, select, scope),
        Expr::Case {
            operand: Some(operand),
            when_then,
            ..
        } => when_then
            .iter()
            .try_for_each(|(when, _)| check_pair(operand, when, scope)),
        _ => Ok(()),
    }
}

fn is_comparison(operator: BinaryOp) -> bool {
    use BinaryOp::{Eq, Gt, GtEq, Is, IsNot, Lt, LtEq, NotEq};
    matches!(operator, Eq | NotEq | Lt | LtEq | Gt | GtEq | Is | IsNot)
}

fn check_pair(left: &Expr, right: &Expr, scope: &Scope<'_>) -> Result<()> {
    match (left, right) {
        (Expr::Paren(left), right) => check_pair(left, right, scope),
        (left, Expr::Paren(right)) => check_pair(left, right, scope),
        (Expr::RowValue(left), Expr::RowValue(right)) => left
            .iter()
            .zip(right)
            .try_for_each(|(left, right)| check_pair(left, right, scope)),
        (Expr::RowValue(row), Expr::Subquery(select)) | (Expr::Subquery(select), Expr::RowValue(row)) => {
            check_row(row, select, scope)
        }
        _ => {
            check_collations(left, right, scope)?;
            check_shapes(&scope.shape(left), &scope.shape(right), &text_of(left), &text_of(right))
        }
    }
}

/// Refuses `IS` and `IS NOT` for texts whose letter case or spaces do not count, because the engine compares them as they are.
fn check_is(left: &Expr, right: &Expr, scope: &Scope<'_>) -> Result<()> {
    let collated = [left, right]
        .into_iter()
        .find(|expr| Collated::of(expr, scope).collation != Collation::Binary);
    collated.map_or(Ok(()), |expr| {
        Err(ToolError::validation(format_args!(
            "`{}` has a collation, which `IS` does not regard here: compare with `=` or `<>`, and with `IS NULL`",
            text_of(expr)
        )))
    })
}

/// Refuses arguments that a function compares without regard to their collation.
fn check_arguments(name: &str, args: &[Expr], is_distinct: bool, is_window: bool, scope: &Scope<'_>) -> Result<()> {
    let is_extreme = is_window && ["min", "max"].iter().any(|known| name.eq_ignore_ascii_case(known));
    let is_compared = |expr: &Expr| {
        let is_distinct_column = is_distinct && scope.shape(expr).origin == Origin::Derived;
        name.eq_ignore_ascii_case("nullif") || is_extreme || is_distinct_column
    };
    let mut args = args.iter();
    let collated = args.find(|expr| is_compared(expr) && Collated::of(expr, scope).collation != Collation::Binary);
    collated.map_or(Ok(()), |expr| {
        Err(ToolError::validation(format_args!(
            "`{}` has a collation, which `{name}` does not regard here: write `lower({})`",
            text_of(expr),
            text_of(expr)
        )))
    })
}

/// The functions that put JSON into JSON as it is, but a text in quotes.
const JSON_BUILDERS: [&str; 8] = [
    "array",
    "object",
    "group_array",
    "group_object",
    "set",
    "insert",
    "replace",
    "quote",
];

/// Refuses arguments of which the engine does not know whether they are JSON or a text.
fn check_json_arguments(name: &str, args: &[Expr], scope: &Scope<'_>) -> Result<()> {
    let name = name.to_ascii_lowercase();
    let builder = name.strip_prefix("jsonb_").or_else(|| name.strip_prefix("json_"));
    if !builder.is_some_and(|builder| JSON_BUILDERS.contains(&builder)) {
        return Ok(());
    }
    let uncertain = args.iter().find(|expr| may_lose_json(expr, scope));
    uncertain.map_or(Ok(()), |expr| {
        Err(ToolError::validation(format_args!(
            "whether `{0}` in `{name}` is JSON or a text is not certain here: write `json({0})` if it is JSON, and otherwise `{0} || ''`",
            text_of(expr)
        )))
    })
}

/// Returns whether the engine takes an expression for a text although it may be JSON: a value of `json_each`, or the result of a
/// function that chooses between its arguments.
fn may_lose_json(expr: &Expr, scope: &Scope<'_>) -> bool {
    const CHOICES: [&str; 10] = [
        "coalesce",
        "ifnull",
        "nullif",
        "iif",
        "if",
        "min",
        "max",
        "likely",
        "unlikely",
        "likelihood",
    ];
    match expr {
        Expr::Paren(inner) | Expr::Collate { expr: inner, .. } => may_lose_json(inner, scope),
        Expr::Unary {
            op: UnaryOp::Identity,
            expr,
        } => has_json(expr) || may_lose_json(expr, scope),
        Expr::Column { column, .. } => {
            scope.shape(expr).origin == Origin::Function && column.eq_ignore_ascii_case("value")
        }
        Expr::Case { .. } => has_json(expr) || chosen(expr).any(|expr| may_lose_json(expr, scope)),
        Expr::Function { name, args, .. } if CHOICES.contains(&name.to_ascii_lowercase().as_str()) => {
            args.iter().any(|arg| has_json(arg) || may_lose_json(arg, scope))
        }
        _ => false,
    }
}

/// Returns the results of a `CASE`.
fn chosen(expr: &Expr) -> impl Iterator<Item = &Expr> {
    let results = match expr {
        Expr::Case {
            when_then, else_result, ..
        } => when_then
            .iter()
            .map(|(_, then)| then)
            .chain(else_result.as_deref())
            .collect(),
        _ => Vec::new(),
    };
    results.into_iter()
}

/// Returns whether an expression has a function of JSON.
fn has_json(expr: &Expr) -> bool {
    let mut found = false;
    walk(Node::Expr(expr), &mut |node| {
        found |= match node {
            Node::Expr(Expr::Function { name, .. }) => name.to_ascii_lowercase().starts_with("json"),
            Node::Expr(Expr::Binary { op, .. }) => *op == BinaryOp::JsonExtract,
            _ => false,
        };
    });
    found
}

/// How the texts of an expression are compared in SQLite.
struct Collated {
    collation: Collation,
    /// Whether the engine compares them so as well.
    is_known_to_engine: bool,
    /// Whether the expression has a `COLLATE` itself.
    is_explicit: bool,
}

impl Collated {
    fn of(expr: &Expr, scope: &Scope<'_>) -> Self {
        let new = |collation, is_known_to_engine| Self {
            collation,
            is_known_to_engine,
            is_explicit: false,
        };
        match expr {
            Expr::Column { table, column, .. } => {
                let is_own = scope.own(table.as_deref(), column).is_some();
                new(scope.shape(expr).collation, is_own)
            }
            Expr::Paren(inner) => Self::of(inner, scope),
            Expr::Cast { expr, .. }
            | Expr::Unary {
                op: UnaryOp::Identity,
                expr,
            } => new(Self::of(expr, scope).collation, false),
            Expr::Collate { collation, .. } => Self {
                is_explicit: true,
                ..new(Collation::of_name(collation), true)
            },
            _ => new(Collation::Binary, true),
        }
    }
}

/// Refuses a comparison of texts in which the engine may choose another collation than SQLite.
fn check_collations(left: &Expr, right: &Expr, scope: &Scope<'_>) -> Result<()> {
    let sides = [left, right].map(|expr| Collated::of(expr, scope));
    let is_unknown = |side: &Collated| side.collation != Collation::Binary && !side.is_known_to_engine;
    if sides.iter().any(|side| side.is_explicit) {
        return Ok(());
    }
    if sides.iter().any(is_unknown) || are_of_different_queries(left, right, scope) {
        return Err(ToolError::validation(format_args!(
            "the collation with which `{}` and `{}` are compared is not certain here: write `COLLATE BINARY` or `COLLATE NOCASE` \
             after both",
            text_of(left),
            text_of(right)
        )));
    }
    Ok(())
}

/// Returns whether one column is of a subquery and the other of the outer query, and their collations are different.
fn are_of_different_queries(left: &Expr, right: &Expr, scope: &Scope<'_>) -> bool {
    let (Some(is_left_own), Some(is_right_own)) = (is_own_column(left, scope), is_own_column(right, scope)) else {
        return false;
    };
    is_left_own != is_right_own && scope.shape(left).collation != scope.shape(right).collation
}

/// Returns whether an expression is a column of this scope, or `None` if it is no column.
fn is_own_column(expr: &Expr, scope: &Scope<'_>) -> Option<bool> {
    match expr {
        Expr::Column { table, column, .. } => Some(scope.own(table.as_deref(), column).is_some()),
        _ => None,
    }
}

fn check_in_select(expr: &Expr, select: &Select, scope: &Scope<'_>) -> Result<()> {
    if is_correlated(select, scope) {
        return Err(ToolError::validation(format_args!(
            "the subquery of `{} IN` has columns of the outer query, which is not evaluated here as SQLite does if a value is null: write \
             `EXISTS (SELECT 1 .. WHERE ..)`",
            text_of(expr)
        )));
    }
    if scope.has_no_tables() || has_function(select) {
        return Err(ToolError::validation(format_args!(
            "`{} IN` with a subquery is not evaluated here as SQLite does if a value is null, unless both read a table: write \
             `EXISTS (SELECT 1 .. WHERE ..)`",
            text_of(expr)
        )));
    }
    match expr {
        Expr::Paren(expr) => check_in_select(expr, select, scope),
        Expr::RowValue(row) => check_row(row, select, scope),
        expr => check_row(std::slice::from_ref(expr), select, scope),
    }
}

/// Returns whether a subquery reads from a function such as `json_each`.
fn has_function(select: &Select) -> bool {
    let mut found = false;
    walk(Node::Select(select), &mut |node| {
        found |= matches!(node, Node::Table(table) if table.tvf_args.is_some());
    });
    found
}

/// Returns whether a subquery may have columns of the query around it, whose scope is `scope`.
fn is_correlated(select: &Select, scope: &Scope<'_>) -> bool {
    let environment = scope.environment.with_ctes(&select.ctes, None);
    let own = Scope::of_select(select, &environment, None);
    let mut names = Vec::new();
    let mut columns = Vec::new();
    walk(Node::Select(select), &mut |node| match node {
        Node::Table(table) => names.push(table.alias.as_ref().unwrap_or(&table.name).to_ascii_lowercase()),
        Node::Expr(Expr::Column { table, column, .. }) => columns.push((table.as_deref(), column)),
        Node::Expr(_) | Node::Select(_) => {}
    });
    columns.into_iter().any(|(table, column)| {
        let is_of_subquery = table.map_or_else(
            || own.own(None, column).is_some(),
            |table| names.contains(&table.to_ascii_lowercase()),
        );
        !is_of_subquery && scope.find(table, column).is_some()
    })
}

/// Checks the comparison of expressions with the columns of a subquery.
fn check_row(row: &[Expr], select: &Select, scope: &Scope<'_>) -> Result<()> {
    let columns = scope.environment.columns_of(select, Some(scope));
    row.iter()
        .zip(&columns)
        .try_for_each(|(expr, column)| check_shapes(&scope.shape(expr), &column.shape, &text_of(expr), &column.name))
}

fn check_shapes(left: &Shape, right: &Shape, left_text: &str, right_text: &str) -> Result<()> {
    // The engine converts the values of a column of a table right, unless it finds them in an index by those of another column.
    let is_right = |one: &Shape, other: &Shape| {
        matches!(
            (one.origin, other.origin),
            (Origin::Expression, Origin::Expression | Origin::Table) | (Origin::Table, Origin::Expression)
        )
    };
    if is_right(left, right) || !left.may_be_converted_with(right) {
        return Ok(());
    }
    Err(ToolError::validation(format_args!(
        "`{left_text}` and `{right_text}` may be a number and a text, which are not compared here as SQLite does: convert both with \
         `CAST(.. AS TEXT)` or both with `CAST(.. AS REAL)`"
    )))
}

/// Writes an expression for an error message.
fn text_of(expr: &Expr) -> String {
    match expr {
        Expr::Column {
            table: Some(table),
            column,
            ..
        } => format!("{table}.{column}"),
        Expr::Column { column, .. } => column.clone(),
        expr => print::expr(expr),
    }
}

/// Refuses an aggregate that belongs to the outer query.
fn check_aggregate(expr: &Expr, scope: &Scope<'_>) -> Result<()> {
    let Expr::Function {
        name,
        args,
        star,
        over: None,
        ..
    } = expr
    else {
        return Ok(());
    };
    if scope.outer.is_none() || !is_aggregate_call(name, args.len(), *star) {
        return Ok(());
    }
    let mut columns = 0;
    let mut own_columns = 0;
    for argument in args {
        walk(Node::Expr(argument), &mut |node| {
            if let Node::Expr(Expr::Column { table, column, .. }) = node {
                columns += 1;
                own_columns += usize::from(scope.own(table.as_deref(), column).is_some());
            }
        });
    }
    if columns == 0 || own_columns > 0 {
        return Ok(());
    }
    Err(ToolError::validation(format_args!(
        "`{}` in a subquery has only columns of the outer query, which is not evaluated here as SQLite does: use a column of the \
         subquery, or write the aggregate in the outer query",
        print::expr(expr)
    )))
}
