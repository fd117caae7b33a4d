//! Names of directory entries as a guest gets them. The interface of the guest has only UTF-8 names, so an entry with another name
//! gets an *escaped name*, which no other entry of its directory has. A guest can list and stat such an entry, and do nothing else
//! with it.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;

/// Added to an escaped name while an entry has it as its own name. It is the escaped form of NUL, which no name contains.
const ADDED: &str = "\\x00";

/// Returns the name that a guest gets for the entry `name` of the directory at `directory` in `dir`.
pub(super) fn guest_name(name: OsString, dir: &Dir, directory: &Path) -> String {
    let name = match name.into_string() {
        Ok(name) => return name,
        Err(name) => name,
    };
    let mut escaped = escape(name.as_bytes());
    while dir.symlink_metadata(directory.join(&escaped)).is_ok() {
        escaped.push_str(ADDED);
    }
    escaped
}

/// Returns the path on the host for a path in which the guest uses escaped names, or `None` if it uses none.
pub(super) fn path_behind_escaped_names(dir: &Dir, path: &str) -> Option<PathBuf> {
    if !path.contains('\\') {
        return None;
    }
    let (mut found, mut has_escaped) = (PathBuf::new(), false);
    for part in path.split('/') {
        let as_written = found.join(part);
        let unescaped = unescape(part).map(|name| found.join(OsString::from_vec(name)));
        let exists = |path: &Path| dir.symlink_metadata(path).is_ok();
        found = match unescaped {
            Some(unescaped) if !exists(&as_written) && exists(&unescaped) => {
                has_escaped = true;
                unescaped
            }
            _ => as_written,
        };
    }
    has_escaped.then_some(found)
}

/// Escapes a name that is not UTF-8. Different names have different escaped names: each byte that is not part of a character
/// becomes `\xHH`, and `\` becomes `\\`.
fn escape(name: &[u8]) -> String {
    let mut escaped = String::new();
    for chunk in name.utf8_chunks() {
        escaped.push_str(&chunk.valid().replace('\\', "\\\\"));
        for byte in chunk.invalid() {
            escaped.push_str(&format!("\\x{byte:02X}"));
        }
    }
    escaped
}

/// Returns the name that has this escaped name, with or without [`ADDED`]. Returns `None` if the text is no escaped name.
fn unescape(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches(ADDED);
    let (mut name, mut rest) = (Vec::new(), text.as_bytes());
    loop {
        let byte;
        (byte, rest) = match rest {
            [] => break,
            [b'\\', b'\\', after @ ..] => (b'\\', after),
            [b'\\', b'x', high, low, after @ ..] => (hex_digit(*high)? << 4 | hex_digit(*low)?, after),
            [b'\\', ..] => return None,
            [byte, after @ ..] => (*byte, after),
        };
        name.push(byte);
    }
    // Only the form that `escape` returns is an escaped name.
    (std::str::from_utf8(&name).is_err() && escape(&name) == text).then_some(name)
}

fn hex_digit(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| value.try_into().ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_escaped_name_shows_the_bytes_that_are_no_text() {
        assert_eq!(escape(b"caf\xe9\\.txt"), "caf\\xE9\\\\.txt");
    }

    #[test]
    fn a_name_that_is_text_has_no_escaped_name() {
        for text in ["a.txt", "\\x41", "a\\xe9", "\\xE9\\", "\\", "\\x", "\\xE", "caf\u{e9}"] {
            assert_eq!(unescape(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn different_names_have_different_escaped_names(name in prop::collection::vec(
            prop_oneof![Just(b'\\'), Just(b'x'), Just(b'E'), Just(b'9'), 1..=255_u8], 1..20,
        )) {
            let is_text = std::str::from_utf8(&name).is_ok();
            let expected = (!is_text).then_some(name.clone());
            prop_assert_eq!(unescape(&escape(&name)), expected.clone());
            prop_assert_eq!(unescape(&(escape(&name) + ADDED)), expected);
        }
    }
}
