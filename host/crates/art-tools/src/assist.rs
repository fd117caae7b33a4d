//! Detects results in which a tool asks the model for help (contract T13).

use art_core::JsonObject;
use art_core::error::ToolErrorCode;
use art_core::tool::ToolResult;
use serde_json::Value;

use crate::parse;

/// The text with which a tool asks the model for help, in the `action` or `error` of its output or in the `error` of the metadata
/// of its result. It is also the name of the error code.
pub(crate) const ASSIST_REQUEST: &str = "LLM_ASSIST_REQUIRED";

/// Returns whether a tool asks the model for help, by the code of its failure or by its output. An output that asks for
/// help is an object whose `action` (in older tools, `error`) is [`ASSIST_REQUEST`], or the JSON text of such an object, which
/// may follow a title and an empty line.
pub(crate) fn is_requested(result: &ToolResult) -> bool {
    let has_code = result.code == Some(ToolErrorCode::LlmAssistRequired);
    has_code || result.output.as_deref().is_some_and(output_asks_for_help)
}

fn output_asks_for_help(output: &Value) -> bool {
    match output {
        Value::Object(object) => object_asks_for_help(object),
        // Skip parsing for texts that cannot contain a request.
        Value::String(text) if text.contains(ASSIST_REQUEST) => {
            text_asks_for_help(text)
                || text
                    .split_once("\n\n")
                    .is_some_and(|(_title, rest)| text_asks_for_help(rest))
        }
        _ => false,
    }
}

fn text_asks_for_help(text: &str) -> bool {
    match parse::strict(text) {
        Ok((Value::Object(object), _)) => object_asks_for_help(&object),
        _ => false,
    }
}

fn object_asks_for_help(object: &JsonObject) -> bool {
    ["action", "error"]
        .iter()
        .any(|key| object.get(*key).is_some_and(|value| value == ASSIST_REQUEST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // The forms in which a tool asks the model for help (contracts A84, T13).
    #[test]
    fn a_request_is_an_object_or_its_json_text_with_or_without_a_title() {
        for key in ["action", "error"] {
            let request = json!({key: "LLM_ASSIST_REQUIRED", "prompt": "Shorten this."});
            let text = request.to_string();
            for output in [request, json!(text), json!(format!("Too long\n\n{text}"))] {
                assert!(output_asks_for_help(&output), "{output}");
            }
        }
    }

    // A tool asks the model for help only in the forms of the test above (contracts A84, T13).
    #[test]
    fn an_output_that_only_mentions_the_code_does_not_ask_for_help() {
        let outputs = [
            json!({"action": "other", "note": "LLM_ASSIST_REQUIRED"}),
            json!({"action": ["LLM_ASSIST_REQUIRED"]}),
            json!({"inner": {"action": "LLM_ASSIST_REQUIRED"}}),
            json!([{"action": "LLM_ASSIST_REQUIRED"}]),
            json!("LLM_ASSIST_REQUIRED"),
            json!("\"LLM_ASSIST_REQUIRED\""),
            json!("Title\n{\"action\":\"LLM_ASSIST_REQUIRED\"}"),
            json!("Title\n\n{\"action\":\"LLM_ASSIST_REQUIRED\"} and more"),
            json!(null),
        ];
        for output in outputs {
            assert!(!output_asks_for_help(&output), "{output}");
        }
    }
}
