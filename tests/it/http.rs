//! Requests of tools: granted requests are sent, and all others are denied before anything leaves the host.

use std::sync::Arc;
use std::time::Duration;

use art_core::capability::{CallGrants, HttpGrant, HttpRight};
use art_core::limits::Limits;
use art_core::outcome::{Ending, Outcome};
use art_tools::executor::{CheckedCall, ToolExecutor};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::harness::{components, guest, output, tool_call};
use crate::http_server::{HttpServer, response};
use crate::replay::without_times_and_used_grants;

/// The expected requests of a server that received none.
const NO_REQUESTS: [&str; 0] = [];

/// Returns the grants of a call that may send the requests that `http` allows. `http` is a JSON list of grants, which has the
/// same form as in a file of grants.
fn grants(http: Value) -> Arc<CallGrants> {
    let grants: Vec<HttpGrant> = serde_json::from_value(http).unwrap();
    let http_right = |grant: HttpGrant| HttpRight {
        scope: grant.url.clone(),
        methods: grant.methods.clone(),
        grant: Arc::new(grant),
    };
    Arc::new(CallGrants {
        tool: Arc::from("fetches"),
        http: grants.into_iter().map(http_right).collect(),
        ..CallGrants::clone(&CallGrants::by_default())
    })
}

/// Calls a guest with the grants of a JSON list, as in [`grants`].
async fn call(component: &'static str, http_grants: Value, arguments: Value) -> Outcome {
    call_with_limits(component, http_grants, arguments, Limits::EXECUTE).await
}

async fn call_with_limits(component: &'static str, http_grants: Value, arguments: Value, limits: Limits) -> Outcome {
    let cancel = CancellationToken::new();
    let call = CheckedCall::for_test_with_grants(tool_call(arguments), limits, grants(http_grants), cancel);
    guest(component).execute(&call).await
}

/// Returns a list with one grant, for GET and POST requests to `server`. The grant is `private`, since the server is on this
/// machine.
fn private_grant(server: &HttpServer) -> Value {
    json!([{"url": server.url("/"), "methods": ["GET", "POST"], "private": true}])
}

/// Asserts that a call failed. Returns the code and the message of the failure, and whether the call can be tried again.
fn error(outcome: &Outcome) -> (String, String, bool) {
    match &outcome.ending {
        Ending::Failure(failure) => (
            format!("{:?}", failure.code),
            failure.message.clone(),
            failure.retryable,
        ),
        other => panic!("expected a failure, got {other:?}"),
    }
}

/// Calls the guest `raw_requests`, which makes one attempt to send a request to `server`, and returns how the attempt ended.
/// `attempt` names the part of the request that is set to `text`, such as `path`, or another kind of attempt.
async fn attempt_request(server: &HttpServer, attempt: &str, text: &str) -> Value {
    let arguments = json!({"attempt": attempt, "authority": server.authority(), "text": text});
    output(&call(components::RAW_REQUESTS, private_grant(server), arguments).await)
}

#[tokio::test]
async fn a_tool_fetches_a_granted_page() {
    let server = HttpServer::start(|_| response(200, &[("X-Version", "7")], b"hello"));
    let outcome = call(
        components::FETCHES,
        private_grant(&server),
        json!({"url": server.url("/a?b=c")}),
    )
    .await;
    let page = output(&outcome);
    assert_eq!((&page["status"], &page["text"]), (&json!(200), &json!("hello")));
    assert_eq!(page["headers"]["x-version"], "7");
    assert_eq!((outcome.usage.http_requests, outcome.usage.http_bytes), (1, 5));
    assert_eq!(outcome.denials, []);
    let expected = format!("GET /a?b=c HTTP/1.1\r\nhost: {}\r\n\r\n", server.authority());
    assert_eq!(server.requests(), [expected]);
}

