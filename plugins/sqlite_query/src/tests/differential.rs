//! Compares the answers of the tool with those of SQLite itself, for random tables and queries.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rusqlite::types::ValueRef;

use super::*;

mod grammar;

use grammar::Grammar;

/// Parts of the messages with which the tool refuses a query that SQLite answers. The engine does not implement the query, or the
/// tool does not trust its answer.
const REFUSALS: [&str; 17] = [
    "not yet implemented",
    "cannot be used",
    "is not evaluated here",
    "are not compared here",
    "cannot be read in the rows",
    "is not certain here",
    "does not regard here",
    "has no effect",
    "can be bounds of `BETWEEN`",
    "has to be a text in quotes",
    // The engine finds the columns of a view in no window function, and a common table expression not in every subquery.
    "no column",
    "no table",
    // The engine evaluates expressions whose value nothing needs.
    "malformed JSON",
    "JSON cannot hold BLOB values",
    "string or blob too big",
    "integer overflow",
    // The engine takes a constant with `COLLATE` for the number of a column.
    "GROUP BY term out of range",
];

/// Parts of the messages with which SQLite refuses a query that the engine answers: SQLite checks a `GROUP BY` of constants, and
/// arguments of functions whose result nothing needs.
const REFUSALS_OF_SQLITE: [&str; 3] = [
    "GROUP BY term out of range",
    "malformed JSON",
    "JSON cannot hold BLOB values",
];

/// Returns the number of random databases. The variable `SQLITE_QUERY_CASES` sets another one for a longer run.
fn cases() -> Option<u32> {
    std::env::var("SQLITE_QUERY_CASES").ok()?.parse().ok()
}

/// Returns the configuration of the tests. Without `SQLITE_QUERY_CASES` they test the same databases and queries every time.
fn configuration(default_cases: u32) -> ProptestConfig {
    let rng_seed = if cases().is_some() {
        RngSeed::Random
    } else {
        RngSeed::Fixed(1)
    };
    ProptestConfig {
        cases: cases().unwrap_or(default_cases),
        rng_seed,
        failure_persistence: None,
        max_shrink_iters: 4000,
        ..ProptestConfig::default()
    }
}

/// Generates the value of a cell as SQL.
fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("NULL".to_owned()),
        (-3..4_i64).prop_map(|number| number.to_string()),
        (-6..7_i32).prop_map(|quarters| format!("{:?}", f64::from(quarters) / 4.0)),
        "[ab1%_ ]{0,3}".prop_map(|text| format!("'{text}'")),
        // An integer that does not fit into 32 bits.
        Just("4000000000".to_owned()),
    ]
}

/// Generates the statements that create and fill two tables, the first one with an index.
fn tables() -> impl Strategy<Value = String> {
    let row = prop::collection::vec(cell(), 3)
        .prop_map(|cells| format!("({})", cells.join(", ")))
        .boxed();
    let rows = || prop::collection::vec(row.clone(), 1..12).prop_map(|rows| rows.join(", "));
    (rows(), rows()).prop_map(|(first, second)| {
        format!(
            "CREATE TABLE t (a, b INT, c TEXT COLLATE NOCASE); CREATE TABLE u (a REAL, b, d TEXT);
             CREATE INDEX t_b ON t (b); INSERT INTO t VALUES {first}; INSERT INTO u VALUES {second};"
        )
    })
}

/// Generates an expression from columns, values, operators and functions.
fn term() -> impl Strategy<Value = String> {
    let column = prop::sample::select(vec!["t.a", "t.b", "t.c", "u.a", "u.b", "u.d"]).prop_map(str::to_owned);
    let leaf = prop_oneof![3 => column, 1 => cell()];
    leaf.prop_recursive(2, 8, 2, |inner| {
        // Without division: different versions of SQLite write long fractions with different numbers of digits.
        let binary = prop::sample::select(vec!["+", "-", "*", "%", "||", "&"]);
        let function = prop::sample::select(vec!["abs", "length", "upper", "typeof", "quote", "coalesce(NULL, "]);
        prop_oneof![
            (inner.clone(), binary, inner.clone())
                .prop_map(|(left, operator, right)| format!("({left} {operator} {right})")),
            (function, inner).prop_map(|(name, argument)| {
                let parenthesis = if name.contains('(') { "" } else { "(" };
                format!("{name}{parenthesis}{argument})")
            }),
        ]
    })
}

