//! HTTP client for the providers: bounded in time and size, without cookies and redirects.

mod failure;
mod tls;

use std::sync::OnceLock;

use art_core::error::{ModelError, ModelErrorCode};
use bytes::Bytes;
use reqwest::header::HeaderMap;
use reqwest::{Client, Method, Url};
use tokio::time::{Instant, timeout, timeout_at};

use crate::fault::error;
use crate::provider::{host_and_port, is_loopback};
use crate::settings::{EngineLimits, duration_from_ms};

/// Maximum size of the body of a response that does not stream, in bytes.
const MAX_BODY_BYTES: usize = 2 << 20;

/// Connections to all providers.
#[derive(Debug)]
pub(crate) struct Transport {
    limits: EngineLimits,
    /// Client for each kind of [`Server`]. Created by the first call, because reading the certificates of the system is slow.
    clients: [OnceLock<Client>; 3],
}

/// Where a request goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Server {
    /// Another machine, through the proxy of the environment.
    Remote,
    /// This machine with TLS, without a proxy.
    Loopback,
    /// This machine without TLS, for which no certificates are read, and without a proxy, so that nothing leaves the machine.
    PlainLoopback,
}

impl Server {
    fn of(url: &Url) -> Self {
        match (is_loopback(url), url.scheme()) {
            (true, "http") => Self::PlainLoopback,
            (true, _) => Self::Loopback,
            (false, _) => Self::Remote,
        }
    }
}

/// An HTTP request to a provider.
#[derive(Debug)]
pub(crate) struct HttpRequest {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    /// JSON; empty if the request has no body.
    pub(crate) body: Vec<u8>,
    /// Whether only the total timeout applies, and neither the header timeout nor the idle timeout. Set for a reply that does not
    /// stream, of which nothing arrives until the model has finished it.
    pub(crate) only_total_timeout: bool,
    /// When all attempts of the call are over, unless only the total timeout applies. `None` for a request of its own.
    pub(crate) answer_by: Option<Instant>,
}

/// A response whose headers have arrived.
#[derive(Debug)]
pub(crate) struct HttpResponse {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    response: reqwest::Response,
    /// Host of the provider, with the port if it is not the default one.
    host: String,
    /// Path of the request.
    path: String,
    limits: EngineLimits,
    /// When the total timeout of the request is over.
    deadline: Instant,
    /// Size of the body so far.
    bytes_read: usize,
}

impl Transport {
    pub(crate) const fn new(limits: EngineLimits) -> Self {
        Self {
            limits,
            clients: [const { OnceLock::new() }; 3],
        }
    }

    /// Sends `request` and waits for the headers of the response.
    pub(crate) async fn send(&self, request: HttpRequest) -> Result<HttpResponse, ModelError> {
        let host = host_and_port(&request.url);
        let limits = if request.only_total_timeout {
            with_total_timeout_only(self.limits)
        } else {
            self.limits
        };
        let total = duration_from_ms(limits.total_timeout_ms);
        let started = Instant::now();
        let answer_by = request.answer_by.filter(|_| !request.only_total_timeout);
        let remaining = answer_by.map_or(total, |answer_by| answer_by.saturating_duration_since(started));
        let header_timeout = duration_from_ms(limits.header_timeout_ms).min(total).min(remaining);
        let client = self.client(Server::of(&request.url))?;
        let builder = client
            .request(request.method, request.url)
            .headers(request.headers)
            .body(request.body);
        let response = timeout(header_timeout, builder.send())
            .await
            .map_err(|_elapsed| failure::header_timeout(&host, header_timeout))?
            .map_err(|cause| failure::connection_error(&host, &limits, &cause))?;
        Ok(HttpResponse {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            path: response.url().path().to_owned(),
            response,
            host,
            limits,
            deadline: started + total,
            bytes_read: 0,
        })
    }

