//! The class of a slot: which words of a question can fill it, learnt from all values that the examples give its parameter.

use std::collections::BTreeSet;

use itertools::Itertools;
use serde_json::Value;

use crate::data::{Forms, Names, names};
use crate::earlier::EARLIER;
use crate::place::Place;
use crate::reading::Reading;
use crate::token::{Kind, Token, beginnings, stems, tokens};
use crate::words::{is_content_word, is_functional};

/// Maximum number of unknown words in an open slot.
const MAX_OPEN: usize = 3;
/// Maximum number of tokens in a name.
const MAX_NAME: usize = 6;

/// Which words can fill a slot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Class {
    /// A number.
    Number,
    /// One of the choices of a schema.
    Choice(Names),
    /// A column or a key of the data that is passed along.
    Key,
    /// A text in the data that is passed along.
    Cell,
    /// A path or an address.
    Place(Place),
    /// A value such as those of the examples: arithmetic, a date, a unit, a quoted text.
    Run(Run),
    /// A whole text in one of these forms. It is not aligned with the words of a question.
    Text(Forms),
}

/// The runs of tokens that are values of a parameter, as the examples show them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Run {
    /// The values of the examples.
    pub(crate) shown: Names,
    /// Kinds of tokens that follow each other in a value, with [`EDGE`] before the first and after the last one.
    pairs: BTreeSet<(String, String)>,
    /// Whether the values have numbers or dates. If not, the slot is open: it also accepts words that no example shows.
    has_operands: bool,
    /// The kinds of values that are one token.
    single_kinds: BTreeSet<String>,
    /// Whether the examples have a value in quotes.
    are_quoted: bool,
}

/// The kind that stands for the edge of a value.
const EDGE: &str = "^";
/// The kind of a number in a value.
const NUMBER: &str = "#";
/// The kind of a date or a time in a value.
const DATE: &str = "@";

/// A way to fill a slot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Filler {
    /// Number of tokens that it consists of.
    pub(crate) length: usize,
    pub(crate) value: Value,
    /// Whether no example shows such a value.
    pub(crate) is_unknown: bool,
}

impl Filler {
    pub(crate) fn new(length: usize, value: impl Into<Value>, is_unknown: bool) -> Self {
        let value = value.into();
        Self {
            length,
            value,
            is_unknown,
        }
    }
}

impl Class {
    /// Returns the run of an open slot, which also accepts words that no example shows. Returns `None` for any other class.
    pub(crate) fn as_open_run(&mut self) -> Option<&mut Run> {
        match self {
            Self::Run(run) if !run.has_operands => Some(run),
            _ => None,
        }
    }

    /// Returns every way to fill a slot of this class with tokens at the beginning of `tokens`.
    pub(crate) fn fillers(&self, tokens: &[Token], reading: &Reading) -> Vec<Filler> {
        match self {
            Self::Number => Vec::from_iter(number_filler(tokens, reading)),
            Self::Choice(choices) => name_fillers(tokens, [choices]),
            Self::Key => name_fillers(tokens, reading.data.iter().map(|data| &data.keys)),
            Self::Cell => name_fillers(tokens, reading.data.iter().map(|data| &data.cells)),
            Self::Place(place) => Vec::from_iter(tokens.first().and_then(|token| place.filler(token))),
            Self::Run(run) => run.fillers(tokens, reading),
            Self::Text(_) => {
                let text = tokens.iter().take(1).filter(|token| token.is_data());
                text.map(|text| Filler::new(1, text.text.as_str(), false)).collect()
            }
        }
    }
}

