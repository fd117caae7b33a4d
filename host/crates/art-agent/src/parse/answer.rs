//! Parses the reply in which a model writes the answer (the synthesis reply). It may also have metadata for a user interface,
//! such as suggested questions. The answer and the metadata are each in a tag, or the metadata is in a JSON fence at the end
//! (contract X9).

use art_core::json::{MAX_LEVELS, is_deeper};
use art_core::stream::ModelReply;
use serde_json::Value;

use super::split_reply;

/// The parts of a synthesis reply.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SynthesisReply {
    pub(crate) thoughts: String,
    /// The answer, trimmed; empty if there is none.
    pub(crate) answer: String,
    pub(crate) ui_metadata: Option<Value>,
}

/// The field that metadata has if the model keeps to the prompt. A fence without this field is part of the answer.
const METADATA_FIELD: &str = "suggestedQuestions";

/// Parses `reply`. The answer and the metadata are found by their tags, or else by a JSON fence with metadata at the end. If the
/// reply has neither, all text outside the thoughts is the answer.
pub(crate) fn parse_answer(reply: &ModelReply) -> SynthesisReply {
    let texts = split_reply(reply);
    let (answer, ui_metadata) = answer_and_metadata(&texts.content);
    SynthesisReply {
        answer,
        ui_metadata,
        thoughts: texts.thoughts,
    }
}

/// Returns the answer in `text`, trimmed, and the metadata. `text` must not contain thoughts.
pub(super) fn answer_and_metadata(text: &str) -> (String, Option<Value>) {
    let (answer, ui_metadata) = split_answer(text);
    // Metadata with more than `MAX_LEVELS` levels is dropped, since the store would refuse to store the whole answer with it.
    let ui_metadata = ui_metadata.filter(|metadata| !is_deeper(metadata, MAX_LEVELS));
    (answer.trim().to_owned(), ui_metadata)
}

/// Returns the answer in `text`, not trimmed. `text` must not contain thoughts.
pub(super) fn answer_text(text: &str) -> &str {
    split_answer(text).0
}

/// Returns the text before a JSON fence with metadata at the end of `text`, or `None` if there is no such fence.
pub(super) fn text_before_metadata_fence(text: &str) -> Option<&str> {
    split_by_metadata_fence(text).map(|(before, _)| before)
}

/// Splits `text` into the answer and the metadata.
fn split_answer(text: &str) -> (&str, Option<Value>) {
    let parts = split_by_tags(text).or_else(|| split_by_metadata_fence(text));
    parts.unwrap_or((text, None))
}

fn split_by_tags(text: &str) -> Option<(&str, Option<Value>)> {
    let metadata = text_in_tag(text, "uiMetadata").and_then(parse_metadata);
    if let Some(answer) = text_in_tag(text, "mainContent") {
        return Some((answer, metadata));
    }
    // Without `<mainContent>`, the answer is the text before `<uiMetadata>`.
    let (answer, _) = text.split_once("<uiMetadata>")?;
    Some((answer, metadata))
}

/// Returns the text from the opening to the closing tag with the name `tag_name`, or `None` without an opening tag. If only the
/// closing tag is missing, the text ends at `<uiMetadata>` or at the end of `text`.
fn text_in_tag<'a>(text: &'a str, tag_name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{tag_name}>"))?;
    let end = rest
        .find(&format!("</{tag_name}>"))
        .or_else(|| rest.find("<uiMetadata>"));
    Some(end.and_then(|end| rest.get(..end)).unwrap_or(rest))
}

/// Parses metadata, which may be in a fence. Returns `None` if it is `null` or is not JSON.
fn parse_metadata(text: &str) -> Option<Value> {
    let text = text.trim().trim_start_matches("```json").trim_matches('`').trim();
    serde_json::from_str(text).ok().filter(|value: &Value| !value.is_null())
}

/// Splits `text` into the text before a JSON fence with metadata at its end, and the metadata. Returns `None` without such a
/// fence.
fn split_by_metadata_fence(text: &str) -> Option<(&str, Option<Value>)> {
    let inner = text.trim_end().strip_suffix("```")?;
    let (before, json) = inner.rsplit_once("```json")?;
    let value: Value = serde_json::from_str(json.trim()).ok()?;
    // Other JSON at the end is part of the answer. If there is nothing before the fence, the fence is the answer.
    (value.get(METADATA_FIELD).is_some() && !before.trim().is_empty()).then_some((before, Some(value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Parses a reply with this text. Returns the answer and the metadata.
    fn parse(text: &str) -> (String, Option<Value>) {
        let reply = ModelReply {
            text: text.to_owned(),
            ..ModelReply::default()
        };
        let parsed = parse_answer(&reply);
        (parsed.answer, parsed.ui_metadata)
    }

    #[test]
    fn the_answer_and_the_metadata_are_read_from_their_tags() {
        let text = "<mainContent> 42 </mainContent>\n<uiMetadata>{\"a\":1}</uiMetadata>";
        assert_eq!(parse(text), ("42".to_owned(), Some(json!({"a": 1}))));
    }

    #[test]
    fn a_fence_after_the_closing_tag_of_the_answer_is_dropped() {
        let text = "<mainContent>42</mainContent>\n```json\n{\"a\":1}\n```";
        assert_eq!(parse(text), ("42".to_owned(), None));
    }

    #[test]
    fn a_trailing_fence_with_suggested_questions_is_metadata() {
        assert_eq!(
            parse("42\n```json\n{\"suggestedQuestions\":[]}\n```\n"),
            ("42".to_owned(), Some(json!({"suggestedQuestions": []})))
        );
    }

    #[test]
    fn a_trailing_fence_without_suggested_questions_is_a_part_of_the_answer() {
        let text = "A book:\n```json\n{\"title\":\"Dune\"}\n```";
        assert_eq!(parse(text), (text.to_owned(), None));
    }

    #[test]
    fn a_fence_in_the_middle_stays_in_the_answer() {
        let text = "see\n```json\n{}\n```\nabove";
        assert_eq!(parse(text), (text.to_owned(), None));
    }

    // Trimming of the answer (contract A29).
    #[test]
    fn the_trimmed_text_is_the_answer_if_it_has_no_tags() {
        assert_eq!(parse("  42\n"), ("42".to_owned(), None));
    }

    // Trimming of the answer (contract A29).
    #[test]
    fn an_empty_answer_is_read_as_empty() {
        assert_eq!(parse(" <mainContent> </mainContent>"), (String::new(), None));
    }

    #[test]
    fn the_answer_needs_no_closing_tag() {
        assert_eq!(parse("<mainContent>4"), ("4".to_owned(), None));
    }

    #[test]
    fn metadata_that_nests_too_deep_is_dropped_and_is_not_part_of_the_answer() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let parsed = |levels| {
            let json = nested(levels);
            parse(&format!("<mainContent>4</mainContent><uiMetadata>{json}</uiMetadata>"))
        };
        assert!(parsed(MAX_LEVELS).1.is_some());
        assert_eq!(parsed(MAX_LEVELS + 1), ("4".to_owned(), None));
    }

    #[test]
    fn metadata_that_is_not_json_is_dropped_and_is_not_part_of_the_answer() {
        let text = "<mainContent>4</mainContent><uiMetadata>{</uiMetadata>";
        assert_eq!(parse(text), ("4".to_owned(), None));
    }
}
