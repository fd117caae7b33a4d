//! Words with one wrong letter, told by the words of the tools on offer.

use std::collections::HashSet;

use super::lexicon::CONFUSED;
use super::reading::Reading;
use super::schema::Tool;
use super::token::Token;
use super::words;

/// Shorter words are too near to each other.
const SHORTEST: usize = 5;
/// Words of one text that are corrected.
const CORRECTIONS: usize = 2;
/// Tokens of a text beyond which it is no question with a typo in it.
const TOKENS: usize = 200;
/// Words of all tools that are kept.
const WORDS: usize = 20_000;

/// The words of the tools on offer.
#[derive(Debug, Default)]
pub(super) struct Spelling {
    words: Vec<String>,
    stems: HashSet<String>,
}

/// A text without its typos.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Corrected {
    pub(super) text: String,
    /// Stems of the words that were put right.
    pub(super) stems: Vec<String>,
}

impl Spelling {
    /// The words of `tools`.
    pub(super) fn new(tools: &[Tool]) -> Self {
        let names = tools
            .iter()
            .flat_map(|tool| std::iter::once(&tool.name).chain(tool.params.iter().map(|param| &param.name)));
        let texts = names.chain(tools.iter().map(|tool| &tool.shown));
        let mut words: Vec<String> = texts.flat_map(|text| words::split(text)).take(WORDS).collect();
        // "flights" is asked for as "flight" too.
        let singular: Vec<String> = words
            .iter()
            .filter_map(|word| word.strip_suffix('s').map(ToOwned::to_owned))
            .collect();
        words.extend(singular);
        words.sort();
        words.dedup();
        let stems = words.iter().map(|word| words::stem(word)).collect();
        words.retain(|word| word.chars().count() >= SHORTEST && word.chars().all(char::is_alphabetic));
        Self { words, stems }
    }

    /// `reading` with each unknown word that is one letter off exactly one word of the tools put right; none when there
    /// is none, or so many that the text is about something else.
    pub(super) fn corrected(&self, reading: &Reading) -> Option<Corrected> {
        if reading.tokens.len() > TOKENS {
            return None;
        }
        let fixes: Vec<(&Token, &String)> = reading
            .tokens
            .iter()
            .enumerate()
            .filter(|(index, token)| self.may_be_wrong(token, reading.is_sentence_start(*index)))
            .filter_map(|(_, token)| Some((token, self.nearest(&token.lower())?)))
            .take(CORRECTIONS + 1)
            .collect();
        if fixes.is_empty() || fixes.len() > CORRECTIONS {
            return None;
        }
        let mut text = reading.text.clone();
        for (token, word) in fixes.iter().rev() {
            text.replace_range(token.start..token.end, word);
        }
        let stems = fixes.iter().map(|(_, word)| words::stem(word)).collect();
        Some(Corrected { text, stems })
    }

    /// A word that neither the tools nor the model know, and that is no name.
    fn may_be_wrong(&self, token: &Token, starts_sentence: bool) -> bool {
        let lower = token.lower();
        let known = self.stems.contains(&words::stem(&lower))
            || words::is_known(&lower)
            || CONFUSED.binary_search(&lower.as_str()).is_ok();
        token.is_word()
            && lower.chars().count() >= SHORTEST
            && lower.chars().all(char::is_alphabetic)
            && (starts_sentence || !token.is_capitalised())
            && !known
    }

    fn nearest(&self, wrong: &str) -> Option<&String> {
        let near: Vec<&String> = self.words.iter().filter(|word| is_one_off(wrong, word)).collect();
        let first = *near.first()?;
        let same = near.iter().all(|word| words::stem(word) == words::stem(first));
        same.then_some(first)
    }
}

/// Whether one letter is missing, added, wrong or swapped with its neighbour. People rarely miss the first one.
fn is_one_off(a: &str, b: &str) -> bool {
    if a.chars().next() != b.chars().next() || a.len().abs_diff(b.len()) > 2 || a == b {
        return false;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let head = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (a, b) = (a.get(head..).unwrap_or_default(), b.get(head..).unwrap_or_default());
    match (a, b) {
        ([_, rest @ ..], [_, other @ ..]) if rest == other => true,
        ([_, rest @ ..], b) if rest == b => true,
        (a, [_, rest @ ..]) if rest == a => true,
        ([first, second, rest @ ..], [third, fourth, other @ ..]) => {
            first == fourth && second == third && rest == other
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn corrected(text: &str) -> Option<String> {
        let tool = json!({"name": "convert_units", "description": "Converts a measurement. Knows temperature, parcel and parcels."});
        let spelling = Spelling::new(&[Tool::read(&tool)]);
        spelling.corrected(&Reading::new(text)).map(|corrected| corrected.text)
    }

    #[test]
    fn one_letter_is_put_right() {
        for wrong in ["convrt", "convvert", "canvert", "covnert"] {
            assert_eq!(
                corrected(&format!("{wrong} 5 km")).as_deref(),
                Some("convert 5 km"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn other_words_names_and_known_words_stay() {
        for text in [
            "cnovret 5 km",
            "a concert in Rome",
            "ask Convart about it",
            "onvert 5 km",
            "units",
            "convert",
        ] {
            assert_eq!(corrected(text), None, "{text}");
        }
    }

    #[test]
    fn a_text_with_many_wrong_words_and_a_long_one_stay() {
        assert_eq!(corrected("convrt the parcel temperatuer to measuremnt"), None);
        assert_eq!(corrected(&"convrt ".repeat(2)).as_deref(), Some("convert convert "));
        assert_eq!(corrected(&format!("convrt {}", "a ".repeat(TOKENS))), None);
    }

    #[test]
    fn forms_of_one_word_are_one_word() {
        assert_eq!(corrected("track the parcesl").as_deref(), Some("track the parcel"));
    }

    proptest::proptest! {
        #[test]
        fn one_off_goes_both_ways(a in "[ab]{0,6}", b in "[ab]{0,6}") {
            proptest::prop_assert_eq!(is_one_off(&a, &b), is_one_off(&b, &a));
            proptest::prop_assert!(!is_one_off(&a, &a));
        }
    }
}
