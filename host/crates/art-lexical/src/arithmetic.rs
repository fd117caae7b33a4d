//! Arithmetic in a question: a run of numbers with signs and words that the examples show. What they mean is up to the tool.

use std::collections::BTreeSet;

use crate::class::{Filler, Reading, filler};
use crate::earlier::EARLIER;
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
        let (mut runs, mut text, mut at, mut end) = (Vec::new(), String::new(), 0, usize::MAX);
        let (mut operands, mut phrases) = (0, 0);
        while let Some(rest @ [first, ..]) = tokens.get(at..) {
            let number = (first.kind == Kind::Number).then_some((1, first.text.as_str()));
            let operand = number.or_else(|| Some((reading.reference(rest)?, EARLIER)));
            let phrase = || beginnings(rest, MAX_PHRASE).find(|words| self.all.contains(&stems(words)));
            let phrase = || phrase().filter(|words| at > 0 || self.first.contains(&stems(words)));
            let Some(length) = operand.map(|operand| operand.0).or_else(|| phrase().map(<[_]>::len)) else {
                break;
            };
            let words = rest.get(..length).unwrap_or_default();
            text.push_str(if end < first.start { " " } else { "" });
            end = words.last().map_or(first.end, |last| last.end);
            text.push_str(operand.map_or_else(
                || reading.text.get(first.start..end).unwrap_or_default(),
                |operand| operand.1,
            ));
            at += length;
            operands += usize::from(operand.is_some());
            phrases += usize::from(operand.is_none());
            let can_end = operand.is_some() || self.last.contains(&stems(words));
            if can_end && operands > 0 && phrases > 0 {
                runs.push(filler(at, text.as_str(), 0.0));
            }
        }
        runs
    }
}

/// Returns whether `text` is arithmetic: numbers with signs or words between them.
pub(crate) fn is_arithmetic(text: &str) -> bool {
    let tokens = tokens(text, &[]);
    let is_part = |token: &Token| match token.kind {
        Kind::Number => true,
        Kind::Word => token.text.chars().all(char::is_alphanumeric),
        Kind::Symbol => "+-*/^%()!×÷−".contains(&token.text),
        Kind::Mark => matches!(token.text.as_str(), "," | "!"),
        _ => false,
    };
    let has_number = tokens.iter().any(|token| token.kind == Kind::Number);
    tokens.len() > 1 && has_number && tokens.iter().all(is_part)
}
