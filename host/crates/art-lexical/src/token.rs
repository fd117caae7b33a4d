//! Splits text into words, numbers, dates, quoted texts and data.

use std::sync::LazyLock;

use itertools::Itertools;
use regex::{Captures, Regex};
use rust_stemmers::{Algorithm, Stemmer};
use serde_json::Value;
use text2num::lang::English;
use text2num::text2digits;

/// Maximum number of attempts to parse JSON in one text. Each takes time linear in the length of the text.
const JSON_ATTEMPTS: usize = 16;
/// Maximum number of words in a number, such as `one hundred and twenty five`.
const MAX_NUMBER_WORDS: usize = 6;

/// Matches one token; the first alternative that fits wins. Never `None`, because the pattern is fixed and valid.
static TOKEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let fenced = r"```(?:\w*\n)?(?P<fenced>(?s:.*?))```";
    let quoted = r#""(?P<a>[^"]*)"|[“„](?P<b>[^”“]*)[”“]|«(?P<c>[^»]*)»|`(?P<d>[^`]+)`|['‘](?P<e>[^'’]*)['’]"#;
    let moment = r"(?P<moment>\d{4}-\d\d-\d\d(?:[Tt]\d\d:\d\d(?:\S*[0-9Zz])?)?|\d{1,2}:\d\d(?::\d\d)?|\d{1,2}[./]\d{1,2}[./]\d{2,4})\b";
    let number = r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:e[+-]?\d+\b)?)";
    let word = r"(?P<word>[\p{L}_°\\][\p{L}\p{M}\p{N}_/@.\-'’&°\\]*)";
    let rest = r"(?P<mark>[.,?;:!…¿¡])|(?P<symbol>\S)";
    Regex::new(&format!("{fenced}|{quoted}|{moment}|{number}|{word}|{rest}")).ok()
});

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A word, with all that is written together with it: `km/h`, `ada@example.org`.
    Word,
    /// A number without a sign.
    Number,
    /// A date or a time of day in digits.
    Moment,
    /// A text in quotes.
    Quoted,
    /// JSON, a fenced code block, or what follows a colon or the first line (see `find::readings`).
    Data,
    /// The name of a file that comes with the question.
    File,
    /// Any other character that may carry meaning, such as an operator, or a name in the data that looks like grammar.
    Symbol,
    /// A character that ends or divides sentences.
    Mark,
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    /// The text, without quotes and thousands separators.
    pub(crate) text: String,
    /// The form used for comparison: the stem of a word, otherwise the text in lower case.
    pub(crate) stem: String,
    /// Where it begins and ends, in bytes.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Token {
    pub(crate) fn new(kind: Kind, text: impl Into<String>, start: usize, end: usize) -> Self {
        let text = text.into();
        let stem = match kind {
            Kind::Word => stem(&text),
            Kind::Quoted => folded(&text),
            _ => text.to_lowercase(),
        };
        Self {
            kind,
            text,
            stem,
            start,
            end,
        }
    }

    /// Returns the stem of a word, and nothing for other tokens.
    pub(crate) fn word(&self) -> &str {
        if self.kind == Kind::Word { &self.stem } else { "" }
    }

    /// Returns whether the token may be an entire value of text: a quoted text, data or a file.
    pub(crate) const fn is_data(&self) -> bool {
        matches!(self.kind, Kind::Quoted | Kind::Data | Kind::File)
    }
}

/// Returns the stem of a word, in lower case and without `'s`. Parts joined by `_` are stemmed one by one.
pub(crate) fn stem(word: &str) -> String {
    let word = word.to_lowercase().replace('’', "'");
    let word = word.strip_suffix("'s").unwrap_or(&word);
    let stemmer = Stemmer::create(Algorithm::English);
    let stems = word.split('_').map(|part| stemmer.stem(part)).join(" ");
    stems.trim().to_owned()
}

/// Returns the stems of a text's words, joined by blanks. Texts with equal results count as the same text.
pub(crate) fn folded(text: &str) -> String {
    text.split_whitespace().map(stem).join(" ")
}

/// Returns the stems of `tokens`, joined by blanks.
pub(crate) fn stems(tokens: &[Token]) -> String {
    tokens.iter().map(|token| &token.stem).join(" ")
}

/// Returns the texts of `tokens`, joined by blanks.
pub(crate) fn texts(tokens: &[Token]) -> String {
    tokens.iter().map(|token| &token.text).join(" ")
}

