//! Limits of the requests that one call sends.

use std::time::Duration;

use wasmtime_wasi_http::RequestOptions;

/// Number of requests of one call. A tool that reads a page and the pages to which it links needs about ten.
pub(super) const MAX_REQUESTS: u64 = 16;
/// Number of requests of one call that are open at the same time. A request is open until its response is read or dropped.
pub(super) const MAX_OPEN_REQUESTS: usize = 4;
/// Length of a URL in bytes. Most servers have a similar limit.
pub(super) const MAX_URL_BYTES: usize = 8 << 10;
/// Size of the body of a request in bytes.
pub(super) const MAX_REQUEST_BODY_BYTES: u64 = 1 << 20;
/// Bytes that arrive for one response, as they are sent: status, headers, framing and the body, which may be compressed.
pub(super) const MAX_RESPONSE_BYTES: u64 = 5 << 20;
/// Number of headers of a request and of a response.
pub(super) const MAX_HEADERS: usize = 64;
/// Size of the headers of a request and of a response in bytes.
pub(super) const MAX_HEADER_BYTES: usize = 16 << 10;
/// Memory of one set of headers that a guest creates. It is larger than [`MAX_HEADER_BYTES`], because the set needs more memory
/// than its names and values have bytes.
pub(super) const MAX_FIELD_BYTES: usize = 32 << 10;
/// Maximum size in bytes of a part of the body of a request. Up to two parts of each body that a guest writes wait in the memory
/// of the host, even if the request is never sent.
pub(super) const BODY_PART_BYTES: usize = 8 << 10;
/// Number of addresses of one server to which the network tries to connect.
pub(super) const MAX_ADDRESSES: usize = 4;

/// The maximum times of the steps of a request. The deadline of the call applies as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timeouts {
    /// For each of three steps: finding the addresses of the server, connecting to one of them, and setting up TLS.
    pub(super) connect: Duration,
    /// From sending the request to the head of the response.
    pub(super) first_byte: Duration,
    /// Between two parts of the body of the response.
    pub(super) between_bytes: Duration,
}

impl Timeouts {
    const MAX: Self = Self {
        connect: Duration::from_secs(5),
        first_byte: Duration::from_secs(15),
        between_bytes: Duration::from_secs(5),
    };

    /// Returns the times that a guest wishes, none of them longer than allowed. A time that the guest leaves open is the longest
    /// that is allowed.
    pub(super) fn new(options: Option<RequestOptions>) -> Self {
        let options = options.unwrap_or_default();
        let at_most = |wished: Option<Duration>, max: Duration| wished.map_or(max, |wished| wished.min(max));
        Self {
            connect: at_most(options.connect_timeout, Self::MAX.connect),
            first_byte: at_most(options.first_byte_timeout, Self::MAX.first_byte),
            between_bytes: at_most(options.between_bytes_timeout, Self::MAX.between_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_can_shorten_timeouts_but_not_lengthen_them() {
        let options_with_all = |seconds| RequestOptions {
            connect_timeout: Some(Duration::from_secs(seconds)),
            first_byte_timeout: Some(Duration::from_secs(seconds)),
            between_bytes_timeout: Some(Duration::from_secs(seconds)),
        };
        assert_eq!(
            Timeouts::new(Some(options_with_all(1))).first_byte,
            Duration::from_secs(1)
        );
        assert_eq!(Timeouts::new(Some(options_with_all(600))), Timeouts::MAX);
        assert_eq!(Timeouts::new(None), Timeouts::MAX);
    }
}
