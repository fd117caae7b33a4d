//! Lines of a text, whatever ends them: `\n`, `\r\n`, or a single `\r`.
//!
//! A tool that changes a part of a text keeps all other bytes of it, and ends new lines as the lines around them end:
//!
//! ```
//! use art_sdk::lines::Lines;
//!
//! let lines = Lines::of("buy milk\r\nbuy tea\r\n");
//! let places = lines.find("milk\nbuy tea");
//! assert_eq!(lines.replace(&places, "milk\nbuy bread"), "buy milk\r\nbuy bread\r\n");
//! ```

use std::borrow::Cow;
use std::ops::Range;

/// The sign at the beginning of some files that tells their encoding. It is no part of their text.
pub const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns the byte order mark at the beginning of `text`, which is empty if there is none, and the text after it.
pub fn split_byte_order_mark(text: &str) -> (&str, &str) {
    let length = if text.starts_with(BYTE_ORDER_MARK) {
        BYTE_ORDER_MARK.len_utf8()
    } else {
        0
    };
    text.split_at(length)
}

/// Returns whether `text` ends with the ending of a line.
pub fn is_terminated(text: &str) -> bool {
    text.ends_with(['\n', '\r'])
}

/// A text, and where its lines end.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    text: &'a str,
    /// The bytes after each line ending, in order.
    ends: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// Finds the lines of a text.
    pub fn of(text: &'a str) -> Self {
        let mut ends: Vec<usize> = Vec::new();
        let mut follows_return = false;
        for (at, byte) in text.bytes().enumerate() {
            match (byte, ends.last_mut()) {
                (b'\n', Some(end)) if follows_return => *end += 1,
                (b'\n' | b'\r', _) => ends.push(at + 1),
                _ => {}
            }
            follows_return = byte == b'\r';
        }
        Self { text, ends }
    }

    /// Returns the number of lines. An ending at the end of the text does not begin another line.
    pub fn count(&self) -> usize {
        let end = self.ends.last().copied().unwrap_or_default();
        self.ends.len() + usize::from(end < self.text.len())
    }

    /// Returns the byte at which a line starts, or the length of the text if there is no such line. Lines are counted from 0.
    pub fn start(&self, line: usize) -> usize {
        match line.checked_sub(1) {
            None => 0,
            Some(line_before) => self.ends.get(line_before).copied().unwrap_or(self.text.len()),
        }
    }

    /// Returns which line the byte `at` is in, counted from 0.
    pub fn line_at(&self, at: usize) -> usize {
        self.ends.partition_point(|end| *end <= at)
    }

    /// Returns the ending of a line, which is empty for a last line without an ending. Lines are counted from 0.
    pub fn ending(&self, line: usize) -> &'a str {
        let to_end = |end: &usize| self.text.get(..*end).unwrap_or_default();
        match self.ends.get(line).map(to_end) {
            Some(text) if text.ends_with("\r\n") => "\r\n",
            Some(text) if text.ends_with('\r') => "\r",
            Some(_) => "\n",
            None => "",
        }
    }

    /// Returns how a line ends that is added at the byte `at`: as the line there, or if that one has no ending, as the line
    /// before it. Returns `None` for a text without line endings.
    pub fn ending_near(&self, at: usize) -> Option<&'a str> {
        let last = self.ends.len().checked_sub(1)?;
        Some(self.ending(self.line_at(at).min(last)))
    }

    /// Returns the places at which `wanted` occurs, which do not overlap. All line endings count as equal. An empty `wanted`
    /// occurs nowhere.
    pub fn find(&self, wanted: &str) -> Vec<Range<usize>> {
        if wanted.is_empty() {
            return Vec::new();
        }
        let (plain, wanted) = (with_plain_endings(self.text), with_plain_endings(wanted));
        // Each `\r\n` is one byte in the plain text. These are the places of those bytes.
        let pairs = (0..self.ends.len()).filter(|line| self.ending(*line).len() == 2);
        let pairs: Vec<usize> = pairs
            .enumerate()
            .map(|(pairs_before, line)| self.start(line + 1) - 2 - pairs_before)
            .collect();
        let original = |at: usize| at + pairs.partition_point(|pair| *pair < at);
        let found = plain.match_indices(wanted.as_ref());
        found
            .map(|(at, text)| original(at)..original(at + text.len()))
            .collect()
    }

    /// Returns the text with `new` in each of the `places`, which are in order and do not overlap. The lines of `new` end as those
    /// that they replace, or as the lines around. Nothing else changes.
    pub fn replace(&self, places: &[Range<usize>], new: &str) -> String {
        let new = Lines::of(new);
        let mut text = String::with_capacity(self.text.len());
        let mut done = 0;
        for place in places {
            text.push_str(self.text.get(done..place.start).unwrap_or_default());
            self.push_in_place(&mut text, place, &new);
            done = place.end;
        }
        text.push_str(self.text.get(done..).unwrap_or_default());
        text
    }

    /// Adds the lines of `new` to `text`, with the endings that they get in `place`.
    fn push_in_place(&self, text: &mut String, place: &Range<usize>, new: &Lines<'_>) {
        let old = Lines::of(self.text.get(place.clone()).unwrap_or_default());
        let (old_count, new_count) = (old.count(), new.count());
        // The lines at the end that stay as they are keep their endings, even if lines were added or removed before them.
        let are_same = |back: &usize| {
            let (old_line, new_line) = (old_count - back, new_count - back);
            let lack_ending = old.ending(old_line).is_empty() && new.ending(new_line).is_empty();
            lack_ending || old.content(old_line) == new.content(new_line)
        };
        let same = (1..=old_count.min(new_count)).take_while(are_same).count();
        let mut ending = self.ending_near(place.start);
        for line in 0..new_count {
            text.push_str(new.content(line));
            let replaced = match line {
                _ if line + same >= new_count => Some(line + old_count - new_count),
                _ if line + same < old_count => Some(line),
                _ => None,
            };
            let replaced = replaced
                .map(|line| old.ending(line))
                .filter(|ending| !ending.is_empty());
            ending = replaced.or(ending);
            let given = new.ending(line);
            if !given.is_empty() {
                let ending = ending.unwrap_or(given);
                // After a lone CR, an LF would not end the empty line but make one ending of both.
                text.push_str(if ending == "\n" && text.ends_with('\r') {
                    "\r\n"
                } else {
                    ending
                });
            }
        }
    }

    /// Returns a line without its ending. Lines are counted from 0.
    fn content(&self, line: usize) -> &'a str {
        let end = self.start(line + 1) - self.ending(line).len();
        self.text.get(self.start(line)..end).unwrap_or_default()
    }

    /// Returns which endings occur: `\n`, `\r\n` and `\r`. A text without any counts as one with `\n`.
    fn kinds(&self) -> [bool; 3] {
        let occurs = |ending: &str| (0..self.ends.len()).any(|line| self.ending(line) == ending);
        [self.ends.is_empty() || occurs("\n"), occurs("\r\n"), occurs("\r")]
    }
}

