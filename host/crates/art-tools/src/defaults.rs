//! Fills the defaults of a schema into arguments before they are validated.

use art_core::JsonObject;
use serde_json::Value;

use crate::shape::{JsonSize, text_len};

/// Maximum number of properties, items and schemas of `allOf` that are visited while defaults are filled into one value.
const MAX_STEPS: usize = 500_000;

/// The error for defaults that are too large or take too long to fill in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("grows too large when the defaults of its schema are filled in")]
pub struct TooManyDefaults;

/// Returns an upper bound of the total size of all defaults in a schema. Also counts other values that are named `default`.
pub(crate) fn measure(schema: &Value) -> JsonSize {
    match schema {
        Value::Object(members) => {
            let default = match members.get("default") {
                Some(default) => JsonSize::measure(default, usize::MAX, usize::MAX).unwrap_or_default(),
                None => JsonSize::default(),
            };
            members.values().map(measure).fold(default, JsonSize::plus)
        }
        Value::Array(items) => items.iter().map(measure).fold(JsonSize::default(), JsonSize::plus),
        _ => JsonSize::default(),
    }
}

/// Adds every missing property that has a `default`, also in nested objects and in items. Also adds properties that only a schema
/// of `allOf` declares. Ignores `anyOf` and similar keywords, because only validation finds out which of their schemas matches.
///
/// The schema must be a tree without references, so that the walk ends.
///
/// # Errors
/// Fails if the added defaults and their names have more than `max_bytes` bytes, or if there are too many properties, items and
/// schemas of `allOf` to visit.
pub(crate) fn fill(schema: &Value, value: &mut Value, max_bytes: usize) -> Result<(), TooManyDefaults> {
    let mut filler = Filler {
        remaining_steps: MAX_STEPS,
        remaining_bytes: max_bytes,
    };
    filler.fill(schema, value)
}

/// The remaining budget of filling one value.
struct Filler {
    /// Number of properties, items and schemas of `allOf` that may still be visited.
    remaining_steps: usize,
    /// Number of bytes that may still be added.
    remaining_bytes: usize,
}

impl Filler {
    fn fill(&mut self, schema: &Value, value: &mut Value) -> Result<(), TooManyDefaults> {
        for subschema in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.count_step()?;
            self.fill(subschema, value)?;
        }
        match value {
            Value::Object(members) => self.fill_object(schema, members),
            Value::Array(items) => {
                let prefix_schemas = schema.get("prefixItems").and_then(Value::as_array);
                for (index, item) in items.iter_mut().enumerate() {
                    self.count_step()?;
                    let prefix_schema = prefix_schemas.and_then(|schemas| schemas.get(index));
                    if let Some(schema) = prefix_schema.or(schema.get("items")) {
                        self.fill(schema, item)?;
                    }
                }
                Ok(())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }

    fn fill_object(&mut self, schema: &Value, members: &mut JsonObject) -> Result<(), TooManyDefaults> {
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            self.count_step()?;
            if !members.contains_key(name)
                && let Some(default) = property.get("default")
            {
                let added = name.len() + text_len(default);
                self.remaining_bytes = self.remaining_bytes.checked_sub(added).ok_or(TooManyDefaults)?;
                members.insert(name.clone(), default.clone());
            }
            if let Some(member) = members.get_mut(name) {
                self.fill(property, member)?;
            }
        }
        Ok(())
    }

    /// Counts one visited property, item or schema of `allOf`.
    fn count_step(&mut self) -> Result<(), TooManyDefaults> {
        self.remaining_steps = self.remaining_steps.checked_sub(1).ok_or(TooManyDefaults)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fill_defaults(schema: &Value, mut value: Value) -> Value {
        fill(schema, &mut value, 1_000).unwrap();
        value
    }

    #[test]
    fn only_missing_properties_are_added() {
        let schema = json!({"properties": {"a": {"default": 1}, "b": {"default": 2}, "c": {}}});
        assert_eq!(fill_defaults(&schema, json!({"b": 0})), json!({"b": 0, "a": 1}));
    }

    #[test]
    fn nested_objects_and_items_are_filled_too() {
        let point = json!({"properties": {"x": {"default": 0}}, "default": {}});
        let schema = json!({
            "properties": {
                "one": point,
                "many": {"items": point},
                "deep": {"properties": {"n": {"default": "d"}}},
            },
            "allOf": [{"properties": {"in_all_of": {"default": true}}}],
        });
        assert_eq!(
            fill_defaults(&schema, json!({"many": [{}, {"x": 1}], "deep": {}})),
            json!({"many": [{"x": 0}, {"x": 1}], "deep": {"n": "d"}, "in_all_of": true, "one": {"x": 0}}),
        );
    }

    #[test]
    fn defaults_in_any_of_are_not_filled() {
        let schema = json!({"anyOf": [{"properties": {"a": {"default": 1}}}]});
        assert_eq!(fill_defaults(&schema, json!({})), json!({}));
    }

    #[test]
    fn a_value_that_is_neither_object_nor_array_stays_unchanged() {
        let schema = json!({"properties": {"a": {"default": 1}}});
        assert_eq!(fill_defaults(&schema, json!("text")), json!("text"));
    }

    #[test]
    fn the_search_for_defaults_is_bounded() {
        // Each of the 500 schemas of `allOf` visits all 10,000 items, which is more than `MAX_STEPS` visits in total.
        let subschemas = vec![json!({"items": {"properties": {"a": {}}}}); 500];
        let mut value = json!(vec![json!({}); 10_000]);
        assert_eq!(
            fill(&json!({"allOf": subschemas}), &mut value, 1 << 20),
            Err(TooManyDefaults)
        );
    }

    #[test]
    fn the_names_of_added_properties_count_as_bytes() {
        let schema = json!({"items": {"properties": {"n".repeat(1_000): {"default": 1}}}});
        let mut value = json!(vec![json!({}); 1_000]);
        assert_eq!(fill(&schema, &mut value, 256 << 10), Err(TooManyDefaults));
    }

    #[test]
    fn defaults_are_bounded_in_bytes() {
        let schema = json!({"items": {"properties": {"a": {"default": "0123456789"}}}});
        // Each of the three items gets 13 bytes: the name `a` and the default as JSON text, with its quotation marks.
        let mut value = json!([{}, {}, {}]);
        assert_eq!(fill(&schema, &mut value, 30), Err(TooManyDefaults));
    }
}
