//! Files as answers: `{"filename": .., "mediaType": .., "data": ..}` with the content in base64.

use art_core::text::printable;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::MAX_FILE_BYTES;

/// Maximum length of the name of a file, in bytes: that of most file systems.
const MAX_FILENAME_BYTES: usize = 255;
/// Maximum length of a media type, in bytes.
const MAX_MEDIA_TYPE_BYTES: usize = 200;

/// The reason why a file is no valid answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileProblem {
    /// The name is a path, is too long, or cannot be shown.
    #[error("filename must be a name of 1 to {MAX_FILENAME_BYTES} bytes without folders and control characters")]
    Filename,
    /// The media type has another form than `type/subtype`.
    #[error("mediaType must be a media type such as text/csv")]
    MediaType,
    /// The content is no base64.
    #[error("data must be base64 with padding")]
    Data,
    /// The content is too large.
    #[error("data has more than {MAX_FILE_BYTES} bytes: give a smaller file")]
    TooLarge,
}

/// Returns the answer that is a file, for a form of the type `file`.
///
/// # Errors
/// Fails if the name, the media type or the size is not allowed.
pub fn file_answer(filename: &str, media_type: &str, data: &[u8]) -> Result<Value, FileProblem> {
    if data.len() > MAX_FILE_BYTES {
        return Err(FileProblem::TooLarge);
    }
    let answer = json!({"filename": filename, "mediaType": media_type, "data": STANDARD.encode(data)});
    match problems(&answer).into_iter().next() {
        Some(problem) => Err(problem),
        None => Ok(answer),
    }
}

/// Returns the JSON Schema of a file. It does not restrict the content of the strings.
pub(super) fn schema() -> Value {
    let text = json!({"type": "string"});
    json!({
        "type": "object",
        "properties": {"filename": text, "mediaType": text, "data": text},
        "required": ["filename", "mediaType", "data"],
        "additionalProperties": false,
    })
}

/// Returns what is wrong with the name, the media type or the data of a file that is valid under [`schema`].
pub(super) fn problems(file: &Value) -> Vec<FileProblem> {
    let text = |name| file.get(name).and_then(Value::as_str).unwrap_or_default();
    let filename = (!is_filename(text("filename"))).then_some(FileProblem::Filename);
    let media_type = (!is_media_type(text("mediaType"))).then_some(FileProblem::MediaType);
    let data = data_problem(text("data"));
    filename.into_iter().chain(media_type).chain(data).collect()
}

fn data_problem(data: &str) -> Option<FileProblem> {
    // Four characters of base64 are three bytes. Check the length first, because decoding takes memory.
    if data.len() > MAX_FILE_BYTES.div_ceil(3) * 4 {
        return Some(FileProblem::TooLarge);
    }
    match STANDARD.decode(data) {
        Ok(bytes) if bytes.len() > MAX_FILE_BYTES => Some(FileProblem::TooLarge),
        Ok(_) => None,
        Err(_) => Some(FileProblem::Data),
    }
}

fn is_filename(name: &str) -> bool {
    let is_plain = !name.contains(['/', '\\', '\n', '\t']) && printable(name) == name;
    is_plain && !matches!(name, "" | "." | "..") && name.len() <= MAX_FILENAME_BYTES
}

fn is_media_type(text: &str) -> bool {
    let is_token = |text: &str| {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "!#$&-^_.+".contains(c);
        !text.is_empty() && text.chars().all(is_allowed)
    };
    let (kind, subtype) = text.split_once('/').unwrap_or_default();
    text.len() <= MAX_MEDIA_TYPE_BYTES && is_token(kind) && is_token(subtype)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_answer_returns_a_valid_answer() {
        let file = file_answer("a b.csv", "text/csv", b"x,y").unwrap();
        assert_eq!(
            file,
            json!({"filename": "a b.csv", "mediaType": "text/csv", "data": "eCx5"})
        );
        assert_eq!(problems(&file), []);
    }

    #[test]
    fn a_file_has_at_most_a_mebibyte() {
        let data = vec![0; MAX_FILE_BYTES + 1];
        assert_eq!(file_answer("f", "a/b", &data), Err(FileProblem::TooLarge));
        assert!(file_answer("f", "a/b", &data[1..]).is_ok());
        // The first file is refused for its decoded length, the second already for the length of its base64.
        for bytes in [MAX_FILE_BYTES + 1, 2 * MAX_FILE_BYTES] {
            let file = json!({"filename": "f", "mediaType": "a/b", "data": STANDARD.encode(vec![0; bytes])});
            assert_eq!(problems(&file), [FileProblem::TooLarge]);
        }
    }

    #[test]
    fn names_that_are_paths_or_cannot_be_shown_are_refused() {
        let long = "x".repeat(256);
        for name in [
            "",
            ".",
            "..",
            "a/b",
            "a\\b",
            "a\nb",
            // U+202E reverses the direction of what follows, so this name would be shown as `exe.csv`.
            "\u{202e}vsc.exe",
            "\0",
            long.as_str(),
        ] {
            assert_eq!(file_answer(name, "a/b", b""), Err(FileProblem::Filename), "{name:?}");
        }
    }

    #[test]
    fn a_media_type_has_two_parts_without_parameters() {
        for media_type in [
            "",
            "text",
            "text/",
            "/csv",
            "text/csv; charset=utf-8",
            "a/b/c",
            "text/\u{e9}",
        ] {
            assert_eq!(
                file_answer("f", media_type, b""),
                Err(FileProblem::MediaType),
                "{media_type}"
            );
        }
        assert!(file_answer("f", "application/vnd.ms-excel", b"").is_ok());
    }

    #[test]
    fn content_that_is_no_base64_is_refused() {
        for data in ["eCx", "e-x5", "eC x", "===="] {
            let file = json!({"filename": "f", "mediaType": "a/b", "data": data});
            assert_eq!(problems(&file), [FileProblem::Data], "{data}");
        }
    }
}
