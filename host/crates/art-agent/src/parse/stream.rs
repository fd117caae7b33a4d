//! Extracts the answer from the reply in which a model writes it (the synthesis reply), while the reply still arrives.

mod fence;
mod pending;
mod tags;

use art_core::text::byte_prefix;
use art_core::think::{ThinkPart, ThinkTags};

use super::MAX_REPLY_BYTES;
use tags::AnswerFinder;

/// Stream of the answer in a reply that arrives in pieces. The answer is the text between `<mainContent>` and `</mainContent>`;
/// without these tags it is all text before the metadata, such as suggested questions: up to `<uiMetadata>`, or up to a JSON code
/// fence at the end of the reply. Thoughts in think tags do not belong to the answer.
///
/// However the reply is divided into pieces, the returned texts together end with the answer, and usually are the answer. In two
/// cases they may begin with text that turns out later not to belong to the answer: if at least sixteen characters, not counting
/// white space, come before `<mainContent>`, and if a closing think tag has no opening tag.
#[derive(Clone, Debug, Default)]
pub struct AnswerStream {
    /// Number of bytes of the reply so far.
    bytes_read: usize,
    /// Separates the thoughts in think tags from the other text.
    think_tags: ThinkTags,
    /// Whether the provider sends thoughts separately from the text, so that think tags in the text are ordinary text.
    separate_thoughts: bool,
    finder: AnswerFinder,
    trim: Trim,
}

/// A part of the input of [`AnswerFinder`], which is a reply without the thoughts in think tags.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FinderInput {
    /// Text outside thoughts.
    Text(String),
    /// All text before this part turned out to be thoughts.
    TextBeforeWasThoughts,
}

impl AnswerStream {
    /// Creates a stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a stream for a reply of the planner, which is either a plan or the answer. The stream returns no text of a reply
    /// that begins like a plan.
    #[must_use]
    pub fn of_planner() -> Self {
        Self {
            finder: AnswerFinder::of_planner(),
            ..Self::default()
        }
    }

    /// Takes a piece of thoughts that the provider sent separately. If such a piece comes before the first piece of text, and is
    /// not blank, think tags in the text count as ordinary text.
    pub fn push_thoughts(&mut self, piece: &str) {
        self.separate_thoughts |= self.bytes_read == 0 && !piece.trim().is_empty();
    }

    /// Reads the next piece of the reply. Returns the text to show now, which may be empty.
    pub fn push(&mut self, piece: &str) -> String {
        let read = byte_prefix(piece, MAX_REPLY_BYTES.saturating_sub(self.bytes_read));
        // After a piece that does not fit, nothing is read any more, even if a short character of the next piece would fit.
        self.bytes_read = match read.len() == piece.len() {
            true => self.bytes_read + read.len(),
            false => MAX_REPLY_BYTES,
        };
        let piece = read;
        let parts = if self.separate_thoughts {
            vec![FinderInput::Text(piece.to_owned())]
        } else {
            let mut parts = Vec::new();
            self.think_tags.push(piece, &mut |part| add_part(part, &mut parts));
            parts
        };
        self.read_parts(parts)
    }

    /// Ends the reply. Returns the rest of the answer, which could not be shown before the reply ended.
    #[must_use]
    pub fn finish(mut self) -> String {
        let mut parts = Vec::new();
        std::mem::take(&mut self.think_tags).finish(&mut |part| add_part(part, &mut parts));
        let mut shown = self.read_parts(parts);
        let pending = std::mem::take(&mut self.finder).finish();
        shown.push_str(&self.trim.push(&pending));
        shown
    }

    /// Reads `parts`, and returns the text in them that can be shown now as part of the answer.
    fn read_parts(&mut self, parts: Vec<FinderInput>) -> String {
        let mut shown = String::new();
        for part in parts {
            match part {
                FinderInput::Text(text) => {
                    let visible = self.finder.push(&text);
                    shown.push_str(&self.trim.push(&visible));
                }
                FinderInput::TextBeforeWasThoughts => self.finder.restart(),
            }
        }
        shown
    }
}

/// Adds a part unless it is thoughts. The content of an unclosed think block is text. Joins adjacent texts, because reading a
/// part has a fixed cost.
fn add_part(part: ThinkPart<'_>, parts: &mut Vec<FinderInput>) {
    match (part, parts.last_mut()) {
        (ThinkPart::CloseWithoutOpen, _) => parts.push(FinderInput::TextBeforeWasThoughts),
        (ThinkPart::Text(text) | ThinkPart::Unclosed { content: text, .. }, Some(FinderInput::Text(before))) => {
            before.push_str(text);
        }
        (ThinkPart::Text(text) | ThinkPart::Unclosed { content: text, .. }, _) => {
            parts.push(FinderInput::Text(text.to_owned()));
        }
        (ThinkPart::Thought(_) | ThinkPart::BlockEnd, _) => {}
    }
}

/// Removes white space at both ends of a text that arrives in pieces.
#[derive(Clone, Debug, Default)]
struct Trim {
    /// Whether text other than white space was returned.
    started: bool,
    /// White space at the end of the text so far. It is returned if more text follows.
    pending: String,
}

impl Trim {
    /// Adds a piece, and returns what it adds to the trimmed text.
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
