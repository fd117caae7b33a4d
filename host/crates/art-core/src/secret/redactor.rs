//! Replaces the known secrets in texts.

use std::borrow::Cow;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::Secret;
use super::encodings::forms;

/// The text that replaces a secret. It begins and ends with characters that no secret has, and the part between them is shorter
/// than any secret, so redacting again changes nothing.
pub const REDACTED: &str = "«secret»";

/// Replaces secrets by [`REDACTED`]. Clones are cheap.
#[derive(Clone, Default)]
pub struct Redactor(Option<Arc<Patterns>>);

/// The forms of all secrets, as one automaton. The forms of a secret are its value and the encodings of its value.
struct Patterns {
    automaton: AhoCorasick,
    /// For each form, the name of its secret if it is a canary.
    canaries: Vec<Option<String>>,
    /// Length of the longest form, in bytes.
    longest_form_len: usize,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

/// The place of a secret in a text, and its name if it is a canary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundSecret<'a> {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) canary: Option<&'a str>,
}

impl Redactor {
    pub(super) fn new<'a>(secrets: impl Iterator<Item = &'a Secret>) -> Self {
        let (mut all_forms, mut canaries) = (Vec::new(), Vec::new());
        for secret in secrets {
            for form in forms(secret.expose()) {
                all_forms.push(form);
                canaries.push(secret.is_canary().then(|| secret.name().to_owned()));
            }
        }
        if all_forms.is_empty() {
            return Self(None);
        }
        let longest_form_len = all_forms.iter().map(String::len).max().unwrap_or_default();
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            // An automaton with a table for each state would take a hundred times the memory of the secrets.
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(&all_forms);
        // The builder fails only if there are more than four billion states, and all forms together have fewer bytes. So `ok`
        // never drops an error.
        Self(automaton.ok().map(|automaton| {
            Arc::new(Patterns {
                automaton,
                canaries,
                longest_form_len,
            })
        }))
    }

    /// Returns whether the redactor has no secrets to look for.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns `text` with its secrets replaced.
    #[must_use]
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // Forms are ASCII, so no character is cut.
            Cow::Owned(bytes) => String::from_utf8_lossy(&bytes).into_owned().into(),
        }
    }

    /// Returns `bytes` with their secrets replaced.
    #[must_use]
    pub fn bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let mut found = self.find(bytes).peekable();
        if found.peek().is_none() {
            return Cow::Borrowed(bytes);
        }
        let (mut clean, mut copied_until) = (Vec::with_capacity(bytes.len()), 0);
        for FoundSecret { start, end, .. } in found {
            clean.extend(bytes.get(copied_until..start).unwrap_or_default());
            clean.extend(REDACTED.as_bytes());
            copied_until = end;
        }
        clean.extend(bytes.get(copied_until..).unwrap_or_default());
        clean.into()
    }

    /// Returns whether a secret is in these bytes.
    #[must_use]
    pub fn finds_secret_in(&self, bytes: &[u8]) -> bool {
        self.find(bytes).next().is_some()
    }

    /// Returns the name of the first canary in these bytes, or `None` if there is none.
    #[must_use]
    pub fn first_canary_in(&self, bytes: &[u8]) -> Option<&str> {
        self.find(bytes).find_map(|found| found.canary)
    }

    /// Returns the places of the secrets in these bytes, in their order and without overlaps.
    pub(super) fn find<'a, 'b>(&'a self, bytes: &'b [u8]) -> impl Iterator<Item = FoundSecret<'a>> + use<'a, 'b> {
        self.0.iter().flat_map(move |patterns| {
            patterns.automaton.find_iter(bytes).map(|found| FoundSecret {
                start: found.start(),
                end: found.end(),
                canary: patterns
                    .canaries
                    .get(found.pattern().as_usize())
                    .and_then(Option::as_deref),
            })
        })
    }

    /// Returns the length of the longest form of a secret, in bytes.
    pub(super) fn longest_form_len(&self) -> usize {
        self.0.as_ref().map_or(0, |patterns| patterns.longest_form_len)
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;

    use super::*;
    use crate::secret::Secrets;

    /// Returns a redactor of the secrets `S0`, `S1` and so on, which have these values. `S1` is a canary.
    fn redactor(values: &[&str]) -> Redactor {
        let secret = |(index, value): (usize, &&str)| Secret::new(&format!("S{index}"), &(**value).into(), index == 1);
        let secrets = values
            .iter()
            .enumerate()
            .map(|numbered_value| secret(numbered_value).unwrap());
        Secrets::new(secrets.collect()).unwrap().redactor().clone()
    }

    #[test]
    fn a_secret_is_replaced_wherever_it_is() {
        let redactor = redactor(&["hunter2hunter2"]);
        let encoded = STANDARD.encode("user:hunter2hunter2");
        let text = format!("token=hunter2hunter2&again=hunter2hunter2; Basic {encoded}");
        let clean = redactor.text(&text);
        assert!(clean.starts_with("token=«secret»&again=«secret»; Basic "), "{clean}");
        assert!(!clean.contains(&encoded));
    }

    #[test]
    fn a_text_without_a_secret_is_not_copied() {
        let redactor = redactor(&["hunter2hunter2"]);
        for text in ["", "hunter2", "d41d8cd98f00b204e9800998ecf8427e", "Hunter2Hunter2"] {
            assert!(matches!(redactor.text(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn without_secrets_nothing_is_redacted() {
        assert!(matches!(Redactor::default().text("hunter2hunter2"), Cow::Borrowed(_)));
    }

    #[test]
    fn of_two_secrets_that_begin_alike_the_longer_one_is_replaced() {
        let redactor = redactor(&["abcdefgh", "abcdefghijkl"]);
        assert_eq!(redactor.text("<abcdefghijkl> <abcdefghi>"), "<«secret»> <«secret»i>");
    }

    #[test]
    fn the_name_of_a_canary_is_returned() {
        let redactor = redactor(&["real-value", "decoy-value"]);
        assert_eq!(redactor.first_canary_in(b"a real-value"), None);
        assert_eq!(redactor.first_canary_in(b"a real-value and decoy-value"), Some("S1"));
    }

    proptest! {
        #[test]
        fn redacting_a_second_time_changes_nothing(
            value in "(secret|redacted|[«»a-c\"\\[]){1,3}[!-~]{8,12}",
            around in "[ -~«»]{0,20}",
            is_repeated in any::<bool>(),
        ) {
            let Ok(secret) = Secret::new("A", &value.as_str().into(), false) else { return Ok(()) };
            let redactor = Secrets::new(vec![secret]).unwrap().redactor().clone();
            let text = format!("{around}{value}{}{around}", if is_repeated { value.as_str() } else { "" });
            let once = redactor.text(&text).into_owned();
            prop_assert!(!redactor.finds_secret_in(once.as_bytes()), "{}", once);
            prop_assert_eq!(redactor.text(&once), once.clone());
        }

        #[test]
        fn no_form_of_a_secret_is_left(value in "[!-~]{8,30}", before in "[ -~]{0,7}", after in "[ -~]{0,7}") {
            let redactor = redactor(&[&value]);
            for form in forms(&value) {
                let text = format!("{before}{form}{after}");
                let clean = redactor.text(&text).into_owned();
                prop_assert!(clean.contains(REDACTED) && !redactor.finds_secret_in(clean.as_bytes()), "{} -> {}", text, clean);
            }
        }
    }
}
