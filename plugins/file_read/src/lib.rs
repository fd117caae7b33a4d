//! `file_read`: returns the text of a file, or the entries of a directory.

use std::fs;

use art_sdk::files;
use art_sdk::prelude::*;

mod directory;
mod io;
mod text;

#[cfg(test)]
mod tests;

use io::{FileReadInput, FileReadOutput};

/// Reads a text file from the disk, whole or some of its lines, or lists a directory (folder) with the sizes and times of its
/// files, the newest or largest first if asked. Use it to open, show, print or read a file by its path, to see what is in a
/// folder, to find the newest, latest, most recent, oldest or largest files, or to read the last lines of a log. Returns the
/// text with its line numbers, or the entries with their paths.
#[tool(
    example(
        ask = "Read ~/notes/a.txt",
        ask = "Read the file ~/notes/a.txt",
        ask = "Open ~/notes/a.txt",
        ask = "Show ~/notes/a.txt",
        ask = "Show me ~/notes/a.txt",
        ask = "Print ~/notes/a.txt",
        ask = "Show the content of ~/notes/a.txt",
        ask = "Show the contents of ~/notes/a.txt",
        ask = "What does ~/notes/a.txt say?",
        ask = "What is in the file ~/notes/a.txt?",
        ask = "What is written in ~/notes/a.txt?",
        input = r#"{"path":"~/notes/a.txt"}"#
    ),
    example(ask = "Read /var/log/app.log", input = r#"{"path":"/var/log/app.log"}"#),
    example(ask = "Read README.md", input = r#"{"path":"README.md"}"#),
    example(
        ask = "Read lines 10 to 20 of ~/notes/a.txt",
        ask = "Show lines 10 to 20 of ~/notes/a.txt",
        ask = "Show me lines 10 to 20 of ~/notes/a.txt",
        ask = "Lines 10 to 20 of ~/notes/a.txt",
        ask = "Lines 10 through 20 of ~/notes/a.txt",
        input = r#"{"path":"~/notes/a.txt","from_line":10,"to_line":20}"#
    ),
    example(
        ask = "Read the first 10 lines of ~/notes/a.txt",
        ask = "Show the first 10 lines of ~/notes/a.txt",
        ask = "First 10 lines of ~/notes/a.txt",
        input = r#"{"path":"~/notes/a.txt","to_line":10}"#
    ),
    example(
        ask = "Show the last 20 lines of /var/log/app.log",
        ask = "Show me the last 20 lines of /var/log/app.log",
        ask = "Read the last 20 lines of /var/log/app.log",
        ask = "Last 20 lines of /var/log/app.log",
        input = r#"{"path":"/var/log/app.log","last_lines":20}"#
    ),
    example(
        ask = "List the files in ~/notes",
        ask = "Show the files in ~/notes",
        ask = "Which files are in ~/notes?",
        ask = "Which files are in the folder ~/notes?",
        ask = "What files are in ~/notes?",
        ask = "What files are there in ~/notes?",
        ask = "Files in ~/notes",
        input = r#"{"path":"~/notes","files_only":true}"#
    ),
    example(
        ask = "List the directory ~/notes",
        ask = "List the folder ~/notes",
        ask = "What is in the folder ~/notes?",
        ask = "What is in the directory ~/notes?",
        ask = "Show what is in the folder ~/notes",
        input = r#"{"path":"~/notes"}"#
    ),
    example(
        ask = "List the 3 newest files in ~/notes",
        ask = "Show the 3 newest files in ~/notes",
        ask = "What are the 3 newest files in ~/notes?",
        ask = "What are the 3 latest files in ~/notes?",
        ask = "What are the 3 most recent files in ~/notes?",
        ask = "Which 3 files in ~/notes are the newest?",
        ask = "The 3 newest files in ~/notes",
        input = r#"{"path":"~/notes","sort":"newest","limit":3,"files_only":true}"#
    ),
    example(
        ask = "What is the newest file in ~/notes?",
        ask = "Which file in ~/notes is the newest?",
        ask = "Which file in ~/notes was changed last?",
        ask = "The latest file in ~/notes",
        input = r#"{"path":"~/notes","sort":"newest","limit":1,"files_only":true}"#
    ),
    example(
        ask = "What are the 3 oldest files in ~/notes?",
        ask = "List the 3 oldest files in ~/notes",
        input = r#"{"path":"~/notes","sort":"oldest","limit":3,"files_only":true}"#
    ),
    example(
        ask = "What are the 3 largest files in ~/notes?",
        ask = "What are the 3 biggest files in ~/notes?",
        ask = "List the 3 largest files in ~/notes",
        input = r#"{"path":"~/notes","sort":"largest","limit":3,"files_only":true}"#
    ),
    example(
        ask = "What is the largest file in ~/notes?",
        ask = "Which file in ~/notes is the largest?",
        ask = "What is the biggest file in ~/notes?",
        input = r#"{"path":"~/notes","sort":"largest","limit":1,"files_only":true}"#
    ),
    risk = "low",
    capabilities(fs(
        read,
        path = "{args.path}",
        reason = "reads the file or lists the directory that a call names"
    )),
    limits(fuel = 2_000_000_000, memory = "64 MiB", timeout = "20s")
)]
fn file_read(input: FileReadInput) -> Result<FileReadOutput> {
    let metadata = fs::metadata(&input.path).map_err(|error| files::explain(&input.path, &error))?;
    if metadata.is_dir() {
        return directory::list(&input);
    }
    if let Some(argument) = directory_argument(&input) {
        return Err(ToolError::validation(format_args!(
            "`{}` is a file, and `{argument}` is for directories: leave it out, or name the directory",
            input.path
        )));
    }
    let output = text::read(&input, &files::read(&input.path, text::MAX_FILE_BYTES)?)?;
    Ok(FileReadOutput {
        modified: directory::modification_time(&metadata),
        ..output
    })
}

/// Returns the name of an argument that was given but has a meaning only for directories, or `None` if there is none.
fn directory_argument(input: &FileReadInput) -> Option<&'static str> {
    match input {
        _ if input.sort != io::Sort::Name => Some("sort"),
        _ if input.limit.is_some() => Some("limit"),
        _ if input.files_only => Some("files_only"),
        _ => None,
    }
}
