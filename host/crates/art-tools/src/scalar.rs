//! JSON scalars as text. Scalars that are equal have the same text.

use serde_json::{Number, Value};

/// Returns a scalar as text, without quotes, or `None` for an array or an object. Equal numbers have equal texts, however they
/// were written: `10`, `10.0` and `1e1` are all `10`.
pub(crate) fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some("null".to_owned()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(number) => Some(number_text(number)),
        Value::String(text) => Some(text.clone()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

fn number_text(number: &Number) -> String {
    match number.as_f64() {
        // `-0.0` equals `0`.
        Some(float) if number.is_f64() && float == 0.0 => "0".to_owned(),
        // `Display` writes a float without an exponent and without `.0`. The JSON text of a float may have both.
        Some(float) if number.is_f64() => float.to_string(),
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn equal_numbers_have_the_same_text() {
        for text in ["10", "10.0", "1e1", "100e-1"] {
            assert_eq!(scalar_text(&serde_json::from_str(text).unwrap()).unwrap(), "10");
        }
        assert_eq!(scalar_text(&json!(-0.0)).unwrap(), "0");
        assert_eq!(scalar_text(&json!(0.5)).unwrap(), "0.5");
        assert_eq!(scalar_text(&json!(u64::MAX)).unwrap(), u64::MAX.to_string());
    }

    #[test]
    fn only_scalars_have_a_text() {
        assert_eq!(scalar_text(&json!("a \"b\"")).unwrap(), "a \"b\"");
        assert_eq!(scalar_text(&json!(true)).unwrap(), "true");
        assert_eq!(scalar_text(&json!(null)).unwrap(), "null");
        assert_eq!(scalar_text(&json!([])), None);
        assert_eq!(scalar_text(&json!({})), None);
    }
}
