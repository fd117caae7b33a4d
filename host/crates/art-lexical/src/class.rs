//! The class of a slot: which words of a question can fill it, learnt from all values that the examples give its parameter.

use std::collections::BTreeSet;

use itertools::Itertools;
use jiff::fmt::strtime::BrokenDownTime;
use serde_json::Value;

use crate::arithmetic::Phrases;
use crate::data::{Data, Forms, Names, Values};
use crate::earlier::EARLIER;
use crate::token::{Kind, Token, beginnings, stems, texts};
use crate::words::{is_plain, reference_length};

/// Maximum number of plain words in an open slot.
const MAX_OPEN: usize = 3;
/// Cost of each plain word in an open slot.
const OPEN_WORD: f64 = 0.15;
/// Cost of a word that is part of a name.
const PART: f64 = 0.3;
/// Cost of an open slot when no example shows any of its words.
const UNKNOWN: f64 = 0.2;
/// Maximum number of tokens in a name.
const MAX_NAME: usize = 5;
/// Maximum number of tokens of a date in words: `the 3rd of March, 2026` has 7.
const MAX_MOMENT: usize = 7;
/// Minimum number of digits of a Unix time.
const MIN_UNIX_TIME: usize = 9;

/// Dates and times in words, without what an ordinal number ends with.
const MOMENTS: [&str; 9] = [
    "%d %B %Y", "%d %b %Y", "%B %d %Y", "%b %d %Y", "%d %B", "%B %d", "%b %d", "%I %p", "%I:%M %p",
];

/// Which words can fill a slot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Class {
    /// A number.
    Number,
    /// One of these values, such as the choices of a schema.
    Named(Names),
    /// A date or a time, or one of these words for one.
    Moment(Names),
    /// A column or a key of the data that is passed along.
    Key,
    /// A text in the data that is passed along.
    Cell,
    /// Numbers with these phrases between them.
    Arithmetic(Phrases),
    /// A pattern, a filter or an address: in quotes, or without a blank in it.
    Code,
    /// A few plain words: these or others. A quoted text is certain if the examples have one.
    Words { shown: Names, are_quoted: bool },
    /// A whole text in one of these forms. It has no place among the words.
    Text(Forms),
}

/// A way to fill a slot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Filler {
    /// Number of tokens that it consists of.
    pub(crate) length: usize,
    pub(crate) value: Value,
    /// Distance from what the examples show; 0 for a value that is certain.
    pub(crate) cost: f64,
    /// For open words, whether no example shows any of them.
    pub(crate) unknown: Option<bool>,
}

/// A text as the model reads it.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) text: String,
    pub(crate) tokens: Vec<Token>,
    /// Whole texts that a call can pass along.
    pub(crate) data: Vec<Data>,
    /// Stems of words that name the data or its records. A question may have them or lack them.
    pub(crate) context: BTreeSet<String>,
    /// Whether there is an earlier result that words can refer to.
    pub(crate) may_refer: bool,
}

impl Reading {
    /// Returns whether a word is the name of a column or a key of the data.
    pub(crate) fn is_key(&self, token: &Token) -> bool {
        self.data.iter().any(|data| data.keys.names.contains_key(&token.stem))
    }

    /// Returns whether one of `tokens` is the name of a column or a key.
    pub(crate) fn has_key<'a>(&self, mut tokens: impl Iterator<Item = &'a Token>) -> bool {
        tokens.any(|token| self.is_key(token))
    }

    /// Returns whether a word is the name of anything in the data, or a part of one name only.
    pub(crate) fn is_name(&self, token: &Token) -> bool {
        let values = self.data.iter().flat_map(|data| [&data.keys, &data.cells]);
        let mut names = values.flat_map(|values| [&values.names, &values.parts]);
        names.any(|names| names.contains_key(&token.stem))
    }

    /// Returns how many tokens at the beginning of `tokens` refer to an earlier result.
    pub(crate) fn reference(&self, tokens: &[Token]) -> Option<usize> {
        reference_length(tokens).filter(|_| self.may_refer)
    }
}

