//! The tables and views of a database.

use std::collections::BTreeSet;

use graphitesql::Connection;
use graphitesql::schema::{ObjectType, SchemaObject};
use graphitesql::sql::ast::{ColumnConstraint, Select, Statement};
use graphitesql::sql::parse_one;
use graphitesql::sql::token::{Spanned, Token, tokenize};

use crate::rewrite::Edit;
use crate::shape::Collation;
use crate::syntax::{Node, parse_query, walk};

/// A table or a view.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Relation {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// The statement that created it.
    pub(crate) sql: String,
}

impl Relation {
    /// Returns the query of a view.
    pub(crate) fn definition(&self) -> Option<Select> {
        (self.kind == Kind::View).then(|| parse_query(&self.sql)).flatten()
    }
}

impl Relation {
    /// Returns whether the table is `WITHOUT ROWID` and its primary key has a `COLLATE`. The engine reads the indices of such a table
    /// wrongly.
    pub(crate) fn has_collated_key(&self) -> bool {
        let tokens = tokenize(&self.sql).unwrap_or_default();
        let is_word =
            |token: &Token, expected: &str| matches!(token, Token::Word(word) if word.eq_ignore_ascii_case(expected));
        let after_key = tokens
            .iter()
            .map(|spanned| &spanned.token)
            .skip_while(|token| !is_word(token, "key"))
            .skip(1);
        let mut key = after_key.take_while(|token| **token != Token::RParen);
        let is_list = key.next() == Some(&Token::LParen);
        is_list && key.any(|token| is_word(token, "collate")) && is_without_rowid(&self.sql)
    }

    /// Returns the collation of a column of a table.
    pub(crate) fn collation(&self, column: &str) -> Collation {
        let Ok(Statement::CreateTable(table)) = parse_one(&self.sql) else {
            return Collation::default();
        };
        let mut columns = table.columns.iter();
        let definition = columns.find(|definition| definition.name.eq_ignore_ascii_case(column));
        let mut constraints = definition.into_iter().flat_map(|definition| &definition.constraints);
        let collation = constraints.find_map(|constraint| match constraint {
            ColumnConstraint::Collate(name) => Some(Collation::of_name(name)),
            _ => None,
        });
        collation.unwrap_or_default()
    }
}

/// What a relation is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Table,
    View,
    /// A table whose rows come from the named module, such as `fts5`.
    Virtual(String),
}

/// All tables and views of a database, in the order of their names.
pub(crate) struct Catalog(Vec<Relation>);

impl Catalog {
    pub(crate) fn new(connection: &Connection) -> Self {
        let mut relations: Vec<_> = connection.schema().objects().iter().filter_map(relation).collect();
        relations.sort_by(|one, other| one.name.cmp(&other.name));
        Self(relations)
    }

    pub(crate) fn relations(&self) -> &[Relation] {
        &self.0
    }

    /// Returns the names of all tables and views.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|relation| relation.name.as_str())
    }

    /// Finds a table or view by its name in any letter case.
    pub(crate) fn find(&self, name: &str) -> Option<&Relation> {
        self.0.iter().find(|relation| relation.name.eq_ignore_ascii_case(name))
    }

    /// Returns the edits that write the names of tables after `FROM` and `JOIN` in the letter case of the database, which the engine
    /// needs.
    pub(crate) fn name_edits(&self, sql: &str) -> Vec<Edit> {
        let tokens = tokenize(sql).unwrap_or_default();
        let edits = (1..tokens.len()).filter_map(|index| {
            let spanned = tokens.get(index)?;
            let (Token::Word(name) | Token::Ident(name)) = &spanned.token else {
                return None;
            };
            let relation = self.find(name).filter(|relation| relation.name != *name)?;
            is_before_table(tokens.get(..index)?).then(|| (spanned.start..spanned.end, identifier(&relation.name)))
        });
        edits.collect()
    }

    /// Returns the tables and views that a query names.
    pub(crate) fn named_in(&self, query: &Select) -> Vec<&Relation> {
        let mut ctes = BTreeSet::new();
        let mut names = Vec::new();
        walk(Node::Select(query), &mut |node| match node {
            Node::Select(select) => ctes.extend(select.ctes.iter().map(|cte| cte.name.to_ascii_lowercase())),
            Node::Table(table) => names.push((table.schema.is_some(), table.name.to_ascii_lowercase())),
            Node::Expr(_) => {}
        });
        let mut found: Vec<&Relation> = Vec::new();
        for (has_schema, name) in names {
            let relation = self.find(&name).filter(|_| has_schema || !ctes.contains(&name));
            found.extend(relation.filter(|relation| !found.contains(relation)));
        }
        found
    }

    /// Returns the tables and views that a query reads: those that it names, and those that these views name.
    pub(crate) fn read_by(&self, query: &Select) -> Vec<&Relation> {
        let mut found = self.named_in(query);
        let mut next = 0;
        while let Some(relation) = found.get(next) {
            if let Some(definition) = relation.definition() {
                for named in self.named_in(&definition) {
                    if !found.contains(&named) {
                        found.push(named);
                    }
                }
            }
            next += 1;
        }
        found
    }
}

/// Returns whether the statement that creates a table ends with `WITHOUT ROWID`.
pub(crate) fn is_without_rowid(create_table: &str) -> bool {
    let tokens = tokenize(create_table)
        .unwrap_or_default()
        .into_iter()
        .map(|spanned| spanned.token);
    let mut words = tokens.filter_map(|token| match token {
        Token::Word(word) => Some(word.to_ascii_lowercase()),
        _ => None,
    });
    words.any(|word| word == "without") && words.next().is_some_and(|word| word == "rowid")
}

/// Returns whether the name of a table comes after these tokens: after `FROM`, `JOIN` or `FROM main.`.
fn is_before_table(tokens: &[Spanned]) -> bool {
    let word_is = |token: &Token, words: &[&str]| matches!(token, Token::Word(word) if words.iter().any(|known| known.eq_ignore_ascii_case(word)));
    match tokens {
        [.., word, schema, dot] if dot.token == Token::Dot => {
            word_is(&word.token, &["from", "join"]) && word_is(&schema.token, &["main"])
        }
        [.., word] => word_is(&word.token, &["from", "join"]),
        [] => false,
    }
}

/// Returns a name as an identifier of SQL, whatever characters it contains.
pub(crate) fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns a table or a view, unless the object is something else or belongs to SQLite itself.
fn relation(object: &SchemaObject) -> Option<Relation> {
    let sql = object.sql.clone().unwrap_or_default();
    let kind = match object.obj_type {
        _ if object.name.starts_with("sqlite_") => return None,
        // Only a virtual table has no pages of its own.
        ObjectType::Table if object.rootpage == 0 => Kind::Virtual(module(&sql)),
        ObjectType::Table => Kind::Table,
        ObjectType::View => Kind::View,
        ObjectType::Index | ObjectType::Trigger => return None,
    };
    Some(Relation {
        name: object.name.clone(),
        kind,
        sql,
    })
}

/// Returns the module of a virtual table: `fts5` for `CREATE VIRTUAL TABLE t USING fts5(body)`.
fn module(sql: &str) -> String {
    let tokens = tokenize(sql)
        .unwrap_or_default()
        .into_iter()
        .map(|spanned| spanned.token);
    let mut after_using =
        tokens.skip_while(|token| !matches!(token, Token::Word(word) if word.eq_ignore_ascii_case("using")));
    match after_using.nth(1) {
        Some(Token::Word(name) | Token::Ident(name)) => name,
        _ => "unknown".to_owned(),
    }
}
