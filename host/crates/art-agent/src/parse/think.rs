//! Splits a whole reply into thoughts and content, by the think tags in it. Think blocks may be nested, and an unclosed one is
//! content (contract P32).

use art_core::think::{ThinkPart, ThinkTags};

/// Separator between the thoughts of two think blocks.
const BLOCK_SEPARATOR: &str = "\n\n---\n\n";

/// Thoughts and content of a reply, while it is split.
#[derive(Default)]
struct Split {
    /// Thoughts of the blocks that have ended.
    thoughts: Vec<String>,
    /// Text of the block that has not ended yet.
    open_block: String,
    content: String,
}

/// Splits `text` into thoughts and content, by the rules of [`ThinkTags`].
pub(crate) fn split_thoughts(text: &str) -> (String, String) {
    let mut split = Split::default();
    let mut tags = ThinkTags::default();
    tags.push(text, &mut |part| split.add(part));
    tags.finish(&mut |part| split.add(part));
    let thoughts = split.thoughts.iter().map(|thought| thought.trim());
    let thoughts: Vec<_> = thoughts.filter(|thought| !thought.is_empty()).collect();
    (thoughts.join(BLOCK_SEPARATOR), split.content.trim().to_owned())
}

impl Split {
    /// Adds the next part of the reply.
    fn add(&mut self, part: ThinkPart<'_>) {
        match part {
            ThinkPart::Text(text) => self.content.push_str(text),
            ThinkPart::Thought(text) => self.open_block.push_str(text),
            ThinkPart::BlockEnd => self.thoughts.push(std::mem::take(&mut self.open_block)),
            ThinkPart::CloseWithoutOpen => self.thoughts.push(std::mem::take(&mut self.content)),
            ThinkPart::Unclosed { content, .. } => {
                // `content` is at the end of the open block, since it has also come as `ThinkPart::Thought`. What is before it in
                // the block is thoughts. If these thoughts end with the closing tag of a nested block, this tag counts as their
                // end and is removed too.
                self.content.push_str(content);
                let thoughts = self.open_block.strip_suffix(content).unwrap_or_default();
                let thoughts = thoughts.strip_suffix("</think>").unwrap_or(thoughts);
                self.thoughts.push(thoughts.to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::split_thoughts;

    // Closed think tags enclose thoughts (contract A28).
    #[test]
    fn the_thoughts_of_closed_blocks_are_joined() {
        let (thoughts, content) = split_thoughts("<think>a</think>x\n <think>b</think>y");
        assert_eq!((thoughts.as_str(), content.as_str()), ("a\n\n---\n\nb", "x\n y"));
    }

    // Think tags may be nested (contract A28).
    #[test]
    fn blocks_may_be_nested() {
        let (thoughts, content) = split_thoughts("<think>a<think>b</think>c</think>x");
        assert_eq!((thoughts.as_str(), content.as_str()), ("a<think>b</think>c", "x"));
    }

    // An unclosed think tag is content (contract A28).
    #[test]
    fn an_unclosed_block_is_content() {
        let (thoughts, content) = split_thoughts("x\n<think>{\"content\":1}");
        assert_eq!((thoughts.as_str(), content.as_str()), ("", "x\n{\"content\":1}"));
    }

    #[test]
    fn a_block_that_misses_one_closing_tag_ends_at_its_last_closing_tag() {
        let (thoughts, content) = split_thoughts("<think>a<think>b</think>x");
        assert_eq!((thoughts.as_str(), content.as_str()), ("a<think>b", "x"));
    }

    #[test]
    fn text_before_a_closing_tag_without_an_opening_tag_is_thoughts() {
        let (thoughts, content) = split_thoughts("so {x}\n</think>\ndone");
        assert_eq!((thoughts.as_str(), content.as_str()), ("so {x}", "done"));
    }

    #[test]
    fn an_answer_may_mention_the_tags() {
        for text in [
            "The tag `</think>` ends the thoughts.",
            "Write <think>a</think> around them.",
            "See `<think>`.\nAnd `</think>`.",
        ] {
            assert_eq!(split_thoughts(text), (String::new(), text.to_owned()));
            let (thoughts, content) = split_thoughts(&format!("<think>a</think>{text}"));
            assert_eq!((thoughts.as_str(), content.as_str()), ("a", text));
        }
    }
}
