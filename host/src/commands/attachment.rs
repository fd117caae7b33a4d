//! Files that come with a question.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use art_core::agent::QueryAttachment;

use crate::error::CommandError;

/// Largest attachment, in bytes: what a tool takes as its input.
const MAX_BYTES: u64 = 1 << 20;

/// Reads the files.
///
/// # Errors
/// When one is no readable regular file of UTF-8 text within the limit, or two have the same name.
pub(super) fn read_all(paths: &[PathBuf]) -> Result<Vec<QueryAttachment>, CommandError> {
    let mut attachments: Vec<QueryAttachment> = Vec::new();
    for path in paths {
        let attachment = read(path)?;
        let name = &attachment.name;
        if attachments.iter().any(|other| other.name == *name) {
            return Err(CommandError::Usage(format!(
                "two attachments have the name `{name}`; rename one of the files"
            )));
        }
        attachments.push(attachment);
    }
    Ok(attachments)
}

fn read(path: &Path) -> Result<QueryAttachment, CommandError> {
    let refused = |reason: &str| CommandError::Usage(format!("the attachment `{}` {reason}", path.display()));
    // Without `NONBLOCK` a pipe would hold the host until somebody writes to it.
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let file = file.map_err(CommandError::file("open", path))?;
    if !file.metadata().map_err(CommandError::file("read", path))?.is_file() {
        return Err(refused("is not a regular file; write it to a file first"));
    }
    let mut bytes = Vec::new();
    let taken = file.take(MAX_BYTES + 1).read_to_end(&mut bytes);
    if taken.map_err(CommandError::file("read", path))? as u64 > MAX_BYTES {
        return Err(refused(&format!(
            "has more than the {MAX_BYTES} bytes allowed; shorten it"
        )));
    }
    let text = String::from_utf8(bytes);
    let text = text.map_err(|error| refused(&format!("is not UTF-8 text ({error}); convert it first")))?;
    Ok(QueryAttachment {
        media_type: media_type(path).to_owned(),
        name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        text,
    })
}

fn media_type(path: &Path) -> &'static str {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => "text/csv",
        Some("tsv") => "text/tab-separated-values",
        Some("json") => "application/json",
        Some("md") => "text/markdown",
        _ => "text/plain",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(bytes: &[u8]) -> Result<QueryAttachment, CommandError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.csv");
        std::fs::write(&path, bytes).unwrap();
        read(&path)
    }

    #[test]
    fn a_text_within_the_limit_is_read() {
        let attachment = read_text(b"a,b").unwrap();
        assert_eq!(
            (attachment.name.as_str(), attachment.media_type.as_str()),
            ("a.csv", "text/csv")
        );
    }

    #[test]
    fn what_is_too_long_or_no_text_is_refused() {
        for bytes in [vec![b'x'; (1 << 20) + 1], vec![0xff]] {
            assert!(matches!(read_text(&bytes), Err(CommandError::Usage(_))));
        }
    }

    #[test]
    fn a_pipe_and_a_folder_are_refused_without_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        for path in [&pipe, dir.path()] {
            assert!(read(path).unwrap_err().to_string().contains("not a regular file"));
        }
    }

    #[test]
    fn two_files_of_one_name_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.csv");
        std::fs::write(&path, "a").unwrap();
        let error = read_all(&[path.clone(), path]).unwrap_err();
        assert!(error.to_string().contains("`a.csv`"));
    }
}
