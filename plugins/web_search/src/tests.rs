use art_sdk::http::Response;
use art_sdk::testing::{answer_http, failure};

use super::*;

fn input(query: &str) -> WebSearchInput {
    WebSearchInput {
        query: query.to_owned(),
        limit: 10,
    }
}

/// Searches with a service that returns this reply.
fn search_with_reply(reply: Value) -> Result<Vec<SearchResult>> {
    answer_http(move |_| Ok(Response::new(200, reply.to_string())));
    search("https://search.example/search", &input("x")).map(|output| output.results)
}

/// Creates an expected result.
fn page(title: &str, url: &str, snippet: Option<&str>) -> SearchResult {
    SearchResult {
        title: title.to_owned(),
        url: url.to_owned(),
        snippet: snippet.map(str::to_owned),
    }
}

#[test]
fn the_query_is_encoded_into_the_address_of_the_service() {
    let address = |service: &str| search_address(service, "a&b c").unwrap().to_string();
    assert_eq!(
        address("https://s.example/search"),
        "https://s.example/search?q=a%26b+c&format=json"
    );
    assert_eq!(
        address("https://s.example/?q={query}&n=5"),
        "https://s.example/?q=a%26b+c&n=5"
    );
    assert_eq!(
        address("https://s.example/x?key=1"),
        "https://s.example/x?key=1&q=a%26b+c&format=json"
    );
}

#[test]
fn the_reply_of_searxng_is_read() {
    let reply = json!({"query": "x", "results": [
        {"url": "https://a.example/", "title": "A", "content": "about a", "engine": "e"},
        {"url": "https://b.example/", "title": "B", "content": ""},
    ], "suggestions": ["y"]});
    let pages = [
        page("A", "https://a.example/", Some("about a")),
        page("B", "https://b.example/", None),
    ];
    assert_eq!(search_with_reply(reply).unwrap(), pages);
}

#[test]
fn replies_of_other_services_are_read() {
    let expected = [page("A", "https://a.example/", Some("about a"))];
    let nested = json!({"web": {"results": [{"url": "https://a.example/", "title": "A", "description": "about <strong>a</strong>"}]}});
    assert_eq!(search_with_reply(nested).unwrap(), expected);
    let items = json!({"items": [{"link": "https://a.example/", "title": "A", "snippet": "about\n a"}]});
    assert_eq!(search_with_reply(items).unwrap(), expected);
    let list = json!([{"href": "https://a.example/", "name": "A", "body": "about a"}]);
    assert_eq!(search_with_reply(list).unwrap(), expected);
}

#[test]
fn a_long_address_is_returned_whole_and_a_result_with_a_too_long_one_is_left_out() {
    let long = format!("https://a.example/?q={}", "x".repeat(1900));
    let too_long = format!("https://b.example/?q={}", "x".repeat(2000));
    let reply = json!({"results": [{"url": long, "title": "A"}, {"url": too_long, "title": "B"}]});
    assert_eq!(search_with_reply(reply).unwrap(), [page("A", &long, None)]);
}

#[test]
fn items_without_a_title_or_a_web_address_are_left_out() {
    let reply = json!({"results": [
        {"url": "javascript:alert(1)", "title": "A"},
        {"url": "https://b.example/"},
        {"url": "https://c.example/", "title": "C"},
    ]});
    assert_eq!(
        search_with_reply(reply).unwrap(),
        [page("C", "https://c.example/", None)]
    );
}

#[test]
fn an_empty_list_of_results_is_no_error_but_an_unexpected_reply_is() {
    assert_eq!(search_with_reply(json!({"results": []})).unwrap(), []);
    assert_eq!(
        search_with_reply(json!({"error": "x"})).unwrap_err().code,
        ErrorCode::ConfigError
    );
    answer_http(|_| Ok(Response::new(200, "<html>")));
    let error = search("https://s.example/", &input("x")).unwrap_err();
    assert!(error.message.contains("enable its JSON format"), "{error}");
}

#[test]
fn an_error_status_of_the_service_is_an_error() {
    answer_http(|_| Ok(Response::new(429, "")));
    let error = search("https://s.example/", &input("x")).unwrap_err();
    assert_eq!((error.code, error.retryable), (ErrorCode::RateLimited, true));
}

#[test]
fn the_number_of_results_is_limited() {
    let result = |n: u32| json!({"url": format!("https://a.example/{n}"), "title": "A"});
    let reply = json!({"results": (0..20).map(result).collect::<Vec<_>>()});
    answer_http(move |_| Ok(Response::new(200, reply.to_string())));
    let count = |limit| {
        let input = WebSearchInput { limit, ..input("x") };
        search("https://s.example/", &input).unwrap().count
    };
    assert_eq!((count(3), count(50)), (3, 20));
}

#[test]
fn without_a_service_the_error_names_the_command_that_sets_one() {
    let error = failure(&WEB_SEARCH, json!({"query": "x"}));
    assert_eq!(error.code, ErrorCode::ConfigError);
    assert!(error.message.contains("art grant add web_search --http"), "{error}");
}

#[test]
fn an_empty_query_is_refused() {
    let error = failure(&WEB_SEARCH, json!({"query": " "}));
    assert!(error.message.contains("say what to search for"), "{error}");
}

#[test]
fn a_service_without_a_valid_address_is_an_error() {
    let error = search_address("search", "x").unwrap_err();
    assert!(error.message.contains("is no address"), "{error}");
}

#[test]
fn a_request_says_who_sends_it() {
    answer_http(|request| {
        let agent = request.headers().iter().find(|(name, _)| name == "user-agent");
        assert_eq!(agent.unwrap().1, "art-web-search/0.1.0");
        Ok(Response::new(200, r#"{"results":[]}"#))
    });
    search("https://s.example/", &input("x")).unwrap();
}
