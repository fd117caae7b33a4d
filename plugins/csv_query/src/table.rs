//! Parses CSV text into a table.

use std::borrow::Cow;
use std::collections::HashSet;

use csv::{ReaderBuilder, StringRecord, Trim};

use crate::{
    column::{self, Column},
    error::CsvError,
};

/// The delimiters that [`detect_delimiter`] tries.
const DELIMITERS: [char; 4] = [',', ';', '\t', '|'];

/// Number of lines that are sampled to detect the delimiter.
const SAMPLE_LINES: usize = 10;

/// The columns that the header names, and the rows below it. Each row has as many cells as there are columns.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<StringRecord>,
}

impl Table {
    /// Parses CSV text. Detects the delimiter if none is given.
    pub(crate) fn read(text: &str, delimiter: Option<&str>) -> Result<Self, CsvError> {
        let text = text.trim_start_matches('\u{feff}');
        if text.trim().is_empty() {
            return Err(CsvError::Empty);
        }
        let may_have_title = delimiter.is_none();
        let (preamble, table) = text.split_at(preamble_length(text, may_have_title));
        let delimiter = match delimiter.or_else(|| declared_delimiter(preamble)) {
            Some(given) => parse_delimiter(given)?,
            None => detect_delimiter(table),
        };
        // The reader skips empty lines. In place of the lines before the header, they keep the numbers of the lines.
        let text = match preamble.matches('\n').count() {
            0 => Cow::Borrowed(table),
            lines => Cow::Owned("\n".repeat(lines) + table),
        };
        let (header, rows) = read_records(&without_blanks_before_quotes(&text, delimiter), delimiter)?;
        let names = unique_names(&header);
        let columns = names
            .into_iter()
            .enumerate()
            .map(|(index, name)| Column::new(index, name, &rows))
            .collect();
        Ok(Self { columns, rows })
    }

    /// Returns the cell of `row` in `column`.
    pub(crate) fn cell<'a>(&'a self, row: usize, column: &Column) -> &'a str {
        self.rows
            .get(row)
            .and_then(|row| row.get(column.index))
            .unwrap_or_default()
    }

    /// Finds a column by its exact name, else in any letter case, else without spaces and punctuation.
    pub(crate) fn column(&self, name: &str) -> Result<&Column, CsvError> {
        let find = |is_same: &dyn Fn(&str) -> bool| self.columns.iter().find(|column| is_same(&column.name));
        let name = name.trim();
        let (lower, plain) = (name.to_lowercase(), letters_and_digits(name));
        find(&|known| known == name)
            .or_else(|| find(&|known| known.to_lowercase() == lower))
            .or_else(|| find(&|known| !plain.is_empty() && letters_and_digits(known) == plain))
            .ok_or_else(|| CsvError::UnknownColumn {
                name: name.to_owned(),
                columns: column::list_names(&self.columns),
            })
    }

    pub(crate) fn numeric_columns(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| column.number_style.is_some())
    }

    /// Returns the names of the numeric columns, for error messages.
    pub(crate) fn numeric_names(&self) -> String {
        column::list_names(self.numeric_columns())
    }

    /// Returns the 1-based line of the text at which `row` starts.
    pub(crate) fn line(&self, row: usize) -> u64 {
        self.rows
            .get(row)
            .and_then(StringRecord::position)
            .map_or(0, csv::Position::line)
    }
}

