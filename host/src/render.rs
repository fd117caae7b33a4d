//! Output for people and programs. No other module writes to stdout.

mod closed;
pub(crate) mod compiling;
pub(crate) mod display;
pub(crate) mod drawing;
pub(crate) mod events;
pub mod plan;
pub mod table;
pub mod units;

use std::io::{IsTerminal, Write};
use std::sync::OnceLock;

use art_core::text::printable;
use serde::Serialize;

/// The first failure to write to stdout. No more is written after it, so that no answer has a gap.
static LOST: OnceLock<std::io::Error> = OnceLock::new();

/// Returns why an answer did not reach stdout, if one did not. The program checks this before it exits, since a lost
/// answer is a failure.
#[must_use]
pub fn lost() -> Option<&'static std::io::Error> {
    LOST.get()
}

/// Writes an answer to stdout, without control characters. A failure is kept for [`lost`].
pub fn answer(text: &str) {
    to_stdout(|out| line(out, text));
}

/// Writes to stdout with `write`, unless something was lost before.
pub(crate) fn to_stdout(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) {
    if lost().is_some() {
        return;
    }
    let mut out = stdout().lock();
    let written = closed::was_open()
        .and_then(|()| write(&mut out))
        .and_then(|()| out.flush());
    if let Err(error) = written {
        LOST.get_or_init(|| error);
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the module that writes to stdout")]
fn stdout() -> std::io::Stdout {
    std::io::stdout()
}

/// Writes an answer to stdout as indented JSON. What could drive a terminal is written as `\uXXXX`.
pub fn json<T: Serialize>(value: &T) {
    let text = serde_json::to_string_pretty(value).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"));
    answer(&escaped(&text));
}

/// Writes an answer to stdout as JSON on one line, for programs that read it at once.
pub(crate) fn json_line<T: Serialize>(value: &T) {
    let text = serde_json::to_string(value).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"));
    answer(&escaped(&text));
}

/// Writes a piece of an answer to stdout, at once and without ending the line.
pub(crate) fn piece(text: &str) {
    to_stdout(|out| out.write_all(printable(text).as_bytes()));
}

/// Resets what an abandoned line editor requested from the terminal: marks around pasted text. Bypasses all locks,
/// since their holder may never release them.
pub(crate) fn end_editing() {
    const BRACKETED_PASTE_OFF: &[u8] = b"\x1b[?2004l";
    if answers_are_live()
        && let Err(error) = rustix::io::write(stdout(), BRACKETED_PASTE_OFF)
    {
        tracing::debug!(%error, "the terminal marks what is pasted");
    }
}

/// Writes a note for the person to stderr, without control characters.
pub fn note(text: &str) {
    // Ignore the error: without stderr there is no one to inform.
    drop(line(&mut std::io::stderr().lock(), text));
}

/// Writes logs of the host to stderr, as [`note`] does, since they may contain names of tools or files.
pub(crate) struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let text = printable(&String::from_utf8_lossy(bytes));
        std::io::stderr().lock().write_all(text.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}

/// Writes a compiler message to stderr unchanged: in colour, if it goes to a terminal.
pub(crate) fn compiler_message(rendered: &str) {
    drop(std::io::stderr().lock().write_all(rendered.as_bytes()));
}

/// Returns whether notes go to a terminal, where a line can be drawn again.
#[must_use]
pub fn notes_are_live() -> bool {
    std::io::stderr().is_terminal()
}

/// Returns whether answers go to a terminal, where a person reads them as they are written.
pub(crate) fn answers_are_live() -> bool {
    stdout().is_terminal()
}

fn line(out: &mut dyn Write, text: &str) -> std::io::Result<()> {
    out.write_all(printable(text).as_bytes())?;
    out.write_all(b"\n")
}

/// Returns the same JSON without the control characters that `serde_json` leaves in strings; outside of strings there
/// are none.
fn escaped(json: &str) -> String {
    json.chars().fold(String::with_capacity(json.len()), |mut out, c| {
        if c != '\n' && printable(c.encode_utf8(&mut [0; 4])).len() > c.len_utf8() {
            let units = c
                .encode_utf16(&mut [0; 2])
                .iter()
                .map(|unit| format!("\\u{unit:04x}"))
                .collect::<String>();
            out.push_str(&units);
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
    fn json_with_terminal_controls_stays_the_same_value() {
        let value = json!({"a\u{9b}": "x\u{7f}\u{202e}\u{2028}\u{200b}\u{e0041}\u{1b}[2J\n\tä"});
        let text = escaped(&serde_json::to_string_pretty(&value).unwrap());
        assert_eq!(text, printable(&text));
        assert!(
            text.contains(r"a\u009b") && text.contains(r"\u202e\u2028\u200b\udb40\udc41"),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
