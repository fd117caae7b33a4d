//! What a text offers as arguments: numbers, names, quoted text, dates, expressions and the phrases between function words.

use serde_json::{Value, json};

use super::expression;
use super::scan;
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
    pub(super) candidates: Vec<Candidate>,
}

impl Reading {
    /// Reads `text`.
    pub(super) fn new(text: &str) -> Self {
        let tokens = tokens(text);
        let mut reading = Self {
            text: text.to_owned(),
            tokens,
            candidates: Vec::new(),
        };
        let mut candidates = reading.literals();
        candidates.extend(reading.number_words());
        candidates.extend(expression::all(&reading));
        candidates.extend(reading.relative_dates());
        candidates.extend(reading.references());
        candidates.extend(reading.codes());
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

    fn number_words(&self) -> Vec<Candidate> {
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

    fn relative_dates(&self) -> Vec<Candidate> {
        let mut found = Vec::new();
        let mut index = 0;
        while let Some(token) = self.token(index) {
            let word = token.lower();
            let next = self.token(index + 1).map(Token::lower).unwrap_or_default();
            let length = match word.as_str() {
                "next" | "this" | "last" | "coming" if is_day_word(&next) => 2,
                "tomorrow" | "today" | "yesterday" | "tonight" => 1,
                "now" if index > 0 => 1,
                _ if DAYS.contains(&word.as_str()) => 1,
                _ if scan::month(&word).is_some() && word.len() > 3 && token.is_capitalised() => {
                    self.month_length(index)
                }
                _ => 0,
            };
            if length > 0 {
                found.push(self.candidate(Shape::RelativeDate, index, index + length));
            }
            index += length.max(1);
        }
        found
    }

    /// `May`, `May 5`, `May 5th`, `May 2024`.
    fn month_length(&self, index: usize) -> usize {
        let number = |at: usize| matches!(self.token(at).map(|token| &token.kind), Some(Kind::Number(_)));
        let ending = |at: usize| {
            self.token(at)
                .is_some_and(|token| token.is_any(&["st", "nd", "rd", "th"]))
        };
        match (number(index + 1), ending(index + 2)) {
            (true, true) => 3,
            (true, false) => 2,
            _ => 1,
        }
    }

    fn references(&self) -> Vec<Candidate> {
        let all = (0..self.tokens.len()).filter_map(|index| {
            let length = self.reference_at(index)?;
            Some(self.candidate(Shape::Reference, index, index + length))
        });
        all.collect()
    }

    /// How many tokens of a reference to an earlier result start at `index`.
    pub(super) fn reference_at(&self, index: usize) -> Option<usize> {
        let token = self.token(index)?;
        let next = self.token(index + 1).map(Token::lower).unwrap_or_default();
        if token.is_any(&["the", "that", "this", "its"])
            && ["result", "results", "answer", "answers", "outcome", "output"].contains(&next.as_str())
        {
            return Some(2);
        }
        if token.is_any(&["that", "this"])
            && ["number", "value", "amount", "sum", "total", "figure", "list"].contains(&next.as_str())
        {
            return Some(2);
        }
        // "that" before another noun points at something else, as does "it" after a verb of being.
        let noun_follows = self
            .token(index + 1)
            .is_some_and(|token| token.is_word() && !words::is_empty(&next));
        let free = !noun_follows || FOLLOWERS.contains(&next.as_str());
        let being = matches!(
            self.before(index, 1).as_str(),
            "is" | "was" | "does" | "will" | "if" | "be"
        );
        let stand_alone = token.is_any(&["that", "this", "those", "these"]) && free;
        let object = token.is_any(&["it", "them"]) && free && !being;
        (stand_alone || object).then_some(1)
    }

    fn names(&self) -> Vec<Candidate> {
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

    pub(super) fn is_sentence_start(&self, index: usize) -> bool {
        index == 0 || matches!(self.before(index, 1).as_str(), "." | "!" | "?" | ":" | ";" | "\n")
    }

    /// A sentence may start with a name: its word is no verb or function word and a name goes on, or a possessive follows.
    fn opens_name(&self, index: usize) -> bool {
        let Some(token) = self.token(index) else { return false };
        let lower = token.lower();
        let plain = words::is_empty(&lower) || words::is_generic(&lower) || is_imperative(&lower);
        let acronym = token.text.len() > 1 && token.text.chars().all(|c| c.is_uppercase() || c == '.');
        let possessive = lower.ends_with("'s") && !words::is_empty(&lower);
        !plain && (acronym || possessive || self.token(index + 1).is_some_and(|next| next.is_capitalised()))
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

    fn phrase_end(&self, from: usize) -> usize {
        let mut to = from;
        while let Some(token) = self.token(to) {
            let inner = to > from && token.is_any(&["per", "of", "-", "&"]) && self.starts_phrase(to + 1);
            if !(self.starts_phrase(to) || inner) || to - from >= PHRASE {
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

/// Words that go on after a reference without being what it points at.
const FOLLOWERS: &[&str] = &[
    "divided",
    "times",
    "multiplied",
    "plus",
    "minus",
    "squared",
    "cubed",
    "converted",
    "rounded",
    "raised",
    "expressed",
    "come",
    "written",
    "translated",
];

const DAYS: &[&str] = &[
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

fn is_day_word(word: &str) -> bool {
    DAYS.contains(&word)
        || [
            "week",
            "month",
            "year",
            "weekend",
            "evening",
            "morning",
            "afternoon",
            "night",
            "quarter",
        ]
        .contains(&word)
}

/// A capitalised word that names nothing: `I`, weekdays, months, function words.
fn is_plain(token: &Token) -> bool {
    let lower = token.lower();
    token.is_function_word() || DAYS.contains(&lower.as_str())
}

/// Verbs that open a request.
pub(super) fn is_imperative(word: &str) -> bool {
    const VERBS: &[&str] = &[
        "find",
        "get",
        "give",
        "show",
        "tell",
        "calculate",
        "compute",
        "convert",
        "translate",
        "search",
        "book",
        "send",
        "create",
        "make",
        "generate",
        "list",
        "check",
        "play",
        "set",
        "add",
        "remove",
        "delete",
        "update",
        "change",
        "sort",
        "order",
        "count",
        "compare",
        "determine",
        "estimate",
        "evaluate",
        "explain",
        "extract",
        "fetch",
        "identify",
        "look",
        "measure",
        "open",
        "predict",
        "provide",
        "read",
        "recommend",
        "remind",
        "reserve",
        "resize",
        "retrieve",
        "round",
        "schedule",
        "solve",
        "split",
        "summarize",
        "summarise",
        "suggest",
        "turn",
        "write",
        "analyze",
        "analyse",
        "buy",
        "call",
        "cancel",
        "choose",
        "crop",
        "describe",
        "design",
        "display",
        "divide",
        "download",
        "draw",
        "encode",
        "decode",
        "encrypt",
        "enter",
        "filter",
        "format",
        "help",
        "include",
        "install",
        "invite",
        "multiply",
        "name",
        "order",
        "parse",
        "pick",
        "plan",
        "plot",
        "post",
        "print",
        "query",
        "rate",
        "rotate",
        "run",
        "save",
        "see",
        "share",
        "simulate",
        "start",
        "stop",
        "subtract",
        "sum",
        "track",
        "transfer",
        "use",
        "view",
        "visualize",
        "locate",
        "rename",
        "move",
        "copy",
        "email",
        "mail",
        "notify",
        "need",
        "want",
        "discover",
        "plus",
        "also",
        "then",
        "next",
        "finally",
        "first",
        "afterwards",
        "roll",
        "flip",
        "shorten",
        "pay",
        "tip",
        "review",
        "arrange",
        "assess",
        "simplify",
    ];
    VERBS.contains(&word)
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
