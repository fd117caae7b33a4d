//! Reading what a person names, up to a limit: a file or a pipe may never end.

use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::error::CommandError;

/// Reads the text of `from`, which people know as `name`.
///
/// # Errors
/// When it cannot be read, has more than `most` bytes, or is not UTF-8.
pub(crate) fn text(from: impl Read, name: impl AsRef<Path>, most: u64) -> Result<String, CommandError> {
    let name = name.as_ref();
    read(from, most).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge | ErrorKind::InvalidData => {
            CommandError::Usage(format!("`{}` cannot be taken: {error}", name.display()))
        }
        _ => CommandError::file("read", name)(error),
    })
}

/// Reads a text.
///
/// # Errors
/// [`ErrorKind::FileTooLarge`] when it has more than `most` bytes, [`ErrorKind::InvalidData`] when it is not UTF-8, and
/// whatever reading fails with.
pub(crate) fn read(from: impl Read, most: u64) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    from.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let told = format!("it has more than the {most} bytes allowed");
        return Err(std::io::Error::new(ErrorKind::FileTooLarge, told));
    }
    String::from_utf8(bytes).map_err(|error| {
        let told = format!("it is not UTF-8 text: {error}");
        std::io::Error::new(ErrorKind::InvalidData, told)
    })
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
}
