//! A number that may also be written as a text.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

use crate::decimal::Decimal;

/// A number that callers may also write as text, for example because it is the result of another tool: `2.5` and `"2.5"` are the
/// same.
///
/// Its schema allows numbers and texts, and has `"x-numeric": true`, which tells a host that a text has to be a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Numeric(pub Decimal);

impl JsonSchema for Numeric {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Numeric".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["number", "string"], "x-numeric": true})
    }
}

impl<'de> Deserialize<'de> for Numeric {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_any(NumericVisitor)
    }
}

struct NumericVisitor;

impl Visitor<'_> for NumericVisitor {
    type Value = Numeric;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or a text that is a number such as `2.5`")
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Numeric, E> {
        let error = || E::invalid_value(Unexpected::Float(number), &self);
        Decimal::from_float(number).map(Numeric).ok_or_else(error)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Numeric, E> {
        Ok(Numeric(i128::from(number).into()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Numeric, E> {
        Ok(Numeric(i128::from(number).into()))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Numeric, E> {
        let error = || E::invalid_value(Unexpected::Str(text), &self);
        Decimal::parse(text.trim()).map(Numeric).ok_or_else(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(json: &str) -> Result<f64, String> {
        let number: Result<Numeric, _> = serde_json::from_str(json);
        number
            .map(|number| number.0.to_f64())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_text_that_is_a_number_is_read_as_that_number() {
        for (json, number) in [
            ("2.5", 2.5),
            ("-3", -3.0),
            ("7", 7.0),
            ("\"2.5\"", 2.5),
            ("\" -1e3 \"", -1000.0),
        ] {
            assert_eq!(read(json), Ok(number), "{json}");
        }
    }

    #[test]
    fn a_large_integer_is_not_rounded() {
        for json in ["9007199254740993", "\"340282366920938463463374607431768211\""] {
            let number: Numeric = serde_json::from_str(json).unwrap();
            assert_eq!(number.0.to_string(), json.trim_matches('"'));
        }
    }

    #[test]
    fn any_other_text_or_value_is_refused() {
        for json in [
            "\"0 + 2i\"",
            "\"seven\"",
            "\"\"",
            "\"inf\"",
            "\"NaN\"",
            "\"1e999\"",
            "true",
            "null",
            "[1]",
        ] {
            assert!(
                read(json).unwrap_err().contains("a number, or a text that is a number"),
                "{json}"
            );
        }
    }

    #[test]
    fn the_schema_says_that_texts_are_numbers() {
        let schema = schemars::schema_for!(Option<Numeric>).to_value();
        assert_eq!(schema["type"], json!(["number", "string", "null"]));
        assert_eq!(schema["x-numeric"], true);
    }
}
