//! The parameters of a request (C42), and how a body gets those that are not ours (B24).

use art_core::JsonObject;
use serde_json::Value;

use super::WireCall;

/// Parameters that have the same name for every provider.
const COMMON: &[&str] = &["temperature", "topP", "maxTokens", "seed", "stop", "reasoningEffort"];

/// Fields that say what is asked, how and of whom: a parameter never sets one, whether the body has it or not.
const RESERVED: &[&str] = &[
    "model",
    "messages",
    "input",
    "contents",
    "system",
    "systemInstruction",
    "system_instruction",
    "instructions",
    "prompt",
    "previous_response_id",
    "conversation",
    "tools",
    "tool_choice",
    "toolConfig",
    "tool_config",
    "functions",
    "function_call",
    "stream",
    "stream_options",
    "store",
    "background",
    "api_key",
    "key",
];

/// The parameters of one call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Params<'a> {
    given: &'a JsonObject,
    default_max_tokens: Option<u64>,
}

impl<'a> Params<'a> {
    pub(super) const fn new(call: &WireCall<'a>) -> Self {
        Self {
            given: &call.request.params,
            default_max_tokens: call.max_tokens,
        }
    }

    /// A parameter as it was given.
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.given.get(name).filter(|value| !value.is_null())
    }

    /// Tokens that the reply may have.
    pub(super) fn max_tokens(&self) -> Option<u64> {
        self.get("maxTokens")
            .and_then(Value::as_u64)
            .or(self.default_max_tokens)
    }

    /// Texts that end the reply, when there are any.
    pub(super) fn stop(&self) -> Option<Vec<&'a str>> {
        let texts: Vec<&str> = match self.get("stop")? {
            Value::String(text) => vec![text.as_str()],
            Value::Array(texts) => texts.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        (!texts.is_empty()).then_some(texts)
    }

    /// How much the model is to think: `none`, `minimal`, `low`, `medium`, `high` and what else a provider knows.
    pub(super) fn effort(&self) -> Option<&'a str> {
        self.get("reasoningEffort").and_then(Value::as_str)
    }

    /// Sets `body[field]` to the parameter `name`, if it was given.
    pub(super) fn copy(&self, name: &str, body: &mut JsonObject, field: &str) {
        if let Some(value) = self.get(name) {
            body.insert(field.to_owned(), value.clone());
        }
    }

    /// Adds every parameter that is not common to all providers. What the body has stays as it is.
    pub(super) fn add_rest(&self, body: &mut JsonObject) {
        let rest = self.given.iter().filter(|(name, value)| {
            let name = name.as_str();
            !COMMON.contains(&name) && !RESERVED.contains(&name) && !value.is_null()
        });
        for (name, value) in rest {
            add(body, name, value);
        }
    }
}

/// Adds a field; of a field that both have as an object, what is missing in it.
fn add(body: &mut JsonObject, name: &str, value: &Value) {
    match (body.get_mut(name), value) {
        (None, value) => {
            body.insert(name.to_owned(), value.clone());
        }
        (Some(Value::Object(ours)), Value::Object(theirs)) => {
            for (name, value) in theirs {
                add(ours, name, value);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: &Value) -> JsonObject {
        value.as_object().unwrap().clone()
    }

    fn merged(params: &Value, body: &Value) -> Value {
        let given = object(params);
        let params = Params {
            given: &given,
            default_max_tokens: None,
        };
        let mut body = object(body);
        params.add_rest(&mut body);
        Value::Object(body)
    }

    #[test]
    fn a_parameter_never_says_what_is_asked_how_or_of_whom() {
        let params = json!({"model": "other", "messages": [], "tools": [], "stream": false, "store": true, "topK": 4});
        assert_eq!(
            merged(&params, &json!({"model": "m"})),
            json!({"model": "m", "topK": 4})
        );
    }

    #[test]
    fn a_parameter_adds_what_the_body_lacks_and_changes_nothing_that_it_has() {
        let body = json!({"generationConfig": {"temperature": 0.5}, "max_tokens": 7});
        let params =
            json!({"generationConfig": {"temperature": 2, "topK": 4}, "max_tokens": 9, "maxTokens": 9, "user": null});
        let expected = json!({"generationConfig": {"temperature": 0.5, "topK": 4}, "max_tokens": 7});
        assert_eq!(merged(&params, &body), expected);
    }

    #[test]
    fn stop_is_a_text_or_a_list_of_texts() {
        for (stop, expected) in [
            (json!("a"), Some(vec!["a"])),
            (json!(["a", 1, "b"]), Some(vec!["a", "b"])),
            (json!([]), None),
            (json!(3), None),
        ] {
            let given = object(&json!({"stop": stop}));
            let params = Params {
                given: &given,
                default_max_tokens: None,
            };
            assert_eq!(params.stop(), expected);
        }
    }
}
