//! Runs the steps of a query: filter, group and aggregate, sort, limit, select columns.

use std::{cmp::Ordering, collections::HashSet};

use art_sdk::serde_json::{Map, Value};

use crate::{
    aggregate::{self, Plan},
    column::Column,
    error::CsvError,
    filter,
    input::{About, Aggregate, CsvQueryInput, Sort},
    number,
    output::CsvQueryOutput,
    table::Table,
};

/// Maximum number of returned rows.
const MAX_ROWS: usize = 1000;

/// Runs the query.
pub(crate) fn run(input: &CsvQueryInput) -> Result<CsvQueryOutput, CsvError> {
    let table = Table::read(input.csv.as_deref().unwrap_or_default(), input.delimiter.as_deref())?;
    if let Some(about) = input.about {
        return describe_table(input, &table, about);
    }
    check_conflicts(input)?;
    let matched = filter::matching_rows(&table, &input.filter)?;
    let query = Query {
        input,
        table: &table,
        notes: Vec::new(),
    };
    match query.plan(&matched)? {
        Some(plan) => query.aggregate_rows(plan, &matched),
        None => query.list_rows(matched),
    }
}

/// Fails for fields that would be ignored.
fn check_conflicts(input: &CsvQueryInput) -> Result<(), CsvError> {
    let is_combined = input.aggregate.is_some() || input.group_by.is_some();
    let pairs = [
        (input.distinct && is_combined, "distinct", "aggregate"),
        (input.superlative.is_some() && is_combined, "superlative", "aggregate"),
        (
            input.superlative.is_some() && input.sort.is_some(),
            "superlative",
            "sort",
        ),
        (
            input.superlative.is_some() && input.column.is_some(),
            "superlative",
            "column",
        ),
        (
            input.sort.is_some() && input.aggregate.is_some() && input.group_by.is_none(),
            "sort",
            "aggregate",
        ),
    ];
    match pairs.iter().find(|(is_wrong, ..)| *is_wrong) {
        Some((_, one, other)) => Err(CsvError::Together(one, other)),
        None => Ok(()),
    }
}

/// Returns the names of the columns, or how many there are.
fn describe_table(input: &CsvQueryInput, table: &Table, about: About) -> Result<CsvQueryOutput, CsvError> {
    let is_alone = input.aggregate.is_none() && input.group_by.is_none() && input.filter.is_empty();
    if !is_alone || input.sort.is_some() || input.columns.is_some() {
        return Err(CsvError::Together("about", "filter"));
    }
    let names = table.columns.iter().map(|column| Value::from(column.name.as_str()));
    let (name, values) = match about {
        About::Columns => ("column", names.collect()),
        About::ColumnCount => ("column_count", vec![Value::from(table.columns.len())]),
    };
    let row = |value: Value| [(name.to_owned(), value)].into_iter().collect();
    let rows = values.into_iter().map(row).collect();
    let query = Query {
        input,
        table,
        notes: Vec::new(),
    };
    Ok(query.finish(vec![name.to_owned()], rows, table.rows.len()))
}

struct Query<'a> {
    input: &'a CsvQueryInput,
    table: &'a Table,
    notes: Vec<String>,
}

