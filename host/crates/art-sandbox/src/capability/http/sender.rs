//! Checks, counts and sends the requests of one call.
//!
//! A request that contains a canary is denied. A canary is a decoy among the secrets of the host. No tool is ever given a canary,
//! so a tool that sends one has read something that it should not read.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use art_core::capability::{CallGrants, Denial, GrantUse, GrantUses, HttpGrant};
use art_core::secret::Secrets;
use http::{Request, Response};
use http_body_util::BodyExt;
use tokio::sync::{Semaphore, mpsc, oneshot};
use wasmtime_wasi_http::{Error, ForbiddenHeaderFilter, RequestOptions, WasiBody, WasiHttpHooks};

use super::body::{RequestBody, ResponseBody, Traffic};
use super::exchange::{Exchange, Failure};
use super::limits::{BODY_PART_BYTES, MAX_OPEN_REQUESTS, MAX_REQUESTS, Timeouts};
use super::network::Network;
use super::request::{Address, as_sent_to_server, is_forbidden_header};
use super::secret::{self, SecretNotAdded};
use crate::denials::Denials;

/// The result of sending a request, as `wasmtime_wasi_http` wants it: the response, and the work that remains.
type Sent = (Response<WasiBody>, Remaining);
/// Two different futures have this type. The one that `send_request` takes ends when the guest has processed the response; a
/// [`Sender`] ignores it. The one that `send_request` returns tells whether sending the rest of the request failed; it is always
/// ready, because the body of the response reports such errors.
type Remaining = Box<dyn Future<Output = Result<(), Error>> + Send>;
type Sending = Box<dyn Future<Output = Result<Sent, Error>> + Send>;

/// Checks requests against the rights and limits of the call. It cannot send them. A right is what the call gets of a grant of the
/// operator, narrowed by the manifest of the tool.
pub(super) struct Gate {
    grants: Arc<CallGrants>,
    secrets: Arc<Secrets>,
    /// The name of the first canary that was seen in a request.
    seen_canary: Arc<OnceLock<String>>,
    admitted_requests: u64,
    /// The denials of requests. Shared with each request that is being sent ([`StartedRequest`]), because a request may still be
    /// denied when the addresses of its host are known.
    denials: Arc<Mutex<Denials>>,
    /// Which grants the call used, and for which requests.
    uses: GrantUses,
}

impl Gate {
    pub(super) fn new(grants: Arc<CallGrants>, secrets: Arc<Secrets>) -> Self {
        Self {
            grants,
            secrets,
            seen_canary: Arc::default(),
            admitted_requests: 0,
            denials: Arc::default(),
            uses: GrantUses::default(),
        }
    }

    /// Checks a request against the rights of the call and the maximum number of requests. If both allow it, counts it, and
    /// returns its address and the operator's grant that the right comes from. Otherwise returns the error that the guest sees.
    /// Does not look up the host.
    fn admit(&mut self, request: &Request<WasiBody>) -> Result<(Address, Arc<HttpGrant>), Error> {
        self.check_for_canary(request)?;
        let address = Address::parse(request.uri())?;
        let http_right = address.find_http_right(&self.grants, request.method().as_str(), request.headers());
        let http_right = http_right.map_err(|denial| self.deny(denial))?;
        if self.admitted_requests >= MAX_REQUESTS {
            return Err(Error::ConnectionLimitReached);
        }
        self.admitted_requests += 1;
        self.uses.add_http_request(
            request.method().as_str(),
            &http_right.grant.url,
            &address.target.scope(),
        );
        Ok((address, Arc::clone(&http_right.grant)))
    }

    /// Notes a denial, and returns the error that the guest sees.
    fn deny(&self, denial: Denial) -> Error {
        push_denial(&self.denials, denial);
        Error::HttpRequestDenied
    }

    /// Refuses a request with a canary in its URL or its headers. The body is searched while it is sent.
    fn check_for_canary(&self, request: &Request<WasiBody>) -> Result<(), Error> {
        let canaries = self.secrets.canary_redactor();
        if canaries.is_empty() {
            return Ok(());
        }
        let uri = request.uri().to_string();
        let headers = request.headers().iter();
        let mut headers = headers.flat_map(|(name, value)| [name.as_str().as_bytes(), value.as_bytes()]);
        let in_uri = canaries.first_canary_in(uri.as_bytes());
        let canary = in_uri.or_else(|| headers.find_map(|bytes| canaries.first_canary_in(bytes)));
        match canary {
            Some(canary) => {
                self.seen_canary.get_or_init(|| canary.to_owned());
                Err(Error::HttpRequestDenied)
            }
            None => Ok(()),
        }
    }

    /// Adds the secret of a grant to a request, if the grant has one. Returns whether it has one.
    fn add_secret(&self, grant: &HttpGrant, address: &Address, request: &mut Request<WasiBody>) -> Result<bool, Error> {
        let Some(secret_header) = &grant.secret else {
            return Ok(false);
        };
        let method = request.method().to_string();
        match secret::add(
            secret_header,
            &self.secrets,
            &method,
            &address.target,
            request.headers_mut(),
        ) {
            Ok(()) => Ok(true),
            Err(SecretNotAdded::Denied(denial)) => Err(self.deny(denial)),
            Err(SecretNotAdded::InvalidHeader) => Err(Error::ConfigurationError),
        }
    }

    /// Returns the name of the first canary that was seen in a request.
    pub(super) fn canary(&self) -> Option<String> {
        self.seen_canary.get().cloned()
    }

    /// Returns the number of requests that were admitted.
    pub(super) const fn admitted_requests(&self) -> u64 {
        self.admitted_requests
    }

