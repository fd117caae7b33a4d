//! Splits text into words, numbers, dates, quoted texts and data.

use std::sync::LazyLock;

use jiff::civil::{Date, Time};
use regex::{Captures, Regex};
use rust_stemmers::{Algorithm, Stemmer};
use serde_json::Value;

use crate::data;

/// Attempts to read JSON in one text; each costs as much as the text is long.
const JSON_ATTEMPTS: usize = 16;

/// A date in words, a time of day in words, and everything else, the first that fits. Each pattern is a constant, so each is
/// there.
static SPOKEN_DATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let day = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?";
    let month = r"(?P<month>\p{L}{3,9})\.?";
    let either =
        format!(r"^(?:(?:the\s+)?{day}\s+(?:of\s+)?{month},?|{month}\s+(?:the\s+)?{day},?)\s+(?P<year>\d{{4}})\b");
    // A name stands once in a pattern.
    Regex::new(
        &either
            .replacen("<day>", "<day_first>", 1)
            .replacen("<month>", "<month_behind>", 1),
    )
    .ok()
});
static SPOKEN_TIME: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?i)^\d{1,2}(?::\d\d)?\s?[ap]m\b").ok());
static TOKEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let quoted = r#"```(?:\w*\n)?(?P<fenced>(?s:.*?))```|"(?P<a>[^"]*)"|[“„](?P<b>[^”“]*)[”“]|«(?P<c>[^»]*)»|`(?P<d>[^`]+)`|['‘](?P<e>[^'’]*)['’]"#;
    let moment = r"(?P<moment>\d{4}-\d\d-\d\d(?:[Tt]\d\d:\d\d(?:\S*[0-9Zz])?)?|\d{1,2}:\d\d(?::\d\d)?|\d{1,2}[./]\d{1,2}[./]\d{2,4})\b";
    let number = r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:e[+-]?\d+\b)?)";
    let word = r"(?P<word>[\p{L}_°\\][\p{L}\p{M}\p{N}_/@.\-'’&°\\]*)";
    Regex::new(&format!(
        r"{quoted}|{moment}|{number}|{word}|(?P<mark>[.,?;:!…¿¡])|(?P<symbol>\S)"
    ))
    .ok()
});

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A word, with all that is written together with it: `km/h`, `ada@example.org`.
    Word,
    /// A number without a sign.
    Number(f64),
    /// A date or a time of day.
    Moment,
    /// A text in quotes.
    Quoted,
    /// JSON, a table, or a block in fences.
    Data,
    /// The name of a file that comes with the question.
    File,
    /// Any other character that may carry meaning, such as an operator.
    Symbol,
    /// A character that ends or divides sentences.
    Mark,
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    /// What it says: without quotes, thousands separators and the like; a date in ISO 8601.
    pub(crate) text: String,
    /// What it is compared by.
    pub(crate) stem: String,
    /// Where it begins and ends, in bytes.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Token {
    pub(crate) fn new(kind: Kind, text: impl Into<String>, start: usize, end: usize) -> Self {
        let text = text.into();
        let stem = if kind == Kind::Word {
            stem(&text)
        } else {
            text.to_lowercase()
        };
        Self {
            kind,
            text,
            stem,
            start,
            end,
        }
    }

    /// Whether the token may stand for a whole text.
    pub(crate) const fn is_data(&self) -> bool {
        matches!(self.kind, Kind::Quoted | Kind::Data | Kind::File)
    }

    pub(crate) const fn is_number(&self) -> bool {
        matches!(self.kind, Kind::Number(_))
    }
}

/// Reduces a word to what all of its forms share.
pub(crate) fn stem(word: &str) -> String {
    let word = word.to_lowercase().replace('’', "'");
    let word = word.strip_suffix("'s").unwrap_or(&word);
    let stemmer = Stemmer::create(Algorithm::English);
    let stems: Vec<_> = word.split('_').map(|part| stemmer.stem(part)).collect();
    stems.join(" ").trim().to_owned()
}

/// The stems of a text's words, joined by blanks: two texts with the same are one to this model.
pub(crate) fn folded(text: &str) -> String {
    text.split_whitespace().map(stem).collect::<Vec<_>>().join(" ")
}

