//! HTTP requests, with the cargo feature `http`.
//!
//! A tool declares in its attribute which addresses it needs, and may use those that the operator of the host grants it:
//!
//! ```
//! use art_sdk::{http, prelude::*};
//!
//! #[args]
//! struct In {
//!     /// Address of the page.
//!     url: String,
//! }
//!
//! /// Returns the text of a page.
//! #[tool(capabilities(http("{args.url}")))]
//! fn page(input: In) -> Result<String> {
//!     let page = http::get(&input.url)?;
//!     page.success()?.text()
//! }
//!
//! art_sdk::testing::answer_http(|request| Ok(http::Response::new(200, format!("this is {}", request.url()))));
//! let out = art_sdk::testing::output(&PAGE, json!({"url": "https://example.com/"}));
//! assert_eq!(out, "this is https://example.com/");
//! ```
//!
//! The host sends a request only if a grant covers its method and its address. The host follows no redirect. If a grant names a
//! secret, such as an API key, the host adds it to the request, so the tool does not need to know it. A request has the header
//! `accept-encoding` only if the tool adds it. Some servers compress without being asked: a body in gzip or deflate is decompressed.

#[cfg(target_family = "wasm")]
mod component;
mod excerpt;
#[cfg(not(target_family = "wasm"))]
mod native;
mod query;
#[cfg(test)]
mod tests;
#[cfg(any(target_family = "wasm", test))]
mod url;

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Read};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

#[cfg(target_family = "wasm")]
use component::send;
pub use excerpt::excerpt;
#[cfg(not(target_family = "wasm"))]
use native::send;
#[cfg(not(target_family = "wasm"))]
pub(crate) use native::set_responder;

use crate::{ErrorCode, Result, ToolError};

/// Maximum size of a response, as it is sent and decompressed, in bytes. A request with a longer response fails, unless it accepts
/// the beginning of one ([`Request::allow_truncated`]).
pub const MAX_RESPONSE_BYTES: usize = 5 << 20;
/// Size of the beginning of a body in which the text for an error message is looked for, in bytes.
const MAX_EXCERPT_BYTES: usize = 16 << 10;

/// Fetches a page.
///
/// # Errors
///
/// Same as [`Request::send`].
pub fn get(url: &str) -> Result<Response> {
    Request::new("GET", url).send()
}

/// Sends a body to an address.
///
/// # Errors
///
/// Same as [`Request::send`].
pub fn post(url: &str, body: impl Into<Vec<u8>>) -> Result<Response> {
    Request::new("POST", url).body(body).send()
}

/// A request that can be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    timeout: Option<Duration>,
    allows_truncated: bool,
}

impl Request {
    /// Creates a request with a method such as `GET`, without headers and body.
    pub fn new(method: &str, url: &str) -> Self {
        Self {
            method: method.to_owned(),
            url: url.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
            timeout: None,
            allows_truncated: false,
        }
    }

    /// Adds a name and a value to the query of the address, before its fragment if it has one. Both are encoded: all characters but
    /// letters and digits of ASCII, `-`, `.`, `_` and `~` are percent-encoded as UTF-8.
    ///
    /// ```
    /// use art_sdk::http::Request;
    ///
    /// let request = Request::new("GET", "https://api.example.com/rows?sort=name#top")
    ///     .query("city", "K\u{f6}ln & more")
    ///     .query("limit", 10);
    /// let address = "https://api.example.com/rows?sort=name&city=K%C3%B6ln%20%26%20more&limit=10#top";
    /// assert_eq!(request.url(), address);
    /// ```
    #[must_use]
    pub fn query(mut self, name: &str, value: impl Display) -> Self {
        self.url = query::with_pair(self.url.trim(), name, &value.to_string());
        self
    }

    /// Adds a header. A request fails if its headers include one that only the host sets, such as `host` or `authorization`.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Sets the body to a JSON text, and the header `content-type` if it is not set.
    ///
    /// # Errors
    ///
    /// Fails if the value cannot be written as JSON.
    pub fn json(self, value: &impl Serialize) -> Result<Self> {
        let body = serde_json::to_vec(value)?;
        let mut names = self.headers.iter().map(|(name, _)| name);
        let request = match names.any(|name| name.eq_ignore_ascii_case("content-type")) {
            true => self,
            false => self.header("content-type", "application/json"),
        };
        Ok(request.body(body))
    }

