//! An open database, and the questions that can be asked about it.
//!
//! A database in WAL mode (write-ahead log) has its latest changes in a WAL file beside it, until they are written into the
//! database itself.

use std::fs;
use std::io::{ErrorKind, Read, Seek};

use art_sdk::{Result, ToolError, files};
use graphitesql::exec::eval::Params;
use graphitesql::{Connection, Error, QueryResult, Value};

use crate::between::may_have_null_bound;
use crate::file::{DatabaseFiles, ReadOnlyFile};
use crate::io::Parameter;

/// Maximum size of a WAL file, which is read into memory.
const MAX_WAL_BYTES: u64 = 32 << 20;
/// Maximum number of tables that an error names.
const MAX_NAMES: usize = 30;
/// The first bytes of every database.
const MAGIC: &[u8] = b"SQLite format 3\0";

const LIST_TABLES: &str = r"SELECT name AS 'table', type AS kind FROM sqlite_schema
    WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name";

/// A database that is open for reading.
pub(crate) struct Database {
    connection: Connection,
    path: String,
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
        let mut head = [0; 20];
        let has_complete_head = file.read_exact(&mut head).is_ok();
        if !has_complete_head || !head.starts_with(MAGIC) {
            return Err(ToolError::validation(format_args!(
                "`{path}` is no SQLite database: name another file"
            )));
        }
        file.rewind().map_err(|error| files::explain(path, &error))?;
        let uses_wal = head.last() == Some(&2);
        let wal_file = wal.filter(|_| uses_wal).map(open_wal).transpose()?.flatten();
        let lacks_wal = uses_wal && wal.is_none();
        let database_file = ReadOnlyFile::new(file).map_err(|error| files::explain(path, &error))?;
        let database_files = DatabaseFiles::new(database_file, wal_file);
        let connection = Connection::open_readonly_vfs(&database_files, DatabaseFiles::DATABASE_NAME)
            .map_err(|error| ToolError::validation(format_args!("`{path}` cannot be read: {error}")))?;
        Ok(Self {
            connection,
            path: path.to_owned(),
            lacks_wal,
        })
    }

    /// Runs one query.
    ///
    /// # Errors
    ///
    /// Fails if the engine cannot run the query, or may answer it wrongly because a bound of a `BETWEEN` may be null.
    pub(crate) fn query(&self, sql: &str, parameters: &[Parameter]) -> Result<QueryResult> {
        if may_have_null_bound(sql) {
            return Err(ToolError::validation(
                "only numbers and texts can be bounds of `BETWEEN`: write `x >= low AND x <= high` instead",
            ));
        }
        let parameters = parameters.iter().map(to_value).collect();
        self.run_unchecked(sql, parameters)
            .map_err(|error| self.to_tool_error(&error))
    }

    /// Returns the tables and views with their columns.
    ///
    /// # Errors
    ///
    /// Fails if the schema cannot be read.
    pub(crate) fn tables(&self) -> Result<QueryResult> {
        let mut tables = self.query(LIST_TABLES, &[])?;
        for row in &mut tables.rows {
            let columns = row
                .first()
                .map(to_text)
                .map(|name| self.column_list(&name))
                .transpose()?;
            row.push(Value::Text(columns.unwrap_or_default().as_str().into()));
        }
        tables.columns.push("columns".to_owned());
        Ok(tables)
    }

    /// Returns the columns of a table or view.
    ///
    /// # Errors
    ///
    /// Fails if there is no such table.
    pub(crate) fn columns(&self, table: &str) -> Result<QueryResult> {
        let name = literal(&self.table_name(table)?);
        let columns = "name AS 'column', type, \"notnull\" AS not_null, dflt_value AS 'default', pk AS primary_key";
        self.query(&format!("SELECT {columns} FROM pragma_table_xinfo({name})"), &[])
    }

    /// Returns the number of rows of a table or view.
    ///
    /// # Errors
    ///
    /// Fails if there is no such table.
    pub(crate) fn row_count(&self, table: &str) -> Result<QueryResult> {
        let name = identifier(&self.table_name(table)?);
        self.query(&format!("SELECT count(*) AS row_count FROM {name}"), &[])
    }

    /// Returns the rows of a table or view, at most `limit` + 1: the additional row shows that there are more than `limit`.
    ///
    /// # Errors
    ///
    /// Fails if there is no such table.
    pub(crate) fn rows(&self, table: &str, limit: usize) -> Result<QueryResult> {
        let name = identifier(&self.table_name(table)?);
        self.query(&format!("SELECT * FROM {name} LIMIT {}", limit + 1), &[])
    }

    /// Returns the name of a table in the spelling of the database.
    fn table_name(&self, name: &str) -> Result<String> {
        let names = self.table_names();
        let found = names.iter().find(|known| known.eq_ignore_ascii_case(name));
        found
            .cloned()
            .ok_or_else(|| self.to_tool_error(&Error::Error(format!("no such table: {name}"))))
    }

    /// Returns the columns of a table with their types, in one line.
    fn column_list(&self, table: &str) -> Result<String> {
        let columns = self.columns(table)?.rows;
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

    /// Runs one query, without checking the bounds of its `BETWEEN`s.
    fn run_unchecked(&self, sql: &str, positional: Vec<Value>) -> graphitesql::Result<QueryResult> {
        let named = Vec::new();
        self.connection.query_params(sql, &Params { positional, named })
    }

    /// Converts an error of the engine to one for the caller. The error for the caller lists the tables, unless the statement
    /// is no query or the database is damaged.
    fn to_tool_error(&self, error: &Error) -> ToolError {
        let path = &self.path;
        match error {
            Error::Unsupported("use execute() for non-SELECT statements") => ToolError::validation(
                "the database is only read: write a query that begins with `SELECT`, `WITH` or `VALUES`",
            ),
            Error::Corrupt(_) | Error::Io(_) => ToolError::validation(format_args!("`{path}` is damaged: {error}")),
            error => {
                let names: Vec<_> = self
                    .table_names()
                    .iter()
                    .take(MAX_NAMES)
                    .map(|name| format!("`{name}`"))
                    .collect();
                ToolError::validation(format_args!("{error}; the tables of `{path}` are {}", names.join(", ")))
            }
        }
    }

    /// Returns the names of the tables and views, or no names if the schema cannot be read.
    fn table_names(&self) -> Vec<String> {
        let tables = self
            .run_unchecked(LIST_TABLES, Vec::new())
            .map(|result| result.rows)
            .unwrap_or_default();
        tables.iter().filter_map(|row| row.first()).map(to_text).collect()
    }
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

/// Returns a name as an identifier of SQL, whatever characters it contains.
fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
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
