//! Checks the address and the headers of a request before it is sent.

use art_core::capability::{CallGrants, Denial, HttpRight, RequestTarget};
use http::header::{CONTENT_LENGTH, HOST};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Uri};
use url::Url;
use wasmtime_wasi_http::{DEFAULT_FORBIDDEN_HEADERS, Error};

use super::limits::{MAX_HEADER_BYTES, MAX_HEADERS, MAX_REQUEST_BODY_BYTES, MAX_URL_BYTES};

/// Headers that a guest can neither send nor receive, in addition to [`DEFAULT_FORBIDDEN_HEADERS`]. They identify the sender, or
/// could make a server see another request than the one that was checked. The header `content-length` is not among them, because
/// `wasmtime-wasi-http` compares it with the body.
const FORBIDDEN_HEADERS: [HeaderName; 6] = [
    http::header::AUTHORIZATION,
    http::header::COOKIE,
    http::header::EXPECT,
    http::header::TE,
    http::header::TRAILER,
    HeaderName::from_static("cookie2"),
];

/// Returns whether a guest can neither send nor receive a header.
pub(super) fn is_forbidden_header(name: &HeaderName) -> bool {
    DEFAULT_FORBIDDEN_HEADERS.contains(name) || FORBIDDEN_HEADERS.contains(name) || name.as_str().starts_with("proxy-")
}

/// The address of a request in its normal form. The grants are compared with this form, and the server gets the same.
#[derive(Debug)]
pub(super) struct Address {
    pub(super) target: RequestTarget,
    path_and_query: PathAndQuery,
}

impl Address {
    /// Parses the URL of a request.
    pub(super) fn parse(uri: &Uri) -> Result<Self, Error> {
        let text = uri.to_string();
        if text.len() > MAX_URL_BYTES {
            return Err(Error::HttpRequestUriTooLong);
        }
        let invalid = || Error::HttpRequestUriInvalid;
        let url = Url::parse(&text).ok().ok_or_else(invalid)?;
        let target = RequestTarget::parse(url.as_str()).ok().ok_or_else(invalid)?;
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        let path_and_query = format!("{}{query}", url.path()).parse().ok().ok_or_else(invalid)?;
        Ok(Self { target, path_and_query })
    }

    /// Returns the right in `grants` that allows a request with this method and these headers to this address, or the denial if
    /// there is none.
    pub(super) fn find_http_right<'a>(
        &self,
        grants: &'a CallGrants,
        method: &str,
        headers: &HeaderMap,
    ) -> Result<&'a HttpRight, Denial> {
        if let Some(denial) = self.target.denial_of_disguised_parent(method) {
            return Err(denial);
        }
        let right = grants
            .find_http_right(method, &self.target)
            .ok_or_else(|| grants.denial_of_http_request(method, &self.target))?;
        let names = headers.keys().map(HeaderName::as_str);
        match right.denial_of_replaced_request(method, &self.target, names, self.path_and_query.query()) {
            Some(denial) => Err(denial),
            None => Ok(right),
        }
    }

    /// Returns the host and the port as they are written in the header `host`.
    fn authority(&self) -> String {
        let RequestTarget { secure, host, port, .. } = &self.target;
        let host = if host.contains(':') {
            format!("[{host}]")
        } else {
            host.clone()
        };
        match (secure, port) {
            (true, 443) | (false, 80) => host,
            _ => format!("{host}:{port}"),
        }
    }
}

/// Returns a request as it is sent to the server: its URL has only the path and the query, and the host is in the header `host`.
/// Fails if the headers are too many or too large, or if the header `content-length` announces a body that is too large.
pub(super) fn as_sent_to_server<B>(request: Request<B>, address: &Address) -> Result<Request<B>, Error> {
    let (mut parts, body) = request.into_parts();
    parts.headers.remove(HOST);
    check_headers(&parts.headers)?;
    let host = HeaderValue::try_from(address.authority());
    let host = host.map_err(|_invalid| Error::HttpRequestUriInvalid)?;
    let mut headers = HeaderMap::with_capacity(parts.headers.len() + 1);
    headers.insert(HOST, host);
    headers.extend(std::mem::take(&mut parts.headers));
    parts.headers = headers;
    parts.uri = Uri::from(address.path_and_query.clone());
    parts.version = http::Version::HTTP_11;
    parts.extensions.clear();
    Ok(Request::from_parts(parts, body))
}

