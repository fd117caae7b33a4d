//! The requests of one call: what is checked before one is sent, and what is counted.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use art_core::capability::{Denial, Grants, HttpGrant, Target, Use, Uses};
use art_core::secret::Secrets;
use http::{Request, Response};
use http_body_util::BodyExt;
use tokio::sync::{Semaphore, mpsc, oneshot};
use wasmtime_wasi_http::{Error, ForbiddenHeaderFilter, RequestOptions, WasiBody, WasiHttpHooks};

use super::body::{RequestBody, ResponseBody, Traffic};
use super::exchange::{Exchange, Failure};
use super::limits::{BODY_PART_BYTES, MAX_OPEN_REQUESTS, MAX_REQUESTS, Timeouts};
use super::network::Network;
use super::request::{Address, for_server, is_forbidden_header};
use super::secret::{self, NotAdded};
use crate::denials::Denials;

/// The result of sending a request, as `wasmtime_wasi_http` wants it: the response, and what is left to do.
type Sent = (Response<WasiBody>, Remaining);
type Remaining = Box<dyn Future<Output = Result<(), Error>> + Send>;
type Sending = Box<dyn Future<Output = Result<Sent, Error>> + Send>;

/// Checks requests. It cannot send them.
pub(super) struct Gate {
    grants: Arc<Grants>,
    secrets: Arc<Secrets>,
    /// The first canary that was seen in a request.
    seen_canary: Arc<OnceLock<String>>,
    requests: u64,
    /// Shared with the requests, because some are refused only when the addresses of their hosts are known.
    denials: Arc<Mutex<Denials>>,
    uses: Uses,
}

impl Gate {
    pub(super) fn new(grants: Arc<Grants>, secrets: Arc<Secrets>) -> Self {
        Self {
            grants,
            secrets,
            seen_canary: Arc::default(),
            requests: 0,
            denials: Arc::default(),
            uses: Uses::default(),
        }
    }

    /// Returns the address of a request and the grant that allows it, or the error that the guest sees. Does not look up the
    /// host.
    fn admit(&mut self, request: &Request<WasiBody>) -> Result<(Address, Arc<HttpGrant>), Error> {
        self.check_for_canary(request)?;
        let address = Address::parse(request.uri())?;
        let right = address.right(&self.grants, request.method().as_str());
        let right = right.map_err(|denial| self.deny(denial))?;
        if self.requests >= MAX_REQUESTS {
            return Err(Error::ConnectionLimitReached);
        }
        self.requests += 1;
        self.uses
            .add_request(request.method().as_str(), &right.grant.url, &address.target.scope());
        Ok((address, Arc::clone(&right.grant)))
    }

    /// Notes a denial, and returns the error that the guest sees.
    fn deny(&self, denial: Denial) -> Error {
        push_denial(&self.denials, denial);
        Error::HttpRequestDenied
    }

    fn check_for_canary(&self, request: &Request<WasiBody>) -> Result<(), Error> {
        let canaries = self.secrets.canaries();
        if canaries.is_empty() {
            return Ok(());
        }
        let uri = request.uri().to_string();
        let headers = request.headers().iter();
        let mut headers = headers.flat_map(|(name, value)| [name.as_str().as_bytes(), value.as_bytes()]);
        let in_uri = canaries.canary(uri.as_bytes());
        let canary = in_uri.or_else(|| headers.find_map(|bytes| canaries.canary(bytes)));
        match canary {
            Some(canary) => {
                self.seen_canary.get_or_init(|| canary.to_owned());
                Err(Error::HttpRequestDenied)
            }
            None => Ok(()),
        }
    }

    /// Adds the secret of a grant to a request, if the grant has one. Returns whether the request then has a secret.
    fn add_secret(&self, grant: &HttpGrant, address: &Address, request: &mut Request<WasiBody>) -> Result<bool, Error> {
        let Some(used) = &grant.secret else { return Ok(false) };
        let method = request.method().to_string();
        match secret::add(used, &self.secrets, &method, &address.target, request.headers_mut()) {
            Ok(()) => Ok(true),
            Err(NotAdded::Denied(denial)) => Err(self.deny(denial)),
            Err(NotAdded::InvalidHeader) => Err(Error::ConfigurationError),
        }
    }

