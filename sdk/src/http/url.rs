//! Splits a URL into its parts, and encodes the path and the query. Does not check the parts, because the host does.

/// The parts of a URL without its fragment.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts<'a> {
    pub(super) is_https: bool,
    /// The host and, if the URL has one, the port.
    pub(super) authority: &'a str,
    pub(super) path_with_query: String,
}

/// Splits a URL into its parts, or returns `None` if it does not begin with `http://` or `https://` and a host.
pub(super) fn split(url: &str) -> Option<Parts<'_>> {
    let url = url.trim();
    let (scheme, rest) = url.split_once("://")?;
    let is_https = match scheme.to_ascii_lowercase().as_str() {
        "https" => true,
        "http" => false,
        _ => return None,
    };
    let rest = rest.split('#').next()?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path_with_query) = rest.split_at_checked(end)?;
    if authority.is_empty() {
        return None;
    }
    let slash = if path_with_query.starts_with('/') { "" } else { "/" };
    Some(Parts {
        is_https,
        authority,
        path_with_query: format!("{slash}{}", encode(path_with_query)),
    })
}

/// Percent-encodes the characters that a URL cannot contain.
fn encode(path_with_query: &str) -> String {
    let mut text = String::with_capacity(path_with_query.len());
    for byte in path_with_query.bytes() {
        if byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_split_into_its_parts() {
        let fields = |url| {
            let parts = split(url).unwrap();
            (parts.is_https, parts.authority.to_owned(), parts.path_with_query)
        };
        assert_eq!(
            fields("https://a.example/b?c=d#e"),
            (true, "a.example".to_owned(), "/b?c=d".to_owned())
        );
        assert_eq!(
            fields(" HTTP://[::1]:8080?q "),
            (false, "[::1]:8080".to_owned(), "/?q".to_owned())
        );
        assert_eq!(fields("http://a"), (false, "a".to_owned(), "/".to_owned()));
    }

    #[test]
    fn characters_that_a_url_cannot_contain_are_encoded() {
        assert_eq!(
            split("https://a.example/caf\u{e9} {x}?q=a b%20c\r\n")
                .unwrap()
                .path_with_query,
            "/caf%C3%A9%20%7Bx%7D?q=a%20b%20c"
        );
        assert_eq!(
            split("https://a/b\r\nHost: c").unwrap().path_with_query,
            "/b%0D%0AHost:%20c"
        );
    }

    #[test]
    fn texts_that_are_no_http_urls_are_refused() {
        for url in [
            "",
            "a.example",
            "/a",
            "ftp://a/",
            "file:///etc/passwd",
            "https://",
            "https:///a",
        ] {
            assert_eq!(split(url), None, "{url}");
        }
    }
}
