//! Creates a remote provider, which is called over HTTP, from its settings: its address, headers and key.

use std::net::IpAddr;

use art_core::error::ModelError;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::SecretString;

use super::abilities::ModelCapabilities;
use super::{Provider, RemoteProvider};
use crate::catalog::{ProviderDefaults, built_in, compatible_defaults};
use crate::fault::{Redactor, not_configured};
use crate::key::{self, Key};
use crate::protocol::codec;
use crate::settings::ProviderSettings;

/// Headers that settings must not set, because they carry keys or are set by the HTTP client.
const RESERVED_HEADERS: [&str; 12] = [
    "api-key",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "host",
    "proxy-authorization",
    "te",
    "transfer-encoding",
    "x-api-key",
    "x-goog-api-key",
];

/// Creates the remote provider `name` from the built-in defaults and `settings`. A key that is missing, invalid, or would be sent
/// unencrypted is no error: the provider is created, and `RemoteProvider::problem` says why it cannot be called. Any other
/// invalid setting is an error.
pub(super) fn create_provider(
    name: &str,
    settings: &ProviderSettings,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Provider, ModelError> {
    check_name(name)?;
    let built_in_defaults = built_in(name);
    // A provider that is not built in has the same defaults as the built-in provider `compatible`.
    let defaults = built_in_defaults.unwrap_or_else(|| compatible_defaults());
    if built_in_defaults.is_none() && settings.api.is_none() {
        return Err(not_configured(format!(
            "provider `{name}` is not built in; set its `api` and `base_url` in `[providers.{name}]`"
        )));
    }
    let base_url = base_url(name, defaults, settings)?;
    let (headers, mut secrets) = headers(name, settings)?;
    let key = key::find_key(name, defaults.key_env, defaults.needs_key, settings, environment);
    let (key, problem) = match key.and_then(|key| check_encrypted(name, key, &base_url)) {
        Ok(key) => (key, None),
        Err(problem) => (Key::none(), Some(problem)),
    };
    secrets.extend(key.secret.clone());
    let api = settings.api.unwrap_or(defaults.api);
    let remote = RemoteProvider {
        name: name.to_owned(),
        api,
        codec: codec(api, name),
        base_url,
        headers,
        key,
        key_is_present: key::is_present(defaults.key_env, settings, environment),
        problem,
        capabilities: ModelCapabilities::new(defaults, settings),
        context_tokens: settings.context_tokens.unwrap_or(defaults.context_tokens),
        max_output_tokens: settings.max_output_tokens,
        stream: settings.stream.unwrap_or(true),
        redactor: Redactor::new(secrets),
    };
    Ok(Provider::remote(defaults, remote, settings))
}

fn check_name(name: &str) -> Result<(), ModelError> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !name.is_empty() && name.len() <= 64 && name.chars().all(is_allowed) {
        return Ok(());
    }
    Err(not_configured(format!(
        "`{}` is not a valid provider name; use at most 64 letters, digits, `-`, `_` and `.`",
        Redactor::default().clean_line(name)
    )))
}

/// Returns the address of the provider. Errors do not show it, because it may contain a password.
fn base_url(name: &str, defaults: &ProviderDefaults, settings: &ProviderSettings) -> Result<Url, ModelError> {
    let invalid = |problem: &str| not_configured(format!("`base_url` of `[providers.{name}]` {problem}"));
    let text = settings.base_url.as_deref().or(defaults.base_url);
    let text = text
        .ok_or_else(|| invalid("is not set; pass the address of the provider with `--base-url`, such as `--base-url https://models.example/v1`, or set it"))?;
    let url = Url::parse(text.trim()).map_err(|cause| invalid(&format!("is not a URL: {cause}")))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(invalid("must begin with `https://` or `http://`"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(invalid(
            "must not contain a user name or password; use `api_key_env` or `api_key_file`",
        ));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(invalid("must not contain `?` or `#`"));
    }
    Ok(url)
}

/// Returns `key`, unless it would be sent unencrypted to another machine.
fn check_encrypted(name: &str, key: Key, url: &Url) -> Result<Key, ModelError> {
    if key.secret.is_none() || url.scheme() == "https" || is_loopback(url) {
        return Ok(key);
    }
    Err(not_configured(format!(
        "the key of provider `{name}` ({}) would be sent to `{}` unencrypted; set `base_url` to an `https://` address",
        key.source,
        host_and_port(url)
    )))
}

/// Returns whether `url` is on this machine: its host is `localhost` or a loopback address.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Returns the host, with the port if it is not the default one of the scheme.
pub(crate) fn host_and_port(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port()
        .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Returns the headers of the settings, and their values as secrets to redact, because a value may contain a key.
fn headers(name: &str, settings: &ProviderSettings) -> Result<(HeaderMap, Vec<SecretString>), ModelError> {
    let mut headers = HeaderMap::new();
    let mut secrets = Vec::new();
    for (header, value) in &settings.headers {
        let invalid = |problem: &str| {
            let header = Redactor::default().clean_line(header);
            not_configured(format!("header `{header}` of `[providers.{name}]` {problem}"))
        };
        let header_name =
            HeaderName::from_bytes(header.as_bytes()).map_err(|_cause| invalid("is not a valid header name"))?;
        if RESERVED_HEADERS.contains(&header_name.as_str()) {
            return Err(invalid(
                "cannot be set; a key is set with `api_key_env` or `api_key_file`",
            ));
        }
        let not_allowed = || invalid("has a character that is not allowed in a header; use printable ASCII");
        if !value.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return Err(not_allowed());
        }
        let mut header_value = HeaderValue::from_str(value).map_err(|_cause| not_allowed())?;
        header_value.set_sensitive(true);
        headers.insert(header_name, header_value);
        secrets.push(SecretString::from(value.as_str()));
    }
    Ok((headers, secrets))
}
