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
    let tests: Vec<Test<'_>> = filters
        .iter()
        .map(|filter| Test::new(table, filter))
        .collect::<Result<_, _>>()?;
    let matches = |row: &usize| tests.iter().all(|test| test.accepts(table.cell(*row, test.column)));
    Ok((0..table.rows.len()).filter(matches).collect())
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
    fn new(table: &'a Table, filter: &Filter) -> Result<Self, CsvError> {
        let column = table.column(&filter.column)?;
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
