//! `file_edit`: changes a part of a text file after a person has seen the difference.

use std::ops::Range;

use art_sdk::change::Change;
use art_sdk::lines::{Lines, is_terminated, split_byte_order_mark};
use art_sdk::prelude::*;

#[cfg(test)]
mod tests;

/// A file, the part to change, and its new text.
#[args]
struct FileEditInput {
    /// The path of the file to edit or change.
    path: String,
    /// The text to replace, exactly as it is in the file, but with any line ends. Without `all`, it must occur only once: if not, add text around it.
    old_text: Option<String>,
    /// The text to put in its place; empty to remove it. Its lines end as those around. A text for whole lines gets an end of line if it has none.
    new_text: Option<String>,
    /// Whether to replace every place where `old_text` occurs.
    #[serde(default)]
    all: bool,
    /// The first line to replace, counted from 1, instead of `old_text`.
    #[schemars(range(min = 1))]
    from_line: Option<usize>,
    /// The last line to replace. Defaults to `from_line`. If it is one less than `from_line`, the text is inserted before that line.
    to_line: Option<usize>,
    /// Several replacements of one file, instead of all of the above but `path`. Each changes what the ones before it have left.
    #[serde(default)]
    edits: Vec<Replacement>,
}

/// One of several replacements.
#[args]
struct Replacement {
    /// The text to replace. Without `all`, it must occur only once.
    old_text: String,
    /// The text to put in its place; empty to remove it.
    new_text: String,
    /// Whether to replace every place where `old_text` occurs.
    #[serde(default)]
    all: bool,
}

/// What was changed.
#[output]
struct FileEditOutput {
    /// The path of the file.
    path: String,
    /// How many places were changed.
    replacements: usize,
    /// How many lines were added.
    lines_added: usize,
    /// How many lines were removed.
    lines_removed: usize,
}

/// Changes a part of a text file on the disk: replaces an exact text or some lines, inserts or removes them. A person sees the
/// difference and approves it before anything is written. Use it to edit, correct, rename or replace something in a file. To write
/// a whole file, use `file_write`. Returns what was changed.
#[tool(
    mode = "blocking",
    example(
        ask = "Replace \"milk\" with \"bread\" in ~/notes/todo.txt",
        ask = "In ~/notes/todo.txt, replace \"milk\" with \"bread\"",
        ask = "Change \"milk\" to \"bread\" in ~/notes/todo.txt",
        ask = "In ~/notes/todo.txt, change \"milk\" to \"bread\"",
        ask = "Edit ~/notes/todo.txt and replace \"milk\" with \"bread\"",
        input = r#"{"path":"~/notes/todo.txt","old_text":"milk","new_text":"bread"}"#
    ),
    example(
        ask = "Replace every \"milk\" with \"bread\" in ~/notes/todo.txt",
        ask = "Replace all \"milk\" with \"bread\" in ~/notes/todo.txt",
        ask = "Replace \"milk\" with \"bread\" everywhere in ~/notes/todo.txt",
        input = r#"{"path":"~/notes/todo.txt","old_text":"milk","new_text":"bread","all":true}"#
    ),
    example(
        ask = "Remove \"milk\" from ~/notes/todo.txt",
        ask = "Delete \"milk\" from ~/notes/todo.txt",
        ask = "Delete \"milk\" in ~/notes/todo.txt",
        input = r#"{"path":"~/notes/todo.txt","old_text":"milk","new_text":""}"#
    ),
    example(
        ask = "Replace line 3 of ~/notes/todo.txt with \"bread\"",
        ask = "Change line 3 of ~/notes/todo.txt to \"bread\"",
        input = r#"{"path":"~/notes/todo.txt","from_line":3,"new_text":"bread"}"#
    ),
    example(
        ask = "Delete line 3 of ~/notes/todo.txt",
        ask = "Remove line 3 from ~/notes/todo.txt",
        input = r#"{"path":"~/notes/todo.txt","from_line":3,"new_text":""}"#
    ),
    risk = "medium",
    capabilities(fs(read_write, path = "{args.path}", reason = "changes the file that a call names")),
    limits(fuel = 2_000_000_000, memory = "64 MiB", timeout = "20s")
)]
fn file_edit(input: FileEditInput, ctx: &Context) -> Result<Outcome<FileEditOutput>> {
    let mut replacements = 0;
    let change = Change::from(&input.path, |before| {
        let before = before.ok_or_else(|| {
            ToolError::not_found(format_args!(
                "there is no `{}`: check the path, or use `file_write`",
                input.path
            ))
        })?;
        let (after, changed_places) = apply_edit(&input, before)?;
        replacements = changed_places;
        if after == before {
            return Err(ToolError::validation(
                "the file would stay the same: there is nothing to change",
            ));
        }
        Ok(after)
    })?;
    // The first call ends with a question. The host asks the person, and calls the tool again with the decision.
    if let Some(question) = change.question(ctx)? {
        return Ok(question.into());
    }
    change.write()?;
    let (lines_added, lines_removed) = change.counts();
    let output = FileEditOutput {
        path: input.path,
        replacements,
        lines_added,
        lines_removed,
    };
    Ok(Reply::new(output).into())
}