/// Returns the text with `\n` as its only line ending.
fn with_plain_endings(text: &str) -> Cow<'_, str> {
    if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Two texts as a person sees them beside each other, in lines that end with `\n`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// What is different between the texts although it is not visible: how lines end, and the byte order mark. Each is a sentence
    /// in one line.
    pub notes: Vec<String>,
    /// The old text.
    pub before: String,
    /// The new text.
    pub after: String,
}

/// Returns two texts such that a comparison by lines shows all that is different. If both have the same single line ending, or both
/// have a byte order mark, it is left out. Otherwise `\r\n` is shown as `␍␊`, `\r` as `␍`, and the mark as `\u{feff}`.
pub fn show(before: &str, after: &str) -> Shown {
    let (before_mark, before) = split_byte_order_mark(before);
    let (after_mark, after) = split_byte_order_mark(after);
    let (before_kinds, after_kinds) = (Lines::of(before).kinds(), Lines::of(after).kinds());
    let mut notes = Vec::new();
    match (before_mark, after_mark) {
        ("", "") => {}
        ("", _) => notes.push("a byte order mark is added at the beginning".to_owned()),
        (_, "") => notes.push("the byte order mark at the beginning is removed".to_owned()),
        _ => {}
    }
    // A text of one line without an ending has none that could differ.
    if before_kinds != after_kinds && [before, after].iter().all(|text| text.contains(['\n', '\r'])) {
        let (old, new) = (describe_kinds(before_kinds), describe_kinds(after_kinds));
        notes.push(format!("the lines end with {new} instead of {old}"));
    }
    let is_mixed = before_kinds
        .iter()
        .zip(after_kinds)
        .filter(|(old, new)| **old || *new)
        .count()
        > 1;
    let shown = |mark: &str, text: &str| {
        let mark = if mark.is_empty() || before_mark == after_mark {
            ""
        } else {
            "\\u{feff}"
        };
        let (pair, single) = if is_mixed { ("␍␊\n", "␍\n") } else { ("\n", "\n") };
        format!("{mark}{}", text.replace("\r\n", pair).replace('\r', single))
    };
    Shown {
        notes,
        before: shown(before_mark, before),
        after: shown(after_mark, after),
    }
}

