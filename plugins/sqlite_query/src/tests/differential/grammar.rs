//! Writes random databases and queries in the SQL of SQLite.
//!
//! Every decision takes the next number of a list. When the list ends, each decision takes its first and simplest option, so that
//! a shorter list with smaller numbers leads to simpler SQL. This is how proptest makes a failing example smaller.

use std::fmt::Write as _;

/// How deep expressions and subqueries are nested at most.
const MAX_DEPTH: u32 = 3;

const SMALL_VALUES: &[&str] = &["1", "NULL", "0", "2", "-1", "3", "'a'", "'b'", "1.0", "0.5", "''"];

const VALUES: &[&str] = &[
    "1",
    "NULL",
    "0",
    "2",
    "-3",
    "1.0",
    "0.5",
    "-2.25",
    "1e10",
    "1234.5",
    "4000000000",
    "9007199254740993",
    "-9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "'a'",
    "'A'",
    "'b'",
    "''",
    "'a '",
    "'B  '",
    "'ä'",
    "'Ä'",
    "'日本'",
    "'naïve 😀'",
    "'it''s'",
    "'1'",
    "'12'",
    "' 7'",
    "'1.5'",
    "'0x10'",
    "'9007199254740993'",
    "'12abc'",
    "'a%b_c'",
    "'[x]*?'",
    "'2024-02-29'",
    "'2026-01-31 12:34:56.789'",
    "'2026-01-31T23:59:59+02:00'",
    "'10:20'",
    "'{\"a\":1,\"b\":[1,2.5,null,\"x\"]}'",
    "'[3,\"y\",{\"c\":true}]'",
];

const TYPES: &[&str] = &[
    "",
    "INT",
    "TEXT",
    "REAL",
    "NUMERIC",
    "BLOB",
    "TEXT COLLATE NOCASE",
    "TEXT COLLATE RTRIM",
    "DATE",
    "BOOLEAN",
    "VARCHAR(10)",
    "DECIMAL(10,2)",
    "COLLATE NOCASE",
    "BIGINT",
    "DOUBLE PRECISION",
];

const COLLATIONS: &[&str] = &["BINARY", "NOCASE", "RTRIM"];

/// Functions of one argument.
const UNARY_FUNCTIONS: &[&str] = &[
    "abs",
    "length",
    "upper",
    "lower",
    "typeof",
    "quote",
    "hex",
    "trim",
    "ltrim",
    "rtrim",
    "round",
    "unicode",
    "sign",
    "date",
    "time",
    "datetime",
    "julianday",
    "unixepoch",
    "likely",
    "octet_length",
    "json_valid",
    "json_type",
    "json_array_length",
    "json",
];

/// Functions of two arguments.
const BINARY_FUNCTIONS: &[&str] = &[
    "coalesce", "ifnull", "nullif", "min", "max", "instr", "round", "trim", "ltrim", "rtrim", "glob", "like", "concat",
    "iif", "unhex",
];

const FORMATS: &[&str] = &[
    "%d", "%5d|", "%-5d|", "%05d", "%+d", "%x", "%o", "%s", "%.2f", "%10.3f", "%e", "%g", "%q", "%Q", "%%", "%,d",
    "%w", "%!.15g", "%i", "%u",
];

const TIME_FORMATS: &[&str] = &[
    "%Y-%m-%d", "%H:%M:%S", "%j", "%W", "%w", "%s", "%f", "%J", "%Y", "%m/%d", "%G-%V", "%u", "%e", "%I %p", "%R",
    "%T", "%k", "%l", "%U", "%F", "%P",
];

const TIMES: &[&str] = &[
    "'2024-02-29'",
    "'2026-01-31 12:34:56.789'",
    "'2025-12-31 23:59:59'",
    "'1969-07-20T20:17:40Z'",
    "'2026-01-31T23:59:59+02:00'",
    "2460000.5",
    "1700000000",
    "'2024-02-30'",
    "'10:20'",
    "'9999-12-31'",
    "'2026-1-3'",
];

const MODIFIERS: &[&str] = &[
    "+1 day",
    "-1 month",
    "+1 year",
    "start of month",
    "start of year",
    "start of day",
    "weekday 0",
    "weekday 3",
    "-7 days",
    "+90 minutes",
    "-1.5 hours",
    "+3 seconds",
    "unixepoch",
    "auto",
    "+02:30",
    "-0001-01-02",
    "subsec",
    "ceiling",
    "floor",
    "+0.5 months",
];

