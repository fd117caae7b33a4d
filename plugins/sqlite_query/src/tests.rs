use std::fs;
use std::path::PathBuf;

use art_sdk::testing::{failure, output};
use rusqlite::Connection;
use tempfile::TempDir;

use super::*;

mod differential;

/// Statements that create and fill the tables of a shop.
const SHOP_TABLES: &str = "
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT DEFAULT 'DE');
    CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id), amount REAL, placed TEXT, photo BLOB);
    CREATE INDEX orders_by_customer ON orders (customer_id);
    CREATE VIEW large AS SELECT id FROM orders WHERE amount > 50;
    INSERT INTO customers (name, country) VALUES ('Ada', 'FR'), ('Bob', 'DE'), ('Cyd', NULL);
    INSERT INTO orders (customer_id, amount, placed, photo) VALUES
        (1, 60.5, '2026-01-03', x'00ff'), (1, 50, '2026-02-03', NULL), (2, 20, '2026-02-28', NULL);";

/// A database file in a folder of its own. SQLite itself writes it through `writer`.
struct TestDatabase {
    folder: TempDir,
    writer: Connection,
}

impl TestDatabase {
    fn new(setup: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let writer = Connection::open(folder.path().join("shop.db")).unwrap();
        // A test needs no protection against a loss of power.
        writer.execute_batch("PRAGMA synchronous = off").unwrap();
        writer.execute_batch(setup).unwrap();
        Self { folder, writer }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("shop.db")
    }

    /// Returns the input of a call: these fields, and the path of the database.
    fn input(&self, mut fields: Value) -> Value {
        fields["path"] = json!(self.path());
        fields
    }

    /// Returns the output of a call with these fields as its input.
    fn ask(&self, fields: Value) -> Value {
        output(&SQLITE_QUERY, self.input(fields))
    }

    /// Returns the error message of a call that is refused.
    fn refusal(&self, fields: Value) -> String {
        failure(&SQLITE_QUERY, self.input(fields)).message
    }
}

/// Returns the output of a call about the tables of the shop.
fn ask_shop(fields: Value) -> Value {
    TestDatabase::new(SHOP_TABLES).ask(fields)
}

/// Runs the examples on a database of this test instead of `~/data/shop.db`, which their inputs name.
#[test]
fn every_example_returns_rows() {
    let database = TestDatabase::new(SHOP_TABLES);
    for example in SQLITE_QUERY.examples() {
        let answer = database.ask(art_sdk::serde_json::from_str(example.input).unwrap());
        assert_ne!(answer["row_count"], 0, "{}", example.input);
    }
}

#[test]
fn the_tables_are_listed_with_their_columns() {
    let tables = ask_shop(json!({}));
    let expected = json!([
        {"table": "customers", "kind": "table", "columns": "id INTEGER, name TEXT, country TEXT"},
        {"table": "large", "kind": "view", "columns": "id INTEGER"},
        {"table": "orders", "kind": "table", "columns": "id INTEGER, customer_id INTEGER, amount REAL, placed TEXT, photo BLOB"},
    ]);
    assert_eq!(tables["rows"], expected);
}

#[test]
fn the_columns_of_a_table_are_listed_with_types_and_keys() {
    let columns = ask_shop(json!({"about": "columns", "table": "customers"}));
    let expected = json!([
        {"column": "id", "type": "INTEGER", "not_null": 0, "default": null, "primary_key": 1},
        {"column": "name", "type": "TEXT", "not_null": 1, "default": null, "primary_key": 0},
        {"column": "country", "type": "TEXT", "not_null": 0, "default": "'DE'", "primary_key": 0},
    ]);
    assert_eq!(columns["rows"], expected);
}

#[test]
fn the_row_count_is_a_single_value() {
    assert_eq!(ask_shop(json!({"about": "row_count", "table": "ORDERS"}))["value"], 3);
    assert_eq!(ask_shop(json!({"about": "row_count", "table": "large"}))["value"], 1);
}

#[test]
fn rows_over_the_limit_are_left_out_and_reported() {
    let rows = ask_shop(json!({"table": "customers", "limit": 2}));
    assert_eq!(rows["rows"][1]["name"], "Bob");
    assert_eq!((&rows["row_count"], &rows["truncated"]), (&json!(2), &json!(true)));
    assert_eq!(ask_shop(json!({"table": "customers", "limit": 3}))["truncated"], false);
}

