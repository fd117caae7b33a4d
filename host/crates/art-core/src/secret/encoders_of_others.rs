//! Tests of redaction with encoders and decoders that others wrote.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use proptest::prelude::*;
use serde_json::Value;

use super::{RedactedStream, Redactor, Secret, Secrets};

/// What `encodeURI` of JavaScript encodes, which keeps `/`, `&`, `=` and others.
const ENCODE_URI: AsciiSet = CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');
/// What `encodeURIComponent` of JavaScript encodes, which keeps `!*'()`.
const ENCODE_URI_COMPONENT: AsciiSet = NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

fn redactor(value: &str) -> Redactor {
    let secret = Secret::new("A", &value.into(), true).unwrap();
    Secrets::new(vec![secret]).unwrap().redactor().clone()
}

/// Returns a JSON text of `value` in which the character at each index is written in the way that `styles` names.
fn json_in_styles(value: &str, styles: &[u8]) -> String {
    let written = |(character, style): (char, &u8)| match (style % 4, character) {
        (0, _) => format!("\\u{:04x}", u32::from(character)),
        (1, _) => format!("\\u{:04X}", u32::from(character)),
        (2, '/') => "\\/".to_owned(),
        (_, '"' | '\\') => format!("\\{character}"),
        _ => character.to_string(),
    };
    value.chars().zip(styles.iter().cycle()).map(written).collect()
}

/// Returns `value` percent-encoded, in which each character that may be kept is kept or not as `styles` says.
fn percent_in_styles(value: &str, styles: &[u8]) -> String {
    let written = |(character, style): (char, &u8)| match (style % 3, character) {
        (0, _) | (_, '%') => format!("%{:02x}", u32::from(character)),
        (1, _) => format!("%{:02X}", u32::from(character)),
        _ => character.to_string(),
    };
    value.chars().zip(styles.iter().cycle()).map(written).collect()
}

