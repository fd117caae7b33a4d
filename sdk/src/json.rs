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
    replace_numbers(text, |number| is_large_integer(number).then(|| format!("\"{number}\"")))
}

/// Returns the JSON text with each number such as `2.0` or `3e2` as an integer. For JSON and for JSON Schema these are integers, and
/// some models write them so, but Rust's integer types refuse them. Other text is returned as it is.
pub(crate) fn with_integers(text: &str) -> Cow<'_, str> {
    /// Below this value, a float has all integers exactly.
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    replace_numbers(text, |number| {
        let is_written_as_float = number.contains(['.', 'e', 'E']);
        let value: f64 = number.parse().ok().filter(|_| is_written_as_float)?;
        // Adding zero makes a negative zero positive.
        (value.fract() == 0.0 && value.abs() < MAX_EXACT).then(|| format!("{}", value + 0.0))
    })
}

/// Returns the JSON text with what `replacement` returns in place of each number for which it returns something. Numbers in strings
/// and in the place of a key are no numbers.
fn replace_numbers(text: &str, replacement: impl Fn(&str) -> Option<String>) -> Cow<'_, str> {
    let (mut replaced, mut rest, mut is_changed) = (String::with_capacity(text.len() + 2), text, false);
    while let Some(at) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        let (before, token_and_rest) = rest.split_at(at);
        let (token, after) = token_and_rest.split_at(token_length(token_and_rest));
        let is_number = !token.starts_with('"') && !after.trim_start().starts_with(':');
        let new = is_number.then(|| replacement(token)).flatten();
        is_changed |= new.is_some();
        replaced.push_str(before);
        replaced.push_str(new.as_deref().unwrap_or(token));
        rest = after;
    }
    replaced.push_str(rest);
    if is_changed {
        Cow::Owned(replaced)
    } else {
        Cow::Borrowed(text)
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
    fn floats_without_a_fraction_become_integers_and_all_else_stays() {
        let text = r#"{"a":2.0,"b":[-0.0,3e2,-7.000,1.5,1e300],"2.0":"2.0","c":9007199254740993.0}"#;
        let expected = r#"{"a":2,"b":[0,300,-7,1.5,1e300],"2.0":"2.0","c":9007199254740993.0}"#;
        assert_eq!(with_integers(text), expected);
        assert!(matches!(with_integers(r#"{"a":2,"b":"3.0"}"#), Cow::Borrowed(_)));
    }

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
