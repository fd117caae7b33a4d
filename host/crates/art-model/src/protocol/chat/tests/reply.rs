//! Tests of parsing replies.

use serde_json::{Value, json};

use crate::protocol::tests::{decode_body, decode_stream, events_as_text};
use crate::protocol::{Protocol, replay};

const SAMPLE: &[u8] = include_bytes!("../../samples/chat.sse");

/// Decodes a stream of these server-sent events in the variant of Groq, and returns the events of the reply as text. An event
/// that is a JSON string, such as `[DONE]`, is sent without its quotes.
fn decode(events: &[Value]) -> String {
    decode_stream(Protocol::OpenaiChat, "groq", events)
}

/// Returns an event with a piece of the message.
fn delta(delta: &Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta}]})
}

/// Returns an event with a stop reason.
fn stop(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

#[test]
fn a_recorded_stream_is_decoded() {
    insta::assert_snapshot!(events_as_text(&replay(Protocol::OpenaiChat, "deepseek", [SAMPLE])), @r#"
    thinking Two numbers to add.
    token Let me see…
    call call_a calculator {"expression":"6*7"}
    call call_b datetime {}
    state openai-chat {"reasoning_content":"Two numbers to add."}
    metadata {"inputTokens":30,"outputTokens":12,"thinkingTokens":5,"cachedInputTokens":16,"stopReason":"tool_calls"}
    end
    "#);
}

#[test]
fn a_reply_that_does_not_stream_has_the_same_events_as_a_stream() {
    let body = json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": "Let me see…", "reasoning_content": "Two numbers to add.",
        "tool_calls": [
            {"id": "call_a", "type": "function", "function": {"name": "calculator", "arguments": "{\"expression\":\"6*7\"}"}},
            {"id": "call_b", "type": "function", "function": {"name": "datetime", "arguments": "{}"}}]}}],
        "usage": {"prompt_tokens": 30, "completion_tokens": 12, "prompt_tokens_details": {"cached_tokens": 16}, "completion_tokens_details": {"reasoning_tokens": 5}}});
    assert_eq!(
        decode_body(Protocol::OpenaiChat, "deepseek", &body),
        events_as_text(&replay(Protocol::OpenaiChat, "deepseek", [SAMPLE]))
    );
}

#[test]
fn thoughts_are_read_once_whatever_names_they_have() {
    for thought in [
        json!({"reasoning_content": "hm"}),
        json!({"reasoning": "hm"}),
        json!({"reasoning": "hm", "reasoning_content": "hm"}),
        json!({"reasoning": "hm", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}),
        json!({"reasoning_details": [{"type": "reasoning.summary", "summary": "hm"}]}),
        json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]}),
        json!({"content": "<think>hm</think>"}),
    ] {
        let text = decode(&[delta(&thought), delta(&json!({"content": "4"})), stop("stop")]);
        assert_eq!(
            text, "thinking hm\ntoken 4\nmetadata {\"stopReason\":\"stop\"}\nend",
            "{thought}"
        );
    }
}

#[test]
fn a_think_block_that_arrives_in_pieces_is_recognised_except_for_openai() {
    let events: Vec<Value> = ["<th", "ink>h", "m</thi", "nk>\n\n4", "2 <b>"]
        .iter()
        .map(|text| delta(&json!({"content": text})))
        .chain([stop("stop")])
        .collect();
    assert!(decode_stream(Protocol::OpenaiChat, "ollama", &events).starts_with("thinking hm\ntoken 42 <b>\n"));
    assert!(decode_stream(Protocol::OpenaiChat, "openai", &events).starts_with("token <think>hm</think>\n\n42 <b>\n"));
}

