//! Reads files. A tool can open only the files to which the operator of the host granted it access.
//!
//! The functions of `std::fs` work too. The functions of this module limit the size of what they read, and their errors name the
//! path and a remedy for the model. A tool that uses files enables WASI (`wasi = true` under `[package.metadata.art]`) and
//! requests access to them with `#[tool(capabilities(fs(read, path = "{args.path}")))]`.

use std::fs::File;
use std::io::{self, Read};

use crate::lines::BYTE_ORDER_MARK;
use crate::{Result, ToolError};

/// Reads a whole file of at most `max_bytes` bytes.
///
/// # Errors
///
/// Fails if the file cannot be read, if it is a directory, or if it is longer than `max_bytes`.
pub fn read(path: &str, max_bytes: u64) -> Result<Vec<u8>> {
    let to_error = |error| explain(path, &error);
    let file = File::open(path).map_err(to_error)?;
    let metadata = file.metadata().map_err(to_error)?;
    if metadata.is_dir() {
        return Err(explain(path, &io::ErrorKind::IsADirectory.into()));
    }
    check_size(path, metadata.len(), max_bytes)?;
    let mut bytes = Vec::new();
    // The file may grow while it is read.
    file.take(max_bytes.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(to_error)?;
    check_size(path, bytes.len() as u64, max_bytes)?;
    Ok(bytes)
}

/// Reads a whole file of UTF-8 text, without a byte order mark at its beginning.
///
/// # Errors
///
/// Fails as [`read`] does, and if the file is not UTF-8.
pub fn read_text(path: &str, max_bytes: u64) -> Result<String> {
    let text = to_text(path, read(path, max_bytes)?)?;
    Ok(match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// Returns the content of the file at `path` as text.
///
/// # Errors
///
/// Fails if it is not UTF-8.
pub(crate) fn to_text(path: &str, bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|invalid| {
        // The byte order marks of the two byte orders.
        let is_utf_16 = invalid.as_bytes().starts_with(b"\xff\xfe") || invalid.as_bytes().starts_with(b"\xfe\xff");
        if is_utf_16 {
            ToolError::validation(format_args!("`{path}` is UTF-16 text: convert it to UTF-8 first"))
        } else {
            ToolError::validation(format_args!("`{path}` is no UTF-8 text: name a text file"))
        }
    })
}

/// Returns the error for a failed operation on `path`, with a remedy.
pub fn explain(path: &str, error: &io::Error) -> ToolError {
    use io::ErrorKind;
    match error.kind() {
        ErrorKind::NotFound => ToolError::not_found(format_args!(
            "there is no `{path}`: check the spelling, or list its directory"
        )),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            ToolError::permission_denied(format_args!("this is not allowed for `{path}`: do not try again"))
        }
        ErrorKind::IsADirectory => ToolError::validation(format_args!("`{path}` is a directory: name a file in it")),
        ErrorKind::NotADirectory => ToolError::validation(format_args!(
            "a part of `{path}` is a file, not a directory: check the path"
        )),
        ErrorKind::Unsupported => {
            ToolError::config("this tool was built without access to files: build it with `wasi = true`")
        }
        kind => ToolError::new(crate::error::io_error_code(kind), format_args!("`{path}`: {error}")),
    }
}

fn check_size(path: &str, size: u64, max_bytes: u64) -> Result<()> {
    if size > max_bytes {
        return Err(ToolError::validation(format_args!(
            "`{path}` has {size} bytes, more than {max_bytes}: use a smaller file"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorCode;

    /// Writes a file in a folder of its own, and returns the paths of the folder and of the file.
    fn write_file(name: &str, content: &[u8]) -> (std::path::PathBuf, String) {
        let folder = std::env::temp_dir().join(format!("art-sdk-files-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(name);
        std::fs::write(&path, content).unwrap();
        (folder, path.to_str().unwrap().to_owned())
    }

    #[test]
    fn a_file_over_the_limit_is_refused() {
        let (folder, path) = write_file("limit.txt", b"12345");
        assert_eq!(read(&path, 5).unwrap(), b"12345");
        let error = read(&path, 4).unwrap_err();
        assert_eq!(error.code, ErrorCode::ValidationError);
        assert!(error.message.contains("has 5 bytes, more than 4"), "{error}");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_byte_order_mark_is_removed_and_invalid_utf_8_is_refused() {
        let (folder, path) = write_file("text.txt", "\u{feff}é".as_bytes());
        assert_eq!(read_text(&path, 100).unwrap(), "é");
        std::fs::write(&path, b"\xff\xfea\0").unwrap();
        assert!(read_text(&path, 100).unwrap_err().message.contains("is UTF-16 text"));
        std::fs::write(&path, [0xff, 0x00]).unwrap();
        assert!(read_text(&path, 100).unwrap_err().message.contains("is no UTF-8 text"));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn errors_have_a_code_and_name_the_path_or_a_remedy() {
        let (folder, path) = write_file("existing.txt", b"");
        let missing = read(&format!("{path}.txt"), 1).unwrap_err();
        assert_eq!(missing.code, ErrorCode::NotFound);
        assert!(missing.message.contains("existing.txt.txt"), "{missing}");
        let directory = read(folder.to_str().unwrap(), 1).unwrap_err();
        assert!(directory.message.contains("name a file in it"), "{directory}");
        let below_a_file = read(&format!("{path}/a"), 1).unwrap_err();
        assert!(
            below_a_file.message.contains("is a file, not a directory"),
            "{below_a_file}"
        );
        let denied = explain("a", &io::ErrorKind::PermissionDenied.into());
        assert_eq!(denied.code, ErrorCode::PermissionDenied);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
