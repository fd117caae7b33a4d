//! Replaces the known secrets in texts.

use std::borrow::Cow;
use std::sync::Arc;

use super::patterns::Patterns;
use super::scanner::{FoundSecret, Scanner};
use super::{RedactorError, Secret};

/// The text that replaces a secret. It begins and ends with characters that no secret has, and the part between them is shorter
/// than any secret, so redacting again changes nothing.
pub const REDACTED: &str = "«secret»";

/// Replaces secrets by [`REDACTED`]. Clones are cheap.
#[derive(Clone, Default)]
pub struct Redactor(Option<Arc<Patterns>>);

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

impl Redactor {
    /// Creates the redactor of some secrets.
    ///
    /// # Errors
    /// Fails if it would not find each form of each secret.
    pub(super) fn new<'a>(secrets: impl Iterator<Item = &'a Secret>) -> Result<Self, RedactorError> {
        Ok(Self(Patterns::new(secrets)?.map(Arc::new)))
    }

    /// Returns whether the redactor has no secrets to look for.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns `text` with its secrets replaced.
    #[must_use]
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.text_and_canary(text).0
    }

    /// Returns `bytes` with their secrets replaced.
    #[must_use]
    pub fn bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        self.bytes_and_canary(bytes).0
    }

    /// Returns whether a secret is in these bytes.
    #[must_use]
    pub fn finds_secret_in(&self, bytes: &[u8]) -> bool {
        !self.find(bytes).is_empty()
    }

    /// Returns the name of the first canary in these bytes, or `None` if there is none.
    #[must_use]
    pub fn first_canary_in(&self, bytes: &[u8]) -> Option<&str> {
        first_canary(&self.find(bytes))
    }

    /// Returns `text` with its secrets replaced, and the name of the first canary in it.
    pub(super) fn text_and_canary<'a>(&self, text: &'a str) -> (Cow<'a, str>, Option<&str>) {
        let (clean, canary) = self.bytes_and_canary(text.as_bytes());
        let clean = match clean {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // Forms are ASCII, so no character is cut.
            Cow::Owned(bytes) => String::from_utf8_lossy(&bytes).into_owned().into(),
        };
        (clean, canary)
    }

    /// Returns `bytes` with their secrets replaced, and the name of the first canary in them.
    pub(super) fn bytes_and_canary<'a>(&self, bytes: &'a [u8]) -> (Cow<'a, [u8]>, Option<&str>) {
        let found = self.find(bytes);
        if found.is_empty() {
            return (Cow::Borrowed(bytes), None);
        }
        let mut places = Places::default();
        found.iter().for_each(|secret| places.add(secret));
        let mut clean = Vec::with_capacity(bytes.len());
        places.take(bytes, bytes.len(), &mut clean);
        (clean.into(), first_canary(&found))
    }

    /// Returns the patterns to look for, or `None` if there are no secrets.
    pub(super) fn patterns(&self) -> Option<&Patterns> {
        self.0.as_deref()
    }

    /// Returns the secrets in these bytes, in the order of their ends.
    fn find(&self, bytes: &[u8]) -> Vec<FoundSecret<'_>> {
        let mut found = Vec::new();
        if let Some(patterns) = self.patterns() {
            Scanner::new(patterns).scan(patterns, bytes, true, &mut found);
        }
        found
    }
}

/// Returns the name of the first canary among the secrets that were found.
pub(super) fn first_canary<'a>(found: &[FoundSecret<'a>]) -> Option<&'a str> {
    found.iter().find_map(|secret| secret.canary)
}

/// The places of secrets in a text, in their order. Places that overlap are one place.
#[derive(Debug, Default)]
pub(super) struct Places(Vec<Place>);

#[derive(Debug)]
struct Place {
    start: usize,
    end: usize,
    /// Whether the first bytes were taken, and replaced.
    is_replaced: bool,
}

impl Places {
    /// Adds the place of a secret. It does not end before those that were added.
    pub(super) fn add(&mut self, found: &FoundSecret<'_>) {
        let mut place = Place {
            start: found.start,
            end: found.end,
            is_replaced: false,
        };
        while let Some(last) = self.0.pop_if(|last| last.end > place.start) {
            place.start = place.start.min(last.start);
            place.end = place.end.max(last.end);
            place.is_replaced |= last.is_replaced;
        }
        self.0.push(place);
    }

    /// Adds the first `length` bytes to `clean`, with the secrets replaced. What remains counts from there.
    pub(super) fn take(&mut self, bytes: &[u8], length: usize, clean: &mut Vec<u8>) {
        let mut taken_until = 0;
        for place in self.0.iter_mut().take_while(|place| place.start < length) {
            clean.extend(bytes.get(taken_until..place.start).unwrap_or_default());
            if !place.is_replaced {
                clean.extend(REDACTED.as_bytes());
                place.is_replaced = true;
            }
            taken_until = place.end.min(length);
        }
        clean.extend(bytes.get(taken_until..length).unwrap_or_default());
        self.0.retain_mut(|place| {
            place.start = place.start.saturating_sub(length);
            place.end = place.end.saturating_sub(length);
            place.end > 0
        });
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
            for form in crate::secret::encodings::forms(&value).into_iter().map(|form| form.text) {
                let text = format!("{before}{form}{after}");
                let clean = redactor.text(&text).into_owned();
                prop_assert!(clean.contains(REDACTED) && !redactor.finds_secret_in(clean.as_bytes()), "{} -> {}", text, clean);
            }
        }
    }
}
