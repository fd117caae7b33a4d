//! Which requests are sent (F02 to F06, F09, F13, F15, F16).

use serde_json::json;

use super::*;

#[tokio::test]
async fn a_granted_request_is_sent_and_answered() {
    let server = Server::page();
    let mut call = Call::to(&server);
    let page = call.get(&server.url("/a?q=1")).await.unwrap();
    assert_eq!((page.status, page.body.as_slice()), (200, &b"hello"[..]));
    assert_eq!(call.denials(), []);
    assert_eq!((call.sender.gate.requests(), call.sender.traffic.bytes()), (1, 5));
}

#[tokio::test]
async fn a_host_without_a_grant_is_neither_looked_up_nor_connected_to() {
    let server = Server::page();
    let mut call = Call::new(json!([everything("https://granted.example/")]), Names::default());
    for url in [server.url("/"), "http://ORSXG5A.evil.example/".to_owned()] {
        assert!(matches!(call.get(&url).await, Err(Error::HttpRequestDenied)));
    }
    assert_eq!((server.connections(), call.names.lookups()), (0, Vec::new()));
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
async fn scheme_port_path_and_method_belong_to_a_grant() {
    let server = Server::page();
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
        let mut call = Call::new(grant.clone(), Names::default());
        let error = call.send(request(method, &url, "")).await.unwrap_err();
        assert!(matches!(error, Error::HttpRequestDenied), "{method} {url}: {error}");
        assert_eq!(call.denials().len(), 1, "{method} {url}");
    }
    assert_eq!(server.connections(), 0);
    let mut call = Call::new(grant, Names::default());
    call.get(&server.url("/api/x")).await.unwrap();
}

#[tokio::test]
async fn a_wildcard_stands_for_whole_labels() {
    let names = Names::default();
    for host in ["evilgood.example", "good.example", "good.example.evil.example"] {
        let mut call = Call::new(json!([{"url": "http://*.good.example/"}]), names.clone());
        let sent = call.get(&format!("http://{host}/")).await;
        assert!(matches!(sent, Err(Error::HttpRequestDenied)), "{host}");
    }
    assert_eq!(names.lookups(), [""; 0]);
    let mut call = Call::new(json!([{"url": "http://*.good.example/"}]), names.clone());
    assert!(matches!(
        call.get("http://a.good.example/").await,
        Err(Error::DnsError { .. })
    ));
    assert_eq!(names.lookups(), ["a.good.example"]);
}

#[tokio::test]
async fn every_denial_is_the_same_error() {
    let mut errors = Vec::new();
    for (url, names) in [
        ("http://unknown.example/", Names::default()),
        (
            "http://loopback.example/",
            Names::default().with("loopback.example", &[&["127.0.0.1"]]),
        ),
        ("http://10.0.0.1/", Names::default()),
    ] {
        let grants = json!([{"url": "http://loopback.example/"}, {"url": "http://10.0.0.1/"}]);
        errors.push(Call::new(grants, names).get(url).await.unwrap_err().to_string());
    }
    assert_eq!(errors, ["HTTP request denied"; 3]);
}

#[tokio::test]
async fn no_redirect_is_followed() {
    let target = Server::page();
    for status in [301, 302, 303, 307, 308] {
        let location = target.url("/secret");
        let origin = Server::answering(format!(
            "HTTP/1.1 {status} Moved\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n"
        ));
        let page = Call::to(&origin).get(&origin.url("/")).await.unwrap();
        assert_eq!(
            (page.status, page.headers["location"].to_str().unwrap()),
            (status, &*location)
        );
    }
    assert_eq!(target.connections(), 0);
}

#[tokio::test]
async fn a_call_sends_a_bounded_number_of_requests() {
    let server = Server::page();
    let mut call = Call::to(&server);
    for _ in 0..16 {
        call.get(&server.url("/")).await.unwrap();
    }
    assert!(matches!(
        call.get(&server.url("/")).await,
        Err(Error::ConnectionLimitReached)
    ));
    assert_eq!(server.connections(), 16);
}

#[tokio::test]
async fn four_requests_are_open_at_once() {
    let server = Server::page();
    let mut call = Call::to(&server);
    let mut open = Vec::new();
    for _ in 0..4 {
        open.push(call.start(get(&server.url("/"))).await.unwrap());
    }
    assert!(matches!(
        call.get(&server.url("/")).await,
        Err(Error::ConnectionLimitReached)
    ));
    read(open.remove(0)).await.unwrap();
    call.get(&server.url("/")).await.unwrap();
}

#[tokio::test]
async fn a_sender_without_a_network_sends_nothing() {
    let server = Server::page();
    let mut call = Call::to(&server);
    call.sender = Sender::new(
        call_grants(json!([everything(&server.url("/"))])),
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
async fn a_gate_denies_also_what_is_granted() {
    let server = Server::page();
    let mut call = Call::to(&server);
    let request = get(&server.url("/"));
    let sending = call
        .sender
        .gate
        .send_request(request, None, Box::new(std::future::ready(Ok(()))));
    assert!(matches!(Box::into_pin(sending).await, Err(Error::HttpRequestDenied)));
    assert_eq!(server.connections(), 0);
}
