//! What "that" refers to: the result of an earlier part.

use serde_json::{Map, Value};

use crate::expression::EARLIER;

/// The result of an earlier part, as a number and as a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Earlier {
    number: Option<Value>,
    text: Option<String>,
}

impl Earlier {
    /// A result that is not known yet: it may be anything.
    pub(crate) fn unknown() -> Self {
        Self {
            number: Some(Value::from(1)),
            text: Some("1".to_owned()),
        }
    }

    /// The result of a step: of an object its first number and its first text.
    pub(crate) fn of(result: &Value) -> Self {
        let read = result
            .as_str()
            .and_then(|text| serde_json::from_str::<Value>(text).ok());
        let value = read.as_ref().filter(|value| value.is_object()).unwrap_or(result);
        let fields: Vec<&Value> = match value {
            Value::Object(map) => map.values().collect(),
            other => vec![other],
        };
        let number = fields.iter().find_map(|value| number(value));
        let text = fields.iter().find_map(|value| value.as_str());
        Self {
            text: text
                .map(str::to_owned)
                .or_else(|| number.as_ref().map(Value::to_string)),
            number,
        }
    }

    /// `arguments` with the result where they refer to it: as a number, and as a text.
    pub(crate) fn put_into(&self, arguments: &Value) -> Vec<Value> {
        let number = self.number.as_ref().map(|number| with(arguments, number));
        let text = self
            .text
            .as_ref()
            .map(|text| with(arguments, &Value::from(text.as_str())));
        number.into_iter().chain(text).collect()
    }
}

fn number(value: &Value) -> Option<Value> {
    value.is_number().then(|| value.clone())
}

fn with(arguments: &Value, result: &Value) -> Value {
    match arguments {
        Value::String(text) if text == EARLIER => result.clone(),
        Value::String(text) => Value::from(text.replace(EARLIER, &operand(result))),
        Value::Array(values) => values.iter().map(|value| with(value, result)).collect(),
        Value::Object(map) => {
            let entries = map.iter().map(|(key, value)| (key.clone(), with(value, result)));
            Value::Object(entries.collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

/// The result as part of an expression. A negative number stands in brackets, or it would change what stands before it.
fn operand(result: &Value) -> String {
    match result {
        Value::String(text) => text.clone(),
        number => match number.to_string() {
            negative if negative.starts_with('-') => format!("({negative})"),
            positive => positive,
        },
    }
}
