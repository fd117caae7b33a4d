//! The forms in which a secret may come back from a server.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::MIN_BYTES;

/// Returns the forms of a value, each at least [`MIN_BYTES`] long: as it is, in JSON, in a URL, in hexadecimal, and in base64
/// with any number of bytes before and after it.
pub(super) fn forms(value: &str) -> Vec<String> {
    let mut forms = vec![value.to_owned()];
    let json = serde_json::Value::from(value).to_string();
    let json = json.get(1..json.len() - 1).unwrap_or_default().to_owned();
    forms.push(json.replace('/', "\\/"));
    forms.push(json);
    let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    for upper_case in [true, false] {
        forms.push(percent_encode(value, is_unreserved, upper_case));
        // Some programs encode every byte.
        forms.push(percent_encode(value, |_| false, upper_case));
        forms.push(encode_hexadecimal(value, upper_case));
    }
    // Base64 encodes three bytes at a time, so more than two bytes before the value make no new form.
    for bytes_before in 0..3 {
        let text = base64_within(value, bytes_before);
        // The alphabet for URLs.
        forms.push(text.replace('+', "-").replace('/', "_"));
        // JSON in which slashes are escaped.
        forms.push(text.replace('/', "\\/"));
        forms.push(text);
    }
    forms.retain(|form| form.len() >= MIN_BYTES);
    forms.sort();
    forms.dedup();
    forms
}

/// Encodes a value as in a URL, except the bytes for which `keeps` returns true.
fn percent_encode(value: &str, keeps: fn(u8) -> bool, upper_case: bool) -> String {
    let mut text = String::with_capacity(value.len());
    for byte in value.bytes() {
        if keeps(byte) {
            text.push(char::from(byte));
        } else {
            text.push('%');
            push_hexadecimal(&mut text, byte, upper_case);
        }
    }
    text
}

fn encode_hexadecimal(value: &str, upper_case: bool) -> String {
    let mut text = String::with_capacity(value.len() * 2);
    value
        .bytes()
        .for_each(|byte| push_hexadecimal(&mut text, byte, upper_case));
    text
}

fn push_hexadecimal(text: &mut String, byte: u8, upper_case: bool) {
    text.push_str(&if upper_case {
        format!("{byte:02X}")
    } else {
        format!("{byte:02x}")
    });
}

/// Encodes `value` in base64 as a part of longer data in which `bytes_before` bytes come before it. Returns only those characters
/// that do not depend on the bytes around it.
fn base64_within(value: &str, bytes_before: usize) -> String {
    let mut bytes = vec![0; bytes_before];
    bytes.extend(value.bytes());
    let text = STANDARD_NO_PAD.encode(&bytes);
    // Each character has six bits. Characters that share bits with the bytes before or after the value are left out.
    let (first, end) = ((bytes_before * 8).div_ceil(6), bytes.len() * 8 / 6);
    text.get(first..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_value_has_a_form_for_each_encoding() {
        let forms = forms("pa/ss\"w+rd");
        for form in [
            "pa/ss\"w+rd",
            r#"pa/ss\"w+rd"#,
            r#"pa\/ss\"w+rd"#,
            "pa%2Fss%22w%2Brd",
            "pa%2fss%22w%2brd",
            "%70%61%2F%73%73%22%77%2B%72%64",
            "70612f737322772b7264",
            "70612F737322772B7264",
        ] {
            assert!(forms.iter().any(|known| known == form), "{form}: {forms:?}");
        }
    }

    #[test]
    fn the_form_in_json_keeps_a_quote_at_the_end_of_the_value() {
        let forms = forms("abcdefg\"");
        assert!(forms.iter().any(|form| form == r#"abcdefg\""#), "{forms:?}");
    }

    proptest! {
        #[test]
        fn the_base64_of_data_with_a_secret_in_it_contains_a_form_of_the_secret(
            value in "[!-~]{8,40}",
            before in prop::collection::vec(any::<u8>(), 0..10),
            after in prop::collection::vec(any::<u8>(), 0..10),
        ) {
            let bytes = [before.as_slice(), value.as_bytes(), after.as_slice()].concat();
            let standard = STANDARD_NO_PAD.encode(bytes);
            let known = forms(&value);
            prop_assert!(known.iter().any(|form| standard.contains(form.as_str())));
            let url = standard.replace('+', "-").replace('/', "_");
            prop_assert!(known.iter().any(|form| url.contains(form.as_str())));
        }
    }
}
