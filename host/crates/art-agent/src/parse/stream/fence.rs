//! Decides, character by character, whether a JSON fence can still be the end of a reply.

use serde::de::IgnoredAny;

/// The state of reading the text after an opening fence.
#[derive(Clone, Debug, Default)]
pub(super) struct Fence {
    /// Number of bytes read.
    bytes_read: usize,
    state: State,
}

/// Position in the text after an opening fence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Before the object.
    #[default]
    Before,
    /// Inside the object, at this depth of brackets.
    Value { depth: usize },
    /// Inside a string of the object.
    Text { depth: usize, escaped: bool },
    /// After the object and this number of backticks.
    After { ticks: usize },
    /// The text is not an object that is followed by the end of the fence.
    Invalid,
}

impl Fence {
    /// Returns the number of bytes read.
    pub(super) const fn bytes_read(&self) -> usize {
        self.bytes_read
    }

    /// Continues to read `inside`, the whole text after the opening fence. Returns false once the fence cannot be
    /// metadata at the end of a reply.
    pub(super) fn may_be_last(&mut self, inside: &str) -> bool {
        for c in inside.get(self.bytes_read..).unwrap_or_default().chars() {
            if self.state == State::Invalid {
                return false;
            }
            self.bytes_read += c.len_utf8();
            self.state = self.state.next(c);
            // Parse the object only once, when all its brackets are closed.
            if self.state == (State::Value { depth: 0 }) {
                let value = inside.get(..self.bytes_read).unwrap_or_default().trim_start();
                let is_json = serde_json::from_str::<IgnoredAny>(value).is_ok();
                self.state = if is_json {
                    State::After { ticks: 0 }
                } else {
                    State::Invalid
                };
            }
        }
        self.state != State::Invalid
    }
}

impl State {
    /// Returns the state after reading `c`.
    const fn next(self, c: char) -> Self {
        match (self, c) {
            (Self::Before, '{') => Self::Value { depth: 1 },
            (Self::Before, _) if c.is_whitespace() => self,
            (Self::Value { depth }, '{' | '[') => Self::Value { depth: depth + 1 },
            (Self::Value { depth }, '}' | ']') => Self::Value { depth: depth - 1 },
            (Self::Value { depth }, '"') => Self::Text { depth, escaped: false },
            (Self::Value { .. }, ':' | ',' | '+' | '-' | '.' | '0'..='9' | 'a'..='z' | 'E') => self,
            (Self::Value { .. }, ' ' | '\n' | '\r' | '\t') => self,
            (Self::Text { depth, escaped: false }, '"') => Self::Value { depth },
            // JSON strings do not contain control characters.
            (Self::Text { .. }, '\0'..='\x1f') => Self::Invalid,
            (Self::Text { depth, escaped }, _) => Self::Text {
                depth,
                escaped: !escaped && c == '\\',
            },
            (Self::After { ticks }, '`') if ticks < 3 => Self::After { ticks: ticks + 1 },
            (Self::After { ticks: 0 | 3 }, _) if c.is_whitespace() => self,
            _ => Self::Invalid,
        }
    }
}
