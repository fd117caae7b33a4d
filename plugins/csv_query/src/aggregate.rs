//! Combines many cells into one value.

use std::collections::{HashMap, HashSet};

use art_sdk::serde_json::Value;

use crate::{column::Column, error::CsvError, input::Aggregate, number, table::Table};

/// An aggregate and its column. Only `count` works without a column: it then counts rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) aggregate: Aggregate,
    pub(crate) column: Option<&'a Column>,
}

impl Plan<'_> {
    /// Returns the name of the output column.
    pub(crate) fn name(&self) -> String {
        match self.column {
            Some(column) => format!("{}_{}", self.aggregate.name(), column.name),
            None => self.aggregate.name().to_owned(),
        }
    }

    /// Fails for the sum, mean, median and share of a column of text. Also fails for the minimum and maximum of a text column
    /// in which a cell has no digit: dates and times have an order, but a question does not mean the alphabetical order of
    /// names.
    pub(crate) fn check(&self, table: &Table) -> Result<(), CsvError> {
        let Some(column) = self.column.filter(|column| column.style.is_none()) else {
            return Ok(());
        };
        let cell = |row: &usize| table.cell(*row, column);
        let rows = 0..table.rows.len();
        let is_text = |row: &usize| {
            let (cell, style) = (cell(row), number::Style::Point);
            !number::is_missing(cell) && number::parse(cell, style).is_none()
        };
        let is_name = |row: &usize| is_text(row) && !cell(row).contains(|sign: char| sign.is_ascii_digit());
        let is_refused = match self.aggregate {
            Aggregate::Count | Aggregate::CountDistinct => false,
            Aggregate::Min | Aggregate::Max => rows.clone().any(|row| is_name(&row)),
            _ => true,
        };
        if !is_refused {
            return Ok(());
        }
        let row = rows.clone().find(is_text).or(rows.clone().next()).unwrap_or_default();
        Err(CsvError::NotNumeric {
            column: column.name.clone(),
            line: table.line(row),
            cell: cell(&row).chars().take(40).collect(),
            aggregate: self.aggregate.name(),
            numeric: table.numeric_names(),
        })
    }

    /// Returns the value for `rows`. If all their cells are empty, a count and a sum are 0, and a mean,
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
        if column.style.is_none() {
            let dated = cells.map(|cell| (column.date(cell), cell));
            let best = if self.aggregate == Aggregate::Min {
                dated.min()
            } else {
                dated.max()
            };
            return best.map_or(Value::Null, |(_, cell)| Value::from(cell));
        }
        let numbers = cells.filter_map(|cell| column.number(cell)).collect();
        combine(self.aggregate, numbers).map_or(Value::Null, number::to_json)
    }

    /// Returns the share of `rows` in the whole table as a percentage with two decimals: of the sum of the column, or of the
    /// number of rows if there is no column.
    fn share(&self, table: &Table, rows: &[usize]) -> Value {
        let all: Vec<usize> = (0..table.rows.len()).collect();
        let aggregate = if self.column.is_some() {
            Aggregate::Sum
        } else {
            Aggregate::Count
        };
        let plan = Plan { aggregate, ..*self };
        let amount = |rows: &[usize]| plan.value(table, rows).as_f64().unwrap_or_default();
        let percent = (amount(rows) / amount(&all) * 10_000.0).round() / 100.0;
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

fn combine(aggregate: Aggregate, mut numbers: Vec<f64>) -> Option<f64> {
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

/// Returns the rows of each group, in the order in which the groups first appear. Ignores letter case.
pub(crate) fn group_rows(table: &Table, by: &Column, rows: &[usize]) -> Vec<(String, Vec<usize>)> {
    let mut indices: HashMap<String, usize> = HashMap::new();
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    for row in rows {
        let cell = table.cell(*row, by);
        let index = *indices.entry(cell.to_lowercase()).or_insert(groups.len());
        match groups.get_mut(index) {
            Some((_, rows)) => rows.push(*row),
            None => groups.push((cell.to_owned(), vec![*row])),
        }
    }
    groups
}