impl Run {
    /// Learns from the values of a parameter.
    pub(crate) fn learn<'a>(values: impl Iterator<Item = &'a str> + Clone, are_quoted: bool) -> Self {
        let mut run = Self::default();
        (run.shown, run.are_quoted) = (names(values.clone()), are_quoted);
        for tokens in values.map(|value| tokens(value, &[])) {
            run.has_operands |= tokens.iter().any(Token::is_operand);
            let mut kinds = tokens.iter().map(kind).collect_vec();
            run.single_kinds
                .extend(kinds.first().filter(|_| kinds.len() == 1).cloned());
            kinds.iter_mut().take(1).for_each(|kind| *kind = first_kind(kind));
            let all = [EDGE.to_owned()].into_iter().chain(kinds).chain([EDGE.to_owned()]);
            run.pairs.extend(all.tuple_windows());
        }
        run
    }

    fn fillers(&self, tokens: &[Token], reading: &Reading) -> Vec<Filler> {
        // An example may show a quoted "the" as a value, but without quotes it is a word of grammar.
        let has_content = |one: &Filler| tokens.iter().take(one.length).any(|token| !is_functional(token.word()));
        let shown = name_fillers(tokens, [&self.shown]).into_iter().filter(has_content);
        let runs = self.operand_fillers(tokens, reading);
        shown.chain(runs).chain(self.open_fillers(tokens)).collect()
    }

    /// Returns every value with a number or a date at the beginning of `tokens` whose neighbouring tokens also follow each other in
    /// the values of examples. A reference to an earlier result counts as a number.
    fn operand_fillers(&self, tokens: &[Token], reading: &Reading) -> Vec<Filler> {
        let (mut runs, mut text, mut at, mut has_operand) = (Vec::new(), String::new(), 0, false);
        let (mut before, mut end) = (EDGE.to_owned(), usize::MAX);
        while let Some(rest @ [token, ..]) = tokens.get(at..) {
            let reference = reading.earlier_reference_length(rest);
            let reference = reference.map(|length| (length, NUMBER.to_owned(), EARLIER));
            let (length, kind, written) = reference.unwrap_or_else(|| (1, kind(token), &token.text));
            let next = if at == 0 { first_kind(&kind) } else { kind.clone() };
            if !self.pairs.contains(&(before, next.clone())) {
                break;
            }
            text.push_str(if end < token.start { " " } else { "" });
            text.push_str(written);
            end = rest.get(length - 1).map_or(end, |last| last.end);
            has_operand |= token.is_operand() || kind == NUMBER;
            let is_whole = at > 0 || self.single_kinds.contains(&kind);
            at += length;
            if has_operand && is_whole && self.pairs.contains(&(next.clone(), EDGE.to_owned())) {
                runs.push(Filler::new(at, text.as_str(), false));
            }
            before = next;
        }
        runs
    }

    /// Returns values that need not be in an example: a quoted text, or a few words with content. The words are at most as many
    /// as in the longest value of the examples, and at most three.
    fn open_fillers(&self, tokens: &[Token]) -> Vec<Filler> {
        let lengths = self.shown.keys().map(|stems| stems.split(' ').count());
        let longest = lengths.max().unwrap_or(1).min(MAX_OPEN);
        let words = beginnings(tokens, longest).filter(|words| !self.has_operands && words.iter().all(is_content_word));
        let plain = words.map(|words| Filler::new(words.len(), words.iter().map(|word| &word.text).join(" "), true));
        let quoted = tokens.first().filter(|token| token.kind == Kind::Quoted);
        let quoted = quoted.filter(|_| self.are_quoted || !self.has_operands).into_iter();
        plain
            .chain(quoted.map(|token| Filler::new(1, token.text.as_str(), !self.are_quoted)))
            .collect()
    }
}

/// Returns the kind of a token in a value. Long numbers, other numbers, dates, quoted texts and signs have a kind each. The kind of a word
/// is its stem.
fn kind(token: &Token) -> String {
    match token.kind {
        Kind::Number if token.text.len() > 8 => "Unix time".to_owned(),
        Kind::Number => NUMBER.to_owned(),
        Kind::Moment => DATE.to_owned(),
        Kind::Symbol => "±".to_owned(),
        Kind::Quoted | Kind::Data | Kind::File => "\"".to_owned(),
        Kind::Word | Kind::Path | Kind::Url | Kind::Mark => token.stem.clone(),
    }
}

/// Returns the kind of the first token of a value. A word at the beginning is of another kind than the same word within a value.
fn first_kind(kind: &str) -> String {
    let edge = if matches!(kind, NUMBER | DATE) { "" } else { EDGE };
    format!("{edge}{kind}")
}

fn number_filler(tokens: &[Token], reading: &Reading) -> Option<Filler> {
    let is_sign = |token: &Token| matches!(token.text.as_str(), "-" | "−");
    let sign_count = usize::from(tokens.first().is_some_and(is_sign));
    let token = tokens.get(sign_count)?;
    if token.kind != Kind::Number {
        return Some(Filler::new(reading.earlier_reference_length(tokens)?, EARLIER, false));
    }
    let number: f64 = token.text.parse().ok()?;
    let text = if sign_count > 0 { -number } else { number }.to_string();
    let value: Value = serde_json::from_str(&text).ok()?;
    Some(Filler::new(1 + sign_count, value, false))
}

/// Returns the known names at the beginning of `tokens`, the longest first.
fn name_fillers<'a>(tokens: &[Token], known: impl IntoIterator<Item = &'a Names>) -> Vec<Filler> {
    let known: Vec<&Names> = known.into_iter().collect();
    let filler = |words: &[Token]| {
        let stems = stems(words).to_lowercase();
        let name = known.iter().find_map(|names| names.get(&stems))?;
        Some(Filler::new(words.len(), name.as_str(), false))
    };
    beginnings(tokens, MAX_NAME).filter_map(filler).collect()
}
