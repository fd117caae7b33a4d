//! Requests of a component, through `wasi:http`.

use std::time::Duration;

use super::{MAX_RESPONSE_BYTES, Request, Response, shown_address, url};
use crate::{Result, ToolError};
use bindings::wasi::http::outgoing_handler::handle;
use bindings::wasi::http::types::{
    ErrorCode as HttpError, Fields, IncomingBody, IncomingResponse, Method, OutgoingBody, OutgoingRequest,
    RequestOptions, Scheme, http_error_code,
};
use bindings::wasi::io::streams::StreamError;

/// Bindings generated from `wit/deps`.
mod bindings {
    wit_bindgen::generate!({
        path: "../wit",
        inline: "
            package art:sdk-http;
            world client {
                import wasi:http/outgoing-handler@0.2.12;
            }
        ",
        world: "art:sdk-http/client",
        generate_all,
        runtime_path: "::art_sdk::__private::wit_bindgen::rt",
    });
}

/// Size of one read of a body, in bytes.
const READ_BYTES: u64 = 64 << 10;
/// Size of one write of a body, in bytes: the most that a stream takes at once.
const WRITE_BYTES: usize = 4096;

pub(super) fn send(request: &Request) -> Result<Response> {
    let outgoing = to_outgoing(request)?;
    // `outgoing.body()` gives the request a body, even if nothing is written. So it is not called for a request without one.
    let body = if request.body.is_empty() {
        None
    } else {
        let body = outgoing.body();
        Some(body.map_err(|()| ToolError::validation("the header `content-length` is not the length of the body"))?)
    };
    let options = request.timeout.map(to_options).transpose()?;
    let pending = handle(outgoing, options).map_err(|error| failure(request, &error))?;
    if let Some(body) = body {
        write_body(request, body)?;
    }
    pending.subscribe().block();
    let response = match pending.get() {
        Some(Ok(Ok(response))) => response,
        Some(Ok(Err(error))) => return Err(failure(request, &error)),
        _ => return Err(ToolError::io("the host returned no response")),
    };
    read_response(request, &response)
}

fn to_outgoing(request: &Request) -> Result<OutgoingRequest> {
    let invalid = || {
        ToolError::validation(format_args!(
            "`{}` is no address of a page",
            shown_address(&request.url)
        ))
    };
    let parts = url::split(&request.url).ok_or_else(invalid)?;
    let headers = Fields::new();
    for (name, value) in &request.headers {
        headers
            .append(name, value.as_bytes())
            .map_err(|error| ToolError::validation(format_args!("the header `{name}` cannot be sent: {error}")))?;
    }
    if !request.body.is_empty() {
        let length = request.body.len().to_string();
        headers
            .set("content-length", &[length.into_bytes()])
            .map_err(|error| ToolError::io(format_args!("the length of the body cannot be sent: {error}")))?;
    }
    let outgoing = OutgoingRequest::new(headers);
    let scheme = if parts.is_https { Scheme::Https } else { Scheme::Http };
    outgoing
        .set_method(&to_method(&request.method))
        .and_then(|()| outgoing.set_scheme(Some(&scheme)))
        .and_then(|()| outgoing.set_authority(Some(parts.authority)))
        .and_then(|()| outgoing.set_path_with_query(Some(&parts.path_with_query)))
        .map_err(|()| invalid())?;
    Ok(outgoing)
}

fn to_method(name: &str) -> Method {
    match name {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "PATCH" => Method::Patch,
        "DELETE" => Method::Delete,
        "OPTIONS" => Method::Options,
        other => Method::Other(other.to_owned()),
    }
}

fn to_options(timeout: Duration) -> Result<RequestOptions> {
    let nanoseconds = Some(u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX));
    let options = RequestOptions::new();
    options
        .set_connect_timeout(nanoseconds)
        .and_then(|()| options.set_first_byte_timeout(nanoseconds))
        .and_then(|()| options.set_between_bytes_timeout(nanoseconds))
        .map_err(|()| ToolError::io("the host does not accept a timeout for a request"))?;
    Ok(options)
}

