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
use crate::provider::{host, is_loopback};
use crate::settings::{EngineLimits, time};

/// Maximum size of a body that is read as a whole, in bytes.
const MAX_WHOLE_BYTES: usize = 2 << 20;

/// Connections to all providers.
#[derive(Debug)]
pub(crate) struct Transport {
    limits: EngineLimits,
    /// Client for other machines, through the proxy of the environment. Created by the first call, because reading the
    /// certificates of the system is slow.
    remote: OnceLock<Client>,
    /// Client for this machine, without a proxy, so that plain HTTP does not leave the machine.
    loopback: OnceLock<Client>,
}

/// A request.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    /// JSON; empty if the request has no body.
    pub(crate) body: Vec<u8>,
    /// The reply does not stream: nothing arrives until the model has finished it.
    pub(crate) whole: bool,
}

/// A reply whose headers have arrived.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    response: reqwest::Response,
    host: String,
    limits: EngineLimits,
    deadline: Instant,
    read: usize,
}

impl Transport {
    pub(crate) const fn new(limits: EngineLimits) -> Self {
        Self {
            limits,
            remote: OnceLock::new(),
            loopback: OnceLock::new(),
        }
    }

    /// Sends `call` and waits for the headers of its reply.
    pub(crate) async fn send(&self, call: Call) -> Result<Reply, ModelError> {
        let host = host(&call.url);
        let client = self.client(is_loopback(&call.url))?;
        let request = client
            .request(call.method, call.url)
            .headers(call.headers)
            .body(call.body);
        let limits = if call.whole { silent(self.limits) } else { self.limits };
        let total = time(limits.total_timeout_ms);
        let header_timeout = time(limits.header_timeout_ms).min(total);
        let started = Instant::now();
        let response = timeout(header_timeout, request.send())
            .await
            .map_err(|_elapsed| failure::silent(&host, header_timeout))?
            .map_err(|cause| failure::of(&host, &limits, &cause))?;
        Ok(Reply {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            response,
            host,
            limits,
            deadline: started + total,
            read: 0,
        })
    }

    fn client(&self, loopback: bool) -> Result<&Client, ModelError> {
        let cell = if loopback { &self.loopback } else { &self.remote };
        if let Some(client) = cell.get() {
            return Ok(client);
        }
        // Two threads may each create one at the same time; the first is kept.
        let client = self.build(loopback)?;
        Ok(cell.get_or_init(|| client))
    }

    #[expect(clippy::disallowed_methods, reason = "this module creates the HTTP clients")]
    fn build(&self, loopback: bool) -> Result<Client, ModelError> {
        let builder = Client::builder()
            .tls_backend_preconfigured(tls::config(loopback)?)
            .user_agent(concat!("art/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .retry(reqwest::retry::never())
            .connect_timeout(time(self.limits.connect_timeout_ms))
            .pool_idle_timeout(time(self.limits.connection_idle_ms));
        let builder = if loopback { builder.no_proxy() } else { builder };
        builder.build().map_err(|cause| {
            let message = format!(
                "cannot prepare connections to model providers: {}",
                failure::root(&cause)
            );
            error(ModelErrorCode::NetworkError, message)
        })
    }
}

/// Returns the limits for a reply that does not stream: only the total time is bounded.
const fn silent(limits: EngineLimits) -> EngineLimits {
    EngineLimits {
        header_timeout_ms: limits.total_timeout_ms,
        idle_timeout_ms: limits.total_timeout_ms,
        ..limits
    }
}

impl Reply {
    /// Reads the next piece of the body. Returns `None` at its end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, ModelError> {
        let idle = time(self.limits.idle_timeout_ms);
        let until = self.deadline.min(Instant::now() + idle);
        let Ok(read) = timeout_at(until, self.response.chunk()).await else {
            return Err(if until == self.deadline {
                failure::endless(&self.host, time(self.limits.total_timeout_ms))
            } else {
                failure::stalled(&self.host, idle)
            });
        };
        let chunk = read.map_err(|cause| failure::of(&self.host, &self.limits, &cause))?;
        self.read += chunk.as_ref().map_or(0, Bytes::len);
        if self.read > self.limits.max_reply_bytes {
            return Err(failure::too_long(&self.host, self.limits.max_reply_bytes));
        }
        Ok(chunk)
    }

    /// Reads the whole body. Its limit is lower than that of a stream, because parsing it as one value takes several times its
    /// size.
    pub(crate) async fn body(&mut self) -> Result<Vec<u8>, ModelError> {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_WHOLE_BYTES {
                return Err(failure::too_long(&self.host, MAX_WHOLE_BYTES));
            }
        }
        Ok(body)
    }

    /// Reads the beginning of an error body, or as much of it as arrives.
    pub(crate) async fn error_body(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        while body.len() < self.limits.max_error_bytes {
            match self.chunk().await {
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) | Err(_) => break,
            }
        }
        body.truncate(self.limits.max_error_bytes);
        body
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// Returns whether the headers declare this media type.
    pub(crate) fn is(&self, media_type: &str) -> bool {
        let header = self.headers.get("content-type").and_then(|value| value.to_str().ok());
        let essence = header.and_then(|value| value.split(';').next()).unwrap_or_default();
        essence.trim().eq_ignore_ascii_case(media_type)
    }
}