#[tokio::test]
async fn a_tool_sends_a_body() {
    let server = HttpServer::page("done");
    let arguments =
        json!({"url": server.url("/"), "method": "POST", "body": "a=1", "headers": {"Accept": "text/plain"}});
    let outcome = call(components::FETCHES, private_grant(&server), arguments).await;
    assert_eq!(output(&outcome)["text"], "done");
    let expected = format!(
        "POST / HTTP/1.1\r\nhost: {}\r\ncontent-length: 3\r\naccept: text/plain\r\n\r\na=1",
        server.authority()
    );
    assert_eq!(server.requests(), [expected]);
}

#[tokio::test]
async fn a_tool_without_a_grant_reaches_no_server() {
    let server = HttpServer::page("secret");
    let other = json!([{"url": "https://granted.example/"}]);
    for grants in [json!([]), other] {
        let outcome = call(components::FETCHES, grants, json!({"url": server.url("/a?key=1")})).await;
        let (code, message, retryable) = error(&outcome);
        assert_eq!((code.as_str(), retryable), ("PermissionDenied", false));
        assert_eq!(message, format!("GET `{}` is not allowed", server.url("/a")));
        let [denial] = &outcome.denials[..] else {
            panic!("{:?}", outcome.denials)
        };
        let command = format!("art grant add fetches --http {} --private", server.url("/"));
        assert_eq!(denial.command.as_deref(), Some(command.as_str()));
        assert_eq!(outcome.usage.http_requests, 0);
    }
    assert_eq!(server.requests(), NO_REQUESTS);
}

#[tokio::test]
async fn a_grant_for_public_hosts_does_not_reach_this_machine() {
    let server = HttpServer::page("secret");
    let outcome = call(
        components::FETCHES,
        json!([{"url": server.url("/")}]),
        json!({"url": server.url("/")}),
    )
    .await;
    assert_eq!(error(&outcome).0, "PermissionDenied");
    let command = outcome.denials.iter().find_map(|denial| denial.command.clone());
    assert_eq!(
        command,
        Some(format!("art grant add fetches --http {} --private", server.url("/")))
    );
    assert_eq!(server.requests(), NO_REQUESTS);
}

#[tokio::test]
async fn a_method_that_is_not_granted_is_denied() {
    let server = HttpServer::page("");
    let grant_to_read = json!([{"url": server.url("/"), "private": true}]);
    let arguments = json!({"url": server.url("/"), "method": "POST", "body": "stolen"});
    assert_eq!(
        error(&call(components::FETCHES, grant_to_read, arguments).await).0,
        "PermissionDenied"
    );
    assert_eq!(server.requests(), NO_REQUESTS);
}

#[tokio::test]
async fn the_proxy_of_the_host_is_not_used() {
    let (proxy, server) = (HttpServer::page("proxy"), HttpServer::page("server"));
    // A client reads the proxy settings when it is created, so they have to be set in a separate process.
    let setup = format!(
        "export HTTP_PROXY={0} http_proxy={0} ALL_PROXY={0} TEST_SERVER={1};",
        proxy.url(""),
        server.url("/")
    );
    crate::harness::run_alone("http::fetch_the_page_that_the_environment_names", &setup);
    assert_eq!((proxy.requests().len(), server.requests().len()), (0, 1));
}

#[tokio::test]
#[ignore = "is run by another test, in a process with the settings of a proxy"]
async fn fetch_the_page_that_the_environment_names() {
    let url = std::env::var("TEST_SERVER").unwrap();
    let outcome = call(
        components::FETCHES,
        json!([{"url": url, "private": true}]),
        json!({"url": url}),
    )
    .await;
    assert_eq!(output(&outcome)["text"], "server");
}

