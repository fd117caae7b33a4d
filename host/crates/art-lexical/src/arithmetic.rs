//! Arithmetic in a question: a run of numbers with signs and words that the examples show. What they mean is up to the tool.

use std::collections::BTreeSet;

use crate::class::{Filler, filler};
use crate::earlier::EARLIER;
use crate::reading::Reading;
use crate::token::{Kind, Token, beginnings, stems, tokens};

/// Maximum number of words in a phrase.
const MAX_PHRASE: usize = 6;

/// Signs and words that expressions have besides numbers, by their stems.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Phrases {
    all: BTreeSet<String>,
    /// Those at the beginning and at the end of an expression.
    first: BTreeSet<String>,
    last: BTreeSet<String>,
}

impl Phrases {
    /// Learns from the expressions of the examples.
    pub(crate) fn learn<'a>(expressions: impl Iterator<Item = &'a str>) -> Self {
        let mut phrases = Self::default();
        for tokens in expressions.map(|expression| tokens(expression, &[])) {
            let pieces = tokens.chunk_by(|a, b| a.kind == Kind::Word && b.kind == Kind::Word);
            for piece in pieces.filter(|piece| piece.iter().all(|token| token.kind != Kind::Number)) {
                let is_first = piece.first() == tokens.first();
                let is_last = piece.last() == tokens.last();
                phrases.first.extend(is_first.then(|| stems(piece)));
                phrases.last.extend(is_last.then(|| stems(piece)));
                phrases.all.insert(stems(piece));
            }
        }
        phrases
    }

    /// Returns every expression at the beginning of `tokens`, as it is written.
    pub(crate) fn runs(&self, tokens: &[Token], reading: &Reading) -> Vec<Filler> {
        let (mut runs, mut text, mut at, mut operands) = (Vec::new(), String::new(), 0, 0);
        let mut end = tokens.first().map_or(0, |first| first.start);
        let mut pieces = 0;
        while let Some(rest @ [first, ..]) = tokens.get(at..) {
            let operand = operand(rest, reading);
            let length = operand.map(|operand| operand.0);
            let length = length.or_else(|| self.phrase(rest, at));
            let Some(words) = length.and_then(|length| rest.get(..length)) else {
                break;
            };
            text.push_str(if end < first.start { " " } else { "" });
            end = words.last().map_or(end, |last| last.end);
            let written = reading.text.get(first.start..end).unwrap_or_default();
            text.push_str(operand.map_or(written, |operand| operand.1));
            (at, pieces) = (at + words.len(), pieces + 1);
            operands += usize::from(operand.is_some());
            let can_end = operand.is_some() || self.last.contains(&stems(words));
            if can_end && (1..pieces).contains(&operands) {
                runs.push(filler(at, text.as_str(), 0.0));
            }
        }
        runs
    }

    /// The number of tokens of the phrase that `tokens` begin with; `at` is their place in the expression.
    fn phrase(&self, tokens: &[Token], at: usize) -> Option<usize> {
        let phrase = beginnings(tokens, MAX_PHRASE).find(|words| self.all.contains(&stems(words)))?;
        (at > 0 || self.first.contains(&stems(phrase))).then_some(phrase.len())
    }
}

/// The number or the reference that `tokens` begin with: how many tokens it has, and its text.
fn operand<'a>(tokens: &'a [Token], reading: &Reading) -> Option<(usize, &'a str)> {
    let number = tokens.first().filter(|token| token.kind == Kind::Number);
    let number = number.map(|token| (1, token.text.as_str()));
    number.or_else(|| Some((reading.reference(tokens)?, EARLIER)))
}

/// Returns whether `text` is arithmetic: numbers with signs or words between them.
pub(crate) fn is_arithmetic(text: &str) -> bool {
    let tokens = tokens(text, &[]);
    let is_part = |token: &Token| match token.kind {
        Kind::Number => true,
        Kind::Word => token.text.chars().all(char::is_alphanumeric),
        Kind::Symbol | Kind::Mark => "+-*/^%()!,×÷−".contains(&token.text),
        _ => false,
    };
    let has_number = tokens.iter().any(|token| token.kind == Kind::Number);
    tokens.len() > 1 && has_number && tokens.iter().all(is_part)
}
