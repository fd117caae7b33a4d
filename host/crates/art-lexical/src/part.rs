//! Splits a question into parts, each of which asks for one call.

use crate::earlier::Earlier;
use crate::find::{Finder, Found};
use crate::token::{Kind, Token, tokens};
use crate::words::CONNECTIVES;

/// Parts of one question.
const MAX_PARTS: usize = 12;
/// Places at which one sentence is tried to be split.
const MAX_PLACES: usize = 8;

/// A part of a question, and the call that it asks for.
pub(crate) type Part = (String, Result<Found, String>);

/// The parts of `query`. `earlier` tells whether an earlier question has a result.
pub(crate) fn parts(finder: &Finder<'_>, query: &str, earlier: bool) -> Vec<Part> {
    let splitter = Splitter { finder };
    let whole = splitter.find(query, earlier);
    let sentences = sentences(query);
    if whole.is_ok() || sentences.is_empty() {
        return vec![(query.trim().to_owned(), whole)];
    }
    let mut parts: Vec<Part> = Vec::new();
    for sentence in sentences {
        let may_refer = earlier || parts.iter().any(|(_, found)| found.is_ok());
        parts.extend(splitter.split(sentence, may_refer, MAX_PARTS.saturating_sub(parts.len())));
        if parts.len() >= MAX_PARTS {
            break;
        }
    }
    if parts.iter().all(|(_, found)| found.is_err()) {
        vec![(query.trim().to_owned(), whole)]
    } else {
        parts
    }
}

struct Splitter<'a> {
    finder: &'a Finder<'a>,
}

impl Splitter<'_> {
    fn find(&self, text: &str, may_refer: bool) -> Result<Found, String> {
        let earlier = may_refer.then(Earlier::unknown);
        self.finder.find(text, earlier.as_ref())
    }

    /// The sentence as one part, or as two and more when each side of a connective asks for a call.
    fn split(&self, sentence: &str, may_refer: bool, room: usize) -> Vec<Part> {
        let whole = self.find(sentence, may_refer);
        if whole.is_ok() || room < 2 {
            return vec![(sentence.trim().to_owned(), whole)];
        }
        let places = places(sentence);
        let split = places.iter().find_map(|(start, end)| {
            let (first, rest) = (sentence.get(..*start)?, sentence.get(*end..)?);
            let found = self.find(first, may_refer).ok()?;
            let rest = self.split(rest, true, room - 1);
            let first = (first.trim().to_owned(), Ok(found));
            let connective = sentence.get(*start..*end)?;
            let all_found = rest.iter().all(|(_, found)| found.is_ok());
            (all_found || stands_alone(connective, &rest)).then(|| std::iter::once(first).chain(rest).collect())
        });
        split.unwrap_or_else(|| vec![(sentence.trim().to_owned(), whole)])
    }
}

/// Whether what follows a connective is a part whatever is found for it: it stands behind a comma or "then", and is more than
/// the end of a list.
fn stands_alone(connective: &str, rest: &[Part]) -> bool {
    let words = rest
        .iter()
        .flat_map(|(text, _)| tokens(text, &[]))
        .filter(|token| token.kind == Kind::Word)
        .count();
    words > 2 && (connective.starts_with(',') || connective.contains("then"))
}

/// The sentences of `text`. What stands in quotes or is data ends none.
fn sentences(text: &str) -> Vec<&str> {
    let tokens = tokens(text, &[]);
    let ends = |pair: &[Token]| match pair {
        [mark, next] => {
            let is_end = mark.kind == Kind::Mark && matches!(mark.text.as_str(), "." | "?" | "!" | ";");
            (is_end && next.kind != Kind::Mark && next.start > mark.end).then_some(mark.end)
        }
        _ => None,
    };
    let mut sentences = Vec::new();
    let mut start = 0;
    for end in tokens.windows(2).filter_map(ends).chain([text.len()]) {
        sentences.extend(text.get(start..end).filter(|sentence| !sentence.trim().is_empty()));
        start = end;
    }
    sentences
}

/// Where a connective stands in `sentence`, outside of quotes and data.
fn places(sentence: &str) -> Vec<(usize, usize)> {
    let tokens = tokens(sentence, &[]);
    let inside = |place: usize| {
        tokens
            .iter()
            .any(|token| token.is_data() && token.start < place && place < token.end)
    };
    let all = CONNECTIVES.iter().flat_map(|words| {
        sentence
            .match_indices(words)
            .map(|(start, found)| (start, start + found.len()))
    });
    all.filter(|(start, _)| !inside(*start)).take(MAX_PLACES).collect()
}
