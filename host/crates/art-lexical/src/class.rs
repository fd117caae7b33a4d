//! The class of a slot: which words of a question can fill it, learnt from all values that the examples give its parameter.

use std::collections::BTreeSet;

use itertools::Itertools;
use serde_json::Value;

use crate::data::{TextForms, TextsByStems, texts_by_stems};
use crate::earlier::EARLIER_RESULT;
use crate::place::PathOrUrl;
use crate::reading::Reading;
use crate::token::{Token, TokenKind, beginnings, token_stems, tokenise};
use crate::words::{is_content_word, is_function_word};

/// Maximum number of unknown words in an open slot.
const MAX_OPEN_WORDS: usize = 3;
/// Maximum number of tokens in a name.
const MAX_NAME_TOKENS: usize = 6;

/// Which words can fill a slot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Class {
    /// A number.
    Number,
    /// One of the choices of a schema.
    Choice(TextsByStems),
    /// A column or a key of the data that is passed along.
    Key,
    /// A text in the data that is passed along.
    Cell,
    /// A path or an address.
    PathOrUrl(PathOrUrl),
    /// A value such as those of the examples: arithmetic, a date, a unit, a quoted text.
    LikeExamples(ExampleValues),
    /// A whole text in one of these forms. It is not aligned with the words of a question.
    WholeText(TextForms),
}

/// What the values that the examples give a parameter have in common.
///
/// If none of them has a number or a date, the slot is *open*: it also accepts words that no example shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ExampleValues {
    /// The values of the examples.
    pub(crate) shown: TextsByStems,
    /// Kinds of tokens that follow each other in a value, with [`EDGE_KIND`] before the first and after the last one.
    kind_pairs: BTreeSet<(String, String)>,
    /// Whether any value has a number or a date. If not, the slot is open.
    has_numbers_or_dates: bool,
    /// The kinds of values that are one token.
    single_kinds: BTreeSet<String>,
    /// Whether the examples have a value in quotes.
    has_quoted: bool,
}

/// The kind that stands for the edge of a value.
const EDGE_KIND: &str = "^";
/// The kind of a number in a value.
const NUMBER_KIND: &str = "#";
/// The kind of a date, a time or an ordinal number in a value.
const DATE_KIND: &str = "@";

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
    /// Returns the values of an open slot, which also accepts words that no example shows. Returns `None` for any other class.
    pub(crate) fn as_open(&mut self) -> Option<&mut ExampleValues> {
        match self {
            Self::LikeExamples(values) if !values.has_numbers_or_dates => Some(values),
            _ => None,
        }
    }

    /// Returns every way to fill a slot of this class with tokens at the beginning of `tokens`.
    pub(crate) fn fillers(&self, tokens: &[Token], reading: &Reading) -> Vec<Filler> {
        match self {
            Self::Number => Vec::from_iter(number_filler(tokens, reading)),
            Self::Choice(choices) => name_fillers(tokens, [choices]),
            Self::Key => name_fillers(tokens, reading.whole_texts.iter().map(|whole_text| &whole_text.keys)),
            Self::Cell => name_fillers(tokens, reading.whole_texts.iter().map(|whole_text| &whole_text.cells)),
            Self::PathOrUrl(known) => Vec::from_iter(tokens.first().and_then(|token| known.filler(token))),
            Self::LikeExamples(values) => values.fillers(tokens, reading),
            Self::WholeText(_) => {
                let text = tokens.iter().take(1).filter(|token| token.may_be_whole_text());
                text.map(|text| Filler::new(1, text.text.as_str(), false)).collect()
            }
        }
    }
}

