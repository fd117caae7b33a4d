//! Selects the rows that match the filters.

use std::cmp::Ordering;

use crate::{
    column::Column,
    date::Date,
    error::CsvError,
    input::{Filter, FilterValue, Operator},
    number::{self, Style},
    table::Table,
};

/// Returns the indices of the rows that match every filter.
pub(crate) fn matching_rows(table: &Table, filters: &[Filter]) -> Result<Vec<usize>, CsvError> {
    let conditions: Vec<Condition<'_>> = filters
        .iter()
        .map(|filter| resolve(table, filter))
        .collect::<Result<_, _>>()?;
    let matches = |row: &usize| {
        conditions
            .iter()
            .all(|condition| condition.accepts(table.cell(*row, condition.column)))
    };
    Ok((0..table.rows.len()).filter(matches).collect())
}

/// Returns the condition of one filter.
fn resolve<'a>(table: &'a Table, filter: &Filter) -> Result<Condition<'a>, CsvError> {
    let (column, operator) = match (filter.comparative, filter.operator) {
        (Some(comparative), None) if filter.column.is_none() => comparative.resolve(table)?,
        (Some(_), _) => return Err(CsvError::Together("comparative", "operator")),
        (None, None) => return Err(needs("a filter", "`operator` or `comparative`")),
        (None, Some(operator)) => match &filter.column {
            Some(name) => (table.column(name)?, operator),
            None => return resolve_without_column(table, filter, operator),
        },
    };
    if let Some(unit) = filter.unit {
        unit.check(column)?;
    }
    Condition::new(column, operator, filter)
}

/// Returns the condition of a filter that names no column. It uses the only column that fits: for a date a column of dates, for an
/// operator such as `lt` or `between` a numeric column, and else a column that contains the value. If no column contains the value, it
/// uses the first column, except for `ne`.
fn resolve_without_column<'a>(
    table: &'a Table,
    filter: &Filter,
    operator: Operator,
) -> Result<Condition<'a>, CsvError> {
    let compares_text = matches!(
        operator,
        Operator::Eq | Operator::Ne | Operator::Contains | Operator::StartsWith
    );
    let positive = if operator == Operator::Ne {
        Operator::Eq
    } else {
        operator
    };
    let fits = |column: &&Column| match Condition::new(column, positive, filter) {
        Ok(condition) if compares_text && filter.date.is_none() => {
            (0..table.rows.len()).any(|row| condition.accepts(table.cell(row, column)))
        }
        Ok(_) => filter.date.is_some() || column.style.is_some(),
        Err(_) => false,
    };
    let fitting: Vec<&Column> = table.columns.iter().filter(fits).collect();
    match (fitting.as_slice(), table.columns.first()) {
        ([column], _) => Condition::new(column, operator, filter),
        // No row has the value, so every column gives the same result.
        ([], Some(column)) if compares_text && operator != Operator::Ne => Condition::new(column, operator, filter),
        _ => Err(CsvError::WhichFilter {
            value: filter.text().unwrap_or_default(),
            columns: crate::column::list_names(fitting),
        }),
    }
}

impl Filter {
    /// Returns the value or the date to compare with, as text.
    fn text(&self) -> Option<String> {
        match (&self.value, &self.date) {
            (_, Some(date)) => Some(date.clone()),
            (Some(FilterValue::Text(text)), _) => Some(text.trim().to_owned()),
            (Some(FilterValue::Number(value)), _) => Some(value.to_string()),
            (Some(FilterValue::Bool(value)), _) => Some(value.to_string()),
            (None, None) => None,
        }
    }
}

/// A filter with its column resolved and its value parsed.
struct Condition<'a> {
    column: &'a Column,
    operator: Operator,
    value: Target,
}

/// The value that cells are compared with, and the upper bound for `between`.
enum Target {
    Text(String),
    Number(f64, f64),
    Date(Date, Date),
}