#[test]
fn tables_are_joined_grouped_and_sorted() {
    let sql = "SELECT c.name, count(o.id) AS orders, total(o.amount) AS total FROM customers c
        LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.id HAVING total >= ? ORDER BY total DESC;";
    let rows = ask_shop(json!({"sql": sql, "parameters": [20]}));
    let expected = json!([{"name": "Ada", "orders": 2, "total": 110.5}, {"name": "Bob", "orders": 1, "total": 20.0}]);
    assert_eq!(rows["rows"], expected);
    assert_eq!(rows["columns"], json!(["name", "orders", "total"]));
}

#[test]
fn parameters_are_values_and_never_sql() {
    let sql = "SELECT count(*) FROM customers WHERE name = ? OR country = ?";
    assert_eq!(
        ask_shop(json!({"sql": sql, "parameters": ["Ada' OR 1 --", "DE"]}))["value"],
        1
    );
    let typed = ask_shop(
        json!({"sql": "SELECT typeof(?), typeof(?), typeof(?), typeof(?)", "parameters": [1, 1.5, null, true]}),
    );
    let types: Vec<_> = typed["rows"][0].as_object().unwrap().values().collect();
    assert_eq!(json!(types), json!(["integer", "real", "null", "integer"]));
}

#[test]
fn a_table_is_found_whatever_its_name_is() {
    let database = TestDatabase::new(
        "CREATE TABLE \"odd \"\" name; --\" (\"a b\" INT); INSERT INTO \"odd \"\" name; --\" VALUES (7);",
    );
    let rows = database.ask(json!({"table": "odd \" name; --"}));
    assert_eq!(rows["rows"], json!([{"a b": 7}]));
}

#[test]
fn columns_of_the_same_name_are_numbered() {
    let rows = ask_shop(json!({"sql": "SELECT c.id, o.id FROM customers c JOIN orders o ON o.id = c.id + 1 LIMIT 1"}));
    assert_eq!(rows["rows"], json!([{"id": 1, "id_2": 2}]));
}

#[test]
fn blobs_and_infinite_numbers_are_described_by_a_text() {
    let rows = ask_shop(json!({"sql": "SELECT photo, 9e999 AS large, hex(photo) AS hex FROM orders WHERE id = 1"}));
    assert_eq!(
        rows["rows"],
        json!([{"photo": "blob of 2 bytes", "large": "inf", "hex": "00FF"}])
    );
}

#[test]
fn long_texts_and_large_results_are_cut() {
    let cut = ask_shop(json!({"sql": "SELECT printf('%.*c', 5000, 'é') AS text"}));
    assert_eq!(cut["value"].as_str().unwrap().chars().count(), 4000);
    assert!(cut["notes"][0].as_str().unwrap().contains("4000"), "{cut}");
    let with_clause = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)";
    let sql = format!("{with_clause} SELECT printf('%.*c', 3000, 'x') AS text FROM n");
    let large = ask_shop(json!({"sql": sql, "limit": 200}));
    // The rows of a result may have 256 KiB together, and each row of `large` counts as 3,010 bytes.
    let rows_within_the_size_limit = 87;
    assert_eq!(large["row_count"], rows_within_the_size_limit);
    assert_eq!(large["truncated"], true);
}

#[test]
fn statements_other_than_queries_are_refused_and_change_nothing() {
    let database = TestDatabase::new(SHOP_TABLES);
    let before = fs::read(database.path()).unwrap();
    let statements = [
        "DELETE FROM orders",
        "INSERT INTO orders (id) VALUES (9) RETURNING id",
        "CREATE TABLE t (a)",
        "ATTACH 'other.db' AS other",
        "VACUUM INTO 'other.db'",
        "BEGIN",
    ];
    for sql in statements {
        assert!(database.refusal(json!({"sql": sql})).contains("only read"), "{sql}");
    }
    assert!(
        database
            .refusal(json!({"sql": "SELECT 1; DELETE FROM orders"}))
            .contains("single statement")
    );
    assert_eq!(fs::read(database.path()).unwrap(), before);
    assert_eq!(fs::read_dir(database.folder.path()).unwrap().count(), 1);
}

#[test]
fn functions_that_read_other_files_do_not_exist() {
    let database = TestDatabase::new(SHOP_TABLES);
    for sql in ["SELECT readfile('/etc/passwd')", "SELECT load_extension('x')"] {
        assert!(
            database.refusal(json!({"sql": sql})).contains("no such function"),
            "{sql}"
        );
    }
}

