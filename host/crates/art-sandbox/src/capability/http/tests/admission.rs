//! Which requests are sent: those that a grant allows, within the limits of a call. Redirects are not followed.

use serde_json::json;

use super::*;
use crate::capability::http::limits::{MAX_OPEN_REQUESTS, MAX_REQUESTS};

#[tokio::test]
async fn a_granted_request_is_sent_and_answered() {
    let server = Server::with_page();
    let mut call = Call::to(&server);
    let page = call.get(&server.url("/a?q=1")).await.unwrap();
    assert_eq!((page.status, page.body.as_slice()), (200, &b"hello"[..]));
    assert_eq!(call.denials(), []);
    assert_eq!(call.sender.gate.admitted_requests(), 1);
    assert_eq!(call.sender.traffic.bytes(), "hello".len() as u64);
}

#[tokio::test]
async fn a_host_without_a_grant_is_neither_looked_up_nor_connected_to() {
    let server = Server::with_page();
    let mut call = Call::new(json!([full_grant("https://granted.example/")]), TestResolver::default());
    // Looking up this name would be enough to send data: its first label encodes the data, and the name server of
    // `evil.example` would see it.
    let url_with_data = "http://ORSXG5A.evil.example/".to_owned();
    for url in [server.url("/"), url_with_data] {
        assert!(matches!(call.get(&url).await, Err(Error::HttpRequestDenied)));
    }
    assert_eq!((server.connections(), call.resolver.lookups()), (0, Vec::new()));
    let commands: Vec<_> = call.denials().into_iter().filter_map(|denial| denial.command).collect();
    assert_eq!(
        commands,
        [
            format!("art grant add fetch --http {} --private", server.url("/")),
            "art grant add fetch --http http://orsxg5a.evil.example/".to_owned()
        ]
    );
}

#[tokio::test]
async fn a_grant_allows_only_its_scheme_port_path_and_methods() {
    let server = Server::with_page();
    let port = server.address.port();
    let grant = json!([{"url": server.url("/api"), "private": true}]);
    let refused = [
        ("GET", format!("https://127.0.0.1:{port}/api")),
        ("GET", "http://127.0.0.1/api".to_owned()),
        ("GET", "http://127.0.0.1:22/api".to_owned()),
        ("GET", server.url("/")),
        ("GET", server.url("/apis")),
        ("GET", server.url("/api/../admin")),
        ("GET", server.url("/api/%2e%2e/admin")),
        ("POST", server.url("/api")),
        ("get", server.url("/api")),
        ("CONNECT", server.url("/api")),
        ("TRACE", server.url("/api")),
    ];
    for (method, url) in refused {
        let mut call = Call::new(grant.clone(), TestResolver::default());
        let error = call.send(request(method, &url, "")).await.unwrap_err();
        assert!(matches!(error, Error::HttpRequestDenied), "{method} {url}: {error}");
        assert_eq!(call.denials().len(), 1, "{method} {url}");
    }
    assert_eq!(server.connections(), 0);
    let mut call = Call::new(grant, TestResolver::default());
    call.get(&server.url("/api/x")).await.unwrap();
}

/// Sends a request, and returns the reason of its denial.
async fn reason_of_denial(call: &mut Call, request: Request<WasiBody>) -> String {
    let sent = call.send(request).await;
    assert!(matches!(sent, Err(Error::HttpRequestDenied)), "{sent:?}");
    let denials = call.denials();
    let [denial] = &denials[..] else { panic!("{denials:?}") };
    denial.reason.clone()
}

