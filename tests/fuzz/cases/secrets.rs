//! Fuzz test of redaction, which replaces the secrets in bytes, plain or encoded. No secret may be left, even if it is split
//! over several parts of the bytes.

use art_core::secret::{RedactedStream, Redactor, Secret, Secrets};

/// Reads a secret and a text, inserts the secret into the text, plain or encoded, and redacts the text in parts.
///
/// The first line is the secret. In the rest, each byte of value 1 to 6 is replaced by one encoding of the secret, each byte of
/// value 7 ends a part, and each byte of value 14 to 18 is replaced by another encoding. The secret is a canary, a decoy whose presence the redactor also reports.
pub(crate) fn check(bytes: &[u8]) {
    let (value, rest) = split_first_line(bytes);
    let Ok(secret) = Secret::new("CANARY", &String::from_utf8_lossy(value).as_ref().into(), true) else {
        return;
    };
    let value = secret.expose().to_owned();
    let redactor = Secrets::new(vec![secret])
        .expect("one secret is not too many")
        .redactor()
        .clone();
    let parts: Vec<Vec<u8>> = rest
        .split(|byte| *byte == 7)
        .map(|part| insert_secret(part, &value))
        .collect();
    let whole = parts.concat();
    let (clean, found_canary) = redact_parts(&redactor, &parts);
    assert_eq!(
        clean,
        redactor.bytes(&whole).into_owned(),
        "redacting the parts gives another text than redacting the whole"
    );
    assert_eq!(found_canary, redactor.first_canary_in(&whole).is_some());
    for encoding in encodings(&value) {
        assert!(
            !contains(&clean, encoding.as_bytes()),
            "`{encoding}` is left in {:?}",
            String::from_utf8_lossy(&clean)
        );
    }
    assert_eq!(
        redactor.bytes(&clean).into_owned(),
        clean,
        "redacting again changes something"
    );
}

/// Returns the first line, and what follows it.
fn split_first_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    (&bytes[..end], bytes.get(end + 1..).unwrap_or_default())
}

/// Returns a part in which each byte of value 1 to 6 is replaced by the first to sixth encoding of the secret.
fn insert_secret(part: &[u8], value: &str) -> Vec<u8> {
    let encodings = encodings(value);
    // The bytes from 8 to 13 are control characters of texts.
    let index = |byte: u8| match byte {
        1..=6 => usize::from(byte - 1),
        14.. => usize::from(byte - 8),
        _ => usize::MAX,
    };
    let expand = |byte: &u8| match encodings.get(index(*byte)) {
        Some(encoding) => encoding.clone().into_bytes(),
        None => vec![*byte],
    };
    part.iter().flat_map(expand).collect()
}

/// Returns the redacted parts as one text, and whether the redactor reported the canary in them.
fn redact_parts(redactor: &Redactor, parts: &[Vec<u8>]) -> (Vec<u8>, bool) {
    let mut stream = RedactedStream::new(redactor.clone());
    let mut clean: Vec<u8> = parts.iter().flat_map(|part| stream.push(part)).collect();
    clean.extend(stream.finish());
    (clean, stream.canary().is_some())
}

/// Returns the secret as servers may send it back: plain, and in ten encodings. This code shares nothing with that of the host.
fn encodings(value: &str) -> [String; 11] {
    let bytes = value.as_bytes();
    let each_byte = |encode: fn(&u8) -> String| bytes.iter().map(encode).collect::<String>();
    let quoted = serde_json::to_string(value).unwrap_or_default();
    [
        value.to_owned(),
        each_byte(|byte| format!("{byte:02x}")),
        each_byte(|byte| format!("{byte:02X}")),
        each_byte(|byte| format!("%{byte:02X}")),
        base64(bytes),
        quoted
            .trim_start_matches('"')
            .strip_suffix('"')
            .unwrap_or_default()
            .to_owned(),
        each_byte(|byte| format!("\\u{byte:04x}")),
        each_byte(|byte| format!("\\u{byte:04X}")),
        each_byte(|byte| format!("&#{byte};")),
        each_byte(|byte| format!("%25{byte:02x}")),
        base64(bytes)
            .as_bytes()
            .chunks(7)
            .map(|line| String::from_utf8_lossy(line).into_owned() + "\r\n ")
            .collect::<String>()
            .trim_end()
            .to_owned(),
    ]
}

/// Returns the beginning of the value in base64, without the last character if it depends on what follows the value.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bit = |at: usize| bytes[at / 8] >> (7 - at % 8) & 1;
    let sextet = |at: usize| (0..6).fold(0, |value, offset| value << 1 | bit(at * 6 + offset));
    (0..bytes.len() * 8 / 6)
        .map(|at| char::from(ALPHABET[usize::from(sextet(at))]))
        .collect()
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
