//! Builds the prompts of the agent, as far as a model reads them.

use art_core::prompt::{ArtStandardPrompt, FunctionCall, FunctionKind, Message, ToolCallRequest};
use art_core::provider::{ModelRequest, StepContext};
use art_core::stream::Phase;
use art_core::tool::ToolSchema;
use art_model::eval::ProposedCall;
use art_model::{Model, reply};
use futures_util::FutureExt;
use serde_json::{Value, json};

pub(crate) fn quote(text: &str) -> String {
    text.lines().map(|line| format!("> {line}\n")).collect()
}

fn request(phase: Phase, messages: Vec<Message>, tools: &[ToolSchema]) -> ModelRequest {
    ModelRequest {
        tools: tools.to_vec(),
        ..ModelRequest::new(ArtStandardPrompt(messages), phase)
    }
}

pub(crate) fn text(model: &dyn Model, request: ModelRequest) -> String {
    reply(model, request).now_or_never().unwrap().unwrap().text
}

pub(crate) fn planning(
    query: &str,
    tools: &[ToolSchema],
    attachments: &Value,
    current: Option<&Value>,
) -> ModelRequest {
    let mut user = format!("## Query\n{}\n", quote(query));
    if attachments.as_array().is_some_and(|files| !files.is_empty()) {
        user.push_str(&format!("## Attachments\n{attachments}\n\n"));
    }
    if let Some(current) = current {
        user.push_str(&format!("## Current plan\n{current}\n\n"));
    }
    user.push_str(&format!(
        "## Available tools\n{}\n",
        serde_json::to_string(tools).unwrap()
    ));
    request(
        Phase::Planning,
        vec![Message::system("Plan."), Message::user(user)],
        &[],
    )
}

pub(crate) fn plan(model: &dyn Model, query: &str, tools: &[ToolSchema], attachments: &Value) -> Value {
    planned(model, planning(query, tools, attachments, None))
}

/// The JSON of the plan that `model` writes.
pub(crate) fn planned(model: &dyn Model, request: ModelRequest) -> Value {
    let reply = text(model, request);
    let json = reply
        .split("---JSON_OUTPUT_START---")
        .nth(1)
        .unwrap()
        .split("---JSON_OUTPUT_END---")
        .next()
        .unwrap();
    serde_json::from_str(json).unwrap()
}

pub(crate) fn execution(
    query: &str,
    item: &Value,
    tools: &[ToolSchema],
    attachments: &Value,
    earlier: &Value,
) -> ModelRequest {
    let task = item["description"].as_str().unwrap();
    let required: Vec<String> = serde_json::from_value(item["requiredTools"].clone()).unwrap();
    let offered: Vec<&ToolSchema> = tools.iter().filter(|tool| required.contains(&tool.name)).collect();
    let system = format!(
        "You carry out one step of a plan with tools.\n\n## Task\n{}\n## Query\n{}\n## Required tools\n{}\n\n## Attachments\n{attachments}\n\n## Results of earlier steps\n{earlier}\n\n## Tools\n{}\n",
        quote(task),
        quote(query),
        json!(required),
        serde_json::to_string(&offered).unwrap(),
    );
    let mut request = request(
        Phase::Execution,
        vec![
            Message::system(system),
            Message::user(format!("Execute the task:\n{}", quote(task))),
        ],
        tools,
    );
    request.step = Some(StepContext {
        step_id: item["id"].as_str().unwrap().into(),
        step_description: task.into(),
    });
    request
}

/// The request as it is after the calls of `first` gave `output`.
pub(crate) fn after_result(mut first: ModelRequest, tool: &str, output: &Value) -> ModelRequest {
    let function = FunctionCall {
        name: tool.to_owned(),
        arguments: "{}".to_owned(),
    };
    let call = ToolCallRequest {
        id: "call_1".into(),
        kind: FunctionKind::Function,
        function,
    };
    first.prompt.0.push(Message::assistant_calls("", vec![call]));
    first
        .prompt
        .0
        .push(Message::tool_result("call_1", tool, output.to_string()));
    first
}

pub(crate) fn synthesis(
    query: &str,
    plan: &str,
    completed: &Value,
    failed: &Value,
    unfinished: &Value,
) -> ModelRequest {
    let user = format!(
        "## Query\n{}\n## Plan\n{}\n## Completed steps\n{completed}\n\n## Failed steps\n{failed}\n\n## Unfinished steps\n{unfinished}\n",
        quote(query),
        quote(plan),
    );
    request(
        Phase::Synthesis,
        vec![Message::system("Answer."), Message::user(user)],
        &[],
    )
}

/// The calls that `model` plans and asks for; every earlier step is taken to have given 42.
pub(crate) fn calls(model: &dyn Model, query: &str, tools: &[ToolSchema], attachments: &Value) -> Vec<ProposedCall> {
    let plan = plan(model, query, tools, attachments);
    let mut calls = Vec::new();
    for item in plan["todoList"].as_array().unwrap() {
        let earlier: Vec<Value> = item["dependencies"]
            .as_array()
            .unwrap()
            .iter()
            .map(|id| json!({"stepId": id, "description": "", "results": [{"tool": "t", "status": "success", "output": {"result": 42}}]}))
            .collect();
        let reply = text(model, execution(query, item, tools, attachments, &json!(earlier)));
        let reply: Value = serde_json::from_str(&reply).unwrap();
        for call in reply["toolCalls"].as_array().cloned().unwrap_or_default() {
            calls.push(serde_json::from_value(call).unwrap());
        }
    }
    calls
}
