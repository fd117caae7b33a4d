//! Finds out whether a JSON fence (a Markdown code fence that begins with "```json") in a reply may be metadata. Metadata is not
//! shown. The fence is metadata only if it contains one JSON object and if nothing but white space follows it until the reply
//! ends. The text in the fence is read character by character as it arrives.

use serde::de::IgnoredAny;

/// The text after an opening fence, as far as it was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Fence {
    /// Number of bytes of the text that were read.
    bytes_read: usize,
    position: Position,
}

/// Position in the text after an opening fence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Position {
    /// Before the object.
    #[default]
    BeforeObject,
    /// Inside the object, within `depth` open brackets. With the depth 0, the object has just ended.
    InObject { depth: usize },
    /// Inside a string of the object. `escaped` means that the last character was a backslash that escapes the next one.
    InString { depth: usize, escaped: bool },
    /// After the object and this number of backticks.
    AfterObject { backticks: usize },
    /// After text that does not have the form of one object with a closing fence after it. The fence is not metadata.
    Invalid,
}

impl Fence {
    /// Returns the number of bytes read.
    pub(super) const fn bytes_read(&self) -> usize {
        self.bytes_read
    }

    /// Reads the part of `inside` that was not read yet. `inside` is the whole text after the opening fence that has arrived so
    /// far. Returns whether the fence may still be metadata at the end of the reply.
    pub(super) fn may_be_metadata(&mut self, inside: &str) -> bool {
        for c in inside.get(self.bytes_read..).unwrap_or_default().chars() {
            if self.position == Position::Invalid {
                return false;
            }
            self.bytes_read += c.len_utf8();
            self.position = self.position.next(c);
            // The object is parsed only once, when all its brackets are closed.
            if self.position == (Position::InObject { depth: 0 }) {
                let object = inside.get(..self.bytes_read).unwrap_or_default().trim_start();
                let is_json = serde_json::from_str::<IgnoredAny>(object).is_ok();
                self.position = if is_json {
                    Position::AfterObject { backticks: 0 }
                } else {
                    Position::Invalid
                };
            }
        }
        self.position != Position::Invalid
    }
}

impl Position {
    /// Returns the position after reading `c`.
    const fn next(self, c: char) -> Self {
        match (self, c) {
            (Self::BeforeObject, '{') => Self::InObject { depth: 1 },
            (Self::BeforeObject, _) if c.is_whitespace() => self,
            (Self::InObject { depth }, '{' | '[') => Self::InObject { depth: depth + 1 },
            (Self::InObject { depth }, '}' | ']') => Self::InObject { depth: depth - 1 },
            (Self::InObject { depth }, '"') => Self::InString { depth, escaped: false },
            // Punctuation, numbers, and the letters of `true`, `false` and `null`. The parser checks the rest of the syntax.
            (Self::InObject { .. }, ':' | ',' | '+' | '-' | '.' | '0'..='9' | 'a'..='z' | 'E') => self,
            (Self::InObject { .. }, ' ' | '\n' | '\r' | '\t') => self,
            (Self::InString { depth, escaped: false }, '"') => Self::InObject { depth },
            // JSON strings do not contain control characters.
            (Self::InString { .. }, '\0'..='\x1f') => Self::Invalid,
            (Self::InString { depth, escaped }, _) => Self::InString {
                depth,
                escaped: !escaped && c == '\\',
            },
            (Self::AfterObject { backticks }, '`') if backticks < 3 => Self::AfterObject {
                backticks: backticks + 1,
            },
            (Self::AfterObject { backticks: 0 | 3 }, _) if c.is_whitespace() => self,
            _ => Self::Invalid,
        }
    }
}
