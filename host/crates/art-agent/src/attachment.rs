//! Attachments of the question. Prompts show the beginning of each attachment that is text. Before a call is made, each text in
//! its arguments that is exactly `attachment:NAME` is replaced by the whole content of that attachment: its text, or base64 if it
//! is not text. A model with vision also gets attachments that are not text as part of the request. Files that tools produced are
//! named in the same form. Their contents are in the store, so the driver, which is the program around the run, inserts them.

use std::collections::BTreeSet;

use art_core::agent::QueryAttachment;
use art_core::error::ToolErrorCode;
use art_core::limits::Limits;
use art_core::provider::Media;
use serde_json::Value;

use crate::file::{Files, RunFile};
use crate::plan::escape_pointer_key;

/// Beginning of a text that names a file and stands for its content.
pub(crate) const ATTACHMENT_PREFIX: &str = "attachment:";

/// Maximum number of files from tools that are listed for a model. The newest are listed.
pub(crate) const MAX_LISTED_FILES: usize = 50;

/// The texts in the arguments of a call that may name files.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum FileNamePointers {
    /// Every text, because a model wrote all arguments itself.
    #[default]
    All,
    /// The texts at these JSON pointers. Other texts are data, for example from an output, and may begin like a name by chance.
    Only(BTreeSet<String>),
}

impl FileNamePointers {
    /// No text may name a file.
    pub(crate) const NONE: Self = Self::Only(BTreeSet::new());

    fn includes(&self, pointer: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(pointers) => pointers.contains(pointer),
        }
    }
}

/// Calls `found` with each name of a file in `arguments`.
pub(crate) fn for_each_file_name(arguments: &Value, found: &mut dyn FnMut(&str)) {
    let every = &FileNamePointers::All;
    visit_file_names(arguments, every, &mut String::new(), &mut |_, name| found(name));
}

/// Returns whether a text in `arguments` begins with [`ATTACHMENT_PREFIX`].
pub(crate) fn may_name_a_file(arguments: &Value) -> bool {
    let mut found = false;
    visit_file_names(arguments, &FileNamePointers::All, &mut String::new(), &mut |_, _| {
        found = true
    });
    found
}

/// Returns `arguments` with the content of the attachment in place of each text `attachment:NAME`. Names of other files stay.
pub(crate) fn insert_contents(
    arguments: &Value,
    pointers: &FileNamePointers,
    attachments: &[QueryAttachment],
) -> Value {
    let mut filled_in = arguments.clone();
    visit_file_names(arguments, pointers, &mut String::new(), &mut |pointer, name| {
        let attachment = find_attachment(name, attachments);
        if let Some((attachment, text)) = attachment.zip(filled_in.pointer_mut(pointer)) {
            *text = Value::from(content(attachment));
        }
    });
    filled_in
}

/// Returns the files that `arguments` name and that are not attachments, each with the JSON pointer of the text that names it.
pub(crate) fn file_arguments<'a>(
    arguments: &Value,
    pointers: &FileNamePointers,
    attachments: &[QueryAttachment],
    files: &'a Files,
) -> Vec<(String, &'a RunFile)> {
    let mut file_arguments = Vec::new();
    visit_file_names(arguments, pointers, &mut String::new(), &mut |pointer, name| {
        if find_attachment(name, attachments).is_none() {
            file_arguments.extend(files.find(name).map(|file| (pointer.to_owned(), file)));
        }
    });
    file_arguments
}

/// Returns the attachments that are not text, for a request to the model. Returns none if the model has no vision.
pub(crate) fn media(attachments: &[QueryAttachment], has_vision: bool) -> Vec<Media> {
    let visible = if has_vision { attachments } else { &[] };
    let media = visible.iter().filter_map(|attachment| {
        Some(Media {
            name: attachment.name.clone(),
            media_type: attachment.media_type.clone(),
            base64: attachment.base64.clone()?,
        })
    });
    media.collect()
}

