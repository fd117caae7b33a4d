//! Secrets that the host adds to the HTTP requests that tools send, and their redaction from everything that leaves a tool.
//!
//! No tool is ever given a secret, because a program that disguises a secret on purpose cannot be detected. But a server may
//! echo the secret in its response. So the values that the host knows are redacted, in the encodings that servers and libraries
//! use: base64 and hexadecimal, also with line breaks, and the escapes of JSON, URLs and HTML in any mixture.

#[cfg(test)]
mod encoders_of_others;
mod encodings;
mod escapes;
mod outcome;
mod patterns;
mod redactor;
mod scanner;
mod stream;

use std::fmt;
use std::sync::{Arc, LazyLock};

use aho_corasick::{BuildError, MatchError};
use secrecy::{ExposeSecret, SecretString};

pub use redactor::{REDACTED, Redactor};
pub use stream::RedactedStream;

/// Minimum length of a secret in bytes. Shorter values occur in ordinary texts.
pub const MIN_BYTES: usize = 8;
/// Maximum length of a secret in bytes. Servers accept a header of this length.
pub const MAX_BYTES: usize = 4096;
/// Maximum number of secrets.
pub const MAX_SECRETS: usize = 64;
/// Maximum length of the name of a secret.
const MAX_NAME_BYTES: usize = 64;

/// A secret with its name. It has no text form that shows the value.
#[derive(Clone)]
pub struct Secret {
    name: String,
    value: SecretString,
    /// Whether the secret is a decoy, which is never sent; see [`Secret::new`].
    is_canary: bool,
}

/// The error if secrets would not be found in what leaves a tool. Nothing may leave one then.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RedactorError {
    /// The search could not be built.
    #[error("failed to build the search for secrets")]
    NotBuilt(#[from] BuildError),
    /// The search cannot begin anywhere in a text.
    #[error("the search for secrets cannot start anywhere in a text")]
    NoStart(#[from] MatchError),
    /// The search would miss a form of a secret.
    #[error("the search for secrets misses a form of a secret")]
    FormNotFound,
}

/// The error for a secret that cannot be used. Its text never contains the value.
#[derive(Clone, Debug, thiserror::Error)]
pub enum InvalidSecret {
    /// The name is not valid.
    #[error("`{0}` is no name of a secret; expected a letter, then at most 63 letters, digits and `_`")]
    InvalidName(String),
    /// The value is too short to be told from ordinary text.
    #[error("the value of `{0}` is shorter than {MIN_BYTES} characters")]
    TooShort(String),
    /// The value is too long for a header.
    #[error("the value of `{0}` is longer than {MAX_BYTES} bytes")]
    TooLong(String),
    /// The value cannot be sent in a header.
    #[error("the value of `{0}` has white space or a character that a header cannot have")]
    ForbiddenCharacter(String),
    /// There are too many secrets.
    #[error("there are more than {MAX_SECRETS} secrets")]
    TooMany,
    /// The secrets cannot be redacted.
    #[error("the secrets cannot be redacted, so none is used")]
    NoRedactor(#[from] RedactorError),
}

impl Secret {
    /// Creates a secret. White space around the value is not part of it. A canary is a decoy that is never sent. If it is seen in
    /// what a tool sends, returns or logs, the tool has read a place in which secrets are kept.
    ///
    /// # Errors
    /// Fails if the name or the value cannot be used.
    pub fn new(name: &str, value: &SecretString, is_canary: bool) -> Result<Self, InvalidSecret> {
        check_name(name)?;
        let value = value.expose_secret().trim();
        let (name, length) = (name.to_owned(), value.len());
        if length < MIN_BYTES {
            return Err(InvalidSecret::TooShort(name));
        }
        if length > MAX_BYTES {
            return Err(InvalidSecret::TooLong(name));
        }
        if !value.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(InvalidSecret::ForbiddenCharacter(name));
        }
        Ok(Self {
            name,
            value: value.into(),
            is_canary,
        })
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the value, which belongs only in a header of a request, in the file of the secrets, or in the keyring.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.value.expose_secret()
    }

    /// Returns whether the secret is a decoy.
    #[must_use]
    pub const fn is_canary(&self) -> bool {
        self.is_canary
    }
}

/// Shows the name only.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Secret").field(&self.name).finish()
    }
}

