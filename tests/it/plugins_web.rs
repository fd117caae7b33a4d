//! The first-party plugins that send requests, run through the program against a server on this machine.

use serde_json::{Value, json};

use crate::harness::components;
use crate::home::Home;
use crate::http_server::{HttpServer, response};
use crate::program::CommandOutput;

/// Returns a home with one first-party tool.
fn home_with(tool: &str) -> Home {
    let home = Home::empty();
    let mut plugins = components::PLUGINS.iter();
    let (_, component) = plugins.find(|(name, _)| *name == tool).unwrap();
    home.add(tool, component);
    home
}

fn call(home: &Home, tool: &str, arguments: &Value) -> CommandOutput {
    home.art(&["--json", "tool", "call", tool, &arguments.to_string()])
}

/// Runs `art grant add` with these arguments. `--private` allows the address of the test server, 127.0.0.1, which is not public.
fn grant(home: &Home, args: &[&str]) {
    let added = home.art(&[&["grant", "add"], args].concat());
    assert_eq!(added.code(), 0, "{added}");
}

/// Starts a server with one page, `/page`, to which `/old` redirects. `/moved` redirects to another site.
fn page_server() -> HttpServer {
    HttpServer::start(|request| match request {
        request if request.starts_with("GET /moved") => response(301, &[("location", "https://other.example/")], b""),
        request if request.starts_with("GET /old") => response(302, &[("location", "/page")], b""),
        request if request.contains("if-none-match: \"v1\"") => response(304, &[], b""),
        _ => {
            let headers = [("content-type", "text/html"), ("etag", "\"v1\"")];
            response(
                200,
                &headers,
                b"<title>News</title><h1>Today</h1><p>Hello <b>you</b>.<h2>Later</h2>",
            )
        }
    })
}

#[test]
fn http_fetch_sends_nothing_without_a_grant_and_the_denial_names_the_grant() {
    let (home, server) = (home_with("http_fetch"), page_server());
    let denied = call(&home, "http_fetch", &json!({"url": server.url("/page")}));
    assert_eq!(denied.code(), 5, "{denied}");
    let result = &denied.json()["result"];
    assert_eq!(result["code"], "PERMISSION_DENIED", "{denied}");
    let command = result["metadata"]["denials"][0]["command"].as_str().unwrap();
    assert!(
        command.starts_with(&format!("art grant add http_fetch --http {}", server.url("/"))),
        "{command}"
    );
    assert_eq!(server.requests(), Vec::<String>::new());
}

#[test]
fn http_fetch_follows_a_redirect_within_a_site_and_returns_the_headings_of_the_page() {
    let (home, server) = (home_with("http_fetch"), page_server());
    grant(&home, &["http_fetch", "--http", &server.url("/"), "--private"]);
    let fetched = call(
        &home,
        "http_fetch",
        &json!({"url": server.url("/old"), "only": "headings"}),
    );
    assert_eq!(fetched.code(), 0, "{fetched}");
    let output = &fetched.json()["result"]["output"];
    assert_eq!(output["url"], json!(server.url("/page")));
    assert_eq!(
        output["headings"],
        json!([{"level": 1, "text": "Today"}, {"level": 2, "text": "Later"}])
    );
}

#[test]
fn http_fetch_follows_no_redirect_to_another_site_and_asks_whether_a_page_changed() {
    let (home, server) = (home_with("http_fetch"), page_server());
    grant(&home, &["http_fetch", "--http", &server.url("/"), "--private"]);
    let moved = call(&home, "http_fetch", &json!({"url": server.url("/moved")}));
    assert_eq!(
        moved.json()["result"]["output"]["redirect"],
        "https://other.example/",
        "{moved}"
    );
    let unchanged = call(
        &home,
        "http_fetch",
        &json!({"url": server.url("/page"), "etag": "\"v1\""}),
    );
    assert_eq!(
        unchanged.json()["result"]["output"]["not_modified"],
        true,
        "{unchanged}"
    );
}

