//! Splits a question into parts, each of which asks for one call.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::earlier::EarlierPlace;
use crate::find::{Call, Finder, Refusal};
use crate::token::{Token, tokenise};

/// Maximum number of parts of one question.
pub(crate) const MAX_PARTS: usize = 12;

/// Matches what is between two parts. Never `None`, because the regular expression is fixed and valid.
static BETWEEN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[.?!;]\s+|,?(?: and)? then |,? and ").ok());

/// A part of a question, and what it asks for.
pub(crate) struct Part<'a> {
    pub(crate) text: String,
    pub(crate) call: Result<Call, Refusal>,
    /// What looked for the call, so that it can explain why there is none.
    pub(crate) finder: Finder<'a>,
}

/// Splits a text into at most `max_parts` parts, unless it asks for one call as a whole. It is split after its first sentence
/// if any part then asks for a call. A single sentence is split at the first connective between parts that all ask for a call.
pub(crate) fn split_question<'a>(finder: &Finder<'a>, text: &str, max_parts: usize) -> Vec<Part<'a>> {
    let (text, is_call) = (text.trim(), |part: &Part<'_>| part.call.is_ok());
    let undivided = Part {
        text: text.to_owned(),
        call: finder.find_call(text),
        finder: finder.clone(),
    };
    if is_call(&undivided) || max_parts < 2 {
        return vec![undivided];
    }
    let splits = possible_splits(text);
    let sentence_end = splits.iter().find(|(ends_sentence, _)| *ends_sentence);
    let splits_to_try = sentence_end.map_or(splits.as_slice(), std::slice::from_ref);
    for (_, between) in splits_to_try {
        let (first, rest) = (text.get(..between.start), text.get(between.end..).unwrap_or_default());
        let mut parts = split_question(finder, first.unwrap_or_default(), max_parts - 1);
        if sentence_end.is_none() && !parts.iter().all(is_call) {
            continue;
        }
        let (next, remaining) = (finder_after(finder, &parts), max_parts.saturating_sub(parts.len()));
        parts.extend(split_question(&next, rest, remaining));
        if parts.iter().all(is_call) || (sentence_end.is_some() && parts.iter().any(is_call)) {
            return parts;
        }
    }
    vec![undivided]
}

/// Returns the finder for the text that follows `parts`.
fn finder_after<'a>(finder: &Finder<'a>, parts: &[Part<'a>]) -> Finder<'a> {
    let mut next = finder.clone();
    for call in parts.iter().filter_map(|part| part.call.as_ref().ok()) {
        let step_id = call.step_id.clone();
        next.earlier_place = call.main_output.clone().map(|path| EarlierPlace { step_id, path });
        next.step_number += 1;
    }
    next
}

/// Returns where the text may be split, outside of whole texts: whether a sentence ends there, and the range of what is between
/// the two parts. The mark that ends a sentence belongs to the sentence.
fn possible_splits(text: &str) -> Vec<(bool, Range<usize>)> {
    let tokens = tokenise(text, &[]);
    let contains = |token: &Token, at: usize| token.may_be_whole_text() && token.start < at && at < token.end;
    let regexes = BETWEEN.as_ref().into_iter();
    let all = regexes.flat_map(|regex| regex.find_iter(text));
    let allowed = all.filter(|between| !tokens.iter().any(|token| contains(token, between.start())));
    let splits = allowed.map(|between| {
        let ends_sentence = between.as_str().starts_with(['.', '?', '!', ';']);
        let mark_length = usize::from(ends_sentence);
        (ends_sentence, between.start() + mark_length..between.end())
    });
    splits.collect()
}
