//! The parameters of a request. A common parameter has one name for all providers. Any other parameter is sent to the provider
//! unchanged, under the name that the request gives it (contract C42). A parameter cannot set a field that the program itself
//! controls, such as the model (contract B24).

use art_core::JsonObject;
use serde_json::Value;

use super::ProtocolCall;

/// Parameters that a request names alike for every provider. Each protocol sends them under the name that its provider uses.
const COMMON: &[&str] = &["temperature", "topP", "maxTokens", "seed", "stop", "reasoningEffort"];

/// Fields of a request that parameters never set, because the program controls them.
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
    params: &'a JsonObject,
    default_max_tokens: Option<u64>,
}

impl<'a> Params<'a> {
    pub(super) const fn new(call: &ProtocolCall<'a>) -> Self {
        Self {
            params: &call.request.params,
            default_max_tokens: call.max_tokens,
        }
    }

    /// Returns the value of a parameter, unless it is missing or null.
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.params.get(name).filter(|value| !value.is_null())
    }

    /// Returns the maximum number of tokens of the reply, if it is set.
    pub(super) fn max_tokens(&self) -> Option<u64> {
        self.get("maxTokens")
            .and_then(Value::as_u64)
            .or(self.default_max_tokens)
    }

    /// Returns the stop sequences, if there are any.
    pub(super) fn stop(&self) -> Option<Vec<&'a str>> {
        let texts: Vec<&str> = match self.get("stop")? {
            Value::String(text) => vec![text.as_str()],
            Value::Array(texts) => texts.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        (!texts.is_empty()).then_some(texts)
    }

    /// Returns the reasoning effort: `none`, `minimal`, `low`, `medium`, `high`, or a provider-specific value.
    pub(super) fn effort(&self) -> Option<&'a str> {
        self.get("reasoningEffort").and_then(Value::as_str)
    }

    /// Sets `body[field]` to the parameter `name`, if the request sets that parameter.
    pub(super) fn copy(&self, name: &str, body: &mut JsonObject, field: &str) {
        if let Some(value) = self.get(name) {
            body.insert(field.to_owned(), value.clone());
        }
    }

    /// Adds the parameters that are neither common nor reserved, under their own names. Values that the body already has are not
    /// changed.
    pub(super) fn add_provider_params(&self, body: &mut JsonObject) {
        let specific = self.params.iter().filter(|(name, value)| {
            let name = name.as_str();
            !COMMON.contains(&name) && !RESERVED.contains(&name) && !value.is_null()
        });
        for (name, value) in specific {
            add_field(body, name, value);
        }
    }
}

/// Adds a field to `body`. If the field exists and both values are objects, adds the missing entries to it. Any other existing
/// field stays as it is.
fn add_field(body: &mut JsonObject, name: &str, value: &Value) {
    match (body.get_mut(name), value) {
        (None, value) => {
            body.insert(name.to_owned(), value.clone());
        }
        (Some(Value::Object(existing)), Value::Object(additional)) => {
            for (name, value) in additional {
                add_field(existing, name, value);
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

    fn body_with_params(params: &Value, body: &Value) -> Value {
        let params = object(params);
        let params = Params {
            params: &params,
            default_max_tokens: None,
        };
        let mut body = object(body);
        params.add_provider_params(&mut body);
        Value::Object(body)
    }

    #[test]
    fn a_parameter_never_sets_a_reserved_field() {
        let params = json!({"model": "other", "messages": [], "tools": [], "stream": false, "store": true, "topK": 4});
        assert_eq!(
            body_with_params(&params, &json!({"model": "m"})),
            json!({"model": "m", "topK": 4})
        );
    }

    #[test]
    fn a_parameter_does_not_change_a_field_that_the_body_already_has() {
        let body = json!({"generationConfig": {"temperature": 0.5}, "max_tokens": 7});
        let params =
            json!({"generationConfig": {"temperature": 2, "topK": 4}, "max_tokens": 9, "maxTokens": 9, "user": null});
        let expected = json!({"generationConfig": {"temperature": 0.5, "topK": 4}, "max_tokens": 7});
        assert_eq!(body_with_params(&params, &body), expected);
    }

    #[test]
    fn stop_is_a_text_or_a_list_of_texts() {
        for (stop, expected) in [
            (json!("a"), Some(vec!["a"])),
            (json!(["a", 1, "b"]), Some(vec!["a", "b"])),
            (json!([]), None),
            (json!(3), None),
        ] {
            let params = object(&json!({"stop": stop}));
            let params = Params {
                params: &params,
                default_max_tokens: None,
            };
            assert_eq!(params.stop(), expected);
        }
    }
}
