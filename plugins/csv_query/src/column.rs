//! A column and the style of its numbers.

use art_sdk::decimal::Decimal;
use csv::StringRecord;

use crate::{
    date::{self, Date},
    number::{self, Style},
    time,
};

/// A named column. A cell with a mark for a missing value, such as `n/a`, counts as empty.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) index: usize,
    pub(crate) name: String,
    /// How the numbers of the column are written, if the column is numeric: if all its cells that are not empty are numbers of
    /// the same style, and there is at least one. Otherwise `None`.
    pub(crate) number_style: Option<Style>,
    /// Whether all cells of the column that are not empty are dates, and there is at least one.
    pub(crate) is_date: bool,
    /// Whether all cells of the column that are not empty are times, and there is at least one.
    pub(crate) is_time: bool,
}

impl Column {
    /// Determines from the cells of `rows` what the column contains.
    pub(crate) fn new(index: usize, name: String, rows: &[StringRecord]) -> Self {
        let filled_cells = || {
            rows.iter()
                .filter_map(|row| row.get(index))
                .filter(|cell| !number::is_missing(cell))
        };
        let fits = |style: &Style| filled_cells().all(|cell| number::parse(cell, *style).is_some());
        let has_filled_cells = filled_cells().next().is_some();
        let number_style = [Style::Point, Style::Comma]
            .into_iter()
            .find(|style| has_filled_cells && fits(style));
        let is_date =
            has_filled_cells && number_style.is_none() && filled_cells().all(|cell| Date::parse(cell).is_some());
        let is_time = has_filled_cells && filled_cells().all(|cell| time::parse_seconds(cell).is_some());
        Self {
            index,
            name,
            number_style,
            is_date,
            is_time,
        }
    }

    /// Returns the date in `cell` if this is a column of dates and the cell is not empty.
    pub(crate) fn date(&self, cell: &str) -> Option<Date> {
        Date::parse(cell).filter(|_| self.is_date)
    }

    /// Returns the seconds of the time in `cell` if this is a column of times and the cell is not empty.
    pub(crate) fn time(&self, cell: &str) -> Option<u32> {
        time::parse_seconds(cell).filter(|_| self.is_time)
    }

    /// Returns a number for the date and the time of day in `cell`. It is greater for a later date or time. Returns `None` if
    /// this is neither a column of dates nor one of times, or if the cell is empty.
    pub(crate) fn moment(&self, cell: &str) -> Option<i64> {
        const MICROSECONDS_OF_DAY: i64 = 24 * 60 * 60 * 1_000_000;
        let Some(date) = self.date(cell) else {
            return self.time(cell).map(i64::from);
        };
        let microseconds = date::split_time(cell).1.and_then(time::parse_utc_microseconds);
        Some(i64::from(date.count_days_of_era()) * MICROSECONDS_OF_DAY + microseconds.unwrap_or_default())
    }

    /// Returns the number in `cell` if this is a numeric column and the cell is not empty.
    pub(crate) fn number(&self, cell: &str) -> Option<Decimal> {
        self.number_style
            .filter(|_| !number::is_missing(cell))
            .and_then(|style| number::parse(cell, style))
    }
}

/// Returns the names of `columns`, for error messages.
pub(crate) fn list_names<'a>(columns: impl IntoIterator<Item = &'a Column>) -> String {
    let names: Vec<String> = columns.into_iter().map(|column| format!("`{}`", column.name)).collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}