#[test]
fn an_error_says_what_is_wrong_and_which_tables_there_are() {
    let database = TestDatabase::new(SHOP_TABLES);
    let unknown = database.refusal(json!({"sql": "SELECT x FROM elsewhere"}));
    assert!(unknown.contains("no table `elsewhere`"), "{unknown}");
    assert!(unknown.contains("`customers`, `large`, `orders`"), "{unknown}");
    assert!(
        database
            .refusal(json!({"about": "columns", "table": "elsewhere"}))
            .contains("no table `elsewhere`")
    );
    assert!(
        database
            .refusal(json!({"sql": "SELECT 1", "table": "orders"}))
            .contains("does not go together")
    );
    assert!(
        database
            .refusal(json!({"about": "row_count"}))
            .contains("name the table")
    );
}

#[test]
fn an_error_about_an_unknown_column_names_the_columns_of_the_tables_in_the_query() {
    let database = TestDatabase::new(SHOP_TABLES);
    assert_eq!(
        database.refusal(json!({"sql": "SELECT x FROM orders"})),
        "no column `x`; the columns of `orders` are `id`, `customer_id`, `amount`, `placed`, `photo`"
    );
    assert_eq!(
        database.refusal(json!({"sql": "SELECT c.mail FROM Customers c JOIN large ON large.id = c.id"})),
        "no column `c.mail`; the columns of `customers` are `id`, `name`, `country`; the columns of `large` are `id`"
    );
    assert!(
        database
            .refusal(json!({"sql": "SELECT x"}))
            .starts_with("no column `x`; the tables of `")
    );
    assert!(
        database
            .refusal(json!({"sql": "SELECT nonsense(1) FROM orders"}))
            .starts_with("no such function: nonsense")
    );
}

/// A database with tables of several modules, which the C library of SQLite creates with its own tables for their data.
const VIRTUAL_TABLES: &str = "
    CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT);
    INSERT INTO notes (body) VALUES ('buy milk');
    CREATE VIRTUAL TABLE search USING fts5(body);
    INSERT INTO search VALUES ('buy milk');
    CREATE VIRTUAL TABLE \"old search\" USING fts4(body);
    CREATE VIRTUAL TABLE places USING rtree(id, low, high);
    INSERT INTO places VALUES (1, 2, 3);
    CREATE VIEW found AS SELECT body FROM search;";

#[test]
fn virtual_tables_are_listed_with_their_module() {
    let database = TestDatabase::new(VIRTUAL_TABLES);
    let tables = database.ask(json!({"about": "tables"}));
    let rows = tables["rows"].as_array().unwrap();
    let kind_of = |name| &rows.iter().find(|row| row["table"] == name).unwrap()["kind"];
    assert_eq!(kind_of("search"), "virtual table of the module `fts5`");
    assert_eq!(kind_of("old search"), "virtual table of the module `fts4`");
    assert_eq!(kind_of("places"), "virtual table of the module `rtree`");
    assert_eq!(kind_of("notes"), "table");
    assert_eq!(kind_of("found"), "view that this tool cannot read");
    let notes = rows.iter().find(|row| row["table"] == "notes").unwrap();
    assert_eq!(notes["columns"], "id INTEGER, body TEXT");
    // This module writes the names of columns in a form that the engine does not read.
    assert_eq!(kind_of("old search_content"), "table that this tool cannot read");
    assert_eq!(database.ask(json!({"table": "notes"}))["rows"][0]["body"], "buy milk");
}

#[test]
fn a_query_of_a_virtual_table_is_refused_with_the_name_of_its_module() {
    let database = TestDatabase::new(VIRTUAL_TABLES);
    for (sql, table, module) in [
        ("SELECT * FROM search WHERE search MATCH 'milk'", "search", "fts5"),
        ("SELECT count(*) FROM [OLD SEARCH]", "old search", "fts4"),
        (
            "SELECT id FROM notes WHERE id IN (SELECT id FROM main.places)",
            "places",
            "rtree",
        ),
        ("SELECT body FROM found", "search", "fts5"),
    ] {
        let refusal = database.refusal(json!({ "sql": sql }));
        let expected = format!("`{table}` is a virtual table of the module `{module}`, which this tool cannot read");
        assert!(refusal.contains(&expected), "{refusal}");
    }
    for about in ["rows", "row_count", "columns"] {
        let refusal = database.refusal(json!({"about": about, "table": "search"}));
        assert!(refusal.contains("the module `fts5`"), "{refusal}");
    }
}

#[test]
fn a_table_and_a_column_with_the_name_of_a_virtual_table_are_no_virtual_table() {
    let database = TestDatabase::new(VIRTUAL_TABLES);
    let answer = database.ask(json!({"sql": "SELECT body AS search FROM notes WHERE body <> 'search'"}));
    assert_eq!(answer["value"], "buy milk");
}

