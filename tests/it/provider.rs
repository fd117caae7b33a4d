//! A mock of a model provider, which replies to each request as the test says. It uses real sockets, with one request for each
//! connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// A request to the provider.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) path: String,
    /// The headers as `name: value`, the names in lower case.
    pub(crate) headers: Vec<String>,
    pub(crate) body: Value,
}

/// The reply of the provider.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// A JSON reply: status, additional header lines, each with `\r\n` at its end, and body.
    Json(u16, &'static str, Value),
    /// A streamed reply of the chat protocol, in these pieces.
    Text(Vec<String>),
    /// A streamed reply of the chat protocol without token counts.
    TextWithoutTokenCounts(String),
    /// A streamed reply that calls a tool.
    Call(&'static str, Value),
    /// A streamed reply with a text and then a call of a tool.
    TextAndCall(&'static str, &'static str, Value),
    /// A piece of a streamed reply, after which the connection stays open without data.
    Hang(&'static str),
    /// A piece of a streamed reply, after which the connection is closed.
    Break(&'static str),
}

/// A mock provider on this machine.
pub(crate) struct Provider {
    pub(crate) base_url: String,
    requests: Receiver<Request>,
}

impl Provider {
    /// Starts a provider that answers each request with the reply that `script` returns.
    pub(crate) fn start(script: impl FnMut(&Request) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (sender, requests) = channel();
        let script = Arc::new(Mutex::new(script));
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let (script, sender) = (Arc::clone(&script), sender.clone());
                thread::spawn(move || serve(&connection, &script, &sender));
            }
        });
        Self { base_url, requests }
    }

    /// Starts a provider that answers every request with an error. `headers` are as in [`Reply::Json`].
    pub(crate) fn failing(status: u16, headers: &'static str, body: Value) -> Self {
        Self::start(move |_| Reply::Json(status, headers, body.clone()))
    }

    /// Starts a provider that answers the requests of a run: first a plan without steps, then the pieces of `answer`.
    pub(crate) fn answering(answer: &'static [&'static str]) -> Self {
        Self::start(move |request| match is_synthesis(request) {
            true => Reply::Text(answer.iter().map(|piece| (*piece).to_owned()).collect()),
            false => Reply::Text(vec![plan_text(&json!([]))]),
        })
    }

    /// Starts a provider that answers the requests of a run: a plan whose one step, `Count`, calls `tool` once, then
    /// `answer`.
    pub(crate) fn calling(tool: &'static str, arguments: Value, answer: &'static str) -> Self {
        let step = json!([{"id": "step_1", "description": "Count", "stepType": "tool", "requiredTools": [tool],
            "dependencies": []}]);
        let mut call = Some(Reply::Call(tool, arguments));
        Self::start(move |request| {
            if is_planning(request) {
                Reply::Text(vec![plan_text(&step)])
            } else if is_synthesis(request) {
                Reply::Text(vec![format!("<mainContent>{answer}</mainContent>")])
            } else {
                call.take().unwrap_or_else(|| Reply::Text(vec!["done".to_owned()]))
            }
        })
    }

    /// Returns the next request. Waits for it if necessary.
    pub(crate) fn next_request(&self) -> Request {
        let request = self.requests.recv_timeout(Duration::from_secs(60));
        request.expect("the provider receives a request")
    }

    /// Returns all requests received so far that were not returned yet.
    pub(crate) fn take_requests(&self) -> Vec<Request> {
        self.requests.try_iter().collect()
    }
}

/// The first characters of a plan, for a reply that breaks off within it.
pub(crate) const BEGINNING_OF_PLAN: &str = "---JSON";

/// Returns the text with which a model replies to a request for a plan. `items` are the steps of the plan.
pub(crate) fn plan_text(items: &Value) -> String {
    let plan = json!({"title": "Title", "intent": "Intent", "plan": "The plan.", "todoList": items});
    format!("---JSON_OUTPUT_START---\n{plan}\n---JSON_OUTPUT_END---")
}

/// Returns whether the request is for a plan.
pub(crate) fn is_planning(request: &Request) -> bool {
    instructions_contain(request, "You answer queries") && !is_synthesis(request)
}

/// Returns whether the request is for the final answer.
pub(crate) fn is_synthesis(request: &Request) -> bool {
    let messages = request.body.get("messages").map(Value::to_string);
    messages
        .unwrap_or_default()
        .contains("Write the answer to the query now.")
}

