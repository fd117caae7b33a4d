//! The class of a slot: which words of a question can fill it, learnt from all values that the examples give its parameter.

use itertools::Itertools;
use jiff::fmt::strtime::BrokenDownTime;
use serde_json::Value;

use crate::arithmetic::Phrases;
use crate::data::{Data, Forms, Names};
use crate::earlier::EARLIER;
use crate::token::{Kind, Token, beginnings, stems, texts};
use crate::words::{is_functional, is_reference};

/// Maximum number of plain words in an open slot.
const MAX_OPEN: usize = 3;
/// Cost of each plain word in an open slot.
const OPEN_WORD: f64 = 0.15;
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
    /// A text or a number in the data that is passed along.
    Cell,
    /// Numbers with these phrases between them.
    Arithmetic(Phrases),
    /// A pattern, a filter or an address: in quotes, or without a blank in it.
    Code,
    /// A few plain words: these or others.
    Words(Names),
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
    /// Whether there is an earlier result that words can refer to.
    pub(crate) may_refer: bool,
}

impl Reading {
    /// Returns how many tokens at the beginning of `tokens` refer to an earlier result.
    pub(crate) fn reference(&self, tokens: &[Token]) -> Option<usize> {
        is_reference(tokens).filter(|_| self.may_refer)
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
            Self::Cell => {
                let cells = in_data(tokens, reading, |data| &data.cells);
                cells.into_iter().chain(number(tokens, reading)).collect()
            }
            Self::Arithmetic(phrases) => phrases.runs(tokens, reading),
            Self::Code => one(code(tokens, &reading.text)),
            Self::Words(values) => words(tokens, values),
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
    let named = |words: &[Token]| Some(filler(words.len(), name(&stems(words))?.as_str(), 0.0));
    beginnings(tokens, MAX_NAME).filter_map(named).collect()
}

fn in_data(tokens: &[Token], reading: &Reading, of: fn(&Data) -> &Names) -> Vec<Filler> {
    names(tokens, |stems| reading.data.iter().find_map(|data| of(data).get(stems)))
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
            let text = parts.map(|token| &token.text).join(" ");
            MOMENTS.iter().any(|form| BrokenDownTime::parse(form, &text).is_ok())
        }
    }
}

fn code(tokens: &[Token], text: &str) -> Option<Filler> {
    let first = tokens.first()?;
    if first.kind == Kind::Quoted {
        return Some(filler(1, first.text.as_str(), 0.0));
    }
    let piece = text.get(first.start..)?.split_whitespace().next()?;
    let piece = piece.trim_end_matches([',', '.', '?', '!', ':']);
    let end = first.start + piece.len();
    let taken = tokens.iter().take_while(|token| token.start < end).count();
    is_code(piece).then(|| filler(taken, piece, 0.1))
}

/// Returns whether `text` has signs that a sentence does not have.
pub(crate) fn is_code(text: &str) -> bool {
    let has_sign = text.contains(|sign| r"\[]{}|^$*+#=<>%".contains(sign));
    has_sign || text.contains("://") || text.contains("(?") || text.starts_with('.')
}

/// Plain words or a quoted text, the nearer to the examples the cheaper.
fn words(tokens: &[Token], values: &Names) -> Vec<Filler> {
    let mut found = names(tokens, |stems| values.get(stems));
    found.iter_mut().for_each(|filler| filler.unknown = Some(false));
    let is_plain = |token: &Token| token.kind == Kind::Word && !is_functional(&token.stem);
    // An example may show a quoted "the" as a value; without quotes it is grammar.
    let may_fill = |token: &Token| token.kind != Kind::Word || is_plain(token);
    found.retain(|filler| tokens.iter().take(filler.length).any(may_fill));
    let is_quoted = |words: &[Token]| matches!(words, [token] if token.kind == Kind::Quoted);
    let is_open = |words: &&[Token]| words.iter().all(is_plain) || is_quoted(words);
    for words in beginnings(tokens, MAX_OPEN).filter(is_open) {
        let unknown = !words.iter().any(|token| values.contains_key(&token.stem));
        let cost = OPEN_WORD * words.iter().map(|_| 1.0).sum::<f64>() + if unknown { UNKNOWN } else { 0.0 };
        let filler = filler(words.len(), texts(words), cost);
        found.push(Filler {
            unknown: Some(unknown),
            ..filler
        });
    }
    found
}
