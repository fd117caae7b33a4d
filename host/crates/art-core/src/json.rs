//! Untrusted JSON: its depth, its size, its memory and its numbers, and a text of a JSON value that does not depend on the order of its keys.
//!
//! A number of a [`Value`] is a 64-bit integer or a float. [`parse`] makes an integer with more bits a string, since a float would be
//! another number.
//!
//! Levels count the value itself: a scalar has one level. The depth counts only arrays and objects: a scalar has the depth 0.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::io::{self, Write};

use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Number, Value};

/// Maximum nesting of JSON from a model or a provider, in levels. The host stores such a value inside other values, and
/// a store accepts 120 levels in total.
pub const MAX_LEVELS: usize = 64;

/// Maximum memory of a value that is parsed from the text of a model or a provider, in bytes.
pub const MAX_PARSED_BYTES: usize = 64 << 20;

/// Memory of one value in a list, in bytes. A list doubles when it is full, so up to half of it is empty.
const ITEM_BYTES: usize = 2 * size_of::<Value>();
/// Memory of one member of an object, without its texts: the value, the name and its hash.
const MEMBER_BYTES: usize = size_of::<Value>() + size_of::<String>() + size_of::<u64>();
/// Memory of an object with its first members. The smallest object has room for four.
const OBJECT_BYTES: usize = 4 * MEMBER_BYTES + 128;
/// What the allocator adds to a text.
const TEXT_BYTES: usize = 32;

/// Parses JSON text. An integer of more than 64 bits becomes a string. Small objects need a hundred times the memory of their text,
/// so a text that would need more than [`MAX_PARSED_BYTES`] is not parsed.
///
/// # Errors
/// Fails as [`serde_json::from_str`] does, and if the value would need too much memory.
pub fn parse(text: &str) -> serde_json::Result<Value> {
    check_memory(text.as_bytes())?;
    serde_json::from_str(&with_exact_integers(text))
}

/// Parses JSON text into a type. A text that would need more than [`MAX_PARSED_BYTES`] is not parsed.
///
/// # Errors
/// Fails as [`serde_json::from_slice`] does, and if the value would need too much memory.
pub fn parse_slice<T: DeserializeOwned>(text: &[u8]) -> serde_json::Result<T> {
    check_memory(text)?;
    serde_json::from_slice(text)
}

fn check_memory(text: &[u8]) -> serde_json::Result<()> {
    match parsed_bytes(text) > MAX_PARSED_BYTES {
        true => Err(serde_json::Error::custom(format!(
            "it would need more than {MAX_PARSED_BYTES} bytes of memory"
        ))),
        false => Ok(()),
    }
}

/// Returns an upper bound of the memory of the value that a text is parsed into, in bytes and without the content of its texts,
/// which take no more than the text itself. Reads the text once and allocates nothing. The text may be anything, and its strings
/// may contain any brackets.
#[must_use]
pub fn parsed_bytes(text: &[u8]) -> usize {
    let (mut in_string, mut is_escaped) = (false, false);
    let structure = text.iter().map(|byte| match (in_string, byte) {
        (true, _) if is_escaped => {
            is_escaped = false;
            0
        }
        (true, b'\\') => {
            is_escaped = true;
            0
        }
        (true, b'"') => {
            in_string = false;
            0
        }
        (true, _) => 0,
        (false, b'"') => {
            in_string = true;
            TEXT_BYTES
        }
        (false, b'[' | b',') => ITEM_BYTES,
        (false, b'{') => OBJECT_BYTES,
        (false, b':') => 2 * MEMBER_BYTES,
        (false, _) => 0,
    });
    structure.sum()
}

/// Returns an upper bound of the memory of an object with `members` members whose room is exactly used, in bytes, without its
/// texts and without the objects and lists in it.
#[must_use]
pub const fn object_bytes(members: usize) -> usize {
    let index = if members < 4 { 4 } else { 2 * members };
    members * (MEMBER_BYTES + TEXT_BYTES) + index * size_of::<usize>() + 64
}

/// Returns the JSON text with each integer of more than 64 bits as a string, so that its digits are kept. A parser would round it
/// to a float. Other text is returned as it is.
#[must_use]
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

