//! Searches a text for the matches of a regular expression, or for texts of a named kind such as `email`.

use std::collections::HashSet;

use regex::{Captures, Regex, RegexBuilder};

use crate::{
    error::ExtractError,
    io::{Capture, Group, Match, Only, RegexExtractInput, RegexExtractOutput},
    kind::Kind,
};

/// Maximum length of a pattern, in characters.
const MAX_PATTERN_CHARS: usize = 1000;
/// Maximum nesting of groups, because the stack of the parser grows with it.
const MAX_NESTING: u32 = 50;
/// Maximum size of a compiled pattern, in bytes. The pattern `\w{1000}` would need several megabytes.
const MAX_COMPILED_BYTES: usize = 2 * 1024 * 1024;

/// Finds the matches that `input` asks for.
pub(crate) fn extract(input: &RegexExtractInput) -> Result<RegexExtractOutput, ExtractError> {
    if !(1..=1000).contains(&input.limit) {
        return Err(ExtractError::LimitOutOfRange(input.limit));
    }
    let pattern = match (&input.pattern, input.kind) {
        (Some(pattern), None) => strip_slashes(pattern),
        (None, Some(kind)) => kind.pattern(),
        _ => return Err(ExtractError::NeedsEitherPatternOrKind),
    };
    let regex = compile(input, pattern)?;
    // If the pattern of a kind has a group, its first group is the text to return; otherwise the whole match, group 0.
    let default_group = usize::from(input.kind.is_some() && regex.captures_len() > 1);
    let group = input
        .group
        .as_ref()
        .map_or(Ok(default_group), |group| group_index(&regex, group))?;
    let search = Search { input, regex, group };
    Ok(match input.only {
        Some(Only::Count) => RegexExtractOutput {
            count: search.wanted_matches().count(),
            ..RegexExtractOutput::default()
        },
        None => search.full_output(),
    })
}

/// A search that is ready to run.
struct Search<'a> {
    input: &'a RegexExtractInput,
    regex: Regex,
    /// Number of the capture group whose text is returned; 0 is the whole match.
    group: usize,
}

impl Search<'_> {
    /// Returns the matches to report. If the input names a kind, leaves out texts that [`Kind::accepts`] refuses although they
    /// match the pattern of the kind. If `unique` is set, leaves out repeated texts.
    fn wanted_matches(&self) -> impl Iterator<Item = Captures<'_>> {
        let mut seen = HashSet::new();
        let text = self.input.text.as_str();
        self.regex.captures_iter(text).filter(move |captures| {
            let found = captures.get(self.group);
            let is_of_kind = |kind: Kind| found.is_some_and(|found| kind.accepts(text, found.range()));
            let value = found.map(|found| found.as_str());
            self.input.kind.is_none_or(is_of_kind) && (!self.input.unique || seen.insert(value))
        })
    }

    /// Returns the output of a call that asks for the matches and not only for their number.
    fn full_output(&self) -> RegexExtractOutput {
        let limit = usize::try_from(self.input.limit).unwrap_or_default();
        let (mut values, mut matches, mut truncated) = (Vec::new(), Vec::new(), false);
        let mut offset_converter = OffsetConverter {
            text: &self.input.text,
            byte: 0,
            chars: 0,
        };
        for captures in self.wanted_matches() {
            if matches.len() == limit {
                truncated = true;
                break;
            }
            values.extend(captures.get(self.group).map(|found| found.as_str().to_owned()));
            matches.extend(to_match(&self.regex, &captures, &mut offset_converter));
        }
        RegexExtractOutput {
            values: Some(values),
            count: matches.len(),
            truncated: Some(truncated),
            // A caller that names a kind needs the texts, and not the positions of the matches.
            matches: Some(matches).filter(|_| self.input.kind.is_none()),
        }
    }
}

/// Returns the pattern without the slashes around it, if it is written `/pattern/` as in other languages. A pattern with more
/// slashes, such as a path, stays unchanged.
fn strip_slashes(pattern: &str) -> &str {
    let inner = pattern.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    inner
        .filter(|inner| !inner.is_empty() && !inner.contains('/'))
        .unwrap_or(pattern)
}

