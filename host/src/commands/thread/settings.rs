//! Changes one setting of a conversation.

use art_core::agent::ThreadConfig;
use art_core::prompt::SystemPromptOverride;
use art_core::provider::RuntimeProviderConfig;
use art_runtime::compose::{open_engine, resolve_model};
use art_runtime::config::{Config, check_system_prompt};
use art_tools::check_name;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::cli::ThreadSetting;
use crate::error::CommandError;

/// Returns the configuration of a conversation with one setting changed to `values`, the arguments of the command line.
///
/// # Errors
/// Fails if the values are not valid for the setting, or refer to an unknown system prompt.
pub(super) fn change(
    mut thread_config: ThreadConfig,
    setting: ThreadSetting,
    values: &[String],
    config: &Config,
) -> Result<ThreadConfig, CommandError> {
    if matches!(setting, ThreadSetting::Tools) {
        thread_config.enabled_tools = parse_tools(values)?;
        return Ok(thread_config);
    }
    let [value] = values else {
        let count = values.len();
        return Err(CommandError::Usage(format!(
            "the setting needs one value, but {count} are given"
        )));
    };
    match setting {
        // Handled above.
        ThreadSetting::Tools => {}
        ThreadSetting::Model => thread_config.provider_config = parse_model(value, config)?,
        ThreadSetting::HistoryLimit => {
            thread_config.history_limit = deserialize::<Option<u32>>(&parse_json(value)?)?.unwrap_or_default()
        }
        ThreadSetting::Persona => thread_config.persona = deserialize(&parse_json(value)?)?,
        ThreadSetting::Execution => thread_config.execution_config = deserialize(&parse_json(value)?)?,
        ThreadSetting::SystemPrompt => {
            let prompt: Option<SystemPromptOverride> = deserialize(&parse_json_or_text(value))?;
            check_system_prompt(prompt.as_ref(), Some(&config.system_prompts.value))?;
            thread_config.system_prompt = prompt;
        }
    }
    Ok(thread_config)
}

/// Returns the names of the tools that the conversation may call. With `null` or without names, it may call no tool. Fails if a
/// name is invalid.
fn parse_tools(names: &[String]) -> Result<Vec<String>, CommandError> {
    if let [only_name] = names
        && only_name == "null"
    {
        return Ok(Vec::new());
    }
    let is_valid = |name: &str| name == ThreadConfig::ALL_TOOLS || check_name(name).is_ok();
    match names.iter().find(|name| !is_valid(name)) {
        Some(name) => Err(CommandError::Usage(format!(
            "`{}` is not a valid tool name; use names from `art tool list`, or '*' in quotes for all tools",
            art_core::text::truncate(name, 64)
        ))),
        None => Ok(names.to_vec()),
    }
}

/// Returns the model of a conversation, or `None` for `null`. Fails if the model is unknown or not set up.
fn parse_model(value: &str, config: &Config) -> Result<Option<RuntimeProviderConfig>, CommandError> {
    if value == "null" {
        return Ok(None);
    }
    Ok(Some(resolve_model(&open_engine(config)?, value)?))
}

fn parse_json(value: &str) -> Result<Value, CommandError> {
    serde_json::from_str(value).map_err(|error| CommandError::Usage(format!("the value is not JSON: {error}")))
}

/// Parses the value as JSON if it is `null`, a string or an object. Any other value is a plain text.
fn parse_json_or_text(value: &str) -> Value {
    match serde_json::from_str(value) {
        Ok(json @ (Value::Null | Value::String(_) | Value::Object(_))) => json,
        _ => Value::from(value),
    }
}

/// Deserializes a value and refuses unknown keys at any depth.
fn deserialize<T: DeserializeOwned + Serialize>(value: &Value) -> Result<T, CommandError> {
    let invalid = |error| CommandError::Usage(format!("the value is not valid for this setting: {error}"));
    let parsed: T = T::deserialize(value).map_err(invalid)?;
    let recognized = serde_json::to_value(&parsed).map_err(invalid)?;
    match unknown_key(value, &recognized) {
        Some(key) => Err(CommandError::Usage(format!(
            "the value has the key `{key}`, which this setting does not have"
        ))),
        None => Ok(parsed),
    }
}

/// Returns the first key of `value` that is not in `recognized`, which is the same value after it was deserialized and serialized
/// again. Ignores keys with the value `null`.
fn unknown_key<'a>(value: &'a Value, recognized: &Value) -> Option<&'a str> {
    for (key, inner) in value.as_object()?.iter().filter(|(_, inner)| !inner.is_null()) {
        // If `inner` is an object with only unknown keys, it is empty after it was deserialized. Empty objects may be left out of
        // `recognized`, so that `key` seems to be unknown too. So an unknown key in `inner` is returned rather than `key`.
        let unknown_in_inner = unknown_key(inner, recognized.get(key).unwrap_or(&Value::Null));
        if unknown_in_inner.is_some() || recognized.get(key).is_none() {
            return unknown_in_inner.or(Some(key));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_unknown_key_is_found_at_any_depth() {
        let recognized = json!({"name": "Ada", "prompts": {"planning": "x"}});
        assert_eq!(unknown_key(&recognized, &recognized), None);
        assert_eq!(unknown_key(&json!({"nmae": "Ada"}), &recognized), Some("nmae"));
        assert_eq!(
            unknown_key(&json!({"prompts": {"planing": "x"}}), &recognized),
            Some("planing")
        );
        assert_eq!(unknown_key(&json!({"gone": {"foo": "y"}}), &recognized), Some("foo"));
        assert_eq!(unknown_key(&json!({"gone": null}), &recognized), None);
    }
}
