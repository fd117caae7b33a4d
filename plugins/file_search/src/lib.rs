//! `file_search`: finds text in the files of a directory.

use art_sdk::prelude::*;

mod input;
mod output;
mod search;
mod walk;

#[cfg(test)]
mod tests;

use input::FileSearchInput;
use output::FileSearchOutput;

/// Searches for a text or a pattern in the files of a directory (folder) and everything below it, or in one file, like grep or
/// ripgrep. Use it to find which files contain, mention or have a word, where something stands, or on which lines. Skips binary and
/// hidden files and those that an ignore file names. Returns the files and the lines with their numbers.
#[tool(
    example(
        ask = "Which files in ~/notes contain the word budget?",
        ask = "Which files in ~/notes have the word budget?",
        ask = "Which files in ~/notes mention the word budget?",
        ask = "What files in ~/notes contain the word budget?",
        ask = "Which of the files in ~/notes contain the word budget?",
        ask = "Files in ~/notes that contain the word budget",
        ask = "List the files in ~/notes that contain the word budget",
        ask = "Find the files in ~/notes that contain the word budget",
        ask = "In which files in ~/notes is the word budget?",
        input = r#"{"path":"~/notes","text":"budget","whole_words":true,"files_only":true}"#
    ),
    example(
        ask = "Which files in ~/notes contain \"annual budget\"?",
        ask = "Which files in ~/notes mention \"annual budget\"?",
        ask = "Which files in ~/notes have \"annual budget\" in them?",
        ask = "Find the files in ~/notes that contain \"annual budget\"",
        ask = "List the files in ~/notes that contain \"annual budget\"",
        input = r#"{"path":"~/notes","text":"annual budget","files_only":true}"#
    ),
    example(
        ask = "Search ~/notes for budget",
        ask = "Search the folder ~/notes for budget",
        ask = "Search for budget in ~/notes",
        ask = "Find budget in ~/notes",
        ask = "Look for budget in ~/notes",
        ask = "Grep budget in ~/notes",
        ask = "Where in ~/notes is budget mentioned?",
        input = r#"{"path":"~/notes","text":"budget"}"#
    ),
    example(
        ask = "Search ~/notes for \"annual budget\"",
        ask = "Find \"annual budget\" in ~/notes",
        ask = "Where in ~/notes is \"annual budget\" mentioned?",
        ask = "Which lines in ~/notes contain \"annual budget\"?",
        input = r#"{"path":"~/notes","text":"annual budget"}"#
    ),
    example(
        ask = "Search the *.md files in ~/notes for budget",
        ask = "Find budget in the *.md files in ~/notes",
        input = r#"{"path":"~/notes","text":"budget","glob":"*.md"}"#
    ),
    example(
        ask = "Search ~/notes for the pattern \"TODO|FIXME\"",
        ask = "Find the pattern \"TODO|FIXME\" in ~/notes",
        ask = "Find the regex \"TODO|FIXME\" in ~/notes",
        ask = "Grep the pattern \"TODO|FIXME\" in ~/notes",
        input = r#"{"path":"~/notes","text":"TODO|FIXME","pattern":true}"#
    ),
    example(
        ask = "Search /var/log/app.log for error",
        ask = "Find error in /var/log/app.log",
        ask = "Which lines of /var/log/app.log contain error?",
        input = r#"{"path":"/var/log/app.log","text":"error"}"#
    ),
    example(
        ask = "Search /var/log/app.log for error and show 2 lines around each",
        ask = "Find error in /var/log/app.log with 2 lines of context",
        input = r#"{"path":"/var/log/app.log","text":"error","context":2}"#
    ),
    risk = "low",
    capabilities(fs(
        read,
        path = "{args.path}",
        reason = "searches the directory or the file that a call names"
    )),
    limits(fuel = 2_000_000_000, memory = "64 MiB", timeout = "30s")
)]
fn file_search(input: FileSearchInput, ctx: &Context) -> Result<FileSearchOutput> {
    search::run(&input, ctx)
}
