//! Buffers text of a reply that was received and not shown yet. Every byte is searched once, and taken text is removed
//! once per piece, so the cost is linear even for a piece full of tags.

/// The buffered end of a reply.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    text: String,
    /// Where the part begins that was not taken yet.
    at: usize,
    /// Where the search for tags continues; never before `at`.
    looked: usize,
}

impl Held {
    pub(super) fn push(&mut self, piece: &str) {
        self.text.drain(..self.at);
        self.looked -= self.at;
        self.at = 0;
        self.text.push_str(piece);
    }

    /// Returns how many bytes of [`Self::rest`] were searched.
    pub(super) const fn looked(&self) -> usize {
        self.looked - self.at
    }

    /// Returns the text that was not taken yet.
    pub(super) fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Takes the first `length` bytes and returns them.
    pub(super) fn take(&mut self, length: usize) -> &str {
        let end = self.text.floor_char_boundary(self.at.saturating_add(length));
        let from = std::mem::replace(&mut self.at, end);
        self.looked = self.looked.max(end);
        self.text.get(from..end).unwrap_or_default()
    }

    /// Searches for the first of `tags`. Returns its position and the tag, or else the position at which an incomplete
    /// tag may begin. Continues where the last search ended; call [`Self::look_again`] before searching for other tags.
    pub(super) fn find(&mut self, tags: &[&'static str]) -> Result<(usize, &'static str), usize> {
        let text = self.text.get(self.looked..).unwrap_or_default();
        let found = first_tag(text, tags);
        self.looked += found.map_or_else(|| possible_tag(text, tags), |(at, _)| at);
        let at = self.looked - self.at;
        found.map(|(_, tag)| (at, tag)).ok_or(at)
    }

    /// Skips the tag that was found, which is text here.
    pub(super) fn pass(&mut self, tag: &str) {
        self.looked = (self.looked + tag.len()).min(self.text.len());
    }

    /// Restarts the search at the first byte that was not taken.
    pub(super) const fn look_again(&mut self) {
        self.looked = self.at;
    }
}

/// Returns the first of `tags` in `text`. Each tag begins with `<` or a backtick.
pub(super) fn first_tag(text: &str, tags: &[&'static str]) -> Option<(usize, &'static str)> {
    text.match_indices(['<', '`']).find_map(|(at, _)| {
        let tail = text.get(at..)?;
        let tag = tags.iter().find(|tag| tail.starts_with(**tag))?;
        Some((at, *tag))
    })
}

/// Returns the position at which an incomplete tag may begin at the end of `text`, or its length.
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
