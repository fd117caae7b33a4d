//! Separates the thoughts of a model from its text, for models that write their thoughts between `<think>` and `</think>`. Such a
//! pair of tags, with what is between them, is called a block.

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
    /// The first tag at the start of a line is a closing one: all text reported so far was thoughts.
    CloseWithoutOpen,
    /// The reply ended inside a block, so the end of what was reported as thoughts is text of the reply after all.
    Unclosed {
        /// That text: everything after the end of the last nested block, or after the opening tag if no nested block ended.
        content: &'a str,
        /// Whether `content` is everything after the opening tag.
        is_complete_block: bool,
    },
}

/// Finds think tags in a reply that arrives in pieces. What is reported as text and as thoughts does not depend on how
/// the reply was cut.
///
/// A block begins only at the start of a line, so that an answer may mention the tags. Blocks nest. White space after a
/// block is dropped. Some providers omit the first opening tag. So if the first tag at the start of a line is a closing one, it
/// is reported as [`ThinkPart::CloseWithoutOpen`]. All other tags are text.
#[derive(Clone, Debug)]
pub struct ThinkTags {
    /// The end of the reply so far, if it may be the beginning of a tag.
    pending: String,
    /// Number of open blocks.
    depth: usize,
    /// Content of the outermost open block so far.
    block: String,
    /// Position in `block` after the last nested block that ended.
    after_nested: Option<usize>,
    /// Whether a block was opened, or thoughts without an opening tag were closed.
    has_tag: bool,
    /// Whether the current line is blank so far.
    at_line_start: bool,
    /// Whether a block has just ended, so that white space is dropped.
    drop_white_space: bool,
}

impl Default for ThinkTags {
    fn default() -> Self {
        Self {
            pending: String::new(),
            depth: 0,
            block: String::new(),
            after_nested: None,
            has_tag: false,
            at_line_start: true,
            drop_white_space: false,
        }
    }
}

