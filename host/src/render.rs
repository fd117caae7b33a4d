//! What people and programs read. Nothing else writes to stdout.

pub mod plan;
pub mod table;
pub mod units;

use std::io::{IsTerminal, Write};

use serde::Serialize;

/// Writes an answer to stdout. A reader that went away is no error.
pub fn answer(text: &str) {
    let mut stdout = std::io::stdout().lock();
    drop(stdout.write_all(text.as_bytes()).and_then(|()| stdout.write_all(b"\n")));
}

/// Writes an answer to stdout as indented JSON.
pub fn json<T: Serialize>(value: &T) {
    answer(&serde_json::to_string_pretty(value).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}")));
}

/// Writes a note for the person to stderr.
pub fn note(text: &str) {
    let mut stderr = std::io::stderr().lock();
    drop(stderr.write_all(text.as_bytes()).and_then(|()| stderr.write_all(b"\n")));
}

/// Whether notes go to a terminal, where a line can be drawn again.
#[must_use]
pub fn notes_are_live() -> bool {
    std::io::stderr().is_terminal()
}