impl<'a> Condition<'a> {
    fn new(column: &'a Column, operator: Operator, filter: &Filter) -> Result<Self, CsvError> {
        let text = filter.text().ok_or_else(|| needs("a filter", "`value` or `date`"))?;
        let number = column.style.and_then(|style| match filter.value {
            Some(FilterValue::Number(value)) => Some(value),
            _ => number::parse(&text, style).or_else(|| number::parse(&text, Style::Point)),
        });
        let date = Date::parse(&text).filter(|_| column.is_date);
        let is_between = operator == Operator::Between;
        let value = match (number, date) {
            (Some(number), _) if is_between => {
                let upper = filter
                    .upper
                    .ok_or_else(|| needs("a filter with `between`", "`value` and `upper`"))?;
                Target::Number(number.min(upper), number.max(upper))
            }
            (Some(number), _) => Target::Number(number, number),
            (_, Some(date)) if is_between => {
                let until = filter.until.as_deref().and_then(Date::parse);
                Target::Date(
                    date,
                    until.ok_or_else(|| needs("a filter with `between`", "`date` and `until`"))?,
                )
            }
            (_, Some(date)) => Target::Date(date, date),
            _ => Self::text_target(column, operator, filter, text)?,
        };
        Ok(Self {
            column,
            operator,
            value,
        })
    }

    /// Returns a target that is a text, or an error if the comparison makes no sense for text.
    fn text_target(column: &Column, operator: Operator, filter: &Filter, text: String) -> Result<Target, CsvError> {
        let ordered = !matches!(
            operator,
            Operator::Eq | Operator::Ne | Operator::Contains | Operator::StartsWith
        );
        if filter.date.is_some() {
            return Err(CsvError::FilterDate {
                date: text,
                column: column.name.clone(),
            });
        }
        if ordered && column.style.is_some() {
            return Err(CsvError::FilterValue {
                value: text,
                column: column.name.clone(),
            });
        }
        if operator == Operator::Between {
            return Err(needs("a filter with `between`", "a column of numbers or dates"));
        }
        Ok(Target::Text(text.to_lowercase()))
    }

    fn accepts(&self, cell: &str) -> bool {
        let order = self.order(cell);
        match self.operator {
            Operator::Eq => order == Some(Ordering::Equal),
            Operator::Ne => order != Some(Ordering::Equal),
            Operator::Lt => order == Some(Ordering::Less),
            Operator::Le => order.is_some_and(Ordering::is_le),
            Operator::Gt => order == Some(Ordering::Greater),
            Operator::Ge => order.is_some_and(Ordering::is_ge),
            Operator::Contains => cell.to_lowercase().contains(&self.text_value()),
            Operator::StartsWith => cell.to_lowercase().starts_with(&self.text_value()),
            Operator::Between => self.is_between_bounds(cell),
        }
    }

    fn order(&self, cell: &str) -> Option<Ordering> {
        match &self.value {
            Target::Number(number, _) => self.column.number(cell)?.partial_cmp(number),
            Target::Date(date, _) => Some(self.column.date(cell)?.as_precise_as(*date).cmp(date)),
            Target::Text(text) => Some(cell.to_lowercase().as_str().cmp(text.as_str())),
        }
    }

    fn is_between_bounds(&self, cell: &str) -> bool {
        match &self.value {
            Target::Number(low, high) => self
                .column
                .number(cell)
                .is_some_and(|value| (*low..=*high).contains(&value)),
            Target::Date(first, last) => self
                .column
                .date(cell)
                .is_some_and(|date| date.as_precise_as(*first) >= *first && date.as_precise_as(*last) <= *last),
            Target::Text(_) => false,
        }
    }

    fn text_value(&self) -> String {
        match &self.value {
            Target::Text(text) => text.clone(),
            Target::Number(number, _) => number.to_string(),
            Target::Date(..) => String::new(),
        }
    }
}

fn needs(filter: &'static str, needs: &'static str) -> CsvError {
    CsvError::FilterNeeds { filter, needs }
}
