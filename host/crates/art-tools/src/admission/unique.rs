//! Checks the keyword `uniqueItems` in time that is almost linear in the size of the array, for all kinds of items.
//!
//! The crate `jsonschema` hashes some unequal items alike, such as integers that round to the same float, and compares all such
//! items with one another. The hashes here depend on the exact value and on the random keys of the [`HashSet`], so nobody can
//! choose items that collide.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use jsonschema::paths::Location;
use jsonschema::{Keyword, ValidationError};
use serde_json::{Map, Number, Value};

#[derive(Debug)]
struct UniqueItems {
    enabled: bool,
}

/// Creates the implementation of `uniqueItems` for the value of the keyword in a schema.
pub(crate) fn unique_items<'s>(
    _: &'s Map<String, Value>,
    value: &'s Value,
    _: Location,
) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'s>> {
    Ok(Box::new(UniqueItems {
        enabled: value == &Value::Bool(true),
    }))
}

impl<'i> Keyword<'i> for UniqueItems {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if Keyword::is_valid(self, instance) {
            Ok(())
        } else {
            Err(ValidationError::custom("must not have equal items"))
        }
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        match instance {
            Value::Array(items) if self.enabled => {
                let mut seen = HashSet::new();
                items.iter().all(|item| seen.insert(Item(item)))
            }
            _ => true,
        }
    }
}

/// A value that is compared by the rules of JSON Schema: numbers by value, objects in any order of their members.
struct Item<'v>(&'v Value);

impl PartialEq for Item<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self.0, other.0) {
            (Value::Number(a), Value::Number(b)) => number_key(a) == number_key(b),
            (Value::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| Item(a) == Item(b))
            }
            (Value::Object(a), Value::Object(b)) => {
                a.len() == b.len()
                    && a.iter()
                        .all(|(name, a)| b.get(name).is_some_and(|b| Item(a) == Item(b)))
            }
            (a, b) => a == b,
        }
    }
}

impl Eq for Item<'_> {}

impl Hash for Item<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self.0).hash(state);
        match self.0 {
            Value::Null => {}
            Value::Bool(value) => value.hash(state),
            Value::Number(number) => number_key(number).hash(state),
            Value::String(text) => text.hash(state),
            Value::Array(items) => {
                items.len().hash(state);
                items.iter().for_each(|item| Item(item).hash(state));
            }
            Value::Object(members) => {
                members.len().hash(state);
                let mut members: Vec<_> = members.iter().collect();
                members.sort_unstable_by_key(|(name, _)| *name);
                members.iter().for_each(|(name, value)| (name, Item(value)).hash(state));
            }
        }
    }
}

/// Returns a key that is the same for equal numbers and different for unequal ones. The key of an integer is the integer and 0,
/// even if the integer is written as a float below 1e30. The key of any other float is 0 and its bits, which are never 0.
fn number_key(number: &Number) -> (i128, u64) {
    /// No float of at least this size equals an `i64` or a `u64`, so its bits identify it.
    const MIN_LARGE_FLOAT: f64 = 1e30;
    let float = number.as_f64().unwrap_or_default();
    match (number.as_i64(), number.as_u64()) {
        (Some(integer), _) => (integer.into(), 0),
        (_, Some(integer)) => (integer.into(), 0),
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a float below 1e30 and without a fraction fits into an `i128`"
        )]
        _ if float.fract() == 0.0 && float.abs() < MIN_LARGE_FLOAT => (float as i128, 0),
        _ => (0, float.to_bits()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn is_unique(items: &Value) -> bool {
        UniqueItems { enabled: true }.is_valid(items)
    }

    #[test]
    fn equal_items_are_found_however_they_are_written() {
        for items in [
            json!([1, 2, 1.0]),
            json!([0, -0.0]),
            json!([1e18, 1_000_000_000_000_000_000_u64]),
            json!([1e300, 1e300]),
            json!([0.5, 0.5]),
            json!(["a", "b", "a"]),
            json!([null, null]),
            json!([{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}]),
        ] {
            assert!(!is_unique(&items), "{items}");
        }
    }

    #[test]
    fn values_without_equal_items_are_valid() {
        for items in [
            json!([1, true, "1", [1], {"1": 1}, null, 0, false, ""]),
            json!([9_007_199_254_740_993_u64, 9_007_199_254_740_992.0]),
            json!([[[]], [], [[], []], {}]),
            json!([{"a": 1}, {"a": 2}, {"b": 1}, {"a": 1, "b": 1}]),
            json!([["a", "b"], ["ab"], ["", "ab"]]),
            json!("not an array"),
            json!([0.5, 0.25, 1e300, -1e300, u64::MAX, i64::MIN]),
        ] {
            assert!(is_unique(&items), "{items}");
        }
    }

    #[test]
    fn equal_items_are_allowed_if_the_keyword_is_false() {
        assert!(UniqueItems { enabled: false }.is_valid(&json!([1, 1])));
    }
}
