//! The bodies of requests and responses, whose bytes are counted while they pass. A request body is also searched for canaries,
//! which are decoy secrets that no tool may send.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use art_core::secret::{RedactedStream, Redactor};
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use wasmtime_wasi_http::{Error, WasiBody};

use super::limits::MAX_REQUEST_BODY_BYTES;
use super::network::NetworkTask;

/// The number of bytes that have passed so far in the bodies of all requests and responses of one call.
#[derive(Clone, Debug, Default)]
pub(super) struct Traffic(Arc<AtomicU64>);

impl Traffic {
    fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A filter that redacts a body part by part: it replaces the secrets that its redactor looks for. It holds back bytes that may
/// be the beginning of a secret. If the redactor looks for no secrets, this is `None`, and the parts pass unchanged.
pub(super) struct BodyFilter(Option<RedactedStream>);

impl BodyFilter {
    pub(super) fn new(redactor: &Redactor) -> Self {
        Self((!redactor.is_empty()).then(|| RedactedStream::new(redactor.clone())))
    }

    /// Takes the next part. Returns what can be passed on.
    pub(super) fn push(&mut self, part: Bytes) -> Bytes {
        match &mut self.0 {
            Some(stream) => stream.push(&part).into(),
            None => part,
        }
    }

    /// Ends the body. Returns the bytes that are still held back.
    pub(super) fn finish(&mut self) -> Bytes {
        self.0.as_mut().map(RedactedStream::finish).unwrap_or_default().into()
    }

    /// Returns the name of the first canary that was found.
    fn canary(&self) -> Option<&str> {
        self.0.as_ref()?.canary()
    }

    fn holds_bytes(&self) -> bool {
        self.0.as_ref().is_some_and(RedactedStream::holds_bytes)
    }
}

/// The body that a guest sends. It fails at the maximum size and at the first canary. Its trailers are not sent.
pub(super) struct RequestBody {
    body: WasiBody,
    sent_bytes: u64,
    is_complete: bool,
    traffic: Traffic,
    canary_filter: BodyFilter,
    /// The name of the first canary that was found in a request of the call.
    seen_canary: Arc<OnceLock<String>>,
}

impl RequestBody {
    pub(super) fn new(
        body: WasiBody,
        traffic: Traffic,
        canaries: &Redactor,
        seen_canary: Arc<OnceLock<String>>,
    ) -> Self {
        Self {
            body,
            sent_bytes: 0,
            is_complete: false,
            traffic,
            canary_filter: BodyFilter::new(canaries),
            seen_canary,
        }
    }

    /// Counts the next part and searches it for canaries. Returns what can be sent. A `part` of `None` means that the body ends.
    fn pass(&mut self, part: Option<Bytes>) -> Result<Bytes, Error> {
        let part = match part {
            Some(part) => {
                self.sent_bytes = self.sent_bytes.saturating_add(part.len() as u64);
                self.traffic.add(part.len());
                self.canary_filter.push(part)
            }
            None => {
                self.is_complete = true;
                self.canary_filter.finish()
            }
        };
        if let Some(canary) = self.canary_filter.canary() {
            self.seen_canary.get_or_init(|| canary.to_owned());
            return Err(Error::HttpRequestDenied);
        }
        if self.sent_bytes > MAX_REQUEST_BODY_BYTES {
            return Err(Error::HttpRequestBodySize(Some(MAX_REQUEST_BODY_BYTES)));
        }
        Ok(part)
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        while !self.is_complete {
            let part = match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                // A frame without data has the trailers, and is the last one.
                Some(Ok(frame)) => frame.into_data().ok(),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => None,
            };
            match self.pass(part) {
                Ok(part) if part.is_empty() => {}
                Ok(part) => return Poll::Ready(Some(Ok(Frame::data(part)))),
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.is_complete || self.body.is_end_stream() && !self.canary_filter.holds_bytes()
    }

    fn size_hint(&self) -> SizeHint {
        match self.canary_filter.holds_bytes() {
            // The size hint of `body` does not include the bytes that the filter holds back.
            true => SizeHint::default(),
            false => self.body.size_hint(),
        }
    }
}

/// A part of the body of a response.
pub(super) enum ResponsePart {
    Data(Bytes),
    /// The body is complete.
    End,
}

/// The body of a response, as it arrives.
pub(super) struct ResponseBody {
    pub(super) parts: mpsc::Receiver<Result<ResponsePart, Error>>,
    pub(super) traffic: Traffic,
    /// The task that receives the response. It ends when the body is dropped.
    pub(super) _task: NetworkTask,
    /// The permit of an open request. The request counts as open until the body is dropped.
    pub(super) _open: OwnedSemaphorePermit,
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        Poll::Ready(match ready!(self.parts.poll_recv(cx)) {
            Some(Ok(ResponsePart::Data(data))) => {
                self.traffic.add(data.len());
                Some(Ok(Frame::data(data)))
            }
            Some(Ok(ResponsePart::End)) => None,
            Some(Err(error)) => Some(Err(error)),
            // The task ended without the end of the body.
            None => Some(Err(Error::ConnectionTerminated)),
        })
    }
}
