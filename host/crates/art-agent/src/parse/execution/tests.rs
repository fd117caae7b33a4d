use super::*;
use crate::parse::{MARKER_END, MARKER_START};
use art_core::tool::{FunctionCall, FunctionKind};
use serde_json::json;

/// Parses a reply that has only this text.
fn parse(text: &str) -> ExecutionReply {
    parse_execution(&ModelReply {
        text: text.to_owned(),
        ..ModelReply::default()
    })
}

/// Returns a reply without text and with one native call, of the tool `t`.
fn reply_with_native_call(arguments: &str) -> ModelReply {
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

// Names of call fields; JSON without a fence (contracts A20, A21).
#[test]
fn calls_are_read_with_and_without_a_fence() {
    let json = r#"{"toolCalls":[{"callId":"c1","toolName":"t","arguments":{"a":1}}]}"#;
    let expected = [RawCall::new(Some("c1".to_owned()), "t".to_owned(), json!({"a": 1}))];
    assert_eq!(parse(json).calls, expected);
    assert_eq!(parse(&format!("Sure:\n```json\n{json}\n```")).calls, expected);
}

// `parameters` is read as `arguments` (contract A20).
#[test]
fn the_field_parameters_is_read_as_arguments() {
    let reply = parse(r#"{"toolCalls":[{"toolName":"t","parameters":{"a":1}}]}"#);
    assert_eq!(reply.calls, [RawCall::new(None, "t".to_owned(), json!({"a": 1}))]);
}

#[test]
fn calls_in_the_format_of_a_provider_are_read() {
    let reply = parse(r#"[{"id":"c","type":"function","function":{"name":"t","arguments":"{\"a\":1}"}}]"#);
    assert_eq!(
        reply.calls,
        [RawCall::new(Some("c".to_owned()), "t".to_owned(), json!({"a": 1}))]
    );
}

#[test]
fn an_array_of_calls_is_read() {
    assert_eq!(parse(r#"[{"toolName":"t"}]"#).calls.len(), 1);
}

// Content without calls (contract A21).
#[test]
fn content_and_decision_are_read_without_calls() {
    let reply = parse(r#"{"content":"42","nextStepDecision":"complete_item"}"#);
    assert_eq!(reply.content, json!("42"));
    assert_eq!(reply.decision, Some(StepDecision::CompleteItem));
    assert_eq!(reply.calls, []);
}

// Prose (contract A21).
#[test]
fn prose_is_content() {
    let reply = parse("The answer is [1] 42 {roughly}.");
    assert_eq!(reply.content, json!("The answer is [1] 42 {roughly}."));
    assert_eq!(reply.problems, Vec::<String>::new());
}

#[test]
fn json_without_a_field_of_a_reply_is_content() {
    assert_eq!(parse(r#"{"total": 5}"#).content, json!(r#"{"total": 5}"#));
}

// Malformed JSON and other wrong shapes never make the parser fail (contract A26).
#[test]
fn a_call_without_a_name_is_reported_and_the_others_are_read() {
    let reply = parse(r#"{"toolCalls":[{"arguments":{}},{"toolName":"t"}]}"#);
    assert_eq!(reply.calls.len(), 1);
    assert_eq!(
        reply.problems,
        ["`toolCalls[0]` was not carried out: it needs `toolName`, the name of a tool, and `arguments`, an object"]
    );
}

// Malformed JSON and other wrong shapes never make the parser fail (contract A26).
#[test]
fn calls_that_are_not_an_array_are_reported() {
    let reply = parse(r#"{"toolCalls":{"toolName":"t"}}"#);
    assert_eq!(
        (reply.calls.len(), reply.problems[0].as_str()),
        (0, "`toolCalls` has to be an array")
    );
}

#[test]
fn arguments_that_are_not_an_object_are_a_problem_of_the_call() {
    let reply = parse(r#"{"toolCalls":[{"toolName":"t","arguments":[1]}]}"#);
    assert_eq!(
        reply.calls[0].problem.as_deref(),
        Some("`arguments` has to be a JSON object")
    );
}

// Malformed JSON and other wrong shapes never make the parser fail (contract A26).
#[test]
fn each_malformed_list_of_calls_is_reported_with_and_without_a_fence() {
    for (json, problem) in [
        (r#"{"toolCalls":"t"}"#, "`toolCalls` has to be an array"),
        (r#"{"toolCalls":{"toolName":"t"}}"#, "`toolCalls` has to be an array"),
        (r#"{"toolCalls":[5]}"#, "`toolCalls[0]` was not carried out"),
        (
            r#"{"toolCalls":[{"toolName":7}]}"#,
            "`toolCalls[0]` was not carried out",
        ),
    ] {
        for text in [
            json.to_owned(),
            format!("```json\n{json}\n```"),
            format!("```\n{json}\n```"),
        ] {
            let reply = parse(&text);
            assert_eq!((reply.calls.len(), reply.problems.len()), (0, 1), "{text}");
            assert!(reply.problems[0].starts_with(problem), "{text}: {:?}", reply.problems);
        }
    }
}

// Section headings of the older text form (contract A27).
#[test]
fn calls_are_read_under_a_heading_in_upper_or_lower_case_and_with_any_spacing() {
    let expected = [RawCall::new(None, "t".to_owned(), json!({"a": 1}))];
    for heading in ["Tool Calls:", "tool calls :", "**TOOL  CALLS:**", "## Tool calls:\n\n"] {
        let text = format!("Intent: know\n{heading} [{{\"toolName\":\"t\",\"arguments\":{{\"a\":1}}}}]\nThat is all.");
        let reply = parse(&text);
        assert_eq!(reply.calls, expected, "{text}");
        assert_eq!((reply.content, reply.problems), (Value::Null, Vec::new()));
    }
}

// Section headings of the older text form; malformed JSON and other wrong shapes never make the parser fail (contracts A27, A26).
#[test]
fn a_heading_without_calls_is_prose_and_broken_json_under_it_is_reported() {
    for text in ["Tool Calls: none", "Tool calls: [1]"] {
        let reply = parse(text);
        assert_eq!((reply.content, reply.calls.len()), (json!(text), 0));
    }
    let broken = parse("Tool Calls: [{\"toolName\":}]");
    assert_eq!((broken.content, broken.calls.len()), (Value::Null, 0));
    assert!(broken.problems[0].starts_with("the JSON of the reply is not valid: "));
}

// Section headings of the older text form (contract A27).
#[test]
fn calls_in_a_line_that_is_no_heading_are_prose() {
    let text = "No tool calls: [{\"toolName\":\"t\"}]";
    let reply = parse(text);
    assert_eq!((reply.content, reply.calls.len()), (json!(text), 0));
}

// Malformed JSON and other wrong shapes never make the parser fail (contract A26).
#[test]
fn calls_in_broken_json_are_reported_and_not_taken_for_content() {
    for text in [r#"{"toolCalls":[{"toolName":}]}"#, "```json\n{\"toolCalls\":[{\n```"] {
        let reply = parse(text);
        assert_eq!(reply.calls, []);
        assert!(
            reply.problems[0].starts_with("the JSON of the reply is not valid"),
            "{text}"
        );
    }
}

#[test]
fn each_call_after_the_first_64_has_a_problem_and_no_arguments() {
    let excess_calls = 2;
    let call_count = MAX_CALLS_MADE + excess_calls;
    let calls = Value::from(vec![json!({"toolName": "t", "arguments": {"a": 1}}); call_count]);
    let reply = parse(&json!({ "toolCalls": calls }).to_string());
    let refused: Vec<_> = reply.calls.iter().filter(|call| call.problem.is_some()).collect();
    assert_eq!((reply.calls.len(), refused.len()), (call_count, excess_calls));
    assert_eq!(refused[0].arguments, json!({}));
    assert_eq!(
        refused[0].problem.as_deref(),
        Some("not called: only the first 64 of the 66 calls of the reply were read")
    );
    assert_eq!(reply.problems, Vec::<String>::new());
}

#[test]
fn calls_after_the_first_512_are_dropped_and_the_number_of_all_calls_is_reported() {
    let calls = Value::from(vec![json!({"toolName": "t"}); MAX_CALLS_WITH_RESULT + 1]);
    let reply = parse(&json!({ "toolCalls": calls }).to_string());
    assert_eq!(reply.calls.len(), MAX_CALLS_WITH_RESULT);
    assert_eq!(
        reply.problems,
        ["the reply made 513 tool calls; make at most 64 at a time"]
    );
}

/// Parses the reply as one that was cut off by the token limit.
fn parse_cut_off(mut reply: ModelReply) -> ExecutionReply {
    reply.metadata.stop_reason = Some(art_core::stream::StopReason::Length);
    parse_execution(&reply)
}

#[test]
fn every_call_of_a_cut_off_reply_has_a_problem() {
    let reply = parse_cut_off(reply_with_native_call("{\"a\":1}"));
    assert_eq!(reply.calls[0].problem.as_deref(), Some(CUT_OFF_PROBLEM));
    assert!(reply.cut_off);
}

#[test]
fn a_cut_off_reply_loses_its_decision_its_plan_and_content_that_is_incomplete_json() {
    let reply_of = |text: &str| ModelReply {
        text: text.to_owned(),
        ..ModelReply::default()
    };
    let complete = parse_cut_off(reply_of(
        r#"{"content":"x","nextStepDecision":"complete_item","updatedPlan":{"todoList":[]}}"#,
    ));
    assert_eq!((complete.decision, complete.updated_plan.is_none()), (None, true));
    let incomplete = parse_cut_off(reply_of(r#"{"toolCalls":[{"toolName":"t","argu"#));
    assert_eq!(
        (incomplete.content, incomplete.problems),
        (Value::Null, vec![CUT_OFF_PROBLEM.to_owned()])
    );
    assert_eq!(parse_cut_off(reply_of("The answer is")).content, json!("The answer is"));
}

#[test]
fn the_state_of_the_provider_is_kept_only_if_it_is_small_and_the_reply_has_native_calls() {
    // As JSON, the content has two more bytes than characters, for its quotes, so `MAX_STATE_BYTES` characters are too many.
    let state = |chars: usize| ProviderState {
        protocol: "w".to_owned(),
        content: json!("x".repeat(chars)),
    };
    let kept_state = |reply: ModelReply, chars| {
        parse_execution(&ModelReply {
            state: Some(state(chars)),
            ..reply
        })
        .provider_state
    };
    assert_eq!(kept_state(reply_with_native_call("{}"), 3), Some(state(3)));
    assert_eq!(kept_state(reply_with_native_call("{}"), MAX_STATE_BYTES), None);
    assert_eq!(kept_state(ModelReply::default(), 3), None);
}

#[test]
fn an_unknown_name_of_a_decision_is_reported() {
    let reply = parse(r#"{"content":"x","nextStepDecision":"wait"}"#);
    assert_eq!(
        reply.problems,
        ["`nextStepDecision` is `wait`; it has to be `complete_item` or `fail_item`"]
    );
}

#[test]
fn native_calls_take_precedence_over_calls_in_the_text() {
    let mut reply = reply_with_native_call("{\"a\":1}");
    reply.text = r#"{"toolCalls":[{"toolName":"u"}]}"#.to_owned();
    assert_eq!(
        parse_execution(&reply).calls,
        [RawCall::new(Some("x1".to_owned()), "t".to_owned(), json!({"a": 1}))]
    );
}

#[test]
fn a_native_call_with_an_invalid_name_is_reported_and_dropped() {
    let too_long = "x".repeat(MAX_NAME_CHARS + 1);
    for name in ["functions.calculator", "", "t\nt", "é", too_long.as_str()] {
        let mut reply = reply_with_native_call("{}");
        reply.tool_calls[0].function.name = name.to_owned();
        let parsed = parse_execution(&reply);
        assert_eq!((parsed.calls.len(), parsed.problems.len()), (0, 1), "{name}");
    }
    let mut reply = reply_with_native_call("{}");
    reply.tool_calls[0].function.name = "functions.t".to_owned();
    assert_eq!(
        parse_execution(&reply).problems,
        [
            "the call of `functions.t` was not carried out: no tool has such a name; call the tools by the names they have"
        ]
    );
}

#[test]
fn the_state_of_the_provider_is_dropped_if_a_call_of_its_reply_is_dropped() {
    let mut reply = reply_with_native_call("{}");
    reply.state = Some(ProviderState {
        protocol: "w".to_owned(),
        content: json!("s"),
    });
    reply.tool_calls.extend(reply_with_native_call("{}").tool_calls);
    assert!(parse_execution(&reply).provider_state.is_some());
    reply.tool_calls[1].function.name = "functions.t".to_owned();
    let parsed = parse_execution(&reply);
    assert_eq!((parsed.calls.len(), parsed.provider_state), (1, None));
}

#[test]
fn native_arguments_that_are_not_json_are_a_problem_of_the_call() {
    let call = &parse_execution(&reply_with_native_call("{\"a\":")).calls[0];
    assert_eq!(
        call.problem.as_deref(),
        Some("`arguments` is not valid JSON: EOF while parsing a value at line 1 column 5")
    );
}

#[test]
fn empty_native_arguments_are_an_empty_object() {
    assert_eq!(
        parse_execution(&reply_with_native_call("")).calls[0].arguments,
        json!({})
    );
}

#[test]
fn json_in_thoughts_is_ignored_if_the_reply_has_content() {
    let reply = parse("<think>maybe {\"content\": 1}</think>{\"content\":\"42\"}");
    assert_eq!(
        (reply.thoughts.as_str(), reply.content),
        ("maybe {\"content\": 1}", json!("42"))
    );
}

// In the text of a reply, JSON between markers takes precedence over other text in braces (contract A25).
#[test]
fn json_between_markers_in_thoughts_is_ignored_if_the_reply_has_content() {
    let json = r#"{"content":"42"}"#;
    let marked = |json: &str| format!("{MARKER_START}{json}{MARKER_END}");
    let thought = format!("first {} then {{more}}", marked(r#"{"content":"41"}"#));
    let reply = parse(&format!("<think>{thought}</think>So: {{x}} {} {{y}}", marked(json)));
    assert_eq!((reply.thoughts, reply.content), (thought, json!("42")));
}

#[test]
fn calls_that_are_only_in_the_thoughts_are_read() {
    let reply = parse_execution(&ModelReply {
        thinking: r#"{"toolCalls":[{"toolName":"t"}]}"#.to_owned(),
        ..ModelReply::default()
    });
    assert_eq!(reply.calls.len(), 1);
}

#[test]
fn a_changed_plan_in_the_text_takes_precedence_over_calls_in_the_thoughts() {
    let reply = parse_execution(&ModelReply {
        thinking: r#"{"toolCalls":[{"toolName":"t"}]}"#.to_owned(),
        text: r#"{"updatedPlan":{"todoList":[{"id":"a","description":"do"}]}}"#.to_owned(),
        ..ModelReply::default()
    });
    assert!(reply.updated_plan.unwrap().is_ok());
    assert!(reply.calls.is_empty());
}

#[test]
fn a_changed_plan_in_a_reply_is_checked() {
    let valid = parse(r#"{"updatedPlan":{"todoList":[{"id":"a","description":"do","status":"PENDING"}]}}"#);
    assert!(valid.updated_plan.unwrap().is_ok());
    let invalid = parse(r#"{"updatedPlan":{"todoList":[{"id":"a"}]}}"#);
    assert!(invalid.updated_plan.unwrap().is_err());
}

#[test]
fn similar_names_of_a_decision_are_accepted() {
    let decision = |name: &str| parse(&json!({"content": "x", "nextStepDecision": name}).to_string()).decision;
    assert_eq!(decision("Done"), Some(StepDecision::CompleteItem));
    assert_eq!(decision("failed"), Some(StepDecision::FailItem));
}
