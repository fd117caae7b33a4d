//! Finds JSON in a reply (contract P33): between the markers [`MARKER_START`] and [`MARKER_END`], in a fence, as the whole text,
//! or at a brace.

use std::borrow::Cow;

use art_core::JsonObject;
use art_core::json::{self, with_exact_integers};
use serde_json::Value;

/// Marks the beginning of the JSON of a plan (contract P22).
pub(crate) const MARKER_START: &str = "---JSON_OUTPUT_START---";
/// Marks the end of the JSON of a plan (contract P22).
pub(crate) const MARKER_END: &str = "---JSON_OUTPUT_END---";

const FENCE: &str = "```";

/// Maximum number of positions of each kind (start markers, fences, braces) at which a JSON value is sought.
const MAX_POSITIONS: usize = 64;

/// Returns the first JSON object in `text` for which `accept` returns true. Objects between markers come first, then objects in
/// fences, then others.
pub(crate) fn find_object(text: &str, accept: impl Fn(&JsonObject) -> bool) -> Option<JsonObject> {
    candidates(text).find_map(|value| match value {
        Value::Object(map) if accept(&map) => Some(map),
        _ => None,
    })
}

/// Returns the JSON array that is the whole of `text`, or is between markers, or is in a fence. An array within prose does not
/// count.
pub(crate) fn find_array(text: &str) -> Option<Vec<Value>> {
    let as_array = |slice: &str| match json::parse(slice.trim()) {
        Ok(Value::Array(values)) => Some(values),
        _ => None,
    };
    as_array(text)
        .or_else(|| texts_between_markers(text).find_map(|slice| as_array(without_fence(slice))))
        .or_else(|| {
            texts_after_fences(text).find_map(|slice| match first_value(slice) {
                Some(Value::Array(values)) => Some(values),
                _ => None,
            })
        })
}

/// Returns the syntax error of the JSON that begins at the first `{` or `[`, or `None` if there is no such character or the JSON
/// is valid. If `text` has markers, only what is between them counts; else, if it has a fence, only what is after it. After the
/// JSON, text with a further `{` or `[` is an error, and other text, such as a closing fence, is none.
pub(crate) fn syntax_error(text: &str) -> Option<String> {
    let relevant = texts_between_markers(text)
        .next()
        .or_else(|| texts_after_fences(text).next())
        .unwrap_or(text);
    let json = relevant.get(relevant.find(['{', '['])?..)?;
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<Value>();
    let first_value = values.next()?;
    let rest = json.get(values.byte_offset()..).unwrap_or_default();
    let whole_text = || serde_json::from_str::<Value>(json.trim());
    let error = match first_value {
        Ok(_) if !rest.contains(['{', '[']) => return None,
        Ok(_) => whole_text().err()?,
        Err(error) => error,
    };
    Some(error.to_string())
}

/// Returns the text, or nothing if the JSON in it would need too much memory.
fn bounded(text: &str) -> &str {
    match json::parsed_bytes(text.as_bytes()) > json::MAX_PARSED_BYTES {
        true => "",
        false => text,
    }
}

/// Returns the JSON values in `text`, in this order: those between markers, those in fences, the whole text, and those at any
/// brace.
fn candidates(text: &str) -> impl Iterator<Item = Value> {
    let text = bounded(text);
    let whole_text = json::parse(text.trim()).ok();
    let between_markers = texts_between_markers(text).flat_map(values_at_braces);
    let in_fences = texts_after_fences(text).filter_map(first_value);
    between_markers
        .chain(in_fences)
        .chain(whole_text)
        .chain(values_at_braces(text))
}

/// Returns the text after each start marker, up to its end marker or the end of the text.
fn texts_between_markers(text: &str) -> impl Iterator<Item = &str> {
    text.split(MARKER_START)
        .skip(1)
        .take(MAX_POSITIONS)
        .map(|slice| slice.split_once(MARKER_END).map_or(slice, |(inside, _)| inside))
}

/// Returns the text after each fence and its language name, except texts that do not begin with `{` or `[`. Each text goes on to
/// the end of `text`, not only to the closing fence, because a fence may also be inside a string of the JSON.
fn texts_after_fences(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices(FENCE).take(MAX_POSITIONS).filter_map(|(at, _)| {
        let slice = text.get(at + FENCE.len()..)?;
        let slice = slice
            .trim_start_matches(|c: char| c.is_ascii_alphanumeric())
            .trim_start();
        slice.starts_with(['{', '[']).then_some(slice)
    })
}

/// Removes a fence around `slice`.
fn without_fence(slice: &str) -> &str {
    let inside = slice.trim().trim_start_matches(FENCE).trim_end_matches(FENCE);
    inside.trim_start_matches(|c: char| c.is_ascii_alphabetic())
}

