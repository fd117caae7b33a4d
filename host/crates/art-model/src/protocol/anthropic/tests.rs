use art_core::prompt::Message;
use serde_json::{Value, json};

use crate::protocol::tests::{
    conversation, decode_body, decode_stream, encode, events_as_text, request_with, tool_call,
};
use crate::protocol::{KeyHeader, Protocol, codec, replay};

const PROTOCOL: Protocol = Protocol::Anthropic;
const SAMPLE: &[u8] = include_bytes!("../samples/anthropic.sse");

/// Decodes a stream of these events, and returns the events of the reply as text.
fn decode(events: &[Value]) -> String {
    decode_stream(PROTOCOL, "anthropic", events)
}

/// Returns the event that starts a content block.
fn start(index: u64, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

/// Returns the event that continues a content block.
fn delta(index: u64, delta: &Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

/// Returns the two events that end a message.
fn stop(reason: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason}}),
        json!({"type": "message_stop"}),
    ]
}

#[test]
fn a_request_has_the_format_of_the_provider() {
    // The strings are placeholders for the text and the calls of the turn.
    let state = json!([{"type": "thinking", "thinking": "hm", "signature": "EqQB"}, "text", "call", "call"]);
    let request = encode(
        PROTOCOL,
        "anthropic",
        "claude-opus-4-6",
        &conversation("anthropic", state),
    );
    assert_eq!(request.path, "messages");
    assert_eq!(
        codec(PROTOCOL, "anthropic").headers(),
        [("anthropic-version", "2023-06-01".to_owned())]
    );
    insta::assert_json_snapshot!(request.body);
}

