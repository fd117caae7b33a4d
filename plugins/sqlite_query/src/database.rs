//! An open database, and the questions that can be asked about it.
//!
//! A database in WAL mode (write-ahead log) has its latest changes in a WAL file beside it, until they are written into the
//! database itself.

use std::fs;
use std::io::{ErrorKind, Read, Seek};
use std::ops::Range;

use art_sdk::{Result, ToolError, files};
use graphitesql::exec::eval::Params;
use graphitesql::sql::ast::Select;
use graphitesql::{Connection, Error, QueryResult, Value};

use crate::added_columns::{self, Column};
use crate::affinity::Affinity;
use crate::between::may_have_null_bound;
use crate::catalog::{Catalog, Kind, Relation, identifier, is_without_rowid};
use crate::clock;
use crate::comparisons;
use crate::empty_lists;
use crate::file::{DatabaseFiles, ReadOnlyFile};
use crate::functions;
use crate::io::Parameter;
use crate::rewrite::RewrittenQuery;
use crate::scope::{Environment, NamedShape};
use crate::shape::Shape;
use crate::syntax::parse_query;

/// Maximum size of a WAL file, which is read into memory.
const MAX_WAL_BYTES: u64 = 32 << 20;
/// Maximum number of tables, and of columns of a table, that an error names.
const MAX_NAMES: usize = 30;
/// Maximum number of views inside each other.
const MAX_VIEW_DEPTH: usize = 20;
/// The size of the header of a database.
const HEADER_BYTES: usize = 100;
/// The first bytes of every database.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// A database that is open for reading.
pub(crate) struct Database {
    connection: Connection,
    catalog: Catalog,
    path: String,
    /// Whether the texts of the database are stored in UTF-16.
    is_utf16: bool,
    /// Whether the database may have changes in a WAL file that the call does not name.
    lacks_wal: bool,
}

impl Database {
    /// Opens a database, with its WAL file if the call names one. The WAL file is ignored if it does not exist, or if the
    /// database is not in WAL mode.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be read or is no database, or if the WAL file is too large.
    pub(crate) fn open(path: &str, wal: Option<&str>) -> Result<Self> {
        let mut file = open_file(path)?;
        // The 20th byte says which version of the file format a reader has to know: 2 stands for WAL mode.
        let mut head = [0; HEADER_BYTES];
        let has_complete_head = file.read_exact(&mut head).is_ok();
        if !has_complete_head || !head.starts_with(MAGIC) {
            return Err(ToolError::validation(format_args!(
                "`{path}` is no SQLite database: name another file"
            )));
        }
        file.rewind().map_err(|error| files::explain(path, &error))?;
        let uses_wal = head.get(19) == Some(&2);
        // The four bytes from the 57th on are the encoding of texts: 1 stands for UTF-8.
        let is_utf16 = head.get(59).is_some_and(|encoding| *encoding > 1);
        let wal_file = wal.filter(|_| uses_wal).map(open_wal).transpose()?.flatten();
        let lacks_wal = uses_wal && wal.is_none();
        let database_file = ReadOnlyFile::new(file).map_err(|error| files::explain(path, &error))?;
        let database_files = DatabaseFiles::new(database_file, wal_file);
        let connection = Connection::open_readonly_vfs(&database_files, DatabaseFiles::DATABASE_NAME)
            .map_err(|error| ToolError::validation(format_args!("`{path}` cannot be read: {error}")))?;
        Ok(Self {
            catalog: Catalog::new(&connection),
            connection,
            path: path.to_owned(),
            is_utf16,
            lacks_wal,
        })
    }

    /// Runs one query.
    ///
    /// # Errors
    ///
    /// Fails if the engine cannot run the query, or may answer it wrongly.
    pub(crate) fn query(&self, sql: &str, parameters: &[Parameter]) -> Result<QueryResult> {
        let texts = parameters.iter().filter_map(Parameter::as_text);
        clock::refuse_time_zones(sql, texts)?;
        refuse_null_bounds(sql)?;
        let query = parse_query(sql);
        if let Some(query) = &query {
            self.check_relations(query)?;
            self.check_syntax(query, parameters)?;
        }
        let parameters: Vec<_> = parameters.iter().map(to_value).collect();
        let empty_lists = self.empty_lists(sql, &parameters)?;
        let mut edits = [clock::time_edits(sql), self.catalog.name_edits(sql)].concat();
        edits.retain(|(range, _)| !empty_lists.iter().any(|empty| empty.contains(&range.start)));
        edits.extend(empty_lists.into_iter().map(|range| (range, String::new())));
        let rewritten = RewrittenQuery::new(sql, edits);
        let result = self
            .run_unchecked(&rewritten.sql, parameters)
            .map_err(|error| self.to_tool_error(&error, query.as_ref()))?;
        Ok(rewritten.restore_names(result))
    }

