//! `sqlite_query`: reads SQLite databases with SQL.

use art_sdk::prelude::*;

mod added_columns;
mod affinity;
mod between;
mod catalog;
mod clock;
mod comparisons;
mod database;
mod empty_lists;
mod file;
mod functions;
mod io;
mod rewrite;
mod rows;
mod scope;
mod shape;
mod syntax;

#[cfg(test)]
mod tests;

use database::Database;
use io::{Question, SqliteQueryInput, SqliteQueryOutput};

/// Reads an SQLite database file (.db, .sqlite, .sqlite3) with SQL and never changes it. Use it to see which tables and columns a
/// database has, how many rows are in a table, and to select, join, group and sort rows. Ask for its tables before writing SQL.
/// Returns the rows.
#[tool(
    example(
        ask = "Which tables are in ~/data/shop.db?",
        ask = "Which tables does ~/data/shop.db have?",
        ask = "What tables are in the database ~/data/shop.db?",
        ask = "List the tables of ~/data/shop.db",
        ask = "List the tables in the database ~/data/shop.db",
        ask = "Show the tables of the database ~/data/shop.db",
        ask = "Describe the database ~/data/shop.db",
        ask = "Tables of ~/data/shop.db",
        input = r#"{"path":"~/data/shop.db","about":"tables"}"#
    ),
    example(
        ask = "Which columns does the table orders in ~/data/shop.db have?",
        ask = "Which columns are in the table orders of ~/data/shop.db?",
        ask = "What are the columns of the table orders in ~/data/shop.db?",
        ask = "List the columns of the table orders in ~/data/shop.db",
        ask = "Describe the table orders of ~/data/shop.db",
        ask = "Columns of the table orders in ~/data/shop.db",
        input = r#"{"path":"~/data/shop.db","about":"columns","table":"orders"}"#
    ),
    example(
        ask = "How many rows does the table orders in ~/data/shop.db have?",
        ask = "How many rows are in the table orders of ~/data/shop.db?",
        ask = "How many rows has the table orders of the database ~/data/shop.db?",
        ask = "Count the rows of the table orders in ~/data/shop.db",
        ask = "Number of rows in the table orders of ~/data/shop.db",
        input = r#"{"path":"~/data/shop.db","about":"row_count","table":"orders"}"#
    ),
    example(
        ask = "Show the rows of the table orders in ~/data/shop.db",
        ask = "List the rows of the table orders of ~/data/shop.db",
        ask = "What is in the table orders of ~/data/shop.db?",
        input = r#"{"path":"~/data/shop.db","about":"rows","table":"orders"}"#
    ),
    example(
        ask = "Show the first 5 rows of the table orders in ~/data/shop.db",
        ask = "List the first 5 rows of the table orders of ~/data/shop.db",
        ask = "First 5 rows of the table orders in ~/data/shop.db",
        input = r#"{"path":"~/data/shop.db","about":"rows","table":"orders","limit":5}"#
    ),
    example(
        ask = "Run \"SELECT name FROM customers ORDER BY name\" on ~/data/shop.db",
        ask = "Run the query \"SELECT name FROM customers ORDER BY name\" on the database ~/data/shop.db",
        ask = "What does \"SELECT name FROM customers ORDER BY name\" return on ~/data/shop.db?",
        input = r#"{"path":"~/data/shop.db","sql":"SELECT name FROM customers ORDER BY name"}"#
    ),
    example(
        ask = "Which customers in ~/data/shop.db ordered for more than 100 in total?",
        input = r#"{"path":"~/data/shop.db","sql":"SELECT c.name, sum(o.amount) AS total FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY c.id HAVING total > ? ORDER BY total DESC","parameters":[100]}"#
    ),
    example(
        ask = "What are the sales per month in ~/data/shop.db?",
        input = r#"{"path":"~/data/shop.db","sql":"SELECT strftime('%Y-%m', placed) AS month, sum(amount) AS sales FROM orders GROUP BY month ORDER BY month"}"#
    ),
    risk = "low",
    capabilities(
        fs(read, path = "{args.path}", reason = "reads the database that a call names"),
        fs(
            read,
            path = "{args.wal}",
            reason = "reads the WAL file with the latest changes if a call names it"
        ),
    ),
    limits(fuel = 2_000_000_000, memory = "64 MiB", timeout = "30s")
)]
fn sqlite_query(input: SqliteQueryInput) -> Result<SqliteQueryOutput> {
    let question = input.question()?;
    let database = Database::open(&input.path, input.wal.as_deref())?;
    let result = match question {
        Question::Sql(sql) => database.query(sql, &input.parameters),
        Question::Tables => Ok(database.tables()),
        Question::Columns(table) => database.columns(table),
        Question::RowCount(table) => database.row_count(table),
        Question::Rows(table) => database.rows(table, input.limit),
    }?;
    let mut output = rows::to_output(result, input.limit);
    output.notes.extend(database.note_on_missing_changes());
    Ok(output)
}