    fn client(&self, server: Server) -> Result<&Client, ModelError> {
        let [remote, loopback, plain_loopback] = &self.clients;
        let cell = match server {
            Server::Remote => remote,
            Server::Loopback => loopback,
            Server::PlainLoopback => plain_loopback,
        };
        if let Some(client) = cell.get() {
            return Ok(client);
        }
        // Two threads may create a client at the same time. The first client is kept.
        let client = self.build_client(server)?;
        Ok(cell.get_or_init(|| client))
    }

    #[expect(clippy::disallowed_methods, reason = "this module creates the HTTP clients")]
    fn build_client(&self, server: Server) -> Result<Client, ModelError> {
        let tls = match server {
            Server::Remote => tls::config(false)?,
            Server::Loopback => tls::config(true)?,
            Server::PlainLoopback => tls::without_certificates()?,
        };
        let builder = Client::builder()
            .tls_backend_preconfigured(tls)
            .user_agent(concat!("art/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .retry(reqwest::retry::never())
            .connect_timeout(duration_from_ms(self.limits.connect_timeout_ms))
            .pool_idle_timeout(duration_from_ms(self.limits.connection_idle_ms));
        let builder = if server == Server::Remote {
            builder
        } else {
            builder.no_proxy()
        };
        builder.build().map_err(|cause| {
            let message = format!(
                "cannot prepare connections to model providers: {}",
                failure::root_cause(&cause)
            );
            error(ModelErrorCode::NetworkError, message)
        })
    }
}

/// Returns `limits` with the header timeout and the idle timeout raised to the total timeout.
const fn with_total_timeout_only(limits: EngineLimits) -> EngineLimits {
    EngineLimits {
        header_timeout_ms: limits.total_timeout_ms,
        idle_timeout_ms: limits.total_timeout_ms,
        ..limits
    }
}

impl HttpResponse {
    /// Reads the next piece of the body. Returns `None` at its end.
    pub(crate) async fn next_chunk(&mut self) -> Result<Option<Bytes>, ModelError> {
        let idle = duration_from_ms(self.limits.idle_timeout_ms);
        let deadline = self.deadline.min(Instant::now() + idle);
        let Ok(result) = timeout_at(deadline, self.response.chunk()).await else {
            return Err(if deadline == self.deadline {
                failure::total_timeout(&self.host, duration_from_ms(self.limits.total_timeout_ms))
            } else {
                failure::idle_timeout(&self.host, idle)
            });
        };
        let chunk = result.map_err(|cause| failure::connection_error(&self.host, &self.limits, &cause))?;
        self.bytes_read += chunk.as_ref().map_or(0, Bytes::len);
        if self.bytes_read > self.limits.max_reply_bytes {
            return Err(failure::reply_too_long(&self.host, self.limits.max_reply_bytes));
        }
        Ok(chunk)
    }

    /// Reads the whole body. Its limit is lower than that of a stream, because parsing it as one value takes several times its
    /// size in memory.
    pub(crate) async fn read_body(&mut self) -> Result<Vec<u8>, ModelError> {
        let mut body = Vec::new();
        while let Some(chunk) = self.next_chunk().await? {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_BODY_BYTES {
                return Err(failure::reply_too_long(&self.host, MAX_BODY_BYTES));
            }
        }
        Ok(body)
    }

    /// Reads the beginning of an error body, or as much of it as arrives.
    pub(crate) async fn read_error_body(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        while body.len() < self.limits.max_error_bytes {
            match self.next_chunk().await {
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) | Err(_) => break,
            }
        }
        body.truncate(self.limits.max_error_bytes);
        body
    }

    /// Returns the host of the provider, with the port if it is not the default one.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// Returns the path of the request.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Returns whether the headers declare this media type, with any parameters.
    pub(crate) fn has_media_type(&self, media_type: &str) -> bool {
        let header = self.headers.get("content-type").and_then(|value| value.to_str().ok());
        let declared = header.and_then(|value| value.split(';').next()).unwrap_or_default();
        declared.trim().eq_ignore_ascii_case(media_type)
    }
}