    /// Returns the places of the subqueries of `IN` that have no rows. A query with such a place empty, `a IN ()`, has the same
    /// result, and the engine evaluates it right.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be found out whether a subquery has rows.
    fn empty_lists(&self, sql: &str, parameters: &[Value]) -> Result<Vec<Range<usize>>> {
        let mut empty = Vec::new();
        for list in empty_lists::find(sql) {
            let (before, inside) = list.parameters;
            // A probe begins with the `WITH` clause, so its parameters are those of the clause if it has any.
            let is_certain = inside == 0 || list.probe.starts_with(' ');
            let own = parameters.get(before..before + inside).unwrap_or_default().to_vec();
            let edits = [clock::time_edits(&list.probe), self.catalog.name_edits(&list.probe)].concat();
            let probe = RewrittenQuery::new(&list.probe, edits).sql;
            match self.run_unchecked(&probe, if inside == 0 { parameters.to_vec() } else { own }) {
                Ok(result) if is_certain && result.rows.is_empty() => empty.push(list.range),
                Ok(_) if is_certain => {}
                _ => return Err(self.list_error(sql, parameters)),
            }
        }
        Ok(empty)
    }

    /// Returns the error for a query of which the tool does not know whether a subquery of `IN` has rows: the error of the engine if
    /// there is one.
    fn list_error(&self, sql: &str, parameters: &[Value]) -> ToolError {
        let query = parse_query(sql);
        match self.run_unchecked(sql, parameters.to_vec()) {
            Err(error) => self.to_tool_error(&error, query.as_ref()),
            Ok(_) => ToolError::validation(
                "a subquery of `IN` is not evaluated here as SQLite does if a value is null: write `EXISTS (SELECT 1 .. WHERE ..)`",
            ),
        }
    }

    /// Checks the tables and views that a query reads.
    ///
    /// # Errors
    ///
    /// Fails if one of them is a virtual table, or if a view or an added column may be read wrongly.
    fn check_relations(&self, query: &Select) -> Result<()> {
        let relations = self.catalog.read_by(query);
        let views = relations.iter().filter_map(|relation| relation.definition());
        let queries: Vec<_> = std::iter::once(query.clone()).chain(views).collect();
        for relation in relations {
            check_relation(relation)?;
            if let Some(definition) = relation.definition() {
                self.check_lists_of_view(relation)?;
                self.check_syntax(&definition, &[])
                    .map_err(|error| in_view(&relation.name, &error))?;
            }
            if relation.kind == Kind::Table {
                self.check_added_columns(relation, &queries)?;
            }
        }
        Ok(())
    }

    /// Checks the functions, comparisons and aggregates of a query.
    fn check_syntax(&self, query: &Select, parameters: &[Parameter]) -> Result<()> {
        functions::check(query, self.is_utf16)?;
        let find_relation = |name: &str| self.columns_of_relation(name, 0);
        comparisons::check(
            query,
            &Environment::new(&find_relation, shape_of_parameters(parameters)),
        )
    }

    /// Returns the columns of a table or a view. `depth` is the number of views around it.
    fn columns_of_relation(&self, name: &str, depth: usize) -> Option<Vec<NamedShape>> {
        let relation = self.catalog.find(name)?;
        let rows = self.columns(&relation.name).ok()?.rows;
        let column = |row: &Vec<Value>| {
            let name = row.first().map(to_text).unwrap_or_default();
            let declared = row.get(1).map(to_text).unwrap_or_default();
            let shape = Shape {
                collation: relation.collation(&name),
                ..Shape::of_column(Affinity::of_type(&declared))
            };
            NamedShape { name, shape }
        };
        let mut columns: Vec<_> = rows.iter().map(column).collect();
        if relation.kind == Kind::Table {
            return Some(columns);
        }
        // The columns of a view get their names from its definition, and everything else from its query.
        let definition = relation.definition().filter(|_| depth < MAX_VIEW_DEPTH)?;
        let find_relation = |name: &str| self.columns_of_relation(name, depth + 1);
        let shapes = Environment::new(&find_relation, Shape::ANY).columns_of(&definition, None);
        for (column, shape) in columns.iter_mut().zip(shapes) {
            column.shape = shape.shape;
        }
        Some(columns)
    }

