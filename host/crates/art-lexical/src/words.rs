//! The few words that the model knows without an example: those without content, and those that refer to an earlier result.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::token::{Token, TokenKind, beginnings, token_stems, tokenise};

/// Words of English grammar and politeness, and phrases of conversation, that a question may have or lack, one on each line. None
/// of them limits, negates or names anything. Words of other languages are known from the examples alone.
static CONVERSATION: LazyLock<BTreeSet<String>> = LazyLock::new(|| stems_of_lines(include_str!("conversation.txt")));

/// Nouns for a text as a whole, one on each line. A question may call an attachment by any of them.
static DOCUMENT_NOUNS: LazyLock<BTreeSet<String>> = LazyLock::new(|| stems_of_lines(include_str!("documents.txt")));

/// Maximum number of words in a phrase of conversation.
const MAX_PHRASE_WORDS: usize = 7;

fn stems_of_lines(lines: &str) -> BTreeSet<String> {
    lines.lines().map(|line| token_stems(&tokenise(line, &[]))).collect()
}

/// Returns whether a word with that stem is one of grammar or politeness.
pub(crate) fn is_function_word(stem: &str) -> bool {
    CONVERSATION.contains(stem)
}

/// Returns whether a word with that stem (`mani` is "many") is a question word, which asks for something only with other words.
pub(crate) fn is_question_word(stem: &str) -> bool {
    matches!(
        stem,
        "how" | "mani" | "much" | "what" | "which" | "who" | "when" | "where"
    )
}

/// Returns whether a word with that stem has content. Nouns for a text and words that refer to a result have none.
pub(crate) fn is_content_stem(stem: &str) -> bool {
    !is_function_word(stem) && !DOCUMENT_NOUNS.contains(stem) && !is_reference(stem)
}

/// Returns the length of the phrase of conversation at the beginning of `tokens`. A noun for a text, such as `report`,
/// is such a phrase too if there is an attachment, or if a path or an address follows.
pub(crate) fn phrase_length(tokens: &[Token], has_attachment: bool) -> Option<usize> {
    let is_path_or_url = |next: &Token| matches!(next.kind, TokenKind::Path | TokenKind::Url);
    let is_phrase = |words: &&[Token]| {
        let is_named = tokens.get(words.len()).is_some_and(is_path_or_url);
        let words = token_stems(words);
        CONVERSATION.contains(&words) || ((has_attachment || is_named) && DOCUMENT_NOUNS.contains(&words))
    };
    Some(beginnings(tokens, MAX_PHRASE_WORDS).find(is_phrase)?.len())
}

/// Returns whether words with these stems refer to an earlier result.
fn is_reference(words: &str) -> bool {
    matches!(
        words,
        "the result" | "the answer" | "that result" | "this result" | "result" | "that" | "it" | "this"
    )
}

pub(crate) fn is_content_word(token: &Token) -> bool {
    token.kind == TokenKind::Word && is_content_stem(&token.stem)
}

/// Returns whether a word with that stem is an article, which no pattern has.
pub(crate) fn is_article(stem: &str) -> bool {
    matches!(stem, "a" | "an" | "the")
}

/// Returns how many tokens at the beginning of `tokens` refer to an earlier result, if any do. In "this file", none does.
pub(crate) fn reference_length(tokens: &[Token]) -> Option<usize> {
    let reference = beginnings(tokens, 2).find(|words| is_reference(&token_stems(words)))?;
    let is_noun = |next: &Token| next.kind == TokenKind::Word && !is_function_word(&next.stem);
    let is_determiner = matches!(reference, [word] if word.stem == "this") && tokens.get(1).is_some_and(is_noun);
    (!is_determiner).then_some(reference.len())
}
