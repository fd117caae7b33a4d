//! Cuts texts for prompts, logs and messages, and makes them safe to print or to copy into a shell.

use std::borrow::Cow;

use serde::Serialize;

/// Default limit of [`safe_stringify`], in characters.
pub const DEFAULT_STRINGIFY_LIMIT: usize = 10_000;

/// Returns the longest prefix of `text` that has at most `max_chars` characters.
#[must_use]
pub fn prefix(text: &str, max_chars: usize) -> &str {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    }
}

/// Returns `text` as one word of a shell command, in quotes if it needs them.
#[must_use]
pub fn quote_for_shell(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:@%+=,]".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) && !text.starts_with('-') {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Returns `text`, or as many of its first sentences as fit into `max_chars` characters. If the first sentence is longer, it is
/// cut after a word and followed by `...`. If its first word alone is too long, the cut is inside that word. White space at the
/// beginning of the text is dropped.
#[must_use]
pub fn first_sentences(text: &str, max_chars: usize) -> Cow<'_, str> {
    let text = text.trim_start();
    let beginning = prefix(text, max_chars);
    if beginning.len() == text.len() {
        return Cow::Borrowed(text);
    }
    let ends_sentence = |(end, c): &(usize, char)| {
        let rest = text.get(end + c.len_utf8()..).unwrap_or_default();
        matches!(c, '.' | '!' | '?') && rest.starts_with(char::is_whitespace) || matches!(c, '。' | '\n')
    };
    if let Some((end, c)) = beginning.char_indices().rfind(ends_sentence) {
        return Cow::Borrowed(beginning.get(..end + c.len_utf8()).unwrap_or(beginning).trim_end());
    }
    shorten(text, max_chars)
}

/// Returns `text`, or if it is longer than `max_chars` characters, its beginning, cut after a word and followed by `...`. The cut is
/// inside a word if that is so long that the words before it are less than half of the beginning. White space around the text is
/// dropped.
#[must_use]
pub fn shorten(text: &str, max_chars: usize) -> Cow<'_, str> {
    let text = text.trim();
    let beginning = prefix(text, max_chars);
    let rest = text.get(beginning.len()..).unwrap_or_default();
    if rest.is_empty() {
        return Cow::Borrowed(text);
    }
    let last_word = beginning.rfind(char::is_whitespace);
    let word_end = match last_word.filter(|start| *start >= beginning.len() / 2) {
        Some(start) if !rest.starts_with(char::is_whitespace) => start,
        _ => beginning.len(),
    };
    let words = beginning.get(..word_end).unwrap_or(beginning).trim_end();
    Cow::Owned(format!("{}...", words.trim_end_matches([',', ':', ';'])))
}

/// Returns the longest prefix of `text` that has at most `max_bytes` bytes and does not split a character.
#[must_use]
pub fn byte_prefix(text: &str, max_bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(max_bytes)).unwrap_or(text)
}

/// Returns `text`, or if it is longer than `max_chars` characters, its beginning and a note of how much is missing
/// (contract P48): `... [truncated 120 of 1120 characters]`.
#[must_use]
pub fn truncate(text: &str, max_chars: usize) -> String {
    let beginning = prefix(text, max_chars);
    if beginning.len() == text.len() {
        return text.to_owned();
    }
    let total = text.chars().count();
    format!("{beginning}... [truncated {} of {total} characters]", total - max_chars)
}

/// Returns `value` as JSON text, cut like [`truncate`] does. A string is not quoted; a value that
/// cannot be serialised becomes `[stringify error]`.
#[must_use]
pub fn safe_stringify<T: Serialize + ?Sized>(value: &T, max_chars: usize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(text)) => truncate(&text, max_chars),
        Ok(value) => truncate(&value.to_string(), max_chars),
        Err(_) => "[stringify error]".to_owned(),
    }
}

/// Returns `text` with control characters, escape sequences, bidirectional overrides, unusual line separators and
/// zero-width characters escaped, so that a tool can neither control a terminal nor hide text in it (contract D14).
/// Newlines and tabs are kept.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        if is_unprintable(c) {
            out.extend(c.escape_unicode())
        } else {
            out.push(c)
        }
        out
    })
}

/// Returns `text` as [`printable`] does, for prose: the joiners and soft hyphens of words and the joiners of emoji are letters of
/// their script and stay. `before` is the character that was shown before the text, if any.
#[must_use]
pub fn readable(before: Option<char>, text: &str) -> String {
    let (mut before, mut chars) = (before, text.chars().peekable());
    let mut out = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        if is_unprintable(c) && !is_part_of_word(before, c, chars.peek().copied()) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
        before = Some(c);
    }
    out
}

