//! Files that are attached to a question: texts, pictures and PDF documents. Tools and models get their content, not their paths.

use std::io::Read;
use std::path::{Path, PathBuf};

use art_core::agent::QueryAttachment;
use art_files::{NotRegular, open_regular};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::error::CommandError;
use crate::render::units;

/// Maximum size of a text file, in bytes. As JSON a text is longer, so the longest texts exceed the default input limit
/// of tools.
const MAX_TEXT_BYTES: usize = 1 << 20;
/// Maximum size of a picture or PDF, in bytes. Providers accept this size, but encoded as base64 the largest files exceed the
/// highest input limit that a tool can have.
const MAX_MEDIA_BYTES: usize = 5 << 20;
/// Maximum size of any attachment, in bytes.
pub(super) const MAX_BYTES: usize = MAX_MEDIA_BYTES;
/// Maximum size of all attachments of a question together, as JSON, in bytes. They are stored in the first entry of the run's
/// journal, together with recent messages and at most 4 MiB of state that earlier runs left; a store accepts entries of at most
/// 16 MiB.
const MAX_TOTAL_JSON_BYTES: usize = 11 << 20;

/// Media types and first bytes of the supported files that are not text, except `image/webp`, which needs a check of its own.
const BINARY_TYPES: [(&str, &[u8]); 5] = [
    ("image/png", b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", b"\xff\xd8\xff"),
    ("image/gif", b"GIF87a"),
    ("image/gif", b"GIF89a"),
    ("application/pdf", b"%PDF-"),
];

/// Reads the files.
///
/// # Errors
/// Fails if a file is not a readable regular file with UTF-8 text, a picture or a PDF, if it is too large, or if two
/// files have the same name.
pub(super) fn read_all(paths: &[PathBuf]) -> Result<Vec<QueryAttachment>, CommandError> {
    let mut attachments: Vec<QueryAttachment> = Vec::new();
    for path in paths {
        add(&mut attachments, from_bytes(path, read(path)?)?)?;
    }
    Ok(attachments)
}

/// Reads a file that a person gives as the answer to a question which a tool asks.
///
/// # Errors
/// Fails if it is not a readable regular file, or too large.
pub(super) fn file_answer(path: &str) -> Result<serde_json::Value, CommandError> {
    let path = Path::new(path);
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let bytes = read(path)?;
    let text_or_unknown_type = || {
        if std::str::from_utf8(&bytes).is_ok() {
            "text/plain"
        } else {
            "application/octet-stream"
        }
    };
    let media_type = binary_media_type(&bytes).unwrap_or_else(text_or_unknown_type);
    art_tools::file_answer(&name.unwrap_or_default(), media_type, &bytes)
        .map_err(|problem| CommandError::Usage(format!("`{}` cannot be used: {problem}", path.display())))
}

/// Adds an attachment to `attachments`.
///
/// # Errors
/// Fails if another attachment has the same name, or if all attachments together are too large.
pub(super) fn add(attachments: &mut Vec<QueryAttachment>, attachment: QueryAttachment) -> Result<(), CommandError> {
    let name = &attachment.name;
    if attachments.iter().any(|other| other.name == *name) {
        return Err(CommandError::Usage(format!(
            "two attachments have the name `{name}`; rename one of the files"
        )));
    }
    attachments.push(attachment);
    check_total_size(attachments)
}

/// Checks the total size of attachments.
///
/// # Errors
/// Fails if they are too large together.
pub(super) fn check_total_size(attachments: &[QueryAttachment]) -> Result<(), CommandError> {
    if attachments.iter().map(json_bytes).sum::<usize>() > MAX_TOTAL_JSON_BYTES {
        return Err(CommandError::Usage(format!(
            "encoded as JSON or base64, the attachments together have more than the {MAX_TOTAL_JSON_BYTES} bytes allowed; attach fewer files"
        )));
    }
    Ok(())
}

/// Returns the size of the attachment in the journal, in bytes.
fn json_bytes(attachment: &QueryAttachment) -> usize {
    serde_json::to_vec(attachment).map_or(MAX_TOTAL_JSON_BYTES, |json| json.len())
}

/// Returns a warning if the attachment is too large for every tool. `max_input_bytes` is the largest input limit of the tools, or
/// `None` if there are no tools.
pub(super) fn size_warning(attachment: &QueryAttachment, max_input_bytes: Option<u64>) -> Option<String> {
    let text = attachment.base64.as_ref().unwrap_or(&attachment.text);
    let bytes = serde_json::to_vec(text).map_or(u64::MAX, |json| json.len() as u64);
    // The input also contains at least the name of the argument, so a text as large as the limit does not fit.
    let max = max_input_bytes.filter(|max| bytes >= *max)?;
    Some(format!(
        "no tool can read `{}`: encoded as an argument of a tool it has {}, but the tools accept at most {}",
        attachment.name,
        units::bytes(bytes),
        units::bytes(max)
    ))
}

/// Reads a file, at most one byte more than the size limit, so that a larger file is recognized as such.
fn read(path: &Path) -> Result<Vec<u8>, CommandError> {
    let file = open_regular(path).map_err(|error| {
        if NotRegular::is_cause_of(&error) {
            return invalid_attachment(path, "is not a regular file; write its content to a file first");
        }
        CommandError::file("open", path)(error)
    })?;
    let mut bytes = Vec::new();
    let read = file.take(MAX_MEDIA_BYTES as u64 + 1).read_to_end(&mut bytes);
    read.map_err(CommandError::file("read", path))?;
    Ok(bytes)
}

/// Returns the attachment for the bytes of a file. The media type of a picture or PDF comes from the first bytes, and that of a
/// text from the name.
///
/// # Errors
/// Fails if the bytes are not UTF-8 text, a picture or a PDF, or are too many.
pub(super) fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<QueryAttachment, CommandError> {
    let media = binary_media_type(&bytes);
    let max = if media.is_some() {
        MAX_MEDIA_BYTES
    } else {
        MAX_TEXT_BYTES
    };
    if bytes.len() > max {
        return Err(invalid_attachment(
            path,
            &format!("has more than the {max} bytes allowed; shorten it"),
        ));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if let Some(media_type) = media {
        return Ok(QueryAttachment {
            media_type: media_type.to_owned(),
            name,
            text: String::new(),
            base64: Some(STANDARD.encode(bytes)),
            keep: false,
        });
    }
    let reason = "is neither UTF-8 text nor a PNG, JPEG, GIF, WebP or PDF file";
    let text = String::from_utf8(bytes);
    let text = text.map_err(|error| invalid_attachment(path, &format!("{reason} ({error}); convert it first")))?;
    Ok(QueryAttachment {
        media_type: text_media_type(path).to_owned(),
        name,
        text,
        base64: None,
        keep: false,
    })
}

fn invalid_attachment(path: &Path, reason: &str) -> CommandError {
    CommandError::Usage(format!("the attachment `{}` {reason}", path.display()))
}

/// Returns the media type of a picture or PDF, or `None` for any other file.
fn binary_media_type(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return Some("image/webp");
    }
    let (media_type, _) = BINARY_TYPES.iter().find(|(_, magic)| bytes.starts_with(magic))?;
    Some(media_type)
}

/// Returns the media type of a text file, according to the extension of its name.
fn text_media_type(path: &Path) -> &'static str {
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

    /// Attaches a file with the name `a.csv` and this content.
    fn attach(bytes: &[u8]) -> Result<QueryAttachment, CommandError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.csv");
        std::fs::write(&path, bytes).unwrap();
        read_all(&[path]).map(|mut attachments| attachments.remove(0))
    }

    #[test]
    fn a_text_file_is_read_with_its_name_and_media_type() {
        let attachment = attach(b"a,b").unwrap();
        assert_eq!(
            (attachment.name.as_str(), attachment.media_type.as_str()),
            ("a.csv", "text/csv")
        );
        assert_eq!((attachment.text.as_str(), attachment.base64), ("a,b", None));
    }

    #[test]
    fn a_file_answer_with_a_webp_picture_has_the_media_type_of_webp() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.webp");
        std::fs::write(&path, b"RIFF\x01\x02\x03\x04WEBPVP8 ").unwrap();
        let answer = file_answer(path.to_str().unwrap()).unwrap();
        assert!(answer.to_string().contains("image/webp"), "{answer}");
    }

    #[test]
    fn the_media_type_of_a_picture_or_pdf_comes_from_its_first_bytes() {
        for (first_bytes, media_type) in [
            (&b"\x89PNG\r\n\x1a\n\x00"[..], "image/png"),
            (b"\xff\xd8\xff\xe0", "image/jpeg"),
            (b"GIF89a\x01", "image/gif"),
            (b"RIFF\x01\x02\x03\x04WEBPVP8 ", "image/webp"),
            (b"%PDF-1.7\n", "application/pdf"),
        ] {
            let attachment = attach(first_bytes).unwrap();
            assert_eq!(attachment.media_type, media_type);
            assert_eq!(attachment.text, "");
            assert_eq!(STANDARD.decode(attachment.base64.unwrap()).unwrap(), first_bytes);
        }
    }

    #[test]
    fn a_file_that_is_too_large_or_of_an_unsupported_type_is_refused() {
        let mut large_picture = b"\x89PNG\r\n\x1a\n".to_vec();
        large_picture.resize(MAX_MEDIA_BYTES + 1, 0);
        for bytes in [
            vec![b'x'; MAX_TEXT_BYTES + 1],
            vec![0xff],
            b"RIFF\xff\xff\xff\xffWAVE".to_vec(),
            large_picture,
        ] {
            assert!(matches!(attach(&bytes), Err(CommandError::Usage(_))));
        }
    }

    #[test]
    fn files_that_are_too_large_together_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = |n: usize| dir.path().join(format!("{n}.pdf"));
        let mut pdf = b"%PDF-1.7\n".to_vec();
        // As base64, two such files are below the limit of 11 MiB, and three are above it.
        pdf.resize(4 << 20, b' ');
        (0..3).for_each(|n| std::fs::write(path(n), &pdf).unwrap());
        assert_eq!(read_all(&[path(0), path(1)]).unwrap().len(), 2);
        let error = read_all(&[path(0), path(1), path(2)]).unwrap_err();
        assert!(error.to_string().contains("together"), "{error}");
        // The limit also applies to files that are added later, as in a chat.
        let mut added_later = read_all(&[path(0), path(1)]).unwrap();
        check_total_size(&added_later).unwrap();
        added_later.extend(read_all(&[path(2)]).unwrap());
        assert!(check_total_size(&added_later).is_err());
    }

    #[test]
    fn the_total_limit_applies_to_the_length_of_texts_as_json() {
        let dir = tempfile::tempdir().unwrap();
        let write_texts_of_1_mib = |byte: &str, count: usize| {
            let paths: Vec<_> = (0..count).map(|n| dir.path().join(format!("{n}.txt"))).collect();
            paths
                .iter()
                .for_each(|path| std::fs::write(path, byte.repeat(1 << 20)).unwrap());
            paths
        };
        assert_eq!(read_all(&write_texts_of_1_mib("x", 10)).unwrap().len(), 10);
        // In JSON, each of these control characters takes six bytes.
        assert_eq!(read_all(&write_texts_of_1_mib("\u{1}", 1)).unwrap().len(), 1);
        let error = read_all(&write_texts_of_1_mib("\u{1}", 2)).unwrap_err();
        assert!(error.to_string().contains("together"), "{error}");
    }

    #[test]
    fn an_attachment_that_no_tool_can_read_gets_a_warning() {
        let attachment = attach(&[b'"'; 500]).unwrap();
        // In JSON, each of the 500 quotation marks takes two bytes, and the text begins and ends with one more.
        let warning = size_warning(&attachment, Some(1_002)).unwrap();
        assert!(warning.starts_with("no tool can read `a.csv`"), "{warning}");
        assert_eq!(size_warning(&attachment, Some(1_003)), None);
        assert_eq!(size_warning(&attachment, None), None);
        // As base64, the 8 bytes of the picture take 12; the text in JSON has two quotation marks more.
        let picture = attach(b"\x89PNG\r\n\x1a\n").unwrap();
        assert!(size_warning(&picture, Some(14)).is_some());
        assert_eq!(size_warning(&picture, Some(15)), None);
    }

    #[test]
    fn a_pipe_and_a_folder_are_refused_immediately() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        for path in [&pipe, dir.path()] {
            assert!(read(path).unwrap_err().to_string().contains("not a regular file"));
        }
    }

    #[test]
    fn two_files_with_the_same_name_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.csv");
        std::fs::write(&path, "a").unwrap();
        let error = read_all(&[path.clone(), path]).unwrap_err();
        assert!(error.to_string().contains("`a.csv`"));
    }
}
