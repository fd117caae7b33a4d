//! Numbers in words: `two tickets`.

use super::super::token::{Number, Token};
use super::super::words;
use super::{Candidate, Reading, Shape, number_value};

impl Reading {
    pub(super) fn number_words(&self) -> Vec<Candidate> {
        let one = |(index, token): (usize, &Token)| {
            let value = number_word(&token.lower())?;
            let next = self.token(index + 1)?;
            // `one` and `second` are rarely amounts, `two tickets` is one.
            (next.is_word() && !words::is_empty(&next.lower())).then(|| Candidate {
                shape: Shape::Number(Number {
                    value,
                    ..Number::default()
                }),
                value: number_value(value),
                from: index,
                to: index + 1,
            })
        };
        self.tokens.iter().enumerate().filter_map(one).collect()
    }
}

fn number_word(word: &str) -> Option<f64> {
    const SMALL: [&str; 21] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
        "twenty",
    ];
    const TENS: [&str; 9] = [
        "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred",
    ];
    let index = |names: &[&str]| {
        names
            .iter()
            .position(|name| *name == word)
            .and_then(|at| u32::try_from(at).ok())
    };
    match word {
        "dozen" => Some(12.0),
        _ => index(&SMALL)
            .or_else(|| index(&TENS).map(|at| (at + 2) * 10))
            .map(f64::from),
    }
}
