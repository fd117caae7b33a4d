//! What the input of a call says about its output.
//!
//! Which fields an output has often depends on what the tool was asked for. The schema of an output may say so in `x-when`, a list
//! of promises: `{"input": {"only": ["words", null]}, "output": {"required": ["words"]}}`. If the input has one of the values under
//! each name, the output also satisfies the schema under `output`, of which `required` and `properties` are read. `null` also
//! stands for an absent value. If a tool breaks a promise, this shows when the plan runs: the reference finds nothing or its value
//! is refused.

use std::borrow::Cow;

use art_core::JsonObject;
use serde_json::Value;

use super::flow;
use super::reference::Template;

/// The keyword for promises. Validators ignore it.
pub(crate) const KEYWORD: &str = "x-when";

/// Maximum number of promises that are read.
const MAX_PROMISES: usize = 100;

/// Returns what is known of the output of a call before it runs: `output` and what it promises for `arguments`. The defaults of
/// `input` stand for absent arguments.
pub(crate) fn promised_schema<'s>(output: &'s Value, input: &Value, arguments: &Value) -> Cow<'s, Value> {
    let promises = output.get(KEYWORD).and_then(Value::as_array);
    let mut known = Cow::Borrowed(output);
    for promise in promises.into_iter().flatten().take(MAX_PROMISES) {
        let promised = promise.get("output").and_then(Value::as_object);
        if let (Some(promised), true) = (promised, applies(promise, input, arguments)) {
            add_promise(known.to_mut(), promised);
        }
    }
    known
}

/// Returns whether the arguments have one of the values under each name. An argument that is known only when the plan runs does not
/// count.
fn applies(promise: &Value, input: &Value, arguments: &Value) -> bool {
    let asked = promise.get("input").and_then(Value::as_object);
    // Arguments that are a reference as a whole are known only when the plan runs.
    let is_known = matches!(Template::read(arguments), Ok(Template::Object(_)));
    is_known
        && asked.is_some_and(|asked| {
            asked.iter().all(|(name, values)| {
                let given = known_argument(arguments, input, name);
                given.is_some_and(|given| values.as_array().is_some_and(|values| values.contains(given)))
            })
        })
}

/// Returns the value of an argument, or its default, or null; `None` if it is known only when the plan runs.
fn known_argument<'a>(arguments: &'a Value, input: &'a Value, name: &str) -> Option<&'a Value> {
    let Some(given) = arguments.get(name) else {
        let property = input.as_object().map(|input| flow::property(input, name));
        let default = property.and_then(|property| property.get("default"));
        return Some(default.unwrap_or(&Value::Null));
    };
    match Template::read(given) {
        Ok(Template::Data(data) | Template::Literal(data)) => Some(data),
        _ => None,
    }
}

/// Adds the required keys and the properties of a promise to the schema of an output.
fn add_promise(output: &mut Value, promised: &JsonObject) {
    let Some(output) = output.as_object_mut() else { return };
    if let Some(Value::Array(names)) = promised.get("required") {
        let required = output.entry("required").or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(required) = required {
            required.extend(names.iter().cloned());
        }
    }
    if let Some(Value::Object(narrower)) = promised.get("properties") {
        let properties = output
            .entry("properties")
            .or_insert_with(|| Value::Object(JsonObject::new()));
        if let Value::Object(properties) = properties {
            properties.extend(narrower.iter().map(|(name, schema)| (name.clone(), schema.clone())));
        }
    }
}

/// Returns the schema of an output without its promises, because only the check of plans reads them.
pub(crate) fn without_promises(output: &Value) -> Value {
    let mut output = output.clone();
    if let Some(map) = output.as_object_mut() {
        map.shift_remove(KEYWORD);
    }
    output
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn counts() -> Value {
        json!({
            "type": "object",
            "properties": {"words": {"type": "integer"}, "answer": {"type": ["integer", "string"]}},
            "x-when": [
                {"input": {"only": ["words", null], "mode": ["plain"]}, "output": {"required": ["words"]}},
                {"input": {"only": ["name"]}, "output": {"properties": {"answer": {"type": "string"}}, "required": ["answer"]}},
            ],
        })
    }

    /// Returns the keys that an output is known to have, and the type of `answer`.
    fn known_output(arguments: &Value) -> (Value, Value) {
        let input = json!({"type": "object", "properties": {"mode": {"type": "string", "default": "plain"}}});
        let counts = counts();
        let known = promised_schema(&counts, &input, arguments);
        (known["required"].clone(), known["properties"]["answer"]["type"].clone())
    }

    #[test]
    fn a_promise_holds_for_a_call_with_one_of_its_values_under_each_name() {
        let union = json!(["integer", "string"]);
        assert_eq!(
            known_output(&json!({"only": "words"})),
            (json!(["words"]), union.clone())
        );
        assert_eq!(
            known_output(&json!({"only": {"$literal": "words"}})),
            (json!(["words"]), union.clone())
        );
        assert_eq!(
            known_output(&json!({})),
            (json!(["words"]), union.clone()),
            "null and defaults stand for what is absent"
        );
        assert_eq!(
            known_output(&json!({"only": "words", "mode": "odd"})),
            (Value::Null, union.clone())
        );
        assert_eq!(known_output(&json!({"only": "lines"})), (Value::Null, union));
    }

    #[test]
    fn a_promise_may_narrow_a_property() {
        assert_eq!(
            known_output(&json!({"only": "name"})),
            (json!(["answer"]), json!("string"))
        );
    }

    #[test]
    fn nothing_is_promised_for_a_value_that_is_known_only_when_the_plan_runs() {
        for only in [
            json!({"$from": "a"}),
            json!({"$param": "only"}),
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
        let shown = without_promises(&counts());
        assert_eq!((shown.get(KEYWORD), &shown["type"]), (None, &json!("object")));
    }
}
