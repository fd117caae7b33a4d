//! What a slot takes, learnt from all values that the examples give its parameter.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::data::{Data, Form};
use crate::expression::{EARLIER, Operators};
use crate::token::{Kind, Token};
use crate::words::{is_functional, is_reference};

/// Plain words that an open slot takes at most.
const MAX_WORDS: usize = 3;
/// Words of the name of a column, a key or a cell.
const MAX_NAME: usize = 5;

/// A value that is written in words: their stems, and the value.
pub(crate) type Named = (String, String);

/// What a slot takes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Class {
    /// A number.
    Number,
    /// One of the values of the schema.
    Choice(Vec<Named>),
    /// A date or a time, or a word that an example gives for one.
    Moment(Vec<Named>),
    /// A column or a key of the data that is passed along.
    Key,
    /// A text or a number in the data that is passed along.
    Cell,
    /// Arithmetic.
    Expression(Operators),
    /// A pattern, a filter or an address: in quotes, or in one piece.
    Code,
    /// A few plain words, those of the examples or others.
    Words(BTreeSet<String>),
    /// Several values of one class.
    List(Box<Class>),
    /// A whole text, of one of these forms.
    Data(BTreeSet<Form>),
}

/// What fills a slot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Filler {
    /// How many tokens it takes.
    pub(crate) length: usize,
    pub(crate) value: Value,
    /// How far it is from what the examples show; 0 for what is certain.
    pub(crate) cost: f64,
    /// Words that no example shows.
    pub(crate) unknown: bool,
}

/// What is known of a question beside its words.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings<'a> {
    /// The text that was split into tokens.
    pub(crate) text: &'a str,
    /// Texts in the question and the files that come with it.
    pub(crate) data: &'a [Data],
    /// There is an earlier result that words may refer to.
    pub(crate) may_refer: bool,
}

impl Surroundings<'_> {
    /// The key or the cell of the data whose words have those stems.
    fn named(&self, stems: &str, keys: bool) -> Option<&str> {
        let named = self.data.iter().find_map(|data| {
            let names = if keys { &data.keys } else { &data.cells };
            names.get(stems)
        });
        named.map(String::as_str)
    }
}

impl Class {
    /// Everything at the beginning of `tokens` that fills a slot of the class.
    pub(crate) fn fillers(&self, tokens: &[Token], around: &Surroundings<'_>) -> Vec<Filler> {
        match self {
            Self::Number => number(tokens, around).into_iter().collect(),
            Self::Choice(values) => spoken(tokens, values).into_iter().collect(),
            Self::Moment(known) => moment(tokens, known).into_iter().collect(),
            Self::Key => named(tokens, around, true),
            Self::Cell => named(tokens, around, false)
                .into_iter()
                .chain(number(tokens, around))
                .collect(),
            Self::Expression(operators) => expressions(tokens, operators, around),
            Self::Code => code(tokens, around.text).into_iter().collect(),
            Self::Words(shown) => words(tokens, shown),
            Self::List(class) => list(tokens, class, around),
            Self::Data(_) => Vec::new(),
        }
    }
}

fn filler(length: usize, value: impl Into<Value>, cost: f64) -> Filler {
    Filler {
        length,
        value: value.into(),
        cost,
        unknown: false,
    }
}

fn number(tokens: &[Token], around: &Surroundings<'_>) -> Option<Filler> {
    let signed = tokens
        .first()
        .is_some_and(|token| matches!(token.text.as_str(), "-" | "−"));
    let token = tokens.get(usize::from(signed))?;
    if let Kind::Number(number) = token.kind {
        let number = if signed { -number } else { number };
        return Some(filler(1 + usize::from(signed), json_number(number), 0.0));
    }
    let length = is_reference(tokens).filter(|_| around.may_refer)?;
    Some(filler(length, EARLIER, 0.05))
}

/// A whole number without a point, any other with one.
fn json_number(number: f64) -> Value {
    let text = number.to_string();
    serde_json::from_str(&text).unwrap_or(Value::Null)
}

/// The longest of `values` that `tokens` begin with.
fn spoken(tokens: &[Token], values: &[Named]) -> Option<Filler> {
    let found = values
        .iter()
        .filter_map(|(stems, value)| Some((begins(tokens, stems)?, value)));
    let (length, value) = found.max_by_key(|(length, _)| *length)?;
    Some(filler(length, value.as_str(), 0.0))
}

/// How many tokens the stems of `folded` are at the beginning of `tokens`.
pub(crate) fn begins(tokens: &[Token], folded: &str) -> Option<usize> {
    let mut rest = folded;
    for (n, token) in tokens.iter().enumerate() {
        rest = rest
            .strip_prefix(token.stem.as_str())
            .filter(|_| !token.stem.is_empty())?;
        if rest.is_empty() {
            return Some(n + 1);
        }
        rest = rest.strip_prefix(' ')?;
    }
    None
}