#[test]
fn http_fetch_returns_the_beginning_of_a_page_over_the_limit_and_says_so() {
    // The limit is 5 MiB. These pages are over it as they are sent, or only by their tags.
    let endless = format!("<title>News</title><p>Hello<script>{}</script>", "x".repeat(6 << 20));
    let tags = format!(
        "<title>News</title><p>Hello</p>{}",
        "<li><a href=/a>b</a></li>".repeat(200_000)
    );
    for (page, reason) in [(endless, "more than 5242880 bytes"), (tags, "more than 60000 tags")] {
        let server = HttpServer::start(move |_| response(200, &[("content-type", "text/html")], page.as_bytes()));
        let home = home_with("http_fetch");
        grant(&home, &["http_fetch", "--http", &server.url("/"), "--private"]);
        let fetched = call(&home, "http_fetch", &json!({"url": server.url("/"), "max_chars": 5}));
        assert_eq!(fetched.code(), 0, "{fetched}");
        let output = &fetched.json()["result"]["output"];
        assert_eq!(
            (&output["title"], &output["text"], &output["truncated"]),
            (&json!("News"), &json!("Hello"), &json!(true))
        );
        assert!(output["notes"].to_string().contains(reason), "{output}");
    }
}

#[test]
fn web_search_asks_the_service_that_the_operator_chose() {
    let reply = json!({"results": [{"url": "https://a.example/", "title": "A", "content": "about a"}]}).to_string();
    let server = HttpServer::start(move |_| response(200, &[("content-type", "application/json")], reply.as_bytes()));
    let home = home_with("web_search");
    let ungranted = call(&home, "web_search", &json!({"query": "a b"}));
    assert_eq!(ungranted.code(), 5, "{ungranted}");
    assert!(
        ungranted.json().to_string().contains("art grant add web_search --http"),
        "{ungranted}"
    );
    let service = format!("SEARCH_URL={}", server.url("/search"));
    grant(
        &home,
        &["web_search", "--http", &server.url("/"), "--private", "--env", &service],
    );
    let found = call(&home, "web_search", &json!({"query": "a b"}));
    assert_eq!(found.code(), 0, "{found}");
    let found_page = json!({"title": "A", "url": "https://a.example/", "snippet": "about a"});
    assert_eq!(
        found.json()["result"]["output"],
        json!({"results": [found_page], "count": 1})
    );
    assert!(
        server.requests()[0].starts_with("GET /search?q=a+b&format=json "),
        "{:?}",
        server.requests()
    );
}

#[test]
fn web_search_sends_nothing_to_an_address_that_is_not_granted() {
    let (home, server) = (home_with("web_search"), HttpServer::page("[]"));
    let service = format!("SEARCH_URL={}", server.url("/search"));
    grant(
        &home,
        &["web_search", "--http", "https://other.example/", "--env", &service],
    );
    let denied = call(&home, "web_search", &json!({"query": "x"}));
    assert_eq!(denied.code(), 5, "{denied}");
    assert!(
        denied.json().to_string().contains("art grant add web_search --http"),
        "{denied}"
    );
    assert_eq!(server.requests(), Vec::<String>::new());
}

/// Calls `web_search` with a service that sends this response.
fn search_with(answer: Vec<u8>) -> CommandOutput {
    let server = HttpServer::start(move |_| answer.clone());
    let home = home_with("web_search");
    let service = format!("SEARCH_URL={}", server.url("/search"));
    grant(
        &home,
        &["web_search", "--http", &server.url("/"), "--private", "--env", &service],
    );
    call(&home, "web_search", &json!({"query": "x", "limit": 2}))
}

#[test]
fn web_search_returns_the_results_in_the_beginning_of_a_reply_over_the_limit() {
    let result = json!({"title": "A", "url": "https://a.example/", "content": "about a", "engines": ["e"]});
    let reply = json!({"results": vec![result; 80_000]}).to_string();
    assert!(reply.len() > (5 << 20));
    let found = search_with(response(200, &[("content-type", "application/json")], reply.as_bytes()));
    assert_eq!(found.code(), 0, "{found}");
    assert_eq!(found.json()["result"]["output"]["count"], 2);
}

#[test]
fn the_error_of_web_search_quotes_what_the_service_says() {
    let failed = search_with(response(400, &[], b"{\"error\": \"no such language\"}"));
    let error = failed.json()["result"]["error"].to_string();
    assert!(
        error.contains("status 400") && error.contains("no such language"),
        "{failed}"
    );
}
