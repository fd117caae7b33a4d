use std::time::Duration;

use art_core::error::RetryContext;
use art_core::provider::Media;
use art_core::stream::StopReason;
use tokio::io::AsyncWriteExt;

use super::*;
use crate::engine::{Probe, ReasoningEngine};
use crate::model::collect;
use crate::provider::create_providers;
use crate::remote::probe::check_key;
use crate::settings::EngineLimits;
use crate::testing::{
    API_KEY, CHAT_END, Server, ServerAction, chat_reply, environment, http_reply, request, settings, stream_head,
    text_event, token,
};

use ModelErrorCode::{
    AuthenticationError, ContextLengthExceeded, InvalidResponse, NetworkError, ProviderNotConfigured, RateLimited,
    Timeout, Unknown,
};

/// Returns limits with minimal delays and without retries.
fn limits() -> EngineLimits {
    EngineLimits {
        max_retries: 0,
        retry_base_ms: 1,
        ..EngineLimits::default()
    }
}

/// Creates an engine with one provider, `p` at `base_url`.
fn engine(base_url: String, limits: EngineLimits) -> ReasoningEngine {
    ReasoningEngine::new(settings(base_url, limits), environment).unwrap()
}

/// Returns the events of a call of the default model of the provider `p`.
async fn call_events(engine: &ReasoningEngine) -> Vec<StreamEvent> {
    let config = engine.resolve("p").unwrap();
    engine.call(&config, request()).collect().await
}

/// Returns the events of a call of a model whose server performs `actions`, and checks that no event contains the key.
async fn events_after_actions(actions: Vec<ServerAction>, limits: EngineLimits) -> Vec<StreamEvent> {
    let server = Server::start(vec![actions]).await;
    let events = call_events(&engine(server.base_url(), limits)).await;
    assert!(!format!("{events:?}").contains(API_KEY));
    events
}

/// Returns the error with which a call ends, if the server performs `actions`.
async fn error_after_actions(actions: Vec<ServerAction>, limits: EngineLimits) -> ModelError {
    match events_after_actions(actions, limits).await.pop() {
        Some(StreamEvent::Error(error)) => error,
        other => panic!("no error, but {other:?}"),
    }
}

/// Returns the error with which a call ends, if the server sends `reply`.
async fn error_of_reply(reply: Vec<u8>) -> ModelError {
    error_after_actions(vec![ServerAction::Send(reply)], limits()).await
}

/// Returns the message without the port, which differs in each run.
fn without_port(message: &str) -> String {
    let mut parts = message.split("127.0.0.1:");
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        text.push_str("127.0.0.1:PORT");
        text.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    text
}

