//! JSON with integers of any size.
//!
//! A JSON number is a 64-bit integer or a float. An integer with more bits would become the nearest float, another number. Between
//! host and tools such an integer is a string of its digits.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

/// Parses JSON text from outside, such as a file. An integer of more than 64 bits becomes a string.
///
/// # Errors
///
/// Fails as [`serde_json::from_str`] does.
pub fn parse<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    serde_json::from_str(&with_exact_integers(text))
}

/// Returns the JSON text with each integer of more than 64 bits as a string, so that its digits are kept. A parser would round it
/// to a float. Other text is returned as it is.
pub fn with_exact_integers(text: &str) -> Cow<'_, str> {
    // An integer of 18 digits fits into 64 bits.
    let digit_runs = text.as_bytes().split(|byte| !byte.is_ascii_digit());
    if digit_runs.map(<[u8]>::len).max() < Some(19) {
        return Cow::Borrowed(text);
    }
    let mut exact = String::with_capacity(text.len() + 2);
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        let (before, token_and_rest) = rest.split_at(at);
        let (token, after) = token_and_rest.split_at(token_length(token_and_rest));
        exact.push_str(before);
        if is_large_integer(token) && !after.trim_start().starts_with(':') {
            exact.push('"');
            exact.push_str(token);
            exact.push('"');
        } else {
            exact.push_str(token);
        }
        rest = after;
    }
    exact.push_str(rest);
    // Each string is longer than its integer.
    if exact.len() == text.len() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(exact)
    }
}

/// Returns the length of the string or number at the beginning of `text`, in bytes.
fn token_length(text: &str) -> usize {
    if !text.starts_with('"') {
        return text
            .find(|c: char| !matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'))
            .unwrap_or(text.len());
    }
    let mut is_escaped = true;
    let end = text.bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |end| end + 1)
}

fn is_large_integer(token: &str) -> bool {
    let digits = token.strip_prefix('-').unwrap_or(token);
    let is_integer = !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.is_empty();
    is_integer && token.parse::<i64>().is_err() && token.parse::<u64>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn integers_of_more_than_64_bits_become_strings_and_all_else_stays() {
        let text = r#"{"a":18446744073709551616,"b":[18446744073709551615,-9223372036854775809],"c":"\"18446744073709551616"}"#;
        let expected = json!({
            "a": "18446744073709551616", "b": [u64::MAX, "-9223372036854775809"], "c": "\"18446744073709551616",
        });
        assert_eq!(parse::<Value>(text).unwrap(), expected);
        assert!(parse::<Value>("0.18446744073709551616").unwrap().is_f64());
        assert!(parse::<Value>("18446744073709551616e2").unwrap().is_f64());
        for invalid in [
            "{18446744073709551616:1}",
            "018446744073709551616",
            "18446744073709551616x",
        ] {
            parse::<Value>(invalid).unwrap_err();
        }
    }
}
