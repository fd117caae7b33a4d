use std::sync::Arc;

use art_core::outcome::{ExhaustedLimit, ExhaustedMemory, SubtaskRequest};
use art_core::tool::ExecutionMode;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::testing::{ScriptedTool, call};

/// Returns a tool whose output may have at most 1,000 bytes.
fn tool(output_schema: Option<Value>) -> RegisteredTool {
    let mut executor = ScriptedTool::echo("tool");
    executor.schema.output_schema = output_schema.map(Into::into);
    executor.limits.output_bytes = 1_000;
    RegisteredTool::compile(Arc::new(executor)).unwrap()
}

fn report_of(tool: &RegisteredTool, ending: Ending) -> ToolReport {
    report(&call("tool", json!({})), tool, ending)
}

fn success(output: &str) -> Success {
    Success {
        output: output.to_owned(),
        ..Success::default()
    }
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => panic!("not an object"),
    }
}

#[test]
fn a_result_contains_all_parts_of_a_success_except_reserved_keys() {
    let success = Success {
        title: Some("done".to_owned()),
        sources: vec![Source {
            source_name: "web".to_owned(),
            url: Some("https://x".to_owned()),
            extra: object(json!({"page": 1, "url": "again"})),
        }],
        attachments: vec![Attachment {
            media_type: "text/csv".to_owned(),
            filename: None,
            data: vec![0; 9],
        }],
        metadata: object(json!({"k": "v", "retryable": true, "suspensionId": "mine", "forDisplay": true, "title": 1})),
        ..success("{\"n\":1}")
    };
    let report = report_of(&tool(None), Ending::Success(success));
    assert_eq!(
        serde_json::to_value(&report.result).unwrap(),
        json!({
            "callId": "call_tool", "toolName": "tool", "status": "success", "output": {"n": 1},
            "metadata": {
                "title": "done",
                "sources": [{"sourceName": "web", "url": "https://x", "page": 1}],
                "attachments": [{"mediaType": "text/csv", "bytes": 9}],
                "k": "v",
                "toolSuspensionId": "mine",
            },
        })
    );
}

#[test]
fn output_that_is_not_strict_json_is_an_error_that_says_why() {
    let too_deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
    // With its quotation marks, this text has more than the 1,000 bytes that the tool may return.
    let too_long = format!("\"{}\"", "x".repeat(1_000));
    let outputs = [
        "",
        "NaN",
        "1e400",
        "\u{feff}1",
        "1 2",
        "\"\\ud800\"",
        "{\"a\":1,\"a\":2}",
        &too_deep,
        &too_long,
    ];
    let texts: Vec<_> = outputs
        .iter()
        .map(|output| {
            let report = report_of(&tool(None), Ending::Success(success(output)));
            assert_eq!(report.ending, EndingKind::InvalidOutput);
            assert_eq!(report.result.code, Some(Code::InvalidOutput));
            assert_eq!(report.result.output, None);
            report.result.error.unwrap()
        })
        .collect();
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn output_that_breaks_its_schema_is_an_error_that_lists_every_violation() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "number"}}, "required": ["b"]});
    let report = report_of(&tool(Some(schema)), Ending::Success(success("{\"a\":\"x\"}")));
    assert_eq!(
        report.result.error.unwrap(),
        "Tool \"tool\" returned invalid output: output must have the property \"b\", /a must be number"
    );
}

#[test]
fn the_status_never_comes_from_the_output() {
    let output = r#"{"status":"error","error":"no","callId":"other","isError":true}"#;
    let report = report_of(&tool(None), Ending::Success(success(output)));
    assert_eq!(report.result.status, ToolStatus::Success);
    assert_eq!(report.result.call_id, "call_tool");
}

/// Returns the report of a success with `error` in its metadata.
fn report_with_error(error: &Value) -> ToolReport {
    let success = Success {
        metadata: object(json!({"error": error, "rows": 3})),
        ..success("{\"n\":1}")
    };
    report_of(&tool(None), Ending::Success(success))
}

// A success whose metadata contains an error is turned into a failure (contracts A87, C81).
#[test]
fn a_success_with_an_error_in_its_metadata_is_a_failure_and_keeps_its_output() {
    for (error, text, code) in [
        (json!("no space"), "no space", Code::Unknown),
        (json!(true), "Unknown execution error", Code::Unknown),
        (
            json!("LLM_ASSIST_REQUIRED"),
            "LLM_ASSIST_REQUIRED",
            Code::LlmAssistRequired,
        ),
        (json!("NOT_IMPLEMENTED"), "NOT_IMPLEMENTED", Code::Unknown),
    ] {
        let report = report_with_error(&error);
        assert_eq!(report.ending, EndingKind::Failure);
        let result = report.result;
        assert_eq!((result.status, result.code), (ToolStatus::Error, Some(code)));
        assert_eq!(
            (result.error.as_deref(), result.output),
            (Some(text), Some(json!({"n": 1}).into()))
        );
        assert_eq!(result.metadata.extra["rows"], 3);
    }
}

