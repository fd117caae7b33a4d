//! What a text offers as arguments: numbers, names, quoted text, dates, expressions and the phrases between function words.

mod count;
mod date;
mod name;
mod reference;
mod span;

pub(super) use span::{Shift, Span, iso};

use serde_json::{Value, json};

use super::expression;
use super::token::{Kind, Number, Token, tokens};
use super::words;

/// Candidates of one text that are looked at.
const CANDIDATES: usize = 96;
/// Longest phrase that is offered, in words.
const PHRASE: usize = 8;

/// What a candidate looks like.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    Number(Number),
    Quoted,
    Date,
    /// `tomorrow`, `next Friday`: a day that only a calendar can tell.
    RelativeDate,
    /// `3 weeks`; the value is an ISO 8601 duration.
    Span(Span),
    Time,
    Url,
    Email,
    Path,
    Literal,
    /// Letters and digits mixed: an identifier, a formula, a colour.
    Code,
    /// Capitalised words.
    Name,
    /// Words between function words.
    Phrase,
    /// Something to calculate.
    Expression,
    /// All that follows a colon.
    Rest,
    /// `that`, `it`, `the result`: what an earlier part gave.
    Reference,
}

/// A piece of the text that may become an argument.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Candidate {
    pub(super) shape: Shape,
    pub(super) value: Value,
    /// First token.
    pub(super) from: usize,
    /// Behind the last token.
    pub(super) to: usize,
}

/// A text, its tokens and its candidates.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    pub(super) text: String,
    pub(super) tokens: Vec<Token>,
    /// The stems of the words of each token.
    pub(super) stems: Vec<Vec<String>>,
    pub(super) candidates: Vec<Candidate>,
}

impl Reading {
    /// Reads `text`.
    pub(super) fn new(text: &str) -> Self {
        let tokens = tokens(text);
        let stem = |token: &Token| words::split(&token.text).iter().map(|word| words::stem(word)).collect();
        let stems = tokens.iter().map(stem).collect();
        let mut reading = Self {
            text: text.to_owned(),
            tokens,
            stems,
            candidates: Vec::new(),
        };
        let mut candidates = reading.literals();
        // Behind the figures: beside these, a number in words more often counts what is listed than being one of them.
        candidates.extend(reading.number_words());
        candidates.extend(expression::all(&reading));
        candidates.extend(reading.relative_dates());
        candidates.extend(reading.spans());
        candidates.extend(reading.references());
        candidates.extend(reading.codes());
        candidates.extend(reading.addresses());
        candidates.extend(reading.names());
        candidates.extend(reading.rest());
        candidates.extend(reading.phrases());
        candidates.truncate(CANDIDATES);
        reading.candidates = candidates;
        reading
    }

    pub(super) fn token(&self, index: usize) -> Option<&Token> {
        self.tokens.get(index)
    }

    /// The lower-case text of the token before `index`, if any.
    pub(super) fn before(&self, index: usize, distance: usize) -> String {
        index
            .checked_sub(distance)
            .and_then(|at| self.token(at))
            .map(Token::lower)
            .unwrap_or_default()
    }

    /// The text from token `from` to before token `to`, as written.
    pub(super) fn slice(&self, from: usize, to: usize) -> &str {
        let start = self.token(from).map_or(0, |token| token.start);
        let end = to
            .checked_sub(1)
            .and_then(|last| self.token(last))
            .map_or(start, |token| token.end);
        self.text.get(start..end).unwrap_or_default()
    }

    fn candidate(&self, shape: Shape, from: usize, to: usize) -> Candidate {
        Candidate {
            value: Value::from(self.slice(from, to).trim()),
            shape,
            from,
            to,
        }
    }

    fn literals(&self) -> Vec<Candidate> {
        let one = |(index, token): (usize, &Token)| {
            let (shape, value) = match &token.kind {
                // The 2 of `m/s^2` is no value.
                Kind::Number(_) if index > 1 && self.before(index, 1) == "^" => return None,
                Kind::Number(number) => (Shape::Number(number.clone()), number_value(number.value)),
                Kind::Quoted => (Shape::Quoted, json!(token.text)),
                Kind::Date => (Shape::Date, json!(token.text)),
                Kind::Time => (Shape::Time, json!(token.text)),
                Kind::Url => (Shape::Url, json!(token.text)),
                Kind::Email => (Shape::Email, json!(token.text)),
                Kind::Path => (Shape::Path, json!(token.text)),
                Kind::Json(value) => (Shape::Literal, value.clone()),
                Kind::Word | Kind::Punct => return None,
            };
            Some(Candidate {
                shape,
                value,
                from: index,
                to: index + 1,
            })
        };
        self.tokens.iter().enumerate().filter_map(one).collect()
    }