fn describe_kinds(kinds: [bool; 3]) -> String {
    let names = ["LF", "CRLF", "CR"].into_iter().zip(kinds);
    let names: Vec<_> = names.filter_map(|(name, occurs)| occurs.then_some(name)).collect();
    names.join(" and ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn replace(text: &str, old: &str, new: &str) -> String {
        let lines = Lines::of(text);
        lines.replace(&lines.find(old), new)
    }

    #[test]
    fn a_line_ends_with_each_of_the_three_endings() {
        let lines = Lines::of("a\r\n\rb\r\r\n\nc");
        let endings: Vec<_> = (0..lines.count())
            .map(|line| (lines.content(line), lines.ending(line)))
            .collect();
        let expected = [
            ("a", "\r\n"),
            ("", "\r"),
            ("b", "\r"),
            ("", "\r\n"),
            ("", "\n"),
            ("c", ""),
        ];
        assert_eq!(endings, expected);
        assert_eq!(
            (Lines::of("").count(), Lines::of("\n").count(), Lines::of("\na").count()),
            (0, 1, 2)
        );
        assert_eq!([0, 2, 3, 4, 9].map(|at| lines.line_at(at)), [0, 0, 1, 2, 5]);
    }

    #[test]
    fn a_text_is_found_whatever_its_lines_end_with() {
        for (text, wanted) in [
            ("a\r\nb", "a\nb"),
            ("a\nb", "a\r\nb"),
            ("a\rb", "a\nb"),
            ("a\r\nb", "a\rb"),
        ] {
            let found = Lines::of(text).find(wanted);
            assert_eq!(
                found.as_slice(),
                std::slice::from_ref(&(0..text.len())),
                "{text:?} {wanted:?}"
            );
        }
        assert_eq!(Lines::of("x\r\na\r\na\r\n").find("\na"), [1..4, 4..7]);
        assert_eq!(Lines::of("a").find(""), []);
    }

    #[test]
    fn new_lines_end_as_those_that_they_replace_or_as_those_around() {
        assert_eq!(replace("a\r\nb\r\n", "a\nb", "a\nx\nb"), "a\r\nx\r\nb\r\n");
        assert_eq!(replace("a\r\nb\nc\rd", "a\nb\nc", "1\n2\n3"), "1\r\n2\n3\rd");
        assert_eq!(replace("a\r\nb\nc\rd", "a\nb\nc\n", "b\nc\n"), "b\nc\rd");
        assert_eq!(replace("a\nb\r\nc", "b", "b\nb"), "a\nb\r\nb\r\nc");
        assert_eq!(replace("a\rb", "b", "b\nc"), "a\rb\rc");
        // A text of one line has no ending, so the new text decides.
        assert_eq!(replace("a", "a", "a\r\nb"), "a\r\nb");
    }

    #[test]
    fn signs_that_differ_are_shown_and_those_that_both_have_are_not() {
        let same = show("\u{feff}a\r\nb\r\n", "\u{feff}a\r\nc\r\n");
        assert_eq!((same.before.as_str(), same.after.as_str()), ("a\nb\n", "a\nc\n"));
        assert!(same.notes.is_empty());
        let differ = show("\u{feff}a\r\nb\r\n", "a\nb\n");
        assert_eq!(
            (differ.before.as_str(), differ.after.as_str()),
            ("\\u{feff}a␍␊\nb␍␊\n", "a\nb\n")
        );
        let notes = [
            "the byte order mark at the beginning is removed",
            "the lines end with LF instead of CRLF",
        ];
        assert_eq!(differ.notes, notes);
        let mixed = show("a\r\nb\n", "a\nb\n");
        assert_eq!((mixed.before.as_str(), mixed.after.as_str()), ("a␍␊\nb\n", "a\nb\n"));
        let new = show("", "a\rb");
        assert_eq!((new.after.as_str(), new.notes.len()), ("a␍\nb", 0));
        assert_eq!(show("a\r\n", "a").notes.len(), 0);
    }

    proptest! {
        #[test]
        fn a_replacement_changes_no_other_byte_and_no_other_ending(
            text in "[ab\r\n]{0,12}", old in "[ab\n]{1,3}", new in "[ab\n]{0,4}",
        ) {
            let lines = Lines::of(&text);
            if let Some(place) = lines.find(&old).into_iter().next() {
                let (before, after) = (&text[..place.start], &text[place.end..]);
                let replaced = lines.replace(&[place], &new);
                let middle = replaced.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
                let middle = middle.map(with_plain_endings);
                prop_assert_eq!(middle.as_deref(), Some(new.as_str()));
            }
        }

        #[test]
        fn a_text_that_replaces_itself_stays_the_same(text in "[ab\r\n]{0,12}", old in "[ab\n]{1,3}") {
            prop_assert_eq!(replace(&text, &old, &old), text);
        }

        #[test]
        fn different_texts_are_shown_as_different(before in "[a\r\n\u{feff}]{0,6}", after in "[a\r\n\u{feff}]{0,6}") {
            let shown = show(&before, &after);
            prop_assert_eq!(shown.before == shown.after, before == after);
        }
    }
}
