//! Sends one request and receives its response, on the network thread.

use std::error::Error as StdError;
use std::sync::Arc;

use art_core::capability::RequestTarget;
use art_core::secret::Redactor;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use wasmtime_wasi_http::Error;

use super::body::{BodyFilter, RequestBody, ResponsePart};
use super::limits::{MAX_HEADER_BYTES, MAX_HEADERS, MAX_RESPONSE_BYTES, Timeouts};
use super::network::{ConnectError, Network};
use super::secret::redact_headers;
use super::wire::{LimitedConnection, ResponseTooLarge};

/// Why there is no response.
#[derive(Debug)]
pub(super) enum Failure {
    /// An address of the target is not public, and the grant allows only public ones.
    NotPublic,
    /// Any other failure, as the guest sees it.
    Other(Error),
}

/// A request that was admitted, and the channels to the call that waits for its response.
pub(super) struct Exchange {
    pub(super) target: RequestTarget,
    /// Whether the grant allows addresses that are not public.
    pub(super) allows_private: bool,
    pub(super) request: Request<RequestBody>,
    pub(super) timeouts: Timeouts,
    /// Removes secrets from the response.
    pub(super) redactor: Redactor,
    /// Whether the host added a secret to the request.
    pub(super) request_has_secret: bool,
    /// Passes the status and the headers of the response to the call, or the failure.
    pub(super) head_sender: oneshot::Sender<Result<Response<()>, Failure>>,
    /// Passes the body of the response to the call, in parts.
    pub(super) part_sender: mpsc::Sender<Result<ResponsePart, Error>>,
}

impl Exchange {
    /// Sends the request on a connection of its own, and passes on the response. No redirect is followed.
    pub(super) async fn run(self, network: Arc<Network>) {
        let time_limit = self.timeouts.connect;
        let connection = match network.connect(&self.target, self.allows_private, time_limit).await {
            Ok(connection) => TokioIo::new(LimitedConnection::new(connection)),
            Err(error) => return fail(self.head_sender, connect_failure(&error)),
        };
        let handshake = http1::Builder::new()
            .max_headers(MAX_HEADERS)
            .max_buf_size(MAX_HEADER_BYTES)
            .handshake(connection)
            .await;
        let (sender, connection_driver) = match handshake {
            Ok(connected) => connected,
            Err(error) => return fail(self.head_sender, Failure::Other(connection_error(&error))),
        };
        let exchange = self.send_and_receive(sender);
        tokio::pin!(exchange);
        tokio::select! {
            () = &mut exchange => {}
            // The connection is closed, but the rest of the response may still have to be passed on to the guest.
            _ = connection_driver => exchange.await,
        }
    }

    async fn send_and_receive(self, mut sender: http1::SendRequest<RequestBody>) {
        let Timeouts {
            first_byte,
            between_bytes,
            ..
        } = self.timeouts;
        let response = match timeout(first_byte, sender.send_request(self.request)).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return fail(self.head_sender, Failure::Other(connection_error(&error))),
            Err(_) => return fail(self.head_sender, Failure::Other(Error::HttpResponseTimeout)),
        };
        let (mut head, mut body) = response.into_parts();
        if let Err(error) = redact_headers(&mut head.headers, &self.redactor, self.request_has_secret) {
            return fail(self.head_sender, Failure::Other(error));
        }
        if self.head_sender.send(Ok(Response::from_parts(head, ()))).is_err() {
            return;
        }
        let mut secret_filter = BodyFilter::new(&self.redactor);
        loop {
            let part = match timeout(between_bytes, next_part(&mut body)).await {
                Ok(part) => part,
                Err(_) => Err(Error::ConnectionReadTimeout),
            };
            let is_last = !matches!(part, Ok(ResponsePart::Data(_)));
            if pass_on(&self.part_sender, &mut secret_filter, part).await.is_err() || is_last {
                return;
            }
        }
    }
}

/// Sends a part of the body of a response to the guest, without secrets. Fails if the guest has dropped the body.
async fn pass_on(
    part_sender: &mpsc::Sender<Result<ResponsePart, Error>>,
    secret_filter: &mut BodyFilter,
    part: Result<ResponsePart, Error>,
) -> Result<(), mpsc::error::SendError<Result<ResponsePart, Error>>> {
    let (data, end) = match part {
        Ok(ResponsePart::Data(data)) => (secret_filter.push(data), None),
        Ok(ResponsePart::End) => (secret_filter.finish(), Some(Ok(ResponsePart::End))),
        Err(error) => (Bytes::new(), Some(Err(error))),
    };
    if !data.is_empty() {
        part_sender.send(Ok(ResponsePart::Data(data))).await?;
    }
    match end {
        Some(end) => part_sender.send(end).await,
        None => Ok(()),
    }
}

fn fail(head_sender: oneshot::Sender<Result<Response<()>, Failure>>, failure: Failure) {
    // Sending fails if the call has ended, and then nobody waits for the response.
    drop(head_sender.send(Err(failure)));
}

/// Returns the next part of the body of a response. Trailers count as its end.
async fn next_part(body: &mut Incoming) -> Result<ResponsePart, Error> {
    match body.frame().await {
        Some(Ok(frame)) => Ok(frame.into_data().map_or(ResponsePart::End, ResponsePart::Data)),
        Some(Err(error)) => Err(connection_error(&error)),
        None => Ok(ResponsePart::End),
    }
}

/// Returns the failure to connect as the guest sees it, without any address.
fn connect_failure(error: &ConnectError) -> Failure {
    Failure::Other(match error {
        ConnectError::NotPublic => return Failure::NotPublic,
        ConnectError::UnknownHost => Error::DnsError {
            rcode: None,
            info_code: None,
        },
        ConnectError::ResolveTimeout => Error::DnsTimeout,
        ConnectError::Refused => Error::ConnectionRefused,
        ConnectError::Timeout => Error::ConnectionTimeout,
        ConnectError::Tls(error) if is_certificate_error(error) => Error::TlsCertificateError,
        ConnectError::Tls(_) => Error::TlsProtocolError,
        ConnectError::NoCertificates => Error::ConfigurationError,
    })
}

fn is_certificate_error(error: &std::io::Error) -> bool {
    matches!(
        find_cause::<rustls::Error>(error),
        Some(rustls::Error::InvalidCertificate(_))
    )
}

/// Returns the error that ended a connection, as the guest sees it.
fn connection_error(error: &hyper::Error) -> Error {
    if find_cause::<ResponseTooLarge>(error).is_some() {
        return Error::HttpResponseBodySize(Some(MAX_RESPONSE_BYTES));
    }
    // These errors come from the body of the request (`RequestBody`). They end the connection.
    match find_cause::<Error>(error) {
        Some(Error::HttpRequestBodySize(size)) => return Error::HttpRequestBodySize(*size),
        Some(Error::HttpRequestDenied) => return Error::HttpRequestDenied,
        _ => {}
    }
    if error.is_parse_too_large() {
        Error::HttpResponseHeaderSectionSize(None)
    } else if error.is_parse() {
        Error::HttpProtocolError
    } else if error.is_incomplete_message() {
        Error::HttpResponseIncomplete
    } else {
        Error::ConnectionTerminated
    }
}

/// Returns the first error of type `T` among an error and its causes. Also looks inside I/O errors.
fn find_cause<'a, T: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<T>() {
            return Some(found);
        }
        // `source` of an I/O error skips the error that the I/O error contains.
        let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        next = match inner {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}