/// Returns the new text of the file, and the number of changed places. A byte order mark stays where it is.
fn apply_edit(input: &FileEditInput, before: &str) -> Result<(String, usize)> {
    let (mark, text) = split_byte_order_mark(before);
    let (after, changed_places) = match (&input.old_text, &input.new_text, input.from_line) {
        (None, None, None) if !input.edits.is_empty() && !input.all && input.to_line.is_none() => {
            apply_in_turn(input, text)?
        }
        (Some(old), Some(new), None) if input.edits.is_empty() && input.to_line.is_none() => {
            replace_text(old, new, input.all, text).map_err(|problem| problem.at("`old_text`", &input.path))?
        }
        (None, Some(new), Some(from)) if input.edits.is_empty() && !input.all => {
            let lines = Lines::of(text);
            let (places, new) = replace_lines(input, from, split_byte_order_mark(new).1, text, &lines)?;
            (lines.replace(&places, &new), places.len())
        }
        _ => {
            return Err(ToolError::validation(
                "name the part to change: either `old_text` and `new_text`, with `all` for every place, or `from_line` with `to_line` \
                 and `new_text`, or only `edits`",
            ));
        }
    };
    Ok((format!("{mark}{after}"), changed_places))
}

/// Makes all `edits` or none. Returns the new text, and the number of changed places.
fn apply_in_turn(input: &FileEditInput, text: &str) -> Result<(String, usize)> {
    let (mut text, mut changed_places) = (text.to_owned(), 0);
    for (index, edit) in input.edits.iter().enumerate() {
        let replaced = replace_text(&edit.old_text, &edit.new_text, edit.all, &text);
        let (after, places) =
            replaced.map_err(|problem| problem.at(&format!("`edits[{index}].old_text`"), &input.path))?;
        text = after;
        changed_places += places;
    }
    Ok((text, changed_places))
}

/// Why a text cannot be replaced.
enum Problem {
    Missing,
    /// It occurs so often, on these lines.
    Ambiguous(usize, String),
}

impl Problem {
    /// Returns the error for the text in `field`, which was looked for in the file at `path`.
    fn at(&self, field: &str, path: &str) -> ToolError {
        match self {
            Self::Missing => ToolError::validation(format_args!(
                "{field} does not occur in `{path}`: read the file, and copy the text exactly, with its spaces and line breaks"
            )),
            Self::Ambiguous(count, lines) => ToolError::validation(format_args!(
                "{field} occurs {count} times in `{path}`, on the lines {lines}: add the text around it, or set `all`"
            )),
        }
    }
}

/// Replaces `old`, which must occur once unless `all` is set. Returns the new text, and the number of changed places.
fn replace_text(old: &str, new: &str, all: bool, text: &str) -> Result<(String, usize), Problem> {
    let lines = Lines::of(text);
    // A model that has read the mark with the text may return both.
    let (_, old) = split_byte_order_mark(old);
    let (_, new) = split_byte_order_mark(new);
    let places = lines.find(old);
    match places.len() {
        0 => Err(Problem::Missing),
        count if count > 1 && !all => Err(Problem::Ambiguous(count, line_numbers(&places, &lines))),
        count => Ok((lines.replace(&places, new), count)),
    }
}

/// Returns the numbers of the lines on which the first ten places begin.
fn line_numbers(places: &[Range<usize>], lines: &Lines<'_>) -> String {
    let numbers = places.iter().take(10).map(|place| lines.line_at(place.start) + 1);
    let numbers: Vec<_> = numbers.map(|number| number.to_string()).collect();
    numbers.join(", ")
}

/// Returns the place of the lines from number `from` up to `to_line`, and the text to put there. If `to_line` is `from` - 1, the
/// place is empty and before line `from`.
fn replace_lines(
    input: &FileEditInput,
    from: usize,
    new: &str,
    text: &str,
    lines: &Lines<'_>,
) -> Result<(Vec<Range<usize>>, String)> {
    let to = input.to_line.unwrap_or(from);
    let before = from.saturating_sub(1);
    if before.max(to) > lines.count() {
        return Err(ToolError::validation(format_args!(
            "`{}` has {} lines, so line {} does not exist",
            input.path,
            lines.count(),
            from.max(to)
        )));
    }
    if to < before {
        return Err(ToolError::validation("`to_line` is before `from_line`"));
    }
    let place = lines.start(before)..lines.start(to);
    let mut new = new.to_owned();
    if !new.is_empty() && !is_terminated(&new) {
        new.push('\n');
    }
    // A last line without an ending stays without one, also if it is a new line.
    if !new.is_empty() && place.end == text.len() && !text.is_empty() && !is_terminated(text) {
        let added = Lines::of(&new);
        let last_ending = added.ending(added.count() - 1).len();
        new.truncate(new.len() - last_ending);
        if place.is_empty() {
            new.insert(0, '\n');
        }
    }
    Ok((vec![place], new))
}
