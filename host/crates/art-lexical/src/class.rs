//! The class of a slot (a place for a value in a pattern): which words can fill it, learnt from all values of its parameter.

use std::collections::BTreeSet;

use itertools::{Itertools, chain};
use serde_json::Value;

use crate::data::{TextForms, TextsByStems, texts_by_stems};
use crate::earlier::EARLIER_RESULT;
use crate::reading::Reading;
use crate::token::{Token, TokenKind, beginnings, tokenise};
use crate::words::{is_content_word, is_function_word};

/// Maximum number of words in a value of an open slot, which accepts words that no example shows.
const MAX_OPEN_WORDS: usize = 3;

/// Which words can fill a slot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Class {
    /// A number.
    Number,
    /// One of the choices of a schema.
    Choice(TextsByStems),
    /// A column or a key of a table or of JSON in the question or in an attachment.
    Key,
    /// A text in a cell or under a key of such data.
    Cell,
    /// A path or an address.
    PathOrUrl(PathOrUrl),
    /// A value such as those of the examples: arithmetic, a date, a unit, a quoted text.
    LikeExamples(ExampleValues),
    /// A whole text (quoted, after a colon or attached) in one of these forms. Its slot is in `Pattern::text_slots`, not `items`.
    WholeText(TextForms),
}

/// What the values that the examples give a parameter have in common.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ExampleValues {
    /// The values themselves, each with its stems as key.
    pub(crate) texts: TextsByStems,
    /// Maximum number of words in a value that no example shows: as many as the longest shown value has.
    max_open_words: usize,
    /// Kinds of tokens that follow each other in a value, with [`EDGE_KIND`] before the first and after the last one.
    kind_pairs: BTreeSet<(String, String)>,
    /// Whether any value has a number or a date. If not, the slot is *open*: it also accepts words that no example shows.
    has_numbers_or_dates: bool,
    /// The kinds of values that are one token.
    single_kinds: BTreeSet<String>,
    /// Whether the examples have a value in quotes.
    has_quoted: bool,
}

// The kinds of the edge of a value, of a number in it, and of a date, a time or an ordinal number in it.
const EDGE_KIND: &str = "^";
const NUMBER_KIND: &str = "#";
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
        Self {
            length,
            value: value.into(),
            is_unknown,
        }
    }
}

impl Class {
    /// Returns the values of an open slot, or `None` for any other class.
    pub(crate) fn as_open(&mut self) -> Option<&mut ExampleValues> {
        match self {
            Self::LikeExamples(values) if !values.has_numbers_or_dates => Some(values),
            _ => None,
        }
    }

    /// Returns every way to fill a slot of this class with the tokens of `reading` from `at` on.
    pub(crate) fn fillers(&self, reading: &Reading, at: usize) -> Vec<Filler> {
        let token = reading.tokens.get(at);
        let whole_texts = &reading.whole_texts;
        match self {
            Self::Number => Vec::from_iter(number_filler(reading, at)),
            Self::Choice(choices) => name_fillers(reading, at, |name| choices.get(name)),
            Self::Key => name_fillers(reading, at, |name| {
                whole_texts.iter().find_map(|text| text.keys.get(name))
            }),
            Self::Cell => name_fillers(reading, at, |name| {
                whole_texts.iter().find_map(|text| text.cells.get(name))
            }),
            Self::PathOrUrl(known) => Vec::from_iter(token.and_then(|token| known.filler(token))),
            Self::LikeExamples(values) => values.fillers(reading, at),
            Self::WholeText(_) => {
                let text = token.filter(|token| token.may_be_whole_text()).into_iter();
                text.map(|text| Filler::new(1, text.text.as_str(), false)).collect()
            }
        }
    }
}

impl ExampleValues {
    /// Learns from the values of a parameter; `has_quoted` tells whether an example has one of them in quotes.
    pub(crate) fn learn<'a>(values: impl Iterator<Item = &'a str> + Clone, has_quoted: bool) -> Self {
        let mut learnt = Self {
            has_quoted,
            ..Self::default()
        };
        learnt.show(&texts_by_stems(values.clone()));
        for tokens in values.map(|value| tokenise(value, &[])) {
            learnt.has_numbers_or_dates |= tokens.iter().any(Token::is_number_or_date);
            let mut kinds = tokens.iter().map(value_kind).collect_vec();
            learnt.single_kinds.extend(kinds.iter().exactly_one().ok().cloned());
            kinds.iter_mut().take(1).for_each(|kind| *kind = first_value_kind(kind));
            let edge = [EDGE_KIND.to_owned()];
            let with_edges = chain!(edge.clone(), kinds, edge);
            learnt.kind_pairs.extend(with_edges.tuple_windows());
        }
        learnt
    }

    /// Returns what any word is like, without values of examples.
    pub(crate) fn any_word() -> Self {
        Self::learn(std::iter::empty(), false)
    }

    /// Sets the values that the examples show.
    pub(crate) fn show(&mut self, texts: &TextsByStems) {
        let lengths = texts.keys().map(|stems| stems.split(' ').count());
        self.max_open_words = lengths.max().unwrap_or(1).min(MAX_OPEN_WORDS);
        self.texts.clone_from(texts);
    }

    fn fillers(&self, reading: &Reading, at: usize) -> Vec<Filler> {
        let tokens = reading.tokens_from(at);
        // An example may show a quoted "the" as a value, but without quotes it is a word of grammar.
        let is_content = |token: &Token| !is_function_word(token.word_stem());
        let has_content = |filler: &Filler| tokens.iter().take(filler.length).any(is_content);
        let shown = name_fillers(reading, at, |name| self.texts.get(name));
        let shown = shown.into_iter().filter(has_content);
        let composed = self.number_or_date_fillers(reading, at);
        shown.chain(composed).chain(self.open_fillers(tokens)).collect()
    }

    /// Returns every value that begins at `start` and has a number or a date, if the kinds of any two neighbouring tokens
    /// in it are also neighbours in a value of the examples. A reference to an earlier result counts as a number.
    fn number_or_date_fillers(&self, reading: &Reading, start: usize) -> Vec<Filler> {
        let tokens = reading.tokens_from(start);
        let (mut fillers, mut text, mut at, mut has_number_or_date) = (Vec::new(), String::new(), 0, false);
        let (mut kind_before, mut end_before) = (EDGE_KIND.to_owned(), usize::MAX);
        while let Some(rest @ [token, ..]) = tokens.get(at..) {
            let reference = reading.earlier_reference_length(start + at);
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
            let may_end = self.kind_pairs.contains(&(kind_in_value.clone(), EDGE_KIND.to_owned()));
            at += length;
            if has_number_or_date && may_be_value && may_end {
                fillers.push(Filler::new(at, text.as_str(), false));
            }
            kind_before = kind_in_value;
        }
        fillers
    }

    /// Returns values that need no example: a quoted text, or content words, at most as many as the longest shown value has.
    fn open_fillers(&self, tokens: &[Token]) -> Vec<Filler> {
        let is_open = !self.has_numbers_or_dates;
        let max_words = if is_open { self.max_open_words } else { 0 };
        let words = beginnings(tokens, max_words).filter(|words| words.iter().all(is_content_word));
        let unquoted = words.map(|words| Filler::new(words.len(), words.iter().map(|word| &word.text).join(" "), true));
        let is_accepted = |token: &&Token| token.kind == TokenKind::Quoted && (self.has_quoted || is_open);
        let quoted = tokens.first().filter(is_accepted);
        let quoted = quoted.map(|token| Filler::new(1, token.text.as_str(), !self.has_quoted));
        unquoted.chain(quoted).collect()
    }
}

