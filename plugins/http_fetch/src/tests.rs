use art_sdk::http::Response;
use art_sdk::testing::{answer_http, failure, output};

use super::*;

const PAGE: &str = r##"<!DOCTYPE html><html lang="en"><head><title> The  News </title>
<meta name="description" content="What is new."><style>p { color: red }</style></head>
<body><nav><a href="/menu">Menu</a></nav><main><h1>News</h1><p>Hello <b>big</b> world,
it is&nbsp;<i>late</i>.</p><h2>More</h2><ul><li>one</li><li><p>two</p></li></ul>
<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table><pre>x
  y</pre><p><a href="next?p=2#top">Next</a> <a href="next?p=2">again</a> <a href="mailto:a@b.example">Mail</a></p>
<script>evil()</script><p hidden>secret</p></main><footer>end</footer></body></html>"##;

fn html(body: &str) -> Response {
    Response::new(200, body.to_owned()).with_header("content-type", "text/html; charset=utf-8")
}

/// Calls the tool with `input` and with the address of a server that answers with `response`.
fn fetch(response: Response, mut input: Value) -> Value {
    answer_http(move |_| Ok(response.clone()));
    input["url"] = json!("https://example.com/news/");
    output(&HTTP_FETCH, input)
}

#[test]
fn a_page_is_returned_as_readable_text_with_its_title_and_headings() {
    let page = fetch(html(PAGE), json!({}));
    assert_eq!((&page["title"], &page["language"]), (&json!("The News"), &json!("en")));
    assert_eq!(page["description"], "What is new.");
    assert_eq!(
        page["headings"],
        json!([{"level": 1, "text": "News"}, {"level": 2, "text": "More"}])
    );
    let text =
        "# News\n\nHello big world, it is late.\n\n## More\n- one\n- two\n\na | b\n1 | 2\n\nx\n  y\n\nNext again Mail";
    assert_eq!(page["text"], text);
}

#[test]
fn a_line_of_only_dashes_or_bars_is_kept_only_in_preformatted_text() {
    let text = |body: &str| fetch(html(body), json!({}))["text"].clone();
    assert_eq!(text("<pre>a\n---</pre><p>b"), "a\n---\n\nb");
    assert_eq!(text("<pre>| |</pre>"), "| |");
    // The empty list item would be a line with only a dash.
    assert_eq!(text("<p>a<ul><li></ul>b"), "a\n\nb");
}

#[test]
fn only_the_part_that_was_asked_for_is_returned() {
    let headings = fetch(html(PAGE), json!({"only": "headings"}));
    assert_eq!((headings.get("text"), headings.get("title")), (None, None));
    assert_eq!(headings["headings"].as_array().unwrap().len(), 2);
    // The links of the page to the same address again and to an e-mail address are left out.
    let links = fetch(html(PAGE), json!({"only": "links"}));
    let expected = json!([
        {"text": "Menu", "url": "https://example.com/menu"},
        {"text": "Next", "url": "https://example.com/news/next?p=2"},
    ]);
    assert_eq!(links["links"], expected);
}

#[test]
fn a_long_text_is_cut_and_skip_chars_returns_the_rest() {
    let first = fetch(html("<p>abcdef"), json!({"max_chars": 4}));
    assert_eq!((&first["text"], &first["truncated"]), (&json!("abcd"), &json!(true)));
    assert!(
        first["notes"][0].as_str().unwrap().contains("`skip_chars` to 4"),
        "{first}"
    );
    let rest = fetch(html("<p>abcdef"), json!({"max_chars": 4, "skip_chars": 4}));
    assert_eq!((&rest["text"], &rest["truncated"]), (&json!("ef"), &json!(false)));
}

