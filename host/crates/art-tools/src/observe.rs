//! The observation of a call (C36).

use art_core::observation::{NewObservation, ObservationType};
use art_core::text::{byte_prefix, truncate};
use art_core::tool::{ToolResult, ToolResultMetadata};
use serde_json::Value;

use crate::report::ToolReport;
use crate::scope::CallScope;
use crate::shape::text_len;

/// Maximum size of the content of an observation, in bytes (X17). A longer output is cut in the observation, but not in
/// the result of the call.
pub const MAX_OBSERVED_BYTES: usize = 64 << 10;
/// Maximum size of an output after it is cut, in bytes. JSON quoting can double it.
const KEPT_OUTPUT_BYTES: usize = 24 << 10;
/// Maximum size of the metadata in a shortened result, in bytes.
const KEPT_METADATA_BYTES: usize = 8 << 10;
/// Maximum length of an identifier or a name, in characters.
const MAX_NAME_CHARS: usize = 200;

/// Returns the `TOOL_EXECUTION` observation of a call. `raw_output` is the output as the tool wrote it.
pub(crate) fn observation(report: &ToolReport, raw_output: Option<&str>, scope: &CallScope) -> NewObservation {
    let duration_ms = u64::try_from(report.duration.as_millis()).unwrap_or(u64::MAX);
    let metadata = [
        ("callId", truncate(&report.result.call_id, MAX_NAME_CHARS).into()),
        ("ending", report.ending.as_str().into()),
        ("usage", serde_json::to_value(report.usage).unwrap_or_default()),
        ("durationMs", duration_ms.into()),
    ];
    NewObservation {
        thread_id: scope.thread_id.clone(),
        trace_id: Some(scope.trace_id.clone()),
        parent_id: scope.parent_id.clone(),
        kind: ObservationType::ToolExecution,
        content: content(&report.result, raw_output),
        metadata: metadata
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    }
}

/// Returns the result as JSON, shortened if it is too long.
fn content(result: &ToolResult, raw_output: Option<&str>) -> Value {
    let value = if text_len(result) <= MAX_OBSERVED_BYTES {
        serde_json::to_value(result)
    } else {
        serde_json::to_value(shortened(result, raw_output))
    };
    // Serialising a result cannot fail.
    value.unwrap_or_default()
}

/// Returns the result with only the beginning of its output, as text that ends with a marker.
fn shortened(result: &ToolResult, raw_output: Option<&str>) -> ToolResult {
    let output = result.output.as_ref().map(|output| match raw_output {
        Some(raw_output) => Value::String(shortened_text(raw_output)),
        None => Value::String(shortened_text(&output.to_string())),
    });
    ToolResult {
        call_id: truncate(&result.call_id, MAX_NAME_CHARS),
        tool_name: truncate(&result.tool_name, MAX_NAME_CHARS),
        status: result.status,
        output,
        error: result.error.as_deref().map(shortened_text),
        code: result.code,
        metadata: shortened_metadata(&result.metadata),
    }
}

/// Returns the metadata, or only the fields that the host sets if there is too much of it.
fn shortened_metadata(metadata: &ToolResultMetadata) -> ToolResultMetadata {
    let bytes = text_len(metadata);
    if bytes <= KEPT_METADATA_BYTES {
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
    let marker = format!("[truncated: {bytes} bytes of metadata]");
    shortened.extra.insert("truncated".to_owned(), marker.into());
    shortened
}

fn shortened_text(text: &str) -> String {
    let prefix = byte_prefix(text, KEPT_OUTPUT_BYTES);
    match text.len() - prefix.len() {
        0 => text.to_owned(),
        removed => format!("{prefix}... [truncated {removed} of {} bytes]", text.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use art_core::tool::ParsedToolCall;
    use proptest::prelude::*;
    use serde_json::json;

    fn result(output: Value) -> ToolResult {
        let call = ParsedToolCall {
            call_id: "c".to_owned(),
            tool_name: "t".to_owned(),
            arguments: json!({}),
        };
        ToolResult::success(&call, output)
    }

    #[test]
    fn a_small_result_is_not_shortened() {
        let result = result(json!({"a": 1}));
        assert_eq!(
            content(&result, Some("{\"a\":1}")),
            serde_json::to_value(&result).unwrap()
        );
    }

    #[test]
    fn a_large_result_ends_with_the_number_of_removed_bytes() {
        let text = json!("é".repeat(50_000)).to_string();
        let content = content(&result(json!("é".repeat(50_000))), Some(&text));
        let output = content["output"].as_str().unwrap();
        assert!(
            output.ends_with("... [truncated 75427 of 100002 bytes]"),
            "{}",
            &output[24_000..]
        );
        assert!(content.to_string().len() <= MAX_OBSERVED_BYTES);
    }

    proptest! {
        #[test]
        fn the_content_never_exceeds_its_bound(text in "(\\PC|\"|\\\\){0,300}", times in 1usize..2_000) {
            let mut result = result(json!(text.repeat(times)));
            result.metadata.extra.insert("m".to_owned(), json!(text.repeat(times / 4)));
            let written = result.output.as_ref().unwrap().to_string();
            prop_assert!(content(&result, Some(&written)).to_string().len() <= MAX_OBSERVED_BYTES);
        }
    }
}
