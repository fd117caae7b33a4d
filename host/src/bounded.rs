//! Reading what a person names, up to a limit: a file or a pipe may never end.

use std::io::Read;
use std::path::Path;

use crate::error::CommandError;

/// Reads the text of `from`, which people know as `name`.
///
/// # Errors
/// When it cannot be read, has more than `most` bytes, or is not UTF-8.
pub(crate) fn text(from: impl Read, name: impl AsRef<Path>, most: u64) -> Result<String, CommandError> {
    let name = name.as_ref();
    let mut bytes = Vec::new();
    let read = from.take(most.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(CommandError::file("read", name))?;
    if bytes.len() as u64 > most {
        return Err(CommandError::Usage(format!(
            "`{}` has more than the {most} bytes allowed",
            name.display()
        )));
    }
    String::from_utf8(bytes)
        .map_err(|error| CommandError::Usage(format!("`{}` is not UTF-8 text: {error}", name.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_up_to_its_limit_and_not_past_it() {
        assert_eq!(text(&b"abc"[..], "stdin", 3).unwrap(), "abc");
        let error = text(std::io::repeat(b'x'), "stdin", 3).unwrap_err();
        assert_eq!(error.to_string(), "`stdin` has more than the 3 bytes allowed");
        let error = text(&b"a\xff"[..], "stdin", 3).unwrap_err();
        assert!(error.to_string().starts_with("`stdin` is not UTF-8 text"), "{error}");
    }
}
