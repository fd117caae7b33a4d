//! The result of an earlier part, which words such as "that" refer to.

use serde_json::Value;

use crate::answer::show::main_value;

/// Placeholder in arguments for the result of an earlier part.
pub(crate) const EARLIER: &str = "\u{1}";

/// The result of an earlier part: a number, a text, or both.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Earlier(Vec<Value>);

impl Earlier {
    /// Creates a result that is not known yet. It is a number and a text, so that every parameter accepts it.
    pub(crate) fn unknown() -> Self {
        Self::of(&Value::from(1))
    }

    /// Reads the result of a step: the value that its answer shows, or the first number and the first text of an object.
    pub(crate) fn of(result: &Value) -> Self {
        let value = main_value(result);
        let fields = match &value {
            Value::Object(fields) => fields.values().collect(),
            value => vec![value],
        };
        let number = fields.iter().copied().find(|value| value.is_number());
        let text = fields.iter().find_map(|value| value.as_str().map(str::to_owned));
        let text = text.or_else(|| number.map(Value::to_string));
        Self(number.cloned().into_iter().chain(text.map(Value::from)).collect())
    }

    /// Returns `arguments` with the result in place of each [`EARLIER`]: once as a number, and once as a text.
    pub(crate) fn put_into(&self, arguments: &Value) -> Vec<Value> {
        self.0.iter().map(|result| with(arguments, result)).collect()
    }
}

fn with(arguments: &Value, result: &Value) -> Value {
    match arguments {
        Value::String(text) if text == EARLIER => result.clone(),
        Value::String(text) => Value::from(text.replace(EARLIER, &operand(result))),
        Value::Array(values) => values.iter().map(|value| with(value, result)).collect(),
        Value::Object(map) => {
            let entries = map.iter().map(|(key, value)| (key.clone(), with(value, result)));
            Value::Object(entries.collect())
        }
        other => other.clone(),
    }
}

/// The result as part of an expression. Brackets around a negative number keep the operator before it valid.
fn operand(result: &Value) -> String {
    let text = result.as_str().map_or_else(|| result.to_string(), str::to_owned);
    let bracketed = text.starts_with('-').then(|| format!("({text})"));
    bracketed.unwrap_or(text)
}