/// Returns whether the system message of the request contains `text`.
pub(crate) fn instructions_contain(request: &Request, text: &str) -> bool {
    let instructions = request.body.pointer("/messages/0/content").and_then(Value::as_str);
    instructions.unwrap_or_default().contains(text)
}

/// Reads a request, passes it on to the test through `sender`, and writes the reply that `script` returns. Returns `None` if the
/// connection fails, or if the client closes it after a [`Reply::Hang`].
fn serve(
    connection: &TcpStream,
    script: &Mutex<impl FnMut(&Request) -> Reply>,
    sender: &Sender<Request>,
) -> Option<()> {
    let request = read_request(connection)?;
    let reply = (script.lock().unwrap())(&request);
    // The test may have ended, so that nobody receives the request.
    drop(sender.send(request));
    let mut out = connection;
    match reply {
        Reply::Json(status, headers, body) => {
            let body = body.to_string();
            let head =
                format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-type: application/json\r\n{headers}");
            write!(out, "{head}content-length: {}\r\n\r\n{body}", body.len()).ok()
        }
        Reply::Text(pieces) => {
            let mut text = stream_head();
            let deltas = pieces.iter().map(|piece| json!({"content": piece}));
            deltas.for_each(|delta| text.push_str(&chunk(&delta, None)));
            out.write_all((text + &final_chunks("stop")).as_bytes()).ok()
        }
        Reply::TextWithoutTokenCounts(text) => {
            let text = stream_head() + &chunk(&json!({"content": text}), None) + &chunk(&json!({}), Some("stop"));
            out.write_all((text + "data: [DONE]\n\n").as_bytes()).ok()
        }
        Reply::Call(tool, arguments) => {
            let text = stream_head() + &call_chunk(tool, &arguments) + &final_chunks("tool_calls");
            out.write_all(text.as_bytes()).ok()
        }
        Reply::TextAndCall(text, tool, arguments) => {
            let text = stream_head() + &chunk(&json!({"content": text}), None) + &call_chunk(tool, &arguments);
            out.write_all((text + &final_chunks("tool_calls")).as_bytes()).ok()
        }
        Reply::Break(piece) => {
            let text = stream_head() + &chunk(&json!({"content": piece}), None);
            out.write_all(text.as_bytes()).ok()
        }
        Reply::Hang(piece) => {
            let text = stream_head() + &chunk(&json!({"content": piece}), None);
            out.write_all(text.as_bytes()).ok()?;
            // Wait until the client closes the connection.
            drop(out.read(&mut [0]));
            None
        }
    }
}

fn read_request(connection: &TcpStream) -> Option<Request> {
    let mut lines = BufReader::new(connection);
    let mut line = String::new();
    lines.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        lines.read_line(&mut line).ok()?;
        match line.trim_end().split_once(':') {
            Some((name, value)) => headers.push(format!("{}:{value}", name.to_lowercase())),
            None => break,
        }
    }
    let length = headers.iter().find_map(|header| header.strip_prefix("content-length:"));
    let mut body = vec![0; length.map_or(0, |length| length.trim().parse().unwrap())];
    lines.read_exact(&mut body).ok()?;
    Some(Request {
        path,
        headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
    })
}

fn stream_head() -> String {
    "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n".to_owned()
}

/// Returns the chunk that contains a call of a tool.
fn call_chunk(tool: &str, arguments: &Value) -> String {
    let function = json!({"name": tool, "arguments": arguments.to_string()});
    let call = json!({"index": 0, "id": "call_1", "type": "function", "function": function});
    chunk(&json!({"tool_calls": [call]}), None)
}

/// Returns a chunk of a reply. `delta` is the next part of the reply, and `finish` is the reason for its end if it ends here.
fn chunk(delta: &Value, finish: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    let chunk = json!({"id": "x", "object": "chat.completion.chunk", "model": "m", "choices": [choice]});
    format!("data: {chunk}\n\n")
}

/// Returns the chunks at the end of a reply: the reason for the end, the token counts (1000 in, 50 out), and the mark that ends
/// the stream.
fn final_chunks(finish: &str) -> String {
    let usage = json!({"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050});
    let counts = json!({"id": "x", "object": "chat.completion.chunk", "model": "m", "choices": [], "usage": usage});
    format!("{}data: {counts}\n\ndata: [DONE]\n\n", chunk(&json!({}), Some(finish)))
}
