//! Splits a question into parts, each of which asks for one call.

use crate::earlier::Origin;
use crate::find::{Call, Finder};
use crate::remark::{is_remark, without_subject};
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

/// Returns the parts of `query`, which stays whole when no part of it asks for a call.
pub(crate) fn parts(finder: &Finder<'_>, query: &str) -> Vec<Part> {
    let mut parts = split(finder, query, MAX_PARTS);
    if parts.iter().any(is_call) {
        parts.retain(|part| is_call(part) || !is_remark(finder, &part.0));
    }
    parts
}

/// Returns the finder for the part after `parts`.
fn after<'a>(finder: &Finder<'a>, parts: &[Part]) -> Finder<'a> {
    let mut next = finder.clone();
    for call in parts.iter().filter_map(|(_, call)| call.as_ref().ok()) {
        let step = call.step.clone();
        next.earlier = call.output.clone().map(|path| Origin { step, path });
        next.number += 1;
    }
    next
}

/// Splits a text into at most `room` parts: after its first sentence, or else at the first connective between two calls.
fn split(finder: &Finder<'_>, text: &str, room: usize) -> Vec<Part> {
    let mut whole = (text.trim().to_owned(), finder.find(text));
    if is_call(&whole) || room < 2 {
        return vec![whole];
    }
    if let Some(call) = without_subject(text).and_then(|text| finder.find(text).ok()) {
        whole.1 = Ok(call);
        return vec![whole];
    }
    if let Some((sentence, rest)) = sentence_end(text).and_then(|end| text.split_at_checked(end)) {
        let mut parts = split(finder, sentence, room - 1);
        parts.extend(split(&after(finder, &parts), rest, room - parts.len()));
        let has_call = parts.iter().any(is_call);
        return if has_call { parts } else { vec![whole] };
    }
    let mut splits = places(text).into_iter().filter_map(|(start, connective)| {
        let first = text.get(..start)?.trim();
        let mut parts = vec![(first.to_owned(), finder.find(first))];
        let rest = text.get(start + connective.len()..);
        let rest = rest.filter(|_| parts.iter().all(is_call))?;
        // A piece after a comma or "then" is a part even if no tool fits it, unless it is the end of a list.
        let is_firm = connective.starts_with(',') || connective.contains("then");
        let is_part = is_firm && rest.split_whitespace().count() > MAX_REMAINDER;
        parts.extend(split(&after(finder, &parts), rest, room - 1));
        (is_part || parts.iter().all(is_call)).then_some(parts)
    });
    splits.next().unwrap_or_else(|| {
        whole.1 = without_remark(finder, text).ok_or(()).or(whole.1);
        vec![whole]
    })
}

/// Returns the call of a sentence without a remark before or after a comma or a dash.
fn without_remark(finder: &Finder<'_>, text: &str) -> Option<Call> {
    let tokens = tokens(text, &[]);
    let is_mark = |token: &&Token| matches!(token.text.as_str(), "," | "-" | "–" | "—");
    let marks = tokens.iter().filter(is_mark).take(MAX_PLACES);
    let mut halves = marks.filter_map(|mark| Some((text.get(..mark.start)?, text.get(mark.end..)?)));
    halves.find_map(|(before, after)| {
        let pairs = [(before, after), (after, before)];
        let mut texts = pairs.into_iter().filter(|(_, remark)| is_remark(finder, remark));
        texts.find_map(|(text, _)| finder.find(text).ok())
    })
}

const fn is_call(part: &Part) -> bool {
    part.1.is_ok()
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