/// Returns the name in lower case without spaces and punctuation.
fn letters_and_digits(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// Parses a delimiter, which may be given as a word such as `tab`.
fn parse_delimiter(given: &str) -> Result<u8, CsvError> {
    let delimiter = match given.trim().to_lowercase().as_str() {
        "comma" => ",",
        "semicolon" => ";",
        "tab" | "\\t" => "\t",
        "pipe" => "|",
        _ => given,
    };
    match delimiter.as_bytes() {
        [byte] if byte.is_ascii() && !byte.is_ascii_alphanumeric() && *byte != b'"' => Ok(*byte),
        _ => Err(CsvError::BadDelimiter(given.to_owned())),
    }
}

/// Returns the length of what precedes the header, in bytes: the line `sep=;` that spreadsheets write, comments, and a title, which
/// is lines without delimiters before an empty line. Looks for a title only if `may_have_title` is set.
fn preamble_length(text: &str, may_have_title: bool) -> usize {
    let mut uncommented = text
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let first_row = uncommented.find(|line| separator_line(line.trim()).is_none());
    // A header such as `# x,y` has as many delimiters as the first row.
    let is_header = |line: &str| {
        let count = |line, delimiter| count_unquoted(line, delimiter);
        let is_alike = |delimiter: &char| {
            count(line, *delimiter) > 0
                && first_row.is_some_and(|row| count(line, *delimiter) == count(row, *delimiter))
        };
        DELIMITERS.iter().any(is_alike)
    };
    let (mut length, mut at, mut is_in_title, mut is_title_over) = (0, 0, false, false);
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        let is_comment = (content == "#" || content.starts_with("# ")) && !is_header(content);
        let is_declaration = at == 0 && separator_line(content).is_some();
        if content.is_empty() || is_comment || is_declaration {
            at += line.len();
            is_title_over = is_in_title && content.is_empty();
            length = if is_in_title { length } else { at };
        } else if content.contains(DELIMITERS) || !may_have_title {
            length = if is_title_over && begins_with_alike_rows(text.get(at..).unwrap_or_default()) {
                at
            } else {
                length
            };
            break;
        } else {
            // The header of a table of one column has no delimiters either, but no empty line after it.
            at += line.len();
            (is_in_title, is_title_over) = (true, false);
        }
    }
    let (preamble, table) = text.split_at(length);
    // A quoted field may have empty lines.
    let is_whole = preamble.matches('"').count().is_multiple_of(2);
    let is_declared = declared_delimiter(preamble).is_some() && !table.trim().is_empty();
    if is_whole && (table.contains(DELIMITERS) || is_declared) {
        length
    } else {
        0
    }
}

/// Returns whether the first two lines have the same number of delimiters of one kind, at least one.
fn begins_with_alike_rows(table: &str) -> bool {
    let (Some(first), Some(second)) = (table.lines().next(), table.lines().nth(1)) else {
        return false;
    };
    let count = |delimiter: &char| (count_unquoted(first, *delimiter), count_unquoted(second, *delimiter));
    DELIMITERS
        .iter()
        .map(count)
        .any(|(first, second)| first > 0 && first == second)
}

/// Returns the delimiter in a line such as `sep=;`.
fn separator_line(line: &str) -> Option<&str> {
    let (key, delimiter) = line.split_once('=')?;
    (key.eq_ignore_ascii_case("sep") && delimiter.chars().count() <= 1).then_some(match delimiter {
        // The end of the line was a tab.
        "" => "\t",
        delimiter => delimiter,
    })
}

fn declared_delimiter(preamble: &str) -> Option<&str> {
    separator_line(preamble.lines().next()?.trim())
}

/// Returns the text without the blanks between a delimiter and a quotation mark, after which the `csv` crate takes the mark for a
/// part of the text.
fn without_blanks_before_quotes(text: &str, delimiter: u8) -> Cow<'_, str> {
    if !text.contains(" \"") {
        return Cow::Borrowed(text);
    }
    let (mut cleaned, mut blanks) = (String::with_capacity(text.len()), String::new());
    let (mut is_quoted, mut is_at_start, mut was_mark) = (false, true, false);
    for sign in text.chars() {
        if !is_quoted && is_at_start && sign == ' ' && delimiter != b' ' {
            blanks.push(sign);
            continue;
        }
        // A mark in the middle of an unquoted field is a part of its text; two marks in a quoted one are one mark.
        let is_mark = sign == '"' && (is_quoted || is_at_start || was_mark);
        if !(is_mark && is_at_start) {
            cleaned.push_str(&blanks);
        }
        blanks.clear();
        is_quoted ^= is_mark;
        was_mark = is_mark;
        is_at_start = !is_quoted && (sign == char::from(delimiter) || sign == '\n' || sign == '\r');
        cleaned.push(sign);
    }
    cleaned.push_str(&blanks);
    Cow::Owned(cleaned)
}

