//! Promises: what a tool says about the output of a call with a certain input.
//!
//! Which fields an output has often depends on what the tool was asked for. The output schema may say so in the keyword `x-when`,
//! a list of promises such as `{"input": {"only": ["words", null]}, "output": {"required": ["words"]}}`. This promise says: if
//! the argument `only` is `words` or absent, the output has the field `words`. A promise applies to a call if, for each argument
//! that it names under `input`, the call has one of the listed values; `null` also stands for an absent argument. The output then
//! also satisfies the schema under `output`, of which `required` and `properties` are read. If a tool breaks a promise, a
//! reference to the output finds nothing when the plan runs, or the call that takes the value is refused.

use std::borrow::Cow;

use art_core::JsonObject;
use serde_json::Value;

use super::flow;
use super::reference::PlannedValue;

/// The keyword of an output schema for promises. Validators ignore it.
pub(crate) const PROMISES_KEYWORD: &str = "x-when";

/// Maximum number of promises that are read.
const MAX_PROMISES: usize = 100;

/// Returns the schema that the output of a call with `arguments` has: `output_schema`, together with its promises that apply to
/// the call. The defaults in `input_schema` stand for absent arguments.
pub(crate) fn promised_schema<'s>(output_schema: &'s Value, input_schema: &Value, arguments: &Value) -> Cow<'s, Value> {
    let promises = output_schema.get(PROMISES_KEYWORD).and_then(Value::as_array);
    let mut call_schema = Cow::Borrowed(output_schema);
    for promise in promises.into_iter().flatten().take(MAX_PROMISES) {
        let promised = promise.get("output").and_then(Value::as_object);
        if let (Some(promised), true) = (promised, applies(promise, input_schema, arguments)) {
            add_promise(call_schema.to_mut(), promised);
        }
    }
    call_schema
}

/// Returns whether a promise applies to a call with `arguments`. If the promise names an argument whose value is known only when
/// the plan runs, it does not apply.
fn applies(promise: &Value, input_schema: &Value, arguments: &Value) -> bool {
    let conditions = promise.get("input").and_then(Value::as_object);
    // If the arguments as a whole are a reference, they are known only when the plan runs.
    let is_known = matches!(PlannedValue::read(arguments), Ok(PlannedValue::Object(_)));
    is_known
        && conditions.is_some_and(|conditions| {
            conditions.iter().all(|(name, values)| {
                let given = known_argument(arguments, input_schema, name);
                given.is_some_and(|given| values.as_array().is_some_and(|values| values.contains(given)))
            })
        })
}

/// Returns the value of the argument `name`. For an absent argument, returns its default or else null. Returns `None` if the
/// argument is neither a scalar nor a `$literal`, because its value may be known only when the plan runs.
fn known_argument<'a>(arguments: &'a Value, input_schema: &'a Value, name: &str) -> Option<&'a Value> {
    let Some(given) = arguments.get(name) else {
        let property = input_schema
            .as_object()
            .map(|schema| flow::property_schema(schema, name));
        let default = property.and_then(|property| property.get("default"));
        return Some(default.unwrap_or(&Value::Null));
    };
    match PlannedValue::read(given) {
        Ok(PlannedValue::Scalar(data) | PlannedValue::Literal(data)) => Some(data),
        _ => None,
    }
}

/// Adds the schema `promised`, of which only `required` and `properties` count, to the schema of an output.
fn add_promise(output_schema: &mut Value, promised: &JsonObject) {
    let Some(output_schema) = output_schema.as_object_mut() else {
        return;
    };
    if let Some(Value::Array(names)) = promised.get("required") {
        let required = output_schema
            .entry("required")
            .or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(required) = required {
            for name in names {
                // Each name is listed once, because the comparison of schemas takes the length of this list as the minimum number
                // of properties.
                if !required.contains(name) {
                    required.push(name.clone());
                }
            }
        }
    }
    if let Some(Value::Object(promised_properties)) = promised.get("properties") {
        let properties = output_schema
            .entry("properties")
            .or_insert_with(|| Value::Object(JsonObject::new()));
        if let Value::Object(properties) = properties {
            properties.extend(
                promised_properties
                    .iter()
                    .map(|(name, schema)| (name.clone(), schema.clone())),
            );
        }
    }
}

