//! Output on stdout and stderr. No other module writes to stdout.

mod closed_stdout;
pub(crate) mod compiling;
pub(crate) mod display;
pub(crate) mod drawing;
pub(crate) mod events;
pub mod plan;
pub(crate) mod saved_plan;
pub(crate) mod suggestions;
pub mod table;
pub mod units;

use std::io::{IsTerminal, Write};
use std::sync::OnceLock;

use art_core::text::{printable, readable};
use serde::Serialize;
use serde::de::IgnoredAny;

/// The first failure to write to stdout. Nothing is written after it, so that no answer has a gap.
static STDOUT_ERROR: OnceLock<std::io::Error> = OnceLock::new();

/// Returns the first failure to write to stdout, if there was one. The program checks this before it exits: if an answer was
/// lost, it exits with a failure.
#[must_use]
pub fn stdout_error() -> Option<&'static std::io::Error> {
    STDOUT_ERROR.get()
}

/// Writes a text and a line end to stdout. Control characters are escaped. A failure is recorded for [`stdout_error`].
pub fn print(text: &str) {
    to_stdout(|out| write_line(out, text));
}

/// Writes the output of a tool to stdout: with escaped control characters if stdout is a terminal, unchanged if it is a file or a
/// pipe.
pub(crate) fn tool_output(text: &str) {
    if stdout_is_terminal() {
        let is_json = text.starts_with(['{', '[', '"']) && serde_json::from_str::<IgnoredAny>(text).is_ok();
        return if is_json {
            print(&escape_json(text))
        } else {
            print_prose(None, text)
        };
    }
    to_stdout(|out| out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n")));
}

/// Writes to stdout with `write`, unless an earlier write failed.
pub(crate) fn to_stdout(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) {
    if stdout_error().is_some() {
        return;
    }
    let mut out = stdout().lock();
    let written = closed_stdout::check_was_open()
        .and_then(|()| write(&mut out))
        .and_then(|()| out.flush());
    if let Err(error) = written {
        STDOUT_ERROR.get_or_init(|| error);
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the module that writes to stdout")]
fn stdout() -> std::io::Stdout {
    std::io::stdout()
}

/// Writes a value to stdout as indented JSON. Control characters are written as `\uXXXX`.
pub fn json<T: Serialize>(value: &T) {
    let text = serde_json::to_string_pretty(value).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"));
    print(&escape_json(&text));
}

/// Writes a value to stdout as one line of JSON, for programs that read line by line.
pub(crate) fn json_line<T: Serialize>(value: &T) {
    let text = serde_json::to_string(value).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"));
    print(&escape_json(&text));
}

/// Writes a piece of an answer to stdout immediately, without a line end. `before` is the character that was printed before it.
pub(crate) fn print_piece(before: Option<char>, text: &str) {
    to_stdout(|out| out.write_all(readable(before, text).as_bytes()));
}

/// Writes an answer, or its rest after `before`, and a line end to stdout.
pub(crate) fn print_prose(before: Option<char>, text: &str) {
    to_stdout(|out| {
        out.write_all(readable(before, text).as_bytes())?;
        out.write_all(b"\n")
    });
}

/// Turns off the bracketed paste mode, which an interrupted line editor leaves on. Bypasses the lock of stdout, since a blocked
/// thread may hold it.
pub(crate) fn turn_off_bracketed_paste() {
    const BRACKETED_PASTE_OFF: &[u8] = b"\x1b[?2004l";
    if stdout_is_terminal()
        && let Err(error) = rustix::io::write(stdout(), BRACKETED_PASTE_OFF)
    {
        tracing::debug!(%error, "bracketed paste mode could not be turned off");
    }
}

/// Writes a note to stderr and escapes control characters. Suggested commands get the options of this command line.
pub fn note(text: &str) {
    // Ignore the error: there is no other channel to report it.
    drop(write_line(&mut std::io::stderr().lock(), &suggestions::in_text(text)));
}

/// Writer of the program's own logs. Escapes control characters as [`note`] does, since logs may contain names of tools or
/// files, and completes suggested commands.
pub(crate) struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let text = printable(&suggestions::in_text(&text));
        std::io::stderr().lock().write_all(text.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}

/// Writes a compiler message to stderr unchanged, including its colours.
pub(crate) fn compiler_message(rendered: &str) {
    drop(std::io::stderr().lock().write_all(rendered.as_bytes()));
}

/// Returns whether stderr is a terminal, so that progress can be redrawn.
#[must_use]
pub fn stderr_is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// Returns the width of the terminal at stderr in characters, if there is one.
pub(crate) fn stderr_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stderr()).ok()?;
    Some(usize::from(size.ws_col)).filter(|width| *width > 0)
}

/// Returns whether stdout is a terminal, so that an answer is shown while the model writes it.
pub(crate) fn stdout_is_terminal() -> bool {
    stdout().is_terminal()
}

fn write_line(out: &mut dyn Write, text: &str) -> std::io::Result<()> {
    out.write_all(printable(text).as_bytes())?;
    out.write_all(b"\n")
}

/// Escapes the control characters and invisible characters that `serde_json` leaves in strings. Outside of strings, the only
/// control characters are line ends, which stay.
fn escape_json(json: &str) -> String {
    json.chars().fold(String::with_capacity(json.len()), |mut out, c| {
        // `printable` replaces such a character by a longer escape sequence.
        if c != '\n' && printable(c.encode_utf8(&mut [0; 4])).len() > c.len_utf8() {
            let escapes = c
                .encode_utf16(&mut [0; 2])
                .iter()
                .map(|unit| format!("\\u{unit:04x}"))
                .collect::<String>();
            out.push_str(&escapes);
        } else {
            out.push(c);
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn escaping_terminal_controls_keeps_the_json_value() {
        let value = json!({"a\u{9b}": "x\u{7f}\u{202e}\u{2028}\u{200b}\u{e0041}\u{1b}[2J\n\tä"});
        let text = escape_json(&serde_json::to_string_pretty(&value).unwrap());
        assert_eq!(text, printable(&text));
        assert!(
            text.contains(r"a\u009b") && text.contains(r"\u202e\u2028\u200b\udb40\udc41"),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
