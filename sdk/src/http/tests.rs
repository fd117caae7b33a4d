use serde_json::{Value, json};

use super::*;

#[test]
fn a_request_is_answered_by_the_function_of_the_test() {
    crate::testing::answer_http(|request| {
        assert_eq!((request.method(), request.bytes()), ("POST", &b"{\"a\":1}"[..]));
        assert_eq!(
            request.headers(),
            [("content-type".to_owned(), "application/json".to_owned())]
        );
        Ok(Response::new(200, r#"{"b": 2}"#))
    });
    let request = Request::new("POST", "https://a.example/")
        .json(&json!({"a": 1}))
        .unwrap();
    let answer: Value = request.send().unwrap().json().unwrap();
    assert_eq!(answer, json!({"b": 2}));
}

#[test]
fn a_test_without_answer_http_cannot_send_requests() {
    let error = get("https://a.example/").unwrap_err();
    assert!(error.message.contains("answer_http"), "{error}");
}

#[test]
fn a_status_becomes_an_error_with_a_code_that_fits() {
    let code_and_retryable = |status| {
        Response::new(status, "")
            .success()
            .map_err(|error| (error.code, error.retryable))
    };
    assert!(code_and_retryable(204).is_ok());
    assert_eq!(code_and_retryable(301).unwrap_err(), (ErrorCode::IoError, false));
    assert_eq!(
        code_and_retryable(403).unwrap_err(),
        (ErrorCode::PermissionDenied, false)
    );
    assert_eq!(code_and_retryable(404).unwrap_err(), (ErrorCode::NotFound, false));
    assert_eq!(code_and_retryable(429).unwrap_err(), (ErrorCode::RateLimited, true));
    assert_eq!(code_and_retryable(500).unwrap_err(), (ErrorCode::IoError, false));
    assert_eq!(code_and_retryable(503).unwrap_err(), (ErrorCode::IoError, true));
}

#[test]
fn a_status_becomes_an_error_with_the_beginning_of_the_text_of_the_server() {
    let message = |response: Response| response.success().unwrap_err().message;
    assert_eq!(
        message(Response::new(422, "{\"error\":\r\n \"no \u{1b}[2Jcity\"}")),
        "the server answered with the status 422: {\"error\": \"no [2Jcity\"}"
    );
    let long = message(Response::new(500, "failure ".repeat(100_000)));
    assert!(
        long.contains("status 500: failure failure") && long.ends_with("failure .."),
        "{long}"
    );
    assert!(long.chars().count() < 600, "{long}");
    assert_eq!(
        message(Response::new(500, "")),
        "the server answered with the status 500"
    );
    assert_eq!(
        message(Response::new(302, "moved")),
        "the server answered with the status 302"
    );
    let compressed = Response::new(500, "\u{1}\u{2}").with_header("content-encoding", "br");
    assert_eq!(message(compressed), "the server answered with the status 500");
}

#[test]
fn the_query_of_a_request_is_encoded() {
    let request = Request::new("GET", " https://a.example/#b ")
        .query("q", "a b")
        .query("n", 7);
    assert_eq!(request.url(), "https://a.example/?q=a%20b&n=7#b");
}

/// Compresses a body with gzip.
fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    io::Write::write_all(&mut encoder, body).unwrap();
    encoder.finish().unwrap()
}

/// Compresses a body with deflate.
fn deflate(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    io::Write::write_all(&mut encoder, body).unwrap();
    encoder.finish().unwrap()
}

/// Returns bytes that cannot be compressed well, from a linear congruential generator.
fn noise(length: usize) -> Vec<u8> {
    let step = |state: &u64| Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    let states = std::iter::successors(Some(1_u64), step);
    states.map(|state| (state >> 56) as u8).take(length).collect()
}

#[test]
fn a_response_over_the_limit_fails_unless_its_beginning_is_accepted() {
    let (text, random) = (b"text ".repeat(2 << 20), noise(6 << 20));
    for (original, body, coding) in [
        (&text, text.clone(), "identity"),
        (&text, gzip(&text), "gzip"),
        (&text, deflate(&text), "deflate"),
        // These are over the limit as they are sent, too.
        (&random, gzip(&random), "gzip"),
        (&random, deflate(&random), "deflate"),
    ] {
        crate::testing::answer_http(move |_| {
            Ok(Response::new(200, body.clone()).with_header("content-encoding", coding))
        });
        let request = Request::new("GET", "https://a.example/b?key=1");
        let error = request.send().unwrap_err();
        assert!(
            error
                .message
                .contains("the response of `https://a.example/b` has more than 5242880 bytes"),
            "{error}"
        );
        let response = request.allow_truncated().send().unwrap();
        assert!(response.is_truncated(), "{coding}");
        assert!(response.bytes().len() > (4 << 20) && response.bytes().len() <= MAX_RESPONSE_BYTES);
        assert!(original.starts_with(response.bytes()), "{coding}");
    }
}

#[test]
fn a_body_that_is_no_gzip_is_an_error_even_if_it_was_cut() {
    let body = noise(6 << 20);
    crate::testing::answer_http(move |_| Ok(Response::new(200, body.clone()).with_header("content-encoding", "gzip")));
    let sent = Request::new("GET", "https://a.example/").allow_truncated().send();
    assert!(sent.unwrap_err().message.contains("is no valid gzip"));
}

#[test]
fn a_long_error_page_keeps_its_status_and_its_beginning() {
    let page = "gone ".repeat(2 << 20);
    crate::testing::answer_http(move |_| Ok(Response::new(404, page.clone())));
    let error = get("https://a.example/").unwrap().success().unwrap_err();
    assert_eq!(error.code, ErrorCode::NotFound);
    assert!(error.message.contains("status 404: gone gone"), "{error}");
}

#[test]
fn a_response_of_exactly_the_limit_is_whole() {
    crate::testing::answer_http(|_| Ok(Response::new(200, vec![b'x'; MAX_RESPONSE_BYTES])));
    assert!(!get("https://a.example/").unwrap().is_truncated());
}

#[test]
fn json_does_not_replace_a_content_type_that_is_already_set() {
    let request = Request::new("POST", "https://a.example/").header("Content-Type", "application/vnd.api+json");
    let request = request.json(&[1]).unwrap().json(&[2]).unwrap();
    let expected = ("Content-Type".to_owned(), "application/vnd.api+json".to_owned());
    assert_eq!(
        (request.headers(), request.bytes()),
        (&[expected][..], b"[2]".as_slice())
    );
}

#[test]
fn a_text_is_read_unless_it_is_compressed() {
    let response = Response::new(200, *b"caf\xc3\xa9 \xff");
    assert_eq!(response.text().unwrap(), "caf\u{e9} \u{fffd}");
    response
        .clone()
        .with_header("content-encoding", "Identity")
        .text()
        .unwrap();
    response.with_header("content-encoding", "gzip").text().unwrap_err();
}

#[test]
fn an_address_is_shown_without_its_query_and_is_cut() {
    assert_eq!(shown_address("https://a.example/b?key=secret"), "https://a.example/b");
    let long = format!("https://a.example/{}", "x".repeat(500));
    assert_eq!(shown_address(&long).len(), 200 + "...".len());
}