impl ExampleValues {
    /// Learns from the values of a parameter; `has_quoted` tells whether an example has one of them in quotes.
    pub(crate) fn learn<'a>(values: impl Iterator<Item = &'a str> + Clone, has_quoted: bool) -> Self {
        let mut learnt = Self::default();
        (learnt.shown, learnt.has_quoted) = (texts_by_stems(values.clone()), has_quoted);
        for tokens in values.map(|value| tokenise(value, &[])) {
            learnt.has_numbers_or_dates |= tokens.iter().any(Token::is_number_or_date);
            let mut kinds = tokens.iter().map(value_kind).collect_vec();
            learnt
                .single_kinds
                .extend(kinds.first().filter(|_| kinds.len() == 1).cloned());
            kinds.iter_mut().take(1).for_each(|kind| *kind = first_value_kind(kind));
            let with_edges = [EDGE_KIND.to_owned()]
                .into_iter()
                .chain(kinds)
                .chain([EDGE_KIND.to_owned()]);
            learnt.kind_pairs.extend(with_edges.tuple_windows());
        }
        learnt
    }

    /// Returns every way to fill the slot with tokens at the beginning of `tokens`.
    fn fillers(&self, tokens: &[Token], reading: &Reading) -> Vec<Filler> {
        // An example may show a quoted "the" as a value, but without quotes it is a word of grammar.
        let has_content = |one: &Filler| {
            tokens
                .iter()
                .take(one.length)
                .any(|token| !is_function_word(token.word_stem()))
        };
        let shown = name_fillers(tokens, [&self.shown]).into_iter().filter(has_content);
        let composed = self.number_or_date_fillers(tokens, reading);
        shown.chain(composed).chain(self.open_fillers(tokens)).collect()
    }

    /// Returns every value with a number or a date at the beginning of `tokens`, provided that the kinds of its neighbouring
    /// tokens also follow each other in the values of examples. A reference to an earlier result counts as a number.
    fn number_or_date_fillers(&self, tokens: &[Token], reading: &Reading) -> Vec<Filler> {
        let (mut fillers, mut text, mut at, mut has_number_or_date) = (Vec::new(), String::new(), 0, false);
        let (mut kind_before, mut end_before) = (EDGE_KIND.to_owned(), usize::MAX);
        while let Some(rest @ [token, ..]) = tokens.get(at..) {
            let reference = reading.earlier_reference_length(rest);
            let reference = reference.map(|length| (length, NUMBER_KIND.to_owned(), EARLIER_RESULT));
            let (length, kind, written) = reference.unwrap_or_else(|| (1, value_kind(token), &token.text));
            let kind_in_value = if at == 0 { first_value_kind(&kind) } else { kind.clone() };
            if !self.kind_pairs.contains(&(kind_before, kind_in_value.clone())) {
                break;
            }
            text.push_str(if end_before < token.start { " " } else { "" });
            text.push_str(written);
            end_before = rest.get(length - 1).map_or(end_before, |last| last.end);
            has_number_or_date |= token.is_number_or_date() || kind == NUMBER_KIND;
            let may_be_value = at > 0 || self.single_kinds.contains(&kind);
            at += length;
            if has_number_or_date
                && may_be_value
                && self.kind_pairs.contains(&(kind_in_value.clone(), EDGE_KIND.to_owned()))
            {
                fillers.push(Filler::new(at, text.as_str(), false));
            }
            kind_before = kind_in_value;
        }
        fillers
    }

    /// Returns values that need not be in an example: a quoted text, or a few words with content. The words are at most as many
    /// as in the longest value of the examples, and at most three.
    fn open_fillers(&self, tokens: &[Token]) -> Vec<Filler> {
        let lengths = self.shown.keys().map(|stems| stems.split(' ').count());
        let longest = lengths.max().unwrap_or(1).min(MAX_OPEN_WORDS);
        let words =
            beginnings(tokens, longest).filter(|words| !self.has_numbers_or_dates && words.iter().all(is_content_word));
        let plain = words.map(|words| Filler::new(words.len(), words.iter().map(|word| &word.text).join(" "), true));
        let quoted = tokens.first().filter(|token| token.kind == TokenKind::Quoted);
        let quoted = quoted
            .filter(|_| self.has_quoted || !self.has_numbers_or_dates)
            .into_iter();
        plain
            .chain(quoted.map(|token| Filler::new(1, token.text.as_str(), !self.has_quoted)))
            .collect()
    }
}

/// Returns the kind of a token in a value. Long numbers, other numbers, dates, quoted texts and signs have a kind each. The kind of a word
/// is its stem.
fn value_kind(token: &Token) -> String {
    match token.kind {
        TokenKind::Number if token.text.len() > 8 => "Unix time".to_owned(),
        TokenKind::Number => NUMBER_KIND.to_owned(),
        TokenKind::Moment => DATE_KIND.to_owned(),
        TokenKind::Symbol => "±".to_owned(),
        TokenKind::Quoted | TokenKind::Block | TokenKind::Attachment => "\"".to_owned(),
        TokenKind::Word | TokenKind::Path | TokenKind::Url | TokenKind::Mark => token.stem.clone(),
    }
}

/// Returns the kind of the first token of a value. A word at the beginning is of another kind than the same word within a value.
fn first_value_kind(kind: &str) -> String {
    let edge = if matches!(kind, NUMBER_KIND | DATE_KIND) {
        ""
    } else {
        EDGE_KIND
    };
    format!("{edge}{kind}")
}

/// Returns the number at the beginning of `tokens`, or the earlier result to which they refer, as a value.
fn number_filler(tokens: &[Token], reading: &Reading) -> Option<Filler> {
    let is_sign = |token: &Token| matches!(token.text.as_str(), "-" | "−");
    let sign_count = usize::from(tokens.first().is_some_and(is_sign));
    let token = tokens.get(sign_count)?;
    if token.kind != TokenKind::Number {
        return Some(Filler::new(
            reading.earlier_reference_length(tokens)?,
            EARLIER_RESULT,
            false,
        ));
    }
    let number: f64 = token.text.parse().ok()?;
    let text = if sign_count > 0 { -number } else { number }.to_string();
    let value: Value = serde_json::from_str(&text).ok()?;
    Some(Filler::new(1 + sign_count, value, false))
}

/// Returns the known names at the beginning of `tokens`, the longest first.
fn name_fillers<'a>(tokens: &[Token], known: impl IntoIterator<Item = &'a TextsByStems>) -> Vec<Filler> {
    let known: Vec<&TextsByStems> = known.into_iter().collect();
    let filler = |words: &[Token]| {
        let stems = token_stems(words).to_lowercase();
        let name = known.iter().find_map(|names| names.get(&stems))?;
        Some(Filler::new(words.len(), name.as_str(), false))
    };
    beginnings(tokens, MAX_NAME_TOKENS).filter_map(filler).collect()
}
