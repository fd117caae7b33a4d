//! Runs the steps of a query: filter, group and aggregate, sort, limit, select columns.

use std::{cmp::Ordering, collections::HashSet};

use art_sdk::{
    decimal::Decimal,
    serde_json::{Map, Value},
};

use crate::{
    aggregate::{self, Aggregation, Combined},
    column::Column,
    error::CsvError,
    filter,
    input::{About, Aggregate, CsvQueryInput, Sort},
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
    check_contradictions(input)?;
    let matched = filter::matching_rows(&table, &input.filter)?;
    let query = Query {
        input,
        table: &table,
        notes: Vec::new(),
    };
    match query.aggregation(&matched)? {
        Some(aggregation) => query.aggregate_rows(aggregation, &matched),
        None => query.list_rows(matched),
    }
}

/// Fails if two fields contradict each other, so that one of them would be ignored.
fn check_contradictions(input: &CsvQueryInput) -> Result<(), CsvError> {
    // A query with `group_by` alone combines rows too: it has an aggregate by default.
    let combines_rows = input.aggregate.is_some() || input.group_by.is_some();
    let combining_field = if input.aggregate.is_some() {
        "aggregate"
    } else {
        "group_by"
    };
    // For each pair of fields: whether they contradict each other, and their names.
    let contradictions = [
        (input.distinct && combines_rows, "distinct", combining_field),
        (
            input.superlative.is_some() && combines_rows,
            "superlative",
            combining_field,
        ),
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
        // An aggregate without `group_by` is one row, which cannot be sorted.
        (
            input.sort.is_some() && input.aggregate.is_some() && input.group_by.is_none(),
            "sort",
            "aggregate",
        ),
    ];
    match contradictions.iter().find(|(is_contradiction, ..)| *is_contradiction) {
        Some((_, one, other)) => Err(CsvError::Contradiction(one, other)),
        None => Ok(()),
    }
}

/// Returns the names of the columns, or how many there are. Fails if a field is given that selects, names, combines or sorts
/// rows, since it would be ignored.
fn describe_table(input: &CsvQueryInput, table: &Table, about: About) -> Result<CsvQueryOutput, CsvError> {
    // Whether each of these fields is given, and its name.
    let row_fields = [
        (!input.filter.is_empty(), "filter"),
        (input.group_by.is_some(), "group_by"),
        (input.aggregate.is_some(), "aggregate"),
        (input.column.is_some(), "column"),
        (input.sort.is_some(), "sort"),
        (input.superlative.is_some(), "superlative"),
        (input.columns.is_some(), "columns"),
        (input.distinct, "distinct"),
        (input.noun.is_some(), "noun"),
    ];
    if let Some((_, other)) = row_fields.iter().find(|(is_given, _)| *is_given) {
        return Err(CsvError::Contradiction("about", other));
    }
    let names = table.columns.iter().map(|column| Value::from(column.name.as_str()));
    let (output_column, values) = match about {
        About::Columns => ("column", names.collect()),
        About::ColumnCount => ("column_count", vec![Value::from(table.columns.len())]),
    };
    let row = |value: Value| [(output_column.to_owned(), value)].into_iter().collect();
    let rows = values.into_iter().map(row).collect();
    let query = Query {
        input,
        table,
        notes: Vec::new(),
    };
    Ok(query.into_output(vec![output_column.to_owned()], rows, table.rows.len()))
}

/// A query and its table. In the methods, `matched` has the indices of the rows that match the filters.
struct Query<'a> {
    input: &'a CsvQueryInput,
    table: &'a Table,
    /// The notes of the output.
    notes: Vec<String>,
}