/// Returns whether a character depends on those around it: [`readable`] shows it only between two letters or two emoji.
#[must_use]
pub const fn is_joiner(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200c}' | '\u{200d}')
}

/// Returns whether `c` between two characters is a soft hyphen in a word, a joiner in a word of a script that has joiners, or the
/// joiner of an emoji. In other places these characters hide something.
fn is_part_of_word(before: Option<char>, c: char, after: Option<char>) -> bool {
    let (Some(before), Some(after)) = (before, after) else {
        return false;
    };
    match c {
        '\u{ad}' => before.is_alphabetic() && after.is_alphabetic(),
        '\u{200c}' => has_joiners(before) && has_joiners(after),
        '\u{200d}' => has_joiners(before) && has_joiners(after) || is_emoji(before) && is_emoji(after),
        _ => false,
    }
}

/// Returns whether a character is of a script whose words have joiners: Arabic, Syriac, Mongolian, those of India and its
/// neighbours, Khmer and Myanmar.
const fn has_joiners(c: char) -> bool {
    matches!(
        c,
        '\u{620}'..='\u{74f}'
            | '\u{750}'..='\u{77f}'
            | '\u{8a0}'..='\u{8ff}'
            | '\u{900}'..='\u{df4}'
            | '\u{1000}'..='\u{109f}'
            | '\u{1780}'..='\u{17d3}'
            | '\u{1820}'..='\u{18aa}'
            | '\u{fb50}'..='\u{fdff}'
            | '\u{fe70}'..='\u{fefc}'
    )
}

/// Returns whether a character is an emoji, or the sign after one that asks for its picture.
const fn is_emoji(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{21ff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}')
}

/// Returns whether `text` is one line in which every character can be seen, so that it can be shown and copied as it is.
#[must_use]
pub fn is_printable_line(text: &str) -> bool {
    !text.contains(|c| is_unprintable(c) || c.is_control())
}

fn is_unprintable(c: char) -> bool {
    is_invisible(c) || (c.is_control() && c != '\n' && c != '\t')
}

