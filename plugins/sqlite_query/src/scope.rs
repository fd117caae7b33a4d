//! Which columns an expression can name, and what is known about their values.

use graphitesql::sql::ast::{Cte, Expr, FromClause, Join, ResultColumn, Select, TableRef};

use crate::affinity::Affinity;
use crate::shape::{Origin, Shape, shape_of};
use crate::syntax::tables_of;

/// The names of the number of a row, which every table has as a column.
const ROWIDS: [&str; 3] = ["rowid", "oid", "_rowid_"];

/// A column that an expression can name.
#[derive(Clone, Debug)]
pub(crate) struct NamedShape {
    pub(crate) name: String,
    pub(crate) shape: Shape,
}

/// Returns the columns of a table or a view by its name.
pub(crate) type FindRelation<'e> = &'e dyn Fn(&str) -> Option<Vec<NamedShape>>;

/// The tables, views and common table expressions that a query can name.
#[derive(Clone)]
pub(crate) struct Environment<'e> {
    find_relation: FindRelation<'e>,
    /// What is known about the parameters of the query.
    parameter: Shape,
    /// The common table expressions, the innermost ones last.
    ctes: Vec<(String, Vec<NamedShape>)>,
}

impl<'e> Environment<'e> {
    pub(crate) fn new(find_relation: FindRelation<'e>, parameter: Shape) -> Self {
        Self {
            find_relation,
            parameter,
            ctes: Vec::new(),
        }
    }

    /// Returns this environment with the common table expressions of a query.
    pub(crate) fn with_ctes(&self, ctes: &[Cte], outer: Option<&Scope<'_>>) -> Self {
        let mut environment = self.clone();
        for cte in ctes {
            // A recursive one reads its own columns. After the first round those of the first part are known.
            let mut columns = first_part(&cte.select, &environment, outer);
            rename(&mut columns, &cte.columns);
            for _ in 0..2 {
                environment.ctes.push((cte.name.clone(), columns));
                columns = environment.columns_of(&cte.select, outer);
                rename(&mut columns, &cte.columns);
                environment.ctes.pop();
            }
            environment.ctes.push((cte.name.clone(), columns));
        }
        environment
    }

    /// Returns the columns of the result of a query.
    pub(crate) fn columns_of(&self, select: &Select, outer: Option<&Scope<'_>>) -> Vec<NamedShape> {
        let environment = self.with_ctes(&select.ctes, outer);
        let mut columns = first_part(select, &environment, outer);
        for (_, part) in &select.compound {
            for (column, other) in columns.iter_mut().zip(environment.columns_of(part, outer)) {
                column.shape = column.shape.or(other.shape);
            }
        }
        columns
    }

    fn columns_of_table(&self, table: &TableRef, outer: Option<&Scope<'_>>) -> Vec<NamedShape> {
        if let Some(subquery) = &table.subquery {
            return self.columns_of(subquery, outer);
        }
        if table.tvf_args.is_some() {
            return columns_of_function(&table.name);
        }
        let mut ctes = self.ctes.iter().rev().filter(|_| table.schema.is_none());
        match ctes.find(|(name, _)| name.eq_ignore_ascii_case(&table.name)) {
            Some((_, columns)) => columns.clone(),
            None => (self.find_relation)(&table.name).unwrap_or_default(),
        }
    }
}

/// Returns the columns of the first part of a compound query. `environment` has its common table expressions.
pub(crate) fn first_part(select: &Select, environment: &Environment<'_>, outer: Option<&Scope<'_>>) -> Vec<NamedShape> {
    let scope = Scope::of_select(select, environment, outer);
    let columns = select.columns.iter().flat_map(|column| scope.result_columns(column));
    let derived = |column: NamedShape| NamedShape {
        shape: column.shape.derived(),
        ..column
    };
    columns.map(derived).collect()
}

fn rename(columns: &mut [NamedShape], names: &[String]) {
    for (column, name) in columns.iter_mut().zip(names) {
        column.name.clone_from(name);
    }
}

/// Returns the columns of a function in `FROM`.
fn columns_of_function(name: &str) -> Vec<NamedShape> {
    let column = |name: &str, shape: Shape| NamedShape {
        name: name.to_owned(),
        shape: Shape {
            origin: Origin::Function,
            ..shape
        },
    };
    if !["json_each", "json_tree"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(name))
    {
        return Vec::new();
    }
    let any = ["key", "value", "atom", "json"].map(|name| column(name, Shape::ANY));
    let text = ["type", "fullkey", "path", "root"].map(|name| column(name, Shape::TEXT));
    let number = ["id", "parent"].map(|name| column(name, Shape::NUMBER));
    [any.as_slice(), &text, &number].concat()
}

