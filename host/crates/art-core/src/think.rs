//! Separates the thoughts of a model from its text, for models that write their thoughts between `<think>` and `</think>`.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// A part of a reply, as reported by [`ThinkTags`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkPart<'a> {
    /// Text of the reply.
    Text(&'a str),
    /// Text inside a block, including nested tags.
    Thought(&'a str),
    /// The outermost block ended.
    BlockEnd,
    /// A closing tag came before any opening tag: all text reported so far was thoughts.
    Restart,
    /// The reply ended inside a block. The reported thoughts end with `content`, which is text after all: everything
    /// after the last closing tag of the block, or the whole block if it has none.
    Unclosed {
        /// The end of the thoughts.
        content: &'a str,
        /// Whether `content` is the whole block.
        is_whole: bool,
    },
}

/// Finds think tags in a reply that arrives in pieces. The reported parts do not depend on how the reply was cut, and
/// no piece is read twice.
///
/// A block begins only at the start of a line, so that an answer may mention the tags. Blocks nest. White space after a
/// block is dropped. A closing tag at the start of a line is a [`ThinkPart::Restart`] if no other tag came before it,
/// because some providers omit the first opening tag. All other tags are text.
#[derive(Clone, Debug)]
pub struct ThinkTags {
    /// The end of the reply so far, if it may be the beginning of a tag.
    pending: String,
    /// Number of open blocks.
    depth: usize,
    /// Content of the outermost open block so far.
    block: String,
    /// Position in `block` after its last closing tag.
    after_close: Option<usize>,
    /// Whether a block was opened, or thoughts without an opening tag were closed.
    tagged: bool,
    /// Whether the current line is blank so far.
    line_start: bool,
    /// Whether a block has just ended, so that white space is dropped.
    trim: bool,
}

impl Default for ThinkTags {
    fn default() -> Self {
        Self {
            pending: String::new(),
            depth: 0,
            block: String::new(),
            after_close: None,
            tagged: false,
            line_start: true,
            trim: false,
        }
    }
}

impl ThinkTags {
    /// Reads the next piece and passes its parts to `found`, in order.
    pub fn push(&mut self, piece: &str, found: &mut dyn FnMut(ThinkPart<'_>)) {
        let mut text = std::mem::take(&mut self.pending);
        text.push_str(piece);
        let mut rest = text.as_str();
        while let Some((before, tag, after)) = split_at_tag(rest) {
            self.report(before, found);
            self.take_tag(tag, found);
            rest = after;
        }
        let (ready, pending) = rest.split_at_checked(possible_tag(rest)).unwrap_or((rest, ""));
        self.report(ready, found);
        self.pending = pending.to_owned();
    }

    /// Ends the reply and passes the last parts to `found`.
    pub fn finish(mut self, found: &mut dyn FnMut(ThinkPart<'_>)) {
        let pending = std::mem::take(&mut self.pending);
        self.report(&pending, found);
        if self.depth > 0 {
            let content = self.block.get(self.after_close.unwrap_or_default()..);
            found(ThinkPart::Unclosed {
                content: content.unwrap_or_default(),
                is_whole: self.after_close.is_none(),
            });
        }
    }

    fn take_tag(&mut self, tag: &str, found: &mut dyn FnMut(ThinkPart<'_>)) {
        match (self.depth, tag) {
            (0, _) if !self.line_start => self.report(tag, found),
            (0, OPEN) => {
                self.tagged = true;
                self.depth = 1;
            }
            (0, _) if self.tagged => self.report(tag, found),
            (0, _) => {
                self.tagged = true;
                found(ThinkPart::Restart);
            }
            (1, CLOSE) => self.end_block(found),
            (_, CLOSE) => {
                self.depth -= 1;
                self.report(tag, found);
                self.after_close = Some(self.block.len());
            }
            _ => {
                self.depth += 1;
                self.report(tag, found);
            }
        }
    }

    fn end_block(&mut self, found: &mut dyn FnMut(ThinkPart<'_>)) {
        self.depth = 0;
        self.block.clear();
        self.after_close = None;
        self.line_start = true;
        self.trim = true;
        found(ThinkPart::BlockEnd);
    }

    /// Reports `text`, which contains no tag.
    fn report(&mut self, text: &str, found: &mut dyn FnMut(ThinkPart<'_>)) {
        if self.depth == 0 {
            return self.report_text(text, found);
        }
        self.block.push_str(text);
        if !text.is_empty() {
            found(ThinkPart::Thought(text));
        }
    }

    fn report_text(&mut self, text: &str, found: &mut dyn FnMut(ThinkPart<'_>)) {
        let text = if self.trim { text.trim_start() } else { text };
        if text.is_empty() {
            return;
        }
        self.trim = false;
        self.line_start = ends_at_line_start(text, self.line_start);
        found(ThinkPart::Text(text));
    }
}

/// Splits `text` at its first tag.
fn split_at_tag(text: &str) -> Option<(&str, &'static str, &str)> {
    text.match_indices('<').find_map(|(at, _)| {
        let (before, tail) = text.split_at_checked(at)?;
        let tag = [OPEN, CLOSE].into_iter().find(|tag| tail.starts_with(tag))?;
        Some((before, tag, tail.get(tag.len()..)?))
    })
}

/// Returns the position in `text` from which its end may be the beginning of a tag, or the length of `text`.
fn possible_tag(text: &str) -> usize {
    let begins = |at: &usize| {
        let tail = text.get(*at..).unwrap_or_default();
        OPEN.starts_with(tail) || CLOSE.starts_with(tail)
    };
    text.rfind('<').filter(begins).unwrap_or(text.len())
}

/// Returns whether only white space follows the last newline of `text`. If it has no newline, `blank_before` says
/// whether the line is blank before `text`.
fn ends_at_line_start(text: &str, blank_before: bool) -> bool {
    let words = text.trim_end_matches(|c: char| c != '\n' && c.is_whitespace());
    words.ends_with('\n') || (words.is_empty() && blank_before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What is reported of `pieces`, neighbouring parts of one kind joined: `t` text, `T` thought, `|` the end of a block,
    /// `^` a restart, `?` content of an unclosed block, `!` a whole one.
    fn parts<'a>(pieces: impl IntoIterator<Item = &'a str>) -> String {
        let mut parts: Vec<(char, String)> = Vec::new();
        let mut found = |part: ThinkPart<'_>| {
            let (kind, text) = match part {
                ThinkPart::Text(text) => ('t', text),
                ThinkPart::Thought(text) => ('T', text),
                ThinkPart::BlockEnd => ('|', ""),
                ThinkPart::Restart => ('^', ""),
                ThinkPart::Unclosed { content, is_whole } => (if is_whole { '!' } else { '?' }, content),
            };
            match parts.last_mut() {
                Some((last, joined)) if *last == kind => joined.push_str(text),
                _ => parts.push((kind, text.to_owned())),
            }
        };
        let mut tags = ThinkTags::default();
        pieces.into_iter().for_each(|piece| tags.push(piece, &mut found));
        tags.finish(&mut found);
        let parts: Vec<_> = parts.iter().map(|(kind, text)| format!("{kind}{text:?}")).collect();
        parts.join(" ")
    }

    #[test]
    fn a_block_is_thought_and_the_rest_is_text() {
        let replies = [
            "<think>hm</think>42",
            "<think>\nhm\n</think>\n\n4 2\n",
            " \n<think>a</think>b\n <think>c</think>d",
            "no tag < or <thin",
            "<think></think>",
            "<think>a < b </ c</think>d",
        ];
        let parts: Vec<_> = replies.iter().map(|reply| parts([*reply])).collect();
        insta::assert_snapshot!(parts.join("\n"), @r#"
        T"hm" |"" t"42"
        T"\nhm\n" |"" t"4 2\n"
        t" \n" T"a" |"" t"b\n " T"c" |"" t"d"
        t"no tag < or <thin"
        |""
        T"a < b </ c" |"" t"d"
        "#);
    }

    #[test]
    fn an_answer_may_speak_of_the_tags() {
        for text in [
            "The tag `</think>` ends the thoughts.",
            "Write <think>a</think> around them.",
            "See `<think>`.\nAnd `</think>`.",
        ] {
            assert_eq!(parts([text]), format!("t{text:?}"));
            assert_eq!(parts(["<think>a</think>", text]), format!("T\"a\" |\"\" t{text:?}"));
        }
    }

    // A28: nested and unclosed think tags.
    #[test]
    fn blocks_nest() {
        assert_eq!(
            parts(["<think>a<think>b</think>c</think>x"]),
            r#"T"a<think>b</think>c" |"" t"x""#
        );
    }

    // A28: nested and unclosed think tags.
    #[test]
    fn a_block_that_is_never_closed_is_content() {
        assert_eq!(parts(["x\n<think>never"]), r#"t"x\n" T"never" !"never""#);
    }

    #[test]
    fn a_block_that_misses_one_closing_tag_ends_at_the_last_one() {
        assert_eq!(parts(["<think>a<think>b</think>x"]), r#"T"a<think>b</think>x" ?"x""#);
    }

    #[test]
    fn a_closing_tag_that_comes_first_makes_thoughts_of_the_text() {
        assert_eq!(parts(["so {x}\n</think>\ndone"]), r#"t"so {x}\n" ^"" t"\ndone""#);
    }

    #[test]
    fn a_closing_tag_after_another_tag_is_text() {
        assert_eq!(parts(["<think>a</think>b\n</think>c"]), r#"T"a" |"" t"b\n</think>c""#);
    }

    proptest! {
        #[test]
        fn cutting_the_reply_does_not_change_the_parts(
            pieces in prop::collection::vec("(<think>|</think>|<|t|/|\n| |é|a){0,4}", 0..12),
        ) {
            let whole = pieces.concat();
            prop_assert_eq!(parts(pieces.iter().map(String::as_str)), parts([whole.as_str()]));
            let chars: Vec<_> = whole.chars().map(String::from).collect();
            prop_assert_eq!(parts(chars.iter().map(String::as_str)), parts([whole.as_str()]));
        }

        #[test]
        fn no_word_is_lost(text in "(<think>|</think>|\n| |a){0,16}") {
            let mut found = String::new();
            let mut tags = ThinkTags::default();
            let mut take = |part: ThinkPart<'_>| {
                if let ThinkPart::Text(text) | ThinkPart::Thought(text) = part {
                    found.push_str(text);
                }
            };
            tags.push(&text, &mut take);
            tags.finish(&mut take);
            prop_assert_eq!(found.matches('a').count(), text.matches('a').count());
        }
    }
}