#[tokio::test]
async fn forbidden_and_malformed_headers_cannot_be_sent() {
    let server = HttpServer::page("");
    for name in [
        "Host",
        "Authorization",
        "Cookie",
        "Connection",
        "Transfer-Encoding",
        "TE",
        "Trailer",
        "Expect",
        "Upgrade",
        "Proxy-Authorization",
        "proxy-x",
        "Keep-Alive",
    ] {
        assert_eq!(
            attempt_request(&server, "header", name).await,
            "HeaderError::Forbidden",
            "{name}"
        );
    }
    for name in ["x\r\ny", "x: y", "", "x y", "x\0"] {
        assert_eq!(
            attempt_request(&server, "header", name).await,
            "HeaderError::InvalidSyntax",
            "{name:?}"
        );
    }
    for value in ["a\r\nb: c", "a\nb", "a\0b"] {
        assert_eq!(
            attempt_request(&server, "value", value).await,
            "HeaderError::InvalidSyntax",
            "{value:?}"
        );
    }
    assert_eq!(attempt_request(&server, "header", "Accept").await, "accepted");
    assert_eq!(
        attempt_request(&server, "trailers", "Host").await,
        "HeaderError::Forbidden"
    );
    assert_eq!(server.requests(), NO_REQUESTS);
}

#[tokio::test]
async fn no_part_of_a_request_leads_to_another_host() {
    let (server, other) = (HttpServer::page(""), HttpServer::page(""));
    for (attempt, text) in [
        ("path", other.url("/")),
        ("path", "*".to_owned()),
        ("path", "/\r\nHost: x".to_owned()),
        ("path", format!("@{}/", other.authority())),
        ("authority", "a:99999".to_owned()),
        ("authority", other.authority()),
        ("authority", format!("{}@{}", server.authority(), other.authority())),
        ("authority", "localhost".to_owned()),
        ("method", "CONNECT".to_owned()),
        ("method", "TRACE".to_owned()),
        ("method", "GET / HTTP/1.1\r\n".to_owned()),
        ("scheme", "ftp".to_owned()),
        ("scheme", "file".to_owned()),
    ] {
        let ended = attempt_request(&server, attempt, &text).await;
        assert_ne!(ended, "200", "{attempt} {text}");
    }
    assert_eq!((server.requests().len(), other.requests().len()), (0, 0));
    assert_eq!(attempt_request(&server, "path", "/a").await, "200");
}

#[tokio::test]
async fn a_call_ends_even_if_its_request_is_abandoned_or_unfinished() {
    let server = HttpServer::page("");
    assert_eq!(attempt_request(&server, "abandoned", "").await, "abandoned");
    // Whether the server gets an empty body or a broken one depends on timing.
    assert!(attempt_request(&server, "unfinished", "").await.is_string());
}

#[tokio::test]
async fn a_request_to_a_slow_server_fails_with_a_timeout_that_is_retryable() {
    let server = HttpServer::start(|_| {
        std::thread::sleep(std::time::Duration::from_secs(60));
        Vec::new()
    });
    let arguments = json!({"url": server.url("/"), "timeout_ms": 50});
    let (code, _, retryable) = error(&call(components::FETCHES, private_grant(&server), arguments).await);
    assert_eq!((code.as_str(), retryable), ("Timeout", true));
}

#[tokio::test]
async fn a_call_whose_server_never_answers_ends_at_its_time_limit() {
    let server = HttpServer::start(|_| {
        std::thread::sleep(std::time::Duration::from_secs(60));
        Vec::new()
    });
    let limits = Limits {
        timeout_ms: 300,
        ..Limits::EXECUTE
    };
    let outcome = call_with_limits(
        components::FETCHES,
        private_grant(&server),
        json!({"url": server.url("/")}),
        limits,
    )
    .await;
    assert_eq!(outcome.ending.name(), "timeout");
}

#[tokio::test]
async fn a_response_over_the_size_limit_is_an_error() {
    // The limit is 5 MiB.
    let server = HttpServer::start(|_| response(200, &[], &vec![b'x'; 6 << 20]));
    let (code, message, _) = error(
        &call(
            components::FETCHES,
            private_grant(&server),
            json!({"url": server.url("/")}),
        )
        .await,
    );
    assert_eq!(code, "IoError");
    assert!(message.contains("has more than 5242880 bytes"), "{message}");
}

