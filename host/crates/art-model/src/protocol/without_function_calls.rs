//! Rewrites requests for models that do not support function calls: earlier tool calls and their results become text. The prompt
//! in such a request, which the caller wrote, asks the model to write its calls as JSON text.

use art_core::prompt::{ArtStandardPrompt, Message, Role};
use art_core::provider::ModelRequest;
use art_core::tool::ToolCallRequest;
use serde_json::{Value, json};

/// Returns `request` without tools. Earlier calls become JSON text in the form in which the prompt asks the model to write its
/// calls. Their results become user turns.
pub(crate) fn without_function_calls(request: &ModelRequest) -> ModelRequest {
    let mut messages: Vec<Message> = Vec::new();
    let mut is_after_result = false;
    for message in &request.prompt.0 {
        let is_result = message.role == Role::ToolResult;
        match messages.last_mut() {
            // Adjacent results become one turn.
            Some(last) if is_result && is_after_result => {
                *last = Message::user(format!("{}\n\n{}", last.content_text(), result_text(message)));
            }
            _ => messages.push(message_as_text(message)),
        }
        is_after_result = is_result;
    }
    ModelRequest {
        prompt: ArtStandardPrompt(messages),
        tools: Vec::new(),
        ..request.clone()
    }
}

/// Returns `message` with its calls as text, or its result as a user turn.
fn message_as_text(message: &Message) -> Message {
    match message.role {
        Role::ToolResult => Message::user(result_text(message)),
        Role::ToolRequest => {
            let name = message.name.as_deref().unwrap_or_default();
            Message::assistant(calls_text([(name, message.content.clone())]))
        }
        Role::Assistant if !message.tool_calls.is_empty() => {
            let calls = calls_text(message.tool_calls.iter().map(name_and_arguments));
            let content = message.content_text();
            let text = if content.is_empty() {
                calls
            } else {
                format!("{content}\n{calls}")
            };
            Message::assistant(text)
        }
        _ => message.clone(),
    }
}

fn name_and_arguments(call: &ToolCallRequest) -> (&str, Value) {
    let arguments = &call.function.arguments;
    let arguments = art_core::json::parse(arguments).unwrap_or_else(|_| Value::from(arguments.as_str()));
    (&call.function.name, arguments)
}

/// Returns the calls as JSON text, in the form in which the prompt asks the model to write its calls.
fn calls_text<'a>(calls: impl IntoIterator<Item = (&'a str, Value)>) -> String {
    let calls = calls.into_iter();
    let calls: Vec<_> = calls
        .map(|(name, arguments)| json!({"toolName": name, "arguments": arguments}))
        .collect();
    json!({ "toolCalls": calls }).to_string()
}

fn result_text(message: &Message) -> String {
    let name = message.name.as_deref().unwrap_or("a tool");
    format!("Result of `{name}`: {}", message.content_text())
}

#[cfg(test)]
mod tests {
    use super::*;
    use art_core::stream::Phase;
    use art_core::tool::{FunctionCall, FunctionKind};

    fn call(id: &str, name: &str) -> ToolCallRequest {
        ToolCallRequest {
            id: id.to_owned(),
            kind: FunctionKind::Function,
            function: FunctionCall {
                name: name.to_owned(),
                arguments: r#"{"a":1}"#.to_owned(),
            },
        }
    }

    #[test]
    fn calls_and_results_become_text() {
        let prompt = ArtStandardPrompt(vec![
            Message::system("s"),
            Message::user("q"),
            Message::assistant_calls("I look.", vec![call("1", "one"), call("2", "two")]),
            Message::tool_result("1", "one", "1"),
            Message::tool_result("2", "two", "2"),
            Message::assistant_calls("", vec![call("3", "one")]),
            Message::tool_result("3", "one", "3"),
            Message::user("go on"),
        ]);
        let rewritten = without_function_calls(&ModelRequest::new(prompt, Phase::Execution));
        let turns: Vec<_> = rewritten
            .prompt
            .0
            .iter()
            .map(|message| (message.role, message.content_text()))
            .collect();
        let one = r#"{"toolName":"one","arguments":{"a":1}}"#;
        let two = r#"{"toolName":"two","arguments":{"a":1}}"#;
        assert_eq!(
            turns,
            [
                (Role::System, "s"),
                (Role::User, "q"),
                (
                    Role::Assistant,
                    format!("I look.\n{{\"toolCalls\":[{one},{two}]}}").as_str()
                ),
                (Role::User, "Result of `one`: 1\n\nResult of `two`: 2"),
                (Role::Assistant, format!("{{\"toolCalls\":[{one}]}}").as_str()),
                (Role::User, "Result of `one`: 3"),
                (Role::User, "go on"),
            ]
        );
        assert!(rewritten.prompt.0.iter().all(|message| message.tool_calls.is_empty()));
    }
}
