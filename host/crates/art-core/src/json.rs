//! Depth and size of untrusted JSON, and a text of a JSON value that does not depend on the order of its keys.
//!
//! Levels count the value itself: a scalar has one level. The depth counts only arrays and objects: a scalar has the depth 0.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};

/// Maximum nesting of JSON from a model or a provider, in levels. The host stores such a value inside other values, and
/// a store accepts 120 levels in total.
pub const MAX_LEVELS: usize = 64;

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
    fn the_order_of_keys_does_not_change_the_sorted_text() {
        let text = sorted_text(&json!({"a": 1, "b": [{"c": 2, "d": 3}]}));
        assert_eq!(text, sorted_text(&json!({"b": [{"d": 3, "c": 2}], "a": 1})));
        assert_ne!(text, sorted_text(&json!({"b": [{"d": 3, "c": 4}], "a": 1})));
    }
}