#[tokio::test]
async fn an_encoded_slash_is_sent_as_written_where_the_grant_covers_the_whole_host_and_denied_under_a_path() {
    let server = Server::with_page();
    for path in ["/a%2Fb", "/a%2fb?c=d%2Fe", "/a%5Cb", "/a%252Fb"] {
        let mut call = Call::to(&server);
        call.get(&server.url(path)).await.unwrap();
        assert!(server.received().pop().unwrap().starts_with(&format!("GET {path} ")));
    }
    let sent = server.connections();
    let grant = json!([full_grant(&server.url("/api"))]);
    for (path, separator) in [
        ("/api/a%2Fb", "%2F"),
        ("/api/a%5cb", "%5c"),
        ("/api/a%252Fb", "%252F"),
        ("/api/a%c0%afb", "%c0"),
    ] {
        let mut call = Call::new(grant.clone(), TestResolver::default());
        let reason = reason_of_denial(&mut call, get_request(&server.url(path))).await;
        assert_eq!(
            reason,
            format!("its path has `{separator}`, which is sent only where a grant covers the whole host")
        );
    }
    assert_eq!(server.connections(), sent);
}

#[tokio::test]
async fn a_disguised_parent_is_denied_whatever_the_grant() {
    let server = Server::with_page();
    for (path, segment) in [
        ("/api/..;/admin", "..;"),
        ("/api/..;v=1/admin", "..;v=1"),
        ("/api/..%3b/admin", "..%3b"),
        ("/api/%2e%2e;/admin", "%2e%2e;"),
        ("/api/%252e%252e/admin", "%252e%252e"),
        ("/api/..%2fadmin", "..%2fadmin"),
        ("/api/..%5cadmin", "..%5cadmin"),
    ] {
        for scope in ["/", "/api"] {
            let mut call = Call::new(json!([full_grant(&server.url(scope))]), TestResolver::default());
            let reason = reason_of_denial(&mut call, get_request(&server.url(path))).await;
            assert_eq!(
                reason,
                format!("its path has `{segment}`, which servers may take for `..`")
            );
        }
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_request_that_replaces_its_method_path_or_host_is_denied_where_the_grant_is_limited() {
    let server = Server::with_page();
    let limited = [
        json!({"url": server.url("/"), "methods": ["GET", "POST"], "private": true}),
        full_grant(&server.url("/api")),
    ];
    for grant in limited {
        for name in [
            "x-http-method-override",
            "x-http-method",
            "x-method-override",
            "x_http_method_override",
            "x-original-url",
            "x-rewrite-url",
            "x-forwarded-host",
            "x-forwarded-prefix",
            "forwarded",
            "x-host",
            "x-accel-redirect",
        ] {
            let mut call = Call::new(json!([grant]), TestResolver::default());
            let mut request = request("POST", &server.url("/api"), "");
            request
                .headers_mut()
                .insert(name, http::HeaderValue::from_static("DELETE"));
            let reason = reason_of_denial(&mut call, request).await;
            let expected =
                format!("the header `{name}` can make the server answer another request than the granted one");
            assert_eq!(reason, expected);
        }
        for name in ["_method", "%5Fmethod", "X-HTTP-Method-Override"] {
            let mut call = Call::new(json!([grant]), TestResolver::default());
            let request = request("POST", &server.url(&format!("/api?a=b&{name}=DELETE")), "");
            let reason = reason_of_denial(&mut call, request).await;
            assert!(reason.starts_with("the parameter `"), "{reason}");
        }
        assert_eq!(server.connections(), 0);
    }
    let mut call = Call::to(&server);
    let mut request = request("POST", &server.url("/api?_method=DELETE"), "");
    request
        .headers_mut()
        .insert("x-original-url", http::HeaderValue::from_static("/b"));
    call.send(request).await.unwrap();
    assert!(server.received().pop().unwrap().contains("x-original-url: /b"));
}

#[tokio::test]
async fn a_wildcard_stands_for_at_least_one_whole_label() {
    let resolver = TestResolver::default();
    for host in ["evilgood.example", "good.example", "good.example.evil.example"] {
        let mut call = Call::new(json!([{"url": "http://*.good.example/"}]), resolver.clone());
        let sent = call.get(&format!("http://{host}/")).await;
        assert!(matches!(sent, Err(Error::HttpRequestDenied)), "{host}");
    }
    assert_eq!(resolver.lookups(), Vec::<String>::new());
    // This request is allowed, so the name is looked up; the resolver does not know it.
    let mut call = Call::new(json!([{"url": "http://*.good.example/"}]), resolver.clone());
    assert!(matches!(
        call.get("http://a.good.example/").await,
        Err(Error::DnsError { .. })
    ));
    assert_eq!(resolver.lookups(), ["a.good.example"]);
}

#[tokio::test]
async fn a_guest_gets_the_same_error_whatever_the_reason_of_a_denial() {
    let mut errors = Vec::new();
    // The first URL has no grant. The other two have one, but the address of the host is not public.
    for (url, resolver) in [
        ("http://unknown.example/", TestResolver::default()),
        (
            "http://loopback.example/",
            TestResolver::default().with_answers("loopback.example", &[&["127.0.0.1"]]),
        ),
        ("http://10.0.0.1/", TestResolver::default()),
    ] {
        let grants = json!([{"url": "http://loopback.example/"}, {"url": "http://10.0.0.1/"}]);
        errors.push(Call::new(grants, resolver).get(url).await.unwrap_err().to_string());
    }
    assert_eq!(errors, ["HTTP request denied"; 3]);
}

#[tokio::test]
async fn no_redirect_is_followed() {
    let redirect_target = Server::with_page();
    for status in [301, 302, 303, 307, 308] {
        let location = redirect_target.url("/secret");
        let redirecting = Server::with_response(format!(
            "HTTP/1.1 {status} Moved\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n"
        ));
        let page = Call::to(&redirecting).get(&redirecting.url("/")).await.unwrap();
        assert_eq!(
            (page.status, page.headers["location"].to_str().unwrap()),
            (status, &*location)
        );
    }
    assert_eq!(redirect_target.connections(), 0);
}

#[tokio::test]
async fn a_call_sends_at_most_the_maximum_number_of_requests() {
    let server = Server::with_page();
    let mut call = Call::to(&server);
    for _ in 0..MAX_REQUESTS {
        call.get(&server.url("/")).await.unwrap();
    }
    assert!(matches!(
        call.get(&server.url("/")).await,
        Err(Error::ConnectionLimitReached)
    ));
    assert_eq!(server.connections() as u64, MAX_REQUESTS);
}

#[tokio::test]
async fn at_most_the_maximum_number_of_requests_are_open_at_once() {
    let server = Server::with_page();
    let mut call = Call::to(&server);
    let mut open = Vec::new();
    for _ in 0..MAX_OPEN_REQUESTS {
        open.push(call.start(get_request(&server.url("/"))).await.unwrap());
    }
    assert!(matches!(
        call.get(&server.url("/")).await,
        Err(Error::ConnectionLimitReached)
    ));
    read_page(open.remove(0)).await.unwrap();
    call.get(&server.url("/")).await.unwrap();
}

#[tokio::test]
async fn a_sender_without_a_network_sends_nothing() {
    let server = Server::with_page();
    let mut call = Call::to(&server);
    call.sender = Sender::new(
        call_grants(json!([full_grant(&server.url("/"))])),
        Secrets::none(),
        None,
    );
    assert!(matches!(
        call.get(&server.url("/")).await,
        Err(Error::HttpRequestDenied)
    ));
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_gate_denies_even_granted_requests() {
    // A gate checks requests and cannot send them. It takes the place of the sender for a guest that may send nothing.
    let server = Server::with_page();
    let mut call = Call::to(&server);
    let request = get_request(&server.url("/"));
    let sending = call
        .sender
        .gate
        .send_request(request, None, Box::new(std::future::ready(Ok(()))));
    assert!(matches!(Box::into_pin(sending).await, Err(Error::HttpRequestDenied)));
    assert_eq!(server.connections(), 0);
}