    /// Sets the maximum time to wait for the connection, for the response, and between two parts of the response. The
    /// host never waits longer than 5 seconds for each step of connecting, 15 for the response and 5 between two parts.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Accepts the beginning of a response that has more than [`MAX_RESPONSE_BYTES`]; see [`Response::is_truncated`]. Without this,
    /// such a request fails.
    #[must_use]
    pub fn allow_truncated(mut self) -> Self {
        self.allows_truncated = true;
        self
    }

    /// Returns the method.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Returns the address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the headers in their order.
    pub fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    /// Returns the body, which is empty if there is none.
    pub fn bytes(&self) -> &[u8] {
        &self.body
    }

    /// Sends the request, and reads the response to its end.
    ///
    /// # Errors
    ///
    /// Fails with [`ErrorCode::PermissionDenied`] if no grant covers the request or its grant names a secret that is not
    /// stored, which the host reports with the command that helps, with a retryable [`ErrorCode::Timeout`] if the server is
    /// too slow, with [`ErrorCode::NotFound`] if the name of the server is unknown, with [`ErrorCode::ValidationError`] if
    /// the request is invalid, and otherwise with [`ErrorCode::IoError`]. A status such as 404 is no error; see
    /// [`Response::success`].
    pub fn send(&self) -> Result<Response> {
        let response = send(self)?.limited().decompressed(&self.url)?;
        // The status of an error or a redirect says more than its body.
        if response.is_truncated && !self.allows_truncated && response.is_success() {
            let address = shown_address(&self.url);
            return Err(ToolError::io(format_args!(
                "the response of `{address}` has more than {MAX_RESPONSE_BYTES} bytes: ask for a smaller part of it"
            )));
        }
        Ok(response)
    }
}

/// A response that was read to its end, or to the maximum size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    is_truncated: bool,
}

