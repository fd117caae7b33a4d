//! Regular expressions: `matches` returns every match as an array of its groups, `split` returns the texts between the matches,
//! and `split_matches` returns both alternately. The definitions of `test`, `capture`, `sub` and so on build on these three.

use jaq_json::Val;
use regex::{Captures, Regex, RegexBuilder};

use super::{Error, SearchResult};

/// Maximum size of a compiled pattern, in bytes.
const MAX_COMPILED_BYTES: usize = 2 * 1024 * 1024;
/// Maximum nesting of groups, because the stack of the parser grows with it.
const MAX_NESTING: u32 = 50;

pub(super) fn matches(text: &str, pattern: &str, flags: &str) -> SearchResult {
    search(text, pattern, flags).map(|parts| parts.into_iter().filter_map(Part::into_groups).collect())
}

pub(super) fn split(text: &str, pattern: &str, flags: &str) -> SearchResult {
    search(text, pattern, flags).map(|parts| parts.into_iter().filter_map(Part::into_between).collect())
}

pub(super) fn split_matches(text: &str, pattern: &str, flags: &str) -> SearchResult {
    let into_value = |part| match part {
        Part::Between(value) | Part::Groups(value) => value,
    };
    search(text, pattern, flags).map(|parts| parts.into_iter().map(into_value).collect())
}

/// A part of the searched text.
enum Part {
    /// The text before, between or after matches; it may be empty.
    Between(Val),
    /// A match, as an array of its groups.
    Groups(Val),
}

impl Part {
    fn into_groups(self) -> Option<Val> {
        if let Self::Groups(groups) = self {
            Some(groups)
        } else {
            None
        }
    }

    fn into_between(self) -> Option<Val> {
        if let Self::Between(text) = self {
            Some(text)
        } else {
            None
        }
    }
}

/// Splits `text` into its matches and the texts around them. The flag `n` leaves out empty matches. Without the flag `g`, only
/// the first of the remaining matches is used.
fn search(text: &str, pattern: &str, flags: &str) -> Result<Vec<Part>, Error> {
    let regex = compile(pattern, flags)?;
    let max_matches = if flags.contains('g') { usize::MAX } else { 1 };
    let skips_empty = flags.contains('n');
    let mut parts = Vec::new();
    let mut position = Position {
        text,
        byte: 0,
        chars: 0,
    };
    let is_wanted = |captures: &Captures<'_>| !(skips_empty && captures.get(0).is_some_and(|whole| whole.is_empty()));
    for captures in regex.captures_iter(text).filter(is_wanted).take(max_matches) {
        let Some(whole) = captures.get(0) else { continue };
        parts.push(Part::Between(text_between(text, position.byte, whole.start())));
        position.advance(whole.start());
        parts.push(Part::Groups(match_groups(&regex, &captures, &position)));
        position.advance(whole.end());
    }
    parts.push(Part::Between(text_between(text, position.byte, text.len())));
    Ok(parts)
}

fn compile(pattern: &str, flags: &str) -> Result<Regex, Error> {
    if let Some(flag) = flags.chars().find(|flag| !"ginsx".contains(*flag)) {
        return Err(Error::str(format!(
            "regex flag `{flag}` is not one of `g`, `i`, `n`, `s`, `x`"
        )));
    }
    RegexBuilder::new(pattern)
        .case_insensitive(flags.contains('i'))
        .dot_matches_new_line(flags.contains('s'))
        .ignore_whitespace(flags.contains('x'))
        .nest_limit(MAX_NESTING)
        .size_limit(MAX_COMPILED_BYTES)
        .build()
        .map_err(|error| Error::str(format!("invalid regex: {error}")))
}

fn text_between(text: &str, from: usize, to: usize) -> Val {
    Val::from(text.get(from..to).unwrap_or_default().to_owned())
}

/// Returns the whole match and its groups, each as `{offset, length, string, name}`; `name` is absent if the group has
/// none. `start` is the start of the match.
fn match_groups(regex: &Regex, captures: &Captures<'_>, start: &Position<'_>) -> Val {
    let groups = captures.iter().zip(regex.capture_names());
    let to_object = |(found, name): (Option<regex::Match<'_>>, Option<&str>)| {
        let (offset, length, string) = match found {
            Some(found) => {
                let offset = start.chars + chars_between(start.text, start.byte, found.start());
                let length = found.as_str().chars().count();
                (
                    Val::from(offset),
                    Val::from(length),
                    Val::from(found.as_str().to_owned()),
                )
            }
            // The values that jq returns for a group that did not match.
            None => (Val::from(-1_isize), Val::from(0_usize), Val::Null),
        };
        let name = name.map(|name| ("name", Val::from(name.to_owned())));
        let fields = [("offset", offset), ("length", length), ("string", string)]
            .into_iter()
            .chain(name);
        Val::obj(fields.map(|(key, value)| (Val::from(key.to_owned()), value)).collect())
    };
    groups.map(to_object).collect()
}

/// A byte offset and the number of characters before it. It only moves forward, so each character is counted once.
struct Position<'a> {
    text: &'a str,
    byte: usize,
    chars: usize,
}

impl Position<'_> {
    /// Moves to the byte offset `byte`.
    fn advance(&mut self, byte: usize) {
        self.chars += chars_between(self.text, self.byte, byte);
        self.byte = byte;
    }
}

fn chars_between(text: &str, from: usize, to: usize) -> usize {
    text.get(from..to).map_or(0, |part| part.chars().count())
}
