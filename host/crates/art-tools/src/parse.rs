//! Strict parsing of JSON text from a tool: the text is exactly one value (contract D09), no two properties of an
//! object have the same name (contract D10), and the numbers of levels and values are checked before the values are built
//! in memory (contract D12).

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;

use art_core::json::with_exact_integers;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::shape::{JsonSize, MAX_DEPTH, MAX_NODES, TooLarge};

/// Parses `text` into a value, and returns it with its size. The value may have at most [`MAX_DEPTH`] levels and contain at
/// most [`MAX_NODES`] values. Both limits are checked before each value is built, because two bytes of text can cost 32 bytes
/// of memory. Duplicate keys are refused, because some readers use the first value and others the last one.
///
/// An integer beyond 64 bits becomes the nearest float; [`exact`] keeps its digits. A number beyond the range of floats is refused.
///
/// # Errors
/// Fails with the reason and its line and column.
pub(crate) fn strict(text: &str) -> Result<(Value, JsonSize), serde_json::Error> {
    let size = RefCell::new(JsonSize::default());
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = ValueSeed { size: &size, depth: 1 }.deserialize(&mut deserializer)?;
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
        Ok(Value::Object(object))
    }
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