    /// Checks that the subqueries of `IN` in a view have rows.
    fn check_lists_of_view(&self, view: &Relation) -> Result<()> {
        let definition = view.sql.as_str();
        if self.empty_lists(definition, &[]).is_ok_and(|empty| empty.is_empty()) {
            return Ok(());
        }
        Err(ToolError::validation(format_args!(
            "in the view `{}`: a subquery of `IN` is not evaluated here as SQLite does if it has no rows: query the tables of the view",
            view.name
        )))
    }

    /// Checks that the engine reads the columns of a table right in the rows that were written before the columns were added.
    fn check_added_columns(&self, table: &Relation, queries: &[Select]) -> Result<()> {
        let columns = self.columns_with_default(table).unwrap_or_default();
        let is_without_rowid = is_without_rowid(&table.sql);
        for column in columns {
            let is_read = queries
                .iter()
                .any(|query| added_columns::reads_column(query, &column.name));
            if is_read && self.has_rows_without(table, &column, is_without_rowid) {
                let (name, table) = (&column.name, &table.name);
                return Err(ToolError::validation(format_args!(
                    "the column `{name}` of `{table}` cannot be read in the rows that are older than the column: run \
                     `UPDATE {table} SET {name} = {name}` in the program that uses the database"
                )));
            }
        }
        Ok(())
    }

    /// Returns the columns of a table that have a default.
    fn columns_with_default(&self, table: &Relation) -> graphitesql::Result<Vec<Column>> {
        let name = literal(&table.name);
        let sql = format!("SELECT name, type, dflt_value FROM pragma_table_xinfo({name}) WHERE dflt_value IS NOT NULL");
        let columns = self.run_unchecked(&sql, Vec::new())?.rows;
        let column = |row: &Vec<Value>| {
            let [name, declared, default] = row.as_slice() else {
                return None;
            };
            Some(Column {
                name: to_text(name),
                affinity: Affinity::of_type(&to_text(declared)),
                default: to_text(default),
            })
        };
        Ok(columns.iter().filter_map(column).collect())
    }

    /// Returns whether a table has rows that were written before this column was added, and that the engine reads wrongly. It may
    /// read the whole table, but only if the default is one that the engine should convert.
    fn has_rows_without(&self, table: &Relation, column: &Column, is_without_rowid: bool) -> bool {
        let first_cell = |sql: String| {
            let rows = self.run_unchecked(&sql, Vec::new()).ok()?.rows;
            rows.into_iter().next()?.into_iter().next()
        };
        let condition = first_cell(format!("SELECT {}", column.default))
            .and_then(|default| column.condition(&default, is_without_rowid));
        let table = identifier(&table.name);
        condition
            .is_some_and(|condition| first_cell(format!("SELECT 1 FROM {table} WHERE {condition} LIMIT 1")).is_some())
    }

    /// Returns the tables and views with their columns. Those that the engine cannot read have none.
    pub(crate) fn tables(&self) -> QueryResult {
        let row = |relation: &Relation| {
            let columns = self.column_list(relation);
            let kind = describe(&relation.kind, columns.is_ok());
            let cells = [&relation.name, &kind, &columns.unwrap_or_default()];
            cells.map(|cell| Value::Text(cell.as_str().into())).to_vec()
        };
        QueryResult {
            columns: ["table", "kind", "columns"].map(str::to_owned).to_vec(),
            rows: self.catalog.relations().iter().map(row).collect(),
        }
    }

    /// Returns the columns of a table or view.
    ///
    /// # Errors
    ///
    /// Fails if there is no such table, or if it is a virtual table.
    pub(crate) fn columns(&self, table: &str) -> Result<QueryResult> {
        let relation = self.relation(table)?;
        refuse_virtual_table(relation)?;
        let columns = "name AS 'column', type, \"notnull\" AS not_null, dflt_value AS 'default', pk AS primary_key";
        let name = literal(&relation.name);
        self.run_unchecked(&format!("SELECT {columns} FROM pragma_table_xinfo({name})"), Vec::new())
            .map_err(|error| self.to_tool_error(&error, None))
    }

    /// Returns the number of rows of a table or view.
    ///
    /// # Errors
    ///
    /// Fails if there is no such table.
    pub(crate) fn row_count(&self, table: &str) -> Result<QueryResult> {
        let name = identifier(&self.relation(table)?.name);
        self.query(&format!("SELECT count(*) AS row_count FROM {name}"), &[])
    }

