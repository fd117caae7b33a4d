//! The settings of providers, merged with the flags for the provider of the model in use.

use std::path::Path;

use art_lexical::LexicalModel;
use art_model::{ModelSettings, ReasoningEngine};

use super::{ConfigError, Origin, Overrides, Setting};

/// Returns `given` with `--base-url` and `--api-key-env` in the settings of the provider of `model`.
///
/// A flag that does not apply is an error. Values of the environment that belong to another provider have already been
/// removed from `overrides`: see [`forget_foreign`].
pub(super) fn settings(
    overrides: &Overrides,
    model: &str,
    mut given: ModelSettings,
    folder: &Path,
) -> Result<ModelSettings, ConfigError> {
    for provider in given.providers.values_mut() {
        check_variable(provider.api_key_env.as_deref(), "api_key_env")?;
        // A relative path in the file is relative to the file.
        provider.api_key_file = provider.api_key_file.take().map(|file| folder.join(file));
    }
    check_variable(overrides.api_key_env.as_deref(), "--api-key-env")?;
    let provider = provider_of(model);
    if provider == LexicalModel::PROVIDER {
        refuse("--base-url", overrides.base_url.as_ref())?;
        refuse("--api-key-env", overrides.api_key_env.as_ref())?;
        return Ok(given);
    }
    if overrides.base_url.is_none() && overrides.api_key_env.is_none() {
        return Ok(given);
    }
    let settings = given.providers.entry(provider.to_owned()).or_default();
    if let Some(base_url) = &overrides.base_url {
        settings.base_url = Some(base_url.clone());
    }
    if let Some(variable) = &overrides.api_key_env {
        settings.api_key_env = Some(variable.clone());
        settings.api_key_file = None;
    }
    Ok(given)
}

/// Removes from `overrides` the values of the environment that may be meant for another provider, and returns a note
/// about them: a key must not be sent to an address that somebody else's file or flag sets. The values are kept for a
/// provider that the environment names itself, and for one that has no address yet. For the embedded model there is no
/// note, because the values may be meant for other commands.
pub(super) fn forget_foreign(
    overrides: &mut Overrides,
    model: &Setting<String>,
    given: &ModelSettings,
) -> Option<String> {
    let provider = provider_of(&model.value);
    let from = &overrides.from_environment;
    let base_url = from.contains(&"base_url").then_some("ART_BASE_URL");
    let api_key_env = from.contains(&"api_key_env").then_some("ART_API_KEY_ENV");
    if base_url.is_none() && api_key_env.is_none() {
        return None;
    }
    let embedded = provider == LexicalModel::PROVIDER;
    let by_flag = overrides.base_url.is_some() && base_url.is_none();
    let own = model.origin == Origin::Environment || !(by_flag || has_address(provider, given));
    if own && !embedded {
        return None;
    }
    overrides.base_url.take_if(|_| base_url.is_some());
    overrides.api_key_env.take_if(|_| api_key_env.is_some());
    if embedded {
        return None;
    }
    let names: Vec<_> = base_url.into_iter().chain(api_key_env).collect();
    Some(format!(
        "`{}` ignored: the environment does not say that it is for `{provider}` (hint: set `ART_MODEL` too, or pass \
         `--base-url` and `--api-key-env`)",
        names.join("` and `")
    ))
}

/// Returns whether the provider has an address of its own or one in the file.
fn has_address(provider: &str, given: &ModelSettings) -> bool {
    let in_file = given
        .providers
        .get(provider)
        .is_some_and(|given| given.base_url.is_some());
    // Without any settings, only the providers of the catalog are known.
    let known = ReasoningEngine::new(ModelSettings::default(), |_| None).map(|engine| engine.providers());
    let known = known.unwrap_or_default();
    in_file
        || known
            .iter()
            .any(|known| known.name == provider && known.base_url.is_some())
}

fn provider_of(model: &str) -> &str {
    model.split_once(':').map_or(model, |(provider, _)| provider).trim()
}

fn refuse(flag: &'static str, given: Option<&String>) -> Result<(), ConfigError> {
    given.map_or(Ok(()), |_| Err(ConfigError::NoProvider { flag }))
}

/// Fails if a name looks like a key, which the error does not show.
fn check_variable(name: Option<&str>, setting: &'static str) -> Result<(), ConfigError> {
    let plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match name {
        Some(name) if name.is_empty() || name.len() > 128 || !plain(name) || is_key(name) => {
            Err(ConfigError::NoVariable { setting })
        }
        _ => Ok(()),
    }
}

/// Returns whether a name looks like a key: it begins as keys of providers do, or is long and mixes lower case with digits.
fn is_key(name: &str) -> bool {
    const MARKS: &[&str] = &["sk_", "gsk_", "hf_", "AIza", "eyJ"];
    let has = |kind: fn(&u8) -> bool| name.bytes().any(|byte| kind(&byte));
    MARKS.iter().any(|mark| name.starts_with(mark))
        || (name.len() >= 20 && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit))
}
