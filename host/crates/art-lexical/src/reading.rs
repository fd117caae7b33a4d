//! Reads a part of a question: its tokens, and the texts that a call can pass along.

use std::ops::Range;

use art_core::task::TaskFile;
use itertools::Itertools;

use crate::data::Data;
use crate::token::{Kind, Token, tokens};
use crate::words::{phrase_length, reference_length};

/// Maximum number of tokens in a part of a question.
const MAX_TOKENS: usize = 120;

/// A text as the model reads it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    pub(crate) tokens: Vec<Token>,
    /// Whole texts that a call can pass along.
    pub(crate) data: Vec<Data>,
    /// For each token, the length of a phrase of conversation that begins with it, if there is one.
    pub(crate) phrases: Vec<Option<usize>>,
    /// Whether there is an earlier result that words can refer to.
    pub(crate) may_refer: bool,
}

impl Reading {
    /// Returns whether there is an attachment.
    pub(crate) fn has_file(&self) -> bool {
        self.data.iter().any(|data| data.is_file)
    }

    /// Returns the tokens from `at` on.
    pub(crate) fn rest(&self, at: usize) -> &[Token] {
        self.tokens.get(at..).unwrap_or_default()
    }

    /// Returns whether a token at one of `places` is the name of a column or a key, or a text in the data that begins with a
    /// capital. For example, the cell `ON` is not the preposition "on".
    pub(crate) fn has_name(&self, places: Range<usize>) -> bool {
        let tokens = self.tokens.get(places).unwrap_or_default();
        let is_capital = |token: &Token| token.text.starts_with(char::is_uppercase);
        let is_cell = |token, data: &Data| is_capital(token) && data.cells.get(&token.stem) == Some(&token.text);
        let mut pairs = tokens.iter().cartesian_product(&self.data);
        pairs.any(|(token, data)| data.keys.contains_key(&token.stem) || is_cell(token, data))
    }

    fn phrase_length_at(&self, at: usize) -> Option<usize> {
        phrase_length(self.rest(at), self.has_file()).filter(|length| !self.has_name(at..at + length))
    }

    /// Returns how many tokens at the beginning of `tokens` refer to an earlier result, or `None` if they refer to none.
    pub(crate) fn earlier_reference_length(&self, tokens: &[Token]) -> Option<usize> {
        reference_length(tokens).filter(|_| self.may_refer)
    }
}

/// Returns the ways to read `text`: as it is, and with everything after a colon or after the first line as one text. Those with too
/// many tokens are left out.
pub(crate) fn readings(text: &str, files: &[TaskFile], may_refer: bool) -> Vec<Reading> {
    let names = files.iter().map(|file| file.name.as_str()).collect_vec();
    let plain = tokens(text, &names);
    let colon = plain.iter().find(|token| token.kind == Kind::Mark && token.text == ":");
    let line = text.split_once('\n').map(|(line, _)| line);
    let line = line
        .filter(|line| line.trim_end().ends_with(['?', ':', '.']))
        .map(str::len);
    let places = [colon.map(|token| token.end), line].into_iter().flatten();
    let tails = places.filter_map(|place| with_tail(text, &plain, place));
    let all = tails.chain([plain.clone()]).filter(|tokens| tokens.len() <= MAX_TOKENS);
    let read = all.map(|tokens| {
        let is_text = |token: &&Token| matches!(token.kind, Kind::Quoted | Kind::Data);
        let quoted_data = tokens
            .iter()
            .filter(is_text)
            .map(|token| Data::of_value(&token.text.as_str().into()));
        let data = files.iter().filter_map(Data::of_file).chain(quoted_data).collect();
        let mut reading = Reading::default();
        (reading.tokens, reading.data, reading.may_refer) = (tokens, data, may_refer);
        reading.phrases = (0..reading.tokens.len())
            .map(|at| reading.phrase_length_at(at))
            .collect();
        reading
    });
    read.collect()
}

/// Returns `tokens` with everything after `place` as one text. Returns `None` if that is a quoted text, or if there is nothing
/// before or after `place`.
fn with_tail(text: &str, tokens: &[Token], place: usize) -> Option<Vec<Token>> {
    let (tail, end) = (text.get(place..)?.trim(), text.trim_end().len());
    let (before, after) = tokens.split_at(tokens.partition_point(|token| token.end <= place));
    let is_last = |token: &Token| token.kind == Kind::Quoted && token.end == end;
    let is_quoted = after.first().is_some_and(is_last);
    let tail = Token::new(Kind::Data, tail, end - tail.len(), end);
    let is_split = !before.is_empty() && !tail.text.is_empty() && !is_quoted;
    is_split.then(|| before.iter().cloned().chain([tail]).collect())
}
