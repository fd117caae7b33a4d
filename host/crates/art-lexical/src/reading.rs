//! Reads a part of a question: its tokens, and the texts that a call can pass along.

use art_core::task::TaskFile;
use itertools::Itertools;

use crate::data::{Data, Names};
use crate::token::{Kind, Token, tokens};
use crate::words::{is_functional, reference_length};

/// Maximum number of tokens in a part of a question.
const MAX_TOKENS: usize = 120;

/// Chooses some of the names in a text.
pub(crate) type NamesOf = fn(&Data) -> &Names;

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
    fn new(text: &str, mut tokens: Vec<Token>, files: &[TaskFile], may_refer: bool) -> Self {
        let is_text = |token: &&Token| matches!(token.kind, Kind::Quoted | Kind::Data);
        let texts = tokens.iter().filter(is_text);
        let texts = texts.map(|token| Data::of_text(&token.text));
        let data = files.iter().filter_map(Data::of_file).chain(texts).collect_vec();
        for token in &mut tokens {
            // `ON` in the data is no preposition.
            let is_cell = |data: &Data| data.cells.get(&token.stem) == Some(&token.text);
            let is_name = is_functional(token.word()) && token.text.contains(char::is_uppercase);
            if is_name && data.iter().any(is_cell) {
                (token.kind, token.stem) = (Kind::Symbol, token.text.clone());
            }
        }
        Self {
            text: text.to_owned(),
            tokens,
            data,
            may_refer,
        }
    }

    /// Returns whether there is an attachment.
    pub(crate) fn has_file(&self) -> bool {
        self.data.iter().any(|data| data.is_file)
    }

    /// Returns names of all data.
    pub(crate) fn names(&self, of: NamesOf) -> Vec<&Names> {
        self.data.iter().map(of).collect()
    }

    /// Returns whether one of `tokens` is the name of a column or a key.
    pub(crate) fn has_key<'a>(&'a self, tokens: impl Iterator<Item = &'a Token>) -> bool {
        let mut pairs = tokens.cartesian_product(&self.data);
        pairs.any(|(token, data)| data.keys.contains_key(&token.stem))
    }

    /// Returns whether a word is the name of anything in the data, or a part of one name only.
    pub(crate) fn is_name(&self, token: &Token) -> bool {
        let mut names = self.data.iter().flat_map(Data::names);
        names.any(|names| names.contains_key(&token.stem))
    }

    /// Returns how many tokens at the beginning of `tokens` refer to an earlier result.
    pub(crate) fn reference(&self, tokens: &[Token]) -> Option<usize> {
        reference_length(tokens).filter(|_| self.may_refer)
    }
}

/// Returns the ways to read `text`: as it is, and with all that follows a colon or the first line as one text.
pub(crate) fn readings(text: &str, files: &[TaskFile], may_refer: bool) -> Vec<Reading> {
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let plain = tokens(text, &names);
    let colon = plain.iter().find(|token| token.kind == Kind::Mark && token.text == ":");
    let is_sentence = |end: &usize| {
        text.get(..*end)
            .is_some_and(|line| line.trim_end().ends_with(['?', ':', '.']))
    };
    let line = text.find('\n').filter(is_sentence);
    let places = colon.map(|token| token.end).into_iter().chain(line);
    let mut all = places.filter_map(|place| with_tail(text, &plain, place)).collect_vec();
    all.push(plain);
    let short = all.into_iter().filter(|tokens| tokens.len() <= MAX_TOKENS);
    let readings = short.map(|tokens| Reading::new(text, tokens, files, may_refer));
    readings.collect()
}

/// Returns `tokens` with all that follows `place` as one text, unless that is a quoted text.
fn with_tail(text: &str, tokens: &[Token], place: usize) -> Option<Vec<Token>> {
    let tail = text.get(place..)?.trim();
    let end = text.trim_end().len();
    let (before, after) = tokens.split_at(tokens.partition_point(|token| token.end <= place));
    let is_quoted = |token: &Token| token.kind == Kind::Quoted && token.end == end;
    let is_quoted = after.first().is_some_and(is_quoted);
    let tail = Token::new(Kind::Data, tail, end - tail.len(), end);
    let is_split = !before.is_empty() && !tail.text.is_empty() && !is_quoted;
    is_split.then(|| before.iter().cloned().chain([tail]).collect())
}