/// Returns `text` in lines of `columns` characters.
fn in_lines(text: &str, columns: usize, line_break: &str) -> String {
    let lines: Vec<_> = text
        .as_bytes()
        .chunks(columns)
        .map(|line| std::str::from_utf8(line).unwrap())
        .collect();
    lines.join(line_break)
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Returns `value` in each encoding, as a part of longer data where the encoding makes a difference.
fn encode(value: &str, around: &str, styles: &[u8]) -> Vec<String> {
    let data = format!("{around}{value}{around}");
    let form: String = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("key", &data)
        .finish();
    let base64 = STANDARD.encode(&data);
    let mut texts = vec![
        data.clone(),
        quoted(&data),
        quoted(&quoted(&data)),
        json_in_styles(value, styles),
        percent_in_styles(value, styles),
        form,
        utf8_percent_encode(value, NON_ALPHANUMERIC).to_string(),
        utf8_percent_encode(value, &ENCODE_URI).to_string(),
        utf8_percent_encode(value, &ENCODE_URI_COMPONENT).to_string(),
        utf8_percent_encode(&quoted(&data), NON_ALPHANUMERIC).to_string(),
        hex::encode(&data),
        hex::encode_upper(&data),
        in_lines(&hex::encode(&data), 2, ":"),
        in_lines(&hex::encode_upper(&data), 2, " "),
        base64.clone(),
        STANDARD_NO_PAD.encode(&data),
        URL_SAFE.encode(&data),
        URL_SAFE_NO_PAD.encode(&data),
        data_encoding::BASE64_MIME.encode(data.as_bytes()),
        in_lines(&base64, 64, "\n"),
        in_lines(&base64, 7, "\r\n    "),
        in_lines(&base64, 1, "\n\t"),
        utf8_percent_encode(&base64, NON_ALPHANUMERIC).to_string(),
        json_in_styles(&base64, styles),
    ];
    texts.push(quoted(&data_encoding::BASE64_MIME.encode(data.as_bytes())));
    texts.push(quoted(&in_lines(&base64, 5, "\r\n\t")));
    texts.push(utf8_percent_encode(&in_lines(&base64, 5, "\r\n"), NON_ALPHANUMERIC).to_string());
    texts
}

/// Redacts a text that arrives in parts, cut after each of `cuts`.
fn redact_parts(redactor: &Redactor, text: &[u8], cuts: &[usize]) -> (Vec<u8>, bool) {
    let mut stream = RedactedStream::new(redactor.clone());
    let mut cuts: Vec<_> = cuts
        .iter()
        .map(|cut| cut % (text.len() + 1))
        .chain([0, text.len()])
        .collect();
    cuts.sort_unstable();
    let mut clean = Vec::new();
    for pair in cuts.windows(2) {
        clean.extend(stream.push(&text[pair[0]..pair[1]]));
    }
    clean.extend(stream.finish());
    (clean, stream.canary().is_some())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_secret_is_redacted_in_each_encoding_wherever_the_text_is_cut(
        value in "[!-~]{8,40}",
        around in "[ -~]{0,9}",
        before in "[ -~]{0,7}",
        after in "[ -~]{0,7}",
        styles in prop::collection::vec(any::<u8>(), 1..50),
        cuts in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        let redactor = redactor(&value);
        for encoded in encode(&value, &around, &styles) {
            let text = format!("{before}{encoded}{after}");
            let clean = redactor.text(&text).into_owned();
            prop_assert!(clean.contains(super::REDACTED), "{} -> {}", text, clean);
            prop_assert!(!redactor.finds_secret_in(clean.as_bytes()), "{} -> {}", text, clean);
            prop_assert_eq!(redactor.first_canary_in(text.as_bytes()), Some("A"));
            let (parts, has_canary) = redact_parts(&redactor, text.as_bytes(), &cuts);
            prop_assert_eq!(String::from_utf8(parts).unwrap(), clean, "{}", text);
            prop_assert!(has_canary);
        }
    }

    #[test]
    fn what_a_decoder_reads_as_a_secret_is_redacted(
        value in "[!-~]{8,40}",
        styles in prop::collection::vec(any::<u8>(), 1..50),
    ) {
        let redactor = redactor(&value);
        let json = format!("\"{}\"", json_in_styles(&value, &styles));
        prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), value.clone());
        prop_assert_eq!(redactor.text(&json), "\"«secret»\"");
        let url = percent_in_styles(&value, &styles);
        prop_assert_eq!(percent_decode_str(&url).decode_utf8().unwrap(), value);
        prop_assert_eq!(redactor.text(&url), "«secret»");
    }

    #[test]
    fn text_without_a_secret_stays_as_it_is(
        value in "[!-~]{8,40}",
        text in r#"(\\u00[0-9a-f]{2}|%[0-9A-F]{2}|&#[0-9]{2};|[ -~\n]){0,200}"#,
        cuts in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        let redactor = redactor(&value);
        // Almost no generated text has the secret in it, and the other test shows what happens then.
        prop_assume!(!redactor.finds_secret_in(text.as_bytes()));
        let (parts, has_canary) = redact_parts(&redactor, text.as_bytes(), &cuts);
        prop_assert_eq!(String::from_utf8(parts).unwrap(), text);
        prop_assert!(!has_canary);
    }
}

#[test]
fn a_secret_is_redacted_whatever_its_escapes_and_wherever_the_text_is_cut() {
    let value = "pa/s\"w\\+rd=%&1";
    let redactor = redactor(value);
    let styles = [0, 1, 2, 3, 0, 3, 1];
    for encoded in encode(value, "user:", &styles) {
        let text = format!("{{\"echo\": \"{encoded}\"}}");
        let whole = redactor.text(&text).into_owned();
        assert!(whole.contains(super::REDACTED), "{text} -> {whole}");
        for cut in 0..=text.len() {
            let (parts, _) = redact_parts(&redactor, text.as_bytes(), &[cut]);
            assert_eq!(String::from_utf8(parts).unwrap(), whole, "{text} cut at {cut}");
        }
    }
}

#[test]
fn entities_of_html_are_read() {
    let redactor = redactor("a<b>&'\"/cd");
    for text in [
        "a&lt;b&gt;&amp;&apos;&quot;/cd",
        "a&#60;b&#x3E;&amp;&#39;&#34;&#x2f;&#0099;d",
    ] {
        assert_eq!(redactor.text(text), "«secret»", "{text}");
    }
}

#[test]
fn words_of_ordinary_text_do_not_add_up_to_a_plain_secret() {
    let redactor = redactor("password");
    for text in [
        "pass word",
        "pass\nword",
        "pass-word",
        "pass:word",
        "Password",
        "passwor%",
        "passwor\\u0065",
    ] {
        assert_eq!(redactor.text(text), text);
    }
    assert_eq!(redactor.text("passwor\\u0064"), "«secret»");
}
