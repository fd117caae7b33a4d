//! The text of a file, and the lines that were asked for.

use art_sdk::lines::{Lines, split_byte_order_mark};
use art_sdk::prelude::*;

use crate::io::{FileReadInput, FileReadOutput, Kind};

/// Maximum size of a file, in bytes.
pub(crate) const MAX_FILE_BYTES: u64 = 16 << 20;
/// Maximum size of the returned text, in bytes.
const MAX_TEXT_BYTES: usize = 256 << 10;
/// Number of bytes at the beginning of a file that are searched for a NUL byte, which shows that the file is no text.
const NUL_SEARCH_BYTES: usize = 8192;

/// Returns the lines that `input` asks for. `bytes` is the content of the file.
pub(crate) fn read(input: &FileReadInput, bytes: &[u8]) -> Result<FileReadOutput> {
    let (text, encoding, has_replacements) = decode(&input.path, bytes)?;
    let (mark, text) = split_byte_order_mark(&text);
    let lines = Lines::of(text);
    let (first, end) = requested_lines(input, lines.count())?;
    let mut output = FileReadOutput {
        encoding: Some(encoding),
        line_count: Some(lines.count() as u64),
        size: Some(bytes.len() as u64),
        ..FileReadOutput::empty(Kind::File)
    };
    if has_replacements {
        let encoding = encoding.to_uppercase();
        output.notes.push(format!(
            "the file is not valid {encoding}: bytes that are no text are shown as `\u{fffd}`"
        ));
    }
    if !mark.is_empty() {
        let note = "the file begins with a byte order mark, which is not in `text`; `file_edit` keeps it";
        output.notes.push(note.to_owned());
    }
    add_lines(text, &lines, first, end, &mut output);
    Ok(output)
}

/// Returns the text with its encoding, and whether bytes that are no text had to be replaced. A byte order mark at the beginning
/// tells the encoding. Without such a mark, the encoding is UTF-8. The text has the mark only if it is UTF-8.
fn decode(path: &str, bytes: &[u8]) -> Result<(String, &'static str, bool)> {
    let decode_utf16 = |to_unit: fn([u8; 2]) -> u16| {
        let (pairs, rest) = bytes.get(2..).unwrap_or_default().as_chunks::<2>();
        let mut has_replacements = !rest.is_empty();
        let text = char::decode_utf16(pairs.iter().map(|pair| to_unit(*pair)))
            .map(|decoded| {
                has_replacements |= decoded.is_err();
                decoded.unwrap_or(char::REPLACEMENT_CHARACTER)
            })
            .collect();
        (text, has_replacements)
    };
    match bytes {
        [0xff, 0xfe, ..] => {
            let (text, has_replacements) = decode_utf16(u16::from_le_bytes);
            Ok((text, "utf-16le", has_replacements))
        }
        [0xfe, 0xff, ..] => {
            let (text, has_replacements) = decode_utf16(u16::from_be_bytes);
            Ok((text, "utf-16be", has_replacements))
        }
        _ if bytes.iter().take(NUL_SEARCH_BYTES).any(|byte| *byte == 0) => Err(ToolError::validation(format_args!(
            "`{path}` is not a text file: it contains NUL bytes; `hash_file` and `archive_list` read files that are no text"
        ))),
        _ => {
            let text = String::from_utf8_lossy(bytes);
            let has_replacements = matches!(text, std::borrow::Cow::Owned(_));
            Ok((text.into_owned(), "utf-8", has_replacements))
        }
    }
}

/// Returns which lines the input asks for: the index of the first one, counted from 0, and the index after the last one.
fn requested_lines(input: &FileReadInput, line_count: usize) -> Result<(usize, usize)> {
    let to_usize = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    if let Some(lines) = input.last_lines {
        if input.from_line.is_some() || input.to_line.is_some() {
            return Err(ToolError::validation(
                "`last_lines` does not go together with `from_line` and `to_line`: leave one of them out",
            ));
        }
        return Ok((line_count.saturating_sub(to_usize(lines)), line_count));
    }
    // `from_line` and `to_line` count from 1, and indices from 0. So `to_line` is already the index after the last line.
    let first = to_usize(input.from_line.unwrap_or(1)).saturating_sub(1);
    let end = to_usize(input.to_line.unwrap_or(u64::MAX));
    if first >= end {
        return Err(ToolError::validation("`to_line` is before `from_line`"));
    }
    // An empty file has no line 1, but `from_line` 1 is accepted for it.
    if first >= line_count && input.from_line.is_some_and(|line| line > 1) {
        return Err(ToolError::validation(format_args!(
            "`from_line` is {}, but `{}` has {line_count} lines",
            first.saturating_add(1),
            input.path
        )));
    }
    Ok((first, end.min(line_count)))
}

/// Adds the lines from index `first` up to, but without, `end` to the output: as many as fit into [`MAX_TEXT_BYTES`], or
/// the beginning of the first line if none fits. `lines` are all lines of `text`.
fn add_lines(text: &str, lines: &Lines<'_>, first: usize, end: usize, output: &mut FileReadOutput) {
    let start = |index: usize| lines.start(index);
    let fitting = (first..end).take_while(|index| start(index + 1) - start(first) <= MAX_TEXT_BYTES);
    let fitting_end = first + fitting.count();
    let mut shown = text
        .get(start(first)..start(fitting_end))
        .unwrap_or_default()
        .to_owned();
    let mut shown_end = fitting_end;
    if fitting_end < end {
        if fitting_end == first {
            let line = text.get(start(first)..start(first + 1)).unwrap_or_default();
            shown = line
                .get(..line.floor_char_boundary(MAX_TEXT_BYTES))
                .unwrap_or_default()
                .to_owned();
            shown_end = first + 1;
            // A line counts as complete even if its line ending was cut.
            if shown.len() < line.trim_end_matches(['\r', '\n']).len() {
                output.truncated = true;
                output.notes.push(format!(
                    "line {shown_end} is longer than {MAX_TEXT_BYTES} bytes: only its beginning is shown"
                ));
            }
        }
        if shown_end < end {
            output.truncated = true;
            output.notes.push(format!(
                "lines {} to {end} are not shown: set `from_line` to read them",
                shown_end + 1
            ));
        }
    }
    let number_or_zero = |line: usize| if shown_end > first { line as u64 } else { 0 };
    output.first_line = Some(number_or_zero(first + 1));
    output.last_line = Some(number_or_zero(shown_end));
    output.text = Some(shown);
}
