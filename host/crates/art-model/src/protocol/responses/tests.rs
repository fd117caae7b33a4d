use art_core::prompt::Message;
use serde_json::{Value, json};

use crate::protocol::tests::{conversation, decode_body, decode_stream, encode, events_as_text, request_with};
use crate::protocol::{KeyHeader, Protocol, codec, replay};

const PROTOCOL: Protocol = Protocol::OpenaiResponses;
const SAMPLE: &[u8] = include_bytes!("../samples/responses.sse");

/// Decodes a stream of these server-sent events, and returns the events of the reply as text.
fn decode(events: &[Value]) -> String {
    decode_stream(PROTOCOL, "openai", events)
}

/// Returns the last event of a stream, which contains the complete response.
fn completed(response: &Value) -> Value {
    json!({"type": "response.completed", "response": response})
}

#[test]
fn a_request_has_the_format_of_the_provider() {
    // `text` and `call` are placeholders for the text and the calls of the turn.
    let state = json!([{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"}, "text", "call", "call"]);
    let request = encode(PROTOCOL, "openai", "gpt-5", &conversation("openai-responses", state));
    assert_eq!(request.path, "responses");
    insta::assert_json_snapshot!(request.body);
}

#[test]
fn thoughts_are_requested_only_from_reasoning_models() {
    let request = request_with(vec![Message::user("hi")]);
    for (model, is_reasoning_model) in [
        ("gpt-5-mini", true),
        ("o3", true),
        ("gpt-4o", false),
        ("gpt-5-chat-latest", false),
        ("omni", false),
    ] {
        let body = encode(PROTOCOL, "openai", model, &request).body;
        assert_eq!(body.get("include").is_some(), is_reasoning_model, "{model}");
        assert_eq!((body.get("reasoning"), &body["store"]), (None, &json!(false)));
    }
}

#[test]
fn a_recorded_stream_is_decoded() {
    insta::assert_snapshot!(events_as_text(&replay(PROTOCOL, "openai", [SAMPLE])), @r#"
    thinking Two numbers to add.
    token Let me see…
    call call_a calculator {"expression":"6*7"}
    state openai-responses [{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Two numbers to add."}],"encrypted_content":"gAAAA"},"text","call"]
    metadata {"inputTokens":30,"outputTokens":12,"thinkingTokens":5,"cachedInputTokens":16,"stopReason":"tool_calls"}
    end
    "#);
}

#[test]
fn a_reply_that_does_not_stream_has_the_same_events_as_a_stream() {
    let text = std::str::from_utf8(SAMPLE).unwrap();
    let (_, last_event) = text.trim().rsplit_once("data: ").unwrap();
    let event: Value = serde_json::from_str(last_event).unwrap();
    assert_eq!(
        decode_body(PROTOCOL, "openai", &event["response"]),
        events_as_text(&replay(PROTOCOL, "openai", [SAMPLE]))
    );
}

#[test]
fn a_state_to_send_back_that_is_nested_too_deeply_is_dropped() {
    let call = json!({"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"});
    for (levels, has_state) in [(10, true), (100, false)] {
        let nested = (0..levels).fold(json!([]), |inside, _| json!([inside]));
        let thought = json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "g", "summary": nested});
        let end = completed(&json!({"status": "completed", "output": [thought, call]}));
        assert_eq!(decode(&[end]).contains("state openai-responses"), has_state, "{levels}");
    }
}

#[test]
fn the_text_in_the_last_event_is_read_only_if_none_arrived_before() {
    let message = json!({"type": "message", "content": [{"type": "output_text", "text": "42"}]});
    let delta = json!({"type": "response.output_text.delta", "delta": "42"});
    let end = completed(&json!({"status": "completed", "output": [message]}));
    let expected = "token 42\nmetadata {\"stopReason\":\"stop\"}\nend";
    assert_eq!(decode(std::slice::from_ref(&end)), expected);
    assert_eq!(decode(&[delta, end]), expected);
}

#[test]
fn a_summary_is_ignored_after_full_thoughts() {
    let full = |text: &str| json!({"type": "response.reasoning_text.delta", "delta": text});
    let summary = json!({"type": "response.reasoning_summary_text.delta", "delta": "short"});
    let text = decode(&[
        full("a"),
        summary,
        full("b"),
        completed(&json!({"status": "completed"})),
    ]);
    assert_eq!(text, "thinking ab\nmetadata {\"stopReason\":\"stop\"}\nend");
}

#[test]
fn the_stop_reason_is_read_from_the_status() {
    for (response, reason) in [
        (json!({"status": "completed"}), "stop"),
        (
            json!({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}),
            "length",
        ),
        (
            json!({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}),
            "content_filter",
        ),
        (json!({"status": "incomplete"}), "length"),
    ] {
        assert_eq!(
            decode(&[completed(&response)]),
            format!("metadata {{\"stopReason\":\"{reason}\"}}\nend")
        );
    }
}

#[test]
fn a_cancelled_response_is_an_error() {
    let cancelled = json!({"type": "response.cancelled", "response": {"status": "cancelled"}});
    for event in [cancelled, completed(&json!({"status": "cancelled"}))] {
        assert!(decode(&[event]).starts_with("error NetworkError: "));
    }
}

#[test]
fn a_refusal_is_text_with_the_stop_reason_content_filter() {
    let refusal = json!({"type": "response.refusal.delta", "delta": "I cannot."});
    let text = decode(&[refusal, completed(&json!({"status": "completed"}))]);
    assert_eq!(
        text,
        "token I cannot.\nmetadata {\"stopReason\":\"content_filter\"}\nend"
    );
}

#[test]
fn a_call_cut_off_by_the_length_limit_is_dropped() {
    let text = decode(&[
        json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "function_call", "call_id": "a", "name": "f"}}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{\"path\":"}),
        json!({"type": "response.incomplete", "response": {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}}),
    ]);
    assert_eq!(text, "metadata {\"stopReason\":\"length\"}\nend");
}

#[test]
fn calls_may_lack_a_start_event_or_an_index() {
    let item = |id: &str| json!({"type": "function_call", "call_id": id, "name": "f", "arguments": ""});
    let text = decode(&[
        json!({"type": "response.output_item.done", "output_index": 4, "item": {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}}),
        completed(&json!({"status": "completed"})),
    ]);
    assert!(text.starts_with("call a f {}\n"), "{text}");
    let text = decode(&[
        json!({"type": "response.output_item.added", "item": item("a")}),
        json!({"type": "response.function_call_arguments.delta", "delta": "{\"x\":1}"}),
        json!({"type": "response.output_item.added", "item": item("b")}),
        json!({"type": "response.function_call_arguments.delta", "delta": "{\"y\":2}"}),
        completed(&json!({"status": "completed"})),
    ]);
    assert!(text.starts_with("call a f {\"x\":1}\ncall b f {\"y\":2}\n"), "{text}");
}

#[test]
fn an_error_event_ends_the_reply_with_a_code_for_its_kind() {
    for (event, code) in [
        (
            json!({"type": "error", "code": "server_error", "message": "try again"}),
            "NetworkError",
        ),
        (
            json!({"type": "error", "error": {"code": "insufficient_quota", "message": "paid up"}}),
            "Unknown",
        ),
        (
            json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": "rate_limit_exceeded", "message": "slow"}}}),
            "RateLimited",
        ),
    ] {
        let text = decode(&[event, completed(&json!({"status": "completed"}))]);
        assert!(
            text.starts_with(&format!("error {code}: ")) && text.lines().count() == 1,
            "{text}"
        );
    }
}

#[test]
fn a_stream_without_its_last_event_is_interrupted() {
    let text = decode(&[json!({"type": "response.output_text.delta", "delta": "a"})]);
    assert!(text.ends_with("error NetworkError: the stream was interrupted before the reply was complete; try again"));
}

#[test]
fn fields_of_the_wrong_type_are_ignored() {
    let text = decode(&[
        json!({"type": 7}),
        json!({"type": "response.output_item.added", "item": []}),
        json!({"type": "response.output_item.done", "output_index": -1, "item": null}),
        json!({"type": "response.output_text.delta", "delta": {"text": 1}}),
        json!({"type": "response.function_call_arguments.done", "output_index": "x", "arguments": 3}),
        json!({"type": "response.completed", "response": {"output": {"a": 1}, "status": 4, "usage": "none"}}),
    ]);
    assert_eq!(text, "metadata {\"stopReason\":\"stop\"}\nend");
}

#[test]
fn the_key_is_a_bearer_token() {
    assert_eq!(codec(PROTOCOL, "openai").key_header(), KeyHeader::Bearer);
}
