//! Calls `wasi:http` in ways in which the SDK does not. The input selects the attempt.

#![cfg(target_family = "wasm")]

use art_sdk::prelude::*;
use bindings::wasi::http::outgoing_handler::handle;
use bindings::wasi::http::types::{Fields, Method, OutgoingBody, OutgoingRequest, RequestOptions, Scheme};

mod bindings {
    wit_bindgen::generate!({
        path: "../../wit",
        inline: "
            package tests:raw;
            world client {
                import wasi:http/outgoing-handler@0.2.12;
            }
        ",
        world: "tests:raw/client",
        generate_all,
    });
}

#[args]
struct In {
    /// What to try.
    attempt: String,
    /// Host and port of the server.
    authority: String,
    /// A text that some attempts need: a part of the request, such as a header name or the path, or a number.
    #[serde(default)]
    text: String,
}

/// Calls `wasi:http` in unusual ways, and returns how that ended.
#[tool]
fn raw_requests(input: In) -> Result<String> {
    let (attempt, text) = (input.attempt.as_str(), input.text.as_str());
    let request = OutgoingRequest::new(Fields::new());
    match attempt {
        "header" => return Ok(describe(Fields::new().append(text, b"x"))),
        "value" => return Ok(describe(Fields::new().append("x-test", text.as_bytes()))),
        "many_headers" => return Ok(append_headers(text)),
        "long_header" => return Ok(describe(Fields::new().append("x-test", &vec![b'x'; number(text)]))),
        _ => {}
    }
    if prepare(&request, attempt, text, &input.authority).is_err() {
        return Ok("refused".to_owned());
    }
    match attempt {
        "trailers" => Ok(send_trailers(request, text)),
        "wait" => Ok(send_with_timeouts(request, text)),
        // The body is dropped before it is finished.
        "unfinished" => {
            drop(request.body());
            Ok(send(request))
        }
        // The future of the response is dropped before the response arrives.
        "abandoned" => Ok(handle(request, None).map_or_else(|error| error.to_string(), |_| "abandoned".to_owned())),
        _ => Ok(send(request)),
    }
}

/// Sets up a request to `authority`. If the attempt has the name of a part of the request (`path`, `method`, `scheme` or
/// `authority`), that part is `text` instead.
fn prepare(request: &OutgoingRequest, attempt: &str, text: &str, authority: &str) -> Result<(), ()> {
    let (mut scheme, mut sent_to) = (Scheme::Http, authority);
    request.set_path_with_query(Some("/"))?;
    match attempt {
        "path" => request.set_path_with_query(Some(text))?,
        "method" => request.set_method(&Method::Other(text.to_owned()))?,
        "trailers" => request.set_method(&Method::Post)?,
        "scheme" => scheme = Scheme::Other(text.to_owned()),
        "authority" => sent_to = text,
        _ => {}
    }
    request.set_authority(Some(sent_to))?;
    request.set_scheme(Some(&scheme))
}

/// Parses a number. A text that is not a number gives the largest number.
fn number(text: &str) -> usize {
    text.parse().unwrap_or(usize::MAX)
}

/// Adds `count` headers to one collection, and returns how that ended.
fn append_headers(count: &str) -> String {
    let fields = Fields::new();
    let added = (0..number(count)).try_for_each(|_| fields.append("x-test", b"x"));
    describe(added)
}

/// Sends a request with all its timeouts set to a number of nanoseconds.
fn send_with_timeouts(request: OutgoingRequest, nanoseconds: &str) -> String {
    let (options, time) = (RequestOptions::new(), nanoseconds.parse().ok());
    let result = options
        .set_connect_timeout(time)
        .and_then(|()| options.set_first_byte_timeout(time))
        .and_then(|()| options.set_between_bytes_timeout(time));
    result.map_or("refused".to_owned(), |()| send_with_options(request, Some(options)))
}

fn describe<E: std::fmt::Debug>(result: Result<(), E>) -> String {
    result.map_or_else(|error| format!("{error:?}"), |()| "accepted".to_owned())
}

fn send(request: OutgoingRequest) -> String {
    send_with_options(request, None)
}

/// Sends a request, and returns the status of the response or the error.
fn send_with_options(request: OutgoingRequest, options: Option<RequestOptions>) -> String {
    let pending = match handle(request, options) {
        Ok(pending) => pending,
        Err(error) => return error.to_string(),
    };
    pending.subscribe().block();
    match pending.get() {
        Some(Ok(Ok(response))) => response.status().to_string(),
        Some(Ok(Err(error))) => error.to_string(),
        _ => "no response".to_owned(),
    }
}

/// Sends a request with a body and one trailer, whose name is `name`.
fn send_trailers(request: OutgoingRequest, name: &str) -> String {
    let Ok(body) = request.body() else {
        return "no body".to_owned();
    };
    let trailers = Fields::new();
    if let Err(error) = trailers.append(name, b"x") {
        return format!("{error:?}");
    }
    let pending = match handle(request, None) {
        Ok(pending) => pending,
        Err(error) => return error.to_string(),
    };
    drop(body.write().map(|stream| stream.blocking_write_and_flush(b"hello")));
    if let Err(error) = OutgoingBody::finish(body, Some(trailers)) {
        return error.to_string();
    }
    pending.subscribe().block();
    match pending.get() {
        Some(Ok(Ok(response))) => response.status().to_string(),
        _ => "no response".to_owned(),
    }
}
