//! Combines many cells into one value.

use std::collections::{HashMap, HashSet};

use art_sdk::serde_json::Value;

use crate::{column::Column, error::CsvError, input::Aggregate, number, table::Table};

/// An aggregate and the column whose cells it combines. Only `count` and `share` work without a column: they count rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aggregation<'a> {
    pub(crate) aggregate: Aggregate,
    pub(crate) column: Option<&'a Column>,
}

impl Aggregation<'_> {
    /// Returns the name of the output column.
    pub(crate) fn output_name(&self) -> String {
        match self.column {
            Some(column) => format!("{}_{}", self.aggregate.name(), column.name),
            None => self.aggregate.name().to_owned(),
        }
    }

    /// Fails for the sum, mean, median and share of a column that is not numeric. Also fails for its minimum and maximum if one
    /// of its cells has no digit: dates and times have an order, but for names only an alphabetical one, which no question means.
    pub(crate) fn check_column(&self, table: &Table) -> Result<(), CsvError> {
        let Some(column) = self.column.filter(|column| column.number_style.is_none()) else {
            return Ok(());
        };
        let cell = |row: &usize| table.cell(*row, column);
        let all_rows = 0..table.rows.len();
        let is_text = |row: &usize| {
            let (cell, style) = (cell(row), number::Style::Point);
            !number::is_missing(cell) && number::parse(cell, style).is_none()
        };
        let is_name = |row: &usize| is_text(row) && !cell(row).contains(|sign: char| sign.is_ascii_digit());
        let is_refused = match self.aggregate {
            Aggregate::Count | Aggregate::CountDistinct => false,
            Aggregate::Min | Aggregate::Max => all_rows.clone().any(|row| is_name(&row)),
            _ => true,
        };
        if !is_refused {
            return Ok(());
        }
        let row = all_rows
            .clone()
            .find(is_text)
            .or(all_rows.clone().next())
            .unwrap_or_default();
        Err(CsvError::NotNumeric {
            column: column.name.clone(),
            line: table.line(row),
            cell: cell(&row).chars().take(40).collect(),
            aggregate: self.aggregate.name(),
            numeric: table.numeric_names(),
        })
    }

    /// Returns the value that combines the cells of `rows`. If all of them are empty, a count and a sum are 0, and a mean,
    /// median, minimum and maximum are null.
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
            // Only the minimum and the maximum are left here. Cells that are neither dates nor times are compared as texts.
            let cells_in_time = cells.map(|cell| (column.moment(cell), cell));
            let extreme = if self.aggregate == Aggregate::Min {
                cells_in_time.min()
            } else {
                cells_in_time.max()
            };
            return extreme.map_or(Value::Null, |(_, cell)| Value::from(cell));
        }
        let numbers = cells.filter_map(|cell| column.number(cell)).collect();
        combine_numbers(self.aggregate, numbers).map_or(Value::Null, number::to_json)
    }

    /// Returns which share of the whole table `rows` have, as a percentage with two decimals: a share of the sum of the column,
    /// or of the number of rows if there is no column. Returns null if the whole table has a sum of 0.
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
    pub(crate) fn count_missing(&self, table: &Table, rows: &[usize]) -> usize {
        let count = |column| {
            rows.iter()
                .filter(|row| number::is_missing(table.cell(**row, column)))
                .count()
        };
        self.column.map_or(0, count)
    }
}

/// Returns the value that combines the numbers, or `None` if there is none.
fn combine_numbers(aggregate: Aggregate, mut numbers: Vec<f64>) -> Option<f64> {
    if numbers.is_empty() {
        return (aggregate == Aggregate::Sum).then_some(0.0);
    }
    let sum: f64 = numbers.iter().sum();
    match aggregate {
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

/// Returns each group, a cell of `group_column` and the rows that have it in any letter case, in the order in which the groups
/// first appear.
pub(crate) fn group_rows(table: &Table, group_column: &Column, rows: &[usize]) -> Vec<(String, Vec<usize>)> {
    let mut indices: HashMap<String, usize> = HashMap::new();
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    for row in rows {
        let cell = table.cell(*row, group_column);
        let index = *indices.entry(cell.to_lowercase()).or_insert(groups.len());
        match groups.get_mut(index) {
            Some((_, rows)) => rows.push(*row),
            None => groups.push((cell.to_owned(), vec![*row])),
        }
    }
    groups
}
