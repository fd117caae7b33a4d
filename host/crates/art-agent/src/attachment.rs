//! Attachments of the question. Prompts show the beginning of each attachment that is text. A call that names an attachment as
//! `attachment:NAME` gets its whole content, as text or in base64. A model with vision also gets files that are not text as part of
//! the request. Files that tools produced are named in the same form; the driver inserts them, because their content is in the store.

use std::collections::BTreeSet;

use art_core::agent::QueryAttachment;
use art_core::error::ToolErrorCode;
use art_core::limits::Limits;
use art_core::provider::Media;
use serde_json::Value;

use crate::file::{Files, RunFile};
use crate::plan::escape;

/// Prefix of a text that stands for a file.
pub(crate) const PREFIX: &str = "attachment:";

/// Maximum number of files of tools that are listed for a model, newest first.
pub(crate) const MAX_LISTED_FILES: usize = 50;

/// Where arguments may name files.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Places {
    /// In every text: a model has written all of them.
    #[default]
    Anywhere,
    /// In the texts at these JSON pointers. Other texts are data, for example from an output, and may look like a name by chance.
    At(BTreeSet<String>),
}

impl Places {
    /// In no text.
    pub(crate) const NONE: Self = Self::At(BTreeSet::new());

    fn has(&self, pointer: &str) -> bool {
        match self {
            Self::Anywhere => true,
            Self::At(pointers) => pointers.contains(pointer),
        }
    }
}

/// Returns whether a text in `arguments` looks like the name of a file.
pub(crate) fn may_name_a_file(arguments: &Value) -> bool {
    let mut found = false;
    visit_references(arguments, &Places::Anywhere, &mut String::new(), &mut |_, _| {
        found = true
    });
    found
}

/// Replaces each text in `arguments` that is exactly `attachment:NAME` by the content of that attachment.
pub(crate) fn expand(arguments: &Value, places: &Places, attachments: &[QueryAttachment]) -> Value {
    let mut expanded = arguments.clone();
    visit_references(arguments, places, &mut String::new(), &mut |pointer, name| {
        let attachment = find_attachment(name, attachments);
        if let Some((attachment, text)) = attachment.zip(expanded.pointer_mut(pointer)) {
            *text = Value::from(content(attachment));
        }
    });
    expanded
}

/// Returns the files of tools that `arguments` name, each with the JSON pointer of the string that names it.
pub(crate) fn file_arguments<'a>(
    arguments: &Value,
    places: &Places,
    attachments: &[QueryAttachment],
    files: &'a Files,
) -> Vec<(String, &'a RunFile)> {
    let mut file_arguments = Vec::new();
    visit_references(arguments, places, &mut String::new(), &mut |pointer, name| {
        if find_attachment(name, attachments).is_none() {
            file_arguments.extend(files.find(name).map(|file| (pointer.to_owned(), file)));
        }
    });
    file_arguments
}

/// Returns the attachments that are not text, if the model has vision.
pub(crate) fn media(attachments: &[QueryAttachment], vision: bool) -> Vec<Media> {
    let visible = if vision { attachments } else { &[] };
    let media = visible.iter().filter_map(|attachment| {
        Some(Media {
            name: attachment.name.clone(),
            media_type: attachment.media_type.clone(),
            base64: attachment.base64.clone()?,
        })
    });
    media.collect()
}

/// Returns the size of an attachment in bytes, before encoding.
pub(crate) fn bytes(attachment: &QueryAttachment) -> usize {
    match &attachment.base64 {
        None => attachment.text.len(),
        Some(base64) => base64.trim_end_matches('=').len() * 3 / 4,
    }
}

/// Returns the size of a file as an argument, or `None` if there is no such file.
pub(crate) fn argument_bytes(name: &str, attachments: &[QueryAttachment], files: &Files) -> Option<u64> {
    let content = find_attachment(name, attachments).map(|attachment| content(attachment).len() as u64);
    content.or_else(|| files.find(name).map(|file| file.bytes))
}

/// Returns an error if `arguments` name an attachment that does not exist, or would exceed the input limit of every tool when
/// expanded. Must be called before [`expand`], because short arguments may name a large file many times.
pub(crate) fn check(
    arguments: &Value,
    places: &Places,
    attachments: &[QueryAttachment],
    files: &Files,
) -> Option<(ToolErrorCode, String)> {
    let mut names = Vec::new();
    visit_references(arguments, places, &mut String::new(), &mut |_, name| {
        names.push(name.to_owned())
    });
    let mut bytes = 0_u64;
    for name in names {
        let attached = find_attachment(&name, attachments).map(|attachment| content(attachment).len() as u64);
        let Some(added) = attached.or_else(|| files.find(&name).map(|file| file.bytes)) else {
            return Some((ToolErrorCode::NotFound, unknown_name_message(&name, attachments, files)));
        };
        bytes = bytes.saturating_add(added);
    }
    let max = Limits::MAX.input_bytes;
    (bytes > max).then(|| {
        let reason = format!(
            "not called: with its attachments filled in the input has over {bytes} bytes, and no tool takes more than {max}; \
             pass fewer or smaller ones"
        );
        (ToolErrorCode::ValidationError, reason)
    })
}