/// Generates a condition for `ON` or `WHERE`.
fn condition() -> impl Strategy<Value = String> {
    let operator = prop::sample::select(vec!["=", "<>", "<", ">=", "IS", "IS NOT", "LIKE"]);
    prop_oneof![
        4 => (term(), operator, term()).prop_map(|(left, operator, right)| format!("{left} {operator} {right}")),
        1 => (term(), -3..2_i32, 0..4_i32).prop_map(|(value, low, high)| format!("{value} BETWEEN {low} AND {high}")),
        1 => (term(), cell(), cell()).prop_map(|(value, one, other)| format!("{value} NOT IN ({one}, {other})")),
        1 => term().prop_map(|value| format!("EXISTS (SELECT 1 FROM u v WHERE v.b = {value})")),
    ]
}

/// Generates a query that joins both tables: a plain `SELECT`, a `SELECT DISTINCT` or one with `GROUP BY`.
fn query() -> impl Strategy<Value = String> {
    let join = prop::sample::select(vec!["JOIN", "LEFT JOIN"]);
    let aggregate = prop::sample::select(vec![
        "count(u.b)",
        "sum(t.b)",
        "min(t.c)",
        "max(u.a)",
        "count(DISTINCT t.a)",
        "avg(u.a)",
    ]);
    let source = (join, condition(), condition())
        .prop_map(|(join, on, filter)| format!("FROM t {join} u ON {on} WHERE {filter}"))
        .boxed();
    prop_oneof![
        (term(), term(), source.clone())
            .prop_map(|(one, other, source)| format!("SELECT {one} AS x, {other} AS y {source}")),
        (term(), source.clone()).prop_map(|(one, source)| format!("SELECT DISTINCT {one} AS x {source}")),
        (term(), aggregate, source).prop_map(|(key, aggregate, source)| {
            format!("SELECT {key} AS x, {aggregate} AS y, count(*) AS z {source} GROUP BY 1 HAVING z > 1")
        }),
    ]
}

/// Returns the rows that SQLite answers, each as a JSON text, or the error of SQLite.
fn expected_rows(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(sql)?;
    let width = statement.column_count();
    let mut rows = statement.query([])?;
    let mut texts = Vec::new();
    while let Some(row) = rows.next()? {
        let cells: Vec<_> = (0..width)
            .map(|column| to_comparable(sql, &to_json(row.get_ref(column).unwrap())))
            .collect();
        texts.push(json!(cells).to_string());
    }
    Ok(texts)
}

fn to_json(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        // SQLite and the engine of the tool may parse a number in a text to floats that differ in their last digits.
        ValueRef::Real(number) if number.is_finite() => round(number),
        ValueRef::Real(number) => number.to_string().into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        ValueRef::Blob(bytes) => format!("blob of {} bytes", bytes.len()).into(),
    }
}

fn round(number: f64) -> Value {
    // Adding 0.0 makes a negative zero positive, because SQL does not tell the two zeros apart.
    (format!("{number:.9e}").parse::<f64>().unwrap() + 0.0).into()
}

/// Returns a cell in the form in which both results are compared: floats are rounded. If the query finds equal values, small
/// integers become floats too, because one group can have equal values such as 0 and 0.0, and SQL does not say which of them is
/// in the result.
fn to_comparable(sql: &str, cell: &Value) -> Value {
    let words = [
        "GROUP BY",
        "DISTINCT",
        "UNION ",
        "EXCEPT",
        "INTERSECT",
        "min(",
        "max(",
        "OVER",
    ];
    let finds_equal_values = words.iter().any(|word| sql.contains(word));
    match cell.as_i64() {
        Some(number) if finds_equal_values && i32::try_from(number).is_ok() => cell.as_f64().map_or(Value::Null, round),
        None if cell.is_string() => {
            let text = round_numbers(cell.as_str().unwrap_or_default());
            // One group can have texts that are equal only in a collation.
            if finds_equal_values {
                text.to_lowercase().trim_end().to_owned()
            } else {
                text
            }
            .into()
        }
        None if cell.is_f64() => cell.as_f64().map_or(Value::Null, round),
        _ => cell.clone(),
    }
}

