//! Patterns with `*` and `?`.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Maximum length of a pattern, in characters. While a text is matched, bit `n` of a `u128` says whether the first `n` characters
/// of the pattern match, for each `n` from 0 to this length.
pub const MAX_GLOB_CHARS: usize = 127;

/// A pattern for a whole text: `*` stands for any characters, also none, and `?` for one. Both also stand for `/`, `.` and the
/// end of a line. All other characters stand for themselves, and their case matters.
///
/// Matching takes one step for each character of the text, whatever the pattern is, because it never goes back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Glob {
    text: String,
    /// Positions of `*`: bit `n` is set if the character `n` of the pattern, counted from 0, is a `*`. Several adjacent `*` are
    /// counted as one, so no two positions are adjacent.
    stars: u128,
    /// Positions of `?`, in the same form.
    question_marks: u128,
    /// Positions of each other character, in the same form.
    chars: BTreeMap<char, u128>,
    /// Number of characters of the pattern, with only one `*` in place of several adjacent ones.
    len: usize,
}

/// The error for a pattern that is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a pattern of {0} characters is too long: it may have at most {MAX_GLOB_CHARS}, and `*` stands for any characters"
)]
pub struct GlobTooLong(usize);

impl Glob {
    /// Parses a pattern.
    ///
    /// # Errors
    /// Fails if it has more than [`MAX_GLOB_CHARS`] characters.
    pub fn new(pattern: impl Into<String>) -> Result<Self, GlobTooLong> {
        let text = pattern.into();
        let chars = text.chars().count();
        if chars > MAX_GLOB_CHARS {
            return Err(GlobTooLong(chars));
        }
        let mut glob = Self {
            text: String::new(),
            stars: 0,
            question_marks: 0,
            chars: BTreeMap::new(),
            len: 0,
        };
        // Several adjacent `*` match the same texts as one, so keep only the first.
        let mut previous = None;
        for c in text.chars().filter(|c| (*c, previous.replace(*c)) != ('*', Some('*'))) {
            let bit = 1 << glob.len;
            match c {
                '*' => glob.stars |= bit,
                '?' => glob.question_marks |= bit,
                other => *glob.chars.entry(other).or_default() |= bit,
            }
            glob.len += 1;
        }
        Ok(Self { text, ..glob })
    }

    /// Returns the pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether the pattern matches the whole of `text`.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.matches_with(text, |c| self.positions(c))
    }

    /// Returns whether the pattern matches the whole name of a tool, in which `_` and `-` are the same character.
    #[must_use]
    pub fn matches_tool(&self, name: &str) -> bool {
        self.matches_with(name, |c| match c {
            '_' | '-' => self.positions('_') | self.positions('-'),
            other => self.positions(other),
        })
    }

    /// Returns whether the pattern matches the whole of `text`. `positions` returns the positions of a character in the pattern.
    fn matches_with(&self, text: &str, positions: impl Fn(char) -> u128) -> bool {
        // Bit `n` of the state is set if the first `n` characters of the pattern match the text up to here. A `*` also matches
        // the empty text, so the position after it is reached as well. One such step is enough, because no two `*` are adjacent.
        let skip_stars = |state: u128| state | ((state & self.stars) << 1);
        let mut state = skip_stars(1);
        for c in text.chars() {
            let matched = (state & (positions(c) | self.question_marks)) << 1;
            state = skip_stars(matched | (state & self.stars));
            if state == 0 {
                return false;
            }
        }
        state >> self.len & 1 == 1
    }

    fn positions(&self, c: char) -> u128 {
        self.chars.get(&c).copied().unwrap_or_default()
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl TryFrom<String> for Glob {
    type Error = GlobTooLong;

    fn try_from(pattern: String) -> Result<Self, GlobTooLong> {
        Self::new(pattern)
    }
}

impl From<Glob> for String {
    fn from(glob: Glob) -> Self {
        glob.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Glob::new(pattern).unwrap().matches(text)
    }

    #[test]
    fn a_pattern_matches_the_whole_text() {
        for (pattern, text) in [
            ("", ""),
            ("abc", "abc"),
            ("*", ""),
            ("*", "a/b\nc"),
            ("***", "x"),
            ("a*", "a"),
            ("*.csv", "/data/a.b.csv"),
            ("/etc/*", "/etc/a/b"),
            ("a?c", "aéc"),
            ("*?*", "x"),
            ("a*b*c", "a-b-b-c"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("", "a"),
            ("abc", "abcd"),
            ("abc", "xabc"),
            ("ABC", "abc"),
            ("?", ""),
            ("*?", ""),
            ("/etc/*", "/etc"),
            ("a*b*c", "a-c-b"),
            ("[a-z]", "a"),
            ("\\*", "*"),
        ] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn tool_names_match_with_either_separator() {
        let glob = Glob::new("file_*-x").unwrap();
        assert!(glob.matches_tool("file-read_x") && glob.matches_tool("file_read-x"));
        assert!(!glob.matches("file-read_x"));
    }

    #[test]
    fn a_pattern_of_the_maximum_length_can_be_matched() {
        let text = "x".repeat(MAX_GLOB_CHARS);
        assert!(matches(&text, &text));
        assert!(!matches(&text, &text[1..]));
        assert!(matches(&format!("{}*", &text[1..]), &text));
        assert_eq!(Glob::new(format!("{text}x")), Err(GlobTooLong(128)));
    }

    #[test]
    fn a_pattern_that_would_backtrack_is_matched_quickly() {
        let pattern = "*a".repeat(60);
        let started = std::time::Instant::now();
        assert!(!matches(&format!("{pattern}b"), &"a".repeat(1 << 20)));
        assert!(started.elapsed().as_secs() < 5);
    }

    /// Matches by trying all possibilities, as the meaning of a pattern is usually explained.
    fn matches_naively(pattern: &[char], text: &[char]) -> bool {
        match (pattern.split_first(), text.split_first()) {
            (None, None) => true,
            (Some(('*', rest)), _) => {
                matches_naively(rest, text)
                    || text
                        .split_first()
                        .is_some_and(|(_, text)| matches_naively(pattern, text))
            }
            (Some((p, pattern)), Some((c, text))) => (*p == '?' || p == c) && matches_naively(pattern, text),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn a_pattern_matches_the_same_texts_as_the_naive_algorithm(pattern in "[ab*?]{0,8}", text in "[ab]{0,10}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(matches(&pattern, &text), matches_naively(&chars(&pattern), &chars(&text)));
        }

        #[test]
        fn matching_never_panics(pattern in "\\PC{0,127}", text in any::<String>()) {
            let glob = Glob::new(pattern).unwrap();
            let _matched = glob.matches(&text) || glob.matches_tool(&text);
        }
    }
}
