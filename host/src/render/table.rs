//! Tables with aligned columns.

use art_core::text::printable;

/// Returns the lines of a table whose first row is the heading. Cells are untrusted, so control characters are escaped.
#[must_use]
pub fn lines(rows: &[Vec<String>]) -> Vec<String> {
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| cell_text(cell)).collect())
        .collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or_default()).collect();
    rows.iter().map(|row| line(row, &widths)).collect()
}

/// Returns the first sentence of a description, which is short enough for a cell.
#[must_use]
pub fn first_sentence(text: &str) -> String {
    let first = text.split_inclusive(". ").next().unwrap_or_default();
    first.trim_end().to_owned()
}

fn line(row: &[String], widths: &[usize]) -> String {
    let padded = row.iter().zip(widths).map(|(cell, &width)| format!("{cell:<width$}"));
    padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
}

/// Returns the cell as one line with escaped control characters.
fn cell_text(cell: &str) -> String {
    printable(&cell.replace(['\n', '\t'], " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let rows = [
            vec!["a".to_owned(), "b".to_owned()],
            vec!["long".to_owned(), "x".to_owned()],
        ];
        assert_eq!(lines(&rows), ["a     b", "long  x"]);
    }

    #[test]
    fn a_cell_cannot_break_its_line() {
        assert_eq!(lines(&[vec!["a\nb\u{1b}[2J".to_owned()]]), ["a b\\u{1b}[2J"]);
    }
}