    /// Returns the rows of a table or view, at most `limit` + 1: the additional row shows that there are more than `limit`.
    ///
    /// # Errors
    ///
    /// Fails if there is no such table.
    pub(crate) fn rows(&self, table: &str, limit: usize) -> Result<QueryResult> {
        let name = identifier(&self.relation(table)?.name);
        self.query(&format!("SELECT * FROM {name} LIMIT {}", limit + 1), &[])
    }

    /// Finds a table or view by its name in any letter case.
    fn relation(&self, name: &str) -> Result<&Relation> {
        let error = || ToolError::validation(format_args!("no table `{name}`; {}", self.list_tables()));
        self.catalog.find(name).ok_or_else(error)
    }

    /// Returns the columns of a table with their types, in one line.
    fn column_list(&self, relation: &Relation) -> Result<String> {
        let columns = self.columns(&relation.name)?.rows;
        let name_and_type = |row: &Vec<Value>| row.iter().take(2).map(to_text).collect::<Vec<_>>().join(" ");
        let columns: Vec<_> = columns
            .iter()
            .map(|row| name_and_type(row).trim_end().to_owned())
            .collect();
        Ok(columns.join(", "))
    }

    /// Returns a note for the caller if the latest changes may be missing, because the call does not name the WAL file.
    pub(crate) fn note_on_missing_changes(&self) -> Option<String> {
        self.lacks_wal.then(|| {
            format!(
                "the database is in WAL mode: if another program has it open, its latest changes are only seen with `wal` = `{}-wal`",
                self.path
            )
        })
    }

    /// Runs one query, without checking whether the engine may answer it wrongly.
    fn run_unchecked(&self, sql: &str, positional: Vec<Value>) -> graphitesql::Result<QueryResult> {
        let named = Vec::new();
        self.connection.query_params(sql, &Params { positional, named })
    }

    /// Converts an error of the engine to one for the caller. The error for the caller lists the columns of the tables in the
    /// query if a column is unknown, and otherwise the tables, unless the statement is no query or the database is damaged.
    fn to_tool_error(&self, error: &Error, query: Option<&Select>) -> ToolError {
        let path = &self.path;
        match error {
            Error::Unsupported("use execute() for non-SELECT statements") => ToolError::validation(
                "the database is only read: write a query that begins with `SELECT`, `WITH` or `VALUES`",
            ),
            Error::Corrupt(_) | Error::Io(_) => ToolError::validation(format_args!("`{path}` is damaged: {error}")),
            error => {
                let message = error.to_string();
                let message = message.strip_prefix("error: ").unwrap_or(&message);
                let unknown_column = message.strip_prefix("no such column: ");
                let columns = unknown_column
                    .and(query)
                    .map(|query| self.list_columns(query))
                    .unwrap_or_default();
                let names = if columns.is_empty() {
                    self.list_tables()
                } else {
                    columns
                };
                ToolError::validation(format_args!("{}; {names}", quote_unknown_name(message)))
            }
        }
    }

    /// Lists the tables and views, for an error message.
    fn list_tables(&self) -> String {
        format!("the tables of `{}` are {}", self.path, join_names(self.catalog.names()))
    }

    /// Lists the columns of the tables and views that a query names, for an error message.
    fn list_columns(&self, query: &Select) -> String {
        let relations = self.catalog.named_in(query);
        let lists = relations.into_iter().filter_map(|relation| {
            let rows = self.columns(&relation.name).ok()?.rows;
            let names: Vec<_> = rows.iter().filter_map(|row| row.first()).map(to_text).collect();
            let names = join_names(names.iter().map(String::as_str));
            Some(format!("the columns of `{}` are {names}", relation.name))
        });
        lists.collect::<Vec<_>>().join("; ")
    }
}

/// Returns names as code, separated by commas, or `none`. Leaves out those after the first [`MAX_NAMES`].
fn join_names<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut names: Vec<_> = names.take(MAX_NAMES + 1).map(|name| format!("`{name}`")).collect();
    if names.len() > MAX_NAMES {
        names.truncate(MAX_NAMES);
        names.push("others".to_owned());
    }
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}

/// Writes the message about an unknown name as this tool does: the message of the engine is `no such table: orders`.
fn quote_unknown_name(message: &str) -> String {
    let quoted = ["table", "column"].into_iter().find_map(|kind| {
        let name = message
            .strip_prefix("no such ")?
            .strip_prefix(kind)?
            .strip_prefix(": ")?;
        Some(format!("no {kind} `{name}`"))
    });
    quoted.unwrap_or_else(|| message.to_owned())
}

