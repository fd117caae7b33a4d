//! Sends requests to servers that the tests start, with a resolver whose answers each test sets.

mod admission;
mod faults;
mod resolving;
mod secrets;
mod tls;
mod wire;

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use art_core::capability::{CallGrants, Denial, HttpGrant, HttpRight};
use art_core::secret::Secrets;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tokio_rustls::TlsConnector;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks};

use super::network::{Network, Resolve};
use super::sender::Sender;

/// A server that counts its connections and records the head of each request: its first line and its headers.
struct Server {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    received: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts a server that reads the head of one request from each connection and then calls `answer`.
    fn start(answer: impl Fn(&mut TcpStream) -> io::Result<()> + Send + Sync + 'static) -> Self {
        let received: Arc<Mutex<Vec<String>>> = Arc::default();
        let connections: Arc<AtomicUsize> = Arc::default();
        let (received_heads, count) = (Arc::clone(&received), Arc::clone(&connections));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for mut connection in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let (received_heads, answer) = (Arc::clone(&received_heads), Arc::clone(&answer));
                thread::spawn(move || {
                    let head = read_head(&mut connection);
                    received_heads.lock().unwrap().push(head);
                    // An error is no failure of the test: the client closes the connection when it has seen enough.
                    drop(answer(&mut connection));
                });
            }
        });
        Self {
            address,
            connections,
            received,
        }
    }

    /// Starts a server that answers each request with these bytes and closes the connection.
    fn with_response(response: impl Into<Vec<u8>>) -> Self {
        let response = response.into();
        Self::start(move |connection| connection.write_all(&response))
    }

    /// Starts a server that answers each request with a page whose body is `hello`.
    fn with_page() -> Self {
        Self::with_response("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello")
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    fn received(&self) -> Vec<String> {
        self.received.lock().unwrap().clone()
    }
}

fn read_head(connection: &mut TcpStream) -> String {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && connection.read(&mut byte).unwrap_or_default() == 1 {
        head.extend(byte);
    }
    String::from_utf8(head).unwrap()
}

/// A resolver with the answers of a test: for each name, a list of sets of addresses. The first look-up of the name gets the
/// first set, and so on; the last set is repeated. A name without an answer is not found.
#[derive(Clone, Default)]
struct TestResolver {
    answers: HashMap<&'static str, Vec<Vec<IpAddr>>>,
    /// The names that were looked up, in order.
    lookups: Arc<Mutex<Vec<String>>>,
}

impl TestResolver {
    fn with_answers(mut self, host: &'static str, answers: &[&[&str]]) -> Self {
        let parse = |set: &&[&str]| set.iter().map(|address| address.parse().unwrap()).collect();
        self.answers.insert(host, answers.iter().map(parse).collect());
        self
    }

    fn lookups(&self) -> Vec<String> {
        self.lookups.lock().unwrap().clone()
    }
}

impl Resolve for TestResolver {
    fn resolve(&self, host: String, port: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        let mut lookups = self.lookups.lock().unwrap();
        let earlier_lookups = lookups.iter().filter(|name| **name == host).count();
        lookups.push(host.clone());
        let answers = self.answers.get(host.as_str());
        let answer = answers.and_then(|answers| answers.get(earlier_lookups).or_else(|| answers.last()));
        let addresses = answer.map(|set| set.iter().map(|address| SocketAddr::new(*address, port)).collect());
        std::future::ready(addresses.ok_or_else(|| io::Error::other("no such host"))).boxed()
    }
}

/// Sends the requests of one tool call, with the grants of this call.
struct Call {
    sender: Sender,
    resolver: TestResolver,
}

/// A response that was read to its end.
#[derive(Debug)]
struct Page {
    status: u16,
    headers: http::HeaderMap,
    body: Vec<u8>,
}

impl Call {
    /// Returns a call with these grants: a JSON list, with the grants as the operator's file of grants has them.
    fn new(grants: Value, resolver: TestResolver) -> Self {
        Self::with_tls(grants, resolver, None)
    }

    /// Returns a call that connects with `tls`. Without it, the call cannot connect to `https` addresses.
    fn with_tls(grants: Value, resolver: TestResolver, tls: Option<TlsConnector>) -> Self {
        let tls = OnceLock::from(tls);
        let network = Network::new(Box::new(resolver.clone()), tls);
        let sender = Sender::new(call_grants(grants), Secrets::none(), Some(Arc::new(network)));
        Self { sender, resolver }
    }

    /// Returns a call that may send every request to `server`.
    fn to(server: &Server) -> Self {
        Self::new(json!([full_grant(&server.url("/"))]), TestResolver::default())
    }

    /// Starts to send a request. The future ends when the head of the response has arrived.
    fn start(&mut self, request: Request<WasiBody>) -> BoxFuture<'static, Result<Response<WasiBody>, Error>> {
        self.start_with_options(request, None)
    }

    fn start_with_options(
        &mut self,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
    ) -> BoxFuture<'static, Result<Response<WasiBody>, Error>> {
        let sending = self
            .sender
            .send_request(request, options, Box::new(std::future::ready(Ok(()))));
        async move { Ok(Box::into_pin(sending).await?.0) }.boxed()
    }

    /// Sends a request and reads the response to its end.
    async fn send(&mut self, request: Request<WasiBody>) -> Result<Page, Error> {
        read_page(self.start(request).await?).await
    }

    async fn get(&mut self, url: &str) -> Result<Page, Error> {
        self.send(get_request(url)).await
    }

    fn denials(&self) -> Vec<Denial> {
        self.sender.gate.take_denials()
    }
}

async fn read_page(response: Response<WasiBody>) -> Result<Page, Error> {
    let (head, body) = response.into_parts();
    let body = body.collect().await?.to_bytes().to_vec();
    Ok(Page {
        status: head.status.as_u16(),
        headers: head.headers,
        body,
    })
}

fn get_request(url: &str) -> Request<WasiBody> {
    request("GET", url, "")
}

fn request(method: &str, url: &str, body: &str) -> Request<WasiBody> {
    let body = Full::new(Bytes::copy_from_slice(body.as_bytes()));
    let body = body.map_err(|never| match never {}).boxed_unsync();
    Request::builder().method(method).uri(url).body(body).unwrap()
}

/// Returns a grant of all methods at `url`, whose host need not have a public address.
fn full_grant(url: &str) -> Value {
    json!({"url": url, "methods": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"], "private": true})
}

/// Returns the grants of a call of the tool `fetch`.
fn call_grants(grants: Value) -> Arc<CallGrants> {
    let grants: Vec<HttpGrant> = serde_json::from_value(grants).unwrap();
    let http_right = |grant: HttpGrant| HttpRight {
        scope: grant.url.clone(),
        methods: grant.methods.clone(),
        grant: Arc::new(grant),
    };
    Arc::new(CallGrants {
        tool: Arc::from("fetch"),
        http: grants.into_iter().map(http_right).collect(),
        ..CallGrants::clone(&CallGrants::by_default())
    })
}
