//! `<think>` blocks in the text of models that have no other place for their thoughts.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// A piece of text by what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said<'a> {
    Text(&'a str),
    Thought(&'a str),
}

/// Tells thoughts from text. A block begins at the start of a line, so that an answer may speak of the tag; it may be cut
/// anywhere between pieces. Blank space after a block is left out.
#[derive(Debug)]
pub(super) struct Think {
    /// The end of what came: a tag may begin in it. Shorter than a tag between two pieces.
    held: String,
    inside: bool,
    /// The line so far is blank.
    line_start: bool,
    /// A block just ended.
    trim: bool,
}

impl Default for Think {
    fn default() -> Self {
        Self {
            held: String::new(),
            inside: false,
            line_start: true,
            trim: false,
        }
    }
}

impl Think {
    /// Takes `text` and says what it is.
    pub(super) fn push(&mut self, text: &str, say: &mut dyn FnMut(Said<'_>)) {
        let mut held = std::mem::take(&mut self.held);
        held.push_str(text);
        let mut rest = held.as_str();
        while let Some((before, after)) = self.split(rest) {
            self.say(before, say);
            self.inside = !self.inside;
            self.trim = !self.inside;
            self.line_start = true;
            rest = after;
        }
        let tag = if self.inside { CLOSE } else { OPEN };
        let (ready, kept) = rest
            .split_at_checked(rest.len() - overlap(rest, tag))
            .unwrap_or((rest, ""));
        self.say(ready, say);
        self.held = kept.to_owned();
    }

    /// The text ended: what is held is no tag. A block that was not closed was thought to its end.
    pub(super) fn finish(&mut self, say: &mut dyn FnMut(Said<'_>)) {
        let held = std::mem::take(&mut self.held);
        self.say(&held, say);
    }

    /// What is before and after the next tag.
    fn split<'a>(&self, text: &'a str) -> Option<(&'a str, &'a str)> {
        if self.inside {
            return text.split_once(CLOSE);
        }
        let (mut rest, mut line_start) = (text, self.line_start);
        loop {
            if line_start {
                rest = rest.trim_start();
                if let Some(after) = rest.strip_prefix(OPEN) {
                    let before = text.len() - rest.len();
                    return Some((text.get(..before)?, after));
                }
            }
            (_, rest) = rest.split_once('\n')?;
            line_start = true;
        }
    }

    fn say(&mut self, text: &str, say: &mut dyn FnMut(Said<'_>)) {
        if self.inside {
            if !text.is_empty() {
                say(Said::Thought(text));
            }
            return;
        }
        let text = if self.trim { text.trim_start() } else { text };
        if text.is_empty() {
            return;
        }
        self.trim = false;
        self.line_start = match text.rsplit_once('\n') {
            Some((_, line)) => is_blank(line),
            None => self.line_start && is_blank(text),
        };
        say(Said::Text(text));
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Bytes at the end of `text` that `tag` begins with.
fn overlap(text: &str, tag: &str) -> usize {
    let longest = tag.len().saturating_sub(1).min(text.len());
    let begins = |length: &usize| tag.get(..*length).is_some_and(|start| text.ends_with(start));
    (1..=longest).rev().find(begins).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Text and thoughts of `pieces`.
    fn told<'a>(pieces: impl IntoIterator<Item = &'a str>) -> (String, String) {
        let (mut text, mut thought) = (String::new(), String::new());
        let mut think = Think::default();
        let mut say = |said: Said<'_>| match said {
            Said::Text(piece) => text.push_str(piece),
            Said::Thought(piece) => thought.push_str(piece),
        };
        for piece in pieces {
            think.push(piece, &mut say);
        }
        think.finish(&mut say);
        (text, thought)
    }

    #[test]
    fn a_block_is_thought_and_the_rest_is_text() {
        for (said, text, thought) in [
            ("<think>hm</think>42", "42", "hm"),
            ("<think>\nhm\n</think>\n\n4 2\n", "4 2\n", "\nhm\n"),
            (" \n<think>a</think>b\n<think>c</think>d", " \nb\nd", "ac"),
            ("<think>never closed", "", "never closed"),
            ("no tag < or <thin", "no tag < or <thin", ""),
            ("the tag `<think>` is text", "the tag `<think>` is text", ""),
            ("a</think>b", "a</think>b", ""),
            ("<think></think>", "", ""),
            ("<think>a < b </ c</think>d", "d", "a < b </ c"),
        ] {
            assert_eq!(told([said]), (text.to_owned(), thought.to_owned()), "{said}");
        }
    }

    #[test]
    fn no_split_changes_what_is_thought() {
        let said = "\n<think>h\u{e9} <b> </think>\n\n a <think> b\n <think>c</think>d";
        let pieces: Vec<String> = said.chars().map(String::from).collect();
        assert_eq!(told(pieces.iter().map(String::as_str)), told([said]));
        for (at, _) in said.char_indices() {
            assert_eq!(told([&said[..at], &said[at..]]), told([said]), "{at}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_lost_but_tags_and_blanks(pieces in proptest::collection::vec("(<think>|</think>|<|t|/|\n| |a){0,4}", 0..12)) {
            let whole = pieces.concat();
            let split = told(pieces.iter().map(String::as_str));
            prop_assert_eq!(&split, &told([whole.as_str()]));
            let count = |text: &str| text.matches('a').count();
            prop_assert_eq!(count(&split.0) + count(&split.1), count(&whole));
        }
    }
}
