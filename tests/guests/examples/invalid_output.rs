//! Returns outcomes that are unusual or violate the contract between host and tool (`wit/tool.wit`). The input
//! `{"case": ...}` selects the outcome; for an unknown case the outcome is ordinary.

#![cfg(target_family = "wasm")]

use guests::bindings::art::tool::types::{
    ExecutionContext, Outcome, Source, SubtaskRequest, Success, Suspension, ToolSchema,
};
use guests::bindings::exports::art::tool::tool;
use guests::{success, success_outcome};

struct Guest;

impl tool::Guest for Guest {
    fn schema() -> ToolSchema {
        ToolSchema {
            output_schema: Some(
                r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#.to_owned(),
            ),
            ..guests::plain_schema("invalid_output")
        }
    }

    fn execute(input: String, context: ExecutionContext) -> Outcome {
        // The host passes `{"case":"..."}` without spaces, so the value is the fourth part when the input is split at its quotes.
        match input.split('"').nth(3).unwrap_or_default() {
            "not_json" => success_outcome("not json"),
            "nothing" => success_outcome(""),
            "two_values" => success_outcome(r#"{"n":1} {"n":2}"#),
            "not_a_number" => success_outcome(r#"{"n":NaN}"#),
            "byte_order_mark" => success_outcome("\u{feff}{\"n\":1}"),
            "deep" => success_outcome(format!("{}{}", "[".repeat(5_000), "]".repeat(5_000))),
            "many_values" => success_outcome(format!("[{}0]", "0,".repeat(60_000))),
            // The output does not match the output schema of this tool.
            "own_schema_broken" => success_outcome(r#"{"n":"one"}"#),
            "duplicate_keys" => success_outcome(r#"{"n":1,"n":2}"#),
            // The smallest positive integer that has no exact `f64`.
            "large_number" => success_outcome(r#"{"n":9007199254740993}"#),
            "metadata_is_a_list" => Outcome::Success(Success {
                metadata: Some("[1]".to_owned()),
                ..success(r#"{"n":1}"#)
            }),
            // The metadata names another call, another tool and another status.
            "wrong_ids" => Outcome::Success(Success {
                metadata: Some(r#"{"callId":"call_000000000","toolName":"other","status":"error"}"#.to_owned()),
                ..success(r#"{"n":1}"#)
            }),
            "many_sources" => Outcome::Success(Success {
                sources: (0..200_000).map(|_| named_source()).collect(),
                ..success(r#"{"n":1}"#)
            }),
            "details_not_json" => Outcome::Suspended(Suspension {
                message: "well?".to_owned(),
                details: Some("{".to_owned()),
                preview: None,
                feedback_schema: None,
            }),
            "inputs_not_an_object" => Outcome::Continuation(SubtaskRequest {
                description: "go on".to_owned(),
                inputs: "7".to_owned(),
                template_hints: Vec::new(),
                max_depth: None,
                context_management: None,
            }),
            // An ordinary outcome. Its `n` is the length of the identifier of the call.
            _ => success_outcome(format!(r#"{{"n":{}}}"#, context.call_id.len())),
        }
    }
}

fn named_source() -> Source {
    Source {
        source_name: "a source".to_owned(),
        url: None,
        extra: None,
    }
}

guests::bindings::export!(Guest with_types_in guests::bindings);
