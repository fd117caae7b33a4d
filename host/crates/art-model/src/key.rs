//! Finds the keys with which the providers are called, in environment variables and files. A key is kept as a secret, whose debug
//! output is redacted, and is written only to one header of a request.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use art_core::error::ModelError;
use art_files::{NotRegular, open_regular};
use secrecy::{ExposeSecret, SecretString};

use crate::fault::not_configured;
use crate::settings::ProviderSettings;

/// Maximum size of a key file, in bytes.
const MAX_FILE_BYTES: u64 = 8 * 1024;

/// Where a key was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeySource {
    /// No key is used: none is required, or the key is missing, invalid, or would be sent unencrypted.
    None,
    Environment(String),
    File(PathBuf),
}

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => write!(f, "no key"),
            Self::Environment(name) => write!(f, "environment variable `{name}`"),
            Self::File(path) => write!(f, "file `{}`", path.display()),
        }
    }
}

/// The key of a provider, if it has one, and where it was found.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) source: KeySource,
    pub(crate) secret: Option<SecretString>,
}

impl Key {
    /// Creates the `Key` without a secret, of a provider that has no key or none that can be used.
    pub(crate) const fn none() -> Self {
        Self {
            source: KeySource::None,
            secret: None,
        }
    }
}

/// Finds the key of the provider `name`: in the variable that the settings name, or else in the file that they name.
/// If the settings name a variable or a file, the `default_variables` are not read: a key in them may be for the default address
/// of the provider, and must not be sent to another address that the settings set.
///
/// # Errors
/// Fails if the key is invalid, or if it is missing although the provider requires one or the settings name a source.
pub(crate) fn find_key(
    name: &str,
    default_variables: &[&str],
    required: bool,
    settings: &ProviderSettings,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Key, ModelError> {
    let variables = candidate_variables(default_variables, settings);
    for variable in &variables {
        let value = environment(variable).unwrap_or_default();
        if !value.trim().is_empty() {
            return parse_key(&value, KeySource::Environment((*variable).to_owned()));
        }
    }
    if let Some(path) = &settings.api_key_file {
        return parse_key(&read_key_file(path)?, KeySource::File(path.clone()));
    }
    if !required && settings.api_key_env.is_none() {
        return Ok(Key::none());
    }
    let variable = variables
        .first()
        .filter(|variable| looks_like_a_variable_name(variable))
        .map_or_else(
            || "that `api_key_env` names".to_owned(),
            |variable| format!("`{variable}`"),
        );
    Err(not_configured(format!(
        "provider `{name}` has no key; set the environment variable {variable}, or set `api_key_file` in `[providers.{name}]` to a file with the key"
    )))
}

/// Returns the names of the environment variables that may hold the key.
fn candidate_variables<'a>(default_variables: &[&'a str], settings: &'a ProviderSettings) -> Vec<&'a str> {
    match (&settings.api_key_env, &settings.api_key_file) {
        (Some(variable), _) => vec![variable],
        (None, Some(_)) => Vec::new(),
        (None, None) => default_variables.to_vec(),
    }
}

/// Returns whether a variable that [`find_key`] reads has a value, or the key file exists. The key may be invalid.
pub(crate) fn is_present(
    default_variables: &[&str],
    settings: &ProviderSettings,
    environment: &dyn Fn(&str) -> Option<String>,
) -> bool {
    let has_value = |variable: &str| environment(variable).is_some_and(|value| !value.trim().is_empty());
    let file_exists = settings.api_key_file.as_ref().is_some_and(|file| file.exists());
    file_exists
        || candidate_variables(default_variables, settings)
            .into_iter()
            .any(has_value)
}

/// Returns whether `name` looks like the name of a variable and may be shown. A `name` with other characters, such as lower-case
/// letters, may be the key itself, written there by mistake.
fn looks_like_a_variable_name(name: &str) -> bool {
    name.bytes()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Creates the key from the text of its source, without the white space around it. Fails if nothing remains, or if a character
/// is not printable ASCII.
fn parse_key(value: &str, source: KeySource) -> Result<Key, ModelError> {
    let value = value.trim();
    if value.is_empty() {
        return Err(not_configured(format!("{source} is empty; set it to the key")));
    }
    if !value.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(not_configured(format!(
            "{source} has a character that is not valid in a key; it must contain only the key, on one line"
        )));
    }
    let secret = Some(SecretString::from(value));
    Ok(Key { source, secret })
}