/// Returns whether a character is an invisible format character, such as a soft hyphen, a direction mark, a zero-width character,
/// a line or paragraph separator, a language tag or an annotation mark.
const fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_shell_reads_a_quoted_text_as_one_word() {
        for text in [
            "plain",
            "",
            "{\"a\":1}",
            "it's",
            "'; echo injected; '",
            "'\\''",
            "$(echo a) `echo b` \"c\" !d",
            "~/*",
        ] {
            let script = format!("printf %s {}", quote_for_shell(text));
            let ran = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(ran.stdout).unwrap(), text, "{script}");
        }
    }

    #[test]
    fn white_space_before_the_first_sentence_is_dropped() {
        assert_eq!(first_sentences("\n Adds numbers. More.", 14), "Adds numbers.");
        assert_eq!(first_sentences(" aaaaaaaaaa", 5), "aaaaa...");
        assert_eq!(first_sentences("  ab cd", 5), "ab cd");
    }

    #[test]
    fn a_text_is_shortened_after_a_word() {
        assert_eq!(shorten(" one two ", 7), "one two");
        assert_eq!(shorten("one two three", 7), "one two...");
        assert_eq!(shorten("one, two three", 6), "one...");
        assert_eq!(shorten("a {\"b\":[1,2,3]}", 9), "a {\"b\":[1...");
        assert_eq!(shorten("äöüäöü", 3), "äöü...");
        assert_eq!(shorten("one", 0), "...");
    }

    #[test]
    fn a_cut_text_states_how_much_was_cut() {
        assert_eq!(truncate("abcdef", 4), "abcd... [truncated 2 of 6 characters]");
    }

    #[test]
    fn text_within_the_limit_is_untouched() {
        assert_eq!(truncate("äöü", 3), "äöü");
    }

    #[test]
    fn text_is_not_quoted_and_data_is_json() {
        assert_eq!(safe_stringify("plain", 10), "plain");
        assert_eq!(safe_stringify(&vec![0, 1], 10), "[0,1]");
    }

    #[test]
    fn cut_data_states_how_much_was_cut() {
        let json = format!("[{}]", vec!["0"; 10_000].join(","));
        let cut = safe_stringify(&vec![0; 10_000], DEFAULT_STRINGIFY_LIMIT);
        let marker = "... [truncated 10001 of 20001 characters]";
        assert_eq!(cut, format!("{}{marker}", prefix(&json, 10_000)));
    }

    #[test]
    fn a_cut_counts_characters_and_not_bytes() {
        assert_eq!(truncate("äöü🦀", 3), "äöü... [truncated 1 of 4 characters]");
        assert_eq!(truncate("äöü", 0), "... [truncated 3 of 3 characters]");
        assert_eq!(truncate("", 0), "");
    }

    #[test]
    fn bytes_are_cut_before_a_character_that_does_not_fit() {
        assert_eq!(byte_prefix("a🦀b", 4), "a");
        assert_eq!(byte_prefix("a🦀b", 5), "a🦀");
    }

    #[test]
    fn a_value_that_cannot_be_serialised_is_replaced_by_a_note() {
        assert_eq!(safe_stringify(&BTreeMap::from([((1, 2), 3)]), 100), "[stringify error]");
        // A `RefCell` that is mutably borrowed cannot be serialised.
        let cell = RefCell::new(1);
        let _borrowed = cell.borrow_mut();
        assert_eq!(safe_stringify(&cell, 100), "[stringify error]");
    }

    #[test]
    fn terminal_escapes_become_visible() {
        assert_eq!(printable("a\u{1b}]52;c;x\u{7}\nb"), "a\\u{1b}]52;c;x\\u{7}\nb");
    }

    #[test]
    fn control_and_format_characters_become_visible() {
        for control in ["\0", "\u{8}", "\r", "\u{7f}", "\u{9b}", "\u{61c}", "\u{fffa}"] {
            assert_eq!(printable(control), control.escape_unicode().to_string());
        }
    }

    #[test]
    fn invisible_characters_become_visible() {
        let marks = [
            '\u{200b}'..='\u{200f}',
            '\u{2028}'..='\u{202e}',
            '\u{2060}'..='\u{2069}',
        ];
        let others = ['\u{ad}', '\u{180e}', '\u{feff}', '\u{e0001}', '\u{e0041}'];
        for c in marks.into_iter().flatten().chain(others) {
            assert_eq!(printable(&format!("a{c}b")), format!("a{}b", c.escape_unicode()));
        }
    }

    #[test]
    fn joiners_and_soft_hyphens_of_words_and_emoji_are_readable() {
        for text in [
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "Donau\u{ad}dampf\u{ad}schiff",
            "👩🏽\u{200d}💻 ❤\u{fe0f}\u{200d}🔥",
        ] {
            assert_eq!(readable(None, text), text);
        }
        assert_eq!(readable(Some('ی'), "\u{200c}خ"), "\u{200c}خ");
        assert_eq!(readable(None, "\u{200c}خ"), "\\u{200c}خ");
    }

    #[test]
    fn what_hides_or_turns_text_is_escaped_in_prose_too() {
        for text in [
            "pay\u{200d}pal",
            "a\u{200c}b",
            "1\u{ad}2",
            "a\u{ad}\u{ad}b",
            "خ\u{200c}",
            "a\u{202e}b",
            "a\u{200b}b",
            "\u{1b}[2J",
        ] {
            let shown = readable(None, text);
            assert!(!shown.contains(|c| is_unprintable(c) && c != '\u{ad}'), "{shown:?}");
            assert!(shown.contains('\\'), "{shown:?}");
        }
    }

    #[test]
    fn ordinary_text_is_not_escaped() {
        let text = "one\ttwo\nthree äöü 漢字 עברית 🦀 \\u{1b}";
        assert_eq!(printable(text), text);
    }

    proptest! {
        #[test]
        fn a_prefix_never_splits_a_character(text in ".{0,40}", limit in 0usize..60) {
            prop_assert!(prefix(&text, limit).chars().count() <= limit);
            prop_assert!(byte_prefix(&text, limit).len() <= limit);
            prop_assert!(text.starts_with(prefix(&text, limit)));
            prop_assert!(text.starts_with(byte_prefix(&text, limit)));
        }

        #[test]
        fn a_text_that_is_too_long_is_cut_to_its_beginning_and_a_note(text in ".{0,40}", limit in 0usize..60) {
            let total = text.chars().count();
            let expected = match total.checked_sub(limit) {
                None | Some(0) => text.clone(),
                Some(cut) => format!("{}... [truncated {cut} of {total} characters]", prefix(&text, limit)),
            };
            prop_assert_eq!(truncate(&text, limit), expected.clone());
            prop_assert_eq!(safe_stringify(&text, limit), expected);
        }

        #[test]
        fn printable_text_has_no_unprintable_character(text in any::<String>()) {
            let shown = printable(&text);
            prop_assert!(!shown.contains(is_unprintable));
            prop_assert_eq!(printable(&shown), shown);
            prop_assert!(!readable(None, &text).contains(|c| is_unprintable(c) && !is_joiner(c)));
        }
    }
}
