//! The few words that the model knows without an example: those without content, those that refer to an earlier result, and
//! those that begin another part.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use itertools::Itertools;

use crate::token::{Kind, Token, beginnings, stem, stems};

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

/// Words that ask or negate. A slot for plain words never takes one of them.
const ASKING_OR_NEGATING: [&str; 10] = [
    "not", "no", "never", "what", "which", "who", "how", "when", "where", "why",
];

/// Words that refer to the result of the part before.
const REFERENCES: &str = "the result|the answer|that result|this result|result|that|it|this";

/// Words between two parts of a question, the longest first.
pub(crate) const CONNECTIVES: [&str; 6] = [", and then ", " and then ", ", then ", " then ", ", and ", " and "];

/// Returns whether a word with that stem has no content.
pub(crate) fn is_functional(stem: &str) -> bool {
    FUNCTIONAL_STEMS.contains(stem)
}

/// Returns whether a word with that stem points to the noun after it. `that` refers to an earlier result instead.
pub(crate) fn is_pointing(stem: &str) -> bool {
    matches!(stem, "this" | "these")
}

/// Returns whether a token is a plain word: one with content that neither asks, negates nor refers.
pub(crate) fn is_plain(token: &Token) -> bool {
    let is_closed = is_functional(&token.stem) || ASKING_OR_NEGATING.contains(&token.stem.as_str());
    token.kind == Kind::Word && !is_closed && reference_length(std::slice::from_ref(token)).is_none()
}

/// Returns whether a word with that stem is an article.
pub(crate) fn is_article(stem: &str) -> bool {
    matches!(stem, "a" | "an" | "the")
}

/// Returns how many tokens at the beginning of `tokens` refer to an earlier result.
pub(crate) fn reference_length(tokens: &[Token]) -> Option<usize> {
    let refers = |words: &[Token]| REFERENCES.split('|').contains(&stems(words).as_str());
    let reference = beginnings(tokens, 2).find(|words| refers(words))?;
    // "this file" points to the file, not to a result.
    let is_noun = |next: &Token| next.kind == Kind::Word && !is_functional(&next.stem);
    let points = matches!(reference, [word] if is_pointing(&word.stem)) && tokens.get(1).is_some_and(is_noun);
    (!points).then_some(reference.len())
}
