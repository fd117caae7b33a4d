//! Finds rows that the engine reads wrongly because a column was added to their table later.
//!
//! `ALTER TABLE .. ADD COLUMN` changes no rows: the rows written before lack the new column, and its value in them is its default.
//! SQLite converts the default to the type of the column, as it converts a value that is inserted. The engine does not convert it,
//! and in a table `WITHOUT ROWID` it takes the value for null.

use graphitesql::Value;
use graphitesql::sql::ast::{Expr, ResultColumn, Select};

use crate::affinity::Affinity;
use crate::syntax::{Node, walk};

/// A column with a default.
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) affinity: Affinity,
    /// The default as an expression of SQL.
    pub(crate) default: String,
}

impl Column {
    /// Returns a condition that is true for rows without the column, and false for all other rows that the engine reads right.
    /// Returns `None` if the engine reads all rows right. `default` is the value of the default.
    pub(crate) fn condition(&self, default: &Value, is_without_rowid: bool) -> Option<String> {
        let name = crate::catalog::identifier(&self.name);
        let default_sql = &self.default;
        if is_without_rowid {
            return (*default != Value::Null).then(|| format!("{name} IS NULL"));
        }
        // A value that the database would convert is in no row that has the column.
        self.affinity
            .converts(default)
            .then(|| format!("typeof({name}) = typeof({default_sql}) AND +{name} = ({default_sql})"))
    }
}

/// Returns whether a query may read a column of this name: it names the column, or has a `*` or a `NATURAL JOIN`.
pub(crate) fn reads_column(query: &Select, name: &str) -> bool {
    let mut reads = false;
    walk(Node::Select(query), &mut |node| {
        reads |= match node {
            Node::Expr(Expr::Column { column, .. }) => column.eq_ignore_ascii_case(name),
            Node::Select(select) => {
                let has_wildcard = select
                    .columns
                    .iter()
                    .any(|column| !matches!(column, ResultColumn::Expr { .. }));
                let mut joins = select.from.iter().flat_map(|from| &from.joins);
                has_wildcard
                    || joins.any(|join| join.natural || join.using.iter().any(|used| used.eq_ignore_ascii_case(name)))
            }
            Node::Expr(_) | Node::Table(_) => false,
        };
    });
    reads
}
