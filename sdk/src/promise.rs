//! Adds to the schema of an output what the types of the output's fields do not express. A tool calls these functions in a
//! function of its own, here `promises`, and names that function in an attribute of its output type:
//! `#[schemars(transform = promises)]`.

use schemars::Schema;
use serde_json::{Value, json};

/// Declares that an optional property may be absent but is never null, for a type whose optional fields all have
/// `#[serde(skip_serializing_if = "Option::is_none")]`.
pub fn never_null(schema: &mut Schema) {
    let required = schema
        .get("required")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, property) in properties.into_iter().flatten() {
        if !required.iter().any(|required| required == name) {
            remove_null(property);
        }
    }
}

fn remove_null(property: &mut Value) {
    // The schema of an optional field has `anyOf` if its type is, for example, an enum with documented variants.
    if let Some(branches) = property.get_mut("anyOf").and_then(Value::as_array_mut) {
        branches.retain(|branch| *branch != json!({"type": "null"}));
    }
    let Some(types) = property.get_mut("type") else { return };
    if let Value::Array(names) = types {
        names.retain(|name| name != "null");
        if let [only] = &mut names[..] {
            *types = only.take();
        }
    }
}

/// Adds a promise to an output schema. `input` is an object from names of arguments to lists of values. If, in a call, each of
/// these arguments has one of its listed values, the output of the call also satisfies the schema `output`. The value `null` also
/// stands for an absent argument without a default.
///
/// For example, `promise(schema, json!({"only": ["words", null]}), json!({"required": ["words"]}))` says: if the argument `only`
/// is `words` or absent, the output has the property `words`.
///
/// A host reads `required` and `properties` of `output`. From them it knows, for a plan of several calls, which values of this
/// output the later calls can use. If a tool breaks a promise, a later call lacks the value that was promised.
#[expect(clippy::needless_pass_by_value, reason = "a tool writes `json!(..)` here")]
pub fn promise(schema: &mut Schema, input: Value, output: Value) {
    let promises = schema.ensure_object().entry("x-when").or_insert_with(|| json!([]));
    if let Value::Array(promises) = promises {
        promises.push(json!({"input": input, "output": output}));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example_schema() -> Schema {
        let schema = json!({
            "type": "object",
            "properties": {
                "count": {"type": ["integer", "null"], "minimum": 0},
                "count_or_null": {"type": ["integer", "null"]},
                "count_or_text": {"type": ["integer", "string", "null"]},
                "unit": {"anyOf": [{"oneOf": [{"const": "days"}, {"const": "hours"}]}, {"type": "null"}]},
            },
            "required": ["count_or_null"],
        });
        Schema::try_from(schema).unwrap()
    }

    #[test]
    fn null_is_removed_from_the_types_of_optional_properties() {
        let mut schema = example_schema();
        never_null(&mut schema);
        let schema = schema.to_value();
        assert_eq!(schema["properties"]["count"], json!({"type": "integer", "minimum": 0}));
        assert_eq!(
            schema["properties"]["count_or_text"],
            json!({"type": ["integer", "string"]})
        );
        assert_eq!(
            schema["properties"]["unit"],
            json!({"anyOf": [{"oneOf": [{"const": "days"}, {"const": "hours"}]}]})
        );
        assert_eq!(
            schema["properties"]["count_or_null"],
            json!({"type": ["integer", "null"]})
        );
    }

    #[test]
    fn promises_are_listed_in_the_schema() {
        let mut schema = example_schema();
        for name in ["count", "count_or_text"] {
            promise(&mut schema, json!({"only": [name]}), json!({"required": [name]}));
        }
        let expected = json!([
            {"input": {"only": ["count"]}, "output": {"required": ["count"]}},
            {"input": {"only": ["count_or_text"]}, "output": {"required": ["count_or_text"]}},
        ]);
        assert_eq!(schema.to_value()["x-when"], expected);
    }
}
