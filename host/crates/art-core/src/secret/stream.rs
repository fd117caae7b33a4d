//! Replaces the known secrets in bytes that arrive in parts.

use super::redactor::{FoundSecret, REDACTED, Redactor};

/// Redacts a stream. A secret may lie across any number of its parts.
#[derive(Debug)]
pub struct RedactedStream {
    redactor: Redactor,
    /// Bytes that may be the beginning of a secret.
    held: Vec<u8>,
    /// Name of the first canary so far. A canary is a decoy: a secret that is never sent.
    canary: Option<String>,
}

impl RedactedStream {
    /// Creates the stream.
    #[must_use]
    pub const fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            held: Vec::new(),
            canary: None,
        }
    }

    /// Adds the next part. Returns redacted bytes, and holds back those that may be the beginning of a secret.
    #[must_use]
    pub fn push(&mut self, part: &[u8]) -> Vec<u8> {
        if self.redactor.is_empty() {
            return part.to_vec();
        }
        self.held.extend(part);
        // If a secret begins before this position, all of its bytes have arrived.
        let complete_until = (self.held.len() + 1).saturating_sub(self.redactor.longest_form_len());
        self.take(complete_until)
    }

    /// Returns the bytes that were held back, redacted.
    #[must_use]
    pub fn finish(&mut self) -> Vec<u8> {
        self.take(self.held.len())
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

    /// Takes the held bytes before the position `complete_until`, and the rest of a secret that begins before it. Returns them
    /// redacted.
    fn take(&mut self, complete_until: usize) -> Vec<u8> {
        let (mut clean, mut taken_until) = (Vec::with_capacity(complete_until), 0);
        for FoundSecret { start, end, canary } in self.redactor.find(&self.held) {
            if start >= complete_until {
                break;
            }
            clean.extend(self.held.get(taken_until..start).unwrap_or_default());
            clean.extend(REDACTED.as_bytes());
            taken_until = end;
            if self.canary.is_none() {
                self.canary = canary.map(str::to_owned);
            }
        }
        clean.extend(self.held.get(taken_until..complete_until).unwrap_or_default());
        self.held.drain(..taken_until.max(complete_until).min(self.held.len()));
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
