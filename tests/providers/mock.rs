//! The third-party mock of the providers: a separate process, which is killed when its [`Mock`] is dropped.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::fixture::Fixture;

/// The variable with the path of the mock's executable.
const MOCK_VARIABLE: &str = "ART_PROVIDER_MOCK";
/// The text that the mock prints before its address.
const READY: &str = "listening on http://";

/// A running process of the mock.
#[derive(Debug)]
pub(crate) struct Mock {
    child: Child,
    /// `127.0.0.1:PORT`.
    address: String,
    /// The key that the mock accepts.
    key: String,
}

impl Mock {
    /// Starts a mock that answers only the requests of `fixtures` and accepts only `key`, if there is one.
    pub(crate) fn start(dir: &Path, fixtures: &[Fixture], key: Option<&str>) -> Self {
        let file = dir.join("fixtures.json");
        let entries: Vec<_> = fixtures.iter().map(Fixture::to_json).collect();
        fs::write(&file, json!({"fixtures": entries}).to_string()).unwrap();
        let log = fs::File::create(dir.join("mock.log")).unwrap();
        let mut command = Command::new(required_variable(MOCK_VARIABLE, "names the executable of the mock"));
        command.args(["--port", "0", "--strict", "--fixtures"]).arg(file);
        match key {
            Some(key) => command.env("AIMOCK_API_KEYS", key),
            None => command.env_remove("AIMOCK_API_KEYS"),
        };
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let address = read_address(&mut child);
        Self {
            child,
            address,
            key: key.unwrap_or_default().to_owned(),
        }
    }

    /// Returns the URL of the mock without a path.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns every request that the mock answered, in order.
    pub(crate) fn requests(&self) -> Vec<Request> {
        let journal = self.control("GET", "journal", "");
        serde_json::from_str::<Vec<Value>>(&journal)
            .unwrap_or_else(|error| panic!("the mock's journal is not readable: {error}\n{journal}"))
            .into_iter()
            .map(Request)
            .collect()
    }

    /// Makes every request fail with the fault of this name from now on, such as `rateLimitRate`: a reply with the status 429.
    pub(crate) fn start_chaos(&self, fault: &str) {
        self.control("POST", "chaos", &json!({fault: 1}).to_string());
    }

    /// Ends the fault of [`Mock::start_chaos`].
    pub(crate) fn end_chaos(&self) {
        self.control("DELETE", "chaos", "");
    }

    /// Calls the control interface of the mock, with HTTP/1.0, so that the body ends with the connection.
    fn control(&self, method: &str, name: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let (key, length) = (&self.key, body.len());
        let head =
            format!("{method} /__aimock/{name} HTTP/1.0\r\nx-api-key: {key}\r\ncontent-length: {length}\r\n\r\n");
        stream.write_all((head + body).as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        let (head, body) = reply.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(" 200 "), "the mock refuses {method} {name}: {head}");
        body.to_owned()
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        // Ignore errors: the mock may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns the value of an environment variable. `meaning` describes it in the panic if it is not set.
pub(crate) fn required_variable(variable: &str, meaning: &str) -> OsString {
    env::var_os(variable).unwrap_or_else(|| {
        panic!("`{variable}`, which {meaning}, is not set: run `tests/providers/run`, which sets it")
    })
}

/// Reads the address from the mock's first lines. Later output is discarded, so that the mock does not block.
fn read_address(child: &mut Child) -> String {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = lines
        .by_ref()
        .map_while(Result::ok)
        .find(|line| line.contains(READY))
        .unwrap_or_else(|| panic!("the mock ended before it listened: see `mock.log`"));
    std::thread::spawn(move || lines.for_each(drop));
    line.split_once(READY).unwrap().1.trim().to_owned()
}

/// An entry of the mock's journal, which records every body in the form of the chat completions API, whatever the protocol.
#[derive(Debug)]
pub(crate) struct Request(Value);

impl Request {
    pub(crate) fn status(&self) -> u64 {
        self.0["response"]["status"].as_u64().unwrap()
    }

    pub(crate) fn path(&self) -> &str {
        self.0["path"].as_str().unwrap()
    }

    /// Returns the time of the reply, in milliseconds.
    pub(crate) fn timestamp(&self) -> u64 {
        self.0["timestamp"].as_u64().unwrap()
    }

    /// Returns a header. The mock masks headers that hold an API key.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.0["headers"][name].as_str()
    }

    pub(crate) fn body(&self) -> &Value {
        &self.0["body"]
    }

    pub(crate) fn messages(&self) -> &[Value] {
        self.body()["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    fn last_user_text(&self) -> String {
        let last = self.messages().iter().rfind(|message| message["role"] == "user");
        last.map_or_else(String::new, |message| message_text(&message["content"]))
    }

    /// Returns the texts of the assistant messages.
    pub(crate) fn assistant_texts(&self) -> Vec<String> {
        let messages = self.messages().iter();
        messages
            .filter(|message| message["role"] == "assistant")
            .map(|message| message_text(&message["content"]))
            .collect()
    }

    /// Returns whether the request is for a plan.
    pub(crate) fn is_planning(&self) -> bool {
        let text = self.last_user_text();
        text.contains("## Query\n") && !text.contains("## Task\n")
    }

    /// Returns whether the request is for the final answer after a plan that the model wrote as text. After a plan that it
    /// submitted with a call, the completed steps are in a tool message instead.
    pub(crate) fn is_synthesis(&self) -> bool {
        self.last_user_text().contains("## Completed steps")
    }
}

/// Returns the text of a message, which is a string or a list of parts.
fn message_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}