impl<'a> Query<'a> {
    /// Returns the aggregate and its column; `None` for a query that only lists rows.
    fn aggregation(&self, matched: &[usize]) -> Result<Option<Aggregation<'a>>, CsvError> {
        let Some(aggregate) = self.given_or_default_aggregate()? else {
            return Ok(None);
        };
        if self.input.columns.as_ref().is_some_and(|columns| !columns.is_empty()) {
            return Err(CsvError::ColumnsOfCombinedRows);
        }
        let column = match &self.input.column {
            Some(name) => Some(self.table.column(name)?),
            None if matches!(aggregate, Aggregate::Count | Aggregate::Share) => None,
            None => Some(self.only_numeric_column("aggregate")?),
        };
        let aggregation = Aggregation { aggregate, column };
        aggregation.check_column(self.table)?;
        self.check_noun(aggregate, matched)?;
        Ok(Some(aggregation))
    }

    /// Returns the aggregate, or `None` for a query that only lists rows. A query that groups rows and names no aggregate gets
    /// the sum if the column that it names is numeric. If it names no column, it gets the sum if exactly one column besides the
    /// group column is numeric. Otherwise it gets the count.
    fn given_or_default_aggregate(&self) -> Result<Option<Aggregate>, CsvError> {
        if self.input.aggregate.is_some() || self.input.group_by.is_none() {
            return Ok(self.input.aggregate);
        }
        let can_sum = match &self.input.column {
            Some(name) => self.table.column(name)?.number_style.is_some(),
            None => self.numeric_candidates()?.len() == 1,
        };
        Ok(Some(if can_sum { Aggregate::Sum } else { Aggregate::Count }))
    }

    /// Returns the numeric columns that the query does not group by.
    fn numeric_candidates(&self) -> Result<Vec<&'a Column>, CsvError> {
        let group_column_index = self.group_column()?.map(|column| column.index);
        Ok(self
            .table
            .numeric_columns()
            .filter(|column| Some(column.index) != group_column_index)
            .collect())
    }

    /// Checks that a count of rows counts no thing, such as a product, twice: fails if two of the counted rows have the same
    /// value in the column that the field `noun` names. A share without a column counts rows too.
    fn check_noun(&self, aggregate: Aggregate, matched: &[usize]) -> Result<(), CsvError> {
        let Some(noun) = self.input.noun.as_deref() else {
            return Ok(());
        };
        let column = self.table.column(noun)?;
        let counts_rows = matches!(aggregate, Aggregate::Count | Aggregate::Share) && self.input.column.is_none();
        let mut seen = HashSet::new();
        let cells = matched.iter().map(|row| self.table.cell(*row, column));
        match cells
            .filter(|_| counts_rows)
            .find(|cell| !seen.insert(cell.to_lowercase()))
        {
            Some(cell) => Err(CsvError::RepeatedValue {
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

    /// Returns the only numeric column that the query does not group by. Fails if there is none or several.
    fn only_numeric_column(&self, purpose: &'static str) -> Result<&'a Column, CsvError> {
        match self.numeric_candidates()?.as_slice() {
            [column] => Ok(column),
            _ => Err(CsvError::WhichColumn {
                purpose,
                numeric: self.table.numeric_names(),
            }),
        }
    }

    /// Returns a row for each group, or one row for all rows if the query has no groups.
    fn aggregate_rows(mut self, aggregation: Aggregation<'a>, matched: &[usize]) -> Result<CsvQueryOutput, CsvError> {
        let group_column = self.group_column()?;
        let value_name = aggregation.output_name(group_column);
        let mut columns = vec![value_name.clone()];
        // The rows of the output, each with the value by which it is sorted.
        let mut rows: Vec<(SortKey, Map<String, Value>)> = Vec::new();
        match group_column {
            Some(group_column) => {
                columns.insert(0, group_column.name.clone());
                for (group, members) in aggregate::group_rows(self.table, group_column, matched) {
                    let value = aggregation.value(self.table, &members);
                    // A cell is the minimum or the maximum of a column without numbers, for example a date.
                    let sorted_by = match (aggregation.column, value) {
                        (Some(column), Combined::Cell(cell)) => SortKey::of_cell(column, cell),
                        (_, Combined::Number(number)) => SortKey::Number(number),
                        _ => SortKey::Missing,
                    };
                    let fields = [
                        (group_column.name.clone(), cell_value(group_column, &group)),
                        (value_name.clone(), value.to_json()),
                    ];
                    rows.push((sorted_by, fields.into_iter().collect()));
                }
            }
            None => {
                let value = aggregation.value(self.table, matched);
                rows.push((SortKey::Missing, [(value_name, value.to_json())].into_iter().collect()));
            }
        }
        self.note_empty_cells(aggregation, matched);
        if let Some(sort) = self.input.sort {
            rows.sort_by(|(a, _), (b, _)| a.compare(b, sort));
        }
        let rows = rows.into_iter().map(|(_, row)| row).collect();
        Ok(self.into_output(columns, rows, matched.len()))
    }

    /// Adds a note if some of the combined cells are empty.
    fn note_empty_cells(&mut self, aggregation: Aggregation<'_>, matched: &[usize]) {
        let empty_cells = aggregation.count_empty_cells(self.table, matched);
        if let Some(column) = aggregation.column.filter(|_| empty_cells > 0) {
            self.notes
                .push(format!("{empty_cells} empty cells of `{}` were ignored", column.name));
        }
    }

    /// Returns the matching rows themselves, sorted. Leaves out repeated rows if the query is `distinct`.
    fn list_rows(self, mut matched: Vec<usize>) -> Result<CsvQueryOutput, CsvError> {
        let columns = self.columns_to_list()?;
        if let Some((sort_column, sort)) = self.order()? {
            matched.sort_rows_by_key(sort, |row| {
                SortKey::of_cell(sort_column, self.table.cell(row, sort_column))
            });
        }
        let matched_rows = matched.len();
        if self.input.distinct {
            let cells_of_row = |row: usize| {
                columns
                    .iter()
                    .map(move |column| self.table.cell(row, column).to_lowercase())
            };
            let mut seen = HashSet::new();
            matched.retain(|row| seen.insert(cells_of_row(*row).collect::<Vec<_>>()));
        }
        let limit = self.limit();
        let output_row = |row: usize| {
            let field = |column: &&Column| (column.name.clone(), cell_value(column, self.table.cell(row, column)));
            columns.iter().map(field).collect()
        };
        // Take one row more than the limit, so that `into_output` notices that there are more.
        let rows = matched
            .into_iter()
            .take(limit.saturating_add(1))
            .map(output_row)
            .collect();
        let names = columns.iter().map(|column| column.name.clone()).collect();
        Ok(self.into_output(names, rows, matched_rows))
    }

    /// Returns the column to sort by, and the order.
    fn order(&self) -> Result<Option<(&'a Column, Sort)>, CsvError> {
        if let Some(superlative) = self.input.superlative {
            return superlative.resolve(self.table).map(Some);
        }
        let Some(sort) = self.input.sort else {
            return Ok(None);
        };
        let sort_column = match &self.input.column {
            Some(name) => self.table.column(name)?,
            None => self.only_numeric_column("sort by")?,
        };
        Ok(Some((sort_column, sort)))
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

    /// Returns the output with at most as many rows as the limit allows. `matched_rows` is the number of rows that match the
    /// filters.
    fn into_output(
        mut self,
        columns: Vec<String>,
        mut rows: Vec<Map<String, Value>>,
        matched_rows: usize,
    ) -> CsvQueryOutput {
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
            matched_rows,
            notes: self.notes,
        }
    }
}

/// Sorts the indices of rows by a key that is computed once for each row.
trait SortRows {
    fn sort_rows_by_key(&mut self, sort: Sort, key: impl Fn(usize) -> SortKey);
}

impl SortRows for Vec<usize> {
    fn sort_rows_by_key(&mut self, sort: Sort, key: impl Fn(usize) -> SortKey) {
        let mut keyed: Vec<(SortKey, usize)> = self.iter().map(|row| (key(*row), *row)).collect();
        keyed.sort_by(|(a, _), (b, _)| a.compare(b, sort));
        *self = keyed.into_iter().map(|(_, row)| row).collect();
    }
}

/// The value by which a row is sorted.
#[derive(Debug)]
enum SortKey {
    /// A number, or for a date or a time a number that is greater for later ones.
    Number(Decimal),
    /// A text in lower case.
    Text(String),
    Missing,
}

impl SortKey {
    fn of_cell(column: &Column, cell: &str) -> Self {
        let number = column.moment(cell).map(|moment| i128::from(moment).into());
        match number.or_else(|| column.number(cell)) {
            Some(number) => Self::Number(number),
            None if is_null(column, cell) => Self::Missing,
            None => Self::Text(cell.to_lowercase()),
        }
    }

    /// Compares two keys. A missing value comes last in both orders.
    fn compare(&self, other: &Self, sort: Sort) -> Ordering {
        let order = match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            // A column has no cell of the other kind.
            (Self::Number(_), Self::Text(_)) => Ordering::Less,
            (Self::Text(_), Self::Number(_)) => Ordering::Greater,
            (Self::Missing, Self::Missing) => return Ordering::Equal,
            (Self::Missing, _) => return Ordering::Greater,
            (_, Self::Missing) => return Ordering::Less,
        };
        if sort == Sort::Ascending {
            order
        } else {
            order.reverse()
        }
    }
}

/// Returns a cell as a value of the output: a number, a text, or null. A number is a text if it has too many digits for a number of
/// JSON.
fn cell_value(column: &Column, cell: &str) -> Value {
    match column.number(cell) {
        Some(number) => number.to_json(),
        None if is_null(column, cell) => Value::Null,
        None => Value::from(cell),
    }
}

/// Returns whether a cell without a number is null: if it is empty or, in a numeric column, has a mark such as `n/a`.
fn is_null(column: &Column, cell: &str) -> bool {
    cell.is_empty() || column.number_style.is_some()
}