/// Compares two numbers exactly, an integer with a float too.
#[must_use]
pub fn compare_numbers(a: &Number, b: &Number) -> Ordering {
    let integer = |number: &Number| number.as_i128();
    let float = |number: &Number| number.as_f64().unwrap_or_default();
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(a), None) => compare_with_float(a, float(b)),
        (None, Some(b)) => compare_with_float(b, float(a)).reverse(),
        (None, None) => float(a).partial_cmp(&float(b)).unwrap_or(Ordering::Equal),
    }
}

fn compare_with_float(integer: i128, float: f64) -> Ordering {
    // A float of 128 bits or more becomes the lowest or the highest integer, which no number of 64 bits is.
    let floor = float.floor();
    integer
        .cmp(&(floor as i128))
        .then(floor.partial_cmp(&float).unwrap_or(Ordering::Equal))
}

/// Returns whether `value` nests deeper than `levels`. A scalar and an empty array or object have one level.
#[must_use]
pub fn is_deeper(value: &Value, levels: usize) -> bool {
    let Some(levels_below) = levels.checked_sub(1) else {
        return true;
    };
    match value {
        Value::Array(values) => values.iter().any(|value| is_deeper(value, levels_below)),
        Value::Object(map) => map.values().any(|value| is_deeper(value, levels_below)),
        _ => false,
    }
}

/// Returns a text that is the same for equal values, whatever the order of their keys, and differs for different values. It is
/// like JSON, but has sorted keys and a comma after each entry, and is not meant to be parsed.
#[must_use]
pub fn sorted_text(value: &Value) -> String {
    let mut text = String::new();
    write_sorted(value, &mut text);
    text
}

fn write_sorted(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (key, value) in entries {
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                write_sorted(value, out);
                out.push(',');
            }
            out.push('}');
        }
        Value::Array(values) => {
            out.push('[');
            for value in values {
                write_sorted(value, out);
                out.push(',');
            }
            out.push(']');
        }
        other => out.push_str(&other.to_string()),
    }
}

/// The size of a compact JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextSize {
    /// Its length in bytes.
    pub bytes: usize,
    /// How deep its arrays and objects are nested; 0 for a scalar.
    pub depth: usize,
}

/// Writes the compact JSON text of `value`, and returns how deep its arrays and objects are nested; 0 for a scalar.
///
/// # Errors
/// Fails if the writer does, or if the type of the value cannot be written as JSON.
pub fn write<W: Write, T: Serialize + ?Sized>(writer: W, value: &T) -> serde_json::Result<usize> {
    let mut formatter = DepthFormatter::default();
    value.serialize(&mut Serializer::with_formatter(writer, &mut formatter))?;
    Ok(formatter.max_depth)
}

/// Returns the size of the compact JSON text of `value`, without building the text.
#[must_use]
pub fn measure<T: Serialize + ?Sized>(value: &T) -> TextSize {
    let mut counter = ByteCounter(0);
    match write(&mut counter, value) {
        Ok(depth) => TextSize {
            bytes: counter.0,
            depth,
        },
        // Only a type with a faulty `Serialize` gets here. The result exceeds every limit.
        Err(_) => TextSize {
            bytes: usize::MAX,
            depth: usize::MAX,
        },
    }
}

/// Returns the length of the compact JSON text of `value` in bytes, without building the text.
#[must_use]
pub fn text_len<T: Serialize + ?Sized>(value: &T) -> usize {
    measure(value).bytes
}

/// Counts the bytes that are written to it.
struct ByteCounter(usize);

impl Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes compact JSON and notes how deep it is nested.
#[derive(Default)]
struct DepthFormatter {
    current_depth: usize,
    max_depth: usize,
}

impl DepthFormatter {
    fn enter(&mut self) {
        self.current_depth += 1;
        self.max_depth = self.max_depth.max(self.current_depth);
    }
}

