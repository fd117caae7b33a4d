//! Splits a question into parts, each of which asks for one call.

use crate::earlier::Earlier;
use crate::find::{Call, Finder};
use crate::token::{Kind, Token, tokens};
use crate::words::CONNECTIVES;

/// Maximum number of parts of one question.
const MAX_PARTS: usize = 12;
/// Maximum number of connectives at which one sentence is split.
const MAX_PLACES: usize = 8;
/// Maximum number of words of a piece that is never a part of its own, such as the end of a list.
const MAX_REMAINDER: usize = 2;

/// A part of a question, and the call that it asks for or the reason for a refusal.
pub(crate) type Part = (String, Result<Call, String>);

/// Returns the parts of `query`, which stays whole when no part of it asks for a call. `may_refer` says whether an earlier
/// question has a result.
pub(crate) fn parts(finder: &Finder<'_>, query: &str, may_refer: bool) -> Vec<Part> {
    split(finder, query, may_refer, MAX_PARTS)
}

fn part(finder: &Finder<'_>, text: &str, may_refer: bool) -> Part {
    let unknown = may_refer.then(Earlier::unknown);
    let earlier = unknown.as_ref();
    (text.trim().to_owned(), Finder { earlier, ..*finder }.find(text))
}

/// Splits a text into at most `room` parts: after its first sentence, or else at the first connective between two calls.
fn split(finder: &Finder<'_>, text: &str, may_refer: bool, room: usize) -> Vec<Part> {
    let whole = part(finder, text, may_refer);
    if whole.1.is_ok() || room < 2 {
        return vec![whole];
    }
    let has_call = |parts: &[Part]| parts.iter().any(|(_, call)| call.is_ok());
    if let Some((sentence, rest)) = sentence_end(text).and_then(|end| text.split_at_checked(end)) {
        let mut parts = split(finder, sentence, may_refer, room - 1);
        let may_refer = may_refer || has_call(&parts);
        parts.extend(split(finder, rest, may_refer, room - parts.len()));
        return if has_call(&parts) { parts } else { vec![whole] };
    }
    let mut splits = places(text).into_iter().filter_map(|(start, connective)| {
        let first = part(finder, text.get(..start)?, may_refer);
        let rest = text.get(start + connective.len()..).filter(|_| first.1.is_ok())?;
        // A piece after a comma or "then" is a part even if no tool fits it, unless it is the end of a list.
        let is_firm = connective.starts_with(',') || connective.contains("then");
        let is_part = is_firm && rest.split_whitespace().count() > MAX_REMAINDER;
        let rest = split(finder, rest, true, room - 1);
        let is_split = is_part || rest.iter().all(|(_, call)| call.is_ok());
        is_split.then(|| std::iter::once(first).chain(rest).collect())
    });
    splits.next().unwrap_or_else(|| vec![whole])
}

/// Returns where the first of several sentences ends. A mark in quotes or data does not end one.
fn sentence_end(text: &str) -> Option<usize> {
    let tokens = tokens(text, &[]);
    tokens.windows(2).find_map(|pair| {
        let [mark, next] = pair else { return None };
        let is_end = mark.kind == Kind::Mark && matches!(mark.text.as_str(), "." | "?" | "!" | ";");
        (is_end && next.kind != Kind::Mark && next.start > mark.end).then_some(mark.end)
    })
}

/// Returns the connectives in `sentence` that are not in quotes or data, and where they begin.
fn places(sentence: &str) -> Vec<(usize, &'static str)> {
    let tokens = tokens(sentence, &[]);
    let contains = |token: &Token, place: usize| token.is_data() && token.start < place && place < token.end;
    let all = CONNECTIVES.into_iter();
    let all = all.flat_map(|words| sentence.match_indices(words).map(move |(place, _)| (place, words)));
    let outside = all.filter(|(place, _)| !tokens.iter().any(|token| contains(token, *place)));
    outside.take(MAX_PLACES).collect()
}
