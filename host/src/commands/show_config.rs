//! `art config`: shows every value of the configuration that is in effect, and its origin: the command line, an environment
//! variable, the file, or the default.

use art_core::JsonObject;
use art_model::{EngineLimits, ProviderInfo};
use art_runtime::compose::open_engine;
use art_runtime::config::{Config, Origin, Setting};
use serde_json::{Value, json};

use super::load_config;
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render::{self, table};

pub(super) fn show_config(global: &GlobalOptions) -> Result<Exit, CommandError> {
    let config = load_config(global)?;
    let providers = open_engine(&config)?.providers();
    let mut settings = collect_settings(&config);
    if global.json {
        let providers: Vec<Value> = providers.iter().map(|info| provider_json(&config, info)).collect();
        settings.insert("providers".to_owned(), json!(providers));
        render::json(&settings);
        return Ok(Exit::Success);
    }
    if config.file.is_none() {
        let path = format!("{} (does not exist)", config.file_path.display());
        settings.insert("file".to_owned(), Value::from(path));
    }
    let mut rows = vec![row("key", "value", "from")];
    rows.extend(setting_rows(&settings));
    for info in &providers {
        rows.extend(provider_rows(&config, info));
    }
    render::print(&table::lines(&rows).join("\n"));
    Ok(Exit::Success)
}

fn row(key: &str, value: &str, origin: &str) -> Vec<String> {
    vec![key.to_owned(), value.to_owned(), origin.to_owned()]
}

/// Returns every setting with its value and its origin.
fn collect_settings(config: &Config) -> JsonObject {
    let mut fields = match serde_json::to_value(config) {
        Ok(Value::Object(fields)) => fields,
        _ => JsonObject::new(),
    };
    // `config.models` is not serialized, so its limits and prices are added here.
    let (limits, prices) = (config.models.limits, &config.models.prices.0);
    let limits_origin = file_or_default_origin(limits != EngineLimits::default());
    let prices_origin = file_or_default_origin(!prices.is_empty());
    fields.insert("models".to_owned(), json!({"value": limits, "origin": limits_origin}));
    fields.insert("prices".to_owned(), json!({"value": prices, "origin": prices_origin}));
    fields
}

/// Returns the origin of a setting that only the file can set.
const fn file_or_default_origin(is_set: bool) -> Origin {
    if is_set { Origin::File } else { Origin::Default }
}

fn setting_rows(settings: &JsonObject) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for (key, setting) in settings {
        let (value, origin) = match (setting.get("value"), setting.get("origin")) {
            (Some(value), Some(origin)) => (value, origin.as_str().unwrap_or_default()),
            _ => (setting, ""),
        };
        add_rows(key, value, origin, &mut rows);
    }
    rows
}

/// Adds a row for a value, or for each value in it if it is a table.
fn add_rows(key: &str, value: &Value, origin: &str, rows: &mut Vec<Vec<String>>) {
    match value {
        Value::Object(table) if !table.is_empty() => {
            for (name, value) in table {
                add_rows(&format!("{key}.{name}"), value, origin, rows);
            }
        }
        Value::Object(_) | Value::Null => rows.push(row(key, "not set", origin)),
        Value::String(text) => rows.push(row(key, text, origin)),
        other => rows.push(row(key, &other.to_string(), origin)),
    }
}

/// Returns rows with the address and the source of the key of a provider. A model in this process has neither.
fn provider_rows(config: &Config, info: &ProviderInfo) -> Vec<Vec<String>> {
    let Some(base_url) = &info.base_url else {
        return Vec::new();
    };
    let [url_origin, key_origin] = origins(config, info).map(Origin::name);
    let name = format!("providers.{}", info.name);
    vec![
        row(&format!("{name}.base_url"), base_url, url_origin),
        row(&format!("{name}.key"), &key_source(info), key_origin),
    ]
}

/// Returns the source of the key as text, or why no key is used. The text never contains the key.
fn key_source(info: &ProviderInfo) -> String {
    match (&info.key, &info.problem) {
        (Some(source), _) => format!("{source} (set)"),
        (None, Some(problem)) if info.key_set => format!("not used: {}", problem.message),
        (None, Some(_)) => "not set".to_owned(),
        (None, None) => "none needed".to_owned(),
    }
}

/// Returns a provider as JSON, with the origins of its address and its key. A model in this process has neither.
fn provider_json(config: &Config, info: &ProviderInfo) -> Value {
    let [url_origin, key_origin] = origins(config, info);
    let mut value = serde_json::to_value(info).unwrap_or_default();
    if let (Some(fields), true) = (value.as_object_mut(), !info.in_process()) {
        fields.insert("baseUrlOrigin".to_owned(), json!(url_origin));
        fields.insert("keyOrigin".to_owned(), json!(key_origin));
    }
    value
}

/// Returns the origins of a provider's base URL and of its key.
fn origins(config: &Config, info: &ProviderInfo) -> [Origin; 2] {
    let is_in_use = config.model.value.split(':').next().map(str::trim) == Some(info.name.as_str());
    let in_file = config.models.providers.get(&info.name);
    let has_url = in_file.is_some_and(|provider| provider.base_url.is_some());
    let has_key = in_file.is_some_and(|provider| provider.api_key_env.is_some() || provider.api_key_file.is_some());
    // The command line and the environment override only the settings of the provider in use.
    let override_origin =
        |setting: &Setting<Option<String>>| (is_in_use && setting.value.is_some()).then_some(setting.origin);
    [
        override_origin(&config.base_url).unwrap_or_else(|| file_or_default_origin(has_url)),
        override_origin(&config.api_key_env).unwrap_or_else(|| file_or_default_origin(has_key)),
    ]
}
