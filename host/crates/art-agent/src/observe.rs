//! Makes the observation of a tool call, which is the stored record that the call ended. The content of the observation has a
//! fixed form (contract C36) and a maximum size.

use art_core::JsonObject;
use art_core::json::text_len;
use art_core::text::{byte_prefix, truncate};
use art_core::tool::{ToolResult, ToolResultMetadata};
use serde_json::Value;

use crate::event::CallEnd;

/// Maximum size of the content of an observation, in bytes (contract X17). A longer result is shortened in the
/// observation. This does not change the result that the plan item keeps.
const MAX_OBSERVED_BYTES: usize = 64 << 10;
/// Maximum size of the output in a shortened result, in bytes of its escaped JSON string. The error has the same maximum of its
/// own. A note replaces the rest.
const MAX_SHORTENED_TEXT_BYTES: usize = 24 << 10;
/// Maximum size of the metadata that a shortened result keeps, in bytes. Of larger metadata, it keeps only a few small fields.
const MAX_SHORTENED_METADATA_BYTES: usize = 8 << 10;
/// Maximum length of an identifier or a name, in characters.
const MAX_NAME_CHARS: usize = 200;

/// Returns the content and the metadata of the `TOOL_EXECUTION` observation of a call that ended.
pub(crate) fn tool_execution(end: &CallEnd) -> (Value, JsonObject) {
    let metadata = [
        ("callId", truncate(&end.result.call_id, MAX_NAME_CHARS).into()),
        ("ending", end.ending.as_str().into()),
        ("usage", serde_json::to_value(end.usage).unwrap_or_default()),
        ("durationMs", end.duration_ms.into()),
    ];
    let metadata = metadata.into_iter().map(|(name, value)| (name.to_owned(), value));
    (content(&end.result), metadata.collect())
}

/// Returns the result as JSON, shortened if it is too long.
fn content(result: &ToolResult) -> Value {
    let value = if text_len(result) <= MAX_OBSERVED_BYTES {
        serde_json::to_value(result)
    } else {
        serde_json::to_value(shorten(result))
    };
    // Serialising a result cannot fail.
    value.unwrap_or_default()
}

/// Returns the result with long parts cut. The output becomes a string with the beginning of its JSON text. A text that was cut
/// ends with a note of how much is missing.
fn shorten(result: &ToolResult) -> ToolResult {
    let output = result.output.as_ref();
    let output = output.map(|output| Value::String(shorten_text(&output.to_string())).into());
    ToolResult {
        call_id: truncate(&result.call_id, MAX_NAME_CHARS),
        tool_name: truncate(&result.tool_name, MAX_NAME_CHARS),
        status: result.status,
        output,
        error: result.error.as_deref().map(shorten_text),
        code: result.code,
        metadata: shorten_metadata(&result.metadata),
    }
}

/// Returns the metadata. If it is too large, returns only a few small fields and a note of its size.
fn shorten_metadata(metadata: &ToolResultMetadata) -> ToolResultMetadata {
    let bytes = text_len(metadata);
    if bytes <= MAX_SHORTENED_METADATA_BYTES {
        return metadata.clone();
    }
    let mut shortened = ToolResultMetadata {
        title: metadata.title.clone(),
        suspension_id: metadata.suspension_id.clone(),
        retryable: metadata.retryable,
        not_run: metadata.not_run,
        for_display: metadata.for_display,
        ..ToolResultMetadata::default()
    };
    let note = format!("[truncated: {bytes} bytes of metadata]");
    shortened.extra.insert("truncated".to_owned(), note.into());
    shortened
}

fn shorten_text(text: &str) -> String {
    let prefix = prefix_within_json(text, MAX_SHORTENED_TEXT_BYTES);
    match text.len() - prefix.len() {
        0 => text.to_owned(),
        removed => format!("{prefix}... [truncated {removed} of {} bytes]", text.len()),
    }
}

/// Returns the longest prefix of `text` that takes at most `max_bytes` bytes in a JSON string, without the quotes.
fn prefix_within_json(text: &str, max_bytes: usize) -> &str {
    let mut bytes = 0;
    let is_over = |(_, char): &(usize, char)| {
        bytes += escaped_len(*char);
        bytes > max_bytes
    };
    match text.char_indices().find(is_over) {
        Some((end, _)) => byte_prefix(text, end),
        None => text,
    }
}

/// Returns the number of bytes that JSON needs for a character.
const fn escaped_len(char: char) -> usize {
    match char {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => char.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use art_core::tool::ParsedToolCall;
    use proptest::prelude::*;
    use serde_json::json;

    fn result_with_output(output: Value) -> ToolResult {
        let call = ParsedToolCall {
            call_id: "c".to_owned(),
            tool_name: "t".to_owned(),
            arguments: json!({}),
        };
        ToolResult::success(&call, output)
    }

    #[test]
    fn a_small_result_is_not_shortened() {
        let result = result_with_output(json!({"a": 1}));
        assert_eq!(content(&result), serde_json::to_value(&result).unwrap());
    }

    #[test]
    fn a_large_output_ends_with_the_number_of_removed_bytes() {
        // As JSON, the text has 2 bytes for each letter and 2 for its quotes.
        let content = content(&result_with_output(json!("é".repeat(50_000))));
        let output = content["output"].as_str().unwrap();
        assert!(
            output.ends_with("... [truncated 75427 of 100002 bytes]"),
            "{}",
            &output[24_000..]
        );
        assert!(content.to_string().len() <= MAX_OBSERVED_BYTES);
    }

    #[test]
    fn the_content_with_a_long_error_of_control_characters_is_within_the_maximum_size() {
        let mut result = result_with_output(json!({}));
        result.error = Some("\u{1}".repeat(100_000));
        let content = content(&result);
        assert!(content.to_string().len() <= MAX_OBSERVED_BYTES);
        assert!(content["error"].as_str().unwrap().ends_with("of 100000 bytes]"));
    }

    proptest! {
        #[test]
        fn the_content_never_exceeds_its_maximum_size(text in "(\\PC|\"|\\\\|[\0-\x1f]){0,300}", times in 1usize..2_000) {
            let mut result = result_with_output(json!(text.repeat(times)));
            result.error = Some(text.repeat(times / 2));
            result.metadata.extra.insert("m".to_owned(), json!(text.repeat(times / 4)));
            prop_assert!(content(&result).to_string().len() <= MAX_OBSERVED_BYTES);
        }
    }
}
