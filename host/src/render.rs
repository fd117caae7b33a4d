//! What people and programs read. Nothing else writes to stdout.

pub(crate) mod compiling;
pub(crate) mod display;
pub(crate) mod drawing;
pub(crate) mod events;
pub mod plan;
pub mod table;
pub mod units;

use std::io::{IsTerminal, Write};

use art_core::text::printable;
use serde::Serialize;

/// Writes an answer to stdout; nothing in it drives a terminal. A reader that went away is no error.
pub fn answer(text: &str) {
    line(&mut std::io::stdout().lock(), text);
}

/// Writes an answer to stdout as indented JSON. What could drive a terminal is written as `\uXXXX`.
pub fn json<T: Serialize>(value: &T) {
    let text = serde_json::to_string_pretty(value).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"));
    answer(&escaped(&text));
}

/// Writes an answer to stdout as JSON on one line, for programs that read while it goes on.
pub(crate) fn json_line<T: Serialize>(value: &T) {
    let text = serde_json::to_string(value).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"));
    answer(&escaped(&text));
}

/// Writes a piece of an answer to stdout, at once and without ending the line.
pub(crate) fn piece(text: &str) {
    let mut out = std::io::stdout().lock();
    drop(out.write_all(printable(text).as_bytes()).and_then(|()| out.flush()));
}

/// Takes back what an editor that does not end asked the terminal for: marks around what is pasted. Past all locks, since
/// whoever holds one may never give it back.
pub(crate) fn end_editing() {
    const BRACKETED_PASTE_OFF: &[u8] = b"\x1b[?2004l";
    if answers_are_live()
        && let Err(error) = rustix::io::write(std::io::stdout(), BRACKETED_PASTE_OFF)
    {
        tracing::debug!(%error, "the terminal marks what is pasted");
    }
}

/// Writes a note for the person to stderr; nothing in it drives a terminal.
pub fn note(text: &str) {
    line(&mut std::io::stderr().lock(), text);
}

/// Whether notes go to a terminal, where a line can be drawn again.
#[must_use]
pub fn notes_are_live() -> bool {
    std::io::stderr().is_terminal()
}

/// Whether answers go to a terminal, where a person reads them as they are written.
pub(crate) fn answers_are_live() -> bool {
    std::io::stdout().is_terminal()
}

fn line(out: &mut impl Write, text: &str) {
    let text = printable(text);
    drop(out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n")));
}

/// The same JSON without the control characters that `serde_json` leaves in strings; outside of strings there are none.
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