/// Returns the text of a reply.
fn joined_text(events: &[StreamEvent]) -> String {
    let texts = events.iter().filter_map(|event| match event {
        StreamEvent::Token(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

#[tokio::test]
async fn a_reply_streams_and_missing_token_counts_are_estimated() {
    let events = events_after_actions(vec![ServerAction::Send(chat_reply("I am well."))], limits()).await;
    assert_eq!(events[0], token("I am well."));
    let Some(StreamEvent::Metadata(metadata)) = events.get(1) else {
        panic!("no counts: {events:?}")
    };
    // The user's message has 12 characters and counts as 3 tokens. The whole request is longer.
    assert!(metadata.estimated && metadata.input_tokens > Some(3));
    assert_eq!(
        (metadata.output_tokens, &metadata.stop_reason),
        (Some(3), &Some(StopReason::Stop))
    );
    assert!(metadata.time_to_first_token_ms <= metadata.total_generation_time_ms);
    assert_eq!((metadata.cost_usd, events.len()), (None, 3));
    assert_eq!(events[2], StreamEvent::End);
}

#[tokio::test]
async fn a_request_has_the_key_the_user_agent_and_the_configured_headers() {
    let server = Server::replying(chat_reply("hi")).await;
    let mut settings = settings(server.base_url(), limits());
    let provider = settings.providers.get_mut("p").unwrap();
    provider.headers.insert("X-Title".to_owned(), "mine".to_owned());
    let engine = ReasoningEngine::new(settings, environment).unwrap();
    call_events(&engine).await;
    let request = server.requests().remove(0).to_lowercase();
    assert!(
        request.starts_with("post /v1/chat/completions http/1.1\r\n"),
        "{request}"
    );
    for line in [
        &format!("authorization: bearer {API_KEY}"),
        "content-type: application/json",
        "accept: text/event-stream",
        "x-title: mine",
        concat!("user-agent: art/", env!("CARGO_PKG_VERSION")),
    ] {
        assert!(request.contains(&format!("{line}\r\n")), "{line}: {request}");
    }
}

// The tokens are estimated from the length of the request without the files in it. A ZIP file is not sent, so its length must
// not be subtracted from that of the request.
#[tokio::test]
async fn files_do_not_count_in_the_token_estimate_of_a_request() {
    let mut counts = Vec::new();
    for (media_type, length) in [("image/png", 40_000), ("application/zip", 40_000), ("image/png", 4)] {
        let server = Server::replying(chat_reply("hi")).await;
        let mut settings = settings(server.base_url(), limits());
        settings.providers.get_mut("p").unwrap().vision = Some(true);
        let engine = ReasoningEngine::new(settings, environment).unwrap();
        let mut request = request();
        request.media = vec![Media {
            name: "f".to_owned(),
            media_type: media_type.to_owned(),
            base64: "A".repeat(length),
        }];
        let config = engine.resolve("p").unwrap();
        let reply = collect(engine.call(&config, request)).await.unwrap();
        counts.push(reply.metadata.input_tokens.unwrap());
    }
    assert!(counts.iter().all(|count| (10..200).contains(count)), "{counts:?}");
}

#[tokio::test]
async fn a_json_reply_is_read_whether_or_not_a_stream_was_requested() {
    let body = r#"{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],
        "usage":{"prompt_tokens":5,"completion_tokens":1}}"#;
    let server = Server::replying(http_reply(
        200,
        "content-type: application/json; charset=utf-8\r\n",
        body,
    ))
    .await;
    for stream in [true, false] {
        let mut settings = settings(server.base_url(), limits());
        settings.providers.get_mut("p").unwrap().stream = Some(stream);
        let engine = ReasoningEngine::new(settings, environment).unwrap();
        let reply = collect(engine.call(&engine.resolve("p").unwrap(), request()))
            .await
            .unwrap();
        assert_eq!(reply.text, "hi");
        assert_eq!(
            (reply.metadata.input_tokens, reply.metadata.estimated),
            (Some(5), false)
        );
    }
}

#[tokio::test]
async fn an_http_status_determines_the_error_code() {
    let table = [
        (400, Unknown),
        (401, AuthenticationError),
        (403, AuthenticationError),
        (404, ProviderNotConfigured),
        (413, ContextLengthExceeded),
        (429, RateLimited),
        (500, NetworkError),
        (502, NetworkError),
        (503, NetworkError),
        (504, NetworkError),
        (529, NetworkError),
        (302, ProviderNotConfigured),
    ];
    for (status, code) in table {
        for body in ["", "{}", "not json", "[1]", r#"{"error":{"message":"so it is"}}"#] {
            assert_eq!(
                error_of_reply(http_reply(status, "", body)).await.code,
                code,
                "{status} {body}"
            );
        }
    }
}

#[tokio::test]
async fn only_temporary_errors_are_retried() {
    for (status, attempts) in [
        (400, 1),
        (401, 1),
        (403, 1),
        (404, 1),
        (302, 1),
        (429, 3),
        (503, 3),
        (529, 3),
    ] {
        let server = Server::replying(http_reply(status, "", "{}")).await;
        let limits = EngineLimits {
            max_retries: 2,
            ..limits()
        };
        call_events(&engine(server.base_url(), limits)).await;
        assert_eq!(server.requests().len(), attempts, "{status}");
    }
}

// `max_retries = 0` means one attempt (contracts A85, R1).
#[tokio::test]
async fn without_retries_there_is_one_attempt() {
    let server = Server::replying(http_reply(503, "", "{}")).await;
    let events = call_events(&engine(server.base_url(), limits())).await;
    assert!(matches!(events.as_slice(), [StreamEvent::Error(_)]), "{events:?}");
    assert_eq!(server.requests().len(), 1);
}

// An invalid request causes an error event, not a panic (contract A72).
#[tokio::test]
async fn a_request_that_cannot_be_encoded_is_not_sent() {
    let server = Server::replying(chat_reply("hi")).await;
    let engine = engine(server.base_url(), limits());
    let mut request = request();
    let tool = serde_json::json!({"name": "broken", "description": "Breaks.", "inputSchema": "any"});
    request.tools = vec![serde_json::from_value(tool).unwrap()];
    let config = engine.resolve("p").unwrap();
    let events: Vec<_> = engine.call(&config, request).collect().await;
    let [StreamEvent::Error(error)] = events.as_slice() else {
        panic!("expected only an error: {events:?}")
    };
    insta::assert_snapshot!(error, @"`p:m`: the input schema of tool `broken` is not a JSON object; correct the tool");
    assert_eq!(server.requests(), Vec::<String>::new());
}

#[tokio::test]
async fn a_retry_is_reported_and_may_succeed() {
    let script = vec![
        vec![ServerAction::Send(http_reply(503, "", "{}"))],
        vec![ServerAction::Send(chat_reply("hi"))],
    ];
    let server = Server::start(script).await;
    let limits = EngineLimits {
        max_retries: 3,
        ..limits()
    };
    let events = call_events(&engine(server.base_url(), limits)).await;
    assert!(matches!(
        &events[0],
        StreamEvent::Retry(RetryContext {
            attempt: 1,
            error: NetworkError,
            ..
        })
    ));
    assert_eq!(joined_text(&events), "hi");
}

fn error_body(message: &str) -> String {
    serde_json::json!({"error": {"message": message}}).to_string()
}

#[tokio::test]
async fn errors_are_one_line_with_the_model_and_the_cause() {
    let key = format!("Incorrect API key provided: {API_KEY}.");
    let replies = [
        http_reply(401, "", &error_body(&key)),
        http_reply(404, "", &error_body("The model does not exist")),
        http_reply(404, "content-type: text/html\r\n", "<html>no such page</html>"),
        http_reply(405, "", r#"{"detail": "Method Not Allowed"}"#),
        http_reply(
            200,
            "content-type: application/json\r\n",
            &error_body("Unexpected endpoint or method. (POST /x)"),
        ),
        http_reply(429, "retry-after: 7200\r\n", &error_body("Rate limit reached")),
        http_reply(402, "", &error_body("Insufficient credits")),
        http_reply(400, "", &error_body("maximum context length is 8192 tokens")),
        http_reply(500, "", "<html>oops</html>"),
        http_reply(301, "location: https://elsewhere.example/\r\n", ""),
        http_reply(200, "content-type: text/html\r\n", "<html>Welcome</html>"),
        http_reply(200, "content-type: application/json\r\n", "{"),
    ];
    let mut texts = Vec::new();
    for reply in replies {
        texts.push(without_port(&error_of_reply(reply).await.message));
    }
    insta::assert_snapshot!(texts.join("\n"), @r"
    `p:m`: the provider did not accept the key; check it and its rights: Incorrect API key provided: [key] (the key is from environment variable `P_KEY`)
    `p:m`: the provider does not have the model; check its name: The model does not exist (`art doctor` shows similar names)
    `p:m`: `127.0.0.1:PORT` has nothing at `/v1/chat/completions` (HTTP status 404); check `base_url` and `api`
    `p:m`: `127.0.0.1:PORT` has nothing at `/v1/chat/completions` (HTTP status 405: Method Not Allowed); check `base_url` and `api`
    `p:m`: `127.0.0.1:PORT` has nothing at `/v1/chat/completions` (HTTP status 200: Unexpected endpoint or method. (POST /x)); check `base_url` and `api`
    `p:m`: the provider accepts no more requests for now: Rate limit reached; it accepts requests again in 2 h
    `p:m`: the quota at the provider is used up; add credit or choose another model: Insufficient credits
    `p:m`: the prompt is too long for the model: maximum context length is 8192 tokens
    `p:m`: the provider failed: HTTP status 500
    `p:m`: `127.0.0.1:PORT` answered with a redirect (HTTP status 301); redirects are not followed; correct `base_url`
    `p:m`: `127.0.0.1:PORT` answered with a web page; check `base_url` and `api`
    `p:m`: the reply of `127.0.0.1:PORT` is not JSON: EOF while parsing an object at line 1 column 1; check `base_url` and `api`, or try again
    ");
}

#[tokio::test]
async fn a_key_in_an_error_is_redacted() {
    // Some texts are so long that the key is cut in two: an error message quotes only 200 characters of the provider's text. So
    // this test looks for `sk-testing`, the beginning of the key.
    let texts = [
        format!("bad key {API_KEY}"),
        API_KEY.to_owned(),
        format!("{}{API_KEY}", "x".repeat(190)),
        format!("{{\"error\":\"{API_KEY}\"}}"),
        format!(
            "{{\"error\":{{\"message\":\"{} {API_KEY}\",\"code\":\"{API_KEY}\"}}}}",
            "x".repeat(185)
        ),
    ];
    for text in texts {
        let event = format!("data: {text}\n\n").into_bytes();
        let replies = [
            http_reply(401, "", &text),
            http_reply(400, &format!("x-key: {API_KEY}\r\nlocation: {API_KEY}\r\n"), &text),
            http_reply(200, "content-type: application/json\r\n", &text),
            [stream_head(), event].concat(),
        ];
        for reply in replies {
            let error = error_of_reply(reply).await;
            assert!(!format!("{error:?} {error}").contains("sk-testing"), "{error}");
        }
    }
}

#[tokio::test]
async fn an_error_contains_the_delay_that_the_provider_requests() {
    let error_for = |header: &str| error_of_reply(http_reply(429, &format!("{header}\r\n"), "{}"));
    assert_eq!(error_for("retry-after: 7").await.retry_after_ms, Some(7000));
    assert_eq!(error_for("retry-after-ms: 250").await.retry_after_ms, Some(250));
    assert_eq!(error_for("retry-after: -1").await.retry_after_ms, None);
    // A delay of more than 366 days is shortened to 366 days, which are 8784 hours.
    let error = error_for("retry-after: 1e9").await;
    assert!(
        error.message.ends_with("it accepts requests again in 8784 h"),
        "{error}"
    );
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other = Server::replying(chat_reply("stolen")).await;
    for status in [301, 302, 303, 307, 308] {
        let location = format!("location: {}/chat/completions\r\n", other.base_url());
        assert_eq!(
            error_of_reply(http_reply(status, &location, "")).await.code,
            ProviderNotConfigured
        );
    }
    assert_eq!(other.requests(), Vec::<String>::new());
}

#[tokio::test]
async fn cookies_are_not_stored() {
    let mut reply = stream_head();
    // Replace the blank line after the headers by another header.
    reply.truncate(reply.len() - 2);
    reply.extend(format!("set-cookie: a=b\r\n\r\n{}{CHAT_END}", text_event("hi")).into_bytes());
    let server = Server::replying(reply).await;
    let engine = engine(server.base_url(), limits());
    for _ in 0..2 {
        assert_eq!(joined_text(&call_events(&engine).await), "hi");
    }
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert!(!requests[1].to_lowercase().contains("cookie"));
}

#[tokio::test]
async fn an_interrupted_stream_yields_its_events_and_then_an_error() {
    let head = [stream_head(), text_event("half").into_bytes()].concat();
    let tails: [&[u8]; 4] = [b"", b"data: {\"choices\":[{\"del", b"data: \xe2\x82", b"\n\n\n"];
    for tail in tails {
        let actions = vec![ServerAction::Send([&head, tail].concat())];
        let events = events_after_actions(actions, limits()).await;
        assert_eq!(joined_text(&events), "half");
        let Some(StreamEvent::Error(error)) = events.last() else {
            panic!("no error: {events:?}")
        };
        assert_eq!(error.code, NetworkError, "{error}");
    }
}

#[tokio::test]
async fn any_line_end_is_accepted_and_comments_are_skipped() {
    for end in ["\n", "\r\n", "\r"] {
        let body = format!(": hello\n\n{}{}{CHAT_END}", text_event("a"), text_event("b")).replace('\n', end);
        let events = events_after_actions(
            vec![ServerAction::Send([stream_head(), body.into_bytes()].concat())],
            limits(),
        )
        .await;
        assert_eq!(joined_text(&events), "ab", "{end:?}");
        assert_eq!(events.last(), Some(&StreamEvent::End));
    }
}

#[tokio::test]
async fn a_reply_may_arrive_byte_by_byte() {
    let actions = chat_reply("grün")
        .chunks(1)
        .map(|byte| ServerAction::Send(byte.to_vec()))
        .collect();
    assert_eq!(joined_text(&events_after_actions(actions, limits()).await), "grün");
}

#[tokio::test]
async fn a_reply_that_is_too_long_is_refused() {
    let limits = EngineLimits {
        max_reply_bytes: 10_000,
        ..limits()
    };
    let long = text_event(&"x".repeat(20_000)).into_bytes();
    let unstreamed = http_reply(200, "content-type: application/json\r\n", &"x".repeat(20_000));
    for reply in [[stream_head(), long].concat(), unstreamed] {
        let error = error_after_actions(vec![ServerAction::Send(reply)], limits).await;
        assert_eq!(error.code, InvalidResponse);
        assert!(error.message.contains("is longer than 10000 bytes"), "{error}");
    }
}

#[tokio::test]
async fn a_reply_that_does_not_stream_has_at_most_two_mebibytes() {
    let body = |length: usize| {
        let reply = r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#;
        reply.to_owned() + &" ".repeat(length - reply.len())
    };
    let reply_with = |body: &str| {
        vec![ServerAction::Send(http_reply(
            200,
            "content-type: application/json\r\n",
            body,
        ))]
    };
    assert_eq!(
        joined_text(&events_after_actions(reply_with(&body(2 << 20)), limits()).await),
        "hi"
    );
    let error = error_after_actions(reply_with(&body((2 << 20) + 1)), limits()).await;
    assert_eq!(error.code, InvalidResponse);
    assert!(error.message.contains("is longer than 2097152 bytes"), "{error}");
    let (probe, _) = probe_with_reply(http_reply(200, "", &body((2 << 20) + 1))).await;
    assert_eq!(probe.error.unwrap().code, InvalidResponse);
}

// The whole reply may have 16 MiB, but each event at most 1 MiB.
#[tokio::test]
async fn an_event_of_more_than_a_mebibyte_is_refused() {
    let long = text_event(&"x".repeat(10 << 20)).into_bytes();
    let error = error_after_actions(vec![ServerAction::Send([stream_head(), long].concat())], limits()).await;
    assert_eq!(error.code, InvalidResponse);
}

#[tokio::test]
async fn an_endless_error_body_is_read_in_part() {
    let head = b"HTTP/1.1 500 Oops\r\nconnection: close\r\n\r\n".to_vec();
    let limits = EngineLimits {
        max_error_bytes: 100,
        ..limits()
    };
    let error = error_after_actions(vec![ServerAction::Send(head), ServerAction::Drip(b'x')], limits).await;
    assert_eq!(error.code, NetworkError);
}

#[tokio::test]
async fn the_wait_for_a_silent_provider_is_limited() {
    let short_header_timeout = EngineLimits {
        header_timeout_ms: 30,
        ..limits()
    };
    let short_idle_timeout = EngineLimits {
        idle_timeout_ms: 30,
        ..limits()
    };
    let half = [stream_head(), text_event("half").into_bytes()].concat();
    let error_head = b"HTTP/1.1 503 Oops\r\ncontent-length: 9\r\n\r\n".to_vec();
    let mut texts = Vec::new();
    for (actions, limits, code) in [
        (vec![ServerAction::Hang], short_header_timeout, Timeout),
        (
            vec![ServerAction::Send(half), ServerAction::Hang],
            short_idle_timeout,
            Timeout,
        ),
        // The status of an error reply determines the code, even if its body does not arrive in time.
        (
            vec![ServerAction::Send(error_head), ServerAction::Hang],
            short_idle_timeout,
            NetworkError,
        ),
    ] {
        let error = error_after_actions(actions, limits).await;
        assert_eq!(error.code, code);
        texts.push(without_port(&error.message));
    }
    // The messages round the limit of 30 ms up to a second.
    insta::assert_snapshot!(texts.join("\n"), @r"
    `p:m`: `127.0.0.1:PORT` did not answer within 1 s; try again, or choose a faster model
    `p:m`: `127.0.0.1:PORT` sent nothing for 1 s in the middle of a reply; try again
    `p:m`: the provider failed: HTTP status 503
    ");
}

#[tokio::test]
async fn all_attempts_at_a_silent_provider_have_one_limit_of_time() {
    let server = Server::start(vec![vec![ServerAction::Hang]; 9]).await;
    // The attempts alone take 600 ms, and the shortest waits between four of them 2.8 s. More attempts fit on no machine.
    let limits = EngineLimits {
        header_timeout_ms: 200,
        answer_timeout_ms: 3000,
        retry_base_ms: 500,
        retry_cap_ms: 1_000_000,
        max_retries: 8,
        ..limits()
    };
    let events = call_events(&engine(server.base_url(), limits)).await;
    let Some(StreamEvent::Error(error)) = events.last() else {
        panic!("{events:?}")
    };
    assert_eq!(error.code, Timeout);
    let limit = "because all together may take 3 s (`answer_timeout_ms` in `[models]`)";
    assert!(error.message.ends_with(limit), "{}", error.message);
    assert!((1..=3).contains(&server.requests().len()), "{events:?}");
}

#[tokio::test]
async fn one_attempt_may_take_all_the_time_of_a_call() {
    let limits = EngineLimits {
        header_timeout_ms: 100,
        answer_timeout_ms: 1,
        max_retries: 8,
        ..limits()
    };
    let server = Server::start(vec![vec![ServerAction::Hang]]).await;
    let events = call_events(&engine(server.base_url(), limits)).await;
    assert!(
        matches!(&events[..], [StreamEvent::Error(error)] if error.message.contains("after 1 attempt,")),
        "{events:?}"
    );
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn an_endless_reply_times_out() {
    let short_total_timeout = EngineLimits {
        total_timeout_ms: 1000,
        ..limits()
    };
    let error = error_after_actions(
        vec![ServerAction::Send(stream_head()), ServerAction::Drip(b'\n')],
        short_total_timeout,
    )
    .await;
    assert_eq!(error.code, Timeout);
    insta::assert_snapshot!(without_port(&error.message), @"`p:m`: the reply of `127.0.0.1:PORT` did not end within 1 s; ask for a shorter reply");
}

/// Returns the events of a call to a provider that does not stream, and the number of requests that it received.
async fn events_and_request_count_without_stream(
    script: Vec<Vec<ServerAction>>,
    limits: EngineLimits,
) -> (Vec<StreamEvent>, usize) {
    let server = Server::start(script).await;
    let mut settings = settings(server.base_url(), limits);
    settings.providers.get_mut("p").unwrap().stream = Some(false);
    let events = call_events(&ReasoningEngine::new(settings, environment).unwrap()).await;
    (events, server.requests().len())
}

#[tokio::test]
async fn only_the_total_timeout_applies_without_streaming() {
    let limits = EngineLimits {
        header_timeout_ms: 1,
        idle_timeout_ms: 1,
        ..limits()
    };
    let body = r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#;
    let reply = http_reply(200, "content-type: application/json\r\n", body);
    let (head, rest) = reply.split_at(reply.len() - 3);
    let pause = ServerAction::Pause(Duration::from_millis(50));
    let actions = vec![
        pause.clone(),
        ServerAction::Send(head.to_vec()),
        pause,
        ServerAction::Send(rest.to_vec()),
    ];
    let (events, _) = events_and_request_count_without_stream(vec![actions], limits).await;
    assert_eq!(joined_text(&events), "hi");
}

#[tokio::test]
async fn a_timeout_without_streaming_is_not_retried() {
    let short_total_timeout = EngineLimits {
        total_timeout_ms: 100,
        max_retries: 3,
        ..limits()
    };
    let (events, request_count) =
        events_and_request_count_without_stream(vec![vec![ServerAction::Hang]], short_total_timeout).await;
    assert!(matches!(&events[..], [StreamEvent::Error(error)] if error.code == Timeout));
    assert_eq!(request_count, 1);
    let script = vec![vec![ServerAction::Send(http_reply(503, "", "{}"))]];
    let (_, request_count) = events_and_request_count_without_stream(
        script,
        EngineLimits {
            max_retries: 3,
            ..limits()
        },
    )
    .await;
    assert_eq!(request_count, 4, "other failures are retried");
}

#[tokio::test]
async fn a_connection_reset_is_a_network_error() {
    let half = [stream_head(), text_event("half").into_bytes()].concat();
    for actions in [
        vec![ServerAction::Reset],
        vec![ServerAction::Send(half), ServerAction::Reset],
    ] {
        assert_eq!(error_after_actions(actions, limits()).await.code, NetworkError);
    }
}

/// Returns a port on which no server listens.
async fn closed_port() -> u16 {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap().port()
}

#[tokio::test]
async fn a_refused_connection_is_a_network_error() {
    let base_url = format!("http://127.0.0.1:{}/v1", closed_port().await);
    let events = call_events(&engine(base_url, limits())).await;
    let [StreamEvent::Error(error)] = events.as_slice() else {
        panic!("not exactly one error: {events:?}")
    };
    assert_eq!(error.code, NetworkError);
    insta::assert_snapshot!(without_port(&error.message), @"`p:m`: `127.0.0.1:PORT` refused the connection; start the server there, or correct `base_url`");
    assert!(error.request_not_read);
}

#[tokio::test]
async fn a_server_without_tls_is_a_network_error() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(&http_reply(400, "", "no TLS here")).await.unwrap();
    });
    let events = call_events(&engine(base_url, limits())).await;
    let [StreamEvent::Error(error)] = events.as_slice() else {
        panic!("not exactly one error: {events:?}")
    };
    assert_eq!(error.code, NetworkError);
    insta::assert_snapshot!(without_port(&error.message), @"`p:m`: `127.0.0.1:PORT` does not use TLS; correct `base_url`");
}

#[tokio::test]
async fn dropping_a_stream_frees_its_slot() {
    let server = Server::start(vec![vec![
        ServerAction::Send([stream_head(), text_event("a").into_bytes()].concat()),
        ServerAction::Drip(b'\n'),
    ]])
    .await;
    let mut settings = settings(server.base_url(), limits());
    // The provider has a single slot: no call starts while another one holds it.
    settings.providers.get_mut("p").unwrap().max_parallel = Some(1);
    let engine = ReasoningEngine::new(settings, environment).unwrap();
    let config = engine.resolve("p").unwrap();
    for _ in 0..3 {
        let mut stream = engine.call(&config, request());
        assert_eq!(stream.next().await, Some(token("a")));
    }
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn without_a_key_nothing_is_sent() {
    let server = Server::replying(chat_reply("hi")).await;
    let engine = ReasoningEngine::new(settings(server.base_url(), limits()), |_| None).unwrap();
    let events = call_events(&engine).await;
    assert!(matches!(&events[..], [StreamEvent::Error(error)] if error.code == ProviderNotConfigured));
    assert_eq!(server.requests(), Vec::<String>::new());
}

#[tokio::test]
async fn debug_and_json_output_have_no_key() {
    let server = Server::replying(chat_reply("hi")).await;
    let engine = engine(server.base_url(), limits());
    let config = engine.resolve("p").unwrap();
    call_events(&engine).await;
    let info = engine.describe(&config).unwrap();
    assert_eq!(info.provider.key.as_deref(), Some("environment variable `P_KEY`"));
    let texts = format!("{engine:?} {info:?} {:?} {config:?}", engine.providers());
    assert!(!texts.contains(API_KEY));
    assert!(!serde_json::to_string(&info).unwrap().contains(API_KEY));
}

const MAX_WAIT: Duration = Duration::from_secs(60);

/// Checks with [`ReasoningEngine::probe`] whether a provider whose server sends `reply` can be used. Returns the result, and the
/// requests that the server received.
async fn probe_with_reply(reply: Vec<u8>) -> (Probe, Vec<String>) {
    let server = Server::replying(reply).await;
    let engine = engine(server.base_url(), limits());
    let probe = engine.probe(&engine.resolve("p").unwrap(), MAX_WAIT).await;
    assert!(!format!("{probe:?}").contains(API_KEY));
    (probe, server.requests())
}

const MODEL_LIST: &str = r#"{"data":[{"id":"m"},{"id":"n:latest"}]}"#;

#[tokio::test]
async fn a_probe_reads_the_list_of_models() {
    let (probe, requests) = probe_with_reply(http_reply(200, "content-type: application/json\r\n", MODEL_LIST)).await;
    assert!(probe.reachable && probe.error.is_none());
    // `key_accepted` is `None`, because this server is not at the address of a built-in provider: its list may be public.
    assert_eq!((probe.key_accepted, probe.model_listed), (None, Some(true)));
    assert_eq!(probe.models, ["m", "n:latest"]);
    assert!(requests[0].starts_with("GET /v1/models HTTP/1.1\r\n"), "{requests:?}");
}

#[tokio::test]
async fn a_key_is_checked_by_a_request_for_a_path_that_needs_it() {
    let rows = [
        (http_reply(200, "", "{}"), Some(true), None),
        (
            http_reply(401, "", &error_body("no such key")),
            Some(false),
            Some(AuthenticationError),
        ),
        (http_reply(404, "", ""), None, None),
    ];
    for (reply, accepted, code) in rows {
        let server = Server::replying(reply).await;
        let providers = create_providers(&settings(server.base_url(), limits()), &environment, &[]).unwrap();
        let remote = providers["p"].as_remote().unwrap();
        let path = "key";
        let probe = check_key(remote, &Transport::new(limits()), path, Probe::default()).await;
        assert_eq!(
            (probe.key_accepted, probe.error.map(|error| error.code)),
            (accepted, code)
        );
        let requests = server.requests();
        assert!(requests[0].starts_with("GET /v1/key HTTP/1.1\r\n"), "{requests:?}");
    }
}

#[tokio::test]
async fn a_cost_that_a_built_in_provider_reports_at_a_changed_address_is_ignored() {
    let reply = r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"cost":0.0}}"#;
    let server = Server::replying(http_reply(200, "content-type: application/json\r\n", reply)).await;
    let mut settings = settings(server.base_url(), limits());
    let provider = settings.providers.remove("p").unwrap();
    // The built-in provider `openrouter` now has the address of the test server.
    settings.providers.insert("openrouter".to_owned(), provider);
    let engine = ReasoningEngine::new(settings, environment).unwrap();
    let config = engine.resolve("openrouter:m").unwrap();
    let reply = collect(engine.call(&config, request())).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.metadata.cost_usd), ("hi", None));
}

#[tokio::test]
async fn an_unlisted_model_is_an_error_of_the_probe() {
    let (probe, _) = probe_with_reply(http_reply(200, "", r#"{"data":[{"id":"x"}]}"#)).await;
    assert_eq!(probe.model_listed, Some(false));
    insta::assert_snapshot!(probe.error.unwrap(), @"`p:m`: the provider does not list the model; check its name (`art doctor` shows similar names)");
}

#[tokio::test]
async fn a_listed_model_may_have_the_prefix_models_or_the_tag_latest() {
    for (listed, model) in [("m", "m"), ("models/m", "m"), ("m:latest", "m"), ("m:8b", "m:8b")] {
        assert!(probe::is_entry_for(listed, model), "{listed} {model}");
    }
    for (listed, model) in [("mm", "m"), ("m:8b", "m"), ("m", "m:8b")] {
        assert!(!probe::is_entry_for(listed, model), "{listed} {model}");
    }
}

#[tokio::test]
async fn a_probe_reports_a_refused_key() {
    let (probe, _) = probe_with_reply(http_reply(401, "", &error_body("no such key"))).await;
    assert_eq!(
        (probe.reachable, probe.key_accepted, probe.model_listed),
        (true, Some(false), None)
    );
    assert_eq!(probe.error.unwrap().code, AuthenticationError);
}

#[tokio::test]
async fn a_provider_that_lists_no_models_is_reachable() {
    for reply in [
        http_reply(404, "", ""),
        http_reply(200, "content-type: text/html\r\n", "<html>"),
        http_reply(500, "", ""),
    ] {
        let (probe, _) = probe_with_reply(reply).await;
        assert_eq!(
            (probe.reachable, probe.key_accepted, probe.model_listed),
            (true, None, None)
        );
        assert!(probe.error.is_some());
    }
    // A JSON reply without models is not an error.
    let (probe, _) = probe_with_reply(http_reply(200, "", "[]")).await;
    assert!(probe.error.is_none() && probe.model_listed.is_none());
}

#[tokio::test]
async fn a_provider_that_refuses_the_connection_is_unreachable() {
    let engine = engine(format!("http://127.0.0.1:{}", closed_port().await), limits());
    let probe = engine.probe(&engine.resolve("p").unwrap(), MAX_WAIT).await;
    assert!(!probe.reachable && probe.error.is_some());
}

#[tokio::test]
async fn a_probe_respects_its_timeout() {
    let server = Server::start(vec![vec![ServerAction::Hang]]).await;
    let engine = engine(server.base_url(), limits());
    let probe = engine
        .probe(&engine.resolve("p").unwrap(), Duration::from_millis(50))
        .await;
    assert!(!probe.reachable);
    let error = probe.error.unwrap();
    assert_eq!(error.code, Timeout);
    // The message rounds the timeout of 50 ms up to a second.
    insta::assert_snapshot!(without_port(&error.message), @"`p:m`: `127.0.0.1:PORT` did not answer within 1 s; check the network and `base_url`, or try again");
}

#[tokio::test]
async fn calls_that_find_no_free_slot_wait_and_succeed() {
    let server = Server::replying(chat_reply("hi")).await;
    let engine = engine(server.base_url(), limits());
    let calls: Vec<_> = (0..20).map(|_| call_events(&engine)).collect();
    let replies = tokio::time::timeout(Duration::from_secs(60), futures_util::future::join_all(calls))
        .await
        .unwrap();
    assert!(replies.iter().all(|events| joined_text(events) == "hi"));
    assert_eq!(server.requests().len(), 20);
}

/// Returns the request that a provider with this protocol receives.
async fn request_with_protocol(api: crate::Protocol) -> String {
    let server = Server::replying(http_reply(500, "", "")).await;
    let mut settings = settings(server.base_url(), limits());
    settings.providers.get_mut("p").unwrap().api = Some(api);
    call_events(&ReasoningEngine::new(settings, environment).unwrap()).await;
    server.requests().remove(0)
}

#[tokio::test]
async fn each_protocol_sends_the_key_only_in_its_header() {
    use crate::Protocol::{Anthropic, Gemini, OpenaiChat, OpenaiResponses};
    let bearer = format!("authorization: Bearer {API_KEY}");
    let table = [
        (OpenaiChat, "/v1/chat/completions", bearer.clone()),
        (OpenaiResponses, "/v1/responses", bearer),
        (Anthropic, "/v1/messages", format!("x-api-key: {API_KEY}")),
        (
            Gemini,
            "/v1/models/m:streamGenerateContent",
            format!("x-goog-api-key: {API_KEY}"),
        ),
    ];
    for (api, path, header) in table {
        let request = request_with_protocol(api).await;
        let (line, rest) = request.split_once("\r\n").unwrap();
        assert!(
            line.starts_with(&format!("POST {path}")) && !line.contains(API_KEY),
            "{line}"
        );
        assert!(rest.contains(&format!("{header}\r\n")), "{api}: {rest}");
        assert_eq!(request.matches(API_KEY).count(), 1, "{api}");
    }
}

#[tokio::test]
async fn maximum_limits_do_not_overflow() {
    let limits = EngineLimits {
        connect_timeout_ms: u64::MAX,
        header_timeout_ms: u64::MAX,
        idle_timeout_ms: u64::MAX,
        total_timeout_ms: u64::MAX,
        queue_timeout_ms: u64::MAX,
        connection_idle_ms: u64::MAX,
        ..limits()
    };
    assert_eq!(
        joined_text(&events_after_actions(vec![ServerAction::Send(chat_reply("hi"))], limits).await),
        "hi"
    );
}

#[tokio::test]
async fn a_key_in_a_reply_is_redacted() {
    let (first, second) = API_KEY.split_at(9);
    let pieces = ["You sent ", first, second, "."].map(text_event).concat();
    let reply = [stream_head(), pieces.into_bytes(), CHAT_END.into()].concat();
    // `events_after_actions` checks that no event contains the key.
    assert_eq!(
        joined_text(&events_after_actions(vec![ServerAction::Send(reply)], limits()).await),
        "You sent [key]."
    );
    let body = serde_json::json!({"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": API_KEY}}]});
    let unstreamed = http_reply(200, "content-type: application/json\r\n", &body.to_string());
    assert_eq!(
        joined_text(&events_after_actions(vec![ServerAction::Send(unstreamed)], limits()).await),
        "[key]"
    );
}
