//! Text that was read and not given away yet. It is read once: what was looked at is not looked at again, and what is taken
//! off its front is moved once a piece, so that a piece full of tags costs no more than any other.

/// The end of a reply up to now.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    text: String,
    /// Where the part begins that was not taken.
    at: usize,
    /// Before this no tag begins; never before `at`.
    looked: usize,
}

impl Held {
    pub(super) fn push(&mut self, piece: &str) {
        self.text.drain(..self.at);
        self.looked -= self.at;
        self.at = 0;
        self.text.push_str(piece);
    }

    /// Bytes of [`Self::rest`] before which no tag begins.
    pub(super) const fn looked(&self) -> usize {
        self.looked - self.at
    }

    /// What was not taken.
    pub(super) fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Takes the first `length` bytes.
    pub(super) fn take(&mut self, length: usize) -> &str {
        let end = self.text.floor_char_boundary(self.at.saturating_add(length));
        let from = std::mem::replace(&mut self.at, end);
        self.looked = self.looked.max(end);
        self.text.get(from..end).unwrap_or_default()
    }

    /// The first of `tags` and where it begins; without one, where the end begins that may be the beginning of one. Looks
    /// only at what was not looked at before, so whoever asks for other tags begins with [`Self::look_again`].
    pub(super) fn find(&mut self, tags: &[&'static str]) -> Result<(usize, &'static str), usize> {
        let text = self.text.get(self.looked..).unwrap_or_default();
        let found = first_tag(text, tags);
        self.looked += found.map_or_else(|| possible_tag(text, tags), |(at, _)| at);
        let at = self.looked - self.at;
        found.map(|(_, tag)| (at, tag)).ok_or(at)
    }

    /// The tag that was found is none.
    pub(super) fn pass(&mut self, tag: &str) {
        self.looked = (self.looked + tag.len()).min(self.text.len());
    }

    /// Whatever is not taken is to be looked at.
    pub(super) const fn look_again(&mut self) {
        self.looked = self.at;
    }
}

/// The first of `tags` in `text`, each of which begins with `<` or a backtick; looks no further than that.
pub(super) fn first_tag(text: &str, tags: &[&'static str]) -> Option<(usize, &'static str)> {
    text.match_indices(['<', '`']).find_map(|(at, _)| {
        let tail = text.get(at..)?;
        let tag = tags.iter().find(|tag| tail.starts_with(**tag))?;
        Some((at, *tag))
    })
}

/// Where the end of `text` begins that may be the beginning of one of `tags`; its length when it is none.
fn possible_tag(text: &str, tags: &[&str]) -> usize {
    let longest = tags.iter().map(|tag| tag.len()).max().unwrap_or_default();
    let from = text.floor_char_boundary(text.len().saturating_sub(longest));
    let mut starts = text
        .get(from..)
        .unwrap_or_default()
        .char_indices()
        .map(|(at, _)| from + at);
    let part = |end: &str| tags.iter().any(|tag| tag.len() > end.len() && tag.starts_with(end));
    let begins = |at: &usize| text.get(*at..).is_some_and(part);
    starts.find(begins).unwrap_or(text.len())
}
