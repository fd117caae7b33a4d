use super::*;
use serde_json::json;

/// Errors of the providers, one per line: HTTP status (`none` for an error in a stream), expected code, and body.
const ERRORS: &str = r#"
401  AuthenticationError   {"error": {"message": "Incorrect API key", "type": "invalid_request_error", "code": "invalid_api_key"}}
401  AuthenticationError   {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}
403  AuthenticationError   {"error": {"code": 403, "status": "PERMISSION_DENIED", "message": "no"}}
400  AuthenticationError   {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "API key not valid.", "details": [{"reason": "API_KEY_INVALID"}]}}
404  ModelNotFound         {"error": {"message": "The model `x` does not exist", "code": "model_not_found"}}
404  ModelNotFound         [{"error": {"code": 404, "status": "NOT_FOUND", "message": "models/x is not found"}}]
429  RateLimited           {"error": {"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"}}
429  RateLimited           {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "You exceeded your current quota"}}
429  RateLimited           "slow down"
429  Unknown               {"error": {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": "insufficient_quota"}}
400  Unknown               {"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low"}}
402  Unknown               {"error": {"message": "Insufficient Balance", "type": "unknown_error"}}
400  ContextLengthExceeded {"error": {"message": "This model's maximum context length is 8192 tokens", "code": "context_length_exceeded"}}
400  ContextLengthExceeded {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"}}
400  ContextLengthExceeded {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "The input token count (9) exceeds the maximum (8)."}}
413  RateLimited           {"error": {"message": "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 9000", "type": "tokens", "code": "rate_limit_exceeded"}}
413  RateLimited           {"error": {"message": "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 9000"}}
413  ContextLengthExceeded {"type": "error", "error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}
529  NetworkError          {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
none NetworkError          {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
503  NetworkError          {"error": {"code": 503, "status": "UNAVAILABLE", "message": "The model is overloaded."}}
500  NetworkError          "<html>"
none NetworkError          {"error": {"code": 502, "message": "Provider returned error"}}
none NetworkError          {"type": "error", "code": "server_error", "message": "try again"}
none RateLimited           {"type": "response.failed", "response": {"error": {"code": "rate_limit_exceeded", "message": "slow"}}}
400  ModelNotFound         {"error": {"message": "x/y is not a valid model ID", "code": 400}}
404  ModelNotFound         {"error": {"message": "no such model", "type": "api_error"}}
400  Unknown               {"error": {"message": "bad tools", "type": "api_error"}}
451  Unknown               {"error": {"message": "not in this country", "type": "api_error"}}
400  Unknown               {"error": "the model requires more memory"}
400  InvalidResponse       {"error": {"message": "Failed to generate JSON", "type": "invalid_request_error", "code": "json_validate_failed"}}
400  Unknown               {"detail": "bad"}
none Unknown               null
"#;

#[test]
fn the_errors_of_every_provider_get_the_right_code() {
    for line in ERRORS.trim().lines() {
        let (status, rest) = line.split_once(' ').unwrap();
        let (code, body) = rest.trim().split_once(' ').unwrap();
        let error = error_from_body(status.parse().ok(), &serde_json::from_str(body).unwrap());
        assert_eq!(format!("{:?}", error.code), code, "{line}");
    }
}

#[test]
fn an_error_without_a_word_about_a_model_says_that_the_address_is_wrong() {
    for (status, body, is_wrong) in [
        (404, json!(null), true),
        (404, json!({"detail": "Not Found"}), true),
        (405, json!({"detail": "Method Not Allowed"}), true),
        (
            404,
            json!({"error": {"message": "Invalid URL (POST /v1/v1/chat/completions)", "type": "invalid_request_error"}}),
            true,
        ),
        (
            404,
            json!({"error": {"message": "Not found: /models/chat/completions"}}),
            true,
        ),
        (
            400,
            json!({"error": {"message": "Unknown request URL: POST /openai", "code": "unknown_url"}}),
            true,
        ),
        (
            404,
            json!({"error": {"message": "The model `x` does not exist"}}),
            false,
        ),
        (
            404,
            json!({"error": {"message": "models/x is not found for API version v1beta"}}),
            false,
        ),
        (
            404,
            json!({"type": "error", "error": {"type": "not_found_error", "message": "model: claude-x"}}),
            false,
        ),
        (
            404,
            json!({"error": {"message": "gone", "code": "model_not_found"}}),
            false,
        ),
        (400, json!({"error": {"message": "bad request"}}), false),
        // The address of a picture, not that of the request.
        (400, json!({"error": {"message": "Invalid URL in `image_url`"}}), false),
    ] {
        assert_eq!(is_wrong_address(status, &body), is_wrong, "{status} {body}");
    }
}

#[test]
fn the_error_of_a_used_up_quota_is_not_retryable_and_has_a_hint() {
    let body = json!({"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}});
    let error = error_from_body(Some(429), &body);
    assert!(!error.code.is_retryable());
    insta::assert_snapshot!(error, @"the quota at the provider is used up; add credit or choose another model: You exceeded your current quota");
}

#[test]
fn a_delay_requested_in_the_body_is_read() {
    let body = json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": [{"retryDelay": "34.5s"}]}});
    assert_eq!(error_from_body(Some(429), &body).retry_after_ms, Some(34_500));
    for ignored in ["1e300s", "0s", "0.0001s", "-1s", "7"] {
        let body = json!({"error": {"details": [{"retryDelay": ignored}]}});
        assert_eq!(error_from_body(Some(429), &body).retry_after_ms, None, "{ignored}");
    }
}

#[test]
fn the_message_of_a_provider_is_cleaned_and_shortened() {
    for secret in [
        "sk-proj-abcdefgh1234",
        "'gsk_0123456789'",
        "https://a.org/v1?key=AIzaSyA1234567",
        "Authorization: Bearer abcdef1234",
        "Bearer: 'abcdef1234'",
        "Authorization=Bearerabcdef1234",
    ] {
        let body = json!({"error": {"message": format!("Incorrect API key provided: {secret}. Look it up.")}});
        let message = error_from_body(Some(401), &body).message;
        assert!(!message.contains("1234") && message.contains("[removed]"), "{message}");
    }
    let error = error_from_body(Some(400), &json!({"error": {"message": "a\u{1b}[2J\n".repeat(200)}}));
    assert!(!error.message.contains(char::is_control));
    let long = error_from_body(Some(400), &json!({"error": {"message": "\u{e9}".repeat(5000)}}));
    assert!(long.message.matches('\u{e9}').count() == MAX_MESSAGE_CHARS);
}

#[test]
fn words_after_the_beginning_of_a_long_message_are_not_searched() {
    // The limit `MAX_SEARCHED_BYTES` lies inside a character, because each `\u{e9}` has two bytes and `a` comes before them.
    let long_message = |end: &str| json!({"error": {"message": format!("a{} {end}", "\u{e9}".repeat(1_500))}});
    let error = error_from_body(Some(400), &long_message("context length"));
    assert_eq!(error.code, ModelErrorCode::Unknown);
    assert!(!refuses_tools(400, &long_message("tools")));
}

#[test]
fn an_error_is_recognised_by_the_field_error_or_the_event_type() {
    assert!(error_in_reply(&json!({"error": {"message": "x"}})).is_some());
    assert!(error_in_reply(&json!({"type": "error", "message": "x"})).is_some());
    assert!(error_in_reply(&json!([{"error": {}}])).is_some());
    for no_error in [json!(null), json!(false), json!("")] {
        assert!(error_in_reply(&json!({"error": no_error, "choices": []})).is_none());
    }
    assert!(error_in_reply(&json!({"choices": [{"error": 1}]})).is_none());
    assert!(error_in_reply(&json!({"choices": [{"finish_reason": "unheard_of"}]})).is_none());
    assert!(error_in_reply(&json!({"choices": [{"index": 1, "finish_reason": "error"}]})).is_none());
    assert!(error_in_reply(&json!({"status": "cancelled"})).is_none());
}

#[test]
fn an_unfinished_reply_is_an_error() {
    let choice = |choice: serde_json::Value| json!({"choices": [choice]});
    let bodies = [
        choice(json!({"delta": {"content": "hal"}, "finish_reason": "insufficient_system_resource"})),
        choice(json!({"message": {"content": "hal"}, "finish_reason": "error"})),
        choice(json!({"message": {}, "error": {"code": 502, "message": "upstream went away"}})),
        choice(json!({"message": {}, "error": {"message": "odd"}})),
        json!({"type": "response.cancelled", "response": {}}),
        json!({"type": "response.completed", "response": {"status": "cancelled", "output": []}}),
        json!({"status": "failed", "error": null, "output": []}),
    ];
    let mut texts = Vec::new();
    for body in bodies {
        let error = error_in_reply(&body).unwrap();
        assert_eq!(error.code, ModelErrorCode::NetworkError, "{body}");
        texts.push(error.message);
    }
    insta::assert_snapshot!(texts.join("\n"), @r"
    the provider failed before the reply was complete: insufficient_system_resource
    the provider failed before the reply was complete: error
    the provider failed before the reply was complete: upstream went away
    the provider failed before the reply was complete: odd
    the provider failed before the reply was complete: cancelled
    the provider failed before the reply was complete: cancelled
    the provider failed before the reply was complete: failed
    ");
    let slow = choice(json!({"error": {"code": 429, "message": "slow down"}}));
    assert_eq!(error_in_reply(&slow).unwrap().code, ModelErrorCode::RateLimited);
}

#[test]
fn an_error_that_refuses_tools_is_recognised_by_its_words() {
    let refuses = |status, error: Value| refuses_tools(status, &json!({ "error": error }));
    for (status, error) in [
        (
            400,
            json!({"message": "registry.ollama.ai/library/gemma:2b does not support tools"}),
        ),
        (
            400,
            json!({"message": "`tools` is not supported with this model", "type": "invalid_request_error"}),
        ),
        (
            400,
            json!({"message": "\"auto\" tool choice requires --enable-auto-tool-choice to be set"}),
        ),
        (400, json!({"message": "Unknown parameter.", "param": "tools"})),
        (400, json!("function calling is not enabled for this model")),
        (
            404,
            json!({"message": "No endpoints found that support tool use.", "code": 404}),
        ),
        (422, json!({"message": "body.tools: extra fields not permitted"})),
    ] {
        assert!(refuses(status, error.clone()), "{error}");
    }
    for (status, error) in [
        (400, json!({"message": "Unknown parameter.", "param": "temperature"})),
        (
            400,
            json!({"message": "an assistant message with 'tool_calls' must be followed by its results"}),
        ),
        (
            400,
            json!({"message": "maximum context length is 8 tokens (1 in the functions)", "code": "context_length_exceeded"}),
        ),
        (
            400,
            json!({"message": "Tool choice is none, but model called a tool", "code": "tool_use_failed"}),
        ),
        (
            404,
            json!({"message": "the model `tools-7b` does not exist", "code": "model_not_found"}),
        ),
        (429, json!({"message": "too many requests with tools"})),
        (500, json!({"message": "tools"})),
        (400, Value::Null),
    ] {
        assert!(!refuses(status, error.clone()), "{error}");
    }
}