    /// Returns the first canary that was seen in a request.
    pub(super) fn canary(&self) -> Option<String> {
        self.seen_canary.get().cloned()
    }

    /// Returns the number of requests that were admitted.
    pub(super) const fn requests(&self) -> u64 {
        self.requests
    }

    /// Returns the recorded uses of the call, and clears them.
    pub(super) fn take_uses(&mut self) -> Vec<Use> {
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

/// Denies every request.
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

/// Sends the requests that its gate admits.
pub(super) struct Sender {
    pub(super) gate: Gate,
    network: Option<Arc<Network>>,
    /// Has a permit for each further request that may be open at the same time.
    open: Arc<Semaphore>,
    pub(super) traffic: Traffic,
}

impl Sender {
    /// Creates a sender. Without a network, nothing is sent.
    pub(super) fn new(grants: Arc<Grants>, secrets: Arc<Secrets>, network: Option<Arc<Network>>) -> Self {
        Self {
            gate: Gate::new(grants, secrets),
            network,
            open: Arc::new(Semaphore::new(MAX_OPEN_REQUESTS)),
            traffic: Traffic::default(),
        }
    }

    /// Admits a request, and starts to send it.
    fn start(&mut self, request: Request<WasiBody>, options: Option<RequestOptions>) -> Result<StartedRequest, Error> {
        let network = self.network.clone().ok_or(Error::HttpRequestDenied)?;
        let (address, grant) = self.gate.admit(&request)?;
        let permit = Arc::clone(&self.open).try_acquire_owned();
        let permit = permit.map_err(|_all_taken| Error::ConnectionLimitReached)?;
        let mut request = for_server(request, &address)?;
        let carries_secret = self.gate.add_secret(&grant, &address, &mut request)?;
        let request = request.map(|body| self.request_body(body));
        let (head_sender, head) = oneshot::channel();
        let (part_sender, parts) = mpsc::channel(1);
        let method = request.method().to_string();
        let exchange = Exchange {
            target: address.target.clone(),
            private: grant.private,
            request,
            timeouts: Timeouts::new(options),
            redactor: self.gate.secrets.redactor().clone(),
            carries_secret,
            head_sender,
            part_sender,
        };
        let task = network.spawn(exchange.run(Arc::clone(&network)));
        Ok(StartedRequest {
            method,
            target: address.target,
            tool: Arc::clone(&self.gate.grants.tool),
            denials: Arc::clone(&self.gate.denials),
            head,
            body: ResponseBody {
                parts,
                traffic: self.traffic.clone(),
                _task: task.ok_or(Error::ConfigurationError)?,
                _open: permit,
            },
        })
    }
}

impl Sender {
    fn request_body(&self, body: WasiBody) -> RequestBody {
        let (canaries, seen_canary) = (self.gate.secrets.canaries(), Arc::clone(&self.gate.seen_canary));
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
    target: Target,
    tool: Arc<str>,
    denials: Arc<Mutex<Denials>>,
    head: oneshot::Receiver<Result<Response<()>, Failure>>,
    body: ResponseBody,
}

impl StartedRequest {
    /// Waits for the head of the response. Dropping this future stops the request.
    async fn wait_for_response(self) -> Result<Sent, Error> {
        match self.head.await {
            Ok(Ok(head)) => {
                let body = self.body.boxed_unsync();
                Ok((head.map(|()| body), Box::new(std::future::ready(Ok(())))))
            }
            Ok(Err(Failure::NotPublic)) => {
                push_denial(
                    &self.denials,
                    Denial::not_public(&self.tool, &self.method, &self.target),
                );
                Err(Error::HttpRequestDenied)
            }
            Ok(Err(Failure::Other(error))) => Err(error),
            Err(_) => Err(Error::ConnectionTerminated),
        }
    }
}