/// Splits `text`; a word that is one of `files` is the name of a file.
pub(crate) fn tokens(text: &str, files: &[&str]) -> Vec<Token> {
    let tables = data::tables(text);
    let (mut tokens, mut at, mut attempts) = (Vec::new(), 0, JSON_ATTEMPTS);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.trim_start().is_empty()) {
        let start = at + (rest.len() - rest.trim_start().len());
        let table = tables
            .iter()
            .find(|(begin, _)| *begin == start)
            .and_then(|(_, end)| text.get(start..*end));
        let data = table.map(|table| Token::new(Kind::Data, table, start, start + table.len()));
        let next = data
            .or_else(|| json(text, start, &mut attempts))
            .or_else(|| moment(text, start))
            .or_else(|| token(text, start, files));
        let Some(next) = next.filter(|token| token.end > at) else {
            break;
        };
        at = next.end;
        tokens.push(next);
    }
    tokens
}

fn json(text: &str, start: usize, attempts: &mut usize) -> Option<Token> {
    let rest = text.get(start..).filter(|rest| rest.starts_with(['{', '[']))?;
    *attempts = attempts.checked_sub(1)?;
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    values.next()?.ok()?;
    let written = rest.get(..values.byte_offset())?;
    Some(Token::new(Kind::Data, written, start, start + written.len()))
}

/// A date whose month has its name, as ISO 8601, or a time such as `3 pm`.
fn moment(text: &str, start: usize) -> Option<Token> {
    let rest = text.get(start..)?;
    let date = || {
        let found = SPOKEN_DATE.as_ref()?.captures(rest)?;
        let part = |first: &str, second: &str| {
            found
                .name(first)
                .or_else(|| found.name(second))
                .map(|part| part.as_str())
        };
        let date = format!(
            "{} {} {}",
            part("day", "day_first")?,
            part("month", "month_behind")?,
            found.name("year")?.as_str()
        );
        let read = ["%d %B %Y", "%d %b %Y"]
            .iter()
            .find_map(|form| Date::strptime(form, &date).ok())?;
        Some((read.to_string(), found.get(0)?.end()))
    };
    let time = || {
        let found = SPOKEN_TIME.as_ref()?.find(rest)?;
        let is_time = ["%I %p", "%I%p", "%I:%M %p", "%I:%M%p"]
            .iter()
            .any(|form| Time::strptime(form, found.as_str()).is_ok());
        is_time.then(|| (found.as_str().to_owned(), found.end()))
    };
    let (said, length) = date().or_else(time)?;
    Some(Token::new(Kind::Moment, said, start, start + length))
}

fn token(text: &str, start: usize, files: &[&str]) -> Option<Token> {
    let found = TOKEN.as_ref()?.captures_at(text, start)?;
    let end = found.get(0)?.end();
    let named = |names: &[&'static str]| names.iter().find_map(|name| found.name(name)).map(|part| part.as_str());
    if let Some(block) = named(&["fenced"]) {
        return Some(Token::new(Kind::Data, block.trim_end_matches('\n'), start, end));
    }
    if let Some(word) = named(&["word"]) {
        return Some(self::word(word, start, files));
    }
    let kind = kind(&found)?;
    let said = named(&["a", "b", "c", "d", "e"]).or_else(|| text.get(start..end))?;
    let said = if matches!(kind, Kind::Number(_)) {
        said.replace(',', "")
    } else {
        said.to_owned()
    };
    Some(Token::new(kind, said, start, end))
}

fn kind(found: &Captures<'_>) -> Option<Kind> {
    Some(if let Some(number) = found.name("number") {
        Kind::Number(number.as_str().replace(',', "").parse().ok()?)
    } else if found.name("moment").is_some() {
        Kind::Moment
    } else if found.name("mark").is_some() {
        Kind::Mark
    } else if found.name("symbol").is_some() {
        Kind::Symbol
    } else {
        Kind::Quoted
    })
}

/// A word without the signs behind it that end a sentence.
fn word(written: &str, start: usize, files: &[&str]) -> Token {
    let said = written.trim_end_matches(['.', '-', '/', '\\']);
    let is_file = files.iter().any(|name| name.eq_ignore_ascii_case(said));
    let kind = if is_file { Kind::File } else { Kind::Word };
    Token::new(
        kind,
        said.trim_end_matches(['\'', '’']),
        start,
        start + said.len().max(1),
    )
}

/// Whether `text` is nothing but a number.
pub(crate) fn as_number(text: &str) -> Option<f64> {
    match tokens(text, &[]).as_slice() {
        [
            Token {
                kind: Kind::Number(number),
                ..
            },
        ] => Some(*number),
        _ => None,
    }
}

/// Whether `text` is nothing but a date or a time of day.
pub(crate) fn is_moment(text: &str) -> bool {
    matches!(tokens(text, &[]).as_slice(), [Token { kind: Kind::Moment, .. }])
}