/// Writes the body of a request. A server may answer before it has read the whole body, so a closed stream is no error.
fn write_body(request: &Request, body: OutgoingBody) -> Result<()> {
    let stream = body.write().map_err(|()| ToolError::io("the body cannot be written"))?;
    for part in request.body.chunks(WRITE_BYTES) {
        match stream.blocking_write_and_flush(part) {
            Ok(()) => {}
            Err(StreamError::Closed) => return Ok(()),
            Err(StreamError::LastOperationFailed(error)) => return Err(stream_failure(request, &error)),
        }
    }
    // The stream has to be dropped before its body is finished.
    drop(stream);
    OutgoingBody::finish(body, None).map_err(|error| failure(request, &error))
}

fn read_response(request: &Request, response: &IncomingResponse) -> Result<Response> {
    let headers = response.headers().entries().into_iter();
    let headers = headers.map(|(name, value)| (name, String::from_utf8_lossy(&value).into_owned()));
    let (status, headers) = (response.status(), headers.collect());
    let body = response
        .consume()
        .map_err(|()| ToolError::io("the host returned no body"))?;
    let (body, is_truncated) = read_body(request, &body)?;
    Ok(Response {
        status,
        headers,
        body,
        is_truncated,
    })
}

/// Reads a body. Stops as soon as it is longer than the maximum size. Returns also whether the host broke it off before, at its own
/// limit, which counts the head of the response and the framing of its body too.
fn read_body(request: &Request, body: &IncomingBody) -> Result<(Vec<u8>, bool)> {
    let stream = body.stream().map_err(|()| ToolError::io("the host returned no body"))?;
    let mut bytes = Vec::new();
    while bytes.len() <= MAX_RESPONSE_BYTES {
        match stream.blocking_read(READ_BYTES) {
            Ok(part) => bytes.extend(part),
            Err(StreamError::Closed) => break,
            Err(StreamError::LastOperationFailed(error)) if is_size_limit(&error) => return Ok((bytes, true)),
            Err(StreamError::LastOperationFailed(error)) => return Err(stream_failure(request, &error)),
        }
    }
    Ok((bytes, false))
}

/// Returns whether a body broke off because the response has more bytes than the host accepts.
fn is_size_limit(error: &bindings::wasi::io::error::Error) -> bool {
    match http_error_code(error) {
        Some(code) => matches!(code, HttpError::HttpResponseBodySize(_)),
        // Hosts that are built on wasmtime 48 give no code for the failure of a body, but its text.
        None => error.to_debug_string().contains("response body size exceeds limit"),
    }
}

fn stream_failure(request: &Request, error: &bindings::wasi::io::error::Error) -> ToolError {
    match http_error_code(error) {
        Some(code) => failure(request, &code),
        None => ToolError::io(format_args!("the transfer broke off: {}", error.to_debug_string())),
    }
}

/// Returns the error for a request that failed.
fn failure(request: &Request, error: &HttpError) -> ToolError {
    let url = shown_address(&request.url);
    match error {
        HttpError::HttpRequestDenied => {
            ToolError::permission_denied(format_args!("{} `{url}` is not allowed", request.method))
        }
        HttpError::DnsTimeout
        | HttpError::ConnectionTimeout
        | HttpError::ConnectionReadTimeout
        | HttpError::ConnectionWriteTimeout
        | HttpError::HttpResponseTimeout => ToolError::timeout(format_args!("`{url}` did not answer in time")),
        HttpError::DnsError(_) => ToolError::not_found(format_args!("the server of `{url}` was not found")),
        HttpError::ConnectionRefused | HttpError::ConnectionTerminated | HttpError::HttpResponseIncomplete => {
            ToolError::io(format_args!("the connection to `{url}` failed")).retryable()
        }
        HttpError::TlsCertificateError => ToolError::io(format_args!("the certificate of `{url}` is not valid")),
        HttpError::ConnectionLimitReached => {
            ToolError::io("the call has reached its limit of requests, or has too many of them open at once")
        }
        HttpError::HttpRequestUriInvalid | HttpError::HttpRequestUriTooLong | HttpError::HttpRequestMethodInvalid => {
            ToolError::validation(format_args!("`{url}` is no valid address"))
        }
        HttpError::HttpResponseBodySize(_) => ToolError::io(format_args!("the response of `{url}` is too large")),
        other => ToolError::io(format_args!("the request to `{url}` failed: {other}")),
    }
}
