//! Creates the errors of model calls, and removes secrets from texts: error messages are one line, without secrets.

use std::time::Duration;

use art_core::error::{ModelError, ModelErrorCode};
use secrecy::{ExposeSecret, SecretString};

/// Maximum length of an error message, in characters, without the `…` that marks a longer one.
const MAX_CHARS: usize = 500;
/// Minimum length of a secret that is redacted, in bytes. Redacting shorter ones would make texts unreadable.
const MIN_SECRET_BYTES: usize = 6;
/// Replacement of a secret.
const REDACTED: &str = "[key]";

/// Creates an error that says nothing about when to retry.
pub(crate) fn error(code: ModelErrorCode, message: impl Into<String>) -> ModelError {
    ModelError {
        code,
        message: message.into(),
        retry_after_ms: None,
        request_not_read: false,
    }
}

/// Creates an error for invalid or missing settings.
pub(crate) fn not_configured(message: impl Into<String>) -> ModelError {
    error(ModelErrorCode::ProviderNotConfigured, message)
}

/// Returns a duration as text, rounded up: `12 s`, `3 min`, `2 h`.
pub(crate) fn format_duration(time: Duration) -> String {
    let seconds = time.as_millis().div_ceil(1000);
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3600)),
    }
}

/// Replaces the secrets of one provider (its key and the values of its headers) in texts by [`REDACTED`], because providers echo
/// keys in their errors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Redactor {
    secrets: Vec<SecretString>,
}

impl Redactor {
    pub(crate) fn new(secrets: impl IntoIterator<Item = SecretString>) -> Self {
        let long_enough = |secret: &SecretString| secret.expose_secret().len() >= MIN_SECRET_BYTES;
        let mut secrets: Vec<_> = secrets.into_iter().filter(long_enough).collect();
        // Longer secrets first, so that no part remains of a secret that contains another.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.expose_secret().len()));
        Self { secrets }
    }

    /// Returns `text` without the secrets. The beginning of a secret at the end of the text is redacted too if it has at least
    /// [`MIN_SECRET_BYTES`], because providers truncate texts.
    pub(crate) fn redact(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in self.secrets.iter().map(ExposeSecret::expose_secret) {
            text = text.replace(secret, REDACTED);
            let prefix_length = secret_prefix_length(&text, secret);
            if prefix_length >= MIN_SECRET_BYTES {
                text.truncate(text.len() - prefix_length);
                text.push_str(REDACTED);
            }
        }
        text
    }

    /// Returns the next piece of a text without the secrets. The end of the piece stays in `pending` while it may be the
    /// beginning of a secret. At the end of the text, pass `pending` to [`Redactor::redact`].
    pub(crate) fn redact_piece(&self, pending: &mut String, piece: &str) -> String {
        pending.push_str(piece);
        let mut text = std::mem::take(pending);
        for secret in &self.secrets {
            text = text.replace(secret.expose_secret(), REDACTED);
        }
        let prefix_lengths = self
            .secrets
            .iter()
            .map(|secret| secret_prefix_length(&text, secret.expose_secret()));
        let longest = prefix_lengths.max().unwrap_or_default();
        *pending = text.split_off(text.len() - longest);
        text
    }

    /// Returns `text` on one line, without the secrets and control characters, cut after [`MAX_CHARS`] characters.
    pub(crate) fn clean_line(&self, text: &str) -> String {
        let redacted = self.redact(text);
        let mut line = redacted.split_whitespace().collect::<Vec<_>>().join(" ");
        line.retain(|c| !c.is_control());
        if let Some((end, _)) = line.char_indices().nth(MAX_CHARS) {
            line.truncate(end);
            line.push('…');
        }
        line
    }
}

/// Returns the length in bytes of the longest beginning of `secret` with which `text` ends. The whole secret does not count as a
/// beginning.
fn secret_prefix_length(text: &str, secret: &str) -> usize {
    let lengths = (1..secret.len()).rev();
    let mut matching = lengths.filter(|length| secret.get(..*length).is_some_and(|start| text.ends_with(start)));
    matching.next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor(secrets: &[&str]) -> Redactor {
        Redactor::new(secrets.iter().map(|secret| SecretString::from(*secret)))
    }

    #[test]
    fn secrets_are_redacted_anywhere_in_a_text() {
        let redactor = redactor(&["sk-12345678", "sk-12345678-long"]);
        let text = redactor.clean_line("bad key sk-12345678-long, really sk-12345678sk-12345678");
        assert_eq!(text, "bad key [key], really [key][key]");
        assert!(!format!("{redactor:?}").contains("12345678"));
    }

    #[test]
    fn a_short_secret_is_not_redacted() {
        assert_eq!(redactor(&["a"]).clean_line("a cat"), "a cat");
    }

    #[test]
    fn a_clean_line_is_one_line_of_bounded_length() {
        let text = redactor(&[]).clean_line(&format!("a\n\u{1b}[31m b {}", "x".repeat(1000)));
        assert!(text.starts_with("a [31m b x") && text.chars().count() == MAX_CHARS + 1);
    }

    #[test]
    fn a_truncated_secret_is_redacted() {
        assert_eq!(redactor(&["sk-12345678"]).redact("bad key sk-12345"), "bad key [key]");
    }

    #[test]
    fn a_secret_is_redacted_even_if_the_length_limit_would_cut_it() {
        let text = redactor(&["sk-12345678"]).clean_line(&format!("{}sk-12345678", "x".repeat(MAX_CHARS - 3)));
        assert!(!text.contains("sk-"), "{text}");
    }

    #[test]
    fn durations_have_a_readable_unit() {
        let texts: Vec<_> = [0, 900, 61_000, 120_000, 7_200_000]
            .map(|ms| format_duration(Duration::from_millis(ms)))
            .to_vec();
        assert_eq!(texts, ["0 s", "1 s", "61 s", "2 min", "2 h"]);
    }
}
