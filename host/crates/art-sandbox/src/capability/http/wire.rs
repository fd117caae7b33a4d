//! A connection that limits how many bytes a server sends, whether they are headers, framing or body of its response.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::limits::MAX_RESPONSE_BYTES;

/// More bytes arrived than a response may have.
#[derive(Debug, thiserror::Error)]
#[error("the response is larger than {MAX_RESPONSE_BYTES} bytes")]
pub(super) struct ResponseTooLarge;

/// A connection that fails when more than [`MAX_RESPONSE_BYTES`] are received.
pub(super) struct LimitedConnection<C> {
    connection: C,
    received_bytes: u64,
}

impl<C> LimitedConnection<C> {
    pub(super) const fn new(connection: C) -> Self {
        Self {
            connection,
            received_bytes: 0,
        }
    }
}

impl<C: AsyncRead + Unpin> AsyncRead for LimitedConnection<C> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.connection).poll_read(cx, buf))?;
        self.received_bytes = self
            .received_bytes
            .saturating_add(buf.filled().len().saturating_sub(before) as u64);
        Poll::Ready(if self.received_bytes > MAX_RESPONSE_BYTES {
            Err(io::Error::other(ResponseTooLarge))
        } else {
            Ok(())
        })
    }
}

impl<C: AsyncWrite + Unpin> AsyncWrite for LimitedConnection<C> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.connection).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_shutdown(cx)
    }
}