/// Rounds the fractions in a text. SQLite writes those in JSON with more digits since version 3.52.
fn round_numbers(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_digit() || ".eE+-".contains(c);
    let parts = text.split_inclusive(|c| !is_part(c)).map(|part| {
        let number = part.trim_end_matches(|c| !is_part(c));
        match number.parse::<f64>() {
            Ok(value) if number.contains(['.', 'e', 'E']) => {
                format!("{value:.9e}{}", part.get(number.len()..).unwrap_or_default())
            }
            _ => part.to_owned(),
        }
    });
    parts.collect()
}

/// Checks that the tool answers a query as SQLite does, or says that it cannot answer it.
fn check(setup: &str, sql: &str) -> Result<(), TestCaseError> {
    check_query(&TestDatabase::new(setup), setup, sql)
}

fn check_query(database: &TestDatabase, setup: &str, sql: &str) -> Result<(), TestCaseError> {
    let answer = art_sdk::testing::call(&SQLITE_QUERY, database.input(json!({"sql": sql, "limit": 1000})));
    let is_one_of = |message: &str, parts: &[&str]| parts.iter().any(|part| message.contains(part));
    match (expected_rows(&database.writer, sql), answer) {
        (Ok(expected), art_sdk::Outcome::Success(reply)) => check_rows(setup, sql, expected, &reply.output),
        (Err(_), art_sdk::Outcome::Failure(_)) => Ok(()),
        (Err(error), _) if is_one_of(&error.to_string(), &REFUSALS_OF_SQLITE) => Ok(()),
        (Ok(_), art_sdk::Outcome::Failure(error)) if is_one_of(&error.message, &REFUSALS) => Ok(()),
        (expected, answer) => Err(TestCaseError::fail(format!("{setup} {sql}: {expected:?} {answer:?}"))),
    }
}

fn check_rows(setup: &str, sql: &str, mut expected: Vec<String>, output: &Value) -> Result<(), TestCaseError> {
    // The rows over the limit of the tool are any of the rows.
    if output["truncated"] == true {
        return Ok(());
    }
    let cells = |row: &Value| -> Vec<Value> {
        let cells = row.as_object().unwrap().values();
        cells.map(|cell| to_comparable(sql, cell)).collect()
    };
    let rows = output["rows"].as_array().unwrap();
    let mut rows: Vec<_> = rows.iter().map(|row| json!(cells(row)).to_string()).collect();
    // A query with `LIMIT` orders its rows by all columns.
    if !sql.contains("LIMIT") {
        rows.sort();
        expected.sort();
    }
    prop_assert_eq!(rows, expected, "{} {}", setup, sql);
    Ok(())
}

/// Creates a database for the grammar, unless SQLite refuses one of the statements.
fn generated_database(setup: &str) -> rusqlite::Result<TestDatabase> {
    let database = TestDatabase::new("");
    write_as_the_engine(&database.writer);
    database.writer.execute_batch(setup)?;
    Ok(database)
}

/// Makes SQLite write floats with 15 digits, as it did before version 3.52 and as the engine does.
#[expect(unsafe_code, reason = "this setting has no function in `rusqlite`")]
fn write_as_the_engine(connection: &Connection) {
    let mut digits = 0;
    // SAFETY: the connection is open, and this setting takes a number and a pointer to a number.
    unsafe {
        rusqlite::ffi::sqlite3_db_config(
            connection.handle(),
            rusqlite::ffi::SQLITE_DBCONFIG_FP_DIGITS,
            15,
            std::ptr::from_mut::<i32>(&mut digits),
        );
    }
}