/// Returns an output schema without its promises, the keyword `x-when`. Only the host uses these, so prompts show the schema
/// without them.
pub(crate) fn without_promises(output_schema: &Value) -> Value {
    let mut schema = output_schema.clone();
    if let Some(map) = schema.as_object_mut() {
        map.shift_remove(PROMISES_KEYWORD);
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns an output schema with two promises, one of which has conditions on two arguments.
    fn schema_with_promises() -> Value {
        json!({
            "type": "object",
            "properties": {"words": {"type": "integer"}, "answer": {"type": ["integer", "string"]}},
            "x-when": [
                {"input": {"only": ["words", null], "mode": ["plain"]}, "output": {"required": ["words"]}},
                {"input": {"only": ["name"]}, "output": {"properties": {"answer": {"type": "string"}}, "required": ["answer"]}},
            ],
        })
    }

    /// Returns what is known of the output of a call with `arguments`: the keys that it certainly has, and the type of `answer`.
    fn known_output(arguments: &Value) -> (Value, Value) {
        let input = json!({"type": "object", "properties": {"mode": {"type": "string", "default": "plain"}}});
        let output = schema_with_promises();
        let known = promised_schema(&output, &input, arguments);
        (known["required"].clone(), known["properties"]["answer"]["type"].clone())
    }

    #[test]
    fn a_promise_applies_to_a_call_with_one_of_the_listed_values_of_each_argument() {
        let type_without_promise = json!(["integer", "string"]);
        assert_eq!(
            known_output(&json!({"only": "words"})),
            (json!(["words"]), type_without_promise.clone())
        );
        assert_eq!(
            known_output(&json!({"only": {"$literal": "words"}})),
            (json!(["words"]), type_without_promise.clone())
        );
        assert_eq!(
            known_output(&json!({})),
            (json!(["words"]), type_without_promise.clone()),
            "`null` in a promise and defaults stand for absent arguments"
        );
        assert_eq!(
            known_output(&json!({"only": "words", "mode": "odd"})),
            (Value::Null, type_without_promise.clone())
        );
        assert_eq!(
            known_output(&json!({"only": "lines"})),
            (Value::Null, type_without_promise)
        );
    }

    #[test]
    fn a_promise_may_restrict_the_type_of_a_property() {
        assert_eq!(
            known_output(&json!({"only": "name"})),
            (json!(["answer"]), json!("string"))
        );
    }

    #[test]
    fn a_key_that_is_required_and_promised_several_times_is_listed_once() {
        let promise = json!({"input": {}, "output": {"required": ["words", "lines"]}});
        let output = json!({"type": "object", "required": ["words"], "x-when": [promise, promise]});
        let known = promised_schema(&output, &json!({}), &json!({}));
        assert_eq!(known["required"], json!(["words", "lines"]));
    }

    #[test]
    fn nothing_is_promised_for_a_value_that_is_known_only_when_the_plan_runs() {
        for only in [
            json!({"$from": "a"}),
            json!({"$param": "only"}),
            // A `$concat` counts as not known, even if all its parts are.
            json!({"$concat": ["wor", "ds"]}),
        ] {
            assert_eq!(known_output(&json!({ "only": only })).0, Value::Null);
        }
    }

    #[test]
    fn an_ill_formed_promise_is_ignored() {
        for promises in [
            json!(7),
            json!([7, {"input": {}}, {"input": {"a": 7}, "output": {"required": ["b"]}}, {"output": {"required": ["b"]}}]),
        ] {
            let output = json!({"type": "object", "x-when": promises});
            assert_eq!(*promised_schema(&output, &json!({}), &json!({})), output);
        }
        let odd = json!({"required": 7, "x-when": [{"input": {}, "output": {"required": ["b"], "properties": 7}}]});
        assert_eq!(*promised_schema(&odd, &json!(true), &json!([])), odd);
        assert_eq!(*promised_schema(&json!(true), &json!(true), &json!({})), json!(true));
    }

    #[test]
    fn promises_are_removed_from_a_schema() {
        let shown = without_promises(&schema_with_promises());
        assert_eq!((shown.get(PROMISES_KEYWORD), &shown["type"]), (None, &json!("object")));
    }
}