fn compile(input: &RegexExtractInput, pattern: &str) -> Result<Regex, ExtractError> {
    let chars = pattern.chars().count();
    if chars == 0 {
        return Err(ExtractError::EmptyPattern);
    }
    if chars > MAX_PATTERN_CHARS {
        return Err(ExtractError::PatternTooLong(chars, MAX_PATTERN_CHARS));
    }
    let built = RegexBuilder::new(pattern)
        .case_insensitive(input.case_insensitive)
        .multi_line(input.multi_line)
        // `$` matches before `\r\n` and `\r` too, and `.` matches neither sign.
        .crlf(true)
        .nest_limit(MAX_NESTING)
        .size_limit(MAX_COMPILED_BYTES)
        .build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => ExtractError::PatternTooLarge,
        other => syntax_error(pattern, &other),
    })
}

/// Returns the error for an invalid pattern, with the position of the mistake. Parses the pattern again with `regex-syntax`,
/// because the error of `regex` has no position.
fn syntax_error(pattern: &str, error: &regex::Error) -> ExtractError {
    let parsed = regex_syntax::ParserBuilder::new()
        .nest_limit(MAX_NESTING)
        .build()
        .parse(pattern);
    let (reason, start) = match parsed {
        Err(regex_syntax::Error::Parse(error)) => (error.kind().to_string(), error.span().start.offset),
        Err(regex_syntax::Error::Translate(error)) => (error.kind().to_string(), error.span().start.offset),
        _ => (error.to_string(), 0),
    };
    let before = pattern.get(..start).unwrap_or_default();
    let near = pattern.get(start..).unwrap_or_default().chars().take(20).collect();
    ExtractError::InvalidPattern {
        reason,
        at: before.chars().count() + 1,
        near,
    }
}

/// Returns the number of a group. Fails if the pattern does not have the group.
fn group_index(regex: &Regex, group: &Group) -> Result<usize, ExtractError> {
    let found = match group {
        Group::Index(index) => (*index < regex.captures_len()).then_some(*index),
        // Models sometimes send a number as text.
        Group::Name(name) => regex
            .capture_names()
            .position(|known| known == Some(name))
            .or_else(|| name.parse().ok().filter(|index| *index < regex.captures_len())),
    };
    found.ok_or_else(|| ExtractError::UnknownGroup {
        group: group_to_string(group),
        known: describe_groups(regex),
    })
}

fn group_to_string(group: &Group) -> String {
    match group {
        Group::Index(index) => index.to_string(),
        Group::Name(name) => name.clone(),
    }
}

/// Returns the groups of a pattern, for an error.
fn describe_groups(regex: &Regex) -> String {
    let groups: Vec<String> = regex
        .capture_names()
        .enumerate()
        .map(|(index, name)| name.map_or_else(|| format!("`{index}`"), |name| format!("`{index}` (`{name}`)")))
        .collect();
    groups.join(", ")
}

fn to_match(regex: &Regex, captures: &Captures<'_>, offset_converter: &mut OffsetConverter<'_>) -> Option<Match> {
    let whole = captures.get(0)?;
    let start = offset_converter.char_offset_of(whole.start());
    let groups = captures.iter().zip(regex.capture_names()).enumerate().skip(1);
    let groups = groups.filter_map(|(index, (found, name))| {
        let found = found?;
        // `offset_converter` requires increasing offsets, but groups can nest, and then the end of one is after the start of the
        // next. So the characters are counted from the start of the match.
        let char_offset = |byte| start + chars_between(offset_converter.text, whole.start(), byte);
        let (name, text) = (name.map(str::to_owned), found.as_str().to_owned());
        Some(Capture {
            index,
            name,
            text,
            start: char_offset(found.start()),
            end: char_offset(found.end()),
        })
    });
    let groups = groups.collect();
    Some(Match {
        text: whole.as_str().to_owned(),
        start,
        end: offset_converter.char_offset_of(whole.end()),
        groups,
    })
}

/// Converts increasing byte offsets to character offsets, in one pass over the text.
struct OffsetConverter<'a> {
    text: &'a str,
    /// The byte offset that was converted last.
    byte: usize,
    /// Number of characters before `byte`.
    chars: usize,
}

impl OffsetConverter<'_> {
    fn char_offset_of(&mut self, byte: usize) -> usize {
        self.chars += chars_between(self.text, self.byte, byte);
        self.byte = byte;
        self.chars
    }
}

fn chars_between(text: &str, from: usize, to: usize) -> usize {
    text.get(from..to).map_or(0, |part| part.chars().count())
}
