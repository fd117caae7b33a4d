//! Selects the rows that match the filters.

use std::cmp::Ordering;

use crate::{
    column::Column,
    error::CsvError,
    input::{Filter, FilterValue, Operator},
    number::{self, Style},
    table::Table,
};

/// Returns the indices of the rows that match every filter.
pub(crate) fn matching_rows(table: &Table, filters: &[Filter]) -> Result<Vec<usize>, CsvError> {
    let tests: Vec<Vec<Test<'_>>> = filters
        .iter()
        .map(|filter| tests(table, filter))
        .collect::<Result<_, _>>()?;
    let passes = |row: usize, any: &[Test<'_>]| any.iter().any(|test| test.accepts(table.cell(row, test.column)));
    let matches = |row: &usize| tests.iter().all(|any| passes(*row, any));
    Ok((0..table.rows.len()).filter(matches).collect())
}

/// Returns the tests of one filter, of which a row has to pass one: that of its column, or those of all columns.
fn tests<'a>(table: &'a Table, filter: &Filter) -> Result<Vec<Test<'a>>, CsvError> {
    match &filter.column {
        Some(name) => Ok(vec![Test::new(table.column(name)?, filter)?]),
        // A column whose cells cannot be compared with the value is skipped.
        None => Ok(table
            .columns
            .iter()
            .filter_map(|column| Test::new(column, filter).ok())
            .collect()),
    }
}

/// A filter with its column resolved and its value parsed.
struct Test<'a> {
    column: &'a Column,
    operator: Operator,
    text: String,
    /// Set when the comparison is between numbers.
    number: Option<f64>,
}

impl<'a> Test<'a> {
    fn new(column: &'a Column, filter: &Filter) -> Result<Self, CsvError> {
        let text = match &filter.value {
            FilterValue::Text(text) => text.trim().to_owned(),
            FilterValue::Number(value) => value.to_string(),
            FilterValue::Bool(value) => value.to_string(),
        };
        let number = column.style.and_then(|style| match filter.value {
            FilterValue::Number(value) => Some(value),
            _ => number::parse(&text, style).or_else(|| number::parse(&text, Style::Point)),
        });
        let ordered = matches!(
            filter.operator,
            Operator::Lt | Operator::Le | Operator::Gt | Operator::Ge
        );
        if ordered && column.style.is_some() && number.is_none() {
            return Err(CsvError::FilterValue {
                value: text,
                column: column.name.clone(),
            });
        }
        Ok(Self {
            column,
            operator: filter.operator,
            text: text.to_lowercase(),
            number,
        })
    }

    fn accepts(&self, cell: &str) -> bool {
        let lower = cell.to_lowercase();
        let order = match self.number {
            Some(number) => self.column.number(cell).and_then(|value| value.partial_cmp(&number)),
            None => Some(lower.as_str().cmp(self.text.as_str())),
        };
        match self.operator {
            Operator::Eq => order == Some(Ordering::Equal),
            Operator::Ne => order != Some(Ordering::Equal),
            Operator::Lt => order == Some(Ordering::Less),
            Operator::Le => order.is_some_and(Ordering::is_le),
            Operator::Gt => order == Some(Ordering::Greater),
            Operator::Ge => order.is_some_and(Ordering::is_ge),
            Operator::Contains => lower.contains(&self.text),
            Operator::StartsWith => lower.starts_with(&self.text),
        }
    }
}
