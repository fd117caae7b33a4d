//! Lengths of time and the days that they lead to: "3 weeks", "90 days after 2026-01-15", "ten days ago".

use super::super::measure::Unit;
use super::super::token::{Kind, Token};
use super::{Candidate, Reading, Shape};
use serde_json::Value;

/// So many of a unit of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct Span {
    pub(in super::super) amount: f64,
    pub(in super::super) unit: &'static Unit,
}

/// A day that lies some time before or after another.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct Shift {
    pub(in super::super) spans: Vec<Span>,
    /// The time is subtracted.
    pub(in super::super) back: bool,
    /// The day to start from; today when there is none.
    pub(in super::super) base: Option<Candidate>,
    /// First token.
    pub(in super::super) from: usize,
    /// Behind the last token.
    pub(in super::super) to: usize,
}

/// `P1Y2M`, `P90D`, `PT5H`; none for parts of a unit.
pub(in super::super) fn iso(spans: &[Span]) -> Option<String> {
    const LETTERS: &[(&str, &str, bool)] = &[
        ("year", "Y", false),
        ("month", "M", false),
        ("week", "W", false),
        ("day", "D", false),
        ("hour", "H", true),
        ("minute", "M", true),
        ("second", "S", true),
    ];
    let mut text = "P".to_owned();
    for (name, letter, clock) in LETTERS {
        let Some(span) = spans.iter().find(|span| span.unit.names.contains(name)) else {
            continue;
        };
        // Weeks stand alone.
        if span.amount.fract() != 0.0 || (*letter == "W" && spans.len() > 1) {
            return None;
        }
        if *clock && !text.contains('T') {
            text.push('T');
        }
        text.push_str(&format!("{}{letter}", super::number_value(span.amount)));
    }
    (text.len() > 1).then_some(text)
}

impl Reading {
    pub(super) fn spans(&self) -> Vec<Candidate> {
        (0..self.tokens.len()).filter_map(|index| self.span_at(index)).collect()
    }

    fn span_at(&self, index: usize) -> Option<Candidate> {
        let token = self.token(index)?;
        let (amount, end) = match &token.kind {
            Kind::Number(number) if number.currency.is_none() && !number.percent => (number.value, index + 1),
            Kind::Word if self.follows_number_word(index) => return None,
            Kind::Word => self
                .spelled_number(index)
                .or_else(|| token.is_any(&["a", "an"]).then_some((1.0, index + 1)))?,
            _ => return None,
        };
        let unit = self.unit_after(end).filter(|unit| unit.is_time())?;
        let hyphen = usize::from(self.token(end).is_some_and(|token| token.is("-")));
        let to = end + hyphen + 1;
        let span = Span { amount, unit };
        Some(Candidate {
            value: Value::from(iso(&[span])?),
            shape: Shape::Span(span),
            from: index,
            to,
        })
    }

    /// The "five" of "two hundred and five days" opens no span of its own.
    fn follows_number_word(&self, index: usize) -> bool {
        (1..=3)
            .filter_map(|distance| index.checked_sub(distance))
            .any(|start| self.spelled_number(start).is_some_and(|(_, end)| end > index))
    }

    /// The one day of the text that is told by its distance from another.
    pub(in super::super) fn shift(&self) -> Option<Shift> {
        let spans: Vec<(Span, usize, usize)> = self
            .candidates
            .iter()
            .filter_map(|candidate| match candidate.shape {
                Shape::Span(span) => Some((span, candidate.from, candidate.to)),
                _ => None,
            })
            .collect();
        let (_, from, _) = *spans.first()?;
        let (_, _, to) = *spans.last()?;
        let joined = spans.windows(2).all(|pair| match pair {
            [(_, _, end), (_, start, _)] => self.is_joint(*end, *start),
            _ => true,
        });
        let spans: Vec<Span> = spans.into_iter().map(|(span, _, _)| span).collect();
        let shift = |(back, base, from, to)| Shift {
            spans: spans.clone(),
            back,
            base,
            from,
            to,
        };
        let placed = self
            .led_back(from, to)
            .or_else(|| self.led_on(from, to))
            .or_else(|| self.led_in(from, to));
        placed.filter(|_| joined).map(shift)
    }

    fn is_joint(&self, from: usize, to: usize) -> bool {
        let joint = |token: &Token| token.is_any(&["and", ","]);
        self.tokens.get(from..to).is_some_and(|tokens| tokens.iter().all(joint))
    }

    /// "3 weeks after X", "add 3 weeks to X".
    fn led_back(&self, from: usize, to: usize) -> Option<Placed> {
        let verb = self.before(from, 1);
        let word = self.token(to)?.lower();
        let next = self.token(to + 1).map(Token::lower).unwrap_or_default();
        let takes = matches!(
            verb.as_str(),
            "subtract" | "subtracting" | "take" | "deduct" | "remove" | "minus"
        );
        let adds = matches!(verb.as_str(), "add" | "adding" | "plus");
        let (back, length) = match (word.as_str(), next.as_str()) {
            ("before" | "preceding", _) => (true, 1),
            ("prior", "to") => (true, 2),
            ("after" | "following" | "past", _) => (false, 1),
            ("from", _) => (takes, 1),
            ("to" | "onto", _) if adds => (false, 1),
            ("ago", _) => return Some((true, None, from, to + 1)),
            _ => return None,
        };
        let base = self.day_at(to + length)?;
        let end = base.to;
        Some((back, Some(base), from, end))
    }

    /// "X plus 3 weeks".
    fn led_on(&self, from: usize, to: usize) -> Option<Placed> {
        let back = match self.before(from, 1).as_str() {
            "plus" | "+" => false,
            "minus" | "-" | "less" => true,
            _ => return None,
        };
        let base = self
            .candidates
            .iter()
            .find(|candidate| candidate.to + 1 == from && is_day(candidate))?;
        Some((back, Some(base.clone()), base.from, to))
    }

    /// "in 3 weeks", where a date is asked for.
    fn led_in(&self, from: usize, to: usize) -> Option<Placed> {
        let asks = self.tokens.iter().any(|token| token.is_any(&["date", "day"]));
        let start = from.checked_sub(1)?;
        (asks && self.before(from, 1) == "in").then_some((false, None, start, to))
    }

    fn day_at(&self, mut index: usize) -> Option<Candidate> {
        while self
            .token(index)
            .is_some_and(|token| token.is_any(&["the", "date", "of"]))
        {
            index += 1;
        }
        let here = |candidate: &&Candidate| candidate.from == index && is_day(candidate);
        self.candidates.iter().find(here).cloned()
    }
}

type Placed = (bool, Option<Candidate>, usize, usize);

const fn is_day(candidate: &Candidate) -> bool {
    matches!(candidate.shape, Shape::Date | Shape::RelativeDate | Shape::Reference)
}
