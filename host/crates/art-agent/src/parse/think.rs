//! Think tags (P32).

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// What stands between thoughts of several blocks.
const BETWEEN: &str = "\n\n---\n\n";

/// Thoughts and the rest of `text`. Blocks nest. An opening tag that is never closed marks a reply that was cut, whose
/// text is content; a closing tag that comes first ends thoughts whose opening tag the provider left out.
pub(crate) fn split_thoughts(text: &str) -> (String, String) {
    let mut rest = text;
    let mut thoughts = Vec::new();
    let mut content = String::new();
    if let Some((before, after)) = text.split_once(CLOSE)
        && !before.contains(OPEN)
    {
        thoughts.push(before.trim());
        rest = after;
    }
    while let Some((before, after)) = rest.split_once(OPEN) {
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
    thoughts.retain(|thought| !thought.is_empty());
    (thoughts.join(BETWEEN), content.trim().to_owned())
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

    #[test]
    fn closed_blocks_are_joined() {
        let (thoughts, content) = split("<think>a</think>x<think>b</think>y");
        assert_eq!((thoughts.as_str(), content.as_str()), ("a\n\n---\n\nb", "xy"));
    }

    #[test]
    fn blocks_nest() {
        let (thoughts, content) = split("<think>a<think>b</think>c</think>x");
        assert_eq!((thoughts.as_str(), content.as_str()), ("a<think>b</think>c", "x"));
    }

    #[test]
    fn an_unclosed_block_is_content() {
        let (thoughts, content) = split("x <think>{\"content\":1}");
        assert_eq!((thoughts.as_str(), content.as_str()), ("", "x {\"content\":1}"));
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
}
