use art_core::prompt::Message;
use art_core::provider::{Media, ReplyFormat};
use serde_json::{Value, json};

use crate::protocol::tests::{
    conversation, decode_body, decode_stream, encode, events_as_text, request_with, tool_call,
};
use crate::protocol::{KeyHeader, Protocol, codec, replay};

const PROTOCOL: Protocol = Protocol::Gemini;
const SAMPLE: &[u8] = include_bytes!("../samples/gemini.sse");

/// Decodes a stream of these server-sent events, and returns the events of the reply as text.
fn decode(events: &[Value]) -> String {
    decode_stream(PROTOCOL, "gemini", events)
}

/// Returns an event with parts of a reply.
fn parts(parts: &Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}}]})
}

/// Returns an event with a stop reason.
fn stop(reason: &str) -> Value {
    json!({"candidates": [{"finishReason": reason}]})
}

#[test]
fn a_request_has_the_format_of_the_provider() {
    let state = json!({"calls": ["Y2FsbA==", null], "text": "dGV4dA=="});
    let request = encode(
        PROTOCOL,
        "gemini",
        "gemini-3-pro-preview",
        &conversation("gemini", state),
    );
    assert_eq!(
        request.path,
        "models/gemini-3-pro-preview:streamGenerateContent?alt=sse"
    );
    insta::assert_json_snapshot!(request.body);
}

#[test]
fn a_model_name_cannot_change_the_path() {
    let request = request_with(vec![Message::user("hi")]);
    let path = |model| encode(PROTOCOL, "gemini", model, &request).path;
    assert_eq!(
        path("models/gemini-2.5-flash"),
        "models/gemini-2.5-flash:streamGenerateContent?alt=sse"
    );
    assert_eq!(
        path("../x?key=1#"),
        "models/..%2Fx%3Fkey%3D1%23:streamGenerateContent?alt=sse"
    );
}

#[test]
fn a_picture_of_an_unsupported_type_becomes_a_note() {
    let mut request = request_with(vec![Message::user("Look.")]);
    request.media = ["image/gif", "image/webp"]
        .map(|media_type| Media {
            name: "p".to_owned(),
            media_type: media_type.to_owned(),
            base64: "AAAA".to_owned(),
        })
        .to_vec();
    let body = encode(PROTOCOL, "gemini", "m", &request).body;
    let parts = &body["contents"][0]["parts"];
    assert_eq!(
        parts[1],
        json!({"text": "The picture `p` is omitted: the model does not support `image/gif`."})
    );
    assert_eq!(parts[2]["inlineData"]["mimeType"], "image/webp");
}

#[test]
fn a_reply_format_is_not_requested_together_with_tools() {
    let mut request = request_with(vec![Message::user("hi")]);
    request.reply_format = ReplyFormat::Json;
    let body = encode(PROTOCOL, "gemini", "m", &request).body;
    assert_eq!(
        body["generationConfig"],
        json!({"responseMimeType": "application/json"})
    );
    let with_tools = encode(PROTOCOL, "gemini", "m", &conversation("gemini", json!({}))).body;
    assert_eq!(with_tools["generationConfig"].get("responseMimeType"), None);
}

#[test]
fn only_the_first_call_of_another_model_gets_a_placeholder_signature() {
    let calls = vec![tool_call("a", "f", "{}"), tool_call("b", "f", "{}")];
    let request = request_with(vec![Message::assistant_calls("", calls)]);
    for (model, has_placeholder) in [("gemini-3-flash", true), ("gemini-2.5-flash", false)] {
        let body = encode(PROTOCOL, "gemini", model, &request).body;
        assert_eq!(
            body["contents"][0],
            json!({"role": "user", "parts": [{"text": "Begin."}]})
        );
        let parts = &body["contents"][1]["parts"];
        assert_eq!(parts[0].get("thoughtSignature").is_some(), has_placeholder);
        assert_eq!(parts[1].get("thoughtSignature"), None);
    }
}

