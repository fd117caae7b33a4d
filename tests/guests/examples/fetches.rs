//! Sends a request and returns the response.

#![cfg(target_family = "wasm")]

use std::collections::BTreeMap;
use std::time::Duration;

use art_sdk::{http, prelude::*};

#[args]
struct In {
    /// Where the request goes.
    url: String,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    body: String,
    /// Longest time to wait for each part of the response, in milliseconds.
    #[serde(default)]
    timeout_ms: Option<u64>,
    /// Number of times that the request is sent, one after the other.
    #[serde(default)]
    times: Option<u32>,
    /// Whether the tool fails after the response arrives, with the text of the response as the message of the error.
    #[serde(default)]
    fails: bool,
}

#[output]
struct Out {
    status: u16,
    headers: BTreeMap<String, String>,
    text: String,
    bytes: usize,
}

/// Sends a request and returns the response.
#[tool(capabilities(http("{args.url}", methods("GET", "POST"))))]
fn fetches(input: In, ctx: &Context) -> Result<Out> {
    let mut request = http::Request::new(input.method.as_deref().unwrap_or("GET"), &input.url).body(input.body);
    for (name, value) in &input.headers {
        request = request.header(name, value);
    }
    if let Some(milliseconds) = input.timeout_ms {
        request = request.timeout(Duration::from_millis(milliseconds));
    }
    let mut response = request.send()?;
    for _ in 1..input.times.unwrap_or(1) {
        response = request.send()?;
    }
    let text = response.text()?;
    if input.fails {
        ctx.info(&text);
        ctx.progress(&text, ());
        return Err(ToolError::unknown(text));
    }
    Ok(Out {
        status: response.status(),
        headers: response.headers().iter().cloned().collect(),
        bytes: response.bytes().len(),
        text,
    })
}