impl ThinkTags {
    /// Reads the next piece and calls `on_part` with each of its parts, in order.
    pub fn push(&mut self, piece: &str, on_part: &mut dyn FnMut(ThinkPart<'_>)) {
        let mut text = std::mem::take(&mut self.pending);
        text.push_str(piece);
        let mut rest = text.as_str();
        while let Some((before, tag, after)) = split_at_tag(rest) {
            self.report(before, on_part);
            self.handle_tag(tag, on_part);
            rest = after;
        }
        let (ready, pending) = rest.split_at_checked(partial_tag_start(rest)).unwrap_or((rest, ""));
        self.report(ready, on_part);
        self.pending = pending.to_owned();
    }

    /// Ends the reply and calls `on_part` with the last parts.
    pub fn finish(mut self, on_part: &mut dyn FnMut(ThinkPart<'_>)) {
        let pending = std::mem::take(&mut self.pending);
        self.report(&pending, on_part);
        if self.depth > 0 {
            let content = self.block.get(self.after_nested.unwrap_or_default()..);
            on_part(ThinkPart::Unclosed {
                content: content.unwrap_or_default(),
                is_complete_block: self.after_nested.is_none(),
            });
        }
    }

    /// Handles an opening or a closing tag.
    fn handle_tag(&mut self, tag: &str, on_part: &mut dyn FnMut(ThinkPart<'_>)) {
        match (self.depth, tag) {
            (0, _) if !self.at_line_start => self.report(tag, on_part),
            (0, OPEN) => {
                self.has_tag = true;
                self.depth = 1;
            }
            (0, CLOSE) if self.has_tag => self.report(tag, on_part),
            (0, CLOSE) => {
                self.has_tag = true;
                on_part(ThinkPart::CloseWithoutOpen);
            }
            (1, CLOSE) => self.end_block(on_part),
            (_, CLOSE) => {
                self.depth -= 1;
                self.report(tag, on_part);
                self.after_nested = Some(self.block.len());
            }
            _ => {
                self.depth += 1;
                self.report(tag, on_part);
            }
        }
    }

    fn end_block(&mut self, on_part: &mut dyn FnMut(ThinkPart<'_>)) {
        self.depth = 0;
        self.block.clear();
        self.after_nested = None;
        self.at_line_start = true;
        self.drop_white_space = true;
        on_part(ThinkPart::BlockEnd);
    }

    /// Reports `text` as a part of the open block, or as text of the reply if no block is open.
    fn report(&mut self, text: &str, on_part: &mut dyn FnMut(ThinkPart<'_>)) {
        if self.depth == 0 {
            return self.report_text(text, on_part);
        }
        self.block.push_str(text);
        if !text.is_empty() {
            on_part(ThinkPart::Thought(text));
        }
    }

    fn report_text(&mut self, text: &str, on_part: &mut dyn FnMut(ThinkPart<'_>)) {
        let text = if self.drop_white_space { text.trim_start() } else { text };
        if text.is_empty() {
            return;
        }
        self.drop_white_space = false;
        self.at_line_start = ends_at_line_start(text, self.at_line_start);
        on_part(ThinkPart::Text(text));
    }
}

/// Splits `text` at its first tag. Returns `None` if it has no tag.
fn split_at_tag(text: &str) -> Option<(&str, &'static str, &str)> {
    text.match_indices('<').find_map(|(at, _)| {
        let (before, tail) = text.split_at_checked(at)?;
        let tag = [OPEN, CLOSE].into_iter().find(|tag| tail.starts_with(tag))?;
        Some((before, tag, tail.get(tag.len()..)?))
    })
}

/// Returns the position of the incomplete tag with which `text` may end, or the length of `text` if it cannot end with one.
fn partial_tag_start(text: &str) -> usize {
    let may_begin_tag = |at: &usize| {
        let tail = text.get(*at..).unwrap_or_default();
        OPEN.starts_with(tail) || CLOSE.starts_with(tail)
    };
    text.rfind('<').filter(may_begin_tag).unwrap_or(text.len())
}

/// Returns whether the line in which `text` ends is blank so far. If `text` has no newline, this line began before it, and
/// `blank_before` says whether it was blank until then.
fn ends_at_line_start(text: &str, blank_before: bool) -> bool {
    let trimmed = text.trim_end_matches(|c: char| c != '\n' && c.is_whitespace());
    trimmed.ends_with('\n') || (trimmed.is_empty() && blank_before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the parts that are reported for `pieces`, with adjacent parts of one kind joined. Each begins with its kind: `t`
    /// text, `T` thought, `|` the end of a block, `^` a closing tag without an opening one, `!` all of an unclosed block, `?`
    /// the end of an unclosed block after its last nested block.
    fn parts<'a>(pieces: impl IntoIterator<Item = &'a str>) -> String {
        let mut parts: Vec<(char, String)> = Vec::new();
        let mut on_part = |part: ThinkPart<'_>| {
            let (kind, text) = match part {
                ThinkPart::Text(text) => ('t', text),
                ThinkPart::Thought(text) => ('T', text),
                ThinkPart::BlockEnd => ('|', ""),
                ThinkPart::CloseWithoutOpen => ('^', ""),
                ThinkPart::Unclosed {
                    content,
                    is_complete_block,
                } => (if is_complete_block { '!' } else { '?' }, content),
            };
            match parts.last_mut() {
                Some((last, joined)) if *last == kind => joined.push_str(text),
                _ => parts.push((kind, text.to_owned())),
            }
        };
        let mut tags = ThinkTags::default();
        pieces.into_iter().for_each(|piece| tags.push(piece, &mut on_part));
        tags.finish(&mut on_part);
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
    fn an_answer_may_mention_the_tags() {
        for text in [
            "The tag `</think>` ends the thoughts.",
            "Write <think>a</think> around them.",
            "See `<think>`.\nAnd `</think>`.",
        ] {
            assert_eq!(parts([text]), format!("t{text:?}"));
            assert_eq!(parts(["<think>a</think>", text]), format!("T\"a\" |\"\" t{text:?}"));
        }
    }

    // Nested and unclosed think tags (contract A28).
    #[test]
    fn nested_blocks_are_one_thought() {
        assert_eq!(
            parts(["<think>a<think>b</think>c</think>x"]),
            r#"T"a<think>b</think>c" |"" t"x""#
        );
    }

    // Nested and unclosed think tags (contract A28).
    #[test]
    fn the_content_of_a_block_that_is_never_closed_is_text_of_the_reply() {
        assert_eq!(parts(["x\n<think>never"]), r#"t"x\n" T"never" !"never""#);
    }

    #[test]
    fn a_block_without_its_closing_tag_ends_after_its_last_nested_block() {
        assert_eq!(parts(["<think>a<think>b</think>x"]), r#"T"a<think>b</think>x" ?"x""#);
    }

    #[test]
    fn a_closing_tag_without_an_opening_tag_turns_the_text_into_thoughts() {
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
            let reply = pieces.concat();
            prop_assert_eq!(parts(pieces.iter().map(String::as_str)), parts([reply.as_str()]));
            let chars: Vec<_> = reply.chars().map(String::from).collect();
            prop_assert_eq!(parts(chars.iter().map(String::as_str)), parts([reply.as_str()]));
        }

        #[test]
        fn no_letter_is_lost(text in "(<think>|</think>|\n| |a){0,16}") {
            let mut reported = String::new();
            let mut tags = ThinkTags::default();
            let mut on_part = |part: ThinkPart<'_>| {
                if let ThinkPart::Text(text) | ThinkPart::Thought(text) = part {
                    reported.push_str(text);
                }
            };
            tags.push(&text, &mut on_part);
            tags.finish(&mut on_part);
            prop_assert_eq!(reported.matches('a').count(), text.matches('a').count());
        }
    }
}