/// Counts for each delimiter how many of the first [`SAMPLE_LINES`] lines have as many fields as the header, and returns the
/// delimiter with the largest count. Delimiters that are not in the header are considered only if it has none of the
/// [`DELIMITERS`]. Of several delimiters with the same count, returns the one that occurs most often in the header, and of
/// several of these the first of [`DELIMITERS`].
fn detect_delimiter(text: &str) -> u8 {
    let lines: Vec<&str> = text
        .split(['\n', '\r'])
        .filter(|line| !line.trim().is_empty())
        .take(SAMPLE_LINES)
        .collect();
    let score = |delimiter: char| {
        let counts: Vec<usize> = lines.iter().map(|line| count_unquoted(line, delimiter)).collect();
        let count_in_header = counts.first().copied().unwrap_or_default();
        let lines_like_header = counts.iter().filter(|count| **count == count_in_header).count();
        (count_in_header > 0, lines_like_header, count_in_header)
    };
    // `max_by_key` returns the last of equal maxima, so `rev` puts the comma last.
    let best = DELIMITERS.into_iter().rev().max_by_key(|delimiter| score(*delimiter));
    best.and_then(|delimiter| u8::try_from(delimiter).ok()).unwrap_or(b',')
}

/// Returns how often the delimiter occurs outside of quotation marks.
fn count_unquoted(line: &str, delimiter: char) -> usize {
    let mut is_quoted = false;
    let mut count = 0;
    for c in line.chars() {
        is_quoted ^= c == '"';
        count += usize::from(c == delimiter && !is_quoted);
    }
    count
}

/// Returns the header and the rows. Fails if a row does not have as many fields as the header.
fn read_records(text: &str, delimiter: u8) -> Result<(StringRecord, Vec<StringRecord>), CsvError> {
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(true)
        .flexible(true)
        .trim(Trim::All)
        .from_reader(text.as_bytes());
    let header = reader.headers()?.clone();
    let mut rows = Vec::new();
    for record in reader.records() {
        let mut record = record?;
        move_position_past_line_breaks(&mut record, text);
        if record.len() != header.len() {
            let line = record.position().map_or(0, csv::Position::line);
            let (found, expected) = (record.len(), header.len());
            return Err(CsvError::WrongFieldCount {
                line,
                found,
                expected,
                delimiter: char::from(delimiter),
            });
        }
        rows.push(record);
    }
    Ok((header, rows))
}

/// Moves the position of the record to where its first field starts. The reader of the `csv` crate sets it to the end of the
/// previous record, which may be followed by the `\n` of a `\r\n` and by empty lines.
fn move_position_past_line_breaks(record: &mut StringRecord, text: &str) {
    let Some(mut position) = record.position().cloned() else {
        return;
    };
    let start = usize::try_from(position.byte()).unwrap_or_default();
    let rest = text.as_bytes().get(start..).unwrap_or_default();
    for byte in rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')) {
        position.set_byte(position.byte() + 1);
        position.set_line(position.line() + u64::from(*byte == b'\n'));
    }
    record.set_position(Some(position));
}

/// Returns the names of the columns, made unique and not empty, because they become the keys of the JSON object
/// of each row.
fn unique_names(header: &StringRecord) -> Vec<String> {
    let mut taken_names = HashSet::new();
    let mut names = Vec::new();
    for (index, cell) in header.iter().enumerate() {
        let base_name = if cell.is_empty() {
            format!("column_{}", index + 1)
        } else {
            cell.to_owned()
        };
        let mut name = base_name.clone();
        let mut suffix = 2;
        while !taken_names.insert(name.to_lowercase()) {
            name = format!("{base_name}_{suffix}");
            suffix += 1;
        }
        names.push(name);
    }
    names
}
