//! Secrets that are added to requests: where they go, and that they do not come back. Also requests with a canary, which is a
//! decoy secret: no tool is ever given one.

use art_core::secret::Secret;
use http::HeaderValue;

use super::*;

/// The value of the secret `KEY`.
const VALUE: &str = "hunter2/hunter2+";
/// The value of the canary `DECOY`.
const CANARY_VALUE: &str = "decoy-value-1";

/// Returns the secrets of a host that knows only the secret `KEY`.
fn only_key() -> Arc<Secrets> {
    let is_canary = false;
    let key = Secret::new("KEY", &VALUE.into(), is_canary).unwrap();
    Arc::new(Secrets::new(vec![key]).unwrap())
}

/// Returns the secrets of a host that knows the secret `KEY` and the canary `DECOY`.
fn key_and_canary() -> Arc<Secrets> {
    let key_is_canary = false;
    let decoy_is_canary = true;
    let key = Secret::new("KEY", &VALUE.into(), key_is_canary).unwrap();
    let canary = Secret::new("DECOY", &CANARY_VALUE.into(), decoy_is_canary).unwrap();
    Arc::new(Secrets::new(vec![key, canary]).unwrap())
}

/// Returns a call whose requests to `url` get the secret `KEY` in this header.
fn call_with_secret(url: &str, header: &str, secrets: Arc<Secrets>) -> Call {
    let mut grant = full_grant(url);
    grant["secret"] = json!({"name": "KEY", "header": header});
    let resolver = TestResolver::default();
    let network = Network::new(Box::new(resolver.clone()), OnceLock::new());
    let sender = Sender::new(call_grants(json!([grant])), secrets, Some(Arc::new(network)));
    Call { sender, resolver }
}

fn request_with_header(name: &'static str, value: &'static str, url: &str) -> Request<WasiBody> {
    let mut request = get_request(url);
    request.headers_mut().insert(name, HeaderValue::from_static(value));
    request
}

/// Sends a request with the secret `KEY` to a server that answers with these lines of headers and this body, and returns the
/// response as the guest gets it.
async fn fetch_with_secret(headers: &str, body: &[u8]) -> Result<Page, Error> {
    let mut response = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n{headers}\r\n", body.len()).into_bytes();
    response.extend(body);
    let server = Server::with_response(response);
    call_with_secret(&server.url("/"), "authorization", only_key())
        .get(&server.url("/"))
        .await
}

#[tokio::test]
async fn a_secret_is_added_to_a_request_that_its_grant_allows() {
    let server = Server::with_page();
    for (name, expected_line) in [
        ("authorization", format!("authorization: Bearer {VALUE}\r\n")),
        ("X-Api-Key", format!("x-api-key: {VALUE}\r\n")),
    ] {
        call_with_secret(&server.url("/"), name, only_key())
            .get(&server.url("/"))
            .await
            .unwrap();
        let head = server.received().pop().unwrap();
        assert_eq!(head.matches(&expected_line).count(), 1, "{head}");
    }
}

#[tokio::test]
async fn a_secret_is_not_sent_to_another_path_or_port() {
    let (server, other_server) = (Server::with_page(), Server::with_page());
    let mut grants = json!([
        full_grant(&server.url("/api")),
        full_grant(&server.url("/")),
        full_grant(&other_server.url("/"))
    ]);
    grants[0]["secret"] = json!({"name": "KEY"});
    let resolver = TestResolver::default();
    let network = Network::new(Box::new(resolver.clone()), OnceLock::new());
    let sender = Sender::new(call_grants(grants), only_key(), Some(Arc::new(network)));
    let mut call = Call { sender, resolver };
    for url in [
        server.url("/"),
        server.url("/apis"),
        server.url("/api/../x"),
        other_server.url("/api"),
    ] {
        call.get(&url).await.unwrap();
    }
    call.get(&server.url("/api/x")).await.unwrap();
    let heads = [server.received(), other_server.received()].concat();
    let with_secret: Vec<_> = heads.iter().filter(|head| head.contains("Bearer")).collect();
    assert_eq!(with_secret.len(), 1, "{heads:?}");
    assert!(with_secret[0].starts_with("GET /api/x "));
}

