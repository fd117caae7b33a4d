//! Splits text into tokens: words, numbers, dates, quoted texts, blocks and so on.

use std::sync::LazyLock;

use itertools::Itertools;
use regex::{Captures, Regex};
use rust_stemmers::{Algorithm, Stemmer};
use serde_json::Value;

/// Maximum number of attempts to parse JSON in one text. Each takes time linear in the length of the text.
const MAX_JSON_ATTEMPTS: usize = 16;

/// Matches one token; the first alternative that fits wins. Never `None`, because the regular expression is fixed and valid.
static TOKEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let fenced = r"```(?:\w*\n)?(?P<fenced>(?s:.*?))```";
    let quoted = r#""(?P<a>[^"]*)"|[“„](?P<b>[^”“]*)[”“]|«(?P<c>[^»]*)»|`(?P<d>[^`]+)`|['‘](?P<e>[^'’]*)['’]"#;
    let month = "(?i:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
    let day = r"\d{1,2}(?:st|nd|rd|th)?";
    let date = format!(r"(?:the )?{day} (?:of )?{month}(?:,? \d{{4}})?|{month} (?:the )?{day}\b(?:,? \d{{4}})?");
    let numeric_date = r"\d{4}-\d\d-\d\d(?:[Tt]\d\d:\d\d(?:\S*[0-9Zz])?)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}";
    let time = r"\d{1,2}(?::\d\d)? ?[AaPp]\.?[Mm]|\d{1,2}:\d\d(?::\d\d)?";
    let moment = format!(r"(?P<moment>{date}|{numeric_date}|{time}|\d+(?:st|nd|rd|th))\b");
    let number = r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:e[+-]?\d+\b)?)";
    let url = r"(?P<url>[A-Za-z][\w+.-]*://\S*[^\s.,;:!?'’”»)])";
    let rooted = r"(?:~/|\.\.?/|[A-Za-z]:\\|/[\p{L}_.])(?:\S*[^\s.,;:!?'’”»)])?|~\B";
    let location = format!(r"(?:^|\s)(?:{url}|(?P<path>{rooted}|\w[\w./\\+-]*\.[A-Za-z][A-Za-z0-9]+\b))");
    let word = r"(?P<word>[\p{L}_°\\](?:[\p{L}\p{M}\p{N}_/@.\-'’&°\\]*[\p{L}\p{M}\p{N}_@&°])?)";
    let rest = r"(?P<mark>[.,?;:!…¿¡])|(?P<symbol>\S)";
    Regex::new(&format!("{location}|{fenced}|{quoted}|{moment}|{number}|{word}|{rest}")).ok()
});

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TokenKind {
    /// A word, with all that is written together with it: `km/h`, `ada@example.org`.
    Word,
    /// A number without a sign.
    Number,
    /// A date or a time of day, or an ordinal number.
    Moment,
    /// A text in quotes.
    Quoted,
    /// JSON, a fenced code block, or a whole text after a colon or the first line (see `reading::readings`).
    Block,
    /// The name of an attachment.
    Attachment,
    /// The path of a file, which begins with a directory or ends with a type: `~/notes`, `report.csv`.
    Path,
    /// The address of a page: `https://example.org`.
    Url,
    /// Any other character that may carry meaning, such as an operator.
    Symbol,
    /// A character that ends or divides sentences.
    Mark,
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    /// The text, without quotes and thousands separators.
    pub(crate) text: String,
    /// The form used for comparison: the stem of a word or a path, the stems of a quoted text, otherwise the text in lower case.
    pub(crate) stem: String,
    /// Where it begins and ends, in bytes.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Token {
    pub(crate) fn new(kind: TokenKind, text: impl Into<String>, start: usize, end: usize) -> Self {
        let text = text.into();
        let stem = match kind {
            TokenKind::Word | TokenKind::Path => stem(&text),
            TokenKind::Quoted => text_stems(&text),
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

    /// Returns the stem of a word, or an empty text for other tokens.
    pub(crate) fn word_stem(&self) -> &str {
        if self.kind == TokenKind::Word { &self.stem } else { "" }
    }

    pub(crate) const fn is_number_or_date(&self) -> bool {
        matches!(self.kind, TokenKind::Number | TokenKind::Moment)
    }

    /// Returns whether the token may be a whole text: a quoted text, a block or an attachment.
    pub(crate) const fn may_be_whole_text(&self) -> bool {
        matches!(self.kind, TokenKind::Quoted | TokenKind::Block | TokenKind::Attachment)
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

/// Returns the stems of the words in a text, joined by blanks. Texts with equal stems count as the same text.
pub(crate) fn text_stems(text: &str) -> String {
    text.split_whitespace().map(stem).join(" ")
}

/// Returns the stems of `tokens`, joined by blanks.
pub(crate) fn token_stems(tokens: &[Token]) -> String {
    tokens.iter().map(|token| &token.stem).join(" ")
}

/// Returns the beginnings of `tokens` that have at most `max` tokens, the longest first.
pub(crate) fn beginnings(tokens: &[Token], max: usize) -> impl Iterator<Item = &[Token]> {
    let lengths = (1..=tokens.len().min(max)).rev();
    lengths.filter_map(|length| tokens.get(..length))
}

/// Splits `text` into tokens. A word or a path that is in `attachments` is the name of an attachment.
pub(crate) fn tokenise(text: &str, attachments: &[&str]) -> Vec<Token> {
    let (mut tokens, mut at, mut attempts) = (Vec::new(), 0, MAX_JSON_ATTEMPTS);
    while let Some(found) = TOKEN.as_ref().and_then(|regex| regex.captures_at(text, at)) {
        let Some(next) = json_token(text, &found, &mut attempts).or_else(|| captured_token(&found, attachments)) else {
            break;
        };
        at = next.end;
        tokens.push(next);
    }
    tokens
}

/// Returns the JSON array or object that begins at the found token, if there is one.
fn json_token(text: &str, found: &Captures<'_>, attempts: &mut usize) -> Option<Token> {
    let start = found.name("symbol")?.start();
    let rest = text.get(start..).filter(|rest| rest.starts_with(['{', '[']))?;
    *attempts = attempts.checked_sub(1)?;
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    values.next()?.ok()?;
    let json = rest.get(..values.byte_offset())?;
    Some(Token::new(TokenKind::Block, json, start, start + json.len()))
}

/// Returns the found token. Its kind is that of the named group in [`TOKEN`] that it matches.
fn captured_token(found: &Captures<'_>, attachments: &[&str]) -> Option<Token> {
    let mut groups = TOKEN.as_ref()?.capture_names().flatten();
    let (name, group) = groups.find_map(|name| Some((name, found.name(name)?)))?;
    let text = group.as_str();
    let is_attachment = attachments.iter().any(|name| name.eq_ignore_ascii_case(text));
    let (kind, matched) = match name {
        "word" | "path" if is_attachment => (TokenKind::Attachment, group),
        "word" => (TokenKind::Word, group),
        "path" => (TokenKind::Path, group),
        "url" => (TokenKind::Url, group),
        "moment" => (TokenKind::Moment, group),
        "number" => (TokenKind::Number, group),
        "mark" => (TokenKind::Mark, group),
        "symbol" => (TokenKind::Symbol, group),
        "fenced" => (TokenKind::Block, found.get(0)?),
        _ => (TokenKind::Quoted, found.get(0)?),
    };
    let text = match kind {
        TokenKind::Number => text.replace(',', ""),
        TokenKind::Block => text.trim_end_matches('\n').to_owned(),
        _ => text.to_owned(),
    };
    Some(Token::new(kind, text, matched.start(), matched.end()))
}
