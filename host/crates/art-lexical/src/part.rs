//! Splits a question into parts, each of which asks for one call.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::earlier::Origin;
use crate::find::{Call, Finder};
use crate::token::{Token, tokens};

/// Maximum number of parts of one question.
pub(crate) const MAX_PARTS: usize = 12;

/// Matches what is between two parts. Never `None`, because the pattern is fixed and valid.
static BETWEEN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[.?!;]\s+|,?(?: and)? then |,? and ").ok());

/// A part of a question, and the call that it asks for or the reason for a refusal.
pub(crate) type Part = (String, Result<Call, String>);

/// Splits a text into at most `max_parts` parts: after its first sentence, or else at the first connective between two calls. The text
/// stays whole if it asks for one call. It also stays whole if no part after a split between sentences asks for a call, or if not all
/// parts after a split at a connective do.
pub(crate) fn split_question(finder: &Finder<'_>, text: &str, max_parts: usize) -> Vec<Part> {
    let (text, is_call) = (text.trim(), |part: &Part| part.1.is_ok());
    let undivided = (text.to_owned(), finder.find(text));
    if is_call(&undivided) || max_parts < 2 {
        return vec![undivided];
    }
    let places = split_places(text);
    let end = places.iter().find(|(is_end, _)| *is_end);
    let tried = end.map_or(places.as_slice(), std::slice::from_ref);
    for (_, place) in tried {
        let (first, rest) = (text.get(..place.start), text.get(place.end..).unwrap_or_default());
        let mut found = split_question(finder, first.unwrap_or_default(), max_parts - 1);
        if end.is_none() && !found.iter().all(is_call) {
            continue;
        }
        found.extend(split_question(
            &finder_after(finder, &found),
            rest,
            max_parts.saturating_sub(found.len()),
        ));
        if found.iter().all(is_call) || (end.is_some() && found.iter().any(is_call)) {
            return found;
        }
    }
    vec![undivided]
}

/// Returns the finder for the text after `parts`.
fn finder_after<'a>(finder: &Finder<'a>, parts: &[Part]) -> Finder<'a> {
    let mut next = finder.clone();
    for call in parts.iter().filter_map(|(_, call)| call.as_ref().ok()) {
        let step = call.step.clone();
        next.earlier = call.output.clone().map(|path| Origin { step, path });
        next.number += 1;
    }
    next
}

/// Returns the places where the text may be split, outside of quotes and data, and whether a sentence ends there. The mark that
/// ends a sentence belongs to the sentence.
fn split_places(text: &str) -> Vec<(bool, Range<usize>)> {
    let tokens = tokens(text, &[]);
    let contains = |token: &Token, place: usize| token.is_data() && token.start < place && place < token.end;
    let all = BETWEEN.as_ref().into_iter().flat_map(|between| between.find_iter(text));
    let allowed = all.filter(|place| !tokens.iter().any(|token| contains(token, place.start())));
    allowed
        .map(|place| {
            let is_end = place.as_str().starts_with(['.', '?', '!', ';']);
            (is_end, place.start() + usize::from(is_end)..place.end())
        })
        .collect()
}