/// Returns the kind of a token in a value: for a word its stem. A number of more than 8 characters counts as a Unix time.
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
    match kind {
        NUMBER_KIND | DATE_KIND => kind.to_owned(),
        _ => format!("{EDGE_KIND}{kind}"),
    }
}

/// Returns the number at `at`, or the earlier result to which the words there refer, as a value.
fn number_filler(reading: &Reading, at: usize) -> Option<Filler> {
    let tokens = reading.tokens_from(at);
    let is_sign = |token: &Token| matches!(token.text.as_str(), "-" | "−");
    let sign_count = usize::from(tokens.first().is_some_and(is_sign));
    let token = tokens.get(sign_count)?;
    if token.kind != TokenKind::Number {
        let length = reading.earlier_reference_length(at)?;
        return Some(Filler::new(length, EARLIER_RESULT, false));
    }
    let text = format!("{}{}", if sign_count > 0 { "-" } else { "" }, token.text);
    let value = match (text.parse::<i64>(), text.parse::<u64>()) {
        (Ok(integer), _) => Value::from(integer),
        (_, Ok(integer)) => Value::from(integer),
        // A larger integer would be rounded, so its digits are passed on.
        _ if text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()) => Value::from(text),
        _ => serde_json::from_str(&text.parse::<f64>().ok()?.to_string()).ok()?,
    };
    Some(Filler::new(1 + sign_count, value, false))
}

/// Returns the names and other short texts at `at` that `known` knows, the longest first.
fn name_fillers<'a>(reading: &Reading, at: usize, known: impl Fn(&str) -> Option<&'a String>) -> Vec<Filler> {
    let names = reading.names_at(at);
    names
        .filter_map(|(length, name)| Some(Filler::new(length, known(name)?.as_str(), false)))
        .collect()
}

/// The paths or the addresses that the examples give a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PathOrUrl {
    /// Either [`TokenKind::Path`] or [`TokenKind::Url`].
    kind: TokenKind,
    /// The endings of the paths or addresses, such as `txt`.
    endings: BTreeSet<String>,
}

impl PathOrUrl {
    /// Learns from the values of a parameter. Returns `None` unless all of them are paths or all are addresses.
    pub(crate) fn learn<'a>(values: impl Iterator<Item = &'a str> + Clone) -> Option<Self> {
        let kind = values.clone().map(path_or_url_kind).all_equal_value().ok()??;
        let endings = values.map(ending).collect();
        Some(Self { kind, endings })
    }

    /// Returns the path or address that `token` is, if any. A path with an ending that no example has is unknown: "what is in"
    /// an archive asks for something else than "what is in" a text. A word with a slash is unknown too, since it may be "and/or".
    pub(crate) fn filler(&self, token: &Token) -> Option<Filler> {
        let is_path_or_url = match token.kind {
            TokenKind::Quoted => path_or_url_kind(&token.text) == Some(self.kind),
            TokenKind::Word => self.kind == TokenKind::Path && token.text.contains('/'),
            kind => kind == self.kind,
        };
        let has_known_ending = self.kind == TokenKind::Url || self.endings.contains(&ending(&token.text));
        let is_unknown = token.kind == TokenKind::Word || !has_known_ending;
        is_path_or_url.then(|| Filler::new(1, token.text.as_str(), is_unknown))
    }
}

/// Returns whether a text is a path or an address, or `None` if it is neither. A path may have blanks, so its last token decides.
fn path_or_url_kind(text: &str) -> Option<TokenKind> {
    let kind = tokenise(text, &[]).last()?.kind;
    matches!(kind, TokenKind::Path | TokenKind::Url).then_some(kind)
}

/// Returns the ending of a file's name in lower case, or an empty text if it has none.
fn ending(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    name.rsplit_once('.').map_or("", |(_, ending)| ending).to_lowercase()
}