impl Response {
    /// Creates a response without headers, for a test.
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.into(),
            is_truncated: false,
        }
    }

    /// Adds a header, for a test.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Returns the status code.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Returns the headers in their order, with names in lower case.
    pub fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    /// Returns the first value of a header, whose name is compared without regard to case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let (_, value) = headers.find(|(header, _)| header.eq_ignore_ascii_case(name))?;
        Some(value)
    }

    /// Returns the body.
    pub fn bytes(&self) -> &[u8] {
        &self.body
    }

    /// Returns whether the body is only the beginning of what the server sent, because that has more than [`MAX_RESPONSE_BYTES`].
    /// This is never so for a success, unless the request has [`Request::allow_truncated`].
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// Returns the response itself if its status is between 200 and 299.
    ///
    /// # Errors
    ///
    /// Fails for any other status, with a code that fits it. The error is retryable if the status is 429, 502, 503 or 504, since
    /// a server often returns these only for a short time. The message has the status and, from 400 on, the beginning of the
    /// body; see [`excerpt`].
    ///
    /// ```
    /// use art_sdk::{ErrorCode, http::Response};
    ///
    /// let error = Response::new(404, "no row `7`\n").success().unwrap_err();
    /// assert_eq!(error.code, ErrorCode::NotFound);
    /// assert_eq!(error.message, "the server answered with the status 404: no row `7`");
    /// ```
    pub fn success(self) -> Result<Self> {
        let code = match self.status {
            200..=299 => return Ok(self),
            401 | 403 => ErrorCode::PermissionDenied,
            404 | 410 => ErrorCode::NotFound,
            429 => ErrorCode::RateLimited,
            _ => ErrorCode::IoError,
        };
        let (status, text) = (self.status, self.error_text());
        let colon = if text.is_empty() { "" } else { ": " };
        let error = ToolError::new(
            code,
            format_args!("the server answered with the status {status}{colon}{text}"),
        );
        let is_temporary = matches!(status, 429 | 502 | 503 | 504);
        Err(if is_temporary { error.retryable() } else { error })
    }

    fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns the beginning of what the server says about an error, or an empty text if the body is compressed. The body of a
    /// redirect says nothing.
    fn error_text(&self) -> String {
        if self.status < 400 || self.unread_coding().is_some() {
            return String::new();
        }
        let beginning = self.body.get(..MAX_EXCERPT_BYTES).unwrap_or(&self.body);
        excerpt(&String::from_utf8_lossy(beginning))
    }

    /// Cuts a body that is longer than the maximum size.
    fn limited(mut self) -> Self {
        self.is_truncated |= self.body.len() > MAX_RESPONSE_BYTES;
        self.body.truncate(MAX_RESPONSE_BYTES);
        self
    }

    /// Returns the response to a request of `url` with its body as it was before the server compressed it, cut at the maximum
    /// size. A body in another coding than gzip and deflate stays as it is.
    fn decompressed(mut self, url: &str) -> Result<Self> {
        let coding = self
            .header("content-encoding")
            .unwrap_or_default()
            .trim()
            .to_lowercase();
        let decoder: Box<dyn Read> = match coding.as_str() {
            // There is nothing to decompress in the answer to `HEAD`, and a part of a body cannot be.
            _ if self.body.is_empty() || self.status == 206 => return Ok(self),
            "gzip" | "x-gzip" => Box::new(flate2::read::MultiGzDecoder::new(self.body.as_slice())),
            "deflate" => Box::new(flate2::read::ZlibDecoder::new(self.body.as_slice())),
            _ => return Ok(self),
        };
        let mut body = Vec::new();
        let read = decoder.take(MAX_RESPONSE_BYTES as u64 + 1).read_to_end(&mut body);
        match read {
            Ok(_) => {}
            // The compressed body was cut, so that its end is missing.
            Err(error) if self.is_truncated && error.kind() == io::ErrorKind::UnexpectedEof => {}
            // The status of an error or a redirect says more than its body.
            Err(_) if !self.is_success() => return Ok(self),
            Err(error) => {
                let address = shown_address(url);
                return Err(ToolError::io(format_args!(
                    "the response of `{address}` is no valid {coding}: {error}"
                )));
            }
        }
        self.body = body;
        self.headers
            .retain(|(name, _)| !["content-encoding", "content-length"].contains(&name.to_lowercase().as_str()));
        Ok(self.limited())
    }

    /// Returns the coding of a body that is still compressed.
    fn unread_coding(&self) -> Option<&str> {
        let coding = self.header("content-encoding")?;
        (!coding.is_empty() && !coding.eq_ignore_ascii_case("identity")).then_some(coding)
    }

    /// Returns the body as text. Invalid UTF-8 is replaced.
    ///
    /// # Errors
    ///
    /// Fails if the body is compressed, since the bytes are not text in that case.
    pub fn text(&self) -> Result<String> {
        match self.unread_coding() {
            Some(coding) => Err(ToolError::io(format_args!(
                "the response is compressed with `{coding}`"
            ))),
            None => Ok(String::from_utf8_lossy(&self.body).into_owned()),
        }
    }

    /// Deserializes the body from JSON.
    ///
    /// ```
    /// use art_sdk::{http::Response, prelude::*};
    ///
    /// // A server may add fields at any time.
    /// #[args(ignore_unknown)]
    /// struct Rate {
    ///     code: String,
    /// }
    ///
    /// let response = Response::new(200, r#"{"code": "EUR", "source": "bank"}"#);
    /// let rate: Rate = response.json().unwrap();
    /// assert_eq!(rate.code, "EUR");
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the body is not JSON, or not a valid `T`.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_slice(&self.body)
            .map_err(|error| ToolError::io(format_args!("the response is not the expected JSON: {error}")))
    }
}

/// Returns the part of an address that an error message shows: without the query, since it may contain a key, and cut if it is
/// long.
fn shown_address(url: &str) -> Cow<'_, str> {
    const MAX_CHARS: usize = 200;
    let address = url.split(['?', '#']).next().unwrap_or_default();
    match address.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}...", address.get(..end).unwrap_or_default()).into(),
        None => address.into(),
    }
}