impl Class {
    /// Returns every way to fill a slot of this class with the first of `tokens`.
    pub(crate) fn fillers(&self, tokens: &[Token], reading: &Reading) -> Vec<Filler> {
        let one = |filler: Option<Filler>| filler.into_iter().collect::<Vec<_>>();
        match self {
            Self::Number => one(number(tokens, reading)),
            Self::Named(values) => names(tokens, |stems| values.get(stems)),
            Self::Moment(values) => {
                let named = names(tokens, |stems| values.get(stems));
                moment(tokens).into_iter().chain(named).collect()
            }
            Self::Key => in_data(tokens, reading, |data| &data.keys),
            Self::Cell => cells(tokens, reading),
            Self::Arithmetic(phrases) => phrases.runs(tokens, reading),
            Self::Code => code(tokens, &reading.text),
            Self::Words { shown, are_quoted } => words(tokens, shown, *are_quoted),
            Self::Text(_) => one(text(tokens)),
        }
    }
}

/// Creates a filler that is not of open words.
pub(crate) fn filler(length: usize, value: impl Into<Value>, cost: f64) -> Filler {
    let (value, unknown) = (value.into(), None);
    Filler {
        length,
        value,
        cost,
        unknown,
    }
}

fn number(tokens: &[Token], reading: &Reading) -> Option<Filler> {
    let sign = tokens.first().filter(|token| matches!(token.text.as_str(), "-" | "−"));
    let signed = usize::from(sign.is_some());
    let token = tokens.get(signed)?;
    if token.kind == Kind::Number {
        let number: f64 = token.text.parse().ok()?;
        let text = if sign.is_some() { -number } else { number }.to_string();
        return Some(filler(1 + signed, serde_json::from_str::<Value>(&text).ok()?, 0.0));
    }
    Some(filler(reading.reference(tokens)?, EARLIER, 0.05))
}

/// The names at the beginning of `tokens`, the longest first.
fn names<'a>(tokens: &[Token], name: impl Fn(&str) -> Option<&'a String>) -> Vec<Filler> {
    let named = |words: &[Token]| Some(filler(words.len(), name(&stems(words).to_lowercase())?.as_str(), 0.0));
    beginnings(tokens, MAX_NAME).filter_map(named).collect()
}

/// The names of the data at the beginning of `tokens`, or a word that is part of one name only.
fn in_data(tokens: &[Token], reading: &Reading, of: fn(&Data) -> &Values) -> Vec<Filler> {
    let named = names(tokens, |stems| {
        reading.data.iter().find_map(|data| of(data).names.get(stems))
    });
    let word = tokens.first().map_or("", Token::word);
    let part = reading.data.iter().find_map(|data| of(data).parts.get(word));
    let part = part
        .filter(|_| named.is_empty())
        .map(|name| filler(1, name.as_str(), PART));
    named.into_iter().chain(part).collect()
}

/// The cells at the beginning of `tokens`, which may have the name of their column before or after them.
fn cells(tokens: &[Token], reading: &Reading) -> Vec<Filler> {
    let cells = |tokens: &[Token]| in_data(tokens, reading, |data| &data.cells);
    let keys = |tokens: &[Token]| in_data(tokens, reading, |data| &data.keys);
    let is_at = |cell: &Value, key: &Value| {
        let pair = cell.as_str().zip(key.as_str());
        pair.is_some_and(|(cell, key)| reading.data.iter().any(|data| data.has_at(cell, key)))
    };
    let rest = |length: usize| tokens.get(length..).unwrap_or_default();
    let plain = cells(tokens);
    let mut found = Vec::new();
    for cell in &plain {
        let after = keys(rest(cell.length))
            .into_iter()
            .filter(|key| is_at(&cell.value, &key.value));
        found.extend(after.map(|key| filler(cell.length + key.length, cell.value.clone(), cell.cost)));
    }
    for key in keys(tokens) {
        let after = cells(rest(key.length))
            .into_iter()
            .filter(|cell| is_at(&cell.value, &key.value));
        found.extend(after.map(|cell| filler(cell.length + key.length, cell.value, cell.cost)));
    }
    found.into_iter().chain(plain).collect()
}

/// A whole text. It fills a slot in an example only: in a question it may have any place.
fn text(tokens: &[Token]) -> Option<Filler> {
    let text = tokens.first().filter(|token| token.is_data())?;
    Some(filler(1, text.text.as_str(), 0.0))
}

/// A date or a time, as it is written.
fn moment(tokens: &[Token]) -> Option<Filler> {
    let longest = beginnings(tokens, MAX_MOMENT).find(|words| is_moment(words))?;
    Some(filler(longest.len(), texts(longest), 0.0))
}

