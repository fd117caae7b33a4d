//! A column and the style of its numbers.

use csv::StringRecord;

use crate::{
    date::Date,
    number::{self, Style},
};

/// A named column.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) index: usize,
    pub(crate) name: String,
    /// How the numbers of the column are written, if it has cells that are not empty and all of them are numbers.
    pub(crate) style: Option<Style>,
    /// Whether the column has cells that are not empty and all of them are dates.
    pub(crate) is_date: bool,
}

impl Column {
    pub(crate) fn new(index: usize, name: String, rows: &[StringRecord]) -> Self {
        let cells = || {
            rows.iter()
                .filter_map(|row| row.get(index))
                .filter(|cell| !number::is_missing(cell))
        };
        let fits = |style: &Style| cells().all(|cell| number::parse(cell, *style).is_some());
        let has_cells = cells().next().is_some();
        let style = [Style::Point, Style::Comma]
            .into_iter()
            .find(|style| has_cells && fits(style));
        let is_date = has_cells && style.is_none() && cells().all(|cell| Date::parse(cell).is_some());
        Self {
            index,
            name,
            style,
            is_date,
        }
    }

    /// Returns the date in `cell` if this is a column of dates and the cell is not empty.
    pub(crate) fn date(&self, cell: &str) -> Option<Date> {
        Date::parse(cell).filter(|_| self.is_date)
    }

    /// Returns the number in `cell` if this is a numeric column and the cell is not empty.
    pub(crate) fn number(&self, cell: &str) -> Option<f64> {
        self.style
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