impl<'a> Query<'a> {
    /// Returns the aggregate and its column; `None` for a query that only lists rows.
    fn plan(&self, matched: &[usize]) -> Result<Option<Plan<'a>>, CsvError> {
        let Some(aggregate) = self.aggregate()? else {
            return Ok(None);
        };
        if self.input.columns.as_ref().is_some_and(|columns| !columns.is_empty()) {
            return Err(CsvError::ColumnsOfGroups);
        }
        let column = match &self.input.column {
            Some(name) => Some(self.table.column(name)?),
            None if matches!(aggregate, Aggregate::Count | Aggregate::Share) => None,
            None => Some(self.only_numeric_column("aggregate")?),
        };
        let plan = Plan { aggregate, column };
        plan.check(self.table)?;
        self.check_noun(aggregate, matched)?;
        Ok(Some(plan))
    }

    /// Returns the aggregate, or `None` for a query that only lists rows. For a query that only groups, it is the sum if the
    /// given column or exactly one column is numeric, else the number of rows.
    fn aggregate(&self) -> Result<Option<Aggregate>, CsvError> {
        if self.input.aggregate.is_some() || self.input.group_by.is_none() {
            return Ok(self.input.aggregate);
        }
        let summable = match &self.input.column {
            Some(name) => self.table.column(name)?.style.is_some(),
            None => self.numeric_candidates()?.len() == 1,
        };
        Ok(Some(if summable { Aggregate::Sum } else { Aggregate::Count }))
    }

    /// Returns the numeric columns that the query does not group by.
    fn numeric_candidates(&self) -> Result<Vec<&'a Column>, CsvError> {
        let by = self.group_column()?.map(|column| column.index);
        Ok(self
            .table
            .numeric_columns()
            .filter(|column| Some(column.index) != by)
            .collect())
    }

    /// Fails if rows are counted as things such as `products` and several rows are about the same product.
    fn check_noun(&self, aggregate: Aggregate, matched: &[usize]) -> Result<(), CsvError> {
        let Some(noun) = self.input.noun.as_deref() else {
            return Ok(());
        };
        let column = self.table.column(noun)?;
        let is_count = matches!(aggregate, Aggregate::Count | Aggregate::Share) && self.input.column.is_none();
        let mut seen = HashSet::new();
        let cells = matched.iter().map(|row| self.table.cell(*row, column));
        match cells
            .filter(|_| is_count)
            .find(|cell| !seen.insert(cell.to_lowercase()))
        {
            Some(cell) => Err(CsvError::Repeated {
                column: column.name.clone(),
                value: cell.to_owned(),
            }),
            None => Ok(()),
        }
    }

    fn group_column(&self) -> Result<Option<&'a Column>, CsvError> {
        self.input
            .group_by
            .as_deref()
            .map(|name| self.table.column(name))
            .transpose()
    }

    fn only_numeric_column(&self, purpose: &'static str) -> Result<&'a Column, CsvError> {
        match self.numeric_candidates()?.as_slice() {
            [column] => Ok(column),
            _ => Err(CsvError::WhichColumn {
                purpose,
                numeric: self.table.numeric_names(),
            }),
        }
    }

    fn aggregate_rows(mut self, plan: Plan<'a>, matched: &[usize]) -> Result<CsvQueryOutput, CsvError> {
        let value_name = plan.name();
        let mut columns = vec![value_name.clone()];
        let mut rows: Vec<(Value, Map<String, Value>)> = Vec::new();
        match self.group_column()? {
            Some(by) => {
                columns.insert(0, by.name.clone());
                for (group, members) in aggregate::group_rows(self.table, by, matched) {
                    let value = plan.value(self.table, &members);
                    let fields = [
                        (by.name.clone(), cell_value(by, &group)),
                        (value_name.clone(), value.clone()),
                    ];
                    rows.push((value, fields.into_iter().collect()));
                }
            }
            None => {
                let value = plan.value(self.table, matched);
                rows.push((Value::Null, [(value_name, value)].into_iter().collect()));
            }
        }
        self.note_missing(plan, matched);
        if let Some(sort) = self.input.sort {
            rows.sort_by(|(a, _), (b, _)| compare(sort, a, b));
        }
        let rows = rows.into_iter().map(|(_, row)| row).collect();
        Ok(self.finish(columns, rows, matched.len()))
    }

    fn note_missing(&mut self, plan: Plan<'_>, matched: &[usize]) {
        let missing = plan.count_missing(self.table, matched);
        if let Some(column) = plan.column.filter(|_| missing > 0) {
            self.notes
                .push(format!("{missing} empty cells of `{}` were ignored", column.name));
        }
    }

    fn list_rows(self, mut matched: Vec<usize>) -> Result<CsvQueryOutput, CsvError> {
        let columns = self.columns_to_list()?;
        if let Some((by, sort)) = self.order()? {
            matched.sort_by_cached_key_with(sort, |row| sort_key(by, self.table.cell(row, by)));
        }
        let total = matched.len();
        if self.input.distinct {
            let cells = |row: usize| {
                columns
                    .iter()
                    .map(move |column| self.table.cell(row, column).to_lowercase())
            };
            let mut seen = HashSet::new();
            matched.retain(|row| seen.insert(cells(*row).collect::<Vec<_>>()));
        }
        let limit = self.limit();
        let row = |row: usize| {
            let field = |column: &&Column| (column.name.clone(), cell_value(column, self.table.cell(row, column)));
            columns.iter().map(field).collect()
        };
        // Take one row more than the limit, so that `finish` notices that there are more.
        let rows = matched.into_iter().take(limit.saturating_add(1)).map(row).collect();
        let names = columns.iter().map(|column| column.name.clone()).collect();
        Ok(self.finish(names, rows, total))
    }

    /// Returns the column to sort by, and the order.
    fn order(&self) -> Result<Option<(&'a Column, Sort)>, CsvError> {
        if let Some(superlative) = self.input.superlative {
            return superlative.resolve(self.table).map(Some);
        }
        let Some(sort) = self.input.sort else {
            return Ok(None);
        };
        let by = match &self.input.column {
            Some(name) => self.table.column(name)?,
            None => self.only_numeric_column("sort by")?,
        };
        Ok(Some((by, sort)))
    }

    fn columns_to_list(&self) -> Result<Vec<&'a Column>, CsvError> {
        match &self.input.columns {
            Some(names) if !names.is_empty() => names.iter().map(|name| self.table.column(name)).collect(),
            _ => Ok(self.table.columns.iter().collect()),
        }
    }

    fn limit(&self) -> usize {
        let requested = self.input.limit.and_then(|limit| usize::try_from(limit).ok());
        requested.unwrap_or(MAX_ROWS).min(MAX_ROWS)
    }

    fn finish(mut self, columns: Vec<String>, mut rows: Vec<Map<String, Value>>, matched: usize) -> CsvQueryOutput {
        let limit = self.limit();
        if rows.len() > limit && self.input.limit.is_none() {
            self.notes
                .push(format!("only the first {limit} rows are returned; narrow the filter"));
        }
        rows.truncate(limit);
        let value = match rows.as_slice() {
            [row] if row.len() == 1 => row.values().next().filter(|value| !value.is_null()).cloned(),
            _ => None,
        };
        CsvQueryOutput {
            columns,
            value,
            row_count: rows.len(),
            rows,
            matched_rows: matched,
            notes: self.notes,
        }
    }
}

