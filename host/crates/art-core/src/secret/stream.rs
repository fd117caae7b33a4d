//! Replaces the known secrets in bytes that arrive in parts.

use super::redactor::{Places, Redactor, first_canary};
use super::scanner::Scanner;

/// Redacts a stream. A secret may lie across any number of its parts.
pub struct RedactedStream {
    redactor: Redactor,
    /// Finds the secrets in `held`. `None` if there are no secrets.
    scanner: Option<Scanner>,
    /// Bytes that may be the beginning of a secret.
    held: Vec<u8>,
    /// The places of secrets in `held`.
    places: Places,
    /// Name of the first canary so far. A canary is a decoy: a secret that is never sent.
    canary: Option<String>,
}

impl std::fmt::Debug for RedactedStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RedactedStream").finish_non_exhaustive()
    }
}

impl RedactedStream {
    /// Creates the stream.
    #[must_use]
    pub fn new(redactor: Redactor) -> Self {
        Self {
            scanner: redactor.patterns().map(Scanner::new),
            redactor,
            held: Vec::new(),
            places: Places::default(),
            canary: None,
        }
    }

    /// Adds the next part. Returns redacted bytes, and holds back those that may be the beginning of a secret.
    #[must_use]
    pub fn push(&mut self, part: &[u8]) -> Vec<u8> {
        self.held.extend(part);
        self.redact_held(false)
    }

    /// Returns the bytes that were held back, redacted.
    #[must_use]
    pub fn finish(&mut self) -> Vec<u8> {
        self.redact_held(true)
    }

    /// Returns whether bytes are held back.
    #[must_use]
    pub const fn holds_bytes(&self) -> bool {
        !self.held.is_empty()
    }

    /// Returns the name of the first canary so far, or `None` if there was none.
    #[must_use]
    pub fn canary(&self) -> Option<&str> {
        self.canary.as_deref()
    }

    /// Takes the held bytes that belong to no beginning of a secret, or all of them if the stream `is_complete`. Returns them
    /// redacted.
    fn redact_held(&mut self, is_complete: bool) -> Vec<u8> {
        let (Some(patterns), Some(scanner)) = (self.redactor.patterns(), &mut self.scanner) else {
            return std::mem::take(&mut self.held);
        };
        let mut found = Vec::new();
        scanner.scan(patterns, &self.held, is_complete, &mut found);
        if self.canary.is_none() {
            self.canary = first_canary(&found).map(str::to_owned);
        }
        found.iter().for_each(|secret| self.places.add(secret));
        let length = if is_complete {
            self.held.len()
        } else {
            scanner.first_open(patterns)
        };
        let mut clean = Vec::with_capacity(length);
        self.places.take(&self.held, length, &mut clean);
        scanner.forget(length);
        self.held.drain(..length.min(self.held.len()));
        clean
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::secret::{Secret, Secrets};

    /// Returns a redactor of one secret, the canary `A`.
    fn redactor(value: &str) -> Redactor {
        let secret = Secret::new("A", &value.into(), true).unwrap();
        Secrets::new(vec![secret]).unwrap().redactor().clone()
    }

    /// Returns the redacted bytes of all parts, and the name of the first canary in them.
    fn redact(redactor: &Redactor, parts: &[&[u8]]) -> (Vec<u8>, Option<String>) {
        let mut stream = RedactedStream::new(redactor.clone());
        let mut clean: Vec<u8> = parts.iter().flat_map(|part| stream.push(part)).collect();
        clean.extend(stream.finish());
        (clean, stream.canary().map(str::to_owned))
    }

    #[test]
    fn a_secret_in_two_parts_is_replaced_wherever_it_is_cut() {
        let redactor = redactor("hunter2hunter2");
        let text = b"before hunter2hunter2 after";
        for cut in 0..=text.len() {
            let (clean, canary) = redact(&redactor, &[&text[..cut], &text[cut..]]);
            assert_eq!(clean, "before «secret» after".as_bytes(), "cut at {cut}");
            assert_eq!(canary.as_deref(), Some("A"));
        }
    }

    #[test]
    fn without_secrets_no_byte_is_held_back() {
        let mut stream = RedactedStream::new(Redactor::default());
        assert_eq!(
            (stream.push(b"hello"), stream.finish()),
            (b"hello".to_vec(), Vec::new())
        );
    }

    #[test]
    fn nothing_is_held_back_that_is_no_beginning_of_a_secret() {
        let mut stream = RedactedStream::new(redactor("hunter2hunter2"));
        assert_eq!(stream.push(b"data: {\"a\": 1}\n\n"), b"data: {\"a\": 1}\n\n");
        assert!(!stream.holds_bytes());
    }

    #[test]
    fn few_bytes_are_held_back_however_often_a_secret_is_repeated() {
        let mut stream = RedactedStream::new(redactor("aaaaaaaaaaaa"));
        let mut clean = Vec::new();
        for _ in 0..1000 {
            clean.extend(stream.push(b"aaaaaaaaaa"));
            assert!(stream.held.len() < 100, "{}", stream.held.len());
        }
        clean.extend(stream.finish());
        assert_eq!(clean, "«secret»".as_bytes());
    }

    #[test]
    fn few_bytes_are_held_back_of_endless_separators() {
        let mut stream = RedactedStream::new(redactor("hunter2hunter2"));
        let mut length = stream.push(b"aHVudGV").len();
        for _ in 0..1000 {
            length += stream.push(b"\r\n    \\n%0A").len();
            assert!(stream.held.len() < 300, "{}", stream.held.len());
        }
        assert_eq!(length + stream.finish().len(), 7 + 1000 * 11);
    }

    proptest! {
        #[test]
        fn parts_are_redacted_like_the_whole_text(
            // The secret, parts of it, and its beginning in hexadecimal.
            pieces in prop::collection::vec("(aaaaaaaab|aaaa|ab|[ab]|6161616161616161)", 0..12),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let redactor = redactor("aaaaaaaab");
            let text = pieces.concat().into_bytes();
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let parts: Vec<_> = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
            let (clean, _) = redact(&redactor, &parts);
            prop_assert_eq!(clean, redactor.bytes(&text).into_owned());
        }
    }
}