/// Reads a key file. On Unix, fails if users other than its owner have any access to it.
fn read_key_file(path: &Path) -> Result<String, ModelError> {
    let file = open_regular(path);
    let path = path.display();
    let unreadable = |cause: std::io::Error| not_configured(format!("cannot read the key file `{path}`: {cause}"));
    let file = file.map_err(|cause| {
        if NotRegular::is_cause_of(&cause) {
            return not_configured(format!("the key file `{path}` is {NotRegular}"));
        }
        unreadable(cause)
    })?;
    let metadata = file.metadata().map_err(unreadable)?;
    if accessible_to_others(&metadata) {
        return Err(not_configured(format!(
            "others can read the key file `{path}`; make it readable only by its owner (`chmod 600`)"
        )));
    }
    let mut text = String::new();
    let length = file
        .take(MAX_FILE_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(unreadable)?;
    if u64::try_from(length).is_ok_and(|length| length > MAX_FILE_BYTES) {
        return Err(not_configured(format!(
            "the key file `{path}` is longer than {MAX_FILE_BYTES} bytes"
        )));
    }
    Ok(text)
}

#[cfg(unix)]
fn accessible_to_others(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn accessible_to_others(_: &std::fs::Metadata) -> bool {
    false
}

impl Key {
    /// Returns the key, for the one header that carries it.
    pub(crate) fn expose(&self) -> Option<&str> {
        self.secret.as_ref().map(ExposeSecret::expose_secret)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "sk-very-secret-1";

    /// Finds a key in the variables `USUAL`, `TWO_WORDS` and `BLANK`. Without settings, `MISSING` is read first, then `USUAL`.
    fn find_in_variables(settings: &ProviderSettings, required: bool) -> Result<Key, ModelError> {
        let environment = |name: &str| match name {
            "USUAL" => Some(format!(" {SECRET}\n")),
            "TWO_WORDS" => Some(format!("{SECRET} more")),
            "BLANK" => Some("  ".to_owned()),
            _ => None,
        };
        find_key("p", &["MISSING", "USUAL"], required, settings, &environment)
    }

    fn settings_with_variable(variable: &str) -> ProviderSettings {
        ProviderSettings {
            api_key_env: Some(variable.to_owned()),
            ..ProviderSettings::default()
        }
    }

    #[test]
    fn a_key_is_found_in_a_default_variable_and_trimmed() {
        let key = find_in_variables(&ProviderSettings::default(), true).unwrap();
        assert_eq!(key.expose(), Some(SECRET));
        assert_eq!(key.source.to_string(), "environment variable `USUAL`");
        assert!(!format!("{key:?}").contains(SECRET));
    }

    #[test]
    fn default_variables_are_not_read_if_the_settings_name_a_variable() {
        let error = find_in_variables(&settings_with_variable("BLANK"), false).unwrap_err();
        insta::assert_snapshot!(error, @"provider `p` has no key; set the environment variable `BLANK`, or set `api_key_file` in `[providers.p]` to a file with the key");
    }

    #[test]
    fn a_variable_name_that_may_be_a_key_is_not_shown() {
        let error = find_in_variables(&settings_with_variable("gsk_abc123"), true).unwrap_err();
        insta::assert_snapshot!(error, @"provider `p` has no key; set the environment variable that `api_key_env` names, or set `api_key_file` in `[providers.p]` to a file with the key");
    }

    #[test]
    fn an_invalid_key_is_refused_without_being_shown() {
        let error = find_in_variables(&settings_with_variable("TWO_WORDS"), true).unwrap_err();
        insta::assert_snapshot!(error, @"environment variable `TWO_WORDS` has a character that is not valid in a key; it must contain only the key, on one line");
    }

    #[test]
    fn a_key_is_present_if_its_variable_has_a_value_or_its_file_exists() {
        let environment = |name: &str| (name == "TWO_WORDS").then(|| format!("{SECRET} more"));
        let is_present = |settings: &ProviderSettings| is_present(&["USUAL"], settings, &environment);
        assert!(is_present(&settings_with_variable("TWO_WORDS")) && !is_present(&settings_with_variable("MISSING")));
        assert!(!is_present(&ProviderSettings::default()));
        let file = |path: PathBuf| ProviderSettings {
            api_key_file: Some(path),
            ..ProviderSettings::default()
        };
        assert!(
            is_present(&file(std::env::temp_dir())) && !is_present(&file(std::env::temp_dir().join("no-such-key")))
        );
    }

    #[test]
    fn a_missing_key_is_accepted_if_none_is_required() {
        let key = find_key("p", &[], false, &ProviderSettings::default(), &|_| None).unwrap();
        assert_eq!((key.expose(), &key.source), (None, &KeySource::None));
    }

    #[cfg(unix)]
    fn find_in_file(content: &[u8], mode: u32) -> Result<Key, ModelError> {
        find_in_file_or_variables(content, mode, &|_| None)
    }

    #[cfg(unix)]
    fn find_in_file_or_variables(
        content: &[u8],
        mode: u32,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Key, ModelError> {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let settings = ProviderSettings {
            api_key_file: Some(path),
            ..ProviderSettings::default()
        };
        find_key("p", &["USUAL"], true, &settings, environment)
    }

    #[cfg(unix)]
    #[test]
    fn a_key_file_takes_precedence_over_a_default_variable() {
        let key = find_in_file_or_variables(b"from-file", 0o600, &|_| Some(SECRET.to_owned())).unwrap();
        assert_eq!(key.expose(), Some("from-file"));
    }

    #[cfg(unix)]
    #[test]
    fn a_key_file_must_be_readable_only_by_its_owner() {
        let key = find_in_file(format!("{SECRET}\n").as_bytes(), 0o600).unwrap();
        assert_eq!(key.expose(), Some(SECRET));
        let error = find_in_file(SECRET.as_bytes(), 0o640).unwrap_err();
        assert!(error.message.contains("others can read"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_key_file_that_is_empty_too_long_or_not_text_is_refused() {
        const MAX_LENGTH: usize = 8192;
        for content in [b"\n".as_slice(), &[b'k'; MAX_LENGTH + 1], b"\xff\xfe"] {
            assert!(find_in_file(content, 0o600).is_err());
        }
        assert!(find_in_file(&[b'k'; MAX_LENGTH], 0o600).is_ok());
    }

    #[test]
    fn a_directory_is_not_a_key_file() {
        let settings = ProviderSettings {
            api_key_file: Some(std::env::temp_dir()),
            ..ProviderSettings::default()
        };
        let error = find_key("p", &[], false, &settings, &|_| None).unwrap_err();
        assert!(error.message.contains("not a regular file"), "{error}");
    }
}