/// Returns the beginnings of `tokens` with at most `max` of them, the longest first.
pub(crate) fn beginnings(tokens: &[Token], max: usize) -> impl Iterator<Item = &[Token]> {
    let lengths = (1..=tokens.len().min(max)).rev();
    lengths.filter_map(|length| tokens.get(..length))
}

/// Splits `text`; a word that is one of `files` is the name of a file.
pub(crate) fn tokens(text: &str, files: &[&str]) -> Vec<Token> {
    let (mut tokens, mut at, mut attempts) = (Vec::new(), 0, JSON_ATTEMPTS);
    while let Some(found) = TOKEN.as_ref().and_then(|pattern| pattern.captures_at(text, at)) {
        let Some(next) = json(text, &found, &mut attempts).or_else(|| token(text, &found, files)) else {
            break;
        };
        at = next.end;
        tokens.push(next);
    }
    join_number_words(&tokens)
}

/// Joins the words of each number, such as `twenty five`.
fn join_number_words(tokens: &[Token]) -> Vec<Token> {
    let (mut joined, mut at) = (Vec::new(), 0);
    while let Some(rest @ [first, ..]) = tokens.get(at..) {
        let number = beginnings(rest, MAX_NUMBER_WORDS).find_map(|words| Some((words.len(), number(words)?)));
        let (length, token) = number.unwrap_or_else(|| (1, first.clone()));
        joined.push(token);
        at += length;
    }
    joined
}

/// Returns the number that `words` spell out. Ordinals become `2nd`, which is not parsed: `second` is also a unit of time.
fn number(words: &[Token]) -> Option<Token> {
    let are_words = words.iter().all(|token| token.kind == Kind::Word);
    let digits = text2digits(&texts(words), &English::new()).ok().filter(|_| are_words)?;
    digits.parse::<f64>().ok()?;
    let (start, end) = (words.first()?.start, words.last()?.end);
    Some(Token::new(Kind::Number, digits, start, end))
}

fn json(text: &str, found: &Captures<'_>, attempts: &mut usize) -> Option<Token> {
    let start = found.name("symbol")?.start();
    let rest = text.get(start..).filter(|rest| rest.starts_with(['{', '[']))?;
    *attempts = attempts.checked_sub(1)?;
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    values.next()?.ok()?;
    let written = rest.get(..values.byte_offset())?;
    Some(Token::new(Kind::Data, written, start, start + written.len()))
}

fn token(text: &str, found: &Captures<'_>, files: &[&str]) -> Option<Token> {
    let kind = |name: &str| match name {
        "fenced" => Kind::Data,
        "moment" => Kind::Moment,
        "number" => Kind::Number,
        "word" => Kind::Word,
        "mark" => Kind::Mark,
        "symbol" => Kind::Symbol,
        _ => Kind::Quoted,
    };
    let mut groups = TOKEN.as_ref()?.capture_names().flatten();
    let (captured, kind) = groups.find_map(|name| Some((found.name(name)?.as_str(), kind(name))))?;
    let whole = found.get(0)?;
    let (start, end) = (whole.start(), whole.end());
    Some(match kind {
        Kind::Symbol if is_punctuation(text, start, end) => Token::new(Kind::Mark, captured, start, end),
        Kind::Word => word_or_file(captured, start, files),
        Kind::Number => Token::new(kind, captured.replace(',', ""), start, end),
        Kind::Data => Token::new(kind, captured.trim_end_matches('\n'), start, end),
        _ => Token::new(kind, captured, start, end),
    })
}

/// Returns whether a sign divides words and is no operator: a dash before a word, or a bracket around words.
fn is_punctuation(text: &str, start: usize, end: usize) -> bool {
    let before = text.get(..start).unwrap_or_default();
    let after = text.get(end..).unwrap_or_default().trim_start();
    let is_apart = before.ends_with(' ') && !before.trim().is_empty();
    match text.get(start..end) {
        Some("-" | "–" | "—" | "(") => is_apart && after.starts_with(char::is_alphabetic),
        Some(")") => before.ends_with(char::is_alphabetic),
        _ => false,
    }
}

/// Returns the token for a word without trailing punctuation: a `File` if it is one of `files`.
fn word_or_file(raw: &str, start: usize, files: &[&str]) -> Token {
    let trimmed = raw.trim_end_matches(['.', '-', '/', '\\']);
    let is_file = files.iter().any(|name| name.eq_ignore_ascii_case(trimmed));
    let kind = if is_file { Kind::File } else { Kind::Word };
    let text = trimmed.trim_end_matches(['\'', '’']);
    Token::new(kind, text, start, start + trimmed.len().max(1))
}
