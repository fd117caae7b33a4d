//! Fuzz test of HTTP grants: an [`HttpScope`] is an address to which an operator can let a tool send requests, a
//! [`RequestTarget`] is the address of a request. Both types have a parser. The test compares the scheme, host, port and path
//! that these parsers read from a text with those that the URL parser reads.

use std::net::{IpAddr, Ipv6Addr};

use art_core::capability::{HttpScope, RequestTarget};
use url::Url;

use super::lines;

/// Maximum number of lines of an input that are read as addresses.
const MAX_ADDRESSES: usize = 8;

/// Reads lines as addresses of grants and of requests, and compares each grant with each request.
pub(crate) fn check(bytes: &[u8]) {
    let lines = lines(bytes);
    let scopes: Vec<HttpScope> = lines
        .iter()
        .take(MAX_ADDRESSES)
        .filter_map(|line| line.parse().ok())
        .collect();
    let targets: Vec<RequestTarget> = lines
        .iter()
        .take(MAX_ADDRESSES)
        .filter_map(|line| RequestTarget::parse(line).ok())
        .collect();
    lines.iter().take(MAX_ADDRESSES).for_each(|line| check_target(line));
    for scope in &scopes {
        assert_eq!(scope.to_string().parse::<HttpScope>().as_ref(), Ok(scope));
        targets.iter().for_each(|target| check_covered_request(scope, target));
        scopes
            .iter()
            .for_each(|other| check_intersection(scope, other, &targets));
    }
}

/// Checks that a target of a request has the host, the port and the path of its URL, so that the address that is compared with a
/// grant is the address that the request is sent to.
fn check_target(text: &str) {
    let Ok(target) = RequestTarget::parse(text) else { return };
    let url = Url::parse(text).expect("a target is a URL");
    assert!(url.username().is_empty() && url.password().is_none(), "{text}");
    let host = url
        .host_str()
        .unwrap_or_default()
        .trim_start_matches('[')
        .trim_end_matches(']');
    assert_eq!(host.strip_suffix('.').unwrap_or(host), url_host(&target.host), "{text}");
    assert_eq!(Some(target.port), url.port_or_known_default(), "{text}");
    assert_eq!(target.path, url.path(), "{text}");
    assert!(!may_be_resolved_as_ip_address(&target.host), "{text}: {}", target.host);
    let sent = RequestTarget::parse(&request_address(&target)).expect("the address of a request can be parsed");
    assert_eq!(sent, target, "{text}");
}

/// Returns a host in the spelling of the URL parser, an IPv6 address without its brackets.
fn url_host(host: &str) -> String {
    host.parse::<Ipv6Addr>().map_or_else(
        |_| host.to_owned(),
        |address| {
            Url::parse(&format!("http://[{address}]/"))
                .ok()
                .and_then(|url| url.host_str().map(|host| host.trim_matches(['[', ']']).to_owned()))
                .unwrap_or_default()
        },
    )
}

/// Returns the URL to which a request is sent, without its query.
fn request_address(target: &RequestTarget) -> String {
    let scheme = if target.secure { "https" } else { "http" };
    let (open, close) = if target.host.contains(':') {
        ("[", "]")
    } else {
        ("", "")
    };
    format!("{scheme}://{open}{}{close}:{}{}", target.host, target.port, target.path)
}

/// Returns whether a resolver may take a host for an IP address although it is not written as one: its last part is a number, as
/// in `0x7f.1` or `2130706433`.
fn may_be_resolved_as_ip_address(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or_default();
    let digits = last.strip_prefix("0x").unwrap_or(last);
    let digits_are_hexadecimal = !digits.is_empty()
        && digits.chars().all(|c| c.is_ascii_hexdigit())
        && last.starts_with(|c: char| c.is_ascii_digit());
    let is_decimal_or_starts_with_0x = last.chars().all(|c| c.is_ascii_digit()) || last.starts_with("0x");
    digits_are_hexadecimal && is_decimal_or_starts_with_0x && host.parse::<IpAddr>().is_err()
}

/// Checks that a request that the grant `scope` covers goes to the granted scheme, host and port, and to the granted path or
/// below it. Checks nothing if the grant does not cover the request.
fn check_covered_request(scope: &HttpScope, target: &RequestTarget) {
    if !scope.covers(target) {
        return;
    }
    let text = scope.to_string();
    let (scheme, rest) = text.split_once("://").expect("a grant has a scheme");
    let (is_wildcard, rest) = rest.strip_prefix("*.").map_or((false, rest), |rest| (true, rest));
    let granted = Url::parse(&format!("{scheme}://{rest}")).expect("a grant is a URL");
    let granted_host = granted
        .host_str()
        .unwrap_or_default()
        .trim_matches(['[', ']'])
        .to_owned();
    let host = url_host(&target.host);
    let is_granted_host = if is_wildcard {
        host.ends_with(&format!(".{granted_host}"))
    } else {
        host == granted_host
    };
    assert!(is_granted_host, "{text} {host}");
    assert_eq!(granted.port_or_known_default(), Some(target.port), "{text}");
    assert_eq!(granted.scheme() == "https", target.secure, "{text}");
    let (granted, requested) = (segments(granted.path()), segments(&target.path));
    assert!(requested.starts_with(&granted), "{text} {}", target.path);
    let decoded = target.path.to_ascii_lowercase().replace("%2e", ".");
    assert!(!decoded.split('/').any(|segment| segment == ".."), "{}", target.path);
}

fn segments(path: &str) -> Vec<&str> {
    path.trim_end_matches('/').split('/').collect()
}

/// Checks that the intersection of two grants covers exactly the requests that both cover.
fn check_intersection(one: &HttpScope, other: &HttpScope, targets: &[RequestTarget]) {
    let common = one.intersect(other);
    for target in targets {
        let both = one.covers(target) && other.covers(target);
        let covered = common.as_ref().is_some_and(|common| common.covers(target));
        assert_eq!(covered, both, "{one} {other} {}", request_address(target));
    }
}
