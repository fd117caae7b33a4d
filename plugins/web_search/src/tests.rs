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

/// Searches with a service that returns this text.
fn search_with_text(text: String, limit: usize) -> Result<WebSearchOutput> {
    answer_http(move |_| Ok(Response::new(200, text.clone())));
    search("https://search.example/search", &WebSearchInput { limit, ..input("x") })
}

#[test]
fn the_results_in_the_beginning_of_a_reply_over_the_limit_are_returned() {
    let long_text = "x".repeat(2 << 20);
    let result =
        |n: u32| json!({"title": format!("{n}"), "url": format!("https://{n}.example/"), "content": long_text});
    let reply = json!({"query": "x", "results": [result(1), result(2), result(3), result(4)]}).to_string();
    let output = search_with_text(reply.clone(), 10).unwrap();
    let urls: Vec<_> = output.results.iter().map(|result| result.url.as_str()).collect();
    assert_eq!(urls, ["https://1.example/", "https://2.example/"]);
    assert!(
        output.notes[0].contains("more than 5242880 bytes: these are the results in its beginning"),
        "{:?}",
        output.notes
    );
    // Nothing is missing if the beginning has as many results as were asked for.
    let output = search_with_text(reply, 2).unwrap();
    assert_eq!((output.count, output.notes), (2, Vec::new()));
}

#[test]
fn a_long_reply_is_read_only_as_far_as_it_is_needed() {
    let long_text = "x".repeat(500 << 10);
    let result =
        |n: u32| json!({"title": format!("{n}"), "url": format!("https://{n}.example/"), "content": long_text});
    let reply = json!([result(1), result(2), result(3)]).to_string().replace("]", "!");
    // The beginning of 1 MiB has two results.
    assert_eq!(search_with_text(reply.clone(), 2).unwrap().count, 2);
    assert!(search_with_text(reply, 3).is_err());
}

#[test]
fn a_reply_over_the_limit_without_results_in_its_beginning_says_what_happened() {
    let long_text = "x".repeat(6 << 20);
    let reply = json!({"info": [{}], "debug": long_text, "items": [{"title": "A", "url": "https://a.example/"}]});
    let error = search_with_text(reply.to_string(), 10).unwrap_err();
    assert_eq!(error.code, ErrorCode::ConfigError);
    assert!(
        error
            .message
            .contains("more than 5242880 bytes, and its beginning has no results"),
        "{error}"
    );
    let error = search_with_text(format!("<html>{long_text}"), 10).unwrap_err();
    assert!(error.message.contains("enable its JSON format"), "{error}");
}

#[test]
fn an_error_status_of_the_service_is_an_error() {
    answer_http(|_| Ok(Response::new(429, "")));
    let error = search("https://s.example/", &input("x")).unwrap_err();
    assert_eq!((error.code, error.retryable), (ErrorCode::RateLimited, true));
    answer_http(|_| Ok(Response::new(400, r#"{"error": "no such language"}"#)));
    let error = search("https://s.example/", &input("x")).unwrap_err();
    assert!(
        error.message.contains(r#"status 400: {"error": "no such language"}"#),
        "{error}"
    );
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
