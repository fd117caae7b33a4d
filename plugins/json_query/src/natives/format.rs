//! Functions for the text formats HTML, URI and base64.

use base64::{Engine, engine::general_purpose::STANDARD};

/// Characters and their escapes in HTML.
const HTML_ESCAPES: [(&str, &str); 5] = [
    ("&", "&amp;"),
    ("<", "&lt;"),
    (">", "&gt;"),
    ("'", "&#39;"),
    ("\"", "&quot;"),
];

pub(super) fn escape_html(text: &str) -> String {
    HTML_ESCAPES
        .iter()
        .fold(text.to_owned(), |text, (plain, escaped)| text.replace(plain, escaped))
}

/// Unescapes HTML. Replaces `&amp;` last, so that `&amp;lt;` becomes `&lt;` and not `<`.
pub(super) fn unescape_html(text: &str) -> String {
    HTML_ESCAPES
        .iter()
        .rev()
        .fold(text.to_owned(), |text, (plain, escaped)| text.replace(escaped, plain))
}

/// Percent-encodes all bytes except the unreserved characters of RFC 3986.
pub(super) fn encode_uri(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

/// Decodes percent-encoding. Keeps a `%` that is not followed by two hexadecimal digits.
pub(super) fn decode_uri(text: &str) -> String {
    let mut rest = text.as_bytes();
    let mut decoded = Vec::with_capacity(rest.len());
    while let Some((first, tail)) = rest.split_first() {
        let digits = tail
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|pair| std::str::from_utf8(pair).ok());
        // `from_str_radix` would accept a sign too.
        match digits
            .filter(|pair| !pair.starts_with('+'))
            .and_then(|pair| u8::from_str_radix(pair, 16).ok())
        {
            Some(byte) => {
                decoded.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                decoded.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

pub(super) fn encode_base64(text: &str) -> String {
    STANDARD.encode(text)
}

pub(super) fn decode_base64(text: &str) -> Result<String, String> {
    let bytes = STANDARD.decode(text).map_err(|error| format!("not base64: {error}"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
