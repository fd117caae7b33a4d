//! Fills the defaults of a schema into arguments before they are validated.

use art_core::JsonObject;
use serde_json::Value;

use crate::shape::{Shape, text_len};

/// Maximum number of properties and items visited while defaults are filled into one value.
const MAX_STEPS: usize = 500_000;

/// The added defaults are too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("grows too large when the defaults of its schema are filled in")]
pub struct TooManyDefaults;

/// Returns the total shape of all defaults of a schema. It is empty for most schemas, and their values need no walk.
pub(crate) fn measure(schema: &Value) -> Shape {
    let measured = |value| Shape::measure(value, usize::MAX, usize::MAX).unwrap_or_default();
    match schema {
        Value::Object(members) => {
            let own = members.get("default").map(measured).unwrap_or_default();
            members.values().map(measure).fold(own, Shape::and)
        }
        Value::Array(items) => items.iter().map(measure).fold(Shape::default(), Shape::and),
        _ => Shape::default(),
    }
}

/// Adds every missing property that has a `default`, also in nested objects and items, and in the schemas of `allOf`.
/// Ignores `anyOf` and similar keywords, because only validation finds out which of their schemas matches.
///
/// The schema must be a tree without references, so that the walk ends.
///
/// # Errors
/// Fails if the added defaults have more than `max_bytes` bytes, or if there are too many places to visit.
pub(crate) fn fill(schema: &Value, value: &mut Value, max_bytes: usize) -> Result<(), TooManyDefaults> {
    let mut filling = Filling {
        steps: MAX_STEPS,
        bytes: max_bytes,
    };
    filling.apply(schema, value)
}

/// The remaining budget of filling one value.
struct Filling {
    steps: usize,
    bytes: usize,
}

impl Filling {
    fn apply(&mut self, schema: &Value, value: &mut Value) -> Result<(), TooManyDefaults> {
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.step()?;
            self.apply(part, value)?;
        }
        match value {
            Value::Object(members) => self.complete(schema, members),
            Value::Array(items) => {
                let rest = schema.get("items");
                let first = schema.get("prefixItems").and_then(Value::as_array);
                for (position, item) in items.iter_mut().enumerate() {
                    self.step()?;
                    let placed = first.and_then(|schemas| schemas.get(position));
                    if let Some(schema) = placed.or(rest) {
                        self.apply(schema, item)?;
                    }
                }
                Ok(())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }

    fn complete(&mut self, schema: &Value, members: &mut JsonObject) -> Result<(), TooManyDefaults> {
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            self.step()?;
            if !members.contains_key(name)
                && let Some(default) = property.get("default")
            {
                let added = name.len() + text_len(default);
                self.bytes = self.bytes.checked_sub(added).ok_or(TooManyDefaults)?;
                members.insert(name.clone(), default.clone());
            }
            if let Some(member) = members.get_mut(name) {
                self.apply(property, member)?;
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), TooManyDefaults> {
        self.steps = self.steps.checked_sub(1).ok_or(TooManyDefaults)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn filled(schema: &Value, mut value: Value) -> Value {
        fill(schema, &mut value, 1_000).unwrap();
        value
    }

    #[test]
    fn only_missing_properties_are_added() {
        let schema = json!({"properties": {"a": {"default": 1}, "b": {"default": 2}, "c": {}}});
        assert_eq!(filled(&schema, json!({"b": 0})), json!({"b": 0, "a": 1}));
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
            "allOf": [{"properties": {"all": {"default": true}}}],
        });
        assert_eq!(
            filled(&schema, json!({"many": [{}, {"x": 1}], "deep": {}})),
            json!({"many": [{"x": 0}, {"x": 1}], "deep": {"n": "d"}, "all": true, "one": {"x": 0}}),
        );
    }

    #[test]
    fn a_choice_fills_nothing() {
        let schema = json!({"anyOf": [{"properties": {"a": {"default": 1}}}]});
        assert_eq!(filled(&schema, json!({})), json!({}));
    }

    #[test]
    fn a_value_of_another_type_is_left_for_validation() {
        let schema = json!({"properties": {"a": {"default": 1}}});
        assert_eq!(filled(&schema, json!("text")), json!("text"));
    }

    #[test]
    fn looking_for_defaults_ends() {
        let all = vec![json!({"items": {"properties": {"a": {}}}}); 500];
        let mut value = json!(vec![json!({}); 10_000]);
        assert_eq!(fill(&json!({"allOf": all}), &mut value, 1 << 20), Err(TooManyDefaults));
    }

    #[test]
    fn the_names_of_defaults_count_as_they_are_copied() {
        let schema = json!({"items": {"properties": {"n".repeat(1_000): {"default": 1}}}});
        let mut value = json!(vec![json!({}); 1_000]);
        assert_eq!(fill(&schema, &mut value, 256 << 10), Err(TooManyDefaults));
    }

    #[test]
    fn defaults_are_bounded_in_bytes() {
        let schema = json!({"items": {"properties": {"a": {"default": "0123456789"}}}});
        let mut value = json!([{}, {}, {}]);
        assert_eq!(fill(&schema, &mut value, 30), Err(TooManyDefaults));
    }
}
