//! Converts the result of a query to the output of the tool, within limits.

use std::collections::HashSet;

use art_sdk::serde_json::{Map, Number, Value as Json};
use graphitesql::{QueryResult, Value};

use crate::io::SqliteQueryOutput;

/// Maximum length of a text in a cell of the output.
const MAX_TEXT_CHARS: usize = 4_000;
/// Maximum size of all rows of the output together, as [`approximate_size`] counts it.
const MAX_TOTAL_BYTES: usize = 256 << 10;

/// Returns the first `limit` rows of a result, or fewer if they are too large together.
pub(crate) fn to_output(result: QueryResult, limit: usize) -> SqliteQueryOutput {
    let columns = unique_names(result.columns);
    let rows_in_result = result.rows.len();
    let mut notes = Vec::new();
    let mut bytes = 0;
    let mut rows = Vec::new();
    for row in result.rows.into_iter().take(limit) {
        let cells: Vec<_> = row.into_iter().map(|cell| to_json(cell, &mut notes)).collect();
        bytes += cells
            .iter()
            .zip(&columns)
            .map(|(cell, name)| approximate_size(cell) + name.len())
            .sum::<usize>();
        if bytes > MAX_TOTAL_BYTES {
            notes.push(format!(
                "rows were left out: all rows together have at most {MAX_TOTAL_BYTES} bytes"
            ));
            break;
        }
        rows.push(columns.iter().cloned().zip(cells).collect::<Map<_, _>>());
    }
    SqliteQueryOutput {
        value: single_value(&rows).cloned(),
        row_count: rows.len(),
        truncated: rows.len() < rows_in_result,
        columns,
        rows,
        notes,
    }
}

/// Makes the names of columns unique. A name that repeats an earlier one gets a number at its end.
fn unique_names(names: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut unique = |name: String| {
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let mut candidates = std::iter::once(name.clone()).chain(numbered);
        candidates
            .find(|candidate| seen.insert(candidate.clone()))
            .unwrap_or(name)
    };
    names.into_iter().map(&mut unique).collect()
}

/// Returns the value of a result that has only one value, if it is not null.
fn single_value(rows: &[Map<String, Json>]) -> Option<&Json> {
    let [row] = rows else { return None };
    let mut cells = row.values();
    match (cells.next(), cells.next()) {
        (Some(cell), None) if !cell.is_null() => Some(cell),
        _ => None,
    }
}

fn to_json(value: Value, notes: &mut Vec<String>) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Integer(number) => number.into(),
        // An infinite number does not exist in JSON.
        Value::Real(number) => Number::from_f64(number).map_or_else(|| number.to_string().into(), Json::Number),
        Value::Text(text) => cut_text(&text.to_str_lossy(), notes).into(),
        Value::Blob(bytes) => format!("blob of {} bytes", bytes.len()).into(),
    }
}

fn cut_text(text: &str, notes: &mut Vec<String>) -> String {
    let Some((end, _)) = text.char_indices().nth(MAX_TEXT_CHARS) else {
        return text.to_owned();
    };
    // Give this note only once. While cells are converted, there are no other notes, so `notes` is empty until it is given.
    if notes.is_empty() {
        notes.push(format!("texts were cut after {MAX_TEXT_CHARS} characters"));
    }
    text.get(..end).unwrap_or_default().to_owned()
}

/// Returns the approximate size of a cell in the output, in bytes, without the name of its column. A number counts as 8 bytes.
/// The 6 bytes for every cell are the quotes around the name and around a text, the colon and the comma.
fn approximate_size(cell: &Json) -> usize {
    cell.as_str().map_or(8, str::len) + 6
}
