use art_core::prompt::Message;
use serde_json::{Value, json};

use crate::wire::tests::{asked, conversation, read, read_whole, shown, written};
use crate::wire::{Api, KeyHeader, dialect, replay};

const API: Api = Api::OpenaiResponses;
const SAMPLE: &[u8] = include_bytes!("../samples/responses.sse");

fn response(events: &[Value]) -> String {
    read(API, "openai", events)
}

fn completed(response: &Value) -> Value {
    json!({"type": "response.completed", "response": response})
}

#[test]
fn a_request_is_written_as_the_provider_wants_it() {
    let state = json!([{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"}, "text", "call", "call"]);
    let request = written(API, "openai", "gpt-5", &conversation("openai-responses", state));
    assert_eq!(request.path, "responses");
    insta::assert_json_snapshot!(request.body);
}

#[test]
fn thoughts_are_asked_for_of_models_that_think() {
    let request = asked(vec![Message::user("hi")]);
    for (model, thinks) in [
        ("gpt-5-mini", true),
        ("o3", true),
        ("gpt-4o", false),
        ("gpt-5-chat-latest", false),
        ("omni", false),
    ] {
        let body = written(API, "openai", model, &request).body;
        assert_eq!(body.get("include").is_some(), thinks, "{model}");
        assert_eq!((body.get("reasoning"), &body["store"]), (None, &json!(false)));
    }
}

#[test]
fn a_recorded_stream_gives_thoughts_text_calls_state_and_counts() {
    insta::assert_snapshot!(shown(&replay(API, "openai", [SAMPLE])), @r#"
    thinking Two numbers to add.
    token Let me see…
    call call_a calculator {"expression":"6*7"}
    state openai-responses [{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Two numbers to add."}],"encrypted_content":"gAAAA"},"text","call"]
    metadata {"inputTokens":30,"outputTokens":12,"thinkingTokens":5,"cachedInputTokens":16,"stopReason":"tool_calls"}
    end
    "#);
}

#[test]
fn a_whole_body_gives_the_same_as_its_stream() {
    let text = std::str::from_utf8(SAMPLE).unwrap();
    let last = text.trim().rsplit_once("data: ").unwrap().1;
    let event: Value = serde_json::from_str(last).unwrap();
    assert_eq!(
        read_whole(API, "openai", &event["response"]),
        shown(&replay(API, "openai", [SAMPLE]))
    );
}

#[test]
fn what_is_wanted_back_is_dropped_when_no_store_would_take_it() {
    let call = json!({"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"});
    for (levels, wanted) in [(10, true), (100, false)] {
        let nested = (0..levels).fold(json!([]), |inside, _| json!([inside]));
        let thought = json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "g", "summary": nested});
        let end = completed(&json!({"status": "completed", "output": [thought, call]}));
        assert_eq!(response(&[end]).contains("state openai-responses"), wanted, "{levels}");
    }
}

#[test]
fn what_only_the_last_event_has_is_read_there_and_nothing_is_said_twice() {
    let message = json!({"type": "message", "content": [{"type": "output_text", "text": "42"}]});
    let delta = json!({"type": "response.output_text.delta", "delta": "42"});
    let end = completed(&json!({"status": "completed", "output": [message]}));
    let said = "token 42\nmetadata {\"stopReason\":\"stop\"}\nend";
    assert_eq!(response(std::slice::from_ref(&end)), said);
    assert_eq!(response(&[delta, end]), said);
}

#[test]
fn thoughts_that_come_whole_and_as_a_summary_are_told_once() {
    let whole = |text: &str| json!({"type": "response.reasoning_text.delta", "delta": text});
    let summary = json!({"type": "response.reasoning_summary_text.delta", "delta": "short"});
    let text = response(&[
        whole("a"),
        summary,
        whole("b"),
        completed(&json!({"status": "completed"})),
    ]);
    assert_eq!(text, "thinking ab\nmetadata {\"stopReason\":\"stop\"}\nend");
}

#[test]
fn reasons_to_stop_come_from_the_status() {
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
            super::tests::response(&[completed(&response)]),
            format!("metadata {{\"stopReason\":\"{reason}\"}}\nend")
        );
    }
}

#[test]
fn a_response_that_was_cancelled_is_not_whole() {
    let cancelled = json!({"type": "response.cancelled", "response": {"status": "cancelled"}});
    for event in [cancelled, completed(&json!({"status": "cancelled"}))] {
        assert!(response(&[event]).starts_with("error NetworkError: "));
    }
}

#[test]
fn a_refusal_is_text_and_stops_for_its_content() {
    let refusal = json!({"type": "response.refusal.delta", "delta": "I cannot."});
    let text = response(&[refusal, completed(&json!({"status": "completed"}))]);
    assert_eq!(
        text,
        "token I cannot.\nmetadata {\"stopReason\":\"content_filter\"}\nend"
    );
}

#[test]
fn a_call_that_the_length_cut_off_is_not_given() {
    let text = response(&[
        json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "function_call", "call_id": "a", "name": "f"}}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{\"path\":"}),
        json!({"type": "response.incomplete", "response": {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}}),
    ]);
    assert_eq!(text, "metadata {\"stopReason\":\"length\"}\nend");
}

#[test]
fn a_call_needs_no_beginning_and_items_no_number() {
    let item = |id: &str| json!({"type": "function_call", "call_id": id, "name": "f", "arguments": ""});
    let text = response(&[
        json!({"type": "response.output_item.done", "output_index": 4, "item": {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}}),
        completed(&json!({"status": "completed"})),
    ]);
    assert!(text.starts_with("call a f {}\n"), "{text}");
    let text = response(&[
        json!({"type": "response.output_item.added", "item": item("a")}),
        json!({"type": "response.function_call_arguments.delta", "delta": "{\"x\":1}"}),
        json!({"type": "response.output_item.added", "item": item("b")}),
        json!({"type": "response.function_call_arguments.delta", "delta": "{\"y\":2}"}),
        completed(&json!({"status": "completed"})),
    ]);
    assert!(text.starts_with("call a f {\"x\":1}\ncall b f {\"y\":2}\n"), "{text}");
}

#[test]
fn an_error_ends_the_stream_with_its_code() {
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
        let text = response(&[event, completed(&json!({"status": "completed"}))]);
        assert!(
            text.starts_with(&format!("error {code}: ")) && text.lines().count() == 1,
            "{text}"
        );
    }
}

#[test]
fn a_stream_without_its_last_event_broke_off() {
    let text = response(&[json!({"type": "response.output_text.delta", "delta": "a"})]);
    assert!(text.ends_with("error NetworkError: the stream broke off before the reply was whole; ask again"));
}

#[test]
fn fields_of_the_wrong_type_say_nothing() {
    let text = response(&[
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
    assert_eq!(dialect(API, "openai").key_header(), KeyHeader::Bearer);
}