#[test]
fn the_first_turn_is_from_the_user_and_max_tokens_is_set() {
    let mut request = request_with(vec![Message::assistant("Hello. ")]);
    let body = encode(PROTOCOL, "anthropic", "claude-sonnet-4-5", &request).body;
    assert_eq!(body["max_tokens"], 8192);
    assert_eq!(
        body["messages"][0],
        json!({"role": "user", "content": [{"type": "text", "text": "Begin."}]})
    );
    assert_eq!(body["messages"][1]["content"][0]["text"], "Hello.");
    request.prompt.0.clear();
    assert_eq!(
        encode(PROTOCOL, "anthropic", "m", &request).body["messages"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn identifiers_of_calls_from_other_providers_become_valid_in_calls_and_results() {
    let request = request_with(vec![
        Message::user("go"),
        Message::assistant_calls("", vec![tool_call("functions.f:0", "f", "{}")]),
        Message::tool_result("functions.f:0", "f", "1"),
    ]);
    let body = encode(PROTOCOL, "anthropic", "m", &request).body;
    assert_eq!(body["messages"][1]["content"][0]["id"], "functions_f_0");
    assert_eq!(body["messages"][2]["content"][0]["tool_use_id"], "functions_f_0");
}

#[test]
fn a_thinking_budget_is_omitted_after_calls_without_thoughts() {
    let mut request = request_with(vec![
        Message::user("go"),
        Message::assistant_calls("", vec![tool_call("a", "f", "{}")]),
        Message::tool_result("a", "f", "1"),
    ]);
    request.params = serde_json::from_value(json!({"reasoningEffort": "high", "temperature": 0.1})).unwrap();
    let body = encode(PROTOCOL, "anthropic", "claude-sonnet-4-5", &request).body;
    assert_eq!((body.get("thinking"), &body["temperature"]), (None, &json!(0.1)));
    request.prompt.0.truncate(1);
    let body = encode(PROTOCOL, "anthropic", "claude-sonnet-4-5", &request).body;
    assert_eq!(
        (&body["thinking"]["budget_tokens"], body.get("temperature")),
        (&json!(16384), None)
    );
}

#[test]
fn a_recorded_stream_is_decoded() {
    insta::assert_snapshot!(events_as_text(&replay(PROTOCOL, "anthropic", [SAMPLE])), @r#"
    thinking Two numbers to add.
    token Let me see…
    call toolu_a calculator {"expression":"6*7"}
    call toolu_b datetime {}
    state anthropic [{"type":"thinking","thinking":"Two numbers to add.","signature":"EqQB"},{"type":"redacted_thinking","data":"EmwK"},"text","call","call"]
    metadata {"inputTokens":30,"outputTokens":12,"cachedInputTokens":16,"stopReason":"tool_calls"}
    end
    "#);
}

#[test]
fn a_reply_that_does_not_stream_has_the_same_events_as_a_stream() {
    let body = json!({"type": "message", "role": "assistant", "stop_reason": "tool_use",
        "content": [
            {"type": "thinking", "thinking": "Two numbers to add.", "signature": "EqQB"},
            {"type": "redacted_thinking", "data": "EmwK"},
            {"type": "text", "text": "Let me see…"},
            {"type": "tool_use", "id": "toolu_a", "name": "calculator", "input": {"expression": "6*7"}},
            {"type": "tool_use", "id": "toolu_b", "name": "datetime", "input": {}}],
        "usage": {"input_tokens": 10, "cache_creation_input_tokens": 4, "cache_read_input_tokens": 16, "output_tokens": 12}});
    assert_eq!(
        decode_body(PROTOCOL, "anthropic", &body),
        events_as_text(&replay(PROTOCOL, "anthropic", [SAMPLE]))
    );
}

#[test]
fn only_signed_thoughts_of_a_turn_with_calls_become_the_state_to_send_back() {
    let thought = |signature: &str| {
        start(
            0,
            &json!({"type": "thinking", "thinking": "hm", "signature": signature}),
        )
    };
    let call = start(1, &json!({"type": "tool_use", "id": "a", "name": "f", "input": {}}));
    let [reason, end] = stop("end_turn");
    for (events, has_state) in [
        (vec![thought("s"), call.clone()], true),
        (vec![thought("s")], false),
        (vec![thought(""), call], false),
    ] {
        let events: Vec<Value> = events.into_iter().chain([reason.clone(), end.clone()]).collect();
        assert_eq!(decode(&events).contains("state anthropic"), has_state);
    }
}

#[test]
fn stop_reasons_are_mapped() {
    for (reason, expected) in [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("tool_use", "tool_calls"),
        ("refusal", "content_filter"),
        ("pause_turn", "pause_turn"),
    ] {
        assert_eq!(
            decode(&stop(reason)),
            format!("metadata {{\"stopReason\":\"{expected}\"}}\nend")
        );
    }
}

#[test]
fn a_call_cut_off_by_the_length_limit_is_dropped() {
    let [reason, end] = stop("max_tokens");
    let text = decode(&[
        start(0, &json!({"type": "tool_use", "id": "a", "name": "f", "input": {}})),
        delta(
            0,
            &json!({"type": "input_json_delta", "partial_json": "{\"path\":\"/et"}),
        ),
        reason,
        end,
    ]);
    assert_eq!(text, "metadata {\"stopReason\":\"length\"}\nend");
}

#[test]
fn an_error_event_ends_the_stream_with_its_code() {
    let error = |kind: &str| json!({"type": "error", "error": {"type": kind, "message": "m"}});
    for (kind, code) in [
        ("overloaded_error", "NetworkError"),
        ("api_error", "NetworkError"),
        ("rate_limit_error", "RateLimited"),
        ("authentication_error", "AuthenticationError"),
        ("not_found_error", "ModelNotFound"),
        ("request_too_large", "ContextLengthExceeded"),
        ("invalid_request_error", "Unknown"),
    ] {
        let text = decode(&[start(0, &json!({"type": "text", "text": "a"})), error(kind)]);
        assert!(text.starts_with(&format!("token a\nerror {code}: ")), "{text}");
    }
}

#[test]
fn a_stream_without_a_stop_reason_counts_as_interrupted() {
    let text = start(0, &json!({"type": "text", "text": "a"}));
    let [reason, _] = stop("end_turn");
    assert!(decode(&[text.clone(), reason]).ends_with("end"));
    assert!(decode(&[text]).contains("error NetworkError: the stream was interrupted"));
}

#[test]
fn fields_of_the_wrong_type_and_unknown_blocks_are_ignored() {
    let [reason, end] = stop("end_turn");
    let text = decode(&[
        json!({"type": "message_start", "message": 3}),
        json!({"type": "content_block_start", "index": "x", "content_block": []}),
        start(
            1,
            &json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}),
        ),
        delta(1, &json!({"type": "input_json_delta", "partial_json": "{}"})),
        delta(9, &json!({"type": "thinking_delta", "thinking": 5})),
        delta(9, &json!({"type": "citations_delta", "citation": {}})),
        json!({"type": "message_delta", "delta": {"stop_reason": null}, "usage": []}),
        reason,
        end,
    ]);
    assert_eq!(text, "metadata {\"stopReason\":\"stop\"}\nend");
}

#[test]
fn the_key_is_sent_in_the_header_x_api_key_and_model_names_are_read_from_a_list() {
    let codec = codec(PROTOCOL, "anthropic");
    assert_eq!(codec.key_header(), KeyHeader::Plain("x-api-key"));
    assert_eq!(
        codec.models(&json!({"data": [{"type": "model", "id": "claude-x"}], "has_more": false})),
        ["claude-x"]
    );
}
