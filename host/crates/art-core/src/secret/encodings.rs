//! The forms in which a secret may come back from a server, apart from escapes, which `escapes.rs` reads.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::MIN_BYTES;

/// A form of the value of a secret.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Form {
    pub(super) text: String,
    /// Whether this is base64 or hexadecimal, in which programs insert line breaks and other separators.
    pub(super) is_encoded: bool,
}

/// Returns the forms of a value, each at least [`MIN_BYTES`] long: as it is, in hexadecimal, and in base64 with any number of bytes
/// before and after it.
pub(super) fn forms(value: &str) -> Vec<Form> {
    let encoded = |text| Form { text, is_encoded: true };
    let mut forms = vec![Form {
        text: value.to_owned(),
        is_encoded: false,
    }];
    forms.push(encoded(value.bytes().map(|byte| format!("{byte:02x}")).collect()));
    forms.push(encoded(value.bytes().map(|byte| format!("{byte:02X}")).collect()));
    // Base64 encodes three bytes at a time, so more than two bytes before the value make no new form.
    for bytes_before in 0..3 {
        let text = base64_within(value, bytes_before);
        // The alphabet for URLs.
        forms.push(encoded(text.replace('+', "-").replace('/', "_")));
        forms.push(encoded(text));
    }
    forms.retain(|form| form.text.len() >= MIN_BYTES);
    forms.sort();
    forms.dedup();
    forms
}

/// Returns whether programs write this character between characters of base64 or of hexadecimal.
pub(super) const fn is_separator(character: u8) -> bool {
    matches!(character, b' ' | b'\t' | b'\r' | b'\n' | b':' | b'-')
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
        for text in ["pa/ss\"w+rd", "70612f737322772b7264", "70612F737322772B7264"] {
            assert!(forms.iter().any(|form| form.text == text), "{text}: {forms:?}");
        }
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
            prop_assert!(known.iter().any(|form| standard.contains(form.text.as_str())));
            let url = standard.replace('+', "-").replace('/', "_");
            prop_assert!(known.iter().any(|form| url.contains(form.text.as_str())));
        }
    }
}
