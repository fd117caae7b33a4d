//! Think tags (P32).

pub(super) const OPEN: &str = "<think>";
pub(super) const CLOSE: &str = "</think>";

/// What stands between thoughts of several blocks.
const BETWEEN: &str = "\n\n---\n\n";

/// Thoughts and the rest of `text`. A block begins at the start of a line, so that an answer may speak of the tags, and
/// blocks nest. An opening tag that is never closed marks a reply that was cut, whose text is content; a closing tag at the
/// start of a line that comes first ends thoughts whose opening tag the provider left out.
pub(crate) fn split_thoughts(text: &str) -> (String, String) {
    let (first, rest) = match split_at_tag(text, &[OPEN, CLOSE]) {
        Some((before, CLOSE, after)) => (Some(before.trim()), after),
        _ => (None, text),
    };
    let (blocks, content) = without_blocks(rest);
    let thoughts = first.into_iter().chain(blocks).filter(|thought| !thought.is_empty());
    (thoughts.collect::<Vec<_>>().join(BETWEEN), content.trim().to_owned())
}

/// The blocks of `text`, each trimmed, and what stands around them.
pub(super) fn without_blocks(text: &str) -> (Vec<&str>, String) {
    let mut rest = text;
    let mut thoughts = Vec::new();
    let mut content = String::new();
    while let Some((before, _, after)) = split_at_tag(rest, &[OPEN]) {
        content.push_str(before);
        let Some(end) = block_end(after) else {
            rest = after;
            break;
        };
        let (block, tail) = after.split_at_checked(end).unwrap_or((after, ""));
        thoughts.push(block.trim());
        rest = tail.strip_prefix(CLOSE).unwrap_or(tail);
    }
    content.push_str(rest);
    (thoughts, content)
}

/// What stands before and behind the first of `tags` at the start of a line, as which the beginning of `text` counts.
fn split_at_tag<'a>(text: &'a str, tags: &[&'static str]) -> Option<(&'a str, &'static str, &'a str)> {
    text.match_indices('<').find_map(|(at, _)| {
        let (before, tail) = text.split_at_checked(at)?;
        let tag = tags.iter().find(|tag| tail.starts_with(**tag))?;
        let after = tail.get(tag.len()..)?;
        is_line_start(before, true).then_some((before, *tag, after))
    })
}

/// Whether nothing but white space stands behind the last line end of `before`; without one, it has to be `blank_before`.
pub(super) fn is_line_start(before: &str, blank_before: bool) -> bool {
    let words = before.trim_end_matches(|c: char| c != '\n' && c.is_whitespace());
    words.ends_with('\n') || (words.is_empty() && blank_before)
}

/// Where the closing tag of a block begins: the matching one, or the last one when some are missing.
fn block_end(text: &str) -> Option<usize> {
    let mut depth = 1_usize;
    let mut last_close = None;
    let tags = text.match_indices('<').filter_map(|(at, _)| {
        let tail = text.get(at..)?;
        let opens = tail.starts_with(OPEN);
        (opens || tail.starts_with(CLOSE)).then_some((at, opens))
    });
    for (at, opens) in tags {
        if opens {
            depth += 1;
        } else {
            last_close = Some(at);
            depth -= 1;
        }
        if depth == 0 {
            break;
        }
    }
    last_close
}

#[cfg(test)]
mod tests {
    use super::split_thoughts;

    fn split(text: &str) -> (String, String) {
        split_thoughts(text)
    }

    // A28
    #[test]
    fn closed_blocks_are_joined() {
        let (thoughts, content) = split("<think>a</think>x\n <think>b</think>y");
        assert_eq!((thoughts.as_str(), content.as_str()), ("a\n\n---\n\nb", "x\n y"));
    }

    // A28
    #[test]
    fn blocks_nest() {
        let (thoughts, content) = split("<think>a<think>b</think>c</think>x");
        assert_eq!((thoughts.as_str(), content.as_str()), ("a<think>b</think>c", "x"));
    }

    // A28
    #[test]
    fn an_unclosed_block_is_content() {
        let (thoughts, content) = split("x\n<think>{\"content\":1}");
        assert_eq!((thoughts.as_str(), content.as_str()), ("", "x\n{\"content\":1}"));
    }

    #[test]
    fn a_block_that_misses_one_closing_tag_ends_at_the_last_one() {
        let (thoughts, content) = split("<think>a<think>b</think>x");
        assert_eq!((thoughts.as_str(), content.as_str()), ("a<think>b", "x"));
    }

    #[test]
    fn a_closing_tag_that_comes_first_ends_thoughts() {
        let (thoughts, content) = split("so {x}\n</think>\ndone");
        assert_eq!((thoughts.as_str(), content.as_str()), ("so {x}", "done"));
    }

    #[test]
    fn an_answer_may_speak_of_the_tags() {
        for text in [
            "The tag `</think>` ends the thoughts.",
            "Write <think>a</think> around them.",
            "See `<think>`.\nAnd `</think>`.",
        ] {
            assert_eq!(split(text), (String::new(), text.to_owned()));
            let (thoughts, content) = split(&format!("<think>a</think>{text}"));
            assert_eq!((thoughts.as_str(), content.as_str()), ("a", text));
        }
    }
}