#[test]
fn the_time_is_that_of_the_clock() {
    let database = TestDatabase::new(
        "CREATE TABLE t (a); INSERT INTO t VALUES ('now'); CREATE VIEW v AS SELECT date('now') AS today;",
    );
    let today: String = database
        .writer
        .query_row("SELECT date('now')", [], |row| row.get(0))
        .unwrap();
    for sql in [
        "SELECT date('now')",
        "SELECT DATE ( 'NOW' )",
        "SELECT date()",
        "SELECT date(datetime())",
        "SELECT CURRENT_DATE",
        "SELECT date(CURRENT_TIMESTAMP)",
        "SELECT strftime('%Y-%m-%d', 'now')",
        "SELECT strftime('%Y-%m-%d')",
        "SELECT date(julianday('now'))",
        "SELECT date(julianday())",
        "SELECT date(unixepoch(), 'unixepoch')",
        "SELECT date(unixepoch('now'), 'unixepoch')",
        "SELECT date(a) FROM t",
        "SELECT today FROM v",
        "SELECT date(?)",
    ] {
        let parameters = if sql.contains('?') { json!(["now"]) } else { json!([]) };
        let answer = database.ask(json!({"sql": sql, "parameters": parameters}));
        assert_eq!(answer["value"], today, "{sql}");
    }
    let recent = database.ask(json!({"sql": "SELECT abs(unixepoch() - unixepoch(time('now'), '-1 day')) >= 0"}));
    assert_eq!(recent["value"], 1);
    let nothing = database.ask(json!({"sql": "SELECT datetime(NULL) AS a"}));
    assert_eq!(nothing["rows"], json!([{"a": null}]));
}

#[test]
fn a_query_has_one_time_and_keeps_the_names_of_its_columns() {
    let database = TestDatabase::new("CREATE TABLE t (a, current_date); INSERT INTO t VALUES ('now', 5);");
    let sql = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
        SELECT count(DISTINCT strftime('%f', 'now')) FROM n";
    assert_eq!(database.ask(json!({ "sql": sql }))["value"], 1);
    let names = database.ask(json!({"sql": "SELECT date('now'), CURRENT_TIME, 'now' AS b, date( )"}));
    assert_eq!(names["columns"], json!(["date('now')", "CURRENT_TIME", "b", "date( )"]));
    assert_eq!(names["rows"][0]["b"], "now");
    let column = database.ask(json!({"sql": "SELECT t.current_date AS current_time FROM t WHERE a = 'now'"}));
    assert_eq!(column["value"], 5);
}

#[test]
fn times_in_an_unknown_time_zone_are_refused() {
    let database = TestDatabase::new(
        "CREATE TABLE t (a); INSERT INTO t VALUES ('localtime'); CREATE VIEW v AS SELECT datetime('now', 'localtime') AS a;",
    );
    for sql in [
        "SELECT datetime('now', 'localtime')",
        "SELECT strftime('%H', a, '-1 day', 'LocalTime') FROM t",
        "SELECT date(a, 'utc') FROM t",
        "SELECT a FROM v",
    ] {
        let refusal = database.refusal(json!({ "sql": sql }));
        assert!(refusal.contains("the time zone is not known here"), "{sql}: {refusal}");
    }
    let refusal = database.refusal(json!({"sql": "SELECT datetime('now', ?)", "parameters": ["localtime"]}));
    assert!(refusal.contains("the time zone is not known here"), "{refusal}");
    assert_eq!(
        database.ask(json!({"sql": "SELECT count(*) FROM t WHERE a = 'localtime'"}))["value"],
        1
    );
}

#[test]
fn a_query_names_tables_in_any_letter_case() {
    let database = TestDatabase::new("CREATE TABLE \"Big Orders\" (Id); INSERT INTO \"Big Orders\" VALUES (1);");
    let sql = "SELECT o.ID FROM main.\"BIG orders\" o JOIN [big orders] p ON p.id = o.id, (SELECT 'from big orders')";
    let answer = database.ask(json!({ "sql": sql }));
    assert_eq!(answer["value"], 1, "{answer}");
}

