//! HTTP to the providers: bounded in time and size, without cookies, and without ever following a redirect.

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

/// Bytes of a body that is read as a whole.
const MAX_WHOLE_BYTES: usize = 2 << 20;

/// Connections to all providers.
#[derive(Debug)]
pub(crate) struct Transport {
    limits: EngineLimits,
    /// Through the proxy that the environment names, if it names one. Made at the first call: reading the certificates of
    /// the system takes its time.
    outward: OnceLock<Client>,
    /// To this machine, through no proxy: what has no TLS must not leave it.
    inward: OnceLock<Client>,
}

/// A request.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    /// JSON; empty for none.
    pub(crate) body: Vec<u8>,
    /// Nothing comes before the reply is whole, which takes as long as the model writes.
    pub(crate) whole: bool,
}

/// A reply whose head is there.
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
            outward: OnceLock::new(),
            inward: OnceLock::new(),
        }
    }

    /// Sends `call` and waits for the head of its reply.
    pub(crate) async fn send(&self, call: Call) -> Result<Reply, ModelError> {
        let host = host(&call.url);
        let client = self.client(is_loopback(&call.url))?;
        let request = client
            .request(call.method, call.url)
            .headers(call.headers)
            .body(call.body);
        let limits = if call.whole { silent(self.limits) } else { self.limits };
        let total = time(limits.total_timeout_ms);
        let patience = time(limits.header_timeout_ms).min(total);
        let started = Instant::now();
        let response = timeout(patience, request.send())
            .await
            .map_err(|_elapsed| failure::silent(&host, patience))?
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
        let place = if loopback { &self.inward } else { &self.outward };
        if let Some(client) = place.get() {
            return Ok(client);
        }
        // Two threads may make one each at the same time; the first is kept.
        let made = self.build(loopback)?;
        Ok(place.get_or_init(|| made))
    }

    #[expect(clippy::disallowed_methods, reason = "this is the place that makes HTTP clients")]
    fn build(&self, loopback: bool) -> Result<Client, ModelError> {
        let builder = Client::builder()
            .tls_backend_preconfigured(tls::config(loopback)?)
            .user_agent(concat!("art/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .retry(reqwest::retry::never())
            .connect_timeout(time(self.limits.connect_timeout_ms));
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

/// The limits of a reply before which nothing comes: only all of it has to be there in time.
const fn silent(limits: EngineLimits) -> EngineLimits {
    EngineLimits {
        header_timeout_ms: limits.total_timeout_ms,
        idle_timeout_ms: limits.total_timeout_ms,
        ..limits
    }
}

impl Reply {
    /// The next piece of the body; none at its end.
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

    /// All of the body, which is read as one value: that takes many times its bytes, so it has fewer than a stream may.
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

    /// The start of a body that says what went wrong; as much of it as there is when it breaks off.
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

    /// Whether the body is said to be of that media type.
    pub(crate) fn is(&self, media_type: &str) -> bool {
        let header = self.headers.get("content-type").and_then(|value| value.to_str().ok());
        let essence = header.and_then(|value| value.split(';').next()).unwrap_or_default();
        essence.trim().eq_ignore_ascii_case(media_type)
    }
}
