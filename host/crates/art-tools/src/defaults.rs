//! Defaults of a schema, filled into arguments before they are validated.

use serde_json::Value;

use crate::shape::text_len;

/// Schemas applied while defaults are filled into one value.
const MAX_STEPS: usize = 100_000;
/// Schemas within schemas: what the filling recurses over.
const MAX_NESTING: usize = 256;

/// The defaults grew out of bounds, as those of a recursive schema do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("grows too large when the defaults of its schema are filled in")]
pub(crate) struct TooManyDefaults;

/// Whether a schema has a `default` anywhere, so that calls of most tools need no walk.
pub(crate) fn has_defaults(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.contains_key("default") || members.values().any(has_defaults),
        Value::Array(items) => items.iter().any(has_defaults),
        _ => false,
    }
}

/// Adds every missing property that has a `default`, in nested objects and items as well, through `allOf` and local
/// references. Not through `anyOf` and the like: which of their schemas is meant is known only after validation.
///
/// The schema must have been admitted.
///
/// # Errors
/// When what is added has more than `max_bytes` bytes, or the defaults do not come to an end.
pub(crate) fn fill(schema: &Value, value: &mut Value, max_bytes: usize) -> Result<(), TooManyDefaults> {
    let mut filling = Filling {
        root: schema,
        steps: MAX_STEPS,
        bytes: max_bytes,
    };
    filling.apply(schema, value, MAX_NESTING)
}

struct Filling<'s> {
    root: &'s Value,
    steps: usize,
    bytes: usize,
}

impl<'s> Filling<'s> {
    fn apply(&mut self, schema: &'s Value, value: &mut Value, nesting: usize) -> Result<(), TooManyDefaults> {
        let nesting = nesting.checked_sub(1).ok_or(TooManyDefaults)?;
        self.steps = self.steps.checked_sub(1).ok_or(TooManyDefaults)?;
        if let Some(target) = self.target(schema) {
            self.apply(target, value, nesting)?;
        }
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.apply(part, value, nesting)?;
        }
        match value {
            Value::Object(members) => {
                let properties = schema.get("properties").and_then(Value::as_object);
                for (name, property) in properties.into_iter().flatten() {
                    if !members.contains_key(name) {
                        let Some(default) = self.default(property, nesting) else {
                            continue;
                        };
                        self.bytes = self.bytes.checked_sub(text_len(default)).ok_or(TooManyDefaults)?;
                        members.insert(name.clone(), default.clone());
                    }
                    if let Some(member) = members.get_mut(name) {
                        self.apply(property, member, nesting)?;
                    }
                }
            }
            Value::Array(items) => {
                let rest = schema.get("items");
                let first = schema.get("prefixItems").and_then(Value::as_array);
                for (position, item) in items.iter_mut().enumerate() {
                    let placed = first.and_then(|schemas| schemas.get(position));
                    if let Some(schema) = placed.or(rest) {
                        self.apply(schema, item, nesting)?;
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        Ok(())
    }

    fn target(&self, schema: &Value) -> Option<&'s Value> {
        let reference = schema.get("$ref")?.as_str()?;
        self.root.pointer(reference.strip_prefix('#')?)
    }

    fn default(&self, schema: &'s Value, nesting: usize) -> Option<&'s Value> {
        let own = schema.get("default");
        own.or_else(|| self.default(self.target(schema)?, nesting.checked_sub(1)?))
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
    fn nested_objects_items_and_references_are_filled_too() {
        let schema = json!({
            "$defs": {"point": {"properties": {"x": {"default": 0}}, "default": {}}},
            "properties": {
                "one": {"$ref": "#/$defs/point"},
                "many": {"items": {"$ref": "#/$defs/point"}},
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
    fn defaults_that_never_end_are_refused() {
        let schema = json!({
            "$ref": "#/$defs/n",
            "$defs": {"n": {"properties": {
                "left": {"$ref": "#/$defs/n", "default": {}},
                "right": {"$ref": "#/$defs/n", "default": {}},
            }}},
        });
        assert_eq!(fill(&schema, &mut json!({}), 1 << 20), Err(TooManyDefaults));
    }

    #[test]
    fn defaults_are_bounded_in_bytes() {
        let schema = json!({"items": {"properties": {"a": {"default": "0123456789"}}}});
        let mut value = json!([{}, {}, {}]);
        assert_eq!(fill(&schema, &mut value, 30), Err(TooManyDefaults));
    }
}