    /// Returns which grants the call used and for which requests, and clears this list.
    pub(super) fn take_uses(&mut self) -> Vec<GrantUse> {
        self.uses.take()
    }

    /// Returns the denials, and clears them.
    pub(super) fn take_denials(&self) -> Vec<Denial> {
        self.denials.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

fn push_denial(denials: &Mutex<Denials>, denial: Denial) {
    denials.lock().unwrap_or_else(PoisonError::into_inner).push(denial);
}

fn forbidden_headers() -> ForbiddenHeaderFilter {
    Arc::new(is_forbidden_header)
}

/// The hooks for a guest that may send nothing: each request is denied. It is checked nevertheless, so that the call reports a
/// denial for it.
impl WasiHttpHooks for Gate {
    fn forbidden_header_filter(&mut self) -> ForbiddenHeaderFilter {
        forbidden_headers()
    }

    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        BODY_PART_BYTES
    }

    fn send_request(&mut self, request: Request<WasiBody>, _: Option<RequestOptions>, _: Remaining) -> Sending {
        let error = self.admit(&request).err();
        Box::new(async { Err(error.unwrap_or(Error::HttpRequestDenied)) })
    }
}

/// Sends the requests that its gate admits, with the secrets of their grants.
pub(super) struct Sender {
    pub(super) gate: Gate,
    network: Option<Arc<Network>>,
    /// Limits how many requests are open at the same time. Each open request holds a permit.
    open_request_permits: Arc<Semaphore>,
    /// Counts the bytes of the bodies that are sent and received.
    pub(super) traffic: Traffic,
}

impl Sender {
    /// Creates a sender. Without a network, nothing is sent.
    pub(super) fn new(grants: Arc<CallGrants>, secrets: Arc<Secrets>, network: Option<Arc<Network>>) -> Self {
        Self {
            gate: Gate::new(grants, secrets),
            network,
            open_request_permits: Arc::new(Semaphore::new(MAX_OPEN_REQUESTS)),
            traffic: Traffic::default(),
        }
    }

    /// Admits a request, and starts to send it.
    fn start(&mut self, request: Request<WasiBody>, options: Option<RequestOptions>) -> Result<StartedRequest, Error> {
        let network = self.network.clone().ok_or(Error::HttpRequestDenied)?;
        let (address, grant) = self.gate.admit(&request)?;
        let permit = Arc::clone(&self.open_request_permits).try_acquire_owned();
        let permit = permit.map_err(|_all_taken| Error::ConnectionLimitReached)?;
        let mut request = as_sent_to_server(request, &address)?;
        let request_has_secret = self.gate.add_secret(&grant, &address, &mut request)?;
        let request = request.map(|body| self.request_body(body));
        let (head_sender, response_head) = oneshot::channel();
        let (part_sender, parts) = mpsc::channel(1);
        let method = request.method().to_string();
        let exchange = Exchange {
            target: address.target.clone(),
            allows_private: grant.private,
            request,
            timeouts: Timeouts::new(options),
            redactor: self.gate.secrets.redactor().clone(),
            request_has_secret,
            head_sender,
            part_sender,
        };
        let task = network.spawn(exchange.run(Arc::clone(&network)));
        Ok(StartedRequest {
            method,
            grant,
            tool: Arc::clone(&self.gate.grants.tool),
            denials: Arc::clone(&self.gate.denials),
            response_head,
            response_body: ResponseBody {
                parts,
                traffic: self.traffic.clone(),
                _task: task.ok_or(Error::ConfigurationError)?,
                _open: permit,
            },
        })
    }
}

impl Sender {
    /// Returns the body of a request so that it is counted and searched for canaries while it is sent.
    fn request_body(&self, body: WasiBody) -> RequestBody {
        let (canaries, seen_canary) = (self.gate.secrets.canary_redactor(), Arc::clone(&self.gate.seen_canary));
        RequestBody::new(body, self.traffic.clone(), canaries, seen_canary)
    }
}

impl WasiHttpHooks for Sender {
    fn forbidden_header_filter(&mut self) -> ForbiddenHeaderFilter {
        forbidden_headers()
    }

    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        BODY_PART_BYTES
    }

    fn send_request(&mut self, request: Request<WasiBody>, options: Option<RequestOptions>, _: Remaining) -> Sending {
        let started = self.start(request, options);
        Box::new(async { started?.wait_for_response().await })
    }
}

/// A request that is being sent.
struct StartedRequest {
    method: String,
    /// The grant that covers the request, for a denial.
    grant: Arc<HttpGrant>,
    /// Name of the tool, for a denial.
    tool: Arc<str>,
    denials: Arc<Mutex<Denials>>,
    /// Gets the status and the headers of the response, or the failure.
    response_head: oneshot::Receiver<Result<Response<()>, Failure>>,
    response_body: ResponseBody,
}

impl StartedRequest {
    /// Waits for the status and the headers of the response. Dropping this future stops the request.
    async fn wait_for_response(self) -> Result<Sent, Error> {
        match self.response_head.await {
            Ok(Ok(head)) => {
                let body = self.response_body.boxed_unsync();
                Ok((head.map(|()| body), Box::new(std::future::ready(Ok(())))))
            }
            Ok(Err(Failure::NotPublic)) => {
                push_denial(&self.denials, Denial::not_public(&self.tool, &self.method, &self.grant));
                Err(Error::HttpRequestDenied)
            }
            Ok(Err(Failure::Other(error))) => Err(error),
            Err(_) => Err(Error::ConnectionTerminated),
        }
    }
}
