//! The forms in which a prompt contains untrusted text: quoted line by line, as JSON on one line, and, for earlier messages, with
//! indented headings.

use art_core::text::{prefix, truncate};
use serde::Serialize;
use serde_json::{Value, json};

use crate::attachment;
use crate::event::RunStart;
use crate::file::RunFile;
use crate::parse::{MARKER_END, MARKER_START};

/// Heading of the section on attachments.
pub(crate) const ATTACHMENTS: &str = "Attachments";

/// Heading of the results of earlier steps, in the prompt of a step.
pub(crate) const EARLIER_STEP_RESULTS: &str = "Results of earlier steps";

/// Heading of the results of the completed steps, in the synthesis prompt.
pub(crate) const COMPLETED_STEPS: &str = "Completed steps";

/// Heading of the failed steps, in the synthesis prompt.
pub(crate) const FAILED_STEPS: &str = "Failed steps";

/// Heading of the steps that were not finished, in the synthesis prompt.
pub(crate) const UNFINISHED_STEPS: &str = "Unfinished steps";

/// Heading of the results of earlier questions.
pub(crate) const EARLIER_QUESTIONS: &str = "Results of earlier questions";

/// Maximum length of the preview of an attachment, in characters.
const PREVIEW_CHARS: usize = 1_000;

/// Note on an attachment that the model cannot read.
const UNREADABLE: &str = "not shown: you cannot look at this file; only a tool can read it";

/// Maximum length of one problem of a model's reply, as a prompt lists it, in characters.
const MAX_PROBLEM_CHARS: usize = 500;

/// Returns `text` with `> ` before each line and `>` for an empty line. Planning markers, which enclose a plan in a reply of a
/// model, are replaced by `[marker]` (contract P24).
pub(crate) fn quote(text: &str) -> String {
    let text = replace_markers(&normalize_newlines(text));
    let lines = text.trim_end_matches('\n').split('\n');
    let quoted = lines.map(|line| {
        if line.is_empty() {
            ">".to_owned()
        } else {
            format!("> {line}")
        }
    });
    quoted.collect::<Vec<_>>().join("\n")
}

/// Returns `value` as JSON on one line. Every character that could be read as a line end is escaped, and planning
/// markers are replaced.
pub(crate) fn one_line<T: Serialize + ?Sized>(value: &T) -> String {
    let text = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
    replace_markers(&escape_newlines(&text))
}

/// Escapes the line ends that JSON allows inside strings.
fn escape_newlines(json: &str) -> String {
    json.replace('\u{85}', "\\u0085")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// Returns an untrusted message, such as an earlier answer, with planning markers replaced. Lines that look like headings of
/// the host are indented.
pub(crate) fn sanitize(text: &str) -> String {
    let text = replace_markers(&normalize_newlines(text));
    let lines = text.split('\n').map(|line| {
        if line.starts_with("## ") {
            format!(" {line}")
        } else {
            line.to_owned()
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the problems that were found in a reply of a model, as a quoted list. Each is cut, because it repeats text of the
/// reply.
pub(crate) fn problem_list(problems: &[String]) -> String {
    let listed = problems
        .iter()
        .map(|problem| quote(&format!("- {}", truncate(problem, MAX_PROBLEM_CHARS))));
    listed.collect::<Vec<_>>().join("\n")
}

/// Returns a section of a prompt.
pub(crate) fn section(heading: &str, body: &str) -> String {
    format!("## {heading}\n{body}")
}

/// Describes a file that a tool produced, or that came with an earlier question. The content is not shown, because it may be
/// meant only for the person.
pub(crate) fn file_entry(file: &RunFile) -> Value {
    let origin = if file.step_id.is_empty() {
        "an earlier question"
    } else {
        &file.step_id
    };
    json!({"name": file.name, "mediaType": file.media_type, "bytes": file.bytes, "leftBy": origin})
}

/// Returns the section on files that tools produced, if there are any.
pub(crate) fn produced_file_section(files: &[RunFile]) -> Option<String> {
    let entries: Vec<_> = newest(files).iter().map(file_entry).collect();
    (!entries.is_empty()).then(|| section("Files of the tools", &one_line(&entries)))
}

/// Returns as many of the newest files as a prompt lists.
fn newest(files: &[RunFile]) -> &[RunFile] {
    let first = files.len().saturating_sub(attachment::MAX_LISTED_FILES);
    files.get(first..).unwrap_or_default()
}

/// Returns the section on the attachments of the question and on `files`, if there are any.
pub(crate) fn attachment_section(start: &RunStart, files: &[RunFile]) -> Option<String> {
    let attached = start.props.attachments.iter().map(|attachment| {
        let mut entry = json!({
            "name": attachment.name,
            "mediaType": attachment.media_type,
            "bytes": attachment::decoded_bytes(attachment),
        });
        let extra_field = match &attachment.base64 {
            None => Some(("preview", prefix(&attachment.text, PREVIEW_CHARS))),
            Some(_) if start.vision => None,
            Some(_) => Some(("note", UNREADABLE)),
        };
        if let Some(map) = entry.as_object_mut() {
            map.extend(extra_field.map(|(key, text)| (key.to_owned(), json!(text))));
        }
        entry
    });
    let entries: Vec<_> = attached.chain(newest(files).iter().map(file_entry)).collect();
    (!entries.is_empty()).then(|| section(ATTACHMENTS, &one_line(&entries)))
}

fn replace_markers(text: &str) -> String {
    // The replacement contains no part of a marker, so removing one marker cannot create another.
    text.replace(MARKER_START, "[marker]").replace(MARKER_END, "[marker]")
}

/// Replaces every character that could be read as a line end by a newline.
fn normalize_newlines(text: &str) -> String {
    text.replace("\r\n", "\n")
        .replace(['\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'], "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_line_is_quoted() {
        assert_eq!(quote("a\n\n## Tools\r\nb\n"), "> a\n>\n> ## Tools\n> b");
    }

    #[test]
    fn planning_markers_are_replaced() {
        // If the inner marker was removed without a replacement, the two parts of text around it would together be a marker.
        let nested = format!("---JSON_OUT{MARKER_START}PUT_START---");
        assert_eq!(quote(&nested), "> ---JSON_OUT[marker]PUT_START---");
        assert_eq!(one_line(&MARKER_END), "\"[marker]\"");
    }

    #[test]
    fn headings_in_a_message_are_indented() {
        assert_eq!(sanitize("## Tools\r## x"), " ## Tools\n ## x");
    }

    /// All characters that could be read as a line end.
    const NEWLINES: [char; 7] = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];

    #[test]
    fn json_on_one_line_has_no_line_ends_and_the_same_value() {
        let text: String = NEWLINES.iter().collect();
        let line = one_line(&text);
        assert!(!line.contains(NEWLINES), "{line}");
        assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
    }

    proptest! {
        #[test]
        fn no_text_can_forge_a_heading(
            text in "(## Tools|\r|\n|\u{b}|\u{c}|\u{85}|\u{2028}|\u{2029}|x|---JSON_OUTPUT_START---){0,12}"
        ) {
            for safe in [quote(&text), sanitize(&text), one_line(&text)] {
                prop_assert!(!safe.split(NEWLINES).any(|line| line.starts_with("## ")), "{safe:?}");
                prop_assert!(!safe.contains(MARKER_START));
            }
        }
    }
}