#[test]
fn an_added_column_is_refused_if_its_default_would_be_read_with_another_type() {
    let database = TestDatabase::new(
        "CREATE TABLE t (a); INSERT INTO t VALUES (7); ALTER TABLE t ADD COLUMN year TEXT DEFAULT 2024;
         ALTER TABLE t ADD COLUMN price REAL DEFAULT 3; ALTER TABLE t ADD COLUMN country TEXT DEFAULT 'DE';
         CREATE TABLE u (a PRIMARY KEY) WITHOUT ROWID; INSERT INTO u VALUES (7); ALTER TABLE u ADD COLUMN b DEFAULT 1;
         CREATE TABLE new (year TEXT DEFAULT 2024); INSERT INTO new DEFAULT VALUES;
         CREATE VIEW v AS SELECT year FROM t;",
    );
    for (sql, column) in [
        ("SELECT a FROM t WHERE YEAR = '2024'", "the column `year` of `t`"),
        ("SELECT * FROM t", "the column `year` of `t`"),
        ("SELECT count(*) FROM v", "the column `year` of `t`"),
        ("SELECT b FROM u", "the column `b` of `u`"),
    ] {
        let refusal = database.refusal(json!({ "sql": sql }));
        assert!(refusal.contains(column), "{sql}: {refusal}");
    }
    assert_eq!(database.ask(json!({"sql": "SELECT price / 2 FROM t"}))["value"], 1.5);
    assert_eq!(database.ask(json!({"sql": "SELECT country FROM t"}))["value"], "DE");
    assert_eq!(database.ask(json!({"about": "row_count", "table": "t"}))["value"], 1);
    assert_eq!(database.ask(json!({"table": "new"}))["value"], "2024");
    database.writer.execute_batch("UPDATE t SET year = year").unwrap();
    assert_eq!(database.ask(json!({"sql": "SELECT year FROM t"}))["value"], "2024");
}

#[test]
fn random_numbers_differ_and_nothing_counts_as_changed() {
    let database = TestDatabase::new(SHOP_TABLES);
    let random = || database.ask(json!({"sql": "SELECT random()"}))["value"].clone();
    assert_ne!(random(), random());
    let counters = database.ask(json!({"sql": "SELECT changes() + total_changes() + last_insert_rowid()"}));
    assert_eq!(counters["value"], 0);
}

#[test]
fn a_bound_of_between_that_may_be_null_is_refused() {
    let database = TestDatabase::new(SHOP_TABLES);
    let refusal = database.refusal(json!({"sql": "SELECT id FROM orders WHERE amount BETWEEN customer_id AND 100"}));
    assert!(refusal.contains("x >= low AND x <= high"), "{refusal}");
    let constant_bounds = database.ask(json!({"sql": "SELECT count(*) FROM orders WHERE amount BETWEEN 50 AND 70"}));
    assert_eq!(constant_bounds["value"], 2);
}

#[test]
fn files_that_are_no_database_are_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.db");
    for content in [&b""[..], b"name,age\nAda,36\n", b"SQLite format 3\0"] {
        fs::write(&path, content).unwrap();
        let error = failure(&SQLITE_QUERY, json!({"path": path}));
        assert!(error.message.contains("is no SQLite database"), "{}", error.message);
    }
    assert_eq!(
        failure(&SQLITE_QUERY, json!({"path": folder.path()})).code,
        ErrorCode::ValidationError
    );
    assert_eq!(
        failure(&SQLITE_QUERY, json!({"path": folder.path().join("b.db")})).code,
        ErrorCode::NotFound
    );
}

#[test]
fn changes_in_a_wal_are_read_if_the_call_names_it_and_otherwise_reported_as_missing() {
    let database = TestDatabase::new(&format!(
        "PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0; {SHOP_TABLES} PRAGMA wal_checkpoint;"
    ));
    database
        .writer
        .execute_batch("DELETE FROM orders WHERE id = 3")
        .unwrap();
    let wal = format!("{}-wal", database.path().display());
    let count_input = json!({"about": "row_count", "table": "orders"});
    let without_wal = database.ask(count_input.clone());
    assert_eq!(without_wal["value"], 3);
    assert!(
        without_wal["notes"][0].as_str().unwrap().contains(&wal),
        "{without_wal}"
    );
    let mut count_input_with_wal = count_input;
    count_input_with_wal["wal"] = json!(wal);
    let with_wal = database.ask(count_input_with_wal);
    assert_eq!((&with_wal["value"], with_wal.get("notes")), (&json!(2), None));
}

#[test]
fn a_wal_is_ignored_if_the_database_is_not_in_wal_mode() {
    let database = TestDatabase::new(SHOP_TABLES);
    let rows = database.ask(json!({"about": "row_count", "table": "orders", "wal": "/nowhere/shop.db-wal"}));
    assert_eq!((&rows["value"], rows.get("notes")), (&json!(3), None));
}
