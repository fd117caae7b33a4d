//! Runs a search.

use regex::{Captures, Regex, RegexBuilder};

use crate::{
    error::ExtractError,
    io::{Capture, Group, Match, RegexExtractInput, RegexExtractOutput},
};

/// Maximum length of a pattern, in characters.
const MAX_PATTERN_CHARS: usize = 1000;
/// Maximum nesting of groups, because the stack of the parser grows with it.
const MAX_NESTING: u32 = 50;
/// Maximum size of a compiled pattern, in bytes. That of `\w{1000}` would be several megabytes.
const MAX_COMPILED_BYTES: usize = 2 * 1024 * 1024;

/// Finds the matches of the pattern.
pub(crate) fn extract(input: &RegexExtractInput) -> Result<RegexExtractOutput, ExtractError> {
    if !(1..=1000).contains(&input.limit) {
        return Err(ExtractError::Limit(input.limit));
    }
    let limit = usize::try_from(input.limit).unwrap_or_default();
    let regex = compile(input)?;
    let group = input.group.as_ref().map_or(Ok(0), |group| group_index(&regex, group))?;
    let mut output = RegexExtractOutput {
        values: Vec::new(),
        count: 0,
        truncated: false,
        matches: Vec::new(),
    };
    let mut offsets = Offsets {
        text: &input.text,
        byte: 0,
        chars: 0,
    };
    for captures in regex.captures_iter(&input.text) {
        if output.matches.len() == limit {
            output.truncated = true;
            break;
        }
        output
            .values
            .extend(captures.get(group).map(|found| found.as_str().to_owned()));
        output.matches.extend(to_match(&regex, &captures, &mut offsets));
    }
    output.count = output.matches.len();
    Ok(output)
}

fn compile(input: &RegexExtractInput) -> Result<Regex, ExtractError> {
    let pattern = input.pattern.as_str();
    let chars = pattern.chars().count();
    if chars == 0 {
        return Err(ExtractError::Empty);
    }
    if chars > MAX_PATTERN_CHARS {
        return Err(ExtractError::TooLong(chars, MAX_PATTERN_CHARS));
    }
    let built = RegexBuilder::new(pattern)
        .case_insensitive(input.case_insensitive)
        .multi_line(input.multi_line)
        .nest_limit(MAX_NESTING)
        .size_limit(MAX_COMPILED_BYTES)
        .build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => ExtractError::TooLarge,
        other => syntax(pattern, &other),
    })
}

/// Parses the pattern again with `regex-syntax`, because only that parser reports the position of the error.
fn syntax(pattern: &str, error: &regex::Error) -> ExtractError {
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
    ExtractError::Syntax {
        reason,
        at: before.chars().count() + 1,
        near,
    }
}

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
        group: describe(group),
        known: known_groups(regex),
    })
}

fn describe(group: &Group) -> String {
    match group {
        Group::Index(index) => index.to_string(),
        Group::Name(name) => name.clone(),
    }
}

fn known_groups(regex: &Regex) -> String {
    let groups: Vec<String> = regex
        .capture_names()
        .enumerate()
        .map(|(index, name)| name.map_or_else(|| format!("`{index}`"), |name| format!("`{index}` (`{name}`)")))
        .collect();
    groups.join(", ")
}

fn to_match(regex: &Regex, captures: &Captures<'_>, offsets: &mut Offsets<'_>) -> Option<Match> {
    let whole = captures.get(0)?;
    let start = offsets.at(whole.start());
    let groups = captures.iter().zip(regex.capture_names()).enumerate().skip(1);
    let groups = groups.filter_map(|(index, (found, name))| {
        let found = found?;
        let within = |byte| start + chars_between(offsets.text, whole.start(), byte);
        let (name, text) = (name.map(str::to_owned), found.as_str().to_owned());
        Some(Capture {
            index,
            name,
            text,
            start: within(found.start()),
            end: within(found.end()),
        })
    });
    let groups = groups.collect();
    Some(Match {
        text: whole.as_str().to_owned(),
        start,
        end: offsets.at(whole.end()),
        groups,
    })
}

/// Converts increasing byte offsets to character offsets, in one pass over the text.
struct Offsets<'a> {
    text: &'a str,
    byte: usize,
    chars: usize,
}

impl Offsets<'_> {
    fn at(&mut self, byte: usize) -> usize {
        self.chars += chars_between(self.text, self.byte, byte);
        self.byte = byte;
        self.chars
    }
}

fn chars_between(text: &str, from: usize, to: usize) -> usize {
    text.get(from..to).map_or(0, |part| part.chars().count())
}