impl Formatter for &mut DepthFormatter {
    fn begin_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.enter();
        writer.write_all(b"[")
    }

    fn end_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.current_depth -= 1;
        writer.write_all(b"]")
    }

    fn begin_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.enter();
        writer.write_all(b"{")
    }

    fn end_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.current_depth -= 1;
        writer.write_all(b"}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn scalars_and_empty_containers_have_one_level_and_what_contains_them_has_more() {
        for (value, levels) in [
            (json!(1), 1),
            (json!([]), 1),
            (json!([1]), 2),
            (json!({"a": [1, {}]}), 3),
        ] {
            assert!(!is_deeper(&value, levels), "{value}");
            assert!(is_deeper(&value, levels - 1), "{value}");
        }
    }

    #[test]
    fn the_depth_of_a_text_does_not_count_brackets_in_strings() {
        for (value, depth) in [
            (json!(1), 0),
            (json!([[], {"a": "\\\"[[["}]), 2),
            (json!({"[": [[1]]}), 3),
        ] {
            let bytes = value.to_string().len();
            assert_eq!(measure(&value), TextSize { bytes, depth }, "{value}");
        }
    }

    #[test]
    fn integers_of_more_than_64_bits_become_strings_and_all_else_stays() {
        for (text, expected) in [
            (
                r#"{"a":18446744073709551616,"b":[-9223372036854775809]}"#,
                json!({"a": "18446744073709551616", "b": ["-9223372036854775809"]}),
            ),
            (
                "[18446744073709551615, -9223372036854775808]",
                json!([u64::MAX, i64::MIN]),
            ),
            (
                r#"["\"18446744073709551616", "18446744073709551616\\", 1]"#,
                json!(["\"18446744073709551616", "18446744073709551616\\", 1]),
            ),
            (
                "[1e29, 18446744073709551616.0]",
                json!([1e29, 18_446_744_073_709_551_616.0]),
            ),
            (
                " 340282366920938463463374607431768211455 ",
                json!("340282366920938463463374607431768211455"),
            ),
        ] {
            assert_eq!(parse(text).unwrap(), expected, "{text}");
        }
        for invalid in [
            "{18446744073709551616:1}",
            "018446744073709551616",
            "18446744073709551616x",
            "-",
            "\"18446744073709551616",
        ] {
            parse(invalid).unwrap_err();
        }
    }

    #[test]
    fn numbers_are_compared_exactly() {
        let number = |text: &str| serde_json::from_str::<Number>(text).unwrap();
        for (low, high) in [
            ("9007199254740992", "9007199254740993"),
            ("9007199254740992.0", "9007199254740993"),
            ("18446744073709551614", "18446744073709551615"),
            ("-9223372036854775808", "18446744073709551615"),
            ("18446744073709551615", "18446744073709551616.0"),
            ("2", "2.5"),
            ("-2.5", "-2"),
            ("-1e300", "0"),
            ("0.1", "0.2"),
        ] {
            assert_eq!(
                compare_numbers(&number(low), &number(high)),
                Ordering::Less,
                "{low} {high}"
            );
            assert_eq!(
                compare_numbers(&number(high), &number(low)),
                Ordering::Greater,
                "{low} {high}"
            );
        }
        assert_eq!(compare_numbers(&number("1"), &number("1.0")), Ordering::Equal);
    }

    #[test]
    fn brackets_in_strings_need_no_memory_of_their_own() {
        let of = |text: &str| parsed_bytes(text.as_bytes());
        assert_eq!(of(r#""[[{{,,::""#), of(r#""aaaaaaaaa""#));
        assert_eq!(of(r#""\"[[[[\\""#), of(r#""\"aaaa\\""#));
        assert_eq!((of("[[[["), of("    ")), (4 * ITEM_BYTES, 0));
        assert!(of(r#"{"a":1}"#) > OBJECT_BYTES);
    }

    #[test]
    fn a_small_text_whose_value_would_be_large_is_not_parsed() {
        let objects = |count: usize| format!("[{}{{}}]", "{\"a\":1},".repeat(count));
        parse(&objects(1_000)).unwrap();
        let error = parse(&objects(200_000)).unwrap_err().to_string();
        assert!(error.contains("more than 67108864 bytes of memory"), "{error}");
        parse(&Value::from("[{,".repeat(1 << 20)).to_string()).unwrap();
    }

    #[test]
    fn the_order_of_keys_does_not_change_the_sorted_text() {
        let text = sorted_text(&json!({"a": 1, "b": [{"c": 2, "d": 3}]}));
        assert_eq!(text, sorted_text(&json!({"b": [{"d": 3, "c": 2}], "a": 1})));
        assert_ne!(text, sorted_text(&json!({"b": [{"d": 3, "c": 4}], "a": 1})));
        assert_ne!(
            sorted_text(&json!(9_007_199_254_740_992_u64)),
            sorted_text(&json!(9_007_199_254_740_993_u64))
        );
    }
}