#[test]
fn reasoning_details_are_joined_in_the_state_to_send_back() {
    let events = [
        delta(&json!({"reasoning_details": [{"type": "reasoning.text", "text": "a", "index": 0, "signature": null}]})),
        delta(&json!({"reasoning_details": [{"type": "reasoning.text", "text": "b", "index": 0, "signature": "s"}]})),
        delta(&json!({"reasoning_details": [{"type": "reasoning.encrypted", "data": "e", "index": 1}]})),
        delta(&json!({"content": "x"})),
        stop("stop"),
    ];
    insta::assert_snapshot!(decode_stream(Protocol::OpenaiChat, "openrouter", &events), @r#"
    thinking ab
    token x
    state openai-chat {"reasoning_details":[{"type":"reasoning.text","text":"ab","index":0,"signature":"s"},{"type":"reasoning.encrypted","data":"e","index":1}]}
    metadata {"stopReason":"stop"}
    end
    "#);
}

#[test]
fn a_state_to_send_back_that_is_too_large_is_dropped() {
    // Larger than `MAX_PROVIDER_STATE_BYTES`.
    let thought = "x".repeat(300 << 10);
    let events = [
        delta(&json!({"reasoning_details": [{"type": "reasoning.text", "text": thought}]})),
        stop("stop"),
    ];
    assert!(!decode_stream(Protocol::OpenaiChat, "openrouter", &events).contains("state"));
}

#[test]
fn only_openrouter_reports_the_cost_of_a_call() {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 1, "cost": 0.0125}});
    for (provider, has_cost) in [("openrouter", true), ("vllm", false)] {
        let text = decode_stream(
            Protocol::OpenaiChat,
            provider,
            &[stop("stop"), usage.clone(), json!("[DONE]")],
        );
        assert_eq!(text.contains("\"llmCost\":0.0125"), has_cost, "{text}");
    }
}

#[test]
fn stop_reasons_are_mapped() {
    for (reason, expected) in [
        ("stop", "stop"),
        ("length", "length"),
        ("max_tokens", "length"),
        ("tool_calls", "tool_calls"),
        ("function_call", "tool_calls"),
        ("content_filter", "content_filter"),
        ("unheard_of", "unheard_of"),
    ] {
        assert_eq!(
            decode(&[stop(reason)]),
            format!("metadata {{\"stopReason\":\"{expected}\"}}\nend")
        );
    }
}

#[test]
fn a_refusal_is_text_with_the_stop_reason_content_filter() {
    let text = decode(&[delta(&json!({"content": null, "refusal": "I cannot."})), stop("stop")]);
    assert_eq!(
        text,
        "token I cannot.\nmetadata {\"stopReason\":\"content_filter\"}\nend"
    );
}

#[test]
fn only_the_last_call_is_dropped_if_the_length_limit_cuts_it_off() {
    let calls = json!({"tool_calls": [
        {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}},
        {"index": 1, "id": "b", "function": {"name": "g", "arguments": "{\"path\":\"/etc"}}]});
    let text = decode(&[delta(&calls), stop("length")]);
    assert_eq!(text, "call a f {}\nmetadata {\"stopReason\":\"length\"}\nend");
    let not_cut_off = decode(&[delta(&calls), stop("tool_calls")]);
    assert!(not_cut_off.contains("call b g {\"path\":\"/etc\n"), "{not_cut_off}");
}

#[test]
fn a_blocked_or_refused_reply_has_no_calls() {
    let calls = json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}]});
    let text = decode(&[delta(&calls), stop("content_filter")]);
    assert_eq!(text, "metadata {\"stopReason\":\"content_filter\"}\nend");
    let refused = decode(&[delta(&calls), delta(&json!({"refusal": "No."})), stop("tool_calls")]);
    assert_eq!(refused, "token No.\nmetadata {\"stopReason\":\"content_filter\"}\nend");
}

#[test]
fn text_is_read_from_a_list_of_parts() {
    let parts = json!({"content": ["a", {"type": "text", "text": "b"}, {"type": "image"}, null, 3, true]});
    assert!(decode(&[delta(&parts), stop("stop")]).starts_with("token ab\nmetadata"));
}

// Some providers send content that is neither a string nor a list of parts (contract A86).
#[test]
fn content_that_is_neither_text_nor_a_list_with_parts_is_ignored() {
    for content in [json!(null), json!(3), json!(true), json!({"text": "x"}), json!([])] {
        let streamed = decode(&[delta(&json!({"content": content})), stop("stop")]);
        let body = json!({"choices": [{"message": {"content": content}, "finish_reason": "stop"}]});
        for text in [streamed, decode_body(Protocol::OpenaiChat, "openai", &body)] {
            assert_eq!(text, "metadata {\"stopReason\":\"stop\"}\nend", "{content}");
        }
    }
}