// Only a success whose metadata contains an error is turned into a failure (contracts A87, C81).
#[test]
fn a_success_without_an_error_in_its_metadata_stays_a_success() {
    for error in [json!(false), json!(null), json!("")] {
        let report = report_with_error(&error);
        assert_eq!(report.ending, EndingKind::Success);
        assert_eq!((report.result.status, report.result.error), (ToolStatus::Success, None));
    }
    let without = report_of(&tool(None), Ending::Success(success("1")));
    assert_eq!(without.ending, EndingKind::Success);
}

fn failure_result(code: Code, metadata: Value) -> ToolResult {
    let failure = Failure {
        code,
        message: "shorten this".to_owned(),
        retryable: false,
        metadata: object(metadata),
    };
    report_of(&tool(None), Ending::Failure(failure)).result
}

// A failure stays a failure (contracts C81, D16).
#[test]
fn metadata_cannot_make_a_failure_a_success() {
    let result = failure_result(Code::IoError, json!({"error": false}));
    assert_eq!((result.status, result.code), (ToolStatus::Error, Some(Code::IoError)));
}

// A tool asks the model for help (contract T13).
#[test]
fn a_request_for_help_in_an_output_is_marked_and_stays_a_success() {
    let request = r#"{"action":"LLM_ASSIST_REQUIRED","prompt":"Shorten this."}"#;
    let request_of_older_tools = r#"{"error":"LLM_ASSIST_REQUIRED"}"#;
    let text_with_title_and_request = json!(format!("Too long\n\n{request}")).to_string();
    for output in [request, request_of_older_tools, &text_with_title_and_request] {
        let result = report_of(&tool(None), Ending::Success(success(output))).result;
        assert_eq!(result.status, ToolStatus::Success, "{output}");
        assert_eq!(result.output.unwrap().to_string(), output);
        assert_eq!(result.metadata.extra[ASSIST_REQUIRED], true, "{output}");
    }
}

// A tool asks the model for help (contract T13).
#[test]
fn a_failure_is_marked_only_if_it_asks_for_help() {
    let assist = failure_result(Code::LlmAssistRequired, json!({}));
    assert_eq!(assist.metadata.extra[ASSIST_REQUIRED], true);
    assert_eq!(
        (assist.status, assist.error.as_deref()),
        (ToolStatus::Error, Some("shorten this"))
    );
    let other = failure_result(Code::NotFound, json!({ASSIST_REQUIRED: true}));
    assert_eq!(other.metadata.extra.get(ASSIST_REQUIRED), None);
}

// Only the host marks a call as not run (contract X19).
#[test]
fn a_tool_cannot_say_that_it_did_not_run() {
    let result = failure_result(Code::ValidationError, json!({"notRun": true, "rows": 3}));
    let metadata = serde_json::to_value(&result.metadata).unwrap();
    assert_eq!(metadata, json!({"rows": 3}));
}

#[test]
fn null_is_an_output() {
    let report = report_of(&tool(None), Ending::Success(success("null")));
    assert_eq!(report.result.output, Some(Value::Null.into()));
}

#[test]
fn a_failure_has_the_message_code_and_metadata_of_the_tool() {
    let failure = |message: &str| {
        Ending::Failure(Failure {
            code: Code::RateLimited,
            message: message.to_owned(),
            retryable: true,
            metadata: object(json!({"after": 3})),
        })
    };
    let result = report_of(&tool(None), failure("slow down")).result;
    assert_eq!(result.error.as_deref(), Some("slow down"));
    assert_eq!(
        (result.status, result.code),
        (ToolStatus::Error, Some(Code::RateLimited))
    );
    assert!(result.metadata.retryable);
    assert_eq!(result.metadata.extra["after"], 3);
    let without_message = report_of(&tool(None), failure("")).result;
    assert_eq!(without_message.error.as_deref(), Some("Unknown execution error"));
}

#[test]
fn the_host_chooses_the_identifier_of_a_suspension() {
    let suspension = Suspension {
        message: "sure?".to_owned(),
        details: Some(json!({"suspensionId": "mine", "amount": 5})),
        preview_data: None,
        feedback_schema: Some(json!({"inputType": "boolean"})),
    };
    let report = report_of(&tool(None), Ending::Suspended(suspension));
    let metadata = &report.result.metadata;
    assert_eq!(report.result.status, ToolStatus::Suspended);
    // The identifier of the host is a UUID, with 36 characters.
    assert_eq!(metadata.suspension_id.as_ref().map(String::len), Some(36));
    assert_eq!(metadata.extra[TOOL_SUSPENSION_ID], "mine");
    assert_eq!(
        report.suspension.map(|question| question.suspension_id),
        metadata.suspension_id
    );
    assert_eq!(
        report.result.output,
        Some(json!({"message": "sure?", "details": {"suspensionId": "mine", "amount": 5}}).into())
    );
}