/// Returns whether `tokens` are a date or a time and nothing else.
pub(crate) fn is_moment(tokens: &[Token]) -> bool {
    let is_glue = |token: &Token| matches!(token.stem.as_str(), "the" | "of" | ",");
    let is_ending = |token: &Token| matches!(token.stem.as_str(), "st" | "nd" | "rd" | "th");
    match tokens {
        [] => false,
        [token] => {
            let is_whole = token.kind == Kind::Number && !token.text.contains('.');
            token.kind == Kind::Moment || (is_whole && token.text.len() >= MIN_UNIX_TIME)
        }
        [first, .., last] if is_glue(first) || is_glue(last) => false,
        _ => {
            let parts = tokens.iter().filter(|token| !is_glue(token) && !is_ending(token));
            let parts = parts.map(|token| &token.text).collect_vec();
            let text = parts.iter().join(" ");
            // A blank in a form matches no blank as well, so that `2028` could be a day and a year.
            let mut forms = MOMENTS.iter().filter(|form| form.split(' ').count() == parts.len());
            forms.any(|form| BrokenDownTime::parse(form, &text).is_ok())
        }
    }
}

/// A quoted text, a piece without a blank, or everything to the end of the question.
fn code(tokens: &[Token], text: &str) -> Vec<Filler> {
    let Some(first) = tokens.first() else {
        return Vec::new();
    };
    if first.kind == Kind::Quoted {
        return vec![filler(1, first.text.as_str(), 0.0)];
    }
    let before = text.get(..first.start).unwrap_or_default();
    if !before.is_empty() && !before.ends_with(char::is_whitespace) {
        return Vec::new();
    }
    let rest = text
        .get(first.start..)
        .unwrap_or_default()
        .trim_end_matches(['?', '!', ' ']);
    let piece = rest.split_whitespace().next().unwrap_or_default();
    let piece = piece.trim_end_matches([',', '.', '?', '!', ':']);
    let taken = |piece: &str| {
        tokens
            .iter()
            .take_while(|token| token.start < first.start + piece.len())
            .count()
    };
    // The rest is code as well if it ends like code: `.users[] | .name`, but not `.name on this file`.
    let end = rest
        .split_whitespace()
        .last()
        .filter(|end| end.len() < rest.len() && is_code(end));
    let all = end.map(|_| filler(taken(rest), rest, 0.0));
    let code = is_code(piece).then(|| filler(taken(piece), piece, 0.1));
    code.map_or_else(Vec::new, |code| std::iter::once(code).chain(all).collect())
}

/// Returns whether `text` has signs that a sentence does not have.
pub(crate) fn is_code(text: &str) -> bool {
    let has_sign = text.contains(|sign| r"\[]{}|^$*+#=<>%".contains(sign));
    has_sign || text.contains("://") || text.contains("(?") || text.starts_with('.')
}

/// Plain words or a quoted text, the nearer to the examples the cheaper.
fn words(tokens: &[Token], values: &Names, are_quoted: bool) -> Vec<Filler> {
    let mut found = names(tokens, |stems| values.get(stems));
    found.iter_mut().for_each(|filler| filler.unknown = Some(false));
    // An example may show a quoted "the" as a value; without quotes it is grammar.
    let may_fill = |token: &Token| token.kind != Kind::Word || is_plain(token);
    found.retain(|filler| tokens.iter().take(filler.length).any(may_fill));
    let is_quoted = |words: &[Token]| matches!(words, [token] if token.kind == Kind::Quoted);
    let is_open = |words: &&[Token]| words.iter().all(is_plain) || is_quoted(words);
    // No longer than the values of the examples: units have up to three words, a word to find has one.
    let longest = values.keys().map(|stems| stems.split(' ').count()).max().unwrap_or(1);
    for words in beginnings(tokens, longest.min(MAX_OPEN)).filter(is_open) {
        let is_shown = |token: &Token| values.contains_key(&token.stem);
        let is_known = (are_quoted && is_quoted(words)) || words.iter().all(is_shown);
        let unknown = !is_known;
        let cost = OPEN_WORD * words.iter().map(|_| 1.0).sum::<f64>() + if unknown { UNKNOWN } else { 0.0 };
        let filler = filler(words.len(), texts(words), cost);
        found.push(Filler {
            unknown: Some(unknown),
            ..filler
        });
    }
    found
}
