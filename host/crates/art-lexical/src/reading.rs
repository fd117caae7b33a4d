//! Reads a part of a question: its tokens, and the whole texts that a call can pass along.

use art_core::task::TaskFile;
use itertools::Itertools;

use crate::data::WholeText;
use crate::token::{Token, TokenKind, beginnings, token_stems, tokenise};
use crate::words::{phrase_length, reference_length};

/// Maximum number of tokens in a part of a question.
const MAX_TOKENS: usize = 120;
/// Maximum number of tokens in a name or another short text that is known.
const MAX_NAME_TOKENS: usize = 6;

/// A part of a question, or the question of an example, as the model reads it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    pub(crate) tokens: Vec<Token>,
    /// The whole texts in the question, and the attachments.
    pub(crate) whole_texts: Vec<WholeText>,
    /// For each token, the length of a phrase such as `please` or `i want to see` that begins with it and names no data, if any.
    pub(crate) phrase_lengths: Vec<Option<usize>>,
    /// One for each token.
    places: Vec<Place>,
}

/// What stands at a token. It is found once, because every pattern asks for it.
#[derive(Clone, Debug, Default)]
struct Place {
    names_data: bool,
    earlier_reference_length: Option<usize>,
    /// The texts that may be a name, each as a key of [`TextsByStems`](crate::data::TextsByStems), the longest first.
    names: Vec<String>,
}

impl Reading {
    /// Reads `tokens`, in which words can refer to an earlier result if there is one. Finds no phrases of conversation.
    pub(crate) fn new(tokens: Vec<Token>, whole_texts: Vec<WholeText>, has_earlier_result: bool) -> Self {
        let mut reading = Self {
            tokens,
            whole_texts,
            ..Self::default()
        };
        let place_at = |at| {
            let rest = reading.tokens_from(at);
            let names = beginnings(rest, MAX_NAME_TOKENS).map(|words| token_stems(words).to_lowercase());
            Place {
                names_data: rest.first().is_some_and(|token| reading.is_data_name(token)),
                earlier_reference_length: reference_length(rest).filter(|_| has_earlier_result),
                names: names.collect(),
            }
        };
        reading.places = (0..reading.tokens.len()).map(place_at).collect();
        reading
    }

    pub(crate) fn has_attachment(&self) -> bool {
        self.whole_texts.iter().any(|data| data.is_attachment)
    }

    pub(crate) fn tokens_from(&self, at: usize) -> &[Token] {
        self.tokens.get(at..).unwrap_or_default()
    }

    /// Returns whether the token at `at` names a column or key, or is a cell with a capital, so that `ON` is no preposition.
    pub(crate) fn names_data(&self, at: usize) -> bool {
        self.places.get(at).is_some_and(|place| place.names_data)
    }

    fn is_data_name(&self, token: &Token) -> bool {
        let is_capital = token.text.starts_with(char::is_uppercase);
        let is_cell = |data: &WholeText| is_capital && data.cells.get(&token.stem) == Some(&token.text);
        let mut whole_texts = self.whole_texts.iter();
        whole_texts.any(|data| data.keys.contains_key(&token.stem) || is_cell(data))
    }

    /// Returns how many tokens from `at` on refer to an earlier result, or `None` if they refer to none.
    pub(crate) fn earlier_reference_length(&self, at: usize) -> Option<usize> {
        self.places.get(at)?.earlier_reference_length
    }

    /// Returns the lengths of the short texts that begin at `at`, in tokens, each with its key in
    /// [`TextsByStems`](crate::data::TextsByStems), the longest first.
    pub(crate) fn names_at(&self, at: usize) -> impl Iterator<Item = (usize, &String)> {
        let names = self.places.get(at).map_or(&[][..], |place| &place.names);
        (1..=names.len()).rev().zip(names)
    }
}

/// Reads `text` as it is, and with all after a colon or after its first line as one token. Skips readings of over [`MAX_TOKENS`].
pub(crate) fn readings(text: &str, files: &[TaskFile], has_earlier_result: bool) -> Vec<Reading> {
    let names = files.iter().map(|file| file.name.as_str()).collect_vec();
    let plain = tokenise(text, &names);
    let is_colon = |token: &&Token| token.kind == TokenKind::Mark && token.text == ":";
    let colon_end = plain.iter().find(is_colon).map(|token| token.end);
    let first_line = text.split_once('\n').map(|(line, _)| line);
    let first_line = first_line.filter(|line| line.trim_end().ends_with(['?', ':', '.']));
    let splits = [colon_end, first_line.map(str::len)].into_iter().flatten();
    let tails = splits.filter_map(|split| with_tail(text, &plain, split));
    let all = tails.chain([plain.clone()]).filter(|tokens| tokens.len() <= MAX_TOKENS);
    let read = all.map(|tokens| {
        let is_text = |token: &&Token| matches!(token.kind, TokenKind::Quoted | TokenKind::Block);
        let in_question = tokens.iter().filter(is_text);
        let in_question = in_question.map(|token| WholeText::of_value(&token.text.as_str().into()));
        let attachments = files.iter().filter_map(WholeText::of_file);
        let whole_texts = attachments.chain(in_question).collect();
        let mut reading = Reading::new(tokens, whole_texts, has_earlier_result);
        let phrase_length_at = |at| {
            let length = phrase_length(reading.tokens_from(at), reading.has_attachment());
            length.filter(|length| !(at..at + length).any(|at| reading.names_data(at)))
        };
        reading.phrase_lengths = (0..reading.tokens.len()).map(phrase_length_at).collect();
        reading
    });
    read.collect()
}

/// Returns `tokens` with the text after `split` as one token, or `None` if that text is one quoted text or if a side is empty.
fn with_tail(text: &str, tokens: &[Token], split: usize) -> Option<Vec<Token>> {
    let (tail, end) = (text.get(split..)?.trim(), text.trim_end().len());
    let (before, after) = tokens.split_at(tokens.partition_point(|token| token.end <= split));
    let is_quoted_tail = |token: &Token| token.kind == TokenKind::Quoted && token.end == end;
    let is_quoted = after.first().is_some_and(is_quoted_tail);
    let tail = Token::new(TokenKind::Block, tail, end - tail.len(), end);
    let is_split = !before.is_empty() && !tail.text.is_empty() && !is_quoted;
    is_split.then(|| before.iter().cloned().chain([tail]).collect())
}
