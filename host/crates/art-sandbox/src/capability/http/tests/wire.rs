//! What a server sees of a request, byte for byte.

use http::HeaderValue;
use http::header::{CONTENT_LENGTH, HOST};

use super::*;
use crate::capability::http::limits::MAX_REQUEST_BODY_BYTES;

#[tokio::test]
async fn a_server_sees_one_request_with_the_path_and_the_host() {
    let server = Server::with_page();
    let mut call = Call::to(&server);
    let mut request = get_request(&server.url("/a/../b?q=%20"));
    request
        .headers_mut()
        .insert(HOST, HeaderValue::from_static("other.example"));
    request
        .headers_mut()
        .insert("accept", HeaderValue::from_static("text/html"));
    call.send(request).await.unwrap();
    let expected = format!(
        "GET /b?q=%20 HTTP/1.1\r\nhost: {}\r\naccept: text/html\r\n\r\n",
        server.address
    );
    assert_eq!(server.received(), [expected]);
}

#[tokio::test]
async fn a_body_is_sent_with_its_length() {
    let (sender, received_body) = std::sync::mpsc::channel();
    let server = Server::start(move |connection| {
        let mut body = [0; 5];
        connection.read_exact(&mut body)?;
        sender.send(body).map_err(io::Error::other)?;
        connection.write_all(b"HTTP/1.1 204 No Content\r\n\r\n")
    });
    let mut call = Call::to(&server);
    let mut request = request("POST", &server.url("/"), "hello");
    request
        .headers_mut()
        .insert(CONTENT_LENGTH, HeaderValue::from_static("5"));
    assert_eq!(call.send(request).await.unwrap().status, 204);
    assert_eq!(&received_body.recv().unwrap(), b"hello");
    let expected = format!(
        "POST / HTTP/1.1\r\nhost: {}\r\ncontent-length: 5\r\n\r\n",
        server.address
    );
    assert_eq!(server.received(), [expected]);
}

#[tokio::test]
async fn sending_a_body_that_is_too_large_fails() {
    let server = Server::start(|connection| io::copy(connection, &mut io::sink()).map(drop));
    let mut call = Call::to(&server);
    let too_large = "x".repeat(usize::try_from(MAX_REQUEST_BODY_BYTES).unwrap() + 1);
    let error = call
        .send(request("POST", &server.url("/"), &too_large))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::HttpRequestBodySize(_)), "{error}");
}

#[tokio::test]
async fn trailers_are_not_sent() {
    const CHUNKED_BODY: &[u8; 15] = b"5\r\nhello\r\n0\r\n\r\n";
    let (sender, received_body) = std::sync::mpsc::channel();
    let server = Server::start(move |connection| {
        let mut body = [0; CHUNKED_BODY.len()];
        connection.read_exact(&mut body)?;
        sender.send(body).map_err(io::Error::other)?;
        connection.write_all(b"HTTP/1.1 204 No Content\r\n\r\n")
    });
    let mut trailers = http::HeaderMap::new();
    trailers.insert("x-smuggled", HeaderValue::from_static("1"));
    let frames = [
        http_body::Frame::data(Bytes::from_static(b"hello")),
        http_body::Frame::trailers(trailers),
    ];
    let frames = futures_util::stream::iter(frames.map(Ok::<_, Error>));
    let body = http_body_util::StreamBody::new(frames).boxed_unsync();
    let request = Request::post(server.url("/")).body(body).unwrap();
    Call::to(&server).send(request).await.unwrap();
    assert_eq!(&received_body.recv().unwrap(), CHUNKED_BODY);
}