const JSON_PATHS: &[&str] = &[
    "$", "$.a", "$.b", "$.b[1]", "$[0]", "$[#-1]", "$.b[#-1]", "$[2].c", "$.x.y",
];

const CAST_TYPES: &[&str] = &["INTEGER", "TEXT", "REAL", "VARCHAR(3)", "INT"];

const AGGREGATES: &[&str] = &["count", "sum", "min", "max", "avg", "total"];

const BINARY_OPERATORS: &[&str] = &[
    "+",
    "-",
    "*",
    "/",
    "%",
    "||",
    "&",
    "|",
    "<<",
    ">>",
    "=",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "IS",
    "IS NOT",
    "AND",
    "OR",
    "==",
    "!=",
    "IS DISTINCT FROM",
    "IS NOT DISTINCT FROM",
];

const COMPARISONS: &[&str] = &["=", "<", "<>", ">=", "IS", "IS NOT", ">", "<="];

const TIME_FUNCTIONS: &[&str] = &["date", "time", "datetime", "julianday", "unixepoch"];

/// Replaces blobs by null, because the engine does not read them as JSON and as times.
fn without_blobs(expression: &str) -> String {
    format!("CASE WHEN typeof({expression}) <> 'blob' THEN {expression} END")
}

/// A table, view or subquery that a query can name, with its columns.
#[derive(Clone)]
struct Source {
    name: String,
    columns: Vec<String>,
}

/// Writes SQL from a list of decisions.
pub(super) struct Grammar<'d> {
    decisions: std::slice::Iter<'d, u16>,
    tables: Vec<Source>,
    /// Whether the database stores texts in UTF-16.
    is_utf16: bool,
    /// The number of names that were made, so that each is new.
    names: usize,
}

impl<'d> Grammar<'d> {
    pub(super) fn new(decisions: &'d [u16]) -> Self {
        Self {
            decisions: decisions.iter(),
            tables: Vec::new(),
            is_utf16: false,
            names: 0,
        }
    }

    /// Takes the next decisions from another list.
    pub(super) fn continue_with(&mut self, decisions: &'d [u16]) {
        self.decisions = decisions.iter();
    }

    /// Takes a decision between `count` options.
    fn choose(&mut self, count: usize) -> usize {
        self.decisions
            .next()
            .map_or(0, |decision| usize::from(*decision) % count)
    }

    /// Decides with a probability of one to `count`. It decides against when the list of decisions has ended.
    fn rarely(&mut self, count: usize) -> bool {
        self.choose(count) == count - 1
    }

