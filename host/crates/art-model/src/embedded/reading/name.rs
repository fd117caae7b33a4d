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
        while let Some(length) = self.name_goes_on(end) {
            end += length;
        }
        end
    }

    /// How many tokens of a name that is already open stand at `end`.
    fn name_goes_on(&self, end: usize) -> Option<usize> {
        let part = |at: usize| {
            self.token(at)
                .is_some_and(|token| token.is_capitalised() && !is_plain(token))
        };
        let joins = self
            .token(end)
            .is_some_and(|token| token.is_any(&["of", "de", "the", "&", "la", "du", "von", "van"]));
        let article = self.token(end + 1).is_some_and(|token| token.is("the"));
        if part(end) || self.is_model_number(end) {
            Some(1)
        } else if joins && (part(end + 1) || article && part(end + 2)) || self.is_title(end) && part(end + 1) {
            Some(2)
        } else {
            None
        }
    }

    /// The dot of "Mr. Bean".
    fn is_title(&self, dot: usize) -> bool {
        const TITLES: &[&str] = &["mr", "mrs", "ms", "dr", "st", "prof", "mt"];
        self.token(dot).is_some_and(|token| token.is(".")) && TITLES.contains(&self.before(dot, 1).as_str())
    }

    /// Postal addresses: "123 Main Street", with the town behind it.
    pub(super) fn addresses(&self) -> Vec<Candidate> {
        let starts = (0..self.tokens.len()).filter(|index| self.opens_address(*index));
        let address = |from: usize| {
            let street =
                (from + 1..from + 6).find(|index| self.token(*index).is_some_and(|token| token.is_any(STREETS)))?;
            let words = self.tokens.get(from + 1..street)?;
            let plain = !words.is_empty() && words.iter().all(|token| token.is_word() && !token.is_function_word());
            plain.then(|| self.candidate(Shape::Name, from, self.town_end(street + 1)))
        };
        starts.filter_map(address).collect()
    }

    fn opens_address(&self, index: usize) -> bool {
        self.token(index).is_some_and(|token| match &token.kind {
            Kind::Number(number) => number.value.fract() == 0.0 && number.currency.is_none() && !number.percent,
            Kind::Word => token.is_code(),
            _ => false,
        })
    }

    /// Behind ", Berkeley, CA" where that follows.
    fn town_end(&self, mut end: usize) -> usize {
        let is_part = |at: usize| self.token(at).is_some_and(Token::is_capitalised);
        while self.token(end).is_some_and(|token| token.is(",")) && is_part(end + 1) {
            end += 2;
            while is_part(end) {
                end += 1;
            }
        }
        end
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

const STREETS: &[&str] = &[
    "street",
    "avenue",
    "ave",
    "road",
    "lane",
    "drive",
    "boulevard",
    "blvd",
    "square",
    "highway",
];

/// A capitalised word that names nothing: `I`, weekdays, months, function words.
fn is_plain(token: &Token) -> bool {
    let lower = token.lower();
    token.is_function_word() || DAYS.contains(&lower.as_str())
}
