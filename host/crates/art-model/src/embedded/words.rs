//! Words as the router compares them: stems, words without content, and words that mean the same.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};

use super::lexicon::{ALIKE, EMPTY, GENERIC, VERBS};

/// Stems that a thread remembers: tools repeat their words from call to call.
const REMEMBERED: usize = 20_000;

/// The stem of one lower-case word.
pub(super) fn stem(word: &str) -> String {
    thread_local! {
        static STEMS: RefCell<HashMap<String, String>> = RefCell::default();
    }
    let word = word.trim_end_matches("'s").trim_end_matches("’s");
    STEMS.with_borrow_mut(|stems| {
        if let Some(stem) = stems.get(word) {
            return stem.clone();
        }
        let stem = Stemmer::create(Algorithm::English).stem(word).into_owned();
        if stems.len() < REMEMBERED && word.len() <= 40 {
            stems.insert(word.to_owned(), stem.clone());
        }
        stem
    })
}

/// Whether the lower-case `word` says nothing about what is wanted.
pub(super) fn is_empty(word: &str) -> bool {
    EMPTY.binary_search(&word).is_ok()
}

/// Whether the lower-case `word` opens a request.
pub(super) fn is_imperative(word: &str) -> bool {
    VERBS.binary_search(&word).is_ok()
}

/// Whether the lower-case `word` fits every tool.
pub(super) fn is_generic(word: &str) -> bool {
    GENERIC.binary_search(&word).is_ok() || GENERIC.binary_search(&word.trim_end_matches('s')).is_ok()
}

/// Whether the lower-case `word` is one that the model knows by itself.
pub(super) fn is_known(word: &str) -> bool {
    is_empty(word) || is_generic(word) || is_imperative(word) || !sets_of(&stem(word)).is_empty()
}

/// The words of a text or of an identifier (`snake_case`, `camelCase`, `dotted.names`), in lower case.
pub(super) fn split(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in text.chars() {
        let boundary = c.is_uppercase() && before.is_lowercase();
        if boundary || !(c.is_alphanumeric() || c == '\'' || c == '’') {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The stems of the words of `text` that have content.
pub(super) fn stems(text: &str) -> Vec<String> {
    split(text)
        .iter()
        .filter(|word| !is_empty(word))
        .map(|word| stem(word))
        .collect()
}

/// How alike two stems are: 1 for the same word, less for words that mean much the same or share a long beginning.
pub(super) fn likeness(a: &str, b: &str) -> f32 {
    if a == b {
        return 1.0;
    }
    let (of_a, of_b) = (sets_of(a), sets_of(b));
    if of_a.iter().any(|set| of_b.contains(set)) {
        return 0.7;
    }
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    if short.len() >= 4 && long.starts_with(short) {
        return 0.6;
    }
    let common = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    if common >= 5 && common + 4 >= a.len().max(b.len()) {
        0.6
    } else {
        0.0
    }
}

/// The best likeness of `word` to any of `words`.
pub(super) fn best_likeness<'a>(word: &str, words: impl IntoIterator<Item = &'a String>) -> f32 {
    words.into_iter().map(|other| likeness(word, other)).fold(0.0, f32::max)
}

/// The stems that mean much the same as `stem`.
pub(super) fn alike(stem: &str) -> impl Iterator<Item = &'static str> {
    sets_of(stem)
        .iter()
        .filter_map(|set| ALIKE.get(*set))
        .flat_map(|set| set.iter().copied())
}

/// The sets of [`ALIKE`] that hold `stem`.
fn sets_of(stem: &str) -> &'static [usize] {
    static SETS: LazyLock<HashMap<&'static str, Vec<usize>>> = LazyLock::new(|| {
        let mut sets: HashMap<&'static str, Vec<usize>> = HashMap::new();
        for (index, set) in ALIKE.iter().enumerate() {
            for stem in *set {
                sets.entry(stem).or_default().push(index);
            }
        }
        sets
    });
    SETS.get(stem).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_lists_are_sorted_for_the_search() {
        let confused = super::super::lexicon::CONFUSED;
        assert!([EMPTY, GENERIC, VERBS, confused].iter().all(|list| list.is_sorted()));
    }

    #[test]
    fn identifiers_and_sentences_split_alike() {
        assert_eq!(split("get_stockPrice.byDate"), ["get", "stock", "price", "by", "date"]);
        assert_eq!(split("What's the price?"), ["whats", "the", "price"]);
    }

    #[test]
    fn words_that_mean_the_same_are_alike() {
        assert!(likeness("price", "cost") > 0.5);
        assert!(likeness("translat", "translation") > 0.5);
        assert!(likeness("price", "princ") < 0.1);
    }
}