    fn pick<'p>(&mut self, options: &[&'p str]) -> &'p str {
        options[self.choose(options.len())]
    }

    fn new_name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn value(&mut self) -> String {
        // SQLite reads a blob as text in the encoding of the database, but the engine always in UTF-8.
        if !self.is_utf16 && self.rarely(20) {
            return "x'6162'".to_owned();
        }
        self.text_or_number()
    }

    fn text_or_number(&mut self) -> String {
        let options = if self.choose(2) == 0 { SMALL_VALUES } else { VALUES };
        self.pick(options).to_owned()
    }

    /// Writes the statements that create and fill a database.
    pub(super) fn database(&mut self) -> String {
        let mut sql = String::new();
        self.is_utf16 = self.rarely(8);
        if self.is_utf16 {
            sql.push_str("PRAGMA encoding = 'UTF-16le'; ");
        }
        if self.rarely(8) {
            sql.push_str("PRAGMA page_size = 512; ");
        }
        for number in 0..=self.choose(3) {
            self.table(number, &mut sql);
        }
        if self.rarely(3) {
            self.view(&mut sql);
        }
        if self.rarely(6) {
            sql.push_str("ANALYZE; ");
        }
        sql
    }

    fn table(&mut self, number: usize, sql: &mut String) {
        let name = format!("t{number}");
        let mut columns: Vec<_> = ["a", "b", "c", "d"][..2 + self.choose(3)]
            .iter()
            .map(ToString::to_string)
            .collect();
        let kind = self.choose(6);
        let has_integer_key = matches!(kind, 1 | 2);
        let mut definitions: Vec<_> = columns
            .iter()
            .map(|column| format!("{column} {}", self.pick(TYPES)))
            .collect();
        match kind {
            _ if has_integer_key => definitions[0] = "a INTEGER PRIMARY KEY".to_owned(),
            3 => definitions.push("PRIMARY KEY (a)".to_owned()),
            4 => definitions.push(
                self.pick(&[
                    "PRIMARY KEY (a, b)",
                    "PRIMARY KEY (b DESC)",
                    "PRIMARY KEY (b COLLATE NOCASE, a)",
                ])
                .to_owned(),
            ),
            _ => {}
        }
        if self.rarely(5) {
            let stored = self.pick(&["VIRTUAL", "STORED"]);
            let expression = self.pick(&["a + 1", "a || b", "upper(b)", "abs(a)", "b IS NULL"]);
            definitions.insert(
                columns.len(),
                format!("g {} AS ({expression}) {stored}", self.pick(TYPES)),
            );
        }
        let without_rowid = if matches!(kind, 3 | 4) && self.choose(2) == 1 {
            " WITHOUT ROWID"
        } else {
            ""
        };
        write!(sql, "CREATE TABLE {name} ({}){without_rowid}; ", definitions.join(", ")).unwrap();
        let has_generated = definitions.iter().any(|definition| definition.starts_with("g "));
        let plain_columns = columns.clone();
        if has_generated {
            columns.push("g".to_owned());
        }
        self.indices(&name, &columns, sql);
        self.rows(&name, &plain_columns, has_integer_key, sql);
        if self.rarely(8) {
            write!(
                sql,
                "ALTER TABLE {name} ADD COLUMN e {} DEFAULT {}; ",
                self.pick(TYPES),
                self.value()
            )
            .unwrap();
            columns.push("e".to_owned());
            let more_rows = [plain_columns, vec!["e".to_owned()]].concat();
            self.rows(&name, &more_rows, has_integer_key, sql);
        }
        if self.rarely(8) {
            write!(sql, "DELETE FROM {name} WHERE a = {}; ", self.value()).unwrap();
        }
        self.tables.push(Source { name, columns });
    }

    fn indices(&mut self, table: &str, columns: &[String], sql: &mut String) {
        for number in 0..self.choose(3) {
            let mut terms = Vec::new();
            for _ in 0..=self.choose(2) {
                let chosen = self.choose(columns.len());
                let column = &columns[chosen];
                let term = match self.choose(6) {
                    1 => format!("{column} DESC"),
                    2 => format!("{column} COLLATE {}", self.pick(COLLATIONS)),
                    3 => format!("lower({column})"),
                    _ => column.clone(),
                };
                terms.push(term);
            }
            let partial = if self.rarely(5) {
                format!(" WHERE {} {}", columns[0], self.pick(&["IS NOT NULL", "> 0", "< 'b'"]))
            } else {
                String::new()
            };
            write!(
                sql,
                "CREATE INDEX {table}_i{number} ON {table} ({}){partial}; ",
                terms.join(", ")
            )
            .unwrap();
        }
    }

    fn rows(&mut self, table: &str, columns: &[String], has_integer_key: bool, sql: &mut String) {
        let names = columns.join(", ");
        for _ in 0..self.choose(9) {
            let mut cells: Vec<_> = columns.iter().map(|_| self.value()).collect();
            if has_integer_key {
                cells[0] = self.pick(&["NULL", "1", "2", "7", "-5", "9007199254740993"]).to_owned();
            }
            write!(
                sql,
                "INSERT OR IGNORE INTO {table} ({names}) VALUES ({}); ",
                cells.join(", ")
            )
            .unwrap();
        }
    }

    fn view(&mut self, sql: &mut String) {
        let (select, width) = self.select(1, &[], None);
        let columns: Vec<_> = ["v", "w", "x", "y", "z"][..width]
            .iter()
            .map(ToString::to_string)
            .collect();
        write!(sql, "CREATE VIEW v0 ({}) AS {select}; ", columns.join(", ")).unwrap();
        self.tables.push(Source {
            name: "v0".to_owned(),
            columns,
        });
    }

    /// Writes a whole query.
    pub(super) fn query(&mut self) -> String {
        let tables = self.tables.len();
        let with = if self.rarely(4) { self.with() } else { String::new() };
        let (mut sql, width) = self.select(0, &[], None);
        let compounds = self.choose(6).saturating_sub(4);
        let is_compound = compounds > 0;
        for _ in 0..compounds {
            let operator = self.pick(&["UNION ALL", "UNION", "EXCEPT", "INTERSECT"]);
            sql = format!("{sql} {operator} {}", self.select(1, &[], Some(width)).0);
        }
        let mut order_terms = Vec::new();
        let limits = self.rarely(5);
        if limits || self.rarely(3) {
            // A limited result is only the same if the order of all rows is.
            let ordered_columns = if limits { width } else { 1 + self.choose(width) };
            for column in 1..=ordered_columns {
                let collation = if limits || is_compound {
                    ""
                } else {
                    self.pick(&["", " COLLATE NOCASE", " COLLATE RTRIM"])
                };
                let direction = self.pick(&["", " DESC", " NULLS LAST", " DESC NULLS FIRST", " ASC"]);
                order_terms.push(format!("{column}{collation}{direction}"));
            }
            write!(sql, " ORDER BY {}", order_terms.join(", ")).unwrap();
        }
        if limits {
            write!(sql, " LIMIT {}", self.pick(&["2", "1", "0", "-1", "3 + 1"])).unwrap();
            if self.choose(2) == 1 {
                write!(sql, " OFFSET {}", self.pick(&["1", "0", "3", "-1"])).unwrap();
            }
        }
        if order_terms.is_empty() && self.rarely(12) {
            sql = format!("SELECT count(*) FROM ({sql})");
        }
        self.tables.truncate(tables);
        format!("{with}{sql}")
    }

    fn with(&mut self) -> String {
        let name = self.new_name("w");
        if self.choose(3) == 2 {
            let limit = self.pick(&["3", "5", "0"]);
            let union = self.pick(&["UNION ALL", "UNION"]);
            self.tables.push(Source {
                name: name.clone(),
                columns: vec!["n".to_owned(), "m".to_owned()],
            });
            let start = self.value();
            let step = self.pick(&["m + 1", "m || 'x'", "n * 2", "NULL", "m"]);
            return format!(
                "WITH RECURSIVE {name}(n, m) AS (SELECT 1, {start} {union} SELECT n + 1, {step} FROM {name} WHERE n < {limit}) "
            );
        }
        let (select, width) = self.select(1, &[], None);
        let columns: Vec<_> = ["k", "l", "m", "n", "o"][..width]
            .iter()
            .map(ToString::to_string)
            .collect();
        let hint = self.pick(&["", "MATERIALIZED ", "NOT MATERIALIZED "]);
        let with = format!("WITH {name}({}) AS {hint}({select}) ", columns.join(", "));
        self.tables.push(Source { name, columns });
        with
    }

    /// Writes a `SELECT` with the columns of `outer` in scope. Returns it with the number of its columns.
    fn select(&mut self, depth: u32, outer: &[String], width: Option<usize>) -> (String, usize) {
        if self.rarely(30) {
            return self.values(width);
        }
        let width = width.unwrap_or_else(|| 1 + self.choose(3));
        let (from, own) = self.from(depth, outer);
        let scope = [&own, outer].concat();
        let filter = if self.choose(3) == 1 {
            format!(" WHERE {}", self.condition(depth + 1, &scope))
        } else {
            String::new()
        };
        let sql = match self.choose(6) {
            3 => self.grouped(&from, &filter, depth, &own, width),
            4 => self.aggregated(&from, &filter, depth, &own, width),
            5 => self.windowed(&from, &filter, depth, &own, width),
            kind => {
                let distinct = if kind == 2 { "DISTINCT " } else { "" };
                let columns: Vec<_> = (0..width).map(|_| self.expression(depth, &scope)).collect();
                format!("SELECT {distinct}{}{from}{filter}", columns.join(", "))
            }
        };
        (sql, width)
    }

    fn values(&mut self, width: Option<usize>) -> (String, usize) {
        let width = width.unwrap_or(2);
        let mut rows = Vec::new();
        for _ in 0..=self.choose(3) {
            let cells: Vec<_> = (0..width).map(|_| self.value()).collect();
            rows.push(format!("({})", cells.join(", ")));
        }
        (format!("VALUES {}", rows.join(", ")), width)
    }

    fn grouped(&mut self, from: &str, filter: &str, depth: u32, scope: &[String], width: usize) -> String {
        let key = self.expression(depth + 1, scope);
        let mut columns = vec![key.clone()];
        while columns.len() < width {
            columns.push(self.aggregate(depth + 1, scope));
        }
        let is_number = key.parse::<f64>().is_ok();
        let group = if is_number || self.choose(2) == 0 {
            "1".to_owned()
        } else {
            key
        };
        let having = if self.rarely(3) {
            format!(
                " HAVING {} {} {}",
                self.aggregate(depth + 1, scope),
                self.pick(COMPARISONS),
                self.value()
            )
        } else {
            String::new()
        };
        format!("SELECT {}{from}{filter} GROUP BY {group}{having}", columns.join(", "))
    }

    fn aggregated(&mut self, from: &str, filter: &str, depth: u32, scope: &[String], width: usize) -> String {
        let columns: Vec<_> = (0..width).map(|_| self.aggregate(depth + 1, scope)).collect();
        format!("SELECT {}{from}{filter}", columns.join(", "))
    }

    fn aggregate(&mut self, depth: u32, scope: &[String]) -> String {
        let argument = self.expression(depth + 1, scope);
        let filter = if self.rarely(4) {
            format!(" FILTER (WHERE {})", self.condition(depth + 1, scope))
        } else {
            String::new()
        };
        let distinct = if self.rarely(4) { "DISTINCT " } else { "" };
        match self.choose(9) {
            0 => format!("count(*){filter}"),
            1 => format!("group_concat({argument}, ',' ORDER BY typeof({argument}), {argument}){filter}"),
            2 => format!(
                "json_array_length(json_group_array({}){filter})",
                without_blobs(&argument)
            ),
            3 => format!("length(group_concat({distinct}{argument}))"),
            _ => format!("{}({distinct}{argument}){filter}", self.pick(AGGREGATES)),
        }
    }

    fn windowed(&mut self, from: &str, filter: &str, depth: u32, scope: &[String], width: usize) -> String {
        let mut columns = Vec::new();
        // All columns order the rows, so that rows that are equal in this order are equal altogether.
        let order = scope.iter().take(6).cloned().collect::<Vec<_>>().join(", ");
        for _ in 0..width {
            columns.push(match self.choose(3) {
                0 => self.window(depth, scope, &order),
                _ => self.expression(depth + 1, scope),
            });
        }
        format!("SELECT {}{from}{filter}", columns.join(", "))
    }

    fn window(&mut self, depth: u32, scope: &[String], order: &str) -> String {
        let argument = self.expression(depth + 1, scope);
        let partition = if self.choose(2) == 1 {
            format!("PARTITION BY {} ", self.expression(depth + 1, scope))
        } else {
            String::new()
        };
        let order = if order.is_empty() {
            String::new()
        } else {
            format!("ORDER BY {order}")
        };
        let function = match self.choose(10) {
            0 => return format!("{}({argument}) OVER ({partition})", self.pick(AGGREGATES)),
            1 => "rank()".to_owned(),
            2 => "dense_rank()".to_owned(),
            3 => "percent_rank()".to_owned(),
            4 => "cume_dist()".to_owned(),
            5 => format!("{}({argument})", self.pick(AGGREGATES)),
            6 => return format!("count({argument}) OVER ({partition}{order} {})", self.frame()),
            7 => {
                return format!(
                    "{}({argument}) OVER ({partition}{order} {})",
                    self.pick(AGGREGATES),
                    self.frame()
                );
            }
            8 => format!("first_value({argument})"),
            _ => format!("max({argument}) FILTER (WHERE {})", self.condition(depth + 1, scope)),
        };
        format!("{function} OVER ({partition}{order})")
    }

    fn frame(&mut self) -> String {
        // The rows of one peer group may be in any order, so the frame begins and ends with whole groups.
        let mode = self.pick(&["RANGE", "GROUPS"]);
        let (start, end) = if mode == "RANGE" {
            (
                self.pick(&["UNBOUNDED PRECEDING", "CURRENT ROW"]),
                self.pick(&["CURRENT ROW", "UNBOUNDED FOLLOWING"]),
            )
        } else {
            (
                self.pick(&["UNBOUNDED PRECEDING", "1 PRECEDING", "CURRENT ROW", "2 PRECEDING"]),
                self.pick(&["CURRENT ROW", "UNBOUNDED FOLLOWING", "1 FOLLOWING", "2 FOLLOWING"]),
            )
        };
        let exclude = self.pick(&["", "", " EXCLUDE GROUP", " EXCLUDE NO OTHERS"]);
        format!("{mode} BETWEEN {start} AND {end}{exclude}")
    }

    /// Writes a `FROM` clause, or nothing. Returns it with the columns that are in scope.
    fn from(&mut self, depth: u32, outer: &[String]) -> (String, Vec<String>) {
        if self.rarely(12) {
            return (String::new(), Vec::new());
        }
        let (first, mut scope) = self.source(depth, outer);
        let mut sql = format!(" FROM {first}");
        let joins = if depth > 1 { 0 } else { self.choose(5).saturating_sub(2) };
        for _ in 0..joins {
            let left = scope.clone();
            let (source, columns) = self.source(depth, outer);
            scope.extend(columns.iter().cloned());
            let join = self.pick(&[
                "JOIN",
                "LEFT JOIN",
                ",",
                "CROSS JOIN",
                "RIGHT JOIN",
                "FULL JOIN",
                "INNER JOIN",
            ]);
            let on = match (join, self.choose(3)) {
                (",", _) | ("CROSS JOIN", 0) => String::new(),
                (_, 0) => format!(" ON {} = {}", self.column(&left), self.column(&columns)),
                _ => format!(" ON {}", self.condition(depth + 2, &scope)),
            };
            write!(sql, " {join} {source}{on}").unwrap();
        }
        (sql, scope)
    }

    fn source(&mut self, depth: u32, outer: &[String]) -> (String, Vec<String>) {
        let alias = self.new_name("s");
        let qualified = |columns: &[String]| {
            columns
                .iter()
                .map(|column| format!("{alias}.{column}"))
                .collect::<Vec<_>>()
        };
        match self.choose(10) {
            8 if depth < 2 => {
                let (select, width) = self.select(depth + 1, &[], None);
                let names: Vec<_> = ["p", "q", "r", "s", "t"][..width]
                    .iter()
                    .map(ToString::to_string)
                    .collect();
                // A subquery cannot name its columns after its alias, so a CTE does.
                let inner = self.new_name("i");
                let sql = format!(
                    "(WITH {inner}({}) AS ({select}) SELECT * FROM {inner}) {alias}",
                    names.join(", ")
                );
                (sql, qualified(&names))
            }
            9 => {
                let json = match outer.first() {
                    Some(column) if self.rarely(4) => format!("CASE WHEN json_valid({column}) THEN {column} END"),
                    _ => self
                        .pick(&["'[1,2.5,\"x\",null,true]'", "'{\"a\":1,\"b\":[1,2]}'", "'[]'"])
                        .to_owned(),
                };
                let function = self.pick(&["json_each", "json_tree"]);
                let columns = ["key", "value", "type", "atom", "fullkey", "path"].map(str::to_owned);
                (format!("{function}({json}) {alias}"), qualified(&columns))
            }
            _ => {
                let chosen = self.choose(self.tables.len());
                let table = self.tables[chosen].clone();
                (format!("{} {alias}", table.name), qualified(&table.columns))
            }
        }
    }

    fn column(&mut self, scope: &[String]) -> String {
        if scope.is_empty() {
            return self.value();
        }
        let chosen = self.choose(scope.len());
        scope[chosen].clone()
    }

    /// Writes a condition of `WHERE`, `ON` or `FILTER`.
    fn condition(&mut self, depth: u32, scope: &[String]) -> String {
        match self.choose(4) {
            0 => format!("{} {} {}", self.column(scope), self.pick(COMPARISONS), self.value()),
            1 => format!(
                "{} {} {}",
                self.column(scope),
                self.pick(COMPARISONS),
                self.column(scope)
            ),
            2 if depth < MAX_DEPTH => {
                let operator = self.pick(&["AND", "OR"]);
                format!(
                    "({} {operator} {})",
                    self.condition(depth + 1, scope),
                    self.condition(depth + 1, scope)
                )
            }
            _ => self.predicate(depth, scope),
        }
    }

    fn predicate(&mut self, depth: u32, scope: &[String]) -> String {
        let not = if self.rarely(3) { "NOT " } else { "" };
        let value = self.expression(depth + 1, scope);
        match self.choose(11) {
            0 => format!("{value} IS {not}NULL"),
            1 => format!("{value} {not}IN ({}, {}, {})", self.value(), self.value(), self.value()),
            2 => format!(
                "{value} {not}BETWEEN {} AND {}",
                self.pick(&["0", "-1", "'a'", "1.5"]),
                self.pick(&["2", "'b'", "9e18"])
            ),
            3 => format!(
                "{value} {not}LIKE {}",
                self.pick(&["'a%'", "'%b%'", "'_'", "'%ä%'", "'1%'", "NULL", "''"])
            ),
            4 => format!(
                "{value} {not}LIKE {} ESCAPE '\\'",
                self.pick(&["'a\\%%'", "'%\\_%'", "'\\\\'"])
            ),
            5 => format!(
                "{value} {not}GLOB {}",
                self.pick(&["'a*'", "'?'", "'[a-c]*'", "'*[^a]'", "'[]x]*'", "'A*'"])
            ),
            6 if depth < MAX_DEPTH => format!("{not}EXISTS ({})", self.select(depth + 1, scope, None).0),
            7 if depth < MAX_DEPTH => format!("{value} {not}IN ({})", self.select(depth + 1, scope, Some(1)).0),
            8 => self.row_value(depth, scope),
            9 => format!("{not}({value})"),
            _ => format!(
                "{value} {} {}",
                self.pick(COMPARISONS),
                self.expression(depth + 1, scope)
            ),
        }
    }

    fn row_value(&mut self, depth: u32, scope: &[String]) -> String {
        let row = format!("({}, {})", self.column(scope), self.column(scope));
        match self.choose(3) {
            0 => format!(
                "{row} {} ({}, {})",
                self.pick(&["=", "<", "<=", ">", ">=", "<>", "IS"]),
                self.value(),
                self.value()
            ),
            1 if depth < MAX_DEPTH => format!("{row} IN ({})", self.select(depth + 1, scope, Some(2)).0),
            _ => format!(
                "{row} IN (VALUES ({}, {}), ({}, {}))",
                self.value(),
                self.value(),
                self.value(),
                self.value()
            ),
        }
    }

    fn expression(&mut self, depth: u32, scope: &[String]) -> String {
        let options = if depth >= MAX_DEPTH { 4 } else { 19 };
        match self.choose(options) {
            0..=2 => self.column(scope),
            3 => self.value(),
            4..=6 => {
                let operator = self.pick(BINARY_OPERATORS);
                let (left, right) = (self.expression(depth + 1, scope), self.expression(depth + 1, scope));
                if ["%", "&", "|", "<<", ">>"].contains(&operator) {
                    // The engine reads the exponent of a number in a text here, but SQLite does not.
                    return format!("(CAST({left} AS INTEGER) {operator} CAST({right} AS INTEGER))");
                }
                format!("({left} {operator} {right})")
            }
            7 => {
                let name = self.pick(UNARY_FUNCTIONS);
                let argument = self.expression(depth + 1, scope);
                let takes_blobs = !name.starts_with("json") && !TIME_FUNCTIONS.contains(&name);
                let argument = if takes_blobs {
                    argument
                } else {
                    without_blobs(&argument)
                };
                format!("{name}({argument})")
            }
            8 => self.binary_function(depth, scope),
            9 => format!(
                "CAST({} AS {})",
                self.expression(depth + 1, scope),
                self.pick(CAST_TYPES)
            ),
            10 => self.case(depth, scope),
            11 => format!("({})", self.predicate(depth + 1, scope)),
            12 => format!(
                "{}({})",
                self.pick(&["-", "+", "NOT ", "~unicode"]),
                self.expression(depth + 1, scope)
            ),
            13 => format!(
                "({} COLLATE {})",
                self.expression(depth + 1, scope),
                self.pick(COLLATIONS)
            ),
            14 => self.text_function(depth, scope),
            15 => self.time_function(scope),
            16 => self.json_function(depth, scope),
            17 => {
                let argument = self.expression(depth + 1, scope);
                format!("printf('{}', {argument})", self.pick(FORMATS))
            }
            _ => self.scalar_subquery(depth, scope),
        }
    }

    fn binary_function(&mut self, depth: u32, scope: &[String]) -> String {
        let name = self.pick(BINARY_FUNCTIONS);
        let first = self.expression(depth + 1, scope);
        let second = self.expression(depth + 1, scope);
        if name == "iif" {
            return format!("iif({first}, {second}, {})", self.value());
        }
        format!("{name}({first}, {second})")
    }

    fn case(&mut self, depth: u32, scope: &[String]) -> String {
        let result = self.expression(depth + 1, scope);
        let other = if self.choose(2) == 1 {
            format!(" ELSE {}", self.value())
        } else {
            String::new()
        };
        match self.choose(2) {
            0 => format!(
                "CASE WHEN {} THEN {result}{other} END",
                self.condition(depth + 1, scope)
            ),
            _ => format!(
                "CASE {} WHEN {} THEN {result}{other} END",
                self.expression(depth + 1, scope),
                self.value()
            ),
        }
    }

    fn text_function(&mut self, depth: u32, scope: &[String]) -> String {
        let text = self.expression(depth + 1, scope);
        match self.choose(4) {
            0 => format!(
                "substr({text}, {}, {})",
                self.pick(&["1", "0", "-2", "2", "NULL"]),
                self.pick(&["1", "2", "-1", "100", "0"])
            ),
            1 => format!("replace({text}, {}, {})", self.value(), self.value()),
            2 => format!(
                "concat_ws({}, {text}, {})",
                self.pick(&["','", "''", "NULL"]),
                self.value()
            ),
            _ => format!("{text} || {}", self.value()),
        }
    }

    fn time_function(&mut self, scope: &[String]) -> String {
        let time = if self.choose(3) == 2 {
            without_blobs(&self.column(scope))
        } else {
            self.pick(TIMES).to_owned()
        };
        let modifiers: String = (0..self.choose(3))
            .map(|_| format!(", '{}'", self.pick(MODIFIERS)))
            .collect();
        match self.choose(2) {
            0 => format!("strftime('{}', {time}{modifiers})", self.pick(TIME_FORMATS)),
            _ => format!("{}({time}{modifiers})", self.pick(TIME_FUNCTIONS)),
        }
    }

    fn json_function(&mut self, depth: u32, scope: &[String]) -> String {
        let json = match self.choose(3) {
            0 => self
                .pick(&["'{\"a\":1,\"b\":[1,2.5,null,\"x\"]}'", "'[3,\"y\",{\"c\":true}]'"])
                .to_owned(),
            1 => format!(
                "json_array({}, {})",
                without_blobs(&self.expression(depth + 1, scope)),
                self.text_or_number()
            ),
            _ => without_blobs(&self.expression(depth + 1, scope)),
        };
        let path = self.pick(JSON_PATHS);
        match self.choose(10) {
            0 => format!("json_extract({json}, '{path}')"),
            1 => format!("{json} -> '{path}'"),
            2 => format!("{json} ->> '{path}'"),
            3 => format!("json_type({json}, '{path}')"),
            4 => format!("json_set({json}, '{path}', {})", self.text_or_number()),
            5 => format!("json_remove({json}, '{path}')"),
            6 => format!("json_object('k', {json})"),
            7 => format!("json_insert({json}, '{path}', {})", self.text_or_number()),
            8 => format!("json_extract({json}, '{path}', '{}')", self.pick(JSON_PATHS)),
            _ => format!("json_patch({json}, '{{\"a\":null,\"z\":[1]}}')"),
        }
    }

    fn scalar_subquery(&mut self, depth: u32, scope: &[String]) -> String {
        let (from, own) = self.from(depth + 1, scope);
        let inner = [&own, scope].concat();
        let filter = if self.choose(2) == 1 {
            format!(" WHERE {}", self.condition(depth + 1, &inner))
        } else {
            String::new()
        };
        format!("(SELECT {}{from}{filter})", self.aggregate(depth + 1, &own))
    }
}