/// A table in a `FROM` clause, with the name by which columns refer to it.
struct Source {
    name: String,
    columns: Vec<NamedShape>,
}

/// The columns that the expressions of a `SELECT` can name.
pub(crate) struct Scope<'s> {
    pub(crate) environment: &'s Environment<'s>,
    /// The scope of the outer query, if this is a subquery in an expression.
    pub(crate) outer: Option<&'s Scope<'s>>,
    sources: Vec<Source>,
}

impl<'s> Scope<'s> {
    pub(crate) fn of_select(select: &Select, environment: &'s Environment<'s>, outer: Option<&'s Scope<'s>>) -> Self {
        let source = |table: &TableRef| Source {
            name: table.alias.clone().unwrap_or_else(|| table.name.clone()),
            columns: environment.columns_of_table(table, outer),
        };
        let tables = |from: &FromClause| tables_of(from).map(source).collect();
        Self {
            environment,
            outer,
            sources: select.from.as_ref().map(tables).unwrap_or_default(),
        }
    }

    /// Returns the shape of a column of this scope, but not of an outer one.
    pub(crate) fn own(&self, table: Option<&str>, column: &str) -> Option<Shape> {
        let is_named = |source: &&Source| table.is_none_or(|table| source.name.eq_ignore_ascii_case(table));
        let mut sources = self.sources.iter().filter(is_named).peekable();
        let is_rowid = sources.peek().is_some() && ROWIDS.iter().any(|name| name.eq_ignore_ascii_case(column));
        let found = sources.find_map(|source| {
            let mut columns = source.columns.iter();
            columns
                .find(|known| known.name.eq_ignore_ascii_case(column))
                .map(|column| column.shape)
        });
        found.or_else(|| is_rowid.then(|| Shape::of_column(Affinity::Numeric)))
    }

    /// Returns whether the `SELECT` reads no table, or also reads from a function.
    pub(crate) fn has_no_tables(&self) -> bool {
        let is_function = |source: &Source| {
            source
                .columns
                .iter()
                .any(|column| column.shape.origin == Origin::Function)
        };
        self.sources.is_empty() || self.sources.iter().any(is_function)
    }

    /// Returns what is known about an expression in this scope.
    pub(crate) fn shape(&self, expr: &Expr) -> Shape {
        match expr {
            // A column that does not exist is an error, or a text in double quotes.
            Expr::Column { table, column, .. } => self.find(table.as_deref(), column).unwrap_or(Shape::ANY),
            Expr::Parameter(_) => self.environment.parameter,
            Expr::Subquery(select) => {
                let columns = self.environment.columns_of(select, Some(self));
                columns.first().map_or(Shape::ANY, |column| column.shape)
            }
            expr => shape_of(expr, &|inner| self.shape(inner)),
        }
    }

    /// Returns the shape of a column of this scope or an outer one.
    pub(crate) fn find(&self, table: Option<&str>, column: &str) -> Option<Shape> {
        let in_outer = || self.outer.and_then(|outer| outer.find(table, column));
        self.own(table, column).or_else(in_outer)
    }

    /// Returns the columns of the result for one result column, which may be `*`.
    fn result_columns(&self, column: &ResultColumn) -> Vec<NamedShape> {
        let all =
            |sources: &mut dyn Iterator<Item = &Source>| sources.flat_map(|source| source.columns.clone()).collect();
        match column {
            ResultColumn::Wildcard => all(&mut self.sources.iter()),
            ResultColumn::TableWildcard(name) => all(&mut self
                .sources
                .iter()
                .filter(|source| source.name.eq_ignore_ascii_case(name))),
            ResultColumn::Expr { expr, alias, source } => {
                let own_name = match expr {
                    Expr::Column { column, .. } => Some(column),
                    _ => source.as_ref(),
                };
                vec![NamedShape {
                    name: alias.as_ref().or(own_name).cloned().unwrap_or_default(),
                    shape: self.shape(expr),
                }]
            }
        }
    }

    /// Returns the names of the columns that `USING` or `NATURAL` compares.
    pub(crate) fn shared_columns(&self, join: &Join) -> Vec<String> {
        if !join.natural {
            return join.using.clone();
        }
        let names = self
            .sources
            .iter()
            .flat_map(|source| &source.columns)
            .map(|column| column.name.clone());
        names.collect()
    }

    /// Returns the shapes of all columns of a name.
    pub(crate) fn columns_named(&self, name: &str) -> Vec<Shape> {
        let columns = self.sources.iter().flat_map(|source| &source.columns);
        columns
            .filter(|column| column.name.eq_ignore_ascii_case(name))
            .map(|column| column.shape)
            .collect()
    }
}
