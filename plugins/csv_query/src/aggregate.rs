//! Combines many cells into one value.

use std::collections::{HashMap, HashSet};

use art_sdk::{decimal::Decimal, serde_json::Value};

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
    /// are empty, a count and a sum are 0, and a mean, median, minimum and maximum are missing.
    pub(crate) fn value<'t>(&self, table: &'t Table, rows: &[usize]) -> Combined<'t> {
        if self.aggregate == Aggregate::Share {
            return self.share(table, rows);
        }
        let Some(column) = self.column else {
            return Combined::Number(rows.len().into());
        };
        let cells = rows
            .iter()
            .map(|row| table.cell(*row, column))
            .filter(|cell| !number::is_missing(cell));
        match self.aggregate {
            Aggregate::Count => return Combined::Number(cells.count().into()),
            Aggregate::CountDistinct => {
                let different: HashSet<_> = cells.map(str::to_lowercase).collect();
                return Combined::Number(different.len().into());
            }
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
            return extreme.map_or(Combined::Missing, |(_, cell)| Combined::Cell(cell));
        }
        let numbers = cells.filter_map(|cell| column.number(cell)).collect();
        combine_numbers(self.aggregate, numbers).map_or(Combined::Missing, Combined::Number)
    }

    /// Returns the percentage of the sum of the whole column that `rows` contribute, rounded to two decimals. Without a column,
    /// returns what percentage of all rows are in `rows`. It is missing if the whole sum or the number of all rows is 0.
    fn share<'t>(&self, table: &'t Table, rows: &[usize]) -> Combined<'t> {
        let all_rows: Vec<usize> = (0..table.rows.len()).collect();
        let aggregate = if self.column.is_some() {
            Aggregate::Sum
        } else {
            Aggregate::Count
        };
        let sum_or_count = Aggregation { aggregate, ..*self };
        let amount = |rows: &[usize]| match sum_or_count.value(table, rows) {
            Combined::Number(number) => number.to_f64(),
            Combined::Cell(_) | Combined::Missing => 0.0,
        };
        let percent = (amount(rows) / amount(&all_rows) * 10_000.0).round() / 100.0;
        Decimal::parse(&percent.to_string()).map_or(Combined::Missing, Combined::Number)
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

/// The value that an aggregate has.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Combined<'t> {
    Number(Decimal),
    /// A cell of a column without numbers.
    Cell(&'t str),
    Missing,
}

impl Combined<'_> {
    pub(crate) fn to_json(self) -> Value {
        match self {
            Self::Number(number) => number.to_json(),
            Self::Cell(cell) => Value::from(cell),
            Self::Missing => Value::Null,
        }
    }
}

/// Returns the aggregate of the numbers. Without numbers, a sum is 0 and the other aggregates are `None`.
fn combine_numbers(aggregate: Aggregate, mut numbers: Vec<Decimal>) -> Option<Decimal> {
    let sum = || numbers.iter().copied().sum::<Decimal>();
    match aggregate {
        // Not reached: `Aggregation::value` returns these before.
        Aggregate::Count | Aggregate::CountDistinct | Aggregate::Share => None,
        Aggregate::Sum => Some(sum()),
        Aggregate::Mean => sum().divided_by(numbers.len()),
        Aggregate::Min => numbers.into_iter().min(),
        Aggregate::Max => numbers.into_iter().max(),
        Aggregate::Median => {
            numbers.sort_unstable();
            let upper = numbers.get(numbers.len() / 2)?;
            let lower = numbers.get(numbers.len().checked_sub(1)? / 2)?;
            (*lower + *upper).divided_by(2)
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
