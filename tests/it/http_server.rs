//! A server for the requests of tools, which records the requests that it receives.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A server that answers on each connection with the bytes that a function returns for the request.
pub(crate) struct HttpServer {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl HttpServer {
    /// Starts the server.
    pub(crate) fn start(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::start_at("127.0.0.1:0", answer)
    }

    /// Same as [`HttpServer::start`], with the given address.
    pub(crate) fn start_at(address: &str, answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let (sink, answer) = (Arc::clone(&requests), Arc::new(answer));
        thread::spawn(move || {
            for mut connection in listener.incoming().flatten() {
                let (sink, answer) = (Arc::clone(&sink), Arc::clone(&answer));
                thread::spawn(move || {
                    let request = read_request(&mut connection);
                    sink.lock().unwrap().push(request.clone());
                    // A client that has given up does not read the response.
                    drop(connection.write_all(&answer(&request)));
                });
            }
        });
        Self { address, requests }
    }

    /// Starts a server that answers every request with this text.
    pub(crate) fn page(text: &str) -> Self {
        let text = text.to_owned();
        Self::start(move |_| response(200, &[], text.as_bytes()))
    }

    /// Returns the URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns the host and the port.
    pub(crate) fn authority(&self) -> String {
        self.address.to_string()
    }

    /// Returns the requests so far. A request with the header `content-length` includes its body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// Returns the bytes of a response.
pub(crate) fn response(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {status} Status\r\ncontent-length: {}\r\n", body.len()).into_bytes();
    for (name, value) in headers {
        bytes.extend(format!("{name}: {value}\r\n").bytes());
    }
    bytes.extend(b"\r\n");
    bytes.extend(body);
    bytes
}

fn read_request(connection: &mut TcpStream) -> String {
    let (mut request, mut byte) = (Vec::new(), [0]);
    while !request.ends_with(b"\r\n\r\n") && connection.read(&mut byte).unwrap_or_default() == 1 {
        request.extend(byte);
    }
    let head = String::from_utf8_lossy(&request).to_lowercase();
    let length = head
        .split("content-length: ")
        .nth(1)
        .and_then(|rest| rest.lines().next());
    let mut body = vec![0; length.and_then(|length| length.parse().ok()).unwrap_or_default()];
    if connection.read_exact(&mut body).is_ok() {
        request.extend(body);
    }
    String::from_utf8_lossy(&request).into_owned()
}
