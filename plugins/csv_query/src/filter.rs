//! Selects the rows that match the filters.

use std::cmp::Ordering;

use art_sdk::decimal::Decimal;

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
        .map(|filter| condition_of(table, filter))
        .collect::<Result<_, _>>()?;
    let matches = |row: &usize| {
        conditions
            .iter()
            .all(|condition| condition.accepts(table.cell(*row, condition.column)))
    };
    Ok((0..table.rows.len()).filter(matches).collect())
}

/// Returns the condition of one filter.
fn condition_of<'a>(table: &'a Table, filter: &Filter) -> Result<Condition<'a>, CsvError> {
    if filter.value.is_some() && filter.date.is_some() {
        return Err(CsvError::Contradiction("value", "date"));
    }
    // A comparative such as `older` stands for both the column and the operator.
    let (column, operator) = match (filter.comparative, filter.operator) {
        (Some(_), Some(_)) => return Err(CsvError::Contradiction("comparative", "operator")),
        (Some(_), None) if filter.column.is_some() => {
            return Err(CsvError::Contradiction("comparative", "column"));
        }
        (Some(comparative), None) => comparative.resolve(table)?,
        (None, None) => return Err(incomplete("a filter", "`operator` or `comparative`")),
        (None, Some(operator)) => match &filter.column {
            Some(name) => (table.column(name)?, operator),
            None => return condition_without_column(table, filter, operator),
        },
    };
    condition_on_column(column, operator, filter)
}

/// Returns the condition on this column. Fails if the name of the column contains another unit than that of the filter.
fn condition_on_column<'a>(column: &'a Column, operator: Operator, filter: &Filter) -> Result<Condition<'a>, CsvError> {
    if let Some(unit) = filter.unit {
        unit.check(column)?;
    }
    Condition::new(column, operator, filter)
}

/// Returns the condition of a filter that names no column. The condition compares the only column that fits:
/// - for a filter with `date`, a column of dates;
/// - for an operator that compares the order, such as `lt` or `between`, a numeric column;
/// - for `eq`, `ne`, `contains` and `starts_with`, a column in which a cell matches the value.
///
/// If no cell of the table matches a `value`, `ne` fails, and `eq`, `contains` and `starts_with` compare the first column, so
/// that no row matches. Fails in all other cases in which not exactly one column fits.
fn condition_without_column<'a>(
    table: &'a Table,
    filter: &Filter,
    operator: Operator,
) -> Result<Condition<'a>, CsvError> {
    let compares_order = operator.compares_order();
    // A column fits `ne` if one of its cells equals the value, as for `eq`.
    let without_negation = if operator == Operator::Ne {
        Operator::Eq
    } else {
        operator
    };
    let fits = |column: &&Column| match Condition::new(column, without_negation, filter) {
        Ok(_) if filter.date.is_some() => column.is_date,
        Ok(_) if compares_order => column.number_style.is_some(),
        Ok(condition) => (0..table.rows.len()).any(|row| condition.accepts(table.cell(row, column))),
        Err(_) => false,
    };
    let fitting: Vec<&Column> = table.columns.iter().filter(fits).collect();
    match (fitting.as_slice(), table.columns.first()) {
        ([column], _) => condition_on_column(column, operator, filter),
        // No cell matches the value, so no row matches, whichever column is compared.
        ([], Some(column)) if !compares_order && operator != Operator::Ne && filter.date.is_none() => {
            Condition::new(column, operator, filter)
        }
        _ => Err(CsvError::WhichFilterColumn {
            value: filter.compared_text().unwrap_or_default(),
            columns: crate::column::list_names(fitting),
        }),
    }
}

impl Operator {
    /// Returns whether the cells are searched for a text, even in a column of dates or times.
    const fn searches_text(self) -> bool {
        matches!(self, Self::Contains | Self::StartsWith)
    }

    /// Returns whether the operator depends on which is greater, the cell or the value, as `lt` and `between` do.
    const fn compares_order(self) -> bool {
        !matches!(self, Self::Eq | Self::Ne | Self::Contains | Self::StartsWith)
    }
}

impl Filter {
    /// Returns the date to compare with, or else the value, as text.
    fn compared_text(&self) -> Option<String> {
        match (&self.value, &self.date) {
            (_, Some(date)) => Some(date.clone()),
            (Some(FilterValue::Text(text)), _) => Some(text.trim().to_owned()),
            (Some(FilterValue::Number(value)), _) => Some(Decimal::from(value).to_string()),
            (Some(FilterValue::Bool(value)), _) => Some(value.to_string()),
            (None, None) => None,
        }
    }

    /// Returns the last date for `between`, or else the upper bound, which can be a year, as text.
    fn last_date_text(&self) -> Option<String> {
        let upper = || self.upper.as_ref().map(|upper| Decimal::from(upper).to_string());
        self.until.clone().or_else(upper)
    }
}

/// A filter with its column resolved and its value parsed.
struct Condition<'a> {
    column: &'a Column,
    operator: Operator,
    compared_value: ComparedValue,
}

/// The value that cells are compared with.
enum ComparedValue {
    Text(String),
    /// The lower and the upper bound for `between`. For other operators, both are the number.
    Number(Decimal, Decimal),
    /// The first and the last date for `between`. For other operators, both are the date.
    Date(Date, Date),
    /// The seconds of a time.
    Time(u32),
}