#[test]
fn integers_and_equal_floats_form_one_group() {
    let setup = "CREATE TABLE t (a); INSERT INTO t VALUES (0), (0.0), (0), (1), (2.5)";
    for sql in [
        "SELECT a AS x, count(*) AS z FROM t GROUP BY 1",
        "SELECT DISTINCT a AS x FROM t",
    ] {
        check(setup, sql).unwrap();
    }
}

/// Queries that were answered wrongly before.
#[test]
fn wrong_answers_are_refused_or_mended() {
    let setup = "
        CREATE TABLE t (id INTEGER PRIMARY KEY, a, s TEXT);
        INSERT INTO t VALUES (1, 1, 'x'), (2, NULL, NULL), (3, '1', '1'), (4, 2, '2');
        CREATE TABLE u (b, c INT, d TEXT COLLATE NOCASE); INSERT INTO u VALUES (1, 1, 'X'), (NULL, NULL, NULL);
        CREATE TABLE e (b, c INT); CREATE VIEW v AS SELECT id, s FROM t;";
    for sql in [
        // A number and a text are compared, and one of them is a column of a subquery, a view or a function.
        "SELECT t.id FROM t JOIN (SELECT c AS n FROM u) w ON w.n = t.s",
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT n.i FROM n JOIN t ON n.i = t.s",
        "SELECT v.id FROM v WHERE s BETWEEN 0 AND 2",
        "SELECT x.n > x.m FROM (SELECT CAST(id AS INTEGER) AS n, s || '' AS m FROM t) x",
        "SELECT key FROM json_each('[1,2]') WHERE fullkey >= 1",
        "SELECT id FROM t WHERE id IN (SELECT d FROM u)",
        // An aggregate of the outer query.
        "SELECT (SELECT count(t.a) FROM u) FROM t",
        // A null in a correlated `IN`.
        "SELECT id FROM t WHERE a NOT IN (SELECT b FROM e WHERE e.c = t.id)",
        "SELECT count(*) OVER () AS n FROM t WHERE a NOT IN (SELECT b FROM e)",
        "SELECT id, a IN (SELECT b FROM e) AS x, (SELECT count(*) FROM u) AS y, printf('%d', a COLLATE BINARY) FROM t",
        "WITH w (b) AS (SELECT b FROM e) SELECT count(*) OVER () AS n FROM t WHERE a NOT IN (SELECT b FROM w)",
        "SELECT id FROM t WHERE a NOT IN (SELECT b FROM e WHERE c > date('now'))",
        "SELECT id, a IS NULL || 'x' FROM t",
        // A collation of the wrong column.
        "SELECT id, (SELECT count(*) FROM u WHERE t.s = u.d) FROM t",
        "SELECT id FROM t WHERE s IN ('X' COLLATE NOCASE)",
        "SELECT b FROM u WHERE d IS 'x'",
        "SELECT b FROM u WHERE +d = 'x'",
        "SELECT CASE CAST(d AS TEXT) WHEN 'x' THEN 1 END FROM u",
        "SELECT nullif(d, 'x') FROM u",
        "SELECT group_concat(CAST(d AS TEXT), ',' ORDER BY CAST(d AS TEXT)) FROM u",
        "SELECT DISTINCT +d FROM u",
        "SELECT min(s COLLATE NOCASE) OVER (ORDER BY id) FROM (SELECT 1 AS id, 'a' AS s UNION ALL SELECT 2, '[')",
        "SELECT +(d COLLATE RTRIM) FROM u GROUP BY 1",
        "SELECT lower('X') UNION SELECT d FROM u",
        "SELECT count(*) OVER (PARTITION BY substr(s COLLATE NOCASE, 1, 1)) FROM t",
        "SELECT count(DISTINCT d) FROM (SELECT d FROM u UNION ALL SELECT 'x')",
        "SELECT b FROM u WHERE EXISTS (SELECT 1 FROM t WHERE u.d = 'x')",
        "SELECT printf(a, 1) FROM t",
        "SELECT printf('%5s', 'é')",
        "SELECT date('2024-02-29', 'julianday')",
        "SELECT json_group_array(x'00' ORDER BY 1)",
        "SELECT json_group_array(value) FROM json_each('[[1]]')",
        "SELECT json_array(coalesce(json('[1]'), 1))",
    ] {
        check(setup, sql).unwrap();
    }
    let collated_key =
        "CREATE TABLE k (a, b, c, PRIMARY KEY (b COLLATE NOCASE, a)) WITHOUT ROWID; CREATE INDEX k_c ON k (c, b);
        INSERT INTO k VALUES (1, 'a', 2), (1, 1, 2);";
    check(collated_key, "SELECT a, b FROM k WHERE c = 2").unwrap();
    let utf16 = format!("PRAGMA encoding = 'UTF-16le'; {setup}");
    for sql in [
        "SELECT CAST(s AS BLOB) FROM t",
        "SELECT hex(s) FROM t",
        "SELECT octet_length(s) FROM t",
    ] {
        check(&utf16, sql).unwrap();
    }
}

