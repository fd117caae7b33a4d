//! Merges the tables `[providers]` of the file with `base_url` and `api_key_env`, which flags and the environment set for one
//! provider: that of the model in use.

use std::path::Path;

use art_lexical::LexicalModel;
use art_model::{ModelSettings, ReasoningEngine};

use super::{ConfigError, Origin, Overrides, Setting};

/// Returns `settings` with `--base-url` and `--api-key-env` in the entry of the provider of `model`.
///
/// Fails if one of these flags is set for the embedded model, because this model runs in this process and needs neither an
/// address nor a key. Also fails if `api_key_env` does not name a variable. Before this call,
/// [`remove_ambiguous_overrides`] must have removed values of the environment that may belong to another provider.
pub(super) fn merge_settings(
    overrides: &Overrides,
    model: &str,
    mut settings: ModelSettings,
    folder: &Path,
) -> Result<ModelSettings, ConfigError> {
    for provider in settings.providers.values_mut() {
        check_variable_name(provider.api_key_env.as_deref(), "api_key_env")?;
        // A relative path in the file is relative to the file.
        provider.api_key_file = provider.api_key_file.take().map(|file| folder.join(file));
    }
    check_variable_name(overrides.api_key_env.as_deref(), "--api-key-env")?;
    let provider = provider_name(model);
    if provider == LexicalModel::PROVIDER {
        check_flag_is_unset("--base-url", overrides.base_url.as_ref())?;
        check_flag_is_unset("--api-key-env", overrides.api_key_env.as_ref())?;
        return Ok(settings);
    }
    if overrides.base_url.is_none() && overrides.api_key_env.is_none() {
        return Ok(settings);
    }
    let entry = settings.providers.entry(provider.to_owned()).or_default();
    if let Some(base_url) = &overrides.base_url {
        entry.base_url = Some(base_url.clone());
    }
    if let Some(variable) = &overrides.api_key_env {
        entry.api_key_env = Some(variable.clone());
        entry.api_key_file = None;
    }
    Ok(settings)
}

/// Removes from `overrides` the address and the name of the key variable if they come from the environment and may be meant for
/// another provider than that of `model`. If they stayed, the key of one provider could be sent to the address of another.
/// Returns a note about what was removed.
///
/// Removes nothing if the environment also names the model, or if no other source (a flag, the file, the catalog of built-in
/// providers) has an address of the provider. The embedded model has no provider: for it, both are always removed, and without
/// a note, because the variables may be meant for other commands.
pub(super) fn remove_ambiguous_overrides(
    overrides: &mut Overrides,
    model: &Setting<String>,
    settings: &ModelSettings,
) -> Option<String> {
    let provider = provider_name(&model.value);
    let from_environment = &overrides.from_environment;
    let url_variable = from_environment.contains(&"base_url").then_some("ART_BASE_URL");
    let key_variable = from_environment.contains(&"api_key_env").then_some("ART_API_KEY_ENV");
    if url_variable.is_none() && key_variable.is_none() {
        return None;
    }
    let is_embedded = provider == LexicalModel::PROVIDER;
    let address_from_flag = overrides.base_url.is_some() && url_variable.is_none();
    let has_other_address = address_from_flag || has_address(provider, settings);
    let is_unambiguous = model.origin == Origin::Environment || !has_other_address;
    if is_unambiguous && !is_embedded {
        return None;
    }
    overrides.base_url.take_if(|_| url_variable.is_some());
    overrides.api_key_env.take_if(|_| key_variable.is_some());
    if is_embedded {
        return None;
    }
    let names: Vec<_> = url_variable.into_iter().chain(key_variable).collect();
    Some(format!(
        "`{}` ignored: the environment does not say that it is for `{provider}` (hint: set `ART_MODEL` too, or pass \
         `--base-url` and `--api-key-env`)",
        names.join("` and `")
    ))
}

/// Returns whether the file or the catalog of built-in providers has an address of the provider.
fn has_address(provider: &str, settings: &ModelSettings) -> bool {
    let in_file = settings
        .providers
        .get(provider)
        .is_some_and(|entry| entry.base_url.is_some());
    // An engine without settings knows only the providers of the catalog.
    let catalog = ReasoningEngine::new(ModelSettings::default(), |_| None).map(|engine| engine.providers());
    let catalog = catalog.unwrap_or_default();
    in_file
        || catalog
            .iter()
            .any(|info| info.name == provider && info.base_url.is_some())
}

fn provider_name(model: &str) -> &str {
    model.split_once(':').map_or(model, |(provider, _)| provider).trim()
}

/// Fails with [`ConfigError::NoProvider`] if the flag has a value.
fn check_flag_is_unset(flag: &'static str, value: Option<&String>) -> Result<(), ConfigError> {
    value.map_or(Ok(()), |_| Err(ConfigError::NoProvider { flag }))
}

/// Fails if `name` cannot be the name of an environment variable, or looks like a key. The error does not contain it.
fn check_variable_name(name: Option<&str>, setting: &'static str) -> Result<(), ConfigError> {
    let has_valid_characters = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match name {
        Some(name) if name.is_empty() || name.len() > 128 || !has_valid_characters(name) || looks_like_key(name) => {
            Err(ConfigError::NotAVariableName { setting })
        }
        _ => Ok(()),
    }
}

/// Returns whether a name looks like a key: it begins like keys of known providers, or it is long and has both lower-case
/// letters and digits.
fn looks_like_key(name: &str) -> bool {
    // `sk-` is not in this list: `check_variable_name` refuses every name with a hyphen.
    const PREFIXES: &[&str] = &["sk_", "gsk_", "hf_", "AIza", "eyJ"];
    let has = |kind: fn(&u8) -> bool| name.bytes().any(|byte| kind(&byte));
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || (name.len() >= 20 && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit))
}
