use super::*;
use art_core::prompt::{FunctionCall, FunctionKind};
use serde_json::json;

fn read(text: &str) -> ExecutionReply {
    execution(&ModelReply {
        text: text.to_owned(),
        ..ModelReply::default()
    })
}

fn native(arguments: &str) -> ModelReply {
    ModelReply {
        tool_calls: vec![ToolCallRequest {
            id: "x1".to_owned(),
            kind: FunctionKind::Function,
            function: FunctionCall {
                name: "t".to_owned(),
                arguments: arguments.to_owned(),
            },
        }],
        ..ModelReply::default()
    }
}

#[test]
fn calls_with_arguments_are_read_raw_and_fenced() {
    let json = r#"{"toolCalls":[{"callId":"c1","toolName":"t","arguments":{"a":1}}]}"#;
    let expected = [RawCall::new(Some("c1".to_owned()), "t".to_owned(), json!({"a": 1}))];
    assert_eq!(read(json).calls, expected);
    assert_eq!(read(&format!("Sure:\n```json\n{json}\n```")).calls, expected);
}

#[test]
fn parameters_are_arguments() {
    let reply = read(r#"{"toolCalls":[{"toolName":"t","parameters":{"a":1}}]}"#);
    assert_eq!(reply.calls, [RawCall::new(None, "t".to_owned(), json!({"a": 1}))]);
}

#[test]
fn the_form_of_a_provider_is_read_as_text_too() {
    let reply = read(r#"[{"id":"c","type":"function","function":{"name":"t","arguments":"{\"a\":1}"}}]"#);
    assert_eq!(
        reply.calls,
        [RawCall::new(Some("c".to_owned()), "t".to_owned(), json!({"a": 1}))]
    );
}

#[test]
fn an_array_is_calls() {
    assert_eq!(read(r#"[{"toolName":"t"}]"#).calls.len(), 1);
}

#[test]
fn content_without_calls_is_an_answer() {
    let reply = read(r#"{"content":"42","nextStepDecision":"complete_item"}"#);
    assert_eq!(reply.content, json!("42"));
    assert_eq!(reply.decision, Some(Decision::CompleteItem));
    assert_eq!(reply.calls, []);
}

#[test]
fn prose_is_content() {
    let reply = read("The answer is [1] 42 {roughly}.");
    assert_eq!(reply.content, json!("The answer is [1] 42 {roughly}."));
    assert_eq!(reply.problems, Vec::<String>::new());
}

#[test]
fn json_that_is_no_reply_is_content_as_it_stands() {
    assert_eq!(read(r#"{"total": 5}"#).content, json!(r#"{"total": 5}"#));
}

#[test]
fn a_call_without_a_name_is_reported_and_the_others_are_read() {
    let reply = read(r#"{"toolCalls":[{"arguments":{}},{"toolName":"t"}]}"#);
    assert_eq!(reply.calls.len(), 1);
    assert_eq!(
        reply.problems,
        ["`toolCalls[0]` was not carried out: it needs `toolName`, the name of a tool, and `arguments`, an object"]
    );
}

#[test]
fn calls_that_are_no_array_are_reported() {
    let reply = read(r#"{"toolCalls":{"toolName":"t"}}"#);
    assert_eq!(
        (reply.calls.len(), reply.problems[0].as_str()),
        (0, "`toolCalls` has to be an array")
    );
}

#[test]
fn arguments_that_are_no_object_are_a_problem_of_the_call() {
    let reply = read(r#"{"toolCalls":[{"toolName":"t","arguments":[1]}]}"#);
    assert_eq!(
        reply.calls[0].problem.as_deref(),
        Some("`arguments` has to be a JSON object")
    );
}

#[test]
fn broken_calls_are_reported_and_not_taken_for_an_answer() {
    for text in [r#"{"toolCalls":[{"toolName":}]}"#, "```json\n{\"toolCalls\":[{\n```"] {
        let reply = read(text);
        assert_eq!(reply.calls, []);
        assert!(
            reply.problems[0].starts_with("the JSON of the reply is not valid"),
            "{text}"
        );
    }
}

#[test]
fn calls_beyond_the_limit_are_reported() {
    let calls = Value::from(vec![json!({"toolName": "t"}); MAX_CALLS_PER_REPLY + 3]);
    let reply = read(&json!({ "toolCalls": calls }).to_string());
    assert_eq!(reply.calls.len(), MAX_CALLS_PER_REPLY);
    assert_eq!(
        reply.problems,
        ["the reply made 35 tool calls; only the first 32 were carried out"]
    );
}

#[test]
fn an_unknown_decision_is_reported() {
    let reply = read(r#"{"content":"x","nextStepDecision":"wait"}"#);
    assert_eq!(
        reply.problems,
        ["`nextStepDecision` is `wait`; it has to be `complete_item` or `fail_item`"]
    );
}

#[test]
fn native_calls_win_over_calls_in_the_text() {
    let mut reply = native("{\"a\":1}");
    reply.text = r#"{"toolCalls":[{"toolName":"u"}]}"#.to_owned();
    assert_eq!(
        execution(&reply).calls,
        [RawCall::new(Some("x1".to_owned()), "t".to_owned(), json!({"a": 1}))]
    );
}

#[test]
fn native_arguments_that_are_no_json_are_a_problem_of_the_call() {
    let call = &execution(&native("{\"a\":")).calls[0];
    assert_eq!(
        call.problem.as_deref(),
        Some("`arguments` is not valid JSON: EOF while parsing a value at line 1 column 5")
    );
}

#[test]
fn empty_native_arguments_are_an_empty_object() {
    assert_eq!(execution(&native("")).calls[0].arguments, json!({}));
}

#[test]
fn thoughts_with_braces_do_not_confuse() {
    let reply = read("<think>maybe {\"content\": 1}</think>{\"content\":\"42\"}");
    assert_eq!(
        (reply.thoughts.as_str(), reply.content),
        ("maybe {\"content\": 1}", json!("42"))
    );
}

#[test]
fn calls_that_only_stand_in_the_thoughts_are_found() {
    let reply = execution(&ModelReply {
        thinking: r#"{"toolCalls":[{"toolName":"t"}]}"#.to_owned(),
        ..ModelReply::default()
    });
    assert_eq!(reply.calls.len(), 1);
}

#[test]
fn an_updated_plan_is_validated() {
    let good = read(r#"{"updatedPlan":{"todoList":[{"id":"a","description":"do","status":"PENDING"}]}}"#);
    assert!(good.updated_plan.unwrap().is_ok());
    let bad = read(r#"{"updatedPlan":{"todoList":[{"id":"a"}]}}"#);
    assert!(bad.updated_plan.unwrap().is_err());
}

#[test]
fn near_misses_of_a_decision_are_understood() {
    let decision = |name: &str| read(&json!({"content": "x", "nextStepDecision": name}).to_string()).decision;
    assert_eq!(decision("Done"), Some(Decision::CompleteItem));
    assert_eq!(decision("failed"), Some(Decision::FailItem));
}