/// Calls `on_reference` for each text in `arguments` that names an attachment or a file, with its JSON pointer and the name.
fn visit_references(
    arguments: &Value,
    places: &Places,
    pointer: &mut String,
    on_reference: &mut impl FnMut(&str, &str),
) {
    let mut visit_child = |key: &str, value: &Value| {
        let length = pointer.len();
        pointer.push('/');
        pointer.push_str(&escape(key));
        visit_references(value, places, pointer, on_reference);
        pointer.truncate(length);
    };
    match arguments {
        Value::Array(values) => (0..)
            .zip(values)
            .for_each(|(n, value): (usize, _)| visit_child(&n.to_string(), value)),
        Value::Object(map) => map.iter().for_each(|(key, value)| visit_child(key, value)),
        Value::String(text) => {
            if let Some(name) = text.strip_prefix(PREFIX).filter(|_| places.has(pointer)) {
                on_reference(pointer, name);
            }
        }
        _ => {}
    }
}

/// Returns the text that replaces the name of an attachment.
fn content(attachment: &QueryAttachment) -> &str {
    attachment.base64.as_ref().unwrap_or(&attachment.text)
}

/// Returns the attachment of the question with this name.
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

    fn sales() -> Vec<QueryAttachment> {
        vec![QueryAttachment {
            name: "sales.csv".to_owned(),
            media_type: "text/csv".to_owned(),
            text: "a,b\n1,2".to_owned(),
            base64: None,
        }]
    }

    fn no_files() -> Files {
        Files::default()
    }

    fn picture() -> QueryAttachment {
        QueryAttachment {
            name: "a.png".to_owned(),
            media_type: "image/png".to_owned(),
            base64: Some("iVBORw==".to_owned()),
            ..QueryAttachment::default()
        }
    }

    #[test]
    fn the_name_of_a_file_that_is_not_text_becomes_its_base64() {
        assert_eq!(
            expand(&json!({"image": "attachment:a.png"}), &Places::Anywhere, &[picture()]),
            json!({"image": "iVBORw=="})
        );
    }

    #[test]
    fn only_files_that_are_not_text_are_media() {
        let all = [sales(), vec![picture()]].concat();
        let names: Vec<_> = media(&all, true).into_iter().map(|media| media.name).collect();
        assert_eq!(names, ["a.png"]);
        assert_eq!(media(&all, false), []);
    }

    #[test]
    fn the_size_of_a_file_is_measured_before_encoding() {
        assert_eq!((bytes(&picture()), bytes(&sales()[0])), (4, 7));
    }

    #[test]
    fn a_name_is_replaced_by_the_content_at_any_depth() {
        let arguments = json!({"csv": "attachment:sales.csv", "more": [{"x": "attachment:sales.csv"}]});
        assert_eq!(
            expand(&arguments, &Places::Anywhere, &sales()),
            json!({"csv": "a,b\n1,2", "more": [{"x": "a,b\n1,2"}]})
        );
    }

    #[test]
    fn a_name_within_a_text_or_as_a_key_is_not_replaced() {
        let arguments = json!({"csv": "see attachment:sales.csv", "attachment:sales.csv": 1});
        assert_eq!(expand(&arguments, &Places::Anywhere, &sales()), arguments);
        assert_eq!(check(&arguments, &Places::Anywhere, &sales(), &no_files()), None);
    }

    #[test]
    fn the_error_for_an_unknown_name_lists_the_known_ones() {
        assert_eq!(
            check(&json!(["attachment:x.csv"]), &Places::Anywhere, &sales(), &no_files()),
            Some((
                ToolErrorCode::NotFound,
                "there is no attachment `x.csv`; use one of `sales.csv`".to_owned()
            ))
        );
    }

    #[test]
    fn without_attachments_the_error_says_that_there_are_none() {
        assert_eq!(
            check(&json!("attachment:x"), &Places::Anywhere, &[], &no_files()),
            Some((
                ToolErrorCode::NotFound,
                "there is no attachment `x`; the question has none".to_owned()
            ))
        );
    }

    #[test]
    fn attachments_that_together_exceed_every_input_limit_are_refused() {
        let mut large = picture();
        large.base64 = Some("x".repeat(1 << 20));
        let repeated = |n: usize| json!({"images": vec!["attachment:a.png"; n]});
        assert_eq!(
            check(
                &repeated(4),
                &Places::Anywhere,
                std::slice::from_ref(&large),
                &no_files()
            ),
            None
        );
        let (code, reason) = check(&repeated(5), &Places::Anywhere, &[large], &no_files()).unwrap();
        assert_eq!(code, ToolErrorCode::ValidationError);
        assert!(
            reason.contains("over 5242880 bytes, and no tool takes more than 4194304"),
            "{reason}"
        );
    }
}