impl<'a> Condition<'a> {
    fn new(column: &'a Column, operator: Operator, filter: &Filter) -> Result<Self, CsvError> {
        let text = filter
            .compared_text()
            .ok_or_else(|| incomplete("a filter", "`value` or `date`"))?;
        let number = column.number_style.and_then(|style| match &filter.value {
            Some(FilterValue::Number(value)) => Some(Decimal::from(value)),
            _ => number::parse(&text, style).or_else(|| number::parse(&text, Style::Point)),
        });
        // A year such as `2026` is compared with dates only by operators such as `lt` and `between`. For `eq` and `ne`, a year as
        // `value` is a text, so that no date equals it, and a year as `date` is refused.
        let date = if operator.compares_order() {
            parse_date_or_year(&text)
        } else {
            Date::parse(&text)
        };
        let date = date.filter(|_| column.is_date && !operator.searches_text());
        let is_between = operator == Operator::Between;
        let compared_value = match (number, date) {
            (Some(number), _) if is_between => {
                let upper = filter
                    .upper
                    .as_ref()
                    .map(Decimal::from)
                    .ok_or_else(|| incomplete("a filter with `between`", "`value` and `upper`"))?;
                ComparedValue::Number(number.min(upper), number.max(upper))
            }
            (Some(number), _) => ComparedValue::Number(number, number),
            (_, Some(date)) if is_between => {
                let until = filter
                    .last_date_text()
                    .ok_or_else(|| incomplete("a filter with `between`", "`date` and `until`"))?;
                let last = parse_date_or_year(&until).ok_or_else(|| not_comparable_with_date(&until, column))?;
                ComparedValue::Date(date, last)
            }
            (_, Some(date)) => ComparedValue::Date(date, date),
            _ => Self::text_to_compare(column, operator, filter, text)?,
        };
        Ok(Self {
            column,
            operator,
            compared_value,
        })
    }

    /// Returns a text or a time to compare cells with, or an error if the comparison makes no sense for text.
    fn text_to_compare(
        column: &Column,
        operator: Operator,
        filter: &Filter,
        text: String,
    ) -> Result<ComparedValue, CsvError> {
        let compares_order = operator.compares_order();
        if (filter.date.is_some() && !operator.searches_text()) || (compares_order && column.is_date) {
            return Err(not_comparable_with_date(&text, column));
        }
        if compares_order && column.number_style.is_some() {
            return Err(CsvError::NotComparableWithText {
                value: text,
                column: column.name.clone(),
            });
        }
        if operator == Operator::Between {
            return Err(incomplete("a filter with `between`", "a column of numbers or dates"));
        }
        let time = column.time(&text).filter(|_| !operator.searches_text());
        Ok(time.map_or_else(|| ComparedValue::Text(text.to_lowercase()), ComparedValue::Time))
    }

    /// Returns whether a cell fulfils the condition.
    fn accepts(&self, cell: &str) -> bool {
        let order = self.order(cell);
        match self.operator {
            Operator::Eq => order == Some(Ordering::Equal),
            Operator::Ne => order != Some(Ordering::Equal),
            Operator::Lt => order == Some(Ordering::Less),
            Operator::Le => order.is_some_and(Ordering::is_le),
            Operator::Gt => order == Some(Ordering::Greater),
            Operator::Ge => order.is_some_and(Ordering::is_ge),
            Operator::Contains => cell.to_lowercase().contains(&self.searched_text()),
            Operator::StartsWith => cell.to_lowercase().starts_with(&self.searched_text()),
            Operator::Between => self.is_between_bounds(cell),
        }
    }

    /// Returns whether the cell is less than, equal to or greater than the value. Returns `None` if the value is a number, a
    /// date or a time and the cell is empty.
    fn order(&self, cell: &str) -> Option<Ordering> {
        match &self.compared_value {
            ComparedValue::Number(number, _) => Some(self.column.number(cell)?.cmp(number)),
            ComparedValue::Date(date, _) => Some(self.column.date(cell)?.as_precise_as(*date).cmp(date)),
            ComparedValue::Time(time) => Some(self.column.time(cell)?.cmp(time)),
            ComparedValue::Text(text) => Some(cell.to_lowercase().as_str().cmp(text.as_str())),
        }
    }

    fn is_between_bounds(&self, cell: &str) -> bool {
        match &self.compared_value {
            ComparedValue::Number(low, high) => self
                .column
                .number(cell)
                .is_some_and(|value| (*low..=*high).contains(&value)),
            ComparedValue::Date(first, last) => self
                .column
                .date(cell)
                .is_some_and(|date| date.as_precise_as(*first) >= *first && date.as_precise_as(*last) <= *last),
            ComparedValue::Time(_) | ComparedValue::Text(_) => false,
        }
    }

    /// Returns the text that `contains` and `starts_with` look for in a cell.
    fn searched_text(&self) -> String {
        match &self.compared_value {
            ComparedValue::Text(text) => text.clone(),
            ComparedValue::Number(number, _) => number.to_string(),
            // Not reached: for `contains` and `starts_with`, a date or a time is a `Text`.
            ComparedValue::Date(..) | ComparedValue::Time(_) => String::new(),
        }
    }
}

/// Parses a date, a month or a year.
fn parse_date_or_year(text: &str) -> Option<Date> {
    Date::parse(text).or_else(|| Date::of_year(text.trim()))
}

/// Returns the error for a date that cannot be read, or for a column that has no dates.
fn not_comparable_with_date(date: &str, column: &Column) -> CsvError {
    CsvError::NotComparableWithDate {
        date: date.to_owned(),
        column: column.name.clone(),
    }
}

/// Returns the error for a filter that lacks what it needs.
fn incomplete(filter: &'static str, needs: &'static str) -> CsvError {
    CsvError::IncompleteFilter { filter, needs }
}