/// Returns the size of an attachment in bytes. If it is given in base64, this is the size of the decoded content.
pub(crate) fn decoded_bytes(attachment: &QueryAttachment) -> usize {
    match &attachment.base64 {
        None => attachment.text.len(),
        Some(base64) => base64.trim_end_matches('=').len() * 3 / 4,
    }
}

/// Returns the size in bytes of the text that replaces the name of a file in arguments, or `None` if there is no such file. The
/// size is a lower bound for a file in the store: if the file turns out not to be text, the driver inserts it as base64, which is
/// a third longer.
pub(crate) fn inserted_bytes(name: &str, attachments: &[QueryAttachment], files: &Files) -> Option<u64> {
    let content = find_attachment(name, attachments).map(|attachment| content(attachment).len() as u64);
    content.or_else(|| files.find(name).map(|file| file.bytes))
}

/// Returns the error of a call that cannot be made because of the files that its `arguments` name: a file does not exist, or the
/// contents of all files together are larger than the input of any tool may be. The tool system checks the exact size of the
/// input later. Must be called before [`insert_contents`], which would otherwise use too much memory for short arguments that
/// name a large file many times.
pub(crate) fn argument_error(
    arguments: &Value,
    pointers: &FileNamePointers,
    attachments: &[QueryAttachment],
    files: &Files,
) -> Option<(ToolErrorCode, String)> {
    let mut names = Vec::new();
    visit_file_names(arguments, pointers, &mut String::new(), &mut |_, name| {
        names.push(name.to_owned())
    });
    let mut bytes = 0_u64;
    for name in names {
        let Some(added) = inserted_bytes(&name, attachments, files) else {
            return Some((ToolErrorCode::NotFound, unknown_name_message(&name, attachments, files)));
        };
        bytes = bytes.saturating_add(added);
    }
    let max = Limits::MAX.input_bytes;
    (bytes > max).then(|| {
        let reason = format!(
            "not called: the input with the contents of its attachments has over {bytes} bytes, and no tool takes more \
             than {max}; pass fewer or smaller attachments"
        );
        (ToolErrorCode::ValidationError, reason)
    })
}

/// Calls `on_name` for each text `attachment:NAME` in `arguments` at one of `pointers`, with the JSON pointer of the text and
/// with `NAME`. `pointer` is the JSON pointer of `arguments` itself: empty, except when the function calls itself for a part.
fn visit_file_names(
    arguments: &Value,
    pointers: &FileNamePointers,
    pointer: &mut String,
    on_name: &mut impl FnMut(&str, &str),
) {
    let mut visit_child = |key: &str, value: &Value| {
        let length = pointer.len();
        pointer.push('/');
        pointer.push_str(&escape_pointer_key(key));
        visit_file_names(value, pointers, pointer, on_name);
        pointer.truncate(length);
    };
    match arguments {
        Value::Array(values) => (0..)
            .zip(values)
            .for_each(|(n, value): (usize, _)| visit_child(&n.to_string(), value)),
        Value::Object(map) => map.iter().for_each(|(key, value)| visit_child(key, value)),
        Value::String(text) => {
            if let Some(name) = text
                .strip_prefix(ATTACHMENT_PREFIX)
                .filter(|_| pointers.includes(pointer))
            {
                on_name(pointer, name);
            }
        }
        _ => {}
    }
}

/// Returns the text that replaces the name of an attachment.
fn content(attachment: &QueryAttachment) -> &str {
    attachment.base64.as_ref().unwrap_or(&attachment.text)
}

/// Returns the attachment with this name.
fn find_attachment<'a>(name: &str, attachments: &'a [QueryAttachment]) -> Option<&'a QueryAttachment> {
    attachments.iter().find(|attachment| attachment.name == name)
}