fn check_headers(headers: &HeaderMap) -> Result<(), Error> {
    let bytes: usize = headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len())
        .sum();
    if headers.len() > MAX_HEADERS || bytes > MAX_HEADER_BYTES {
        return Err(Error::HttpRequestHeaderSectionSize(u32::try_from(bytes).ok()));
    }
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    match length.and_then(|length| length.parse::<u64>().ok()) {
        Some(length) if length > MAX_REQUEST_BODY_BYTES => Err(Error::HttpRequestBodySize(Some(length))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Address, Error> {
        Address::parse(&text.parse().unwrap())
    }

    #[test]
    fn an_address_is_sent_in_its_normal_form() {
        let address = parse("https://Example.COM.:443/a/../b/%7Ec?q=1&r=a%20b").unwrap();
        assert_eq!(
            (address.target.host.as_str(), address.target.path.as_str()),
            ("example.com", "/b/%7Ec")
        );
        // Only `address` decides what is sent, and not the URL of the request.
        let request = Request::get("https://Example.COM.:443/a/../b").body(()).unwrap();
        let sent = as_sent_to_server(request, &address).unwrap();
        assert_eq!(sent.uri().to_string(), "/b/%7Ec?q=1&r=a%20b");
        assert_eq!(sent.headers()[HOST], "example.com");
    }

    #[test]
    fn the_header_host_names_the_port_unless_the_port_is_the_default_of_the_scheme() {
        let authority = |text: &str| parse(text).unwrap().authority();
        assert_eq!(authority("http://a.example:8080/"), "a.example:8080");
        assert_eq!(authority("http://a.example:443/"), "a.example:443");
        assert_eq!(authority("http://[2606:4700::1]/"), "[2606:4700::1]");
    }

    #[test]
    fn a_disguised_address_is_parsed_to_the_host_that_it_really_leads_to() {
        for (text, host) in [
            ("http://2130706433/", "127.0.0.1"),
            ("http://0x7f.1/", "127.0.0.1"),
            ("http://0177.0.0.1/", "127.0.0.1"),
            ("http://127.1/", "127.0.0.1"),
            ("http://169.254.169.254./", "169.254.169.254"),
            ("http://LOCALHOST./", "localhost"),
            ("http://good.com.evil.com/", "good.com.evil.com"),
            ("http://[::ffff:7f00:1]/", "::ffff:127.0.0.1"),
        ] {
            assert_eq!(parse(text).unwrap().target.host, host, "{text}");
        }
    }

    #[test]
    fn an_address_with_a_user_or_another_scheme_is_refused() {
        for text in ["http://good.com@evil.com/", "http://u:p@evil.com/", "ftp://a.example/"] {
            assert!(matches!(parse(text), Err(Error::HttpRequestUriInvalid)), "{text}");
        }
    }

    #[test]
    fn a_long_address_is_refused() {
        let address = |path_bytes: usize| format!("http://a.example/{}", "x".repeat(path_bytes));
        let host_bytes = address(0).len();
        parse(&address(MAX_URL_BYTES - host_bytes)).unwrap();
        assert!(matches!(
            parse(&address(MAX_URL_BYTES - host_bytes + 1)),
            Err(Error::HttpRequestUriTooLong)
        ));
    }

    #[test]
    fn headers_that_identify_the_sender_or_disguise_the_request_are_forbidden() {
        for name in [
            "authorization",
            "connection",
            "cookie",
            "expect",
            "host",
            "keep-alive",
            "proxy-anything",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
        ] {
            assert!(is_forbidden_header(&name.parse().unwrap()), "{name}");
        }
        for name in ["accept", "content-length", "content-type", "x-api-version"] {
            assert!(!is_forbidden_header(&name.parse().unwrap()), "{name}");
        }
    }

    #[test]
    fn too_many_or_too_large_headers_are_refused() {
        let request_with_headers = |count: usize, value_bytes: usize| {
            let mut request = Request::get("http://a.example/");
            for index in 0..count {
                request = request.header(format!("x-{index}"), "v".repeat(value_bytes));
            }
            as_sent_to_server(request.body(()).unwrap(), &parse("http://a.example/").unwrap())
        };
        request_with_headers(MAX_HEADERS, 100).unwrap();
        request_with_headers(MAX_HEADERS + 1, 1).unwrap_err();
        request_with_headers(2, MAX_HEADER_BYTES / 2).unwrap_err();
    }

    #[test]
    fn a_body_that_is_announced_as_too_large_is_refused() {
        let request_with_length = |length: u64| {
            let request = Request::post("http://a.example/").header(CONTENT_LENGTH, length);
            as_sent_to_server(request.body(()).unwrap(), &parse("http://a.example/").unwrap())
        };
        request_with_length(MAX_REQUEST_BODY_BYTES).unwrap();
        request_with_length(MAX_REQUEST_BODY_BYTES + 1).unwrap_err();
    }
}
