//! Servers that misbehave: their responses are endless, too large, incomplete or invalid, or do not arrive.

use std::time::Duration;

use super::*;
use crate::capability::http::limits::MAX_HEADERS;

const OK_LINE: &str = "HTTP/1.1 200 OK\r\n";
/// Timeout of requests that are expected to time out.
const SHORT_TIMEOUT: Duration = Duration::from_millis(50);

/// Sends a request to a server that replies with `answer`, and returns the error with which the request fails.
async fn fetch_error(answer: impl Fn(&mut TcpStream) -> io::Result<()> + Send + Sync + 'static) -> Error {
    let server = Server::start(answer);
    Call::to(&server).get(&server.url("/")).await.unwrap_err()
}

/// Writes `begin`, and then `bytes` again and again until the client closes the connection.
fn write_forever(connection: &mut TcpStream, begin: &str, bytes: &[u8]) -> io::Result<()> {
    connection.write_all(begin.as_bytes())?;
    loop {
        connection.write_all(bytes)?;
    }
}

fn assert_too_large(error: &Error) {
    assert!(matches!(error, Error::HttpResponseBodySize(Some(_))), "{error}");
}

#[tokio::test]
async fn a_body_without_end_is_too_large() {
    let chunk = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
    assert_too_large(&fetch_error(|c| write_forever(c, "HTTP/1.1 200 OK\r\n\r\n", &[b'x'; 4096])).await);
    assert_too_large(
        &fetch_error(move |c| {
            write_forever(
                c,
                &format!("{OK_LINE}transfer-encoding: chunked\r\n\r\n"),
                chunk.as_bytes(),
            )
        })
        .await,
    );
}

#[tokio::test]
async fn a_body_of_ten_gigabytes_is_too_large() {
    let head = format!("{OK_LINE}content-length: 10000000000\r\n\r\n");
    assert_too_large(&fetch_error(move |c| write_forever(c, &head, &[b'x'; 4096])).await);
}

#[tokio::test]
async fn a_flood_of_informational_responses_is_too_large() {
    assert_too_large(
        &fetch_error(|c| {
            write_forever(
                c,
                "",
                "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(50).as_bytes(),
            )
        })
        .await,
    );
}

#[tokio::test]
async fn a_few_informational_responses_are_skipped() {
    let server = Server::with_response(format!(
        "{}{OK_LINE}content-length: 2\r\n\r\nok",
        "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(3)
    ));
    let page = Call::to(&server).get(&server.url("/")).await.unwrap();
    assert_eq!((page.status, page.body.as_slice()), (200, &b"ok"[..]));
}

#[tokio::test]
async fn large_or_many_headers_are_refused() {
    let large = fetch_error(|c| write_forever(c, OK_LINE, format!("x: {}\r\n", "y".repeat(1000)).as_bytes())).await;
    assert!(matches!(large, Error::HttpResponseHeaderSectionSize(_)), "{large}");
    let without_line_end = fetch_error(|c| write_forever(c, OK_LINE, b"xxxxxxxxxxxxxxxx")).await;
    assert!(
        matches!(without_line_end, Error::HttpResponseHeaderSectionSize(_)),
        "{without_line_end}"
    );
    let many = format!("{OK_LINE}{}\r\n", "a: b\r\n".repeat(MAX_HEADERS + 1));
    let many = fetch_error(move |c| c.write_all(many.as_bytes())).await;
    assert!(matches!(many, Error::HttpResponseHeaderSectionSize(_)), "{many}");
}

#[tokio::test]
async fn a_body_that_ends_too_early_is_incomplete() {
    let short = fetch_error(|c| c.write_all(format!("{OK_LINE}content-length: 100\r\n\r\nshort").as_bytes())).await;
    assert!(
        matches!(short, Error::HttpResponseIncomplete | Error::ConnectionTerminated),
        "{short}"
    );
    let chunked = format!("{OK_LINE}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n");
    let chunked = fetch_error(move |c| c.write_all(chunked.as_bytes())).await;
    assert!(
        matches!(chunked, Error::HttpResponseIncomplete | Error::ConnectionTerminated),
        "{chunked}"
    );
}

#[tokio::test]
async fn bytes_after_the_announced_content_length_are_not_part_of_the_body() {
    let server = Server::with_response(format!(
        "{OK_LINE}content-length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\n\r\n"
    ));
    let page = Call::to(&server).get(&server.url("/")).await.unwrap();
    assert_eq!(page.body, b"hello");
}

#[tokio::test]
async fn contradictory_or_invalid_responses_are_errors() {
    for head in [
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhello",
        "HTTP/1.1 200 OK\r\na b: c\r\n\r\n",
        "SSH-2.0-OpenSSH_9.9\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "",
    ] {
        fetch_error(move |c| c.write_all(head.as_bytes())).await;
    }
}

#[tokio::test]
async fn a_request_to_a_silent_server_times_out() {
    let server = Server::start(|connection| connection.read(&mut [0]).map(drop));
    let mut call = Call::to(&server);
    let options = RequestOptions {
        first_byte_timeout: Some(SHORT_TIMEOUT),
        ..RequestOptions::default()
    };
    let sent = call
        .start_with_options(get_request(&server.url("/")), Some(options))
        .await;
    assert!(matches!(sent, Err(Error::HttpResponseTimeout)));
}

#[tokio::test]
async fn a_body_that_stops_arriving_times_out() {
    let server = Server::start(|connection| {
        connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nbegin")?;
        connection.read(&mut [0]).map(drop)
    });
    let mut call = Call::to(&server);
    let options = RequestOptions {
        between_bytes_timeout: Some(SHORT_TIMEOUT),
        ..RequestOptions::default()
    };
    let response = call
        .start_with_options(get_request(&server.url("/")), Some(options))
        .await
        .unwrap();
    assert!(matches!(read_page(response).await, Err(Error::ConnectionReadTimeout)));
}

#[tokio::test]
async fn a_response_that_is_dropped_closes_its_connection() {
    let (sender, closed) = std::sync::mpsc::channel();
    let server = Server::start(move |connection| {
        let write_error = write_forever(connection, "HTTP/1.1 200 OK\r\n\r\n", b"x");
        sender.send(()).map_err(io::Error::other)?;
        write_error
    });
    let mut call = Call::to(&server);
    drop(call.start(get_request(&server.url("/"))).await.unwrap());
    closed.recv_timeout(Duration::from_secs(30)).unwrap();
}

#[tokio::test]
async fn a_request_that_is_dropped_closes_its_connection() {
    let (sender, was_closed) = std::sync::mpsc::channel();
    let (arrival_sender, mut request_arrivals) = tokio::sync::mpsc::unbounded_channel();
    let server = Server::start(move |connection| {
        arrival_sender.send(()).map_err(io::Error::other)?;
        // The read returns no bytes when the client closes the connection.
        let read = connection.read(&mut [0]);
        sender
            .send(read.is_ok_and(|bytes| bytes == 0))
            .map_err(io::Error::other)
    });
    let mut call = Call::to(&server);
    let sending = call.start(get_request(&server.url("/")));
    request_arrivals.recv().await.unwrap();
    drop(sending);
    assert!(was_closed.recv_timeout(Duration::from_secs(30)).unwrap());
}