#[test]
fn a_stream_with_a_stop_reason_or_the_done_event_is_complete() {
    let text = json!({"content": "a"});
    assert!(decode(&[delta(&text), stop("stop")]).ends_with("end"));
    assert!(decode(&[delta(&text), json!("[DONE]")]).ends_with("end"));
    insta::assert_snapshot!(decode(&[delta(&text)]), @r"
    token a
    error NetworkError: the stream was interrupted before the reply was complete; try again
    ");
}

#[test]
fn a_stream_cut_after_any_byte_is_reported_as_either_complete_or_interrupted() {
    for end in 0..SAMPLE.len() {
        let events = replay(Protocol::OpenaiChat, "deepseek", [&SAMPLE[..end]]);
        let text = events_as_text(&events);
        let complete = text.ends_with("\nend");
        let interrupted = text.contains("error NetworkError: the stream was interrupted");
        assert!(complete != interrupted, "{end}: {text}");
        assert!(!complete || text.contains("call call_b datetime {}"), "{end}: {text}");
    }
}

#[test]
fn events_after_the_end_are_ignored() {
    let text = decode(&[
        stop("stop"),
        json!("[DONE]"),
        delta(&json!({"content": "more"})),
        json!("[DONE]"),
    ]);
    assert_eq!(text, "metadata {\"stopReason\":\"stop\"}\nend");
}

#[test]
fn malformed_json_is_an_invalid_response() {
    let text = decode(&[
        delta(&json!({"content": "a"})),
        json!(format!("{{\"choices\": {}", "x".repeat(900))),
    ]);
    assert!(
        text.starts_with("token a\nerror InvalidResponse: the provider's reply cannot be read: "),
        "{text}"
    );
    // The message quotes only the beginning of the event.
    assert!(text.len() < 400, "{text}");
}

#[test]
fn an_error_event_ends_the_stream_with_its_code() {
    for (error, code) in [
        (
            json!({"error": {"message": "slow down", "code": "rate_limit_exceeded"}}),
            "RateLimited",
        ),
        (
            json!({"error": {"message": "Overloaded", "code": 503}, "choices": [{"finish_reason": "error"}]}),
            "NetworkError",
        ),
        (json!({"error": "odd"}), "Unknown"),
        (stop("insufficient_system_resource"), "NetworkError"),
    ] {
        let text = decode(&[delta(&json!({"content": "a"})), error, stop("stop")]);
        assert!(
            text.starts_with(&format!("token a\nerror {code}: ")) && text.lines().count() == 2,
            "{text}"
        );
    }
}

#[test]
fn fields_of_the_wrong_type_and_later_choices_are_ignored() {
    let odd = [
        json!(null),
        json!([1, 2]),
        json!("\"text\""),
        json!({"choices": null}),
        json!({"choices": {"0": {}}}),
        json!({"choices": [null, 3]}),
        delta(&json!({"content": 7, "reasoning": {}, "tool_calls": {}, "refusal": []})),
        delta(&json!({"tool_calls": [null, 3, {}, {"index": "0", "function": []}]})),
        json!({"choices": [{"index": "x", "delta": [], "finish_reason": 5}], "usage": [1]}),
        json!({"choices": [{"index": 1, "delta": {"content": "second choice"}}]}),
    ];
    let events: Vec<Value> = odd
        .into_iter()
        .chain([delta(&json!({"content": "a"})), stop("stop")])
        .collect();
    assert_eq!(decode(&events), "token a\nmetadata {\"stopReason\":\"stop\"}\nend");
}

#[test]
fn too_many_calls_are_an_invalid_response() {
    let calls: Vec<Value> = (0..129)
        .map(|index| json!({"index": index, "function": {"name": "f"}}))
        .collect();
    let text = decode(&[delta(&json!({"tool_calls": calls})), stop("tool_calls")]);
    insta::assert_snapshot!(text, @"error InvalidResponse: the provider's reply cannot be read: it has more than 128 tool calls, or more than 1 MiB of them");
}

#[test]
fn a_body_that_is_neither_a_reply_nor_an_error_is_an_invalid_response() {
    insta::assert_snapshot!(decode_body(Protocol::OpenaiChat, "openai", &json!({"hello": 1})), @"error InvalidResponse: the provider's reply cannot be read: it is not a reply of this protocol; check `base_url` and `api`");
    let reported_error = decode_body(
        Protocol::OpenaiChat,
        "openai",
        &json!({"error": {"code": "invalid_api_key", "message": "no"}}),
    );
    assert!(reported_error.starts_with("error AuthenticationError: "));
}
