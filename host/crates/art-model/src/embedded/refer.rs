//! Puts the result of an earlier step where a later one points at it.

use serde_json::Value;

use super::expression::REFERENCE;

/// Fields that hold the answer when an output has several.
const ANSWERS: &[&str] = &[
    "result",
    "value",
    "answer",
    "output",
    "total",
    "converted",
    "text",
    "translation",
    "amount",
    "count",
];

/// The answer of the last earlier step that succeeded, from the prompt's list of results.
pub(super) fn value(results: &Value) -> Option<Value> {
    let steps = results.as_array()?;
    steps.iter().rev().find_map(|step| {
        let calls = step.get("results")?.as_array()?;
        calls.iter().rev().find_map(|call| {
            let output = call.get("output").or_else(|| call.get("outputText"))?;
            call.get("error").is_none().then(|| answer(output))
        })
    })
}

/// The one value of an output that "that" means.
pub(super) fn answer(output: &Value) -> Value {
    match output {
        Value::Object(fields) => {
            let named = ANSWERS
                .iter()
                .find_map(|name| fields.get(*name))
                .filter(|value| !value.is_null());
            let mut numbers = fields.values().filter(|value| value.is_number());
            let number = numbers.next();
            let only = if fields.len() == 1 {
                fields.values().next()
            } else {
                None
            };
            named.or(only).or(number).map_or_else(|| output.clone(), answer)
        }
        Value::Array(values) if values.len() == 1 => values.first().map_or(Value::Null, answer),
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(value) if value.is_object() || value.is_array() => answer(&value),
            _ => output.clone(),
        },
        _ => output.clone(),
    }
}

/// Replaces every reference in `arguments`: on its own by the value, inside a text by the value's text.
pub(super) fn substitute(arguments: &mut Value, value: &Value) {
    match arguments {
        Value::String(text) if text == REFERENCE => *arguments = value.clone(),
        Value::String(text) => *text = text.replace(REFERENCE, &operand(value)),
        Value::Array(values) => values.iter_mut().for_each(|inner| substitute(inner, value)),
        Value::Object(fields) => fields.values_mut().for_each(|inner| substitute(inner, value)),
        _ => {}
    }
}

/// A negative number stands in brackets, or `2 ^ -3` and `5 - -3` would be at the mercy of the reader.
fn operand(value: &Value) -> String {
    let text = super::schema::text_of(value);
    if value.is_number() && text.starts_with('-') {
        format!("({text})")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_last_result_is_meant() {
        let results = json!([
            {"stepId": "step_1", "results": [{"tool": "t", "status": "success", "output": {"result": 1}}]},
            {"stepId": "step_2", "results": [{"tool": "t", "status": "success", "output": {"result": 409.5}}]},
        ]);
        assert_eq!(value(&results), Some(json!(409.5)));
    }

    #[test]
    fn a_failed_result_is_not_meant() {
        let results = json!([{"stepId": "step_1", "results": [{"tool": "t", "status": "error", "error": "no"}]}]);
        assert_eq!(value(&results), None);
    }

    #[test]
    fn a_reference_in_an_expression_becomes_text() {
        let mut arguments = json!({"a": format!("{REFERENCE} / 7"), "b": REFERENCE});
        substitute(&mut arguments, &json!(-3));
        assert_eq!(arguments, json!({"a": "(-3) / 7", "b": -3}));
    }
}
