//! Connections to a model that cannot be opened or that break: there is one error that says what happened and what to do, and
//! there are no more attempts than configured. A model call is retried only if the connection is lost before the first token of
//! the reply (contract M02).

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::home::Home;
use crate::provider::{BEGINNING_OF_PLAN, Provider, Reply};

/// Runs a question with a model at `base_url`. Asserts that the run fails after one retry. Returns the error.
fn error_after_one_retry(base_url: &str) -> String {
    error_after(1, base_url)
}

/// Runs a question with a model at `base_url`, with a configuration that allows one retry. Asserts that the run fails after
/// `expected_retries` retries. Returns the error.
fn error_after(expected_retries: usize, base_url: &str) -> String {
    let home = Home::new();
    home.file("art.toml", "[models]\nretry_base_ms = 1\nmax_retries = 1\n");
    let ran = home.art(&["--model", "compatible:m", "--base-url", base_url, "run", "Hello"]);
    let stderr = ran.stderr();
    assert_eq!((ran.code(), ran.stdout().as_str()), (8, ""), "{stderr}");
    assert_eq!(
        stderr.matches("trying again in 0 s (1 of 1)").count(),
        expected_retries,
        "{stderr}"
    );
    let mut sentences = stderr
        .lines()
        .filter_map(|line| line.strip_prefix("error: `compatible:m`: "));
    let sentence = sentences
        .next()
        .unwrap_or_else(|| panic!("there is no error: {stderr}"));
    // There is no second error, and the error is the last line.
    assert_eq!(
        (sentences.next(), stderr.lines().last()),
        (None, Some(&*format!("error: `compatible:m`: {sentence}")))
    );
    sentence.to_owned()
}

/// Starts a server that calls `serve` with each connection and then closes it. Returns its address and a counter of its
/// connections.
fn start_server(serve: fn(TcpStream)) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            count.fetch_add(1, Ordering::Relaxed);
            serve(connection);
        }
    });
    (address, connections)
}

fn assert_begins_and_ends(sentence: &str, begin: &str, end: &str) {
    assert!(sentence.starts_with(begin) && sentence.ends_with(end), "{sentence}");
}

/// Asserts that a server with this behaviour causes the error of a broken connection, after one retry.
fn assert_connection_is_lost_twice(serve: fn(TcpStream)) {
    let (address, connections) = start_server(serve);
    let sentence = error_after_one_retry(&format!("http://{address}/v1"));
    assert_begins_and_ends(
        &sentence,
        &format!("the connection to `{address}` was lost: "),
        "; try again",
    );
    assert_eq!(connections.load(Ordering::Relaxed), 2);
}

/// Reads up to the end of the head of a request.
fn read_head(connection: &mut TcpStream) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && connection.read(&mut byte).unwrap_or_default() == 1 {
        head.extend(byte);
    }
}

#[test]
fn an_unknown_host_is_reported_with_what_to_check() {
    let sentence = error_after_one_retry("http://no-such-host.invalid/v1");
    let begin = "cannot find the host `no-such-host.invalid`: ";
    assert_begins_and_ends(&sentence, begin, "; check the network, `base_url`, and any proxy");
}

#[test]
fn a_server_without_tls_at_an_https_address_is_reported() {
    let (address, connections) = start_server(|mut connection| {
        drop(connection.read(&mut [0; 64]));
        drop(connection.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n"));
    });
    let sentence = error_after_one_retry(&format!("https://{address}/v1"));
    assert_eq!(sentence, format!("`{address}` does not use TLS; correct `base_url`"));
    assert_eq!(connections.load(Ordering::Relaxed), 2);
}

#[test]
fn a_server_that_closes_during_the_tls_handshake_is_reported() {
    let (address, connections) = start_server(drop);
    let sentence = error_after_one_retry(&format!("https://{address}/v1"));
    let begin = format!("no connection to `{address}`: ");
    assert_begins_and_ends(&sentence, &begin, "; check the network, and any proxy");
    assert_eq!(connections.load(Ordering::Relaxed), 2);
}

#[test]
fn a_call_is_retried_if_the_connection_is_closed_before_the_request() {
    assert_connection_is_lost_twice(drop);
}

#[test]
fn a_call_is_retried_if_the_connection_is_reset_after_the_request() {
    assert_connection_is_lost_twice(|mut connection| {
        read_head(&mut connection);
        // Wait for the body, but leave it unread: closing a socket with unread data resets the connection.
        connection.peek(&mut [0]).unwrap();
    });
}

#[test]
fn a_call_is_retried_if_the_connection_breaks_in_the_response_head() {
    assert_connection_is_lost_twice(|mut connection| {
        read_head(&mut connection);
        drop(connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/ev"));
    });
}

#[test]
fn a_call_is_not_retried_if_the_connection_breaks_after_the_first_token() {
    let provider = Provider::start(|_| Reply::Break(BEGINNING_OF_PLAN));
    let sentence = error_after(0, &provider.base_url);
    assert_begins_and_ends(&sentence, "the stream was interrupted", "; try again");
    assert_eq!(provider.take_requests().len(), 1);
}
