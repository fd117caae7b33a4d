//! The tool with which a model asks the person for information (contract C104).

use art_core::error::ToolErrorCode;
use art_core::hitl::{FeedbackSchema, InputType};
use art_core::outcome::{Ending, Suspension};
use art_core::suspension::REQUEST_USER_INPUT;
use art_core::tool::{BlockingToolConfig, ExecutionMode, ToolSchema};
use art_tools::direct::{failure, success};
use art_tools::{DirectCall, DirectTool};
use serde_json::{Value, json};

/// Returns the tool [`REQUEST_USER_INPUT`]. A call is suspended until the person has answered, and its output is the answer.
pub(crate) fn request_user_input_tool() -> DirectTool {
    let form = FeedbackSchema {
        input_type: InputType::Text,
        ..FeedbackSchema::confirm("What do you answer?")
    };
    let output = json!({
        "type": "object",
        "properties": {"userInput": {"type": "string"}},
        "required": ["userInput"],
    });
    let schema = ToolSchema {
        name: REQUEST_USER_INPUT.to_owned(),
        description: "Asks the person for information that is missing and that no other tool has. Returns the answer as a text. Use it only \
                      if the user cannot be answered without this information."
            .to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {"prompt": {"type": "string", "minLength": 1, "description": "The question to the person."}},
            "required": ["prompt"],
            "additionalProperties": false,
        })
        .into(),
        output_schema: Some(output.into()),
        examples: Vec::new().into(),
        execution_mode: ExecutionMode::Blocking,
        blocking_config: Some(BlockingToolConfig {
            feedback_schema: Some(form),
            approval_prompt: None,
            completes_on_approval: false,
            allow_retry_on_reject: false,
            timeout_ms: None,
            category: None,
            risk_level: None,
        }),
        display_config: None,
    };
    // A call only asks a question, so it may be made again if the host stopped during it.
    DirectTool::new(schema, |call| std::future::ready(ask_or_answer(&call))).repeatable()
}

/// Asks the person the question in the arguments of the call, by suspending the call. After the person's decision, the same
/// call is made again and ends with the answer.
fn ask_or_answer(call: &DirectCall) -> Ending {
    let Some(decision) = &call.context.hitl_context else {
        let prompt = call.arguments.get("prompt").and_then(Value::as_str).unwrap_or_default();
        return Ending::Suspended(Suspension {
            message: prompt.to_owned(),
            details: None,
            preview_data: None,
            feedback_schema: None,
        });
    };
    match decision.feedback.as_ref().and_then(Value::as_str) {
        Some(text) => success(&json!({"userInput": text})),
        None => failure(ToolErrorCode::NotFound, "the person gave no answer"),
    }
}