    pub(super) fn is_sentence_start(&self, index: usize) -> bool {
        index == 0 || matches!(self.before(index, 1).as_str(), "." | "!" | "?" | ":" | ";" | "\n")
    }

    fn rest(&self) -> Option<Candidate> {
        let at = self.tokens.iter().position(|token| token.is(":"))?;
        let length = self.tokens.len() - at - 1;
        (length >= 1 && at > 0).then(|| {
            let mut rest = self.candidate(Shape::Rest, at + 1, self.tokens.len());
            if length == 1
                && let Some(Kind::Quoted) = self.token(at + 1).map(|token| &token.kind)
            {
                rest.value = self.token(at + 1).map_or(Value::Null, |token| json!(token.text));
            }
            rest
        })
    }

    fn phrases(&self) -> Vec<Candidate> {
        let mut found = Vec::new();
        let mut from = 0;
        while from < self.tokens.len() {
            from = self.behind_amount(from);
            let to = self.phrase_end(from);
            if to > from
                && self
                    .tokens
                    .get(from..to)
                    .is_some_and(|tokens| tokens.iter().any(Token::is_word))
            {
                found.push(self.candidate(Shape::Phrase, from, to));
            }
            from = to.max(from + 1);
        }
        found
    }

    /// "Five hundred yen" is an amount of yen, while "three little birds" may be a title.
    fn behind_amount(&self, from: usize) -> usize {
        let Some((_, end)) = self.spelled_number(from) else {
            return from;
        };
        let money = self
            .token(end)
            .is_some_and(|token| super::fill::names_currency(&token.text));
        let amount = end > from + 1 || money || self.unit_after(end).is_some();
        if amount { end } else { from }
    }

    fn phrase_end(&self, from: usize) -> usize {
        let mut to = from;
        while let Some(token) = self.token(to) {
            let inner = to > from && token.is_any(&["per", "of", "-", "&"]) && self.starts_phrase(to + 1);
            if !(self.starts_phrase(to) || inner) || to - from >= PHRASE || self.behind_amount(to) > to {
                break;
            }
            to += 1;
        }
        to
    }

    fn starts_phrase(&self, index: usize) -> bool {
        self.token(index)
            .is_some_and(|token| token.is_word() && !token.is_function_word())
    }

    fn codes(&self) -> Vec<Candidate> {
        let codes = self.tokens.iter().enumerate().filter(|(_, token)| token.is_code());
        codes
            .map(|(index, _)| self.candidate(Shape::Code, index, index + 1))
            .collect()
    }
}

/// A JSON number without a fraction where there is none.
pub(super) fn number_value(value: f64) -> Value {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the value is whole and within the exact range of an f64"
    )]
    if value.fract() == 0.0 && value.abs() < 9.0e15 {
        json!(value as i64)
    } else {
        json!(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str, shape: &Shape) -> Vec<String> {
        let reading = Reading::new(text);
        let same = |candidate: &&Candidate| std::mem::discriminant(&candidate.shape) == std::mem::discriminant(shape);
        reading
            .candidates
            .iter()
            .filter(same)
            .map(|candidate| super::super::schema::text_of(&candidate.value))
            .collect()
    }

    #[test]
    fn names_are_capitalised_words_inside_a_sentence() {
        assert_eq!(
            values("Who wrote Lord of the Rings in New York?", &Shape::Name),
            ["Lord of the Rings", "New York"]
        );
        assert_eq!(
            values("Find flights to Austin, Texas tomorrow", &Shape::Name),
            ["Austin", "Austin, Texas", "Texas"]
        );
    }

    #[test]
    fn number_words_count_before_a_noun() {
        assert_eq!(
            values("a table for two people", &Shape::Number(Number::default())),
            ["2"]
        );
    }

    #[test]
    fn references_are_told_from_other_uses_of_their_words() {
        assert_eq!(values("what is that divided by 7", &Shape::Reference), ["that"]);
        assert_eq!(values("convert it to euros", &Shape::Reference), ["it"]);
        assert!(values("what time is it in Rome", &Shape::Reference).is_empty());
        assert!(values("show that movie", &Shape::Reference).is_empty());
    }

    #[test]
    fn phrases_stand_between_function_words() {
        assert_eq!(
            values("72 miles per hour to metres per second", &Shape::Phrase),
            ["miles per hour", "metres per second"]
        );
    }

    #[test]
    fn relative_days_are_found() {
        assert_eq!(
            values("remind me next Friday and tomorrow", &Shape::RelativeDate),
            ["next Friday", "tomorrow"]
        );
    }
}