#[test]
fn a_reply_with_a_dropped_call_has_no_state_to_send_back() {
    let call =
        |name: &str, args: Value| json!({"functionCall": {"name": name, "args": args}, "thoughtSignature": "Y2FsbA=="});
    let decode_with_stop_reason = |reason: &str| {
        let calls = json!([call("f", json!({})), call("g", json!("cut"))]);
        decode(&[parts(&calls), stop(reason)])
    };
    let complete = decode_with_stop_reason("STOP");
    assert!(complete.contains("\nstate gemini "), "{complete}");
    // The arguments of the last call are not an object, so the call seems to be cut off.
    let cut_off = decode_with_stop_reason("MAX_TOKENS");
    assert!(
        !cut_off.contains("state gemini") && cut_off.starts_with("call  f {}\nmetadata"),
        "{cut_off}"
    );
}

#[test]
fn a_recorded_stream_is_decoded() {
    insta::assert_snapshot!(events_as_text(&replay(PROTOCOL, "gemini", [SAMPLE])), @r#"
    thinking Two numbers to add.
    token Let me see…
    call g1 calculator {"expression":"6*7"}
    call  datetime {}
    state gemini {"calls":["Y2FsbA==",null],"text":"dGV4dA=="}
    metadata {"inputTokens":30,"outputTokens":12,"thinkingTokens":5,"cachedInputTokens":16,"stopReason":"tool_calls"}
    end
    "#);
}

#[test]
fn a_reply_that_does_not_stream_has_the_same_events_as_a_stream() {
    let body = json!({"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [
            {"text": "Two numbers to add.", "thought": true},
            {"text": "Let me see…", "thoughtSignature": "dGV4dA=="},
            {"functionCall": {"id": "g1", "name": "calculator", "args": {"expression": "6*7"}}, "thoughtSignature": "Y2FsbA=="},
            {"functionCall": {"name": "datetime", "args": {}}}]}}],
        "usageMetadata": {"promptTokenCount": 30, "cachedContentTokenCount": 16, "candidatesTokenCount": 7, "thoughtsTokenCount": 5}});
    assert_eq!(
        decode_body(PROTOCOL, "gemini", &body),
        events_as_text(&replay(PROTOCOL, "gemini", [SAMPLE]))
    );
}

#[test]
fn stop_reasons_are_mapped() {
    for (reason, expected) in [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "content_filter"),
        ("RECITATION", "content_filter"),
        ("PROHIBITED_CONTENT", "content_filter"),
        ("MALFORMED_FUNCTION_CALL", "MALFORMED_FUNCTION_CALL"),
    ] {
        assert_eq!(
            decode(&[stop(reason)]),
            format!("metadata {{\"stopReason\":\"{expected}\"}}\nend")
        );
    }
}

#[test]
fn a_blocked_prompt_has_the_stop_reason_content_filter() {
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 4}});
    assert_eq!(
        decode(&[blocked]),
        "metadata {\"inputTokens\":4,\"stopReason\":\"content_filter\"}\nend"
    );
}

#[test]
fn an_error_event_ends_the_stream_with_its_code() {
    let error = json!({"error": {"code": 503, "status": "UNAVAILABLE", "message": "The model is overloaded."}});
    let text = decode(&[parts(&json!([{"text": "a"}])), error.clone(), stop("STOP")]);
    assert_eq!(
        text,
        "token a\nerror NetworkError: the provider failed: The model is overloaded."
    );
    assert!(decode_body(PROTOCOL, "gemini", &json!([error])).starts_with("error NetworkError"));
}

#[test]
fn a_stream_without_a_stop_reason_counts_as_interrupted() {
    assert!(decode(&[parts(&json!([{"text": "a"}]))]).contains("error NetworkError: the stream was interrupted"));
}

#[test]
fn fields_of_the_wrong_type_are_ignored() {
    let text = decode(&[
        json!({"candidates": {}}),
        json!({"candidates": [null], "usageMetadata": 3, "promptFeedback": []}),
        parts(&json!({"text": "not a list"})),
        parts(
            &json!([null, 3, {"text": 5, "thought": "yes"}, {"inlineData": {"data": "AAAA"}}, {"thoughtSignature": 1}]),
        ),
        stop("STOP"),
    ]);
    assert_eq!(text, "metadata {\"stopReason\":\"stop\"}\nend");
}

#[test]
fn the_key_has_its_own_header_and_model_names_lose_their_prefix() {
    let codec = codec(PROTOCOL, "gemini");
    assert_eq!(codec.key_header(), KeyHeader::Plain("x-goog-api-key"));
    assert_eq!(
        codec.models(&json!({"models": [{"name": "models/gemini-x"}]})),
        ["gemini-x"]
    );
}