fn unknown_name_message(name: &str, attachments: &[QueryAttachment], files: &Files) -> String {
    let attached = attachments.iter().map(|attachment| &attachment.name);
    let produced = files.all().iter().rev().take(MAX_LISTED_FILES).map(|file| &file.name);
    let names: Vec<_> = attached.chain(produced).map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        return format!("there is no attachment `{name}`; the question has none");
    }
    format!("there is no attachment `{name}`; use one of {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text_attachments() -> Vec<QueryAttachment> {
        vec![QueryAttachment {
            name: "sales.csv".to_owned(),
            media_type: "text/csv".to_owned(),
            text: "a,b\n1,2".to_owned(),
            base64: None,
            keep: false,
        }]
    }

    fn no_files() -> Files {
        Files::default()
    }

    fn picture_attachment() -> QueryAttachment {
        QueryAttachment {
            name: "a.png".to_owned(),
            media_type: "image/png".to_owned(),
            base64: Some("iVBORw==".to_owned()),
            ..QueryAttachment::default()
        }
    }

    #[test]
    fn the_name_of_an_attachment_that_is_not_text_becomes_its_base64() {
        assert_eq!(
            insert_contents(
                &json!({"image": "attachment:a.png"}),
                &FileNamePointers::All,
                &[picture_attachment()]
            ),
            json!({"image": "iVBORw=="})
        );
    }

    #[test]
    fn only_attachments_that_are_not_text_are_sent_to_a_model_with_vision() {
        let all = [text_attachments(), vec![picture_attachment()]].concat();
        let (with_vision, without_vision) = (true, false);
        let names: Vec<_> = media(&all, with_vision).into_iter().map(|media| media.name).collect();
        assert_eq!(names, ["a.png"]);
        assert_eq!(media(&all, without_vision), []);
    }

    #[test]
    fn the_size_of_an_attachment_is_measured_before_it_is_encoded() {
        assert_eq!(
            (
                decoded_bytes(&picture_attachment()),
                decoded_bytes(&text_attachments()[0])
            ),
            (4, 7)
        );
    }

    #[test]
    fn the_name_of_an_attachment_becomes_its_content_at_any_depth() {
        let arguments = json!({"csv": "attachment:sales.csv", "more": [{"x": "attachment:sales.csv"}]});
        assert_eq!(
            insert_contents(&arguments, &FileNamePointers::All, &text_attachments()),
            json!({"csv": "a,b\n1,2", "more": [{"x": "a,b\n1,2"}]})
        );
    }

    #[test]
    fn a_name_within_a_longer_text_or_as_a_key_is_not_replaced() {
        let arguments = json!({"csv": "see attachment:sales.csv", "attachment:sales.csv": 1});
        assert_eq!(
            insert_contents(&arguments, &FileNamePointers::All, &text_attachments()),
            arguments
        );
        assert_eq!(
            argument_error(&arguments, &FileNamePointers::All, &text_attachments(), &no_files()),
            None
        );
    }

    #[test]
    fn the_error_for_an_unknown_name_lists_the_known_ones() {
        assert_eq!(
            argument_error(
                &json!(["attachment:x.csv"]),
                &FileNamePointers::All,
                &text_attachments(),
                &no_files()
            ),
            Some((
                ToolErrorCode::NotFound,
                "there is no attachment `x.csv`; use one of `sales.csv`".to_owned()
            ))
        );
    }

    #[test]
    fn without_attachments_the_error_says_that_there_are_none() {
        assert_eq!(
            argument_error(&json!("attachment:x"), &FileNamePointers::All, &[], &no_files()),
            Some((
                ToolErrorCode::NotFound,
                "there is no attachment `x`; the question has none".to_owned()
            ))
        );
    }

    #[test]
    fn a_call_is_refused_if_its_attachments_together_exceed_the_input_limit_of_every_tool() {
        let mut large = picture_attachment();
        large.base64 = Some("x".repeat(1 << 20));
        let named_times = |times: usize| json!({"images": vec!["attachment:a.png"; times]});
        assert_eq!(
            argument_error(
                &named_times(4),
                &FileNamePointers::All,
                std::slice::from_ref(&large),
                &no_files()
            ),
            None
        );
        let (code, reason) = argument_error(&named_times(5), &FileNamePointers::All, &[large], &no_files()).unwrap();
        assert_eq!(code, ToolErrorCode::ValidationError);
        assert!(
            reason.contains("over 5242880 bytes, and no tool takes more than 4194304"),
            "{reason}"
        );
    }
}
