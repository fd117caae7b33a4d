//! Compares the answers of the tool with those of SQLite itself, for random tables and queries.

use proptest::prelude::*;
use rusqlite::types::ValueRef;

use super::*;

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

/// Returns the rows that SQLite answers, sorted, each as a JSON text, or `None` if SQLite fails.
fn expected_rows(connection: &Connection, sql: &str) -> Option<Vec<String>> {
    let mut statement = connection.prepare(sql).ok()?;
    let width = statement.column_count();
    let mut rows = statement.query([]).ok()?;
    let mut texts = Vec::new();
    while let Some(row) = rows.next().ok()? {
        let cells: Vec<_> = (0..width)
            .map(|column| to_comparable(sql, &to_json(row.get_ref(column).unwrap())))
            .collect();
        texts.push(json!(cells).to_string());
    }
    texts.sort();
    Some(texts)
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

/// Returns a cell in the form in which both results are compared: floats are rounded. If the query has `GROUP BY` or `DISTINCT`,
/// integers become floats too, because one group can have equal values such as 0 and 0.0, and SQL does not say which of them is
/// in the result.
fn to_comparable(sql: &str, cell: &Value) -> Value {
    let has_groups = sql.contains("GROUP BY") || sql.contains("SELECT DISTINCT");
    cell.as_f64()
        .filter(|_| cell.is_f64() || has_groups)
        .map_or_else(|| cell.clone(), round)
}

/// Checks that the tool answers a query as SQLite does, or says that it cannot answer it.
fn check(setup: &str, sql: &str) -> Result<(), TestCaseError> {
    let database = TestDatabase::new(setup);
    let answer = art_sdk::testing::call(&SQLITE_QUERY, database.input(json!({"sql": sql, "limit": 1000})));
    match (expected_rows(&database.writer, sql), answer) {
        (Some(expected), art_sdk::Outcome::Success(reply)) => {
            let rows = reply.output["rows"].as_array().unwrap();
            let cells = |row: &Value| -> Vec<Value> {
                let cells = row.as_object().unwrap().values();
                cells.map(|cell| to_comparable(sql, cell)).collect()
            };
            let mut rows: Vec<_> = rows.iter().map(|row| json!(cells(row)).to_string()).collect();
            rows.sort();
            prop_assert_eq!(rows, expected, "{} {}", setup, sql);
        }
        (None, art_sdk::Outcome::Failure(_)) => {}
        // The tool refuses a query with this message if its engine does not implement it.
        (Some(_), art_sdk::Outcome::Failure(error)) if error.message.contains("not yet implemented") => {}
        (expected, answer) => prop_assert!(false, "{setup} {sql}: {expected:?} {answer:?}"),
    }
    Ok(())
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn every_answer_is_that_of_sqlite(setup in tables(), sql in query()) {
        check(&setup, &sql)?;
    }
}
