//! The observation of a call (C36).

use art_core::JsonObject;
use art_core::observation::{NewObservation, ObservationType};
use art_core::text::{byte_prefix, truncate};
use art_core::tool::{ToolResult, ToolResultMetadata};
use serde_json::Value;

use crate::report::ToolReport;
use crate::scope::CallScope;
use crate::shape::text_len;

/// Maximum size of the content of an observation, in bytes (X17). Longer outputs are cut; the result contains them in
/// full.
pub const MAX_OBSERVED_BYTES: usize = 64 << 10;
/// Maximum size of an output after it is cut, in bytes. JSON quoting can double it.
const KEPT_OUTPUT_BYTES: usize = 24 << 10;
/// Maximum size of the metadata in a shortened result, in bytes.
const KEPT_METADATA_BYTES: usize = 8 << 10;
/// Maximum length of an identifier or a name, in characters.
const MAX_NAME: usize = 200;

/// Returns the `TOOL_EXECUTION` observation of a call. `text` is the output as the tool wrote it.
pub(crate) fn observation(report: &ToolReport, text: Option<&str>, scope: &CallScope) -> NewObservation {
    let content = content(&report.result, text);
    let mut metadata = JsonObject::new();
    let mut put = |name: &str, value| metadata.insert(name.to_owned(), value);
    put("callId", truncate(&report.result.call_id, MAX_NAME).into());
    put("ending", report.ending.as_str().into());
    put("usage", serde_json::to_value(report.usage).unwrap_or_default());
    put("durationMs", millis(report).into());
    NewObservation {
        thread_id: scope.thread_id.clone(),
        trace_id: Some(scope.trace_id.clone()),
        parent_id: scope.parent_id.clone(),
        kind: ObservationType::ToolExecution,
        content,
        metadata,
    }
}

fn millis(report: &ToolReport) -> u64 {
    u64::try_from(report.duration.as_millis()).unwrap_or(u64::MAX)
}

fn content(result: &ToolResult, text: Option<&str>) -> Value {
    let whole = text_len(result) <= MAX_OBSERVED_BYTES;
    let value = if whole {
        serde_json::to_value(result)
    } else {
        serde_json::to_value(shortened(result, text))
    };
    // Serialising a result cannot fail.
    value.unwrap_or_default()
}

/// Returns the result with only the beginning of its output, followed by a marker.
fn shortened(result: &ToolResult, text: Option<&str>) -> ToolResult {
    let output = result.output.as_ref().map(|output| match text {
        Some(text) => Value::String(cut(text)),
        None => Value::String(cut(&output.to_string())),
    });
    ToolResult {
        call_id: truncate(&result.call_id, MAX_NAME),
        tool_name: truncate(&result.tool_name, MAX_NAME),
        status: result.status,
        output,
        error: result.error.as_deref().map(cut),
        code: result.code,
        metadata: kept(&result.metadata),
    }
}

fn kept(metadata: &ToolResultMetadata) -> ToolResultMetadata {
    let bytes = text_len(metadata);
    if bytes <= KEPT_METADATA_BYTES {
        return metadata.clone();
    }
    let mut kept = ToolResultMetadata {
        title: metadata.title.clone(),
        suspension_id: metadata.suspension_id.clone(),
        retryable: metadata.retryable,
        not_run: metadata.not_run,
        for_display: metadata.for_display,
        ..ToolResultMetadata::default()
    };
    let marker = format!("[truncated: {bytes} bytes of metadata]");
    kept.extra.insert("truncated".to_owned(), marker.into());
    kept
}

fn cut(text: &str) -> String {
    let kept = byte_prefix(text, KEPT_OUTPUT_BYTES);
    match text.len() - kept.len() {
        0 => text.to_owned(),
        gone => format!("{kept}... [truncated {gone} of {} bytes]", text.len()),
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
    fn a_small_result_is_kept_whole() {
        let result = result(json!({"a": 1}));
        assert_eq!(
            content(&result, Some("{\"a\":1}")),
            serde_json::to_value(&result).unwrap()
        );
    }

    #[test]
    fn a_large_result_says_what_was_cut() {
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
