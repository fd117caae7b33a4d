//! Helpers for the tests of this crate: a server on real sockets and a model, both with replies that the test sets.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use art_core::error::{ModelError, ModelErrorCode};
use art_core::prompt::ArtStandardPrompt;
use art_core::provider::{ModelCapability, ModelRequest, RuntimeProviderConfig};
use art_core::stream::{Phase, StreamEvent};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::model::Model;
use crate::protocol::Protocol;
use crate::settings::{EngineLimits, ModelSettings, ProviderSettings};

/// The API key of the provider `p`. It must not occur in any output.
pub(crate) const API_KEY: &str = "sk-testing-0123456789abcdef";

/// An action of the server on a connection whose request it has read.
#[derive(Clone, Debug)]
pub(crate) enum ServerAction {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends a byte repeatedly until the connection is closed.
    Drip(u8),
    /// Waits before the next action.
    Pause(std::time::Duration),
    /// Keeps the connection open without sending anything.
    Hang,
    /// Resets the connection.
    Reset,
}

/// A server on this machine. On the n-th connection it carries out the n-th list of actions of its script, or the last list if
/// the script has fewer. It closes a connection after the last action.
pub(crate) struct Server {
    pub(crate) port: u16,
    requests: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Server {
    /// Starts a server with this script.
    pub(crate) async fn start(script: Vec<Vec<ServerAction>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let recorded = Arc::clone(&requests);
        let task = tokio::spawn(async move {
            let mut connections = Vec::new();
            for number in 0.. {
                let (mut stream, _) = listener.accept().await.unwrap();
                let actions = script[number.min(script.len() - 1)].clone();
                let recorded = Arc::clone(&recorded);
                connections.push(tokio::spawn(async move {
                    let request = read_request(&mut stream).await;
                    recorded.lock().unwrap().push(request);
                    carry_out(stream, actions).await;
                }));
            }
        });
        Self { port, requests, task }
    }

    /// Starts a server that sends `reply` to every request.
    pub(crate) async fn replying(reply: Vec<u8>) -> Self {
        Self::start(vec![vec![ServerAction::Send(reply)]]).await
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Returns the requests that the server has read, each with its head and its body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Reads a request up to the end of its body, or until the connection is closed.
async fn read_request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0_u8; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return text,
            Ok(length) => bytes.extend_from_slice(&buffer[..length]),
        }
    }
}

async fn carry_out(mut stream: TcpStream, actions: Vec<ServerAction>) {
    for action in actions {
        match action {
            ServerAction::Send(bytes) => drop(stream.write_all(&bytes).await),
            ServerAction::Drip(byte) => {
                while stream.write_all(&[byte]).await.is_ok() {
                    tokio::time::sleep(std::time::Duration::from_millis(1)).await;
                }
            }
            ServerAction::Pause(time) => tokio::time::sleep(time).await,
            ServerAction::Hang => std::future::pending().await,
            ServerAction::Reset => return stream.set_zero_linger().unwrap(),
        }
    }
    drop(stream.shutdown().await);
}

/// Returns an HTTP reply with a body. Each header in `headers` ends with `\r\n`.
pub(crate) fn http_reply(status: u16, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status} Status\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}")
        .into_bytes()
}

/// Returns the headers of a reply that streams until the connection is closed.
pub(crate) fn stream_head() -> Vec<u8> {
    b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n".to_vec()
}

/// Returns an event of a chat stream with a piece of text.
pub(crate) fn text_event(text: &str) -> String {
    let text = serde_json::Value::from(text);
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{text}}}}}]}}\n\n")
}

/// The end of a chat stream, without token counts.
pub(crate) const CHAT_END: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

/// Returns a reply that streams `text` in one piece.
pub(crate) fn chat_reply(text: &str) -> Vec<u8> {
    [stream_head(), text_event(text).into_bytes(), CHAT_END.into()].concat()
}

/// Returns settings with `limits` and one provider `p` at `base_url`, whose key is in the variable `P_KEY` of [`environment`].
pub(crate) fn settings(base_url: String, limits: EngineLimits) -> ModelSettings {
    let provider = ProviderSettings {
        api: Some(Protocol::OpenaiChat),
        base_url: Some(base_url),
        api_key_env: Some("P_KEY".to_owned()),
        default_model: Some("m".to_owned()),
        ..ProviderSettings::default()
    };
    ModelSettings {
        providers: BTreeMap::from([("p".to_owned(), provider)]),
        limits,
        ..ModelSettings::default()
    }
}

/// Returns the value of an environment variable. Only `P_KEY` is set, to [`API_KEY`].
pub(crate) fn environment(name: &str) -> Option<String> {
    (name == "P_KEY").then(|| API_KEY.to_owned())
}

/// Returns a request with one user message.
pub(crate) fn request() -> ModelRequest {
    let prompt: ArtStandardPrompt = serde_json::from_str(r#"[{"role":"user","content":"how are you?"}]"#).unwrap();
    ModelRequest::new(prompt, Phase::Synthesis)
}

/// Returns the stream event that adds `text` to the reply.
pub(crate) fn token(text: &str) -> StreamEvent {
    StreamEvent::Token(text.to_owned())
}

/// Returns the stream event that ends a reply with an error.
pub(crate) fn failure(code: ModelErrorCode) -> StreamEvent {
    StreamEvent::Error(ModelError {
        code,
        message: "it failed".to_owned(),
        retry_after_ms: None,
        request_not_read: false,
    })
}

/// A model whose calls get the given streams of events, one stream for each call in order. Later calls get empty replies.
#[derive(Debug)]
pub(crate) struct ScriptedModel {
    config: RuntimeProviderConfig,
    streams: Mutex<VecDeque<Vec<StreamEvent>>>,
    /// Whether a stream stays open after its last event.
    endless: bool,
    /// Number of calls so far.
    pub(crate) calls: AtomicUsize,
    /// Number of times the model was shut down.
    pub(crate) shutdowns: AtomicUsize,
}

impl ScriptedModel {
    pub(crate) fn new(streams: Vec<Vec<StreamEvent>>) -> Self {
        Self {
            config: RuntimeProviderConfig::new("s", "m"),
            streams: Mutex::new(streams.into()),
            endless: false,
            calls: AtomicUsize::new(0),
            shutdowns: AtomicUsize::new(0),
        }
    }

    /// Creates a model with this name whose replies are empty.
    pub(crate) fn named(provider: &str, model: &str) -> Self {
        Self {
            config: RuntimeProviderConfig::new(provider, model),
            ..Self::new(Vec::new())
        }
    }

    /// Creates a model whose streams stay open after their last event.
    pub(crate) fn with_open_streams(streams: Vec<Vec<StreamEvent>>) -> Self {
        Self {
            endless: true,
            ..Self::new(streams)
        }
    }
}

impl Model for ScriptedModel {
    fn config(&self) -> &RuntimeProviderConfig {
        &self.config
    }

    fn capabilities(&self) -> &[ModelCapability] {
        &[ModelCapability::Text]
    }

    fn stream(&self, _: ModelRequest) -> BoxStream<'static, StreamEvent> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let next_stream = self.streams.lock().unwrap().pop_front();
        let events = stream::iter(next_stream.unwrap_or_else(|| vec![StreamEvent::End]));
        if self.endless {
            return events.chain(stream::pending()).boxed();
        }
        events.boxed()
    }

    fn shutdown(&self) {
        self.shutdowns.fetch_add(1, Ordering::SeqCst);
    }
}
