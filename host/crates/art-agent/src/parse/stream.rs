//! Extracts the answer from a synthesis reply while it streams.

mod fence;
mod pending;
mod tags;

use art_core::text::byte_prefix;
use art_core::think::{ThinkPart, ThinkTags};

use super::MAX_REPLY_BYTES;
use tags::AnswerFinder;

/// Extracts the answer from a synthesis reply piece by piece. The returned texts together are the answer that the run
/// ends with, for any division of the reply into pieces. Thoughts in think tags are left out. The answer is the text
/// between `<mainContent>` and `</mainContent>`; without these tags it is all text up to `<uiMetadata>` or up to a JSON
/// fence at the end.
///
/// In two cases the returned text contains more than the answer: if the opening tag comes after the first sixteen
/// characters, and if a closing think tag has no opening tag. The answer is then the end of the returned text.
#[derive(Clone, Debug, Default)]
pub struct AnswerStream {
    /// Number of bytes of the reply so far.
    bytes_read: usize,
    thoughts: ThinkTags,
    /// Whether the provider sends thoughts separately from the text.
    separate_thoughts: bool,
    finder: AnswerFinder,
    trim: Trim,
}

/// A part of a reply, without thoughts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum VisiblePart {
    /// Text of the reply.
    Text(String),
    /// All text before this part was thoughts.
    Restart,
}

impl AnswerStream {
    /// Creates a stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a stream for a reply of the planner, whose text is the answer if it is no plan. A reply that begins like a plan has no
    /// text to show.
    #[must_use]
    pub fn of_planner() -> Self {
        Self {
            finder: AnswerFinder::of_planner(),
            ..Self::default()
        }
    }

    /// Records that the provider sends thoughts separately. If that happens before the first piece of text, think tags
    /// in the text are ordinary text.
    pub fn think(&mut self, piece: &str) {
        self.separate_thoughts |= self.bytes_read == 0 && !piece.trim().is_empty();
    }

    /// Reads the next piece of the reply. Returns the text to show now, which may be empty.
    pub fn push(&mut self, piece: &str) -> String {
        let piece = byte_prefix(piece, MAX_REPLY_BYTES.saturating_sub(self.bytes_read));
        self.bytes_read += piece.len();
        let parts = if self.separate_thoughts {
            vec![VisiblePart::Text(piece.to_owned())]
        } else {
            let mut parts = Vec::new();
            self.thoughts.push(piece, &mut |part| add_part(part, &mut parts));
            parts
        };
        self.read_parts(parts)
    }

    /// Ends the reply. Returns the pending text that turned out to be part of the answer.
    #[must_use]
    pub fn finish(mut self) -> String {
        let mut parts = Vec::new();
        std::mem::take(&mut self.thoughts).finish(&mut |part| add_part(part, &mut parts));
        let mut shown = self.read_parts(parts);
        let pending = std::mem::take(&mut self.finder).finish();
        shown.push_str(&self.trim.push(&pending));
        shown
    }

    /// Reads `parts`, and returns the text in them that is part of the answer.
    fn read_parts(&mut self, parts: Vec<VisiblePart>) -> String {
        let mut shown = String::new();
        for part in parts {
            match part {
                VisiblePart::Text(text) => {
                    let visible = self.finder.push(&text);
                    shown.push_str(&self.trim.push(&visible));
                }
                VisiblePart::Restart => self.finder.restart(),
            }
        }
        shown
    }
}

/// Adds a part unless it is thoughts. Joins adjacent texts, because each part has a fixed cost.
fn add_part(part: ThinkPart<'_>, parts: &mut Vec<VisiblePart>) {
    match (part, parts.last_mut()) {
        (ThinkPart::Restart, _) => parts.push(VisiblePart::Restart),
        (ThinkPart::Text(text) | ThinkPart::Unclosed { content: text, .. }, Some(VisiblePart::Text(before))) => {
            before.push_str(text);
        }
        (ThinkPart::Text(text) | ThinkPart::Unclosed { content: text, .. }, _) => {
            parts.push(VisiblePart::Text(text.to_owned()));
        }
        (ThinkPart::Thought(_) | ThinkPart::BlockEnd, _) => {}
    }
}

/// Trims white space at both ends of a stream.
#[derive(Clone, Debug, Default)]
struct Trim {
    /// Whether text other than white space was returned.
    started: bool,
    /// White space that is returned if more text follows.
    pending: String,
}

impl Trim {
    /// Returns the next piece of the trimmed text. White space at its end stays pending.
    fn push(&mut self, text: &str) -> String {
        let text = if self.started { text } else { text.trim_start() };
        let trimmed = text.trim_end();
        let space = text.get(trimmed.len()..).unwrap_or_default();
        if trimmed.is_empty() {
            self.pending.push_str(if self.started { space } else { "" });
            return String::new();
        }
        self.started = true;
        let output = format!("{}{trimmed}", self.pending);
        space.clone_into(&mut self.pending);
        output
    }
}

#[cfg(test)]
mod tests;
