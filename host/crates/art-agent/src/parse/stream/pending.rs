//! Buffer for the text of a reply that has arrived and is neither shown nor dropped yet. Taking text from the buffer means to
//! show or to drop it. The total cost is linear: each byte is searched a bounded number of times, and taken text is removed from
//! memory only when the next piece arrives.

/// The text that has arrived and was not taken yet.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingText {
    text: String,
    /// Position in `text` of the first byte that was not taken.
    start: usize,
    /// Position in `text` at which the search for tags continues; never before `start`.
    searched: usize,
}

impl PendingText {
    pub(super) fn push(&mut self, piece: &str) {
        self.text.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        self.text.push_str(piece);
    }

    /// Returns how many bytes of [`Self::rest`] were searched.
    pub(super) const fn searched(&self) -> usize {
        self.searched - self.start
    }

    /// Returns the text that was not taken yet.
    pub(super) fn rest(&self) -> &str {
        self.text.get(self.start..).unwrap_or_default()
    }

    /// Takes the first `length` bytes of [`Self::rest`] and returns them.
    pub(super) fn take(&mut self, length: usize) -> &str {
        let end = self.text.floor_char_boundary(self.start.saturating_add(length));
        let from = std::mem::replace(&mut self.start, end);
        self.searched = self.searched.max(end);
        self.text.get(from..end).unwrap_or_default()
    }

    /// Searches for one of `tags`, from where the last search ended. Returns the position of the first tag in [`Self::rest`], and
    /// the tag. If no tag is found, the error is the length of the beginning of [`Self::rest`] in which no tag begins: all of it,
    /// except for an incomplete tag at its end. Call [`Self::restart_search`] before searching for other tags.
    pub(super) fn find(&mut self, tags: &[&'static str]) -> Result<(usize, &'static str), usize> {
        let text = self.text.get(self.searched..).unwrap_or_default();
        let found = first_tag(text, tags);
        self.searched += found.map_or_else(|| partial_tag_start(text, tags), |(at, _)| at);
        let at = self.searched - self.start;
        found.map(|(_, tag)| (at, tag)).ok_or(at)
    }

    /// Lets the search continue after `tag`, which was just found and turned out to be ordinary text.
    pub(super) fn skip(&mut self, tag: &str) {
        self.searched = (self.searched + tag.len()).min(self.text.len());
    }

    /// Lets the search begin again at the first byte that was not taken.
    pub(super) const fn restart_search(&mut self) {
        self.searched = self.start;
    }
}

/// Returns the position of the first tag in `text` that is one of `tags`, and which one it is. Each of `tags` has to begin with
/// `<` or a backtick.
pub(super) fn first_tag(text: &str, tags: &[&'static str]) -> Option<(usize, &'static str)> {
    text.match_indices(['<', '`']).find_map(|(at, _)| {
        let tail = text.get(at..)?;
        let tag = tags.iter().find(|tag| tail.starts_with(**tag))?;
        Some((at, *tag))
    })
}

/// Returns the position of an incomplete tag at the end of `text`, or the length of `text` if there is none.
fn partial_tag_start(text: &str, tags: &[&str]) -> usize {
    let longest = tags.iter().map(|tag| tag.len()).max().unwrap_or_default();
    let from = text.floor_char_boundary(text.len().saturating_sub(longest));
    let tail = text.get(from..).unwrap_or_default();
    for (at, _) in tail.char_indices() {
        let end = tail.get(at..).unwrap_or_default();
        if tags.iter().any(|tag| tag.len() > end.len() && tag.starts_with(end)) {
            return from + at;
        }
    }
    text.len()
}
