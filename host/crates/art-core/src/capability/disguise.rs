//! Requests that a server may take for other requests than those that were compared with the grants: their path means another
//! path after it is decoded once more, or a header or a parameter of the query names another method, path or host.

use std::borrow::Cow;

use super::http::RequestTarget;
use super::{Capability, Denial};
use crate::text::{byte_prefix, printable, truncate};

/// How many times a path is decoded to find out what it may mean. Each proxy on the way to a server may decode it once.
const MAX_DECODINGS: usize = 4;
/// Maximum length of a character that is encoded [`MAX_DECODINGS`] times, with all three characters of each escape, in bytes.
const MAX_ESCAPE_BYTES: usize = 81;
/// Maximum length of a name or of a part of a path that a reason shows, in characters.
const MAX_SHOWN_CHARS: usize = 60;

/// Headers, without `x-`, by which frameworks and proxies replace the method, the path or the host of a request.
const REPLACING_HEADERS: [&str; 15] = [
    "backend-host",
    "base-url",
    "forwarded",
    "host",
    "http-destinationurl",
    "http-host",
    "http-url",
    "method",
    "path",
    "proxy-url",
    "request-uri",
    "sendfile",
    "uri",
    "url",
    "waws-unencoded-url",
];
/// Beginnings of such headers, without `x-`.
const REPLACING_PREFIXES: [&str; 7] = [
    "accel-",
    "envoy-original-",
    "forward",
    "http-method",
    "original-",
    "override-",
    "rewrite-",
];
/// Ends of such headers.
const REPLACING_SUFFIXES: [&str; 5] = [
    "host-override",
    "method-override",
    "path-override",
    "uri-override",
    "url-override",
];
/// Parameters of a query by which frameworks replace the method of a request.
const METHOD_PARAMETERS: [&str; 6] = [
    "-method",
    "-http-method",
    "-httpmethod",
    "$httpmethod",
    "$method",
    "httpmethod",
];

impl RequestTarget {
    /// Returns the denial of a request whose path has a disguised `..`, such as `..;` or `%252e%252e`, or `None` if it has none.
    #[must_use]
    pub fn denial_of_disguised_parent(&self, method: &str) -> Option<Denial> {
        let segment = self.path.split('/').find(|segment| is_disguised_parent(segment))?;
        let reason = format!("its path has `{}`, which servers may take for `..`", shown(segment));
        let origin = self.origin().to_string();
        Some(Denial::new(Capability::Http, method, &origin, &reason))
    }

    /// Returns a part of the path that servers may take for a separator of segments, such as `%2F` or `%255c`, or `None` if there
    /// is none. Such a path is not compared with a prefix.
    pub(super) fn hidden_separator(&self) -> Option<&str> {
        let escapes = self.path.match_indices('%');
        escapes
            .map(|(start, _)| self.path.get(start..).unwrap_or_default())
            .find_map(separator_at)
    }
}

/// Returns the escape at the start of `text` if servers may decode it to a separator: a slash or a backslash, also if it is encoded
/// several times or in a form that is not valid.
fn separator_at(text: &str) -> Option<&str> {
    let first = text.get(..3).unwrap_or(text);
    if first.get(1..3).and_then(hexadecimal).is_none() {
        // It is no escape, such as `%u002f`, and servers differ in what they take it for.
        return Some(first);
    }
    let window = byte_prefix(text, MAX_ESCAPE_BYTES);
    if !begins_with_separator(window) {
        return None;
    }
    let ends = (3..window.len()).filter(|end| window.is_char_boundary(*end));
    let mut escapes = ends.filter_map(|end| window.get(..end));
    Some(escapes.find(|escape| begins_with_separator(escape)).unwrap_or(window))
}

/// Returns whether a text begins with a separator after it is decoded, or is encoded more often than servers decode.
fn begins_with_separator(text: &str) -> bool {
    let mut decoded = text.as_bytes().to_vec();
    for _ in 0..MAX_DECODINGS {
        let again = decode(&decoded);
        match again.first() {
            // No character begins with the bytes `0xc0` and `0xc1`, but some decoders read them as the beginning of an ASCII character.
            Some(b'/' | b'\\' | 0xc0 | 0xc1) => return true,
            // A `%` that stands for itself stays as it is.
            Some(b'%') if again != decoded => decoded = again,
            _ => return false,
        }
    }
    true
}

