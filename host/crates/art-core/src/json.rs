//! Depth of untrusted JSON.

use serde_json::Value;

/// Maximum nesting of JSON from a model or a provider, in levels. The host stores such a value inside other values, and
/// a store accepts 120 levels in total.
pub const MAX_DEPTH: usize = 64;

/// Returns whether `value` nests deeper than `levels`; a scalar has one level.
#[must_use]
pub fn is_deeper(value: &Value, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else {
        return true;
    };
    match value {
        Value::Array(values) => values.iter().any(|value| is_deeper(value, below)),
        Value::Object(map) => map.values().any(|value| is_deeper(value, below)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_scalar_has_one_level_and_each_container_one_more() {
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
}
