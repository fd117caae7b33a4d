//! Reads text from files and pipes, up to a maximum size, because a pipe may be endless.

use std::io::{BufRead, ErrorKind, Read};
use std::path::Path;

use crate::error::CommandError;

/// Reads all text from `source`, which may have at most `max_bytes`. `name` is the name of the source in error messages.
///
/// # Errors
/// Fails if the source cannot be read, has more than `max_bytes`, or is not UTF-8.
pub(crate) fn read_text(source: impl Read, name: impl AsRef<Path>, max_bytes: u64) -> Result<String, CommandError> {
    let name = name.as_ref();
    art_files::read_text(source, max_bytes).map_err(|error| {
        if is_too_long_or_not_utf8(&error) {
            return CommandError::Usage(format!("`{}` cannot be used: {error}", name.display()));
        }
        CommandError::file("read", name)(error)
    })
}

/// Reads the next line, which may have at most `max_bytes` with its line end. Returns `None` at the end of the input.
///
/// # Errors
/// Fails if the input cannot be read, or if the line is too long or not UTF-8. In the latter cases, the next line can still be
/// read.
pub(crate) fn read_line(input: &mut impl BufRead, max_bytes: u64) -> std::io::Result<Option<String>> {
    let mut line = Vec::new();
    input
        .by_ref()
        .take(max_bytes.saturating_add(1))
        .read_until(b'\n', &mut line)?;
    if line.len() as u64 > max_bytes && line.last() != Some(&b'\n') {
        // Only a part of the line was read.
        input.skip_until(b'\n')?;
    }
    let text = art_files::read_text(line.as_slice(), max_bytes)?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}

/// Returns whether an error of [`read_line`] or [`art_files::read_text`] means that the text is too long or not UTF-8, and not
/// that reading failed.
pub(crate) fn is_too_long_or_not_utf8(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::FileTooLarge | ErrorKind::InvalidData)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_over_the_limit_or_not_utf8_is_refused() {
        assert_eq!(read_text(&b"abc"[..], "stdin", 3).unwrap(), "abc");
        let error = read_text(std::io::repeat(b'x'), "stdin", 3).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`stdin` cannot be used: it has more than the 3 bytes allowed"
        );
        let error = read_text(&b"a\xff"[..], "stdin", 3).unwrap_err();
        assert!(error.to_string().contains("it is not UTF-8 text"), "{error}");
    }

    #[test]
    fn a_line_after_an_invalid_line_is_read() {
        const MAX_BYTES: u64 = 5;
        for invalid in [&b"xxxxx\n"[..], b"xxxxxxxxx\n", b"\xff\n"] {
            let mut input = &[invalid, b"next\n"].concat()[..];
            assert!(is_too_long_or_not_utf8(&read_line(&mut input, MAX_BYTES).unwrap_err()));
            assert_eq!(read_line(&mut input, MAX_BYTES).unwrap().unwrap(), "next\n");
            assert_eq!(read_line(&mut input, MAX_BYTES).unwrap(), None);
        }
    }
}