/// Returns whether servers may take a segment of a path for `..` or for several segments with `..` among them.
fn is_disguised_parent(segment: &str) -> bool {
    let mut decoded = Cow::Borrowed(segment.as_bytes());
    for _ in 0..MAX_DECODINGS {
        if has_parent(&decoded) {
            return true;
        }
        if !decoded.contains(&b'%') {
            return false;
        }
        decoded = decode(&decoded).into();
    }
    has_parent(&decoded)
}

/// Returns whether `..` is among the parts of a decoded segment. Servers cut off parameters after `;`, and some cut off white space
/// and control characters. A proxy that decodes the path and reads it again takes `?` and `#` for its end.
fn has_parent(decoded: &[u8]) -> bool {
    decoded.split(|byte| b"/\\?#".contains(byte)).any(|part| {
        let name = part.split(|byte| matches!(byte, b';' | 0)).next().unwrap_or_default();
        let is_ignored = |byte: &u8| byte.is_ascii_whitespace() || byte.is_ascii_control();
        let mut name = name.iter().filter(|byte| !is_ignored(byte));
        name.next() == Some(&b'.') && name.next() == Some(&b'.') && name.next().is_none()
    })
}

/// Decodes each escape of a URL once. The bytes that are not valid in UTF-8, by which some servers accept a dot or a separator, are
/// decoded as well.
fn decode(bytes: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        let escaped = (*first == b'%').then(|| after.first_chunk::<2>()).flatten();
        let byte = escaped.and_then(|digits| hexadecimal(std::str::from_utf8(digits).ok()?));
        rest = if byte.is_some() {
            after.get(2..).unwrap_or_default()
        } else {
            after
        };
        let byte = byte.unwrap_or(*first);
        // `%c0%ae` and `%e0%80%ae` are dots in forms that are too long.
        let (length, upper_bits) = match decoded.as_slice() {
            [.., lead @ (0xc0 | 0xc1)] if byte & 0xc0 == 0x80 => (1, *lead),
            [.., 0xe0, middle @ (0x80 | 0x81)] if byte & 0xc0 == 0x80 => (2, *middle),
            _ => {
                decoded.push(byte);
                continue;
            }
        };
        decoded.truncate(decoded.len() - length);
        decoded.push((upper_bits & 1) << 6 | byte & 0x3f);
    }
    decoded
}

/// Reads a byte of two hexadecimal digits.
fn hexadecimal(digits: &str) -> Option<u8> {
    let is_number = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u8::from_str_radix(digits, 16).ok().filter(|_| is_number)
}

/// Returns why a server may answer another request than the one that was compared with the grants, or `None`: the name of a header
/// or of a parameter of the query replaces the method, the path or the host.
pub(super) fn replaced_request<'a>(headers: impl Iterator<Item = &'a str>, query: Option<&str>) -> Option<String> {
    let mut headers = headers.filter(|name| replaces_request(name));
    if let Some(name) = headers.next() {
        return Some(format!("the header `{}`", shown(name)));
    }
    let parameters = query.unwrap_or_default().split(['&', ';']);
    let mut names = parameters.flat_map(|parameter| url::form_urlencoded::parse(parameter.as_bytes()));
    let (name, _) = names.find(|(name, _)| replaces_method(name))?;
    Some(format!("the parameter `{}` of the query", shown(&name)))
}

/// Returns whether frameworks or proxies replace the method, the path or the host of a request by the value of this header. Many
/// servers do not tell `_` from `-`.
fn replaces_request(header: &str) -> bool {
    let name = header.to_ascii_lowercase().replace('_', "-");
    // `host` itself has the granted host: the sender writes it, and no tool can.
    if name == "host" {
        return false;
    }
    let name = name.strip_prefix("x-").unwrap_or(&name);
    REPLACING_HEADERS.contains(&name)
        || REPLACING_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || REPLACING_SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
}

/// Returns whether frameworks replace the method of a request by the value of this parameter. Some servers end its name at a NUL,
/// and take `.`, a space and `[` for `_`.
fn replaces_method(parameter: &str) -> bool {
    let name = parameter.split('\0').next().unwrap_or_default().trim();
    let name = name.to_ascii_lowercase().replace(['_', '.', ' ', '['], "-");
    METHOD_PARAMETERS.contains(&name.as_str()) || name.contains("method-override") || name.starts_with("x-http-method")
}