/// Returns the JSON values that begin at an opening brace of `text`. Braces inside such a value are skipped.
fn values_at_braces(text: &str) -> impl Iterator<Item = Value> {
    let mut from = 0;
    let mut tries = 0;
    std::iter::from_fn(move || {
        while tries < MAX_POSITIONS {
            tries += 1;
            let rest = text.get(from..)?;
            let at = from + rest.find('{')?;
            let (value, length) = read_value(text.get(at..)?);
            from = at + length;
            if value.is_some() {
                return value;
            }
        }
        None
    })
}

/// Returns the JSON value at the beginning of `text`, if there is one.
pub(crate) fn first_value(text: &str) -> Option<Value> {
    read_value(text).0
}

/// Returns the JSON value at the beginning of `text`, and its length in bytes. If there is no valid value, returns the length 1,
/// so that the search goes on after the opening brace.
fn read_value(text: &str) -> (Option<Value>, usize) {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match stream.next() {
        Some(Ok(value)) => {
            let end = stream.byte_offset();
            let exact = text.get(..end).and_then(|text| parse_if_inexact(text).ok());
            (Some(exact.flatten().unwrap_or(value)), end.max(1))
        }
        _ => (None, 1),
    }
}

/// Parses JSON text if it has integers of more than 64 bits, which other parsers round. Returns `None` for other text.
fn parse_if_inexact(text: &str) -> serde_json::Result<Option<Value>> {
    match with_exact_integers(text) {
        Cow::Owned(text) => serde_json::from_str(&text).map(Some),
        Cow::Borrowed(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn first_object(text: &str) -> Option<Value> {
        find_object(text, |_| true).map(Value::Object)
    }

    // What is between markers wins, then what is in a fence, then the first brace (contract A25).
    #[test]
    fn markers_take_precedence_over_stray_braces() {
        let text = format!("{{\"a\":0}} {MARKER_START} {{\"a\":1}} {MARKER_END} {{\"a\":2}}");
        assert_eq!(first_object(&text), Some(json!({"a": 1})));
    }

    // What is between markers wins, then what is in a fence, then the first brace (contract A25).
    #[test]
    fn a_fence_takes_precedence_over_stray_braces() {
        assert_eq!(
            first_object("{\"a\":0}\n```json\n{\"a\":1}\n```"),
            Some(json!({"a": 1}))
        );
    }

    #[test]
    fn a_fence_inside_the_markers_is_read() {
        let text = format!("{MARKER_START}\n```json\n{{\"a\":1}}\n```\n{MARKER_END}");
        assert_eq!(first_object(&text), Some(json!({"a": 1})));
    }

    #[test]
    fn a_missing_end_marker_is_accepted() {
        assert_eq!(
            first_object(&format!("{MARKER_START}{{\"a\":1}}")),
            Some(json!({"a": 1}))
        );
    }

    #[test]
    fn braces_and_fences_in_strings_do_not_end_the_json() {
        let text = "```json\n{\"a\":\"} ``` {\"}\n``` {\"b\":1}";
        assert_eq!(first_object(text), Some(json!({"a": "} ``` {"})));
    }

    // Without markers and fences, the first valid object counts (contract A25).
    #[test]
    fn braces_in_prose_are_skipped() {
        assert_eq!(
            first_object("use {x} or {y}: {\"a\":1} and more}"),
            Some(json!({"a": 1}))
        );
    }

    #[test]
    fn an_array_as_the_whole_text_or_in_a_fence_is_found() {
        assert_eq!(find_array(" [1, 2] "), Some(vec![json!(1), json!(2)]));
        assert_eq!(find_array("```json\n[1]\n```"), Some(vec![json!(1)]));
    }

    #[test]
    fn an_array_in_prose_is_not_found() {
        assert_eq!(find_array("see [1] for more"), None);
    }

    #[test]
    fn valid_json_in_a_closed_fence_has_no_syntax_error() {
        assert_eq!(syntax_error("```json\n{\"steps\": []}\n```\nThat is all."), None);
    }

    #[test]
    fn broken_json_after_valid_json_is_a_syntax_error() {
        for text in [
            "See [1]. {\"toolCalls\": [{\"a\": 1,}]}",
            "{\"thought\": \"x\"}\n{\"toolCalls\": [1,]}",
        ] {
            assert!(syntax_error(text).is_some(), "{text}");
        }
    }

    #[test]
    fn a_syntax_error_names_its_position() {
        assert_eq!(
            syntax_error("```json\n{\"a\":}\n```").as_deref(),
            Some("expected value at line 1 column 6")
        );
    }
}