#[tokio::test]
async fn a_request_is_denied_if_the_guest_sets_the_header_of_the_secret_itself() {
    let server = Server::with_page();
    let mut call = call_with_secret(&server.url("/"), "x-api-key", only_key());
    let sent = call
        .send(request_with_header("x-api-key", "mine", &server.url("/")))
        .await;
    assert!(matches!(sent, Err(Error::HttpRequestDenied)));
    let reasons: Vec<_> = call.denials().into_iter().map(|denial| denial.reason).collect();
    assert_eq!(reasons, ["the grant itself sets the header `x-api-key`"]);
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_request_with_a_secret_cannot_replace_its_method_path_or_host() {
    let server = Server::with_page();
    for name in [
        "x-http-method-override",
        "x-original-url",
        "x-rewrite-url",
        "x-forwarded-host",
    ] {
        let mut call = call_with_secret(&server.url("/"), "authorization", only_key());
        let sent = call.send(request_with_header(name, "x", &server.url("/"))).await;
        assert!(matches!(sent, Err(Error::HttpRequestDenied)), "{name}");
        let reasons: Vec<_> = call.denials().into_iter().map(|denial| denial.reason).collect();
        let reason = format!("the header `{name}` can make the server answer another request than the granted one");
        assert_eq!(reasons, [reason]);
    }
    assert_eq!(server.connections(), 0);
    let mut call = call_with_secret(&server.url("/"), "authorization", only_key());
    call.send(request_with_header("x-api-version", "2", &server.url("/")))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_request_whose_secret_is_not_stored_is_denied_with_the_command_to_store_it() {
    let server = Server::with_page();
    let mut call = call_with_secret(&server.url("/"), "authorization", Secrets::none());
    assert!(matches!(
        call.get(&server.url("/")).await,
        Err(Error::HttpRequestDenied)
    ));
    let commands: Vec<_> = call.denials().into_iter().filter_map(|denial| denial.command).collect();
    assert_eq!(commands, ["art secret set KEY"]);
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn an_echoed_secret_is_redacted_in_common_encodings() {
    use base64::Engine;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};
    let mut encodings = vec![
        VALUE.to_owned(),
        format!("{{\"authorization\":\"Bearer {VALUE}\"}}"),
        VALUE.replace('/', "\\/"),
        VALUE.replace('/', "%2F").replace('+', "%2B"),
        VALUE.bytes().map(|byte| format!("{byte:02x}")).collect(),
        VALUE.bytes().map(|byte| format!("{byte:02X}")).collect(),
    ];
    // In base64, the text of the secret depends on how many bytes come before it, modulo 3.
    for before in ["", "a", "ab"] {
        encodings.push(STANDARD.encode(format!("{before}{VALUE}:")));
        encodings.push(URL_SAFE.encode(format!("{before}{VALUE}:")));
    }
    for encoded in &encodings {
        let page = fetch_with_secret(&format!("location: /?{encoded}\r\n"), format!("<{encoded}>").as_bytes())
            .await
            .unwrap();
        let (body, location) = (
            String::from_utf8(page.body).unwrap(),
            page.headers["location"].as_bytes().to_vec(),
        );
        assert!(body.contains("«secret»"), "{encoded}: {body}");
        assert!(
            !only_key().redactor().finds_secret_in(body.as_bytes())
                && !only_key().redactor().finds_secret_in(&location)
        );
    }
}

#[tokio::test]
async fn a_secret_that_is_split_between_two_parts_of_a_body_is_redacted() {
    for cut in 0..=VALUE.len() {
        let server = Server::start(move |connection| {
            connection.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")?;
            for part in [&VALUE[..cut], &VALUE[cut..]]
                .into_iter()
                .filter(|part| !part.is_empty())
            {
                connection.write_all(format!("{:x}\r\n{part}\r\n", part.len()).as_bytes())?;
                connection.flush()?;
            }
            connection.write_all(b"0\r\n\r\n")
        });
        let page = call_with_secret(&server.url("/"), "authorization", only_key())
            .get(&server.url("/"))
            .await
            .unwrap();
        assert_eq!(page.body, "«secret»".as_bytes(), "cut at {cut}");
    }
}

#[tokio::test]
async fn identity_headers_are_removed_only_from_responses_to_requests_with_a_secret() {
    let page = fetch_with_secret("set-cookie: session=1\r\nwww-authenticate: Basic\r\nx-kept: 1\r\n", b"")
        .await
        .unwrap();
    assert!(!page.headers.contains_key("set-cookie") && !page.headers.contains_key("www-authenticate"));
    assert_eq!(page.headers["x-kept"], "1");
    let server = Server::with_response("HTTP/1.1 200 OK\r\nset-cookie: a=1\r\ncontent-length: 0\r\n\r\n");
    let page = Call::to(&server).get(&server.url("/")).await.unwrap();
    assert_eq!(page.headers["set-cookie"], "a=1");
}

#[tokio::test]
async fn a_compressed_response_to_a_request_with_a_secret_is_refused() {
    let compressed = fetch_with_secret("content-encoding: gzip\r\n", b"x").await;
    assert!(matches!(compressed, Err(Error::HttpResponseContentCoding(_))));
    fetch_with_secret("content-encoding: identity\r\n", b"x").await.unwrap();
    let server = Server::with_response("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 1\r\n\r\nx");
    Call::to(&server).get(&server.url("/")).await.unwrap();
}

#[tokio::test]
async fn headers_for_ranges_and_compression_are_not_sent_with_a_secret() {
    let server = Server::with_page();
    let mut call = call_with_secret(&server.url("/"), "authorization", only_key());
    for (name, value) in [("range", "bytes=0-3"), ("if-range", "x"), ("accept-encoding", "gzip")] {
        call.send(request_with_header(name, value, &server.url("/")))
            .await
            .unwrap();
        let head = server.received().pop().unwrap();
        assert!(!head.contains(name), "{head}");
    }
}

#[tokio::test]
async fn a_request_with_a_canary_is_denied_and_reported() {
    let server = Server::start(|connection| io::copy(connection, &mut io::sink()).map(drop));
    let url = server.url("/");
    let body = format!("{}{CANARY_VALUE}{}", "x".repeat(100), "y".repeat(100));
    for request in [
        get_request(&server.url(&format!("/?q={CANARY_VALUE}"))),
        request_with_header("x-note", CANARY_VALUE, &url),
        request("POST", &url, &body),
    ] {
        let mut call = call_with_secret(&url, "authorization", key_and_canary());
        let sent = call.send(request).await;
        assert!(matches!(sent, Err(Error::HttpRequestDenied)), "{sent:?}");
        assert_eq!(call.sender.gate.canary().as_deref(), Some("DECOY"));
    }
    // Only the request with a body may connect, because its body is searched while it is sent.
    assert!(server.connections() <= 1);
}

#[tokio::test]
async fn a_body_that_ends_with_a_part_of_a_canary_is_sent_as_it_is() {
    let (sender, received) = std::sync::mpsc::channel();
    let body = format!("{}decoy-value-", "x".repeat(5000));
    let length = body.len();
    let server = Server::start(move |connection| {
        let mut body = vec![0; length];
        connection.read_exact(&mut body)?;
        sender.send(body).map_err(io::Error::other)?;
        connection.write_all(b"HTTP/1.1 204 No Content\r\n\r\n")
    });
    let mut call = call_with_secret(&server.url("/"), "authorization", key_and_canary());
    let mut request = request("POST", &server.url("/"), &body);
    request
        .headers_mut()
        .insert(http::header::CONTENT_LENGTH, HeaderValue::from(length));
    call.send(request).await.unwrap();
    assert_eq!(received.recv().unwrap(), body.as_bytes());
    assert_eq!(call.sender.gate.canary(), None);
}