fn shown(text: &str) -> String {
    printable(&truncate(text, MAX_SHOWN_CHARS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(path: &str) -> RequestTarget {
        RequestTarget::parse(&format!("https://a.example{path}")).unwrap()
    }

    #[test]
    fn a_disguised_parent_is_denied_with_what_it_is() {
        for path in [
            "/v1/..;/admin",
            "/v1/..;a=b/admin",
            "/v1/..%3b/admin",
            "/v1/%2e%2e%3B/admin",
            "/v1/%2e%2e;/admin",
            "/v1/%252e%252e/admin",
            "/v1/%25252e./admin",
            "/v1/.%252e/admin",
            "/v1/..%2fadmin",
            "/v1/x%2f..%2fy",
            "/v1/..%5cadmin",
            "/v1/..%255cadmin",
            "/v1/..%00/admin",
            "/v1/..%20/admin",
            "/v1/.%09./admin",
            "/v1/%c0%ae%c0%ae/admin",
            "/v1/..%c0%afadmin",
            "/v1/%e0%80%ae%e0%80%ae/admin",
            "/v1/..%3f/admin",
            "/v1/..%23/admin",
            "/v1/..%253f/admin",
        ] {
            let denial = target(path).denial_of_disguised_parent("GET");
            let denial = denial.unwrap_or_else(|| panic!("{path} is not denied"));
            assert!(
                denial.reason.ends_with("which servers may take for `..`"),
                "{path}: {denial}"
            );
            assert_eq!(denial.command, None);
        }
    }

    #[test]
    fn a_path_with_dots_that_are_no_parent_is_not_denied() {
        for path in [
            "/",
            "/v1/../admin",
            "/v1/%2e%2e/admin",
            "/v1\\..\\admin",
            "/a..b",
            "/...",
            "/a%2fb",
            "/..a",
            "/a;v=1/b",
            "/100%25",
            "/%",
        ] {
            assert_eq!(target(path).denial_of_disguised_parent("GET"), None, "{path}");
        }
    }

    #[test]
    fn a_hidden_separator_is_found_however_often_it_is_encoded() {
        for (path, separator) in [
            ("/v1/a%2Fb", "%2F"),
            ("/v1/a%2fb", "%2f"),
            ("/v1/a%5Cb", "%5C"),
            ("/v1/a%252fb", "%252f"),
            ("/v1/a%25255cb", "%25255c"),
            ("/v1/a%25%32%66b", "%25%32%66"),
            ("/v1/%c0%af", "%c0"),
            ("/v1/%e0%80%af", "%e0%80%af"),
            ("/v1/%u002f", "%u0"),
            ("/v1/%", "%"),
        ] {
            assert_eq!(target(path).hidden_separator(), Some(separator), "{path}");
        }
        for path in ["/", "/v1/a%20b", "/v1/%C3%A9", "/v1/100%25", "/v1/a%2520b", "/v1/..;x"] {
            assert_eq!(target(path).hidden_separator(), None, "{path}");
        }
    }

    #[test]
    fn headers_that_replace_the_request_are_recognized() {
        for name in [
            "x-http-method-override",
            "X-HTTP-Method",
            "x-method-override",
            "x_http_method_override",
            "x-original-url",
            "x-original-uri",
            "x-original-host",
            "x_original_url",
            "x-rewrite-url",
            "x-override-url",
            "x-forwarded-host",
            "x-forwarded-prefix",
            "x-forwarded-path",
            "x-forwarded-uri",
            "forwarded",
            "x-host",
            "x-http-host-override",
            "x-accel-redirect",
            "x-envoy-original-path",
            "x-sendfile",
        ] {
            assert!(replaces_request(name), "{name}");
        }
        for name in [
            "accept",
            "content-type",
            "x-api-version",
            "x-github-media-type",
            "user-agent",
            "origin",
            "if-none-match",
        ] {
            assert!(!replaces_request(name), "{name}");
        }
    }

    #[test]
    fn parameters_that_replace_the_method_are_recognized() {
        let reason = |query| replaced_request(std::iter::empty(), Some(query));
        for query in [
            "_method=DELETE",
            "a=b&_method=PUT",
            "a;_METHOD=PUT",
            "%5fmethod=PUT",
            "x-http-method-override=PUT",
            "$httpMethod=PUT",
            ".method=PUT",
            "%20_method=PUT",
            "[method=PUT",
            "_method%00x=PUT",
        ] {
            assert!(
                reason(query).is_some_and(|reason| reason.starts_with("the parameter")),
                "{query}"
            );
        }
        for query in [
            "",
            "method=list",
            "q=_method",
            "path=/a",
            "url=https://a.example/",
            "host=a",
        ] {
            assert_eq!(reason(query), None, "{query}");
        }
    }
}
