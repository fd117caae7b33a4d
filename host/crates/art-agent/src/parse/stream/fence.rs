//! Whether a JSON fence may yet turn out to be the end of a reply, told character by character.

use serde::de::IgnoredAny;

/// What was read of the text behind the opening of a fence.
#[derive(Clone, Debug, Default)]
pub(super) struct Fence {
    /// Bytes that were read.
    read: usize,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Before the object.
    #[default]
    Before,
    /// In the object, that many brackets deep.
    Value { depth: usize },
    /// In a text of the object.
    Text { depth: usize, escaped: bool },
    /// Behind the object, and behind so many backticks.
    Behind { ticks: usize },
    /// It is no object with the end of the fence and nothing else behind it.
    Other,
}

impl Fence {
    /// Bytes that were read.
    pub(super) const fn read(&self) -> usize {
        self.read
    }

    /// Reads on in `inside`, all that is there behind the opening; false when it is no metadata at the end of a reply.
    pub(super) fn may_be_last(&mut self, inside: &str) -> bool {
        for c in inside.get(self.read..).unwrap_or_default().chars() {
            if self.state == State::Other {
                return false;
            }
            self.read += c.len_utf8();
            self.state = self.state.after(c);
            // It is parsed once, when its brackets are closed.
            if self.state == (State::Value { depth: 0 }) {
                let value = inside.get(..self.read).unwrap_or_default().trim_start();
                let sound = serde_json::from_str::<IgnoredAny>(value).is_ok();
                self.state = if sound {
                    State::Behind { ticks: 0 }
                } else {
                    State::Other
                };
            }
        }
        self.state != State::Other
    }
}

impl State {
    const fn after(self, c: char) -> Self {
        match (self, c) {
            (Self::Before, '{') => Self::Value { depth: 1 },
            (Self::Before, _) if c.is_whitespace() => self,
            (Self::Value { depth }, '{' | '[') => Self::Value { depth: depth + 1 },
            (Self::Value { depth }, '}' | ']') => Self::Value { depth: depth - 1 },
            (Self::Value { depth }, '"') => Self::Text { depth, escaped: false },
            (Self::Value { .. }, ':' | ',' | '+' | '-' | '.' | '0'..='9' | 'a'..='z' | 'E') => self,
            (Self::Value { .. }, ' ' | '\n' | '\r' | '\t') => self,
            (Self::Text { depth, escaped: false }, '"') => Self::Value { depth },
            // JSON has no line ends in a text.
            (Self::Text { .. }, '\0'..='\x1f') => Self::Other,
            (Self::Text { depth, escaped }, _) => Self::Text {
                depth,
                escaped: !escaped && c == '\\',
            },
            (Self::Behind { ticks }, '`') if ticks < 3 => Self::Behind { ticks: ticks + 1 },
            (Self::Behind { ticks: 0 | 3 }, _) if c.is_whitespace() => self,
            _ => Self::Other,
        }
    }
}
