//! The few words that the model knows without an example: those without content, those that refer to an earlier result, and
//! those that begin another part.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::token::{Kind, Token, beginnings, stems, texts, tokens};

/// Words of English grammar and politeness, and phrases of conversation, that a question may have or lack, one a line. None of
/// them limits, negates or names anything. Words of other languages are known from the examples alone.
static CONVERSATION: LazyLock<BTreeSet<String>> = LazyLock::new(|| phrases(include_str!("conversation.txt")));

/// Nouns for a text as a whole, one a line. A question may call an attachment by any of them.
static DOCUMENTS: LazyLock<BTreeSet<String>> = LazyLock::new(|| phrases(include_str!("documents.txt")));

/// Words with which a remark begins, one a line: `it's for my sister`.
static REMARKS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| include_str!("remarks.txt").lines().collect());

/// Words that limit, negate or ask for something, one a line. No remark has one of them.
static LIMITS: LazyLock<BTreeSet<String>> = LazyLock::new(|| phrases(include_str!("limits.txt")));

/// Maximum number of words with which a remark begins.
const MAX_REMARK: usize = 4;

/// Maximum number of words in a phrase of conversation.
const MAX_CONVERSATION: usize = 7;

/// Returns the stems of each line.
fn phrases(lines: &str) -> BTreeSet<String> {
    lines.lines().map(|line| stems(&tokens(line, &[]))).collect()
}

/// Stems of words that ask or negate. A slot for plain words never takes one of them.
const ASKING_OR_NEGATING: [&str; 12] = [
    "not", "no", "never", "what", "which", "who", "how", "mani", "much", "when", "where", "whi",
];

/// Words that refer to the result of the part before.
const REFERENCES: &str = "the result|the answer|that result|this result|result|that|it|this";

/// Words between two parts of a question, the longest first.
pub(crate) const CONNECTIVES: [&str; 6] = [", and then ", " and then ", ", then ", " then ", ", and ", " and "];

/// Returns whether a word with that stem has no content.
pub(crate) fn is_functional(stem: &str) -> bool {
    CONVERSATION.contains(stem)
}

/// Returns how many tokens at the beginning of `tokens` are a phrase of conversation, or with a file a noun for it.
pub(crate) fn phrase_length(tokens: &[Token], has_file: bool) -> Option<usize> {
    let is_free = |words: &[Token]| {
        let words = stems(words);
        CONVERSATION.contains(&words) || (has_file && DOCUMENTS.contains(&words))
    };
    let phrase = beginnings(tokens, MAX_CONVERSATION).find(|words| is_free(words))?;
    Some(phrase.len())
}

/// Returns how many tokens at the beginning of `tokens` begin a remark: all of them if none has content.
pub(crate) fn remark_length(tokens: &[Token]) -> Option<usize> {
    let begins = |words: &&[Token]| REMARKS.contains(texts(words).to_lowercase().replace('’', "'").as_str());
    let phrase = beginnings(tokens, MAX_REMARK).find(begins);
    let is_empty = |token: &Token| token.kind == Kind::Mark || is_functional(token.word());
    let empty = tokens.iter().all(is_empty).then_some(tokens.len());
    phrase.map(<[_]>::len).or(empty)
}

/// Returns whether a word with that stem limits, negates or asks for something.
pub(crate) fn is_limiting(stem: &str) -> bool {
    LIMITS.contains(stem)
}

/// Returns whether a word with that stem points to the noun after it. `that` refers to an earlier result instead.
pub(crate) fn is_pointing(stem: &str) -> bool {
    matches!(stem, "this" | "these")
}

/// Returns whether a token is a plain word: one with content that neither asks, negates nor refers.
pub(crate) fn is_plain(token: &Token) -> bool {
    token.kind == Kind::Word && is_content(&token.stem) && reference_length(std::slice::from_ref(token)).is_none()
}

/// Returns whether a word with that stem has content, and neither asks nor negates.
pub(crate) fn is_content(stem: &str) -> bool {
    !is_functional(stem) && !ASKING_OR_NEGATING.contains(&stem)
}

/// Returns whether a word with that stem is an article.
pub(crate) fn is_article(stem: &str) -> bool {
    matches!(stem, "a" | "an" | "the")
}

/// Returns how many tokens at the beginning of `tokens` refer to an earlier result.
pub(crate) fn reference_length(tokens: &[Token]) -> Option<usize> {
    let refers = |words: &[Token]| REFERENCES.split('|').any(|one| one == stems(words));
    let reference = beginnings(tokens, 2).find(|words| refers(words))?;
    // "this file" points to the file, not to a result.
    let is_noun = |next: &Token| next.kind == Kind::Word && !is_functional(&next.stem);
    let points = matches!(reference, [word] if is_pointing(&word.stem)) && tokens.get(1).is_some_and(is_noun);
    (!points).then_some(reference.len())
}
