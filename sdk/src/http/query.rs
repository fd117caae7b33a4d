//! Adds pairs of names and values to the query of a URL.

/// Returns `url` with one more pair at the end of its query, before its fragment.
pub(super) fn with_pair(url: &str, name: &str, value: &str) -> String {
    let (address, fragment) = url.split_at(url.find('#').unwrap_or(url.len()));
    let separator = match address.split_once('?') {
        None => "?",
        Some((_, query)) if query.is_empty() || query.ends_with('&') => "",
        Some(_) => "&",
    };
    let mut text = format!("{address}{separator}");
    push_encoded(&mut text, name);
    text.push('=');
    push_encoded(&mut text, value);
    text + fragment
}

/// Adds `part` to `text`, with each byte of its UTF-8 percent-encoded that is not an unreserved character of RFC 3986.
fn push_encoded(text: &mut String, part: &str) {
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_pair_is_added_to_the_query_before_the_fragment() {
        for (url, expected) in [
            ("https://a.example", "https://a.example?k=v"),
            ("https://a.example/b", "https://a.example/b?k=v"),
            ("https://a.example/b?", "https://a.example/b?k=v"),
            ("https://a.example/b?c=d", "https://a.example/b?c=d&k=v"),
            ("https://a.example/b?c=d&", "https://a.example/b?c=d&k=v"),
            ("https://a.example/b#top", "https://a.example/b?k=v#top"),
            ("https://a.example/b?c=d#top?x&", "https://a.example/b?c=d&k=v#top?x&"),
        ] {
            assert_eq!(with_pair(url, "k", "v"), expected);
        }
    }

    #[test]
    fn all_but_unreserved_characters_are_encoded_as_utf_8() {
        assert_eq!(
            with_pair("u", "a b&c", "d=e+f/?#%"),
            "u?a%20b%26c=d%3De%2Bf%2F%3F%23%25"
        );
        assert_eq!(
            with_pair("u", "q", "caf\u{e9} \u{1f980}\r\n"),
            "u?q=caf%C3%A9%20%F0%9F%A6%80%0D%0A"
        );
        let unreserved = "ABCXYZabcxyz0189-._~";
        assert_eq!(with_pair("u", unreserved, ""), format!("u?{unreserved}="));
    }

    /// Returns the text whose percent-encoding is `encoded`.
    fn decode(encoded: &str) -> String {
        let mut parts = encoded.split('%');
        let mut bytes = parts.next().unwrap().as_bytes().to_vec();
        for part in parts {
            let (digits, rest) = part.split_at(2);
            bytes.push(u8::from_str_radix(digits, 16).unwrap());
            bytes.extend(rest.as_bytes());
        }
        String::from_utf8(bytes).unwrap()
    }

    proptest! {
        #[test]
        fn a_pair_is_read_again_as_it_was(name in ".*", value in ".*") {
            let url = with_pair("https://a.example/?b=c#d", &name, &value);
            let pair = url.strip_prefix("https://a.example/?b=c&").and_then(|rest| rest.strip_suffix("#d")).unwrap();
            let (encoded_name, encoded_value) = pair.split_once('=').unwrap();
            prop_assert_eq!((decode(encoded_name), decode(encoded_value)), (name, value));
        }
    }
}
