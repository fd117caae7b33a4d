//! Reading what a person names, up to a limit: a file or a pipe may never end.

use std::io::{BufRead, ErrorKind, Read};
use std::path::Path;

use art_files::read_text;

use crate::error::CommandError;

/// Reads the text of `from`, which people know as `name`.
///
/// # Errors
/// When it cannot be read, has more than `most` bytes, or is not UTF-8.
pub(crate) fn text(from: impl Read, name: impl AsRef<Path>, most: u64) -> Result<String, CommandError> {
    let name = name.as_ref();
    read_text(from, most).map_err(|error| {
        if is_of_the_text(&error) {
            return CommandError::Usage(format!("`{}` cannot be taken: {error}", name.display()));
        }
        CommandError::file("read", name)(error)
    })
}

/// Reads the next line of a text, with its end; none after the last one.
///
/// # Errors
/// As [`read_text`]. After a line that is too long or no text the next one can be read.
pub(crate) fn line(lines: &mut impl BufRead, most: u64) -> std::io::Result<Option<String>> {
    let mut line = Vec::new();
    lines
        .by_ref()
        .take(most.saturating_add(1))
        .read_until(b'\n', &mut line)?;
    if line.len() as u64 > most && line.last() != Some(&b'\n') {
        lines.skip_until(b'\n')?;
    }
    let text = read_text(line.as_slice(), most)?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}

/// Whether an error says that a text cannot be taken, and not that reading it failed.
pub(crate) fn is_of_the_text(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::FileTooLarge | ErrorKind::InvalidData)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_up_to_its_limit_and_not_past_it() {
        assert_eq!(text(&b"abc"[..], "stdin", 3).unwrap(), "abc");
        let error = text(std::io::repeat(b'x'), "stdin", 3).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`stdin` cannot be taken: it has more than the 3 bytes allowed"
        );
        let error = text(&b"a\xff"[..], "stdin", 3).unwrap_err();
        assert!(error.to_string().contains("it is not UTF-8 text"), "{error}");
    }

    #[test]
    fn a_line_that_is_too_long_or_no_text_is_an_error_and_the_next_one_is_read() {
        for bad in [&b"xxxxx\n"[..], b"xxxxxxxxx\n", b"\xff\n"] {
            let mut lines = &[bad, b"next\n"].concat()[..];
            assert!(is_of_the_text(&line(&mut lines, 5).unwrap_err()));
            assert_eq!(line(&mut lines, 5).unwrap().unwrap(), "next\n");
            assert_eq!(line(&mut lines, 5).unwrap(), None);
        }
    }
}