/// Checks the name of a secret.
///
/// # Errors
/// Fails if the name is not valid.
pub fn check_name(name: &str) -> Result<(), InvalidSecret> {
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name.len() <= MAX_NAME_BYTES;
    if is_name {
        return Ok(());
    }
    Err(InvalidSecret::InvalidName(crate::text::truncate(name, MAX_NAME_BYTES)))
}

/// All secrets that the host knows, with the redactors that find them.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    secrets: Vec<Secret>,
    redactor: Redactor,
    canary_redactor: Redactor,
}

impl Secrets {
    /// Collects secrets. Of two secrets with the same name, the later one counts.
    ///
    /// # Errors
    /// Fails if there are too many, or if they cannot be redacted.
    pub fn new(all: Vec<Secret>) -> Result<Self, InvalidSecret> {
        let mut secrets: Vec<Secret> = Vec::new();
        for secret in all {
            secrets.retain(|other| other.name != secret.name);
            secrets.push(secret);
        }
        if secrets.len() > MAX_SECRETS {
            return Err(InvalidSecret::TooMany);
        }
        Ok(Self {
            redactor: Redactor::new(secrets.iter())?,
            canary_redactor: Redactor::new(secrets.iter().filter(|secret| secret.is_canary()))?,
            secrets,
        })
    }

    /// Returns a set without secrets.
    #[must_use]
    pub fn none() -> Arc<Self> {
        static NONE: LazyLock<Arc<Secrets>> = LazyLock::new(Arc::default);
        Arc::clone(&NONE)
    }

    /// Returns the secret named `name`, or `None` if there is none or it is a canary, which is never sent.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Secret> {
        self.secrets
            .iter()
            .find(|secret| secret.name == name && !secret.is_canary)
    }

    /// Returns the secrets.
    #[must_use]
    pub fn all(&self) -> &[Secret] {
        &self.secrets
    }

    /// Returns the redactor of all secrets.
    #[must_use]
    pub const fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Returns the redactor of the canaries alone.
    #[must_use]
    pub const fn canary_redactor(&self) -> &Redactor {
        &self.canary_redactor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a secret that is no canary.
    fn secret(name: &str, value: &str) -> Result<Secret, InvalidSecret> {
        Secret::new(name, &value.into(), false)
    }

    #[test]
    fn a_secret_shows_its_name_only() {
        let secrets = Secrets::new(vec![secret("TOKEN", "hunter2hunter2").unwrap()]).unwrap();
        let shown = format!("{secrets:?}");
        assert!(shown.contains("TOKEN") && !shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn a_value_of_the_wrong_length_or_with_forbidden_characters_is_refused() {
        secret("A", " 12345678\n").unwrap();
        for value in [
            "",
            "1234567",
            "1234 5678",
            "12345\n6789",
            "12345678\u{e9}",
            &"x".repeat(4097),
        ] {
            let error = secret("A", value).unwrap_err().to_string();
            assert!(value.is_empty() || !error.contains(value), "{error}");
        }
    }

    #[test]
    fn a_name_begins_with_a_letter_and_has_only_letters_digits_and_underscores() {
        for name in ["A", "GITHUB_TOKEN", "key2"] {
            check_name(name).unwrap();
        }
        for name in ["", "2A", "_A", "A-B", "../A", "A/B", "A B", &"A".repeat(65)] {
            check_name(name).unwrap_err();
        }
    }

    #[test]
    fn get_returns_no_canary() {
        let canary = Secret::new("DECOY", &"decoy-value-1".into(), true).unwrap();
        let secrets = Secrets::new(vec![canary, secret("REAL", "real-value-1").unwrap()]).unwrap();
        assert!(secrets.get("DECOY").is_none());
        assert!(secrets.get("REAL").is_some() && secrets.get("real").is_none());
    }

    #[test]
    fn the_later_of_two_secrets_with_one_name_counts() {
        let same_name = vec![secret("A", "value-one").unwrap(), secret("A", "value-two").unwrap()];
        let secrets = Secrets::new(same_name).unwrap();
        assert_eq!(secrets.get("A").unwrap().expose(), "value-two");
    }
}
