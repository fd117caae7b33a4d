//! Strict parsing of JSON text from a tool: the text is exactly one value (contract D09), no two properties of an
//! object have the same name (contract D10), and the numbers of levels and values are checked before the values are built
//! in memory (contract D12).

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fmt;

use art_core::json::{object_bytes, with_exact_integers};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::shape::{JsonSize, MAX_DEPTH, MAX_MEMORY_BYTES, MAX_NODES, TooLarge};

/// Parses `text` into a value, and returns it with its size. The value may have at most [`MAX_DEPTH`] levels and contain at
/// most [`MAX_NODES`] values. Both limits are checked before each value is built, because two bytes of text can cost 72 bytes of
/// memory. The objects and lists may take at most [`MAX_MEMORY_BYTES`] together, and have no unused room. Duplicate keys are
/// refused, because some readers use the first value and others the last one.
///
/// An integer beyond 64 bits becomes the nearest float; [`exact`] keeps its digits. A number beyond the range of floats is refused.
///
/// # Errors
/// Fails with the reason and its line and column.
pub(crate) fn strict(text: &str) -> Result<(Value, JsonSize), serde_json::Error> {
    let size = RefCell::new(JsonSize::default());
    let memory_bytes = Cell::new(0);
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let seed = ValueSeed {
        size: &size,
        memory_bytes: &memory_bytes,
        depth: 1,
    };
    let value = seed.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok((value, size.into_inner()))
}

/// Parses `text` as [`strict`] does. If it has integers beyond 64 bits, the second value is the same with their digits as strings.
///
/// # Errors
/// Fails as [`strict`] does.
pub(crate) fn exact(text: &str) -> Result<(Value, JsonSize, Option<Value>), serde_json::Error> {
    let (value, size) = strict(text)?;
    match with_exact_integers(text) {
        Cow::Borrowed(_) => Ok((value, size, None)),
        Cow::Owned(text) => {
            let (exact, size) = strict(&text)?;
            Ok((value, size, Some(exact)))
        }
    }
}

/// Deserialises one value at `depth`, and counts it in `size`.
#[derive(Clone, Copy)]
struct ValueSeed<'c> {
    size: &'c RefCell<JsonSize>,
    /// The memory of all objects and lists so far, in bytes.
    memory_bytes: &'c Cell<usize>,
    depth: usize,
}

impl ValueSeed<'_> {
    /// Counts one value at the current depth.
    fn count_value<E: Error>(self) -> Result<(), E> {
        self.size
            .borrow_mut()
            .count_value(self.depth, MAX_DEPTH, MAX_NODES)
            .map_err(|problem: TooLarge| E::custom(problem))
    }

    /// Counts the memory of an object or a list.
    fn count_memory<E: Error>(self, bytes: usize) -> Result<(), E> {
        let bytes = self.memory_bytes.get().saturating_add(bytes);
        self.memory_bytes.set(bytes);
        match bytes > MAX_MEMORY_BYTES {
            true => Err(E::custom(TooLarge::Memory(MAX_MEMORY_BYTES))),
            false => Ok(()),
        }
    }

    fn count_text(self, bytes: usize) {
        self.size.borrow_mut().text_bytes += bytes;
    }

    /// Returns the deserialiser of the values one level deeper.
    const fn deeper(self) -> Self {
        Self {
            depth: self.depth + 1,
            ..self
        }
    }
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.count_value()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        self.count_text(value.len());
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(self.deeper())? {
            array.push(item);
        }
        array.shrink_to_fit();
        self.count_memory(array.len() * size_of::<Value>())?;
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            self.count_text(name.len());
            if object.contains_key(&name) {
                let shown = art_core::text::truncate(&name, 100);
                return Err(A::Error::custom(format_args!("two properties named {shown:?}")));
            }
            let member = members.next_value_seed(self.deeper())?;
            object.insert(name, member);
        }
        self.count_memory(object_bytes(object.len()))?;
        Ok(Value::Object(without_unused_room(object)))
    }
}

