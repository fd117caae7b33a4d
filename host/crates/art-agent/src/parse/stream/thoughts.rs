//! Takes think tags out of a reply as it streams, by the rules of [`crate::parse::think`].

use super::Part;
use super::held::Held;
use crate::parse::think::{CLOSE, OPEN, is_line_start, without_blocks};

/// A reply up to now.
#[derive(Clone, Debug)]
pub(super) struct Thoughts {
    /// Text that was not given away: of the open block, or what may be the beginning of a tag.
    held: Held,
    /// Blocks that are open.
    depth: usize,
    /// A tag was found, so that a closing tag does not make all that came before it thoughts.
    tagged: bool,
    /// The line before the held text is blank.
    line_start: bool,
}

impl Default for Thoughts {
    fn default() -> Self {
        Self {
            held: Held::default(),
            depth: 0,
            tagged: false,
            line_start: true,
        }
    }
}

impl Thoughts {
    pub(super) fn push(&mut self, piece: &str) -> Vec<Part> {
        self.held.push(piece);
        let mut parts = Vec::new();
        while self.step(&mut parts) {}
        parts
    }

    /// Whatever is held when the reply ends. A block that is not closed is content.
    pub(super) fn finish(self) -> String {
        let held = self.held.rest();
        if self.depth == 0 {
            return held.to_owned();
        }
        without_blocks(&format!("{OPEN}{held}")).1
    }

    /// Reads up to the next tag; false when there is none yet.
    fn step(&mut self, parts: &mut Vec<Part>) -> bool {
        match self.held.find(&[OPEN, CLOSE]) {
            Ok((at, tag)) if self.depth > 0 => self.step_inside(at, tag),
            Ok((at, tag)) => {
                self.give(at, parts);
                match tag {
                    _ if !self.line_start => self.give(tag.len(), parts),
                    OPEN => {
                        self.held.take(OPEN.len());
                        (self.depth, self.tagged) = (1, true);
                    }
                    // From the first tag on a closing tag is text like any other.
                    _ if self.tagged => self.give(tag.len(), parts),
                    _ => {
                        // What is shown already depends on the text and not on its pieces.
                        self.held.take(tag.len());
                        self.tagged = true;
                        parts.push(Part::Restart);
                    }
                }
            }
            Err(end) => {
                if self.depth == 0 {
                    self.give(end, parts);
                }
                return false;
            }
        }
        true
    }

    fn step_inside(&mut self, at: usize, tag: &str) {
        self.held.pass(tag);
        self.depth = if tag == OPEN { self.depth + 1 } else { self.depth - 1 };
        if self.depth == 0 {
            self.held.take(at + tag.len());
        }
    }

    /// The next `length` bytes are no thoughts.
    fn give(&mut self, length: usize, parts: &mut Vec<Part>) {
        let text = self.held.take(length);
        self.line_start = is_line_start(text, self.line_start);
        match parts.last_mut() {
            Some(Part::Text(before)) => before.push_str(text),
            _ => parts.push(Part::Text(text.to_owned())),
        }
    }
}