#[test]
fn a_json_body_is_returned_as_a_value_unless_it_is_invalid_or_too_long() {
    let json_response =
        |body: &str| Response::new(200, body.to_owned()).with_header("content-type", "application/json");
    assert_eq!(
        fetch(json_response(r#"{"a": [1]}"#), json!({}))["json"],
        json!({"a": [1]})
    );
    let broken = fetch(json_response("{"), json!({}));
    assert_eq!((&broken["text"], broken.get("json")), (&json!("{"), None));
    // Longer than `MAX_JSON_BYTES`, which is 256 KiB.
    let long = format!("[\"{}\"]", "x".repeat(300 << 10));
    assert_eq!(fetch(json_response(&long), json!({}))["truncated"], true);
    // Such a text is not parsed.
    let broken = fetch(json_response(&format!("{long}]")), json!({}));
    assert_eq!(broken["notes"][0], "the JSON has 307205 bytes and is returned as text");
}

#[test]
fn a_body_is_refused_only_if_the_content_encoding_header_names_a_compression() {
    for coding in ["", "identity", "Identity"] {
        let page = html("<p>Hello</p>").with_header("content-encoding", coding);
        assert_eq!(fetch(page, json!({}))["text"], "Hello", "{coding}");
    }
    answer_http(|_| Ok(html("").with_header("content-encoding", "gzip")));
    let error = failure(&HTTP_FETCH, json!({"url": "https://example.com/"}));
    assert!(error.message.contains("compressed with `gzip`"), "{error}");
}

/// Returns a text as gzip compresses it.
fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn gzipped(body: Vec<u8>) -> Response {
    Response::new(200, body)
        .with_header("content-type", "text/html")
        .with_header("Content-Encoding", "gzip")
}

#[test]
fn a_page_that_the_server_compresses_is_read() {
    assert_eq!(fetch(gzipped(gzip("<p>Hello")), json!({}))["text"], "Hello");
}

#[test]
fn a_compressed_page_that_is_broken_is_refused() {
    answer_http(|_| Ok(gzipped(b"<p>Hello".to_vec())));
    let error = failure(&HTTP_FETCH, json!({"url": "https://example.com/?key=1"}));
    let part = "the response of `https://example.com/` is no valid gzip";
    assert!(error.message.contains(part), "{error}");
}

/// Compresses a text with deflate.
fn deflate(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// Asserts that the output says that only the beginning of the content was read.
fn assert_says_truncated(page: &Value) {
    assert_eq!(page["truncated"], true);
    let notes = page["notes"].to_string();
    assert!(
        notes.contains("more than 5242880 bytes: only its beginning was read"),
        "{notes}"
    );
}

#[test]
fn the_beginning_of_a_page_over_the_limit_is_returned() {
    let long = format!(
        "<title>News</title><h1>Today</h1><p>Hello<!--{}-->",
        "x".repeat(6 << 20)
    );
    let html = |body: Vec<u8>, coding: &str| {
        Response::new(200, body)
            .with_header("content-type", "text/html")
            .with_header("content-encoding", coding)
    };
    for response in [
        html(long.clone().into_bytes(), "identity"),
        html(gzip(&long), "gzip"),
        html(deflate(&long), "deflate"),
    ] {
        let page = fetch(response, json!({}));
        assert_says_truncated(&page);
        assert_eq!(
            (&page["title"], &page["text"]),
            (&json!("News"), &json!("# Today\n\nHello"))
        );
    }
}

#[test]
fn the_beginning_of_a_page_with_too_many_tags_is_returned() {
    let page = |tags: usize| {
        fetch(
            html(&format!("{}b", "a<br>".repeat(tags))),
            json!({"skip_chars": 119_996}),
        )
    };
    let whole = page(60_000);
    assert_eq!(
        (&whole["text"], &whole["truncated"]),
        (&json!("a\na\nb"), &json!(false))
    );
    let cut = page(60_001);
    assert_eq!((&cut["text"], &cut["truncated"]), (&json!("a\na\na"), &json!(true)));
    let note = cut["notes"][0].as_str().unwrap();
    assert!(
        note.starts_with("the page has more than 60000 tags: only its beginning was read"),
        "{note}"
    );
}

#[test]
fn the_beginning_of_a_text_over_the_limit_ends_with_a_whole_character() {
    // The limit is inside of the last of these characters of three bytes.
    let long = "\u{20ac}".repeat(2 << 20);
    let end = 5_242_880 / 3;
    let input = json!({"skip_chars": end - 2});
    for media_type in ["text/plain", "application/json"] {
        let response = Response::new(200, gzip(&long))
            .with_header("content-type", media_type)
            .with_header("content-encoding", "gzip");
        let page = fetch(response, input.clone());
        assert_says_truncated(&page);
        assert_eq!(page["text"], "\u{20ac}\u{20ac}");
        assert_eq!(page["notes"].as_array().unwrap().len(), 1, "{page}");
    }
}

#[test]
fn a_file_over_the_limit_that_is_no_text_is_described() {
    let video = Response::new(200, vec![0; 6 << 20]).with_header("content-type", "video/mp4");
    let fetched = fetch(video, json!({}));
    let note = fetched["notes"][0].as_str().unwrap();
    assert_eq!(
        note,
        "the content has more than 5242880 bytes of the type `video/mp4`, which is no text"
    );
}

#[test]
fn an_error_quotes_the_page_without_control_characters_and_without_half_words() {
    let page = format!("<h1>Gone</h1><p>\u{1b}[2J{}", "words ".repeat(2 << 20));
    answer_http(move |_| Ok(Response::new(410, page.clone()).with_header("content-type", "text/html")));
    let error = failure(&HTTP_FETCH, json!({"url": "https://example.com/x"}));
    assert_eq!(error.code, ErrorCode::NotFound);
    assert!(
        error.message.contains("the page says: # Gone [2Jwords words"),
        "{error}"
    );
    assert!(
        error.message.ends_with("words ..") && error.message.len() < 700,
        "{error}"
    );
}

#[test]
fn a_request_says_who_sends_it() {
    answer_http(|request| {
        let agent = request.headers().iter().find(|(name, _)| name == "user-agent");
        Ok(html(&format!("<p>{}", agent.unwrap().1)))
    });
    let page = output(&HTTP_FETCH, json!({"url": "https://example.com/"}));
    assert_eq!(page["text"], "art-http-fetch/0.1.0");
}

#[test]
fn a_page_without_a_content_type_is_read_as_a_page() {
    let page = Response::new(200, "\n<!DOCTYPE html><title>News</title><p>Hello");
    assert_eq!(fetch(page, json!({}))["title"], "News");
    let text = Response::new(200, "a < b");
    assert_eq!(fetch(text, json!({}))["text"], "a < b");
}

#[test]
fn an_encoding_that_is_named_late_or_in_an_xml_declaration_is_found() {
    let fetched = |bytes: Vec<u8>, media_type: &str| {
        fetch(
            Response::new(200, bytes).with_header("content-type", media_type),
            json!({}),
        )["text"]
            .clone()
    };
    let late = format!("<!--{}--><META CHARSET='windows-1252'><p>caf", "x".repeat(3_000));
    assert_eq!(fetched([late.as_bytes(), b"\xe9"].concat(), "text/html"), "café");
    let xml = b"<?xml version='1.0' encoding='ISO-8859-1'?><a>caf\xe9</a>";
    assert!(
        fetched(xml.to_vec(), "application/xml")
            .as_str()
            .unwrap()
            .contains("café")
    );
    let utf_16 = "<?xml version='1.0' encoding='utf-16'?><a>café</a>";
    assert!(
        fetched(utf_16.into(), "application/xml")
            .as_str()
            .unwrap()
            .contains("café")
    );
    // A text that only mentions an encoding is not in it.
    let quoted = "<meta charset=windows-1252> café";
    assert_eq!(fetched(quoted.into(), "text/plain"), quoted);
    assert_eq!(
        fetched("<p>charset=windows-1252 café".into(), "text/html"),
        "charset=windows-1252 café"
    );
}

#[test]
fn the_character_encoding_is_read_from_the_header_or_from_the_page() {
    let encoding_in_header =
        Response::new(200, *b"caf\xe9").with_header("content-type", "text/plain; charset=ISO-8859-1");
    assert_eq!(fetch(encoding_in_header, json!({}))["text"], "café");
    let encoding_in_page =
        Response::new(200, *b"<meta charset=\"windows-1252\"><p>caf\xe9").with_header("content-type", "text/html");
    assert_eq!(fetch(encoding_in_page, json!({}))["text"], "café");
}

#[test]
fn content_that_is_no_text_is_only_described() {
    let picture = Response::new(200, *b"\x89PNG\0").with_header("content-type", "image/png");
    let fetched = fetch(picture, json!({}));
    assert_eq!(fetched.get("text"), None);
    assert!(
        fetched["notes"][0]
            .as_str()
            .unwrap()
            .contains("5 bytes of the type `image/png`"),
        "{fetched}"
    );
}

#[test]
fn a_redirect_within_the_site_is_followed() {
    answer_http(|request| {
        Ok(match request.url() {
            "https://example.com/old" => Response::new(301, "").with_header("location", "/new"),
            "https://example.com/new" => html("<p>here"),
            other => panic!("{other}"),
        })
    });
    let page = output(&HTTP_FETCH, json!({"url": "https://example.com/old"}));
    assert_eq!(
        (&page["url"], &page["text"]),
        (&json!("https://example.com/new"), &json!("here"))
    );
}

#[test]
fn a_redirect_to_another_site_is_reported_and_not_followed() {
    for location in [
        "https://other.example/x",
        "http://example.com/",
        "https://example.com:8443/",
        "//other.example/",
    ] {
        answer_http(move |request| {
            assert_eq!(request.url(), "https://example.com/old");
            Ok(Response::new(302, "").with_header("location", location))
        });
        let moved = output(&HTTP_FETCH, json!({"url": "https://example.com/old"}));
        assert!(moved["redirect"].as_str().unwrap().starts_with("http"), "{moved}");
        assert!(
            moved["notes"][0].as_str().unwrap().contains("call again with `url`"),
            "{moved}"
        );
    }
}

#[test]
fn endless_redirects_are_an_error() {
    answer_http(|_| Ok(Response::new(302, "").with_header("location", "/again")));
    let error = failure(&HTTP_FETCH, json!({"url": "https://example.com/again"}));
    assert!(error.message.contains("redirects more than 5 times"), "{error}");
}

#[test]
fn a_page_that_has_not_changed_is_not_returned_again() {
    answer_http(|request| {
        let names: Vec<_> = request.headers().iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["user-agent", "accept", "if-none-match", "if-modified-since"]);
        assert_eq!(request.headers()[2].1, "\"v1\"");
        Ok(Response::new(304, "").with_header("etag", "\"v1\""))
    });
    let input = json!({
        "url": "https://example.com/", "etag": "\"v1\"", "last_modified": "Tue, 24 Nov 2026 06:00:00 GMT",
    });
    let page = output(&HTTP_FETCH, input);
    assert_eq!(
        (&page["not_modified"], &page["etag"], page.get("text")),
        (&json!(true), &json!("\"v1\""), None)
    );
}

#[test]
fn a_head_request_returns_no_text() {
    answer_http(|request| {
        assert_eq!(request.method(), "HEAD");
        Ok(html("").with_header("last-modified", "Tue, 24 Nov 2026 06:00:00 GMT"))
    });
    let head = output(&HTTP_FETCH, json!({"url": "https://example.com/", "method": "HEAD"}));
    assert_eq!((&head["status"], head.get("text")), (&json!(200), None));
    assert_eq!(head["last_modified"], "Tue, 24 Nov 2026 06:00:00 GMT");
}

#[test]
fn an_error_status_sets_the_error_code_and_the_message_quotes_the_page() {
    answer_http(|_| Ok(Response::new(404, "<h1>Not here</h1>").with_header("content-type", "text/html")));
    let error = failure(&HTTP_FETCH, json!({"url": "https://example.com/x"}));
    assert_eq!(error.code, ErrorCode::NotFound);
    assert!(
        error.message.contains("status 404") && error.message.contains("# Not here"),
        "{error}"
    );
    answer_http(|_| Ok(Response::new(503, "")));
    assert!(failure(&HTTP_FETCH, json!({"url": "https://example.com/x"})).retryable);
}

#[test]
fn invalid_addresses_are_refused() {
    for url in ["example.com", "file:///etc/passwd", "notes.txt", "https://"] {
        let error = failure(&HTTP_FETCH, json!({"url": url}));
        assert!(error.message.contains("write it in full"), "{error}");
    }
}

#[test]
fn a_page_may_nest_deeply() {
    let deep = format!("{}end", "<div>".repeat(2_000));
    assert_eq!(fetch(html(&deep), json!({}))["text"], "end");
}

#[test]
fn the_examples_have_arguments_that_the_tool_accepts() {
    answer_http(|_| Ok(html(PAGE)));
    art_sdk::testing::check(&HTTP_FETCH);
}