/// Describes what a table is in the list of tables.
fn describe(kind: &Kind, is_readable: bool) -> String {
    let kind = match kind {
        Kind::Table => "table",
        Kind::View => "view",
        Kind::Virtual(module) => return format!("virtual table of the module `{module}`"),
    };
    let end = if is_readable { "" } else { " that this tool cannot read" };
    format!("{kind}{end}")
}

/// Refuses a table that the engine cannot read, and a view that it may read wrongly.
fn check_relation(relation: &Relation) -> Result<()> {
    refuse_virtual_table(relation)?;
    if relation.has_collated_key() {
        return Err(ToolError::validation(format_args!(
            "`{}` cannot be used, because it is `WITHOUT ROWID` and its primary key has a `COLLATE`: query other tables",
            relation.name
        )));
    }
    if relation.kind == Kind::View {
        let checks = clock::refuse_time_zones(&relation.sql, []).and_then(|()| refuse_null_bounds(&relation.sql));
        return checks.map_err(|error| in_view(&relation.name, &error));
    }
    Ok(())
}

/// Says that an error is about the query of a view.
fn in_view(name: &str, error: &ToolError) -> ToolError {
    ToolError::validation(format_args!("in the view `{name}`: {}", error.message))
}

/// Refuses a virtual table: what its rows are is known only to its module, which is not part of this tool.
fn refuse_virtual_table(relation: &Relation) -> Result<()> {
    let Kind::Virtual(module) = &relation.kind else {
        return Ok(());
    };
    Err(ToolError::validation(format_args!(
        "`{}` is a virtual table of the module `{module}`, which this tool cannot read: query other tables",
        relation.name
    )))
}

/// Refuses a `BETWEEN` that the engine may evaluate wrongly.
fn refuse_null_bounds(sql: &str) -> Result<()> {
    if may_have_null_bound(sql) {
        return Err(ToolError::validation(
            "only numbers and texts can be bounds of `BETWEEN`: write `x >= low AND x <= high` instead",
        ));
    }
    Ok(())
}

fn open_file(path: &str) -> Result<fs::File> {
    let to_error = |error| files::explain(path, &error);
    let file = fs::File::open(path).map_err(to_error)?;
    if file.metadata().map_err(to_error)?.is_dir() {
        return Err(to_error(ErrorKind::IsADirectory.into()));
    }
    Ok(file)
}

/// Opens the WAL file of a database, or returns `None` if it does not exist. Usually it exists only while a program has the
/// database open.
fn open_wal(path: &str) -> Result<Option<ReadOnlyFile>> {
    let to_error = |error| files::explain(path, &error);
    let file = match fs::File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(to_error)?,
    };
    let size = file.metadata().map_err(to_error)?.len();
    if size > MAX_WAL_BYTES {
        return Err(ToolError::validation(format_args!(
            "`{path}` has {size} bytes, more than {MAX_WAL_BYTES}: run `PRAGMA wal_checkpoint` in the program that \
             uses the database"
        )));
    }
    ReadOnlyFile::new(file).map(Some).map_err(to_error)
}

/// Returns a text as a literal of SQL.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Returns the text of a value, or an empty text if the value is of another type.
fn to_text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.to_str_lossy().into_owned(),
        _ => String::new(),
    }
}

/// Returns what is known about all parameters of a query together.
fn shape_of_parameters(parameters: &[Parameter]) -> Shape {
    let shape = |parameter: &Parameter| match to_value(parameter) {
        Value::Integer(_) | Value::Real(_) => Shape::NUMBER,
        Value::Text(_) => Shape::TEXT,
        Value::Null | Value::Blob(_) => Shape::NULL,
    };
    parameters.iter().map(shape).fold(Shape::NULL, Shape::or)
}

/// Converts a parameter of a query to a value of the engine.
fn to_value(parameter: &Parameter) -> Value {
    match parameter {
        Parameter::Integer(number) => Value::Integer(*number),
        Parameter::Large(number) => Value::Text(number.to_string().as_str().into()),
        Parameter::Real(number) => Value::Real(*number),
        Parameter::Text(text) => Value::Text(text.as_str().into()),
        Parameter::Bool(truth) => Value::Integer(i64::from(*truth)),
        Parameter::Null(()) => Value::Null,
    }
}
