//! Combines many cells into one value.

use std::collections::{HashMap, HashSet};

use art_sdk::serde_json::Value;

use crate::{
    column::Column,
    error::CsvError,
    input::Aggregate,
    number::{self, Style},
    table::Table,
};

/// Maximum number of characters of a cell in an error message.
const MAX_CELL_CHARS: usize = 40;

/// An aggregate and the column whose cells it combines. Only `count` and `share` work without a column; then they count rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aggregation<'a> {
    pub(crate) aggregate: Aggregate,
    pub(crate) column: Option<&'a Column>,
}

impl Aggregation<'_> {
    /// Returns the name of the output column, such as `sum_sales` or `count`. If the group column already has this name, adds
    /// `_2`.
    pub(crate) fn output_name(&self, group_column: Option<&Column>) -> String {
        let name = match self.column {
            Some(column) => format!("{}_{}", self.aggregate.name(), column.name),
            None => self.aggregate.name().to_owned(),
        };
        if group_column.is_some_and(|column| column.name == name) {
            format!("{name}_2")
        } else {
            name
        }
    }

    /// Fails for the sum, mean, median and share of a column that is not numeric. Also fails for the minimum and maximum of such
    /// a column if one of its cells is a name: a text without a digit, which is neither a date nor a time. A question for the
    /// least or the most does not mean the first or last name of the alphabet.
    pub(crate) fn check_column(&self, table: &Table) -> Result<(), CsvError> {
        let Some(column) = self.column.filter(|column| column.number_style.is_none()) else {
            return Ok(());
        };
        let cell = |row: &usize| table.cell(*row, column);
        let all_rows = 0..table.rows.len();
        let is_no_number_in =
            |row: &usize, style| !number::is_missing(cell(row)) && number::parse(cell(row), style).is_none();
        let is_no_number = |row: &usize| is_no_number_in(row, Style::Point) && is_no_number_in(row, Style::Comma);
        let is_name = |row: &usize| is_no_number(row) && !cell(row).contains(|sign: char| sign.is_ascii_digit());
        let is_refused = match self.aggregate {
            Aggregate::Count | Aggregate::CountDistinct => false,
            Aggregate::Min | Aggregate::Max => all_rows.clone().any(|row| is_name(&row)),
            _ => true,
        };
        if !is_refused {
            return Ok(());
        }
        // If all cells are numbers but not of the same style, the error names the first cell that is not of `Style::Point`. If
        // all cells are empty, it names the first row.
        let row = all_rows
            .clone()
            .find(is_no_number)
            .or_else(|| all_rows.clone().find(|row| is_no_number_in(row, Style::Point)))
            .or(all_rows.clone().next())
            .unwrap_or_default();
        Err(CsvError::NotNumeric {
            column: column.name.clone(),
            line: table.line(row),
            cell: cell(&row).chars().take(MAX_CELL_CHARS).collect(),
            aggregate: self.aggregate.name(),
            numeric: table.numeric_names(),
        })
    }

    /// Returns the aggregate of the cells of `rows`, or the number of `rows` for a count without a column. If all of the cells
    /// are empty, a count and a sum are 0, and a mean, median, minimum and maximum are null.
    pub(crate) fn value(&self, table: &Table, rows: &[usize]) -> Value {
        if self.aggregate == Aggregate::Share {
            return self.share(table, rows);
        }
        let Some(column) = self.column else {
            return Value::from(rows.len());
        };
        let cells = rows
            .iter()
            .map(|row| table.cell(*row, column))
            .filter(|cell| !number::is_missing(cell));
        match self.aggregate {
            Aggregate::Count => return Value::from(cells.count()),
            Aggregate::CountDistinct => return Value::from(cells.map(str::to_lowercase).collect::<HashSet<_>>().len()),
            _ => {}
        }
        if column.number_style.is_none() {
            // This is a minimum or a maximum, since `check_column` has refused the rest. A moment is a number that is greater for
            // a later date or time. The cells of a column without dates or times have no moment and are compared as texts.
            let moments_and_cells = cells.map(|cell| (column.moment(cell), cell));
            let extreme = if self.aggregate == Aggregate::Min {
                moments_and_cells.min()
            } else {
                moments_and_cells.max()
            };
            return extreme.map_or(Value::Null, |(_, cell)| Value::from(cell));
        }
        let numbers = cells.filter_map(|cell| column.number(cell)).collect();
        combine_numbers(self.aggregate, numbers).map_or(Value::Null, number::to_json)
    }

    /// Returns the percentage of the sum of the whole column that `rows` contribute, rounded to two decimals. Without a column,
    /// returns what percentage of all rows are in `rows`. Returns null if the whole sum or the number of all rows is 0.
    fn share(&self, table: &Table, rows: &[usize]) -> Value {
        let all_rows: Vec<usize> = (0..table.rows.len()).collect();
        let aggregate = if self.column.is_some() {
            Aggregate::Sum
        } else {
            Aggregate::Count
        };
        let sum_or_count = Aggregation { aggregate, ..*self };
        let amount = |rows: &[usize]| sum_or_count.value(table, rows).as_f64().unwrap_or_default();
        let percent = (amount(rows) / amount(&all_rows) * 10_000.0).round() / 100.0;
        if percent.is_finite() {
            number::to_json(percent)
        } else {
            Value::Null
        }
    }

    /// Returns how many of `rows` have an empty cell in the column.
    pub(crate) fn count_empty_cells(&self, table: &Table, rows: &[usize]) -> usize {
        let count = |column| {
            rows.iter()
                .filter(|row| number::is_missing(table.cell(**row, column)))
                .count()
        };
        self.column.map_or(0, count)
    }
}

/// Returns the aggregate of the numbers. Without numbers, a sum is 0 and the other aggregates are `None`.
fn combine_numbers(aggregate: Aggregate, mut numbers: Vec<f64>) -> Option<f64> {
    if numbers.is_empty() {
        return (aggregate == Aggregate::Sum).then_some(0.0);
    }
    let sum: f64 = numbers.iter().sum();
    match aggregate {
        // Not reached: `Aggregation::value` returns these before.
        Aggregate::Count | Aggregate::CountDistinct | Aggregate::Share => None,
        Aggregate::Sum => Some(sum),
        Aggregate::Mean => u32::try_from(numbers.len()).ok().map(|count| sum / f64::from(count)),
        Aggregate::Min => numbers.into_iter().reduce(f64::min),
        Aggregate::Max => numbers.into_iter().reduce(f64::max),
        Aggregate::Median => {
            numbers.sort_by(f64::total_cmp);
            let upper = numbers.get(numbers.len() / 2)?;
            let lower = numbers.get((numbers.len() - 1) / 2)?;
            Some(f64::midpoint(*lower, *upper))
        }
    }
}

/// Returns the groups of `rows`, in the order in which they first appear. The rows of a group have the same cell in
/// `group_column`, in any letter case. A group is a pair: this
/// cell, as the first row of the group writes it, and the indices of the rows.
pub(crate) fn group_rows(table: &Table, group_column: &Column, rows: &[usize]) -> Vec<(String, Vec<usize>)> {
    let mut group_indices: HashMap<String, usize> = HashMap::new();
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    for row in rows {
        let cell = table.cell(*row, group_column);
        let group_index = *group_indices.entry(cell.to_lowercase()).or_insert(groups.len());
        match groups.get_mut(group_index) {
            Some((_, members)) => members.push(*row),
            None => groups.push((cell.to_owned(), vec![*row])),
        }
    }
    groups
}
