//! The bodies of requests and responses, which are counted while they pass.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use wasmtime_wasi_http::{Error, WasiBody};

use super::limits::MAX_REQUEST_BODY_BYTES;
use super::network::NetworkTask;

/// The bytes that the requests of one call have sent and received.
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

/// The body that a guest sends, up to the maximum size. Its trailers are not sent.
pub(super) struct RequestBody {
    body: WasiBody,
    sent: u64,
    traffic: Traffic,
}

impl RequestBody {
    pub(super) const fn new(body: WasiBody, traffic: Traffic) -> Self {
        Self { body, sent: 0, traffic }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let data = match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
            Some(Ok(frame)) => frame.into_data(),
            Some(Err(error)) => return Poll::Ready(Some(Err(error))),
            None => return Poll::Ready(None),
        };
        // A frame without data has the trailers, and is the last one.
        let Ok(data) = data else { return Poll::Ready(None) };
        self.sent = self.sent.saturating_add(data.len() as u64);
        self.traffic.add(data.len());
        Poll::Ready(Some(if self.sent > MAX_REQUEST_BODY_BYTES {
            Err(Error::HttpRequestBodySize(Some(MAX_REQUEST_BODY_BYTES)))
        } else {
            Ok(Frame::data(data))
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A part of the body of a response.
pub(super) enum Part {
    Data(Bytes),
    /// The body is complete.
    End,
}

/// The body of a response, as it arrives.
pub(super) struct ResponseBody {
    pub(super) parts: mpsc::Receiver<Result<Part, Error>>,
    pub(super) traffic: Traffic,
    /// Receives the response until the body is dropped.
    pub(super) _task: NetworkTask,
    /// Counts the request as open until the body is dropped.
    pub(super) _open: OwnedSemaphorePermit,
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        Poll::Ready(match ready!(self.parts.poll_recv(cx)) {
            Some(Ok(Part::Data(data))) => {
                self.traffic.add(data.len());
                Some(Ok(Frame::data(data)))
            }
            Some(Ok(Part::End)) => None,
            Some(Err(error)) => Some(Err(error)),
            // The task ended without the end of the body.
            None => Some(Err(Error::ConnectionTerminated)),
        })
    }
}
