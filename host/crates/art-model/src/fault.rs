//! Error texts for people: one sentence, without secrets.

use std::time::Duration;

use art_core::error::{ModelError, ModelErrorCode};
use secrecy::{ExposeSecret, SecretString};

/// Longest error text, in characters.
const MAX_CHARS: usize = 500;
/// Shortest secret that is redacted. Redacting shorter ones would make texts unreadable.
const MIN_SECRET: usize = 6;
/// Replacement of a secret.
const HIDDEN: &str = "[key]";

pub(crate) fn error(code: ModelErrorCode, message: impl Into<String>) -> ModelError {
    ModelError {
        code,
        message: message.into(),
        retry_after_ms: None,
    }
}

/// Creates an error of the settings.
pub(crate) fn not_configured(message: impl Into<String>) -> ModelError {
    error(ModelErrorCode::ProviderNotConfigured, message)
}

/// Returns a duration in words, rounded up: `12 s`, `3 min`, `2 h`.
pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_millis().div_ceil(1000);
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3600)),
    }
}

/// Redacts the secrets of one provider in texts, because providers echo keys in their errors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Redactor {
    secrets: Vec<SecretString>,
}

impl Redactor {
    pub(crate) fn new(secrets: impl IntoIterator<Item = SecretString>) -> Self {
        let worth_hiding = |secret: &SecretString| secret.expose_secret().len() >= MIN_SECRET;
        let mut secrets: Vec<_> = secrets.into_iter().filter(worth_hiding).collect();
        // Longer secrets first, so that one which contains another leaves no part.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.expose_secret().len()));
        Self { secrets }
    }

    /// Returns `text` without the secrets. The beginning of a secret at its end is redacted as well, because providers
    /// cut texts.
    pub(crate) fn hide(&self, text: &str) -> String {
        let mut hidden = text.to_owned();
        for secret in self.secrets.iter().map(ExposeSecret::expose_secret) {
            hidden = hidden.replace(secret, HIDDEN);
            let starts = (MIN_SECRET..secret.len())
                .rev()
                .filter_map(|length| secret.get(..length));
            if let Some(start) = starts.into_iter().find(|start| hidden.ends_with(start)) {
                hidden.truncate(hidden.len() - start.len());
                hidden.push_str(HIDDEN);
            }
        }
        hidden
    }

    /// Returns the next piece of a text without the secrets. An end that may be the beginning of a secret is `held` for
    /// the next call; pass what is held at the end to [`Redactor::hide`].
    pub(crate) fn hide_piece(&self, held: &mut String, piece: &str) -> String {
        held.push_str(piece);
        let secrets = || self.secrets.iter().map(ExposeSecret::expose_secret);
        let mut text = secrets().fold(std::mem::take(held), |text, secret| text.replace(secret, HIDDEN));
        let begun = |secret: &str| {
            let begins = |length: &usize| secret.get(..*length).is_some_and(|start| text.ends_with(start));
            (1..secret.len()).rev().find(begins)
        };
        let begun = secrets().filter_map(begun).max().unwrap_or_default();
        *held = text.split_off(text.len().saturating_sub(begun));
        text
    }

    /// Returns `text` on one line, without the secrets, cut to a readable length.
    pub(crate) fn clean(&self, text: &str) -> String {
        let hidden = self.hide(text);
        let mut line = hidden.split_whitespace().collect::<Vec<_>>().join(" ");
        line.retain(|c| !c.is_control());
        if let Some((end, _)) = line.char_indices().nth(MAX_CHARS) {
            line.truncate(end);
            line.push('…');
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor(secrets: &[&str]) -> Redactor {
        Redactor::new(secrets.iter().map(|secret| SecretString::from(*secret)))
    }

    #[test]
    fn a_secret_is_taken_out_wherever_it_is() {
        let redactor = redactor(&["sk-12345678", "sk-12345678-long"]);
        let text = redactor.clean("bad key sk-12345678-long, really sk-12345678sk-12345678");
        assert_eq!(text, "bad key [key], really [key][key]");
        assert!(!format!("{redactor:?}").contains("12345678"));
    }

    #[test]
    fn a_short_header_is_not_taken_for_a_secret() {
        assert_eq!(redactor(&["a"]).clean("a cat"), "a cat");
    }

    #[test]
    fn a_text_is_one_line_of_bounded_length() {
        let text = redactor(&[]).clean(&format!("a\n\u{1b}[31m b {}", "x".repeat(1000)));
        assert!(text.starts_with("a [31m b x") && text.chars().count() == MAX_CHARS + 1);
    }

    #[test]
    fn a_secret_that_a_provider_cut_leaves_no_part_of_itself() {
        assert_eq!(redactor(&["sk-12345678"]).hide("bad key sk-12345"), "bad key [key]");
    }

    #[test]
    fn a_secret_at_the_cut_leaves_no_part_of_itself() {
        let text = redactor(&["sk-12345678"]).clean(&format!("{}sk-12345678", "x".repeat(MAX_CHARS - 3)));
        assert!(!text.contains("sk-"), "{text}");
    }

    #[test]
    fn times_are_said_in_the_unit_that_people_use() {
        let said: Vec<_> = [0, 900, 61_000, 120_000, 7_200_000]
            .map(|ms| duration(Duration::from_millis(ms)))
            .to_vec();
        assert_eq!(said, ["0 s", "1 s", "61 s", "2 min", "2 h"]);
    }
}
