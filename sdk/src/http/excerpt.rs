//! The beginning of what a server says, for an error message.

/// Maximum length of an excerpt, in characters, without the mark at its end.
const MAX_CHARS: usize = 500;

/// Returns the beginning of a text from a server as one line for an error message: at most 500 characters, and `..` if the text is
/// longer. It is cut between two words, unless a word is so long that less than half of the line would be left.
///
/// White space and control characters become single spaces, and characters that change the direction of the text are left out, so
/// that the text can neither control a terminal nor hide a part of itself.
#[must_use]
pub fn excerpt(text: &str) -> String {
    let visible = text.chars().filter(|c| !changes_direction(*c));
    let plain: String = visible.map(|c| if c.is_control() { ' ' } else { c }).collect();
    let (mut line, mut chars_left) = (String::new(), MAX_CHARS);
    for word in plain.split_whitespace() {
        let space = if line.is_empty() { "" } else { " " };
        let length = space.len() + word.chars().count();
        if length > chars_left {
            return cut(line + space, word, chars_left);
        }
        line.push_str(space);
        line.push_str(word);
        chars_left -= length;
    }
    line
}

/// Ends a line that has no space for the whole `word`.
fn cut(mut line: String, word: &str, chars_left: usize) -> String {
    if chars_left > MAX_CHARS / 2 {
        let space_taken = usize::from(line.ends_with(' '));
        line.extend(word.chars().take(chars_left.saturating_sub(space_taken)));
    }
    line + ".."
}

/// Returns whether a character makes the text around it run in another direction.
const fn changes_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_short_text_is_one_line_without_control_characters() {
        assert_eq!(excerpt(" no row\r\n\t7 "), "no row 7");
        assert_eq!(excerpt("a\u{1b}[31mb\0c\u{202e}d\u{9b}"), "a [31mb cd");
        assert_eq!(excerpt(" \n"), "");
    }

    #[test]
    fn a_text_of_exactly_the_maximum_length_is_not_cut() {
        let text = format!("{}x", "abc ".repeat(MAX_CHARS / 4 - 1)) + "yzw";
        assert_eq!((text.len(), excerpt(&text)), (MAX_CHARS, text.clone()));
        assert_eq!(excerpt(&format!("{text}\n")), text);
    }

    #[test]
    fn a_long_text_is_cut_between_two_words() {
        let excerpt = excerpt(&"word ".repeat(1000));
        let words = excerpt.strip_suffix(" ..").unwrap();
        assert!(words.split(' ').all(|word| word == "word"), "{excerpt}");
        assert_eq!(words.chars().count(), MAX_CHARS - 1);
    }

    #[test]
    fn a_long_word_is_cut_between_two_characters() {
        let crabs = "\u{1f980}".repeat(1000);
        assert_eq!(excerpt(&crabs), "\u{1f980}".repeat(MAX_CHARS) + "..");
        let line = excerpt(&format!("Error: {crabs}"));
        assert!(
            line.starts_with("Error: \u{1f980}") && line.ends_with("\u{1f980}.."),
            "{line}"
        );
        assert_eq!(line.chars().count(), MAX_CHARS + 2);
        let kept_words = "word ".repeat(60);
        assert_eq!(excerpt(&format!("{kept_words}{crabs}")), format!("{kept_words}.."));
    }

    proptest! {
        #[test]
        fn an_excerpt_of_any_text_is_short_and_has_no_control_characters(text in "\\PC{0,3}[\\PC\\p{Cc} ]{0,700}") {
            let line = excerpt(&text);
            prop_assert!(line.chars().count() <= MAX_CHARS + 3);
            prop_assert!(!line.contains(|c: char| c.is_control() || changes_direction(c)));
        }
    }
}
