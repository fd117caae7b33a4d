//! The few words that the model knows without an example: those without content, those that refer to an earlier result, and
//! those that begin another part.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use itertools::Itertools;

use crate::token::{Token, beginnings, stem, stems};

/// Words of English grammar and politeness that a question may have or lack. None of them asks, limits, negates or names
/// anything. Words of other languages are known from the examples alone.
const FUNCTIONAL: [&str; 61] = [
    "a", "an", "the", "is", "are", "was", "were", "be", "am", "do", "does", "did", "can", "could", "will", "would",
    "you", "i", "me", "my", "we", "us", "our", "your", "please", "tell", "give", "show", "let", "want", "need", "like",
    "know", "to", "of", "in", "on", "at", "for", "from", "by", "with", "into", "and", "there", "have", "has", "so",
    "hi", "hey", "hello", "ok", "okay", "pls", "thanks", "also", "just", "all", "every", "these", "attached",
];

static FUNCTIONAL_STEMS: LazyLock<BTreeSet<String>> =
    LazyLock::new(|| FUNCTIONAL.iter().map(|word| stem(word)).collect());

/// Words that refer to the result of the part before.
const REFERENCES: &str = "the result|the answer|that result|this result|result|that|it|this";

/// Words between two parts of a question, the longest first.
pub(crate) const CONNECTIVES: [&str; 6] = [", and then ", " and then ", ", then ", " then ", ", and ", " and "];

/// Returns whether a word with that stem has no content.
pub(crate) fn is_functional(stem: &str) -> bool {
    FUNCTIONAL_STEMS.contains(stem)
}

/// Returns how many tokens at the beginning of `tokens` refer to an earlier result.
pub(crate) fn is_reference(tokens: &[Token]) -> Option<usize> {
    let is_reference = |words: &[Token]| REFERENCES.split('|').contains(&stems(words).as_str());
    let reference = beginnings(tokens, 2).find(|words| is_reference(words));
    reference.map(<[Token]>::len)
}
