use super::*;
use art_core::prompt::ArtStandardPrompt;
use art_core::provider::ModelRequest;
use art_core::stream::{Phase, ProviderState};
use art_core::tool::{FunctionCall, FunctionKind, ToolCallRequest};
use serde_json::json;

/// Returns a call of the tool `tool_ID` without arguments.
fn call(id: &str) -> ToolCallRequest {
    ToolCallRequest {
        id: id.to_owned(),
        kind: FunctionKind::Function,
        function: FunctionCall {
            name: format!("tool_{id}"),
            arguments: "{}".to_owned(),
        },
    }
}

/// Returns the turns of a prompt for a protocol with the name `here`, one line for each. A call is shown as `ID=NAME` with its
/// arguments behind it, and a result as `ID=TEXT`.
fn turn_lines(messages: Vec<Message>) -> Vec<String> {
    let request = ModelRequest::new(ArtStandardPrompt(messages), Phase::Planning);
    let call = ProtocolCall {
        model_id: "m",
        request: &request,
        stream: true,
        vision: false,
        max_tokens: None,
    };
    turns(&call, "here").iter().map(turn_line).collect()
}

fn turn_line(turn: &Turn<'_>) -> String {
    match turn {
        Turn::System(text) => format!("system {text}"),
        Turn::User { text, .. } => format!("user {text}"),
        Turn::Assistant { text, calls, state } => {
            let calls: Vec<_> = calls
                .iter()
                .map(|call| format!("{}={}{}", call.id, call.name, call.arguments))
                .collect();
            format!(
                "assistant {text}[{}]{}",
                calls.join(" "),
                state.map_or("", |_| " state")
            )
        }
        Turn::Results(results) => {
            let results: Vec<_> = results
                .iter()
                .map(|result| format!("{}={}", result.id, result.text))
                .collect();
            format!("results {}", results.join(" "))
        }
    }
}

#[test]
fn results_are_moved_directly_after_their_calls() {
    let turns = turn_lines(vec![
        Message::assistant_calls("", vec![call("a"), call("b")]),
        Message::tool_result("b", "tool_b", "2"),
        Message::user("and?"),
        Message::tool_result("a", "tool_a", "1"),
    ]);
    assert_eq!(
        turns,
        ["assistant [a=tool_a{} b=tool_b{}]", "results a=1 b=2", "user and?"]
    );
}

#[test]
fn a_result_without_an_earlier_call_becomes_text() {
    let turns = turn_lines(vec![
        Message::tool_result("a", "tool_a", "1"),
        Message::tool_result("z", "other", "2"),
        Message::assistant_calls("", vec![call("a")]),
    ]);
    let expected = [
        "user result of `tool_a`: 1",
        "user result of `other`: 2",
        "assistant [a=tool_a{}]",
        "results a=no result: the call was not made",
    ];
    assert_eq!(turns, expected);
}

#[test]
fn a_call_that_is_a_separate_message_becomes_an_assistant_turn() {
    let separate_call: Message =
        serde_json::from_value(json!({"role": "tool_request", "name": "f", "tool_call_id": "a", "content": {"x": 1}}))
            .unwrap();
    // A call without a name is ignored.
    let nameless_call: Message = serde_json::from_value(json!({"role": "tool_request", "content": null})).unwrap();
    let result: Message = serde_json::from_value(json!({"role": "tool", "tool_call_id": "a", "content": "1"})).unwrap();
    let turns = turn_lines(vec![separate_call, result, nameless_call]);
    assert_eq!(turns, [r#"assistant [a=f{"x":1}]"#, "results a=1"]);
}

#[test]
fn empty_and_repeated_identifiers_become_unique() {
    let turns = turn_lines(vec![
        Message::assistant_calls("", vec![call(""), call("")]),
        Message::tool_result("", "", "1"),
        Message::tool_result("", "", "2"),
        Message::assistant_calls("", vec![call("call_0")]),
        Message::tool_result("call_0", "", "3"),
    ]);
    let expected = [
        "assistant [call_0=tool_{} call_1=tool_{}]",
        "results call_0=1 call_1=2",
        "assistant [call_2=tool_call_0{}]",
        "results call_2=3",
    ];
    assert_eq!(turns, expected);
}

#[test]
fn empty_turns_are_omitted() {
    assert_eq!(
        turn_lines(vec![Message::system(" "), Message::user(""), Message::assistant("\n")]),
        Vec::<String>::new()
    );
}

#[test]
fn a_state_is_used_only_for_its_own_protocol() {
    for (protocol, expected) in [("here", "assistant hi[] state"), ("elsewhere", "assistant hi[]")] {
        let mut message = Message::assistant("hi");
        message.provider_state = Some(ProviderState {
            protocol: protocol.to_owned(),
            content: json!([]),
        });
        assert_eq!(turn_lines(vec![message]), [expected]);
    }
}

#[test]
fn a_value_that_is_not_an_object_becomes_a_field_of_an_object() {
    for (text, expected) in [
        (r#"{"a":1}"#, json!({"a": 1})),
        ("", json!({})),
        ("[1]", json!({"k": [1]})),
        ("{oops", json!({"k": "{oops"})),
    ] {
        assert_eq!(Value::from(to_object(text, "k")), expected);
    }
}
