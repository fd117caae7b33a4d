//! Walks through the syntax tree of a query.

use graphitesql::sql::ast::{Expr, FrameBound, Select, Statement, TableRef, WindowSpec};
use graphitesql::sql::ast::{FromClause, OrderTerm, ResultColumn};
use graphitesql::sql::parse_one;

/// A part of a query that has parts itself.
#[derive(Clone, Copy)]
pub(crate) enum Node<'t> {
    Select(&'t Select),
    Table(&'t TableRef),
    Expr(&'t Expr),
}

/// Parses a query, or the definition of a view or of a virtual table. Returns `None` for every other statement, and if the text
/// is not valid: the engine refuses it later, with a better message.
pub(crate) fn parse_query(sql: &str) -> Option<Select> {
    match parse_one(sql).ok()? {
        Statement::Select(select) => Some(select),
        Statement::CreateView(view) => Some(*view.select),
        _ => None,
    }
}

/// Calls `visit` with a node and all nodes below it.
pub(crate) fn walk<'t>(node: Node<'t>, visit: &mut dyn FnMut(Node<'t>)) {
    visit(node);
    for child in children(node) {
        walk(child, visit);
    }
}

/// Returns the nodes directly below a node.
pub(crate) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    match node {
        Node::Select(select) => children_of_select(select),
        Node::Table(table) => {
            let arguments = table.tvf_args.iter().flatten().map(Node::Expr);
            let subquery = table.subquery.as_deref().map(Node::Select);
            arguments.chain(subquery).collect()
        }
        Node::Expr(expr) => children_of_expr(expr),
    }
}

fn children_of_select(select: &Select) -> Vec<Node<'_>> {
    let mut nodes: Vec<_> = select.ctes.iter().map(|cte| Node::Select(&cte.select)).collect();
    nodes.extend(select.from.iter().flat_map(children_of_from));
    nodes.extend(select.compound.iter().map(|(_, part)| Node::Select(part)));
    nodes.extend(select.columns.iter().filter_map(result_expr).map(Node::Expr));
    let clauses = [&select.where_clause, &select.having, &select.limit, &select.offset];
    nodes.extend(clauses.into_iter().flatten().chain(&select.group_by).map(Node::Expr));
    nodes.extend(
        select
            .window_defs
            .iter()
            .flat_map(|(_, window)| children_of_window(window)),
    );
    nodes.extend(order_exprs(&select.order_by));
    nodes
}

/// Returns the expression of a result column, unless it is `*`.
pub(crate) fn result_expr(column: &ResultColumn) -> Option<&Expr> {
    match column {
        ResultColumn::Expr { expr, .. } => Some(expr),
        ResultColumn::Wildcard | ResultColumn::TableWildcard(_) => None,
    }
}

/// Returns the tables of a `FROM` clause.
pub(crate) fn tables_of(from: &FromClause) -> impl Iterator<Item = &TableRef> {
    std::iter::once(&from.first).chain(from.joins.iter().map(|join| &join.table))
}

fn children_of_from(from: &FromClause) -> impl Iterator<Item = Node<'_>> {
    let conditions = from.joins.iter().filter_map(|join| join.on.as_ref()).map(Node::Expr);
    tables_of(from).map(Node::Table).chain(conditions)
}

fn order_exprs(terms: &[OrderTerm]) -> impl Iterator<Item = Node<'_>> {
    terms.iter().map(|term| Node::Expr(&term.expr))
}

fn children_of_window(window: &WindowSpec) -> Vec<Node<'_>> {
    let mut nodes: Vec<_> = window.partition_by.iter().map(Node::Expr).collect();
    nodes.extend(order_exprs(&window.order_by));
    if let Some(frame) = &window.frame {
        for bound in [&frame.start, &frame.end] {
            if let FrameBound::Preceding(expr) | FrameBound::Following(expr) = bound {
                nodes.push(Node::Expr(expr));
            }
        }
    }
    nodes
}

fn children_of_expr(expr: &Expr) -> Vec<Node<'_>> {
    match expr {
        Expr::Literal(_) | Expr::Parameter(_) | Expr::Column { .. } => Vec::new(),
        Expr::Unary { expr, .. }
        | Expr::IsNull { expr, .. }
        | Expr::Cast { expr, .. }
        | Expr::Paren(expr)
        | Expr::Collate { expr, .. } => vec![Node::Expr(expr)],
        Expr::Binary { left, right, .. } => vec![Node::Expr(left), Node::Expr(right)],
        Expr::Between { expr, low, high, .. } => vec![Node::Expr(expr), Node::Expr(low), Node::Expr(high)],
        Expr::InList { expr, list, .. } => std::iter::once(&**expr).chain(list).map(Node::Expr).collect(),
        Expr::RowValue(list) => list.iter().map(Node::Expr).collect(),
        Expr::Subquery(select) | Expr::Exists { select, .. } => vec![Node::Select(select)],
        Expr::InSelect { expr, select, .. } => vec![Node::Expr(expr), Node::Select(select)],
        Expr::Case {
            operand,
            when_then,
            else_result,
        } => {
            let branches = when_then.iter().flat_map(|(when, then)| [when, then]);
            let others = operand.iter().chain(else_result).map(|expr| &**expr);
            others.chain(branches).map(Node::Expr).collect()
        }
        Expr::Function {
            args,
            filter,
            order_by,
            over,
            ..
        } => {
            let mut nodes: Vec<_> = args.iter().chain(filter.as_deref()).map(Node::Expr).collect();
            nodes.extend(order_exprs(order_by));
            nodes.extend(over.iter().flat_map(children_of_window));
            nodes
        }
    }
}
