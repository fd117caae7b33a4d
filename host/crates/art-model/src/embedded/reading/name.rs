//! Names: runs of capitalised words.

use super::super::token::{Kind, Token};
use super::super::words;
use super::date::DAYS;
use super::{Candidate, Reading, Shape};

impl Reading {
    pub(super) fn names(&self) -> Vec<Candidate> {
        let mut found = Vec::new();
        let mut index = 0;
        while index < self.tokens.len() {
            let end = self.name_end(index);
            if end > index {
                found.push(self.candidate(Shape::Name, index, end));
                // "Austin, Texas": whoever needs the city alone finds it as the shorter one.
                let place_end = self.name_end(end + 1);
                let comma = self.token(end).is_some_and(|token| token.is(","));
                if comma
                    && place_end == end + 2
                    && !self
                        .token(place_end)
                        .is_some_and(|token| token.is_any(&[",", "and", "or"]))
                    && !self.before(index, 1).eq(",")
                {
                    found.push(self.candidate(Shape::Name, index, place_end));
                }
            }
            index = end.max(index + 1);
        }
        found
    }

    /// Behind the capitalised words that start at `index`; `index` itself when there are none.
    fn name_end(&self, index: usize) -> usize {
        let Some(first) = self.token(index) else { return index };
        if !first.is_capitalised() || (self.is_sentence_start(index) && !self.opens_name(index)) || is_plain(first) {
            return index;
        }
        let mut end = index + 1;
        loop {
            let part = |at: usize| {
                self.token(at)
                    .is_some_and(|token| token.is_capitalised() && !is_plain(token))
            };
            if part(end) {
                end += 1;
            } else if self.token(end).is_some_and(|token| {
                token.is_any(&["of", "de", "the", "and", "&", "la", "du", "von", "van"]) && !token.is("and")
            }) && (part(end + 1)
                || (part(end + 2) && self.token(end + 1).is_some_and(|token| token.is("the"))))
            {
                end += 2;
            } else if self.is_model_number(end) {
                end += 1;
            } else {
                return end;
            }
        }
    }

    /// `Galaxy 12`: a small whole number right behind a name and before no unit.
    fn is_model_number(&self, index: usize) -> bool {
        let small = matches!(self.token(index).map(|token| &token.kind), Some(Kind::Number(number)) if number.value.fract() == 0.0 && number.currency.is_none() && !number.percent && (0.0..100.0).contains(&number.value));
        let glued_unit = self
            .token(index + 1)
            .is_some_and(|token| token.is_word() && !words::is_empty(&token.lower()));
        small && !glued_unit
    }

    /// A sentence may start with a name: its word is no verb or function word and a name goes on, or a possessive follows.
    fn opens_name(&self, index: usize) -> bool {
        let Some(token) = self.token(index) else { return false };
        let lower = token.lower();
        let plain = words::is_empty(&lower) || words::is_generic(&lower) || words::is_imperative(&lower);
        let acronym = token.text.len() > 1 && token.text.chars().all(|c| c.is_uppercase() || c == '.');
        let possessive = lower.ends_with("'s") && !words::is_empty(&lower);
        !plain && (acronym || possessive || self.token(index + 1).is_some_and(|next| next.is_capitalised()))
    }
}

/// A capitalised word that names nothing: `I`, weekdays, months, function words.
fn is_plain(token: &Token) -> bool {
    let lower = token.lower();
    token.is_function_word() || DAYS.contains(&lower.as_str())
}