/// Returns the object in no more memory than it needs. The smallest object has room for four members, and outputs have many small
/// objects.
fn without_unused_room(object: Map<String, Value>) -> Map<String, Value> {
    let mut exact = Map::with_capacity(object.len());
    exact.extend(object);
    exact
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn valid_text_is_the_value_that_serde_json_reads() {
        let text = r#"{"b":[1,-2,0.5,true,null,"é\n"],"a":{"big":9007199254740993}}"#;
        let (value, size) = strict(text).unwrap();
        assert_eq!(value, serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(size, JsonSize::measure(&value, 64, 1_000).unwrap());
    }

    #[test]
    fn text_that_is_not_strict_json_is_refused() {
        let cases = [
            ("", "EOF"),
            ("NaN", "expected value"),
            ("1e400", "number out of range"),
            ("-Infinity", "invalid number"),
            ("\u{feff}1", "expected value"),
            ("1 2", "trailing characters"),
            ("{} x", "trailing characters"),
            (r#""\ud800""#, "hex escape"),
            ("[1,]", "trailing comma"),
            ("{'a':1}", "key must be a string"),
            ("// c\n1", "expected value"),
            ("\"a\nb\"", "control character"),
            (r#"{"a":1,"a":2}"#, "two properties named \"a\""),
            (r#"[{"x":{"a":1,"b":2,"a":1}}]"#, "two properties named \"a\""),
        ];
        for (text, expected_error) in cases {
            let error = strict(text).unwrap_err().to_string();
            assert!(error.contains(expected_error), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_value_that_is_nested_too_deeply_is_refused() {
        // The number inside the arrays is one more level.
        let nested = |n: usize| format!("{}1{}", "[".repeat(n), "]".repeat(n));
        assert!(strict(&nested(63)).is_ok());
        for depth in [64, 127, 128, 100_000] {
            let error = strict(&nested(depth)).unwrap_err().to_string();
            assert!(error.contains("nested more than 64 levels deep"), "{error}");
        }
    }

    #[test]
    fn a_text_of_too_many_values_is_refused() {
        // The array is one more value.
        let many = |n: usize| format!("[{}0]", "0,".repeat(n - 1));
        assert!(strict(&many(49_999)).is_ok());
        assert!(
            strict(&many(2_000_000))
                .unwrap_err()
                .to_string()
                .contains("more than 50000 values")
        );
    }

    #[test]
    fn objects_that_would_take_too_much_memory_are_refused_even_if_they_are_few() {
        let nested = |n: usize| format!("[{}]", vec![r#"{"a":{"b":{"c":{}}}}"#; n].join(","));
        assert!(strict(&nested(5_000)).is_ok());
        let error = strict(&nested(12_000)).unwrap_err().to_string();
        assert!(error.contains("more than 8388608 bytes of memory"), "{error}");
    }

    #[test]
    fn a_table_of_as_many_values_as_allowed_is_accepted() {
        for columns in 1..=10 {
            let row: Vec<_> = (0..columns)
                .map(|column| format!("\"column_{column}\":{column}"))
                .collect();
            let row = format!("{{{}}}", row.join(","));
            let rows = (MAX_NODES - 1) / (columns + 1);
            let text = format!("[{}]", vec![row; rows].join(","));
            strict(&text).unwrap_or_else(|error| panic!("{columns} columns: {error}"));
        }
    }

    #[test]
    fn large_integers_and_minus_zero_become_floats() {
        assert_eq!(strict("100000000000000000000000000000").unwrap().0, json!(1e29));
        assert_eq!(strict("-0").unwrap().0, json!(-0.0));
    }

    #[test]
    fn an_exact_value_has_the_digits_of_large_integers() {
        let (value, _, exact) = super::exact("[340282366920938463463374607431768211455, 1]").unwrap();
        assert_eq!(
            value,
            json!([340_282_366_920_938_463_463_374_607_431_768_211_455_f64, 1])
        );
        assert_eq!(exact, Some(json!(["340282366920938463463374607431768211455", 1])));
        assert_eq!(super::exact("[18446744073709551615]").unwrap().2, None);
    }

    proptest! {
        #[test]
        fn parsing_any_text_never_panics(text in "\\PC{0,200}") {
            prop_assert!(strict(&text).map_or(true, |(_, size)| size.nodes > 0));
        }

        #[test]
        fn parsing_text_that_resembles_json_never_panics(text in "[\\[\\]{}\",:0-9eE.+\\-truefalsn\\\\ud8]{0,200}") {
            if let Ok((value, size)) = strict(&text) {
                prop_assert_eq!(JsonSize::measure(&value, MAX_DEPTH, MAX_NODES), Ok(size));
            }
        }
    }
}