fn moment(tokens: &[Token], known: &[Named]) -> Option<Filler> {
    match tokens.first()? {
        first if first.kind == Kind::Moment => Some(filler(1, first.text.as_str(), 0.0)),
        _ => spoken(tokens, known),
    }
}

fn named(tokens: &[Token], around: &Surroundings<'_>, keys: bool) -> Vec<Filler> {
    let mut stems = String::new();
    let mut found = Vec::new();
    for (n, token) in tokens
        .iter()
        .take(if around.data.is_empty() { 0 } else { MAX_NAME })
        .enumerate()
    {
        stems.push_str(if n > 0 { " " } else { "" });
        stems.push_str(&token.stem);
        found.extend(around.named(&stems, keys).map(|name| filler(n + 1, name, 0.0)));
    }
    found
}

fn expressions(tokens: &[Token], operators: &Operators, around: &Surroundings<'_>) -> Vec<Filler> {
    let found = operators.spans(tokens, around.may_refer).into_iter();
    found.map(|(length, text)| filler(length, text, 0.0)).collect()
}

fn code(tokens: &[Token], text: &str) -> Option<Filler> {
    let first = tokens.first()?;
    if first.kind == Kind::Quoted {
        return Some(filler(1, first.text.as_str(), 0.0));
    }
    let rest = text.get(first.start..)?;
    let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let piece = rest.get(..length)?.trim_end_matches([',', '.', '?', '!', ':']);
    let end = first.start + piece.len();
    let taken = tokens.iter().take_while(|token| token.start < end).count();
    (is_code(piece) && !piece.is_empty()).then(|| filler(taken, piece, 0.1))
}

/// Whether `text` is no prose but something for a machine: it has signs that a sentence has not.
pub(crate) fn is_code(text: &str) -> bool {
    text.contains(['\\', '[', ']', '{', '}', '|', '^', '$', '*', '+', '#', '=', '<', '>'])
        || text.contains("://")
        || text.starts_with('.')
        || text.contains("(?")
        || text.contains("%")
}

fn words(tokens: &[Token], shown: &BTreeSet<String>) -> Vec<Filler> {
    let mut found: Vec<Filler> = Vec::new();
    if let Some(quoted) = tokens.first().filter(|token| token.kind == Kind::Quoted) {
        let unknown = true;
        found.push(Filler {
            unknown,
            ..filler(1, quoted.text.as_str(), 0.1)
        });
    }
    if let Some(length) = shown.iter().filter_map(|value| begins(tokens, value)).max() {
        found.extend(tokens.get(..length).map(|taken| filler(length, joined(taken), 0.0)));
    }
    let is_plain = |token: &&Token| token.kind == Kind::Word && !is_functional(&token.stem);
    let plain = tokens.iter().take(MAX_WORDS).take_while(is_plain).count();
    for length in 1..=plain {
        let taken = tokens.get(..length).unwrap_or_default();
        let is_known = taken.iter().any(|token| shown.contains(&token.stem));
        let cost = 0.1 + 0.1 * f64::from(u8::try_from(length).unwrap_or(u8::MAX)) + if is_known { 0.0 } else { 0.2 };
        found.push(Filler {
            unknown: !is_known,
            ..filler(length, joined(taken), cost)
        });
    }
    found
}

fn joined(tokens: &[Token]) -> String {
    let texts: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
    texts.join(" ")
}

/// `3, 4 and 5`, or a list as JSON.
fn list(tokens: &[Token], class: &Class, around: &Surroundings<'_>) -> Vec<Filler> {
    if let Some(data) = tokens.first().filter(|token| token.kind == Kind::Data) {
        let value = serde_json::from_str::<Value>(&data.text).ok().filter(Value::is_array);
        return value.map(|value| filler(1, value, 0.0)).into_iter().collect();
    }
    let (mut found, mut values, mut at) = (Vec::new(), Vec::new(), 0);
    while let Some(rest) = tokens.get(at..) {
        let Some(next) = class.fillers(rest, around).into_iter().next() else {
            break;
        };
        at += next.length;
        values.push(next.value);
        // One number alone may be several that nobody parted: `100,200`.
        if values.len() > 1 || *class != Class::Number {
            found.push(filler(at, values.clone(), 0.2));
        }
        let divider = |token: &&Token| matches!(token.stem.as_str(), "," | ";" | "and" | "&");
        at += tokens
            .get(at..)
            .map_or(0, |rest| rest.iter().take(2).take_while(divider).count());
    }
    found
}