/// Sorts rows by a key that is computed once for each row.
trait SortRows {
    fn sort_by_cached_key_with(&mut self, sort: Sort, key: impl Fn(usize) -> Value);
}

impl SortRows for Vec<usize> {
    fn sort_by_cached_key_with(&mut self, sort: Sort, key: impl Fn(usize) -> Value) {
        let mut keyed: Vec<(Value, usize)> = self.iter().map(|row| (key(*row), *row)).collect();
        keyed.sort_by(|(a, _), (b, _)| compare(sort, a, b));
        *self = keyed.into_iter().map(|(_, row)| row).collect();
    }
}

/// Returns the value by which a cell is sorted: for a date a number that is greater for later dates, else the value of the cell.
fn sort_key(column: &Column, cell: &str) -> Value {
    match column.date(cell) {
        Some(date) => Value::from(date.order()),
        None => cell_value(column, cell),
    }
}

fn cell_value(column: &Column, cell: &str) -> Value {
    match column.number(cell) {
        Some(value) => number::to_json(value),
        None if cell.is_empty() || column.style.is_some() => Value::Null,
        None => Value::from(cell),
    }
}

/// Compares two values. A null comes last in both orders.
fn compare(sort: Sort, a: &Value, b: &Value) -> Ordering {
    let order = match (a, b) {
        (Value::Null, _) | (_, Value::Null) => return a.is_null().cmp(&b.is_null()),
        (Value::String(a), Value::String(b)) => a.to_lowercase().cmp(&b.to_lowercase()),
        _ => a
            .as_f64()
            .unwrap_or_default()
            .total_cmp(&b.as_f64().unwrap_or_default()),
    };
    if sort == Sort::Ascending {
        order
    } else {
        order.reverse()
    }
}