#[tokio::test]
async fn bytes_of_responses_cost_fuel() {
    let size = 1 << 20;
    let server = HttpServer::start(move |_| response(200, &[], &vec![b'x'; size]));
    let limits = Limits {
        fuel: size as u64,
        ..Limits::EXECUTE
    };
    let outcome = call_with_limits(
        components::FETCHES,
        private_grant(&server),
        json!({"url": server.url("/")}),
        limits,
    )
    .await;
    assert_eq!(outcome.ending.name(), "fuel_exhausted");
}

#[tokio::test]
async fn a_call_sends_sixteen_requests_at_most() {
    let server = HttpServer::page("");
    let arguments = json!({"url": server.url("/"), "times": 17});
    let outcome = call(components::FETCHES, private_grant(&server), arguments).await;
    assert_eq!((error(&outcome).0.as_str(), server.requests().len()), ("IoError", 16));
    assert_eq!(outcome.usage.http_requests, 16);
}

/// Makes a call, and replays it from its record and without a grant. Asserts that both outcomes are the same apart from times,
/// traffic and the used grants, and that the replay sent nothing to the server. Returns the recorded outcome.
async fn assert_replays(component: &'static str, server: &HttpServer, arguments: Value) -> Outcome {
    let earlier_requests = server.requests().len();
    let recorded = call(component, private_grant(server), arguments.clone()).await;
    let expected_requests = earlier_requests + usize::try_from(recorded.usage.http_requests).unwrap();
    // Waits up to two seconds, since a call that gives up its request may end before the server has read the request.
    let mut waits = (0..200).map(|_| std::thread::sleep(Duration::from_millis(10)));
    waits.any(|()| server.requests().len() >= expected_requests);
    let requests_before_replay = server.requests().len();
    let again = CheckedCall::for_test(tool_call(arguments), Limits::EXECUTE);
    let replayed = guest(component).replay(&again, &recorded.intake).unwrap().await;
    assert_eq!(replayed.divergence, None);
    let without_traffic = |mut outcome: Outcome| {
        (outcome.usage.http_requests, outcome.usage.http_bytes) = (0, 0);
        without_times_and_used_grants(outcome)
    };
    assert_eq!(without_traffic(replayed.outcome), without_traffic(recorded.clone()));
    assert_eq!(server.requests().len(), requests_before_replay);
    recorded
}

#[tokio::test]
async fn a_replayed_call_gets_every_response_from_its_record_and_sends_nothing() {
    let text = "x".repeat(300_000);
    let body = text.clone();
    let server = HttpServer::start(move |request| match request {
        request if request.starts_with("GET /missing") => response(404, &[], b"no"),
        _ => response(200, &[("x-version", "7")], body.as_bytes()),
    });
    let page = assert_replays(
        components::FETCHES,
        &server,
        json!({"url": server.url("/"), "times": 3}),
    )
    .await;
    assert_eq!((&output(&page)["text"], page.usage.http_requests), (&json!(text), 3));
    let posted = json!({"url": server.url("/"), "method": "POST", "body": "b".repeat(100_000)});
    assert_eq!(
        output(&assert_replays(components::FETCHES, &server, posted).await)["status"],
        200
    );
    let missing = assert_replays(components::FETCHES, &server, json!({"url": server.url("/missing")})).await;
    assert_eq!(output(&missing)["status"], 404);
}

#[tokio::test]
async fn a_replayed_call_gets_the_errors_of_its_requests_from_its_record() {
    let broken = HttpServer::start(|_| b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort".to_vec());
    let cut = assert_replays(components::FETCHES, &broken, json!({"url": broken.url("/")})).await;
    assert_eq!(cut.ending.name(), "failure");
    let server = HttpServer::page("");
    let denied = assert_replays(components::FETCHES, &server, json!({"url": "http://other.example/"})).await;
    assert_eq!((denied.ending.name(), denied.denials.len()), ("failure", 1));
    for attempt in ["trailers", "unfinished", "abandoned", "path", "method"] {
        let arguments = json!({"attempt": attempt, "authority": server.authority(), "text": "x-test"});
        assert_replays(components::RAW_REQUESTS, &server, arguments).await;
    }
}
