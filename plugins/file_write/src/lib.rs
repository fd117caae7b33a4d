//! `file_write`: writes a text file after a person has seen the difference.

use art_sdk::change::Change;
use art_sdk::lines::{Lines, is_terminated, split_byte_order_mark};
use art_sdk::prelude::*;

#[cfg(test)]
mod tests;

/// A file and its text.
#[args]
struct FileWriteInput {
    /// The path of the file to write, save or create. Its directory must exist.
    path: String,
    /// The text to write.
    text: String,
    /// What happens to a file that exists: `replace` its text, `append` to its end, or `keep` it and fail.
    #[serde(default)]
    existing: Existing,
}

/// What happens to a file that exists.
#[args]
#[derive(Clone, Copy, Default)]
#[serde(rename_all = "snake_case")]
enum Existing {
    #[default]
    Replace,
    Append,
    Keep,
}

/// What was written.
#[output]
struct FileWriteOutput {
    /// The path of the file.
    path: String,
    /// Whether the file is new.
    created: bool,
    /// The size of the file in bytes.
    size: usize,
    /// How many lines were added.
    lines_added: usize,
    /// How many lines were removed.
    lines_removed: usize,
}

/// Writes a text to a file on the disk: creates or saves a file, replaces its content, or appends to its end. A person sees the
/// difference and approves it before anything is written. Use it to save notes, a list, a report or a result. To change a part of
/// a file, use `file_edit`. Returns what was written.
#[tool(
    mode = "blocking",
    example(
        ask = "Write \"buy milk\" to ~/notes/todo.txt",
        ask = "Save \"buy milk\" to ~/notes/todo.txt",
        ask = "Save \"buy milk\" in ~/notes/todo.txt",
        ask = "Write \"buy milk\" into ~/notes/todo.txt",
        ask = "Store \"buy milk\" in ~/notes/todo.txt",
        ask = "Put \"buy milk\" into ~/notes/todo.txt",
        input = r#"{"path":"~/notes/todo.txt","text":"buy milk"}"#
    ),
    example(
        ask = "Append \"buy milk\" to ~/notes/todo.txt",
        ask = "Add \"buy milk\" to ~/notes/todo.txt",
        ask = "Add \"buy milk\" to the end of ~/notes/todo.txt",
        ask = "Append \"buy milk\" to the file ~/notes/todo.txt",
        input = r#"{"path":"~/notes/todo.txt","text":"buy milk","existing":"append"}"#
    ),
    example(
        ask = "Create ~/notes/todo.txt with \"buy milk\"",
        ask = "Create the file ~/notes/todo.txt with \"buy milk\"",
        ask = "Create a new file ~/notes/todo.txt with \"buy milk\"",
        ask = "Create ~/notes/todo.txt with the text \"buy milk\"",
        input = r#"{"path":"~/notes/todo.txt","text":"buy milk","existing":"keep"}"#
    ),
    risk = "medium",
    capabilities(fs(read_write, path = "{args.path}", reason = "writes the file that a call names")),
    limits(fuel = 2_000_000_000, memory = "64 MiB", timeout = "20s")
)]
fn file_write(input: FileWriteInput, ctx: &Context) -> Result<Outcome<FileWriteOutput>> {
    let change = Change::from(&input.path, |before| new_text(&input, before))?;
    // The first call ends with a question. The host asks the person, and calls the tool again with the decision.
    if let Some(question) = change.question(ctx)? {
        return Ok(question.into());
    }
    change.write()?;
    let (lines_added, lines_removed) = change.counts();
    let output = FileWriteOutput {
        path: input.path,
        created: change.before.is_none(),
        size: change.after.len(),
        lines_added,
        lines_removed,
    };
    Ok(Reply::new(output).into())
}

/// Returns the text that the file has after the change. `before` is its present text, or `None` if there is no file.
fn new_text(input: &FileWriteInput, before: Option<&str>) -> Result<String> {
    match (before, input.existing) {
        (Some(_), Existing::Keep) => Err(ToolError::validation(format_args!(
            "`{}` exists: choose another path, or set `existing` to `replace` or `append`",
            input.path
        ))),
        (Some(before), Existing::Append) => Ok(append(before, &input.text)),
        (Some(before), Existing::Replace) if before == input.text => Err(ToolError::validation(format_args!(
            "`{}` has exactly this text: there is nothing to write",
            input.path
        ))),
        _ => Ok(input.text.clone()),
    }
}

/// Returns `before` with `text` at its end, on lines of its own. They end as the last line before them.
fn append(before: &str, text: &str) -> String {
    let (mark, before) = split_byte_order_mark(before);
    // A mark at the beginning of the new text would be in the middle of the file.
    let (_, text) = split_byte_order_mark(text);
    let mut added = text.to_owned();
    if !text.is_empty() && !is_terminated(text) {
        added.push('\n');
    }
    if !before.is_empty() && !is_terminated(before) {
        added.insert(0, '\n');
    }
    let end = before.len();
    format!(
        "{mark}{}",
        Lines::of(before).replace(std::slice::from_ref(&(end..end)), &added)
    )
}