#[test]
fn an_ending_without_a_result_of_the_tool_is_an_error_with_its_code() {
    let endings = [
        Ending::Continuation(SubtaskRequest {
            description: "more".to_owned(),
            inputs: json!({}),
            template_hints: Vec::new(),
            max_depth: None,
            context_management: None,
        }),
        Ending::FuelExhausted {
            limit: ExhaustedLimit::Fuel(5),
        },
        Ending::Timeout { limit_ms: 5 },
        Ending::MemoryExhausted {
            limit: ExhaustedMemory::Guest(5),
        },
        Ending::StackOverflow,
        Ending::Trap {
            message: "unreachable".to_owned(),
        },
        Ending::InvalidOutput {
            reason: "not text".to_owned(),
        },
        Ending::Denied {
            message: "`fs` is not granted".to_owned(),
        },
        Ending::Cancelled,
        Ending::Busy,
        Ending::HostError {
            message: "no memory".to_owned(),
        },
    ];
    let lines = endings.into_iter().map(|ending| {
        let report = report_of(&tool(None), ending);
        let result = report.result;
        let code = result.code.unwrap();
        assert_eq!(result.status, ToolStatus::Error);
        assert_eq!(result.metadata.retryable, code.is_retryable());
        format!("{} {code:?} {}", report.ending.as_str(), result.error.unwrap())
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn too_much_metadata_and_too_many_attachments_are_invalid() {
    let large_metadata = Success {
        metadata: object(json!({"k": "x".repeat(70_000)})),
        ..success("1")
    };
    let many_attachments = Success {
        attachments: vec![
            Attachment {
                media_type: String::new(),
                filename: None,
                data: Vec::new()
            };
            101
        ],
        ..success("1")
    };
    for success in [large_metadata, many_attachments] {
        assert_eq!(
            report_of(&tool(None), Ending::Success(success)).ending,
            EndingKind::InvalidOutput
        );
    }
}

#[test]
fn the_error_for_a_value_that_is_too_large_names_the_value() {
    let large = || Some(json!({"k": "x".repeat(70_000)}));
    let suspension = || Suspension {
        message: "sure?".to_owned(),
        details: None,
        preview_data: None,
        feedback_schema: None,
    };
    let large_form = Suspension {
        feedback_schema: large(),
        ..suspension()
    };
    let large_details = Suspension {
        details: large(),
        ..suspension()
    };
    let large_preview = Suspension {
        preview_data: large(),
        ..suspension()
    };
    for (suspension, name) in [
        (large_form, "form"),
        (large_details, "details"),
        (large_preview, "preview"),
    ] {
        let report = report_of(&tool(None), Ending::Suspended(suspension));
        assert_eq!(
            report.result.error.unwrap(),
            format!("Tool \"tool\" returned invalid output: {name} of 70008 bytes, more than 65536")
        );
    }
}

#[test]
fn the_output_of_a_display_tool_is_marked_for_display_even_in_an_error() {
    let mut executor = ScriptedTool::echo("tool");
    executor.schema.execution_mode = ExecutionMode::Display;
    let tool = RegisteredTool::compile(Arc::new(executor)).unwrap();
    let status_and_mark = |metadata: Value| {
        let success = Success {
            metadata: object(metadata),
            ..success("1")
        };
        let result = report_of(&tool, Ending::Success(success)).result;
        (result.status, result.metadata.for_display)
    };
    assert_eq!(status_and_mark(json!({})), (ToolStatus::Success, true));
    assert_eq!(status_and_mark(json!({"error": true})), (ToolStatus::Error, true));
}

#[test]
fn a_tool_cannot_mark_its_own_output_for_display() {
    let success = Success {
        metadata: object(json!({"forDisplay": true})),
        ..success("1")
    };
    let metadata = report_of(&tool(None), Ending::Success(success)).result.metadata;
    assert!(metadata.is_empty(), "{metadata:?}");
}

proptest! {
    #[test]
    fn no_output_causes_a_panic_and_every_result_is_bounded(output in "\\PC{0,1500}", title in "\\PC{0,600}") {
        let success = Success { title: Some(title), ..success(&output) };
        let report = report_of(&tool(None), Ending::Success(success));
        // An output of 1,000 bytes or an error about it, a title of 500 characters and the identifiers have fewer bytes in total.
        prop_assert!(text_len(&report.result) < 20_000);
    }
}

#[test]
fn an_invalid_form_makes_a_suspension_an_invalid_output() {
    let forms = [
        json!({"inputType": "email"}),
        json!({"inputType": "select", "options": []}),
        json!({"inputType": "text", "validation": {"pattern": "(?=a)"}}),
        json!({"inputType": "number", "validation": {"min": 2, "max": 1}}),
        json!({"inputType": "boolean", "defaultValue": "yes"}),
        json!({"$ref": "https://example.com/schema"}),
        json!("text"),
        json!({"inputType": "text", "prompt": "x".repeat(9_000)}),
    ];
    let lines = forms.map(|form| {
        let suspension = Suspension {
            message: "sure?".to_owned(),
            details: None,
            preview_data: None,
            feedback_schema: Some(form),
        };
        let report = report_of(&tool(None), Ending::Suspended(suspension));
        assert_eq!((report.ending, report.suspension), (EndingKind::InvalidOutput, None));
        report.result.error.unwrap()
    });
    insta::assert_snapshot!(lines.join("\n"));
}