/// Queries that are answered although they resemble those that are refused.
#[test]
fn usual_queries_are_answered() {
    let database = TestDatabase::new(SHOP_TABLES);
    for sql in [
        "WITH m AS (SELECT strftime('%Y-%m', placed) AS month, sum(amount) AS total FROM orders GROUP BY 1)
         SELECT m.month, m.total FROM m JOIN orders o ON strftime('%Y-%m', o.placed) = m.month WHERE m.total > 10",
        "SELECT c.name, s.n FROM customers c JOIN (SELECT customer_id, count(*) AS n FROM orders GROUP BY customer_id) s
         ON s.customer_id = c.id WHERE s.n >= 1",
        "WITH RECURSIVE d (day) AS (SELECT '2026-01-01' UNION ALL SELECT date(day, '+1 day') FROM d WHERE day < '2026-03-01')
         SELECT d.day, o.amount FROM d JOIN orders o ON o.placed = d.day",
        "SELECT name FROM customers WHERE country NOT IN (SELECT country FROM customers WHERE id = 1)",
        "SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders WHERE customer_id = c.id)",
        "SELECT name, (SELECT max(amount) FROM orders o WHERE o.customer_id = c.id) AS m FROM customers c WHERE m > 1",
        "SELECT id, sum(amount) OVER (ORDER BY placed ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM orders",
        "SELECT large.id FROM large JOIN orders USING (id) WHERE amount > (SELECT avg(amount) FROM orders)",
        "SELECT value FROM json_each('[1,2]') WHERE value > 1",
        "SELECT json_extract(value, '$.a') FROM json_each('[{\"a\":1}]')",
        "SELECT json_group_array(json_object('id', id)) FROM orders",
        "SELECT printf('%05.2f of %d, %s', 1.5, 2, 'x')",
    ] {
        let answer = art_sdk::testing::call(&SQLITE_QUERY, database.input(json!({ "sql": sql })));
        assert!(matches!(answer, art_sdk::Outcome::Success(_)), "{sql}: {answer:?}");
        check(SHOP_TABLES, sql).unwrap();
    }
}

/// Generates decisions for the grammar.
fn decisions(most: usize) -> impl Strategy<Value = Vec<u16>> {
    prop::collection::vec(any::<u16>(), 0..most)
}

proptest! {
    #![proptest_config(configuration(100))]

    #[test]
    fn every_answer_is_that_of_sqlite(setup in tables(), sql in query()) {
        check(&setup, &sql)?;
    }
}

proptest! {
    #![proptest_config(configuration(30))]

    #[test]
    fn every_answer_to_generated_sql_is_that_of_sqlite(database in decisions(320), queries in prop::collection::vec(decisions(140), 8)) {
        let setup = Grammar::new(&database).database();
        let Ok(test_database) = generated_database(&setup) else {
            return Ok(());
        };
        for query in &queries {
            let mut grammar = Grammar::new(&database);
            grammar.database();
            grammar.continue_with(query);
            check_query(&test_database, &setup, &grammar.query())?;
        }
    }
}
