//! The answer while it streams: what a person may see of a synthesis reply before its end is there.

mod fence;
mod held;
mod tags;
mod thoughts;

use art_core::text::byte_prefix;

use super::MAX_REPLY_BYTES;
use tags::Tags;
use thoughts::Thoughts;

/// Cuts the answer out of a synthesis reply piece by piece. What it gives is, all together, the answer that the run ends
/// with, however the reply was cut into pieces: without thoughts in think tags, from `<mainContent>` to `</mainContent>`,
/// or all of it up to `<uiMetadata>` or a JSON fence at the end when there is no such tag.
///
/// A reply that opens its tag only after the first sixteen characters, or that ends thoughts which it never began, was
/// partly shown by then. The answer of the run then is the end of what was shown, and should take its place.
#[derive(Clone, Debug, Default)]
pub struct AnswerStream {
    /// Bytes of the reply so far.
    read: usize,
    thoughts: Thoughts,
    /// The thoughts come apart from the text.
    own_thoughts: bool,
    tags: Tags,
    trim: Trim,
}

/// A part of a reply without its thoughts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// Text, thoughts taken out.
    Text(String),
    /// All text before this was thoughts.
    Restart,
}

impl AnswerStream {
    /// A stream of which nothing was read.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a piece of the thoughts that come apart from the text. Think tags are text then, as long as this is told before
    /// the first piece of text.
    pub fn think(&mut self, piece: &str) {
        self.own_thoughts |= self.read == 0 && !piece.trim().is_empty();
    }

    /// Takes the next piece of the reply; gives what is to be shown now, which may be nothing.
    pub fn push(&mut self, piece: &str) -> String {
        let piece = byte_prefix(piece, MAX_REPLY_BYTES.saturating_sub(self.read));
        self.read += piece.len();
        let parts = if self.own_thoughts {
            vec![Part::Text(piece.to_owned())]
        } else {
            self.thoughts.push(piece)
        };
        self.show(parts)
    }

    /// The reply has ended; gives what was held back and turned out to be part of the answer.
    #[must_use]
    pub fn finish(mut self) -> String {
        let rest = std::mem::take(&mut self.thoughts).finish();
        let mut shown = self.show(vec![Part::Text(rest)]);
        let held = std::mem::take(&mut self.tags).finish();
        shown.push_str(&self.trim.push(&held));
        shown
    }

    fn show(&mut self, parts: Vec<Part>) -> String {
        let mut shown = String::new();
        for part in parts {
            match part {
                Part::Text(text) => {
                    let visible = self.tags.push(&text);
                    shown.push_str(&self.trim.push(&visible));
                }
                Part::Restart => self.tags = Tags::default(),
            }
        }
        shown
    }
}

/// Leaves out the white space at both ends.
#[derive(Clone, Debug, Default)]
struct Trim {
    begun: bool,
    space: String,
}

impl Trim {
    fn push(&mut self, text: &str) -> String {
        let text = if self.begun { text } else { text.trim_start() };
        let words = text.trim_end();
        let space = text.get(words.len()..).unwrap_or_default();
        if words.is_empty() {
            self.space.push_str(if self.begun { space } else { "" });
            return String::new();
        }
        self.begun = true;
        let shown = format!("{}{words}", self.space);
        space.clone_into(&mut self.space);
        shown
    }
}

#[cfg(test)]
mod tests;
