//! Parts of a whole: "a third of 90", "two thirds of 90", "half of 7".

use super::super::token::Kind;
use super::Parser;

const DENOMINATORS: &[(&str, u32)] = &[
    ("half", 2),
    ("third", 3),
    ("quarter", 4),
    ("fourth", 4),
    ("fifth", 5),
    ("sixth", 6),
    ("seventh", 7),
    ("eighth", 8),
    ("ninth", 9),
    ("tenth", 10),
    ("twentieth", 20),
    ("hundredth", 100),
    ("thousandth", 1_000),
];

impl Parser<'_> {
    /// A fraction in words, "of", and what it is taken of.
    pub(super) fn fraction(&mut self, depth: usize) -> Option<String> {
        let begin = self.at;
        let text = self.part_of(depth);
        if text.is_none() {
            self.at = begin;
        }
        text
    }

    fn part_of(&mut self, depth: usize) -> Option<String> {
        let (numerator, denominator) = self.parts()?;
        self.take(&["of"]).then_some(())?;
        let whole = self.operand(depth)?;
        self.operators += 1;
        Some(if numerator == "1" {
            format!("({whole} / {denominator})")
        } else {
            format!("({whole} * {numerator} / {denominator})")
        })
    }

    /// `1` and `3` of "a third", "one third" and "one-third"; "half" needs no number.
    fn parts(&mut self) -> Option<(String, u32)> {
        if let Some(parts) = self.hyphenated() {
            return Some(parts);
        }
        if self.take(&["half"]) {
            return Some(("1".to_owned(), 2));
        }
        let numerator = if self.take_any(&[&["a"], &["an"], &["the"]]) {
            "1".to_owned()
        } else {
            self.count()?
        };
        let denominator = denominator(&self.reading.token(self.at)?.lower())?;
        self.at += 1;
        Some((numerator, denominator))
    }

    fn count(&mut self) -> Option<String> {
        let (value, end) = match &self.reading.token(self.at)?.kind {
            Kind::Number(number) if !number.percent => (number.value, self.at + 1),
            Kind::Word => self.reading.spelled_number(self.at)?,
            _ => return None,
        };
        self.at = end;
        Some(super::super::reading::number_value(value).to_string())
    }

    fn hyphenated(&mut self) -> Option<(String, u32)> {
        let word = self.reading.token(self.at)?.lower();
        let (count, rest) = word.split_once('-')?;
        let counts = [("one", "1"), ("two", "2"), ("three", "3"), ("four", "4"), ("five", "5")];
        let (_, numerator) = counts.iter().find(|(name, _)| *name == count)?;
        let denominator = denominator(rest)?;
        self.at += 1;
        Some(((*numerator).to_owned(), denominator))
    }

    /// "1/3 of 90": right behind a quotient of two plain numbers.
    pub(super) fn after_quotient(&self) -> bool {
        let back = |distance: usize| self.at.checked_sub(distance).and_then(|at| self.reading.token(at));
        let number = |distance: usize| matches!(back(distance).map(|token| &token.kind), Some(Kind::Number(_)));
        number(1) && number(3) && back(2).is_some_and(|token| token.is("/"))
    }
}

fn denominator(word: &str) -> Option<u32> {
    let plain = if word == "halves" {
        "half"
    } else {
        word.trim_end_matches('s')
    };
    DENOMINATORS
        .iter()
        .find(|(name, _)| *name == plain)
        .map(|(_, denominator)| *denominator)
}
