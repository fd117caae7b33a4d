//! How well a candidate fits a parameter: its shape, the words around it and the role that a preposition gives it.

use super::super::class::Class;
use super::super::measure;
use super::super::reading::{Candidate, Reading, Shape};
use super::super::schema::{Param, Tool, Type};
use super::super::token::Number;
use super::cue::{counts_params, cue};
use super::{place, value};

/// How well `candidate` fits `param`; below zero when it cannot.
pub(super) fn score(tool: &Tool, param: &Param, candidate: &Candidate, reading: &Reading) -> f32 {
    if !param.choices.is_empty() {
        return -1.0;
    }
    match (&param.kind, &candidate.shape) {
        (Type::Number | Type::Integer, Shape::Number(number)) => {
            let counted = if counts_params(tool, candidate, reading) {
                1.5
            } else {
                0.0
            };
            if measure::factor(tool, param, reading, candidate.to).is_none() {
                return -1.0;
            }
            if is_bound(candidate, reading) && counts_rows(param) {
                return -1.0;
            }
            numeric(param, number) + cue(tool, param, candidate, reading) + role(param, candidate, reading) - counted
        }
        (Type::Number | Type::Integer, Shape::Reference) => 0.6,
        (Type::Text, shape) => {
            let base = text(tool, param, candidate, shape, reading);
            let vague = if !param.required && *shape == Shape::Phrase {
                0.8
            } else {
                0.0
            };
            if base < 0.0 {
                base
            } else {
                base - vague + cue(tool, param, candidate, reading) + role(param, candidate, reading)
            }
        }
        (Type::Any, Shape::Literal) => 1.0,
        (Type::Any, Shape::Number(_) | Shape::Quoted) => 0.4 + cue(tool, param, candidate, reading),
        _ => -1.0,
    }
}

/// A nudge that gives the first candidate of a kind to the first parameter of that kind.
pub(super) fn order(param: usize, candidate: usize, params: &[Param], reading: &Reading) -> f32 {
    let place = |index: usize| {
        let kind = params.get(index).map(|param| is_number(&param.kind));
        params
            .iter()
            .take(index)
            .filter(|param| Some(is_number(&param.kind)) == kind && param.choices.is_empty())
            .count()
    };
    let shape = reading
        .candidates
        .get(candidate)
        .map(|candidate| std::mem::discriminant(&candidate.shape));
    let before = reading.candidates.iter().take(candidate);
    let turn = before
        .filter(|other| Some(std::mem::discriminant(&other.shape)) == shape)
        .count();
    let place = place(param);
    #[expect(clippy::cast_precision_loss, reason = "both counts are small")]
    let distance = place.abs_diff(turn).min(6) as f32;
    #[expect(clippy::cast_precision_loss, reason = "the count is small")]
    let late = place.min(60) as f32;
    -0.06 * distance - 0.002 * late
}

const fn is_number(kind: &Type) -> bool {
    matches!(kind, Type::Number | Type::Integer)
}

fn numeric(param: &Param, number: &Number) -> f32 {
    let about = |set: &[&str]| {
        param
            .name_stems
            .iter()
            .chain(&param.description_stems)
            .any(|stem| set.contains(&stem.as_str()))
    };
    let money = about(&[
        "price", "amount", "cost", "budget", "money", "salari", "incom", "invest", "princip", "payment", "loan", "fee",
        "currenc", "bill", "cash", "revenu", "asset", "dollar", "valu", "deposit", "wage",
    ]);
    let share = about(&[
        "percent",
        "percentag",
        "rate",
        "ratio",
        "tax",
        "tip",
        "discount",
        "yield",
        "growth",
        "return",
        "chanc",
        "probabl",
        "interest",
        "margin",
    ]);
    let year = is_year(param);
    let looks_year = number.looks_like_a_year();
    let mut score = 0.6;
    if param.kind == Type::Integer && number.value.fract() != 0.0 {
        score -= 0.4;
    }
    if number.currency.is_some() {
        score += if money { 0.6 } else { -0.2 };
    }
    if number.percent {
        score += match (share, &param.kind) {
            (true, _) => 0.8,
            (false, Type::Integer) => -1.0,
            (false, _) => -0.2,
        };
    }
    if year && looks_year {
        score += 0.9;
    } else if year && number.currency.is_some() {
        score -= 0.6;
    }
    score
}

/// "Over 15" bounds a value.
fn is_bound(candidate: &Candidate, reading: &Reading) -> bool {
    const BOUNDS: &[&str] = &["over", "under", "above", "below", "than", "least"];
    BOUNDS.contains(&lead(candidate, reading).as_str())
}

/// Whether `param` says how many results are wanted, which bounds none of their values.
fn counts_rows(param: &Param) -> bool {
    let names = ["limit", "top", "offset", "page"];
    param.name_stems.iter().any(|stem| names.contains(&stem.as_str()))
}

fn is_year(param: &Param) -> bool {
    param.name_stems.last().is_some_and(|stem| stem == "year")
}

const FROM: &[&str] = &[
    "from", "origin", "sourc", "start", "begin", "departur", "base", "min", "minimum", "lower", "first", "depart",
    "initi", "befor", "old",
];
const TO: &[&str] = &[
    "to", "destin", "target", "end", "arriv", "until", "return", "max", "maximum", "upper", "second", "finish",
    "final", "after", "new",
];

/// What "from", "to", "between .. and" and "in" say of a candidate.
fn role(param: &Param, candidate: &Candidate, reading: &Reading) -> f32 {
    let lead = lead(candidate, reading);
    let is = |set: &[&str]| param.name_stems.iter().any(|stem| set.contains(&stem.as_str()));
    let numbered = |digit: char| param.name.ends_with(digit);
    let wants_from = is(FROM) || numbered('1') || param.name == "a" || param.name.ends_with("_a");
    let wants_to = is(TO) || numbered('2') || param.name == "b" || param.name.ends_with("_b");
    if wants_from && opens_range(candidate, reading) {
        return 1.4;
    }
    match lead.as_str() {
        "from" | "between" | NUMBER if wants_from => 1.4,
        "to" | "into" | "until" | "till" | "through" if wants_to => 1.4,
        "in" | "as" if wants_to && matches!(candidate.shape, Shape::Phrase | Shape::Name) => 0.8,
        "from" | "between" if wants_to => -0.8,
        "to" | "into" | "until" | "till" if wants_from => -0.8,
        _ => 0.0,
    }
}

/// What leads a candidate right behind a number, which is no word of the text.
pub(super) const NUMBER: &str = "#";

/// The function word before a candidate: what follows "between A and" is led by "to".
pub(super) fn lead(candidate: &Candidate, reading: &Reading) -> String {
    let mut index = candidate.from;
    let article = |word: &str| matches!(word, "the" | "a" | "an" | "my" | "our" | "this" | "its");
    while index > 0 && article(&reading.before(index, 1)) {
        index -= 1;
    }
    let word = reading.before(index, 1);
    let earlier = reading.tokens.get(..index.saturating_sub(1)).unwrap_or_default();
    let between = earlier.iter().rev().take(12).any(|token| token.is("between"));
    let number = reading
        .candidates
        .iter()
        .any(|other| other.to == index && matches!(other.shape, Shape::Number(_)));
    match word.as_str() {
        "and" | "&" if between => "to".to_owned(),
        _ if number => NUMBER.to_owned(),
        _ => word,
    }
}

fn text(tool: &Tool, param: &Param, candidate: &Candidate, shape: &Shape, reading: &Reading) -> f32 {
    let class = param.class;
    let lead = lead(candidate, reading);
    match (class, shape) {
        (Class::Date, Shape::Date) => 1.8,
        (Class::Date, Shape::RelativeDate) if wants_calendar_date(param) => -1.0,
        (Class::Date, Shape::RelativeDate) => 1.5,
        (Class::Duration, Shape::Span(_)) => 1.8,
        (Class::Duration, _) | (_, Shape::Span(_)) => -1.0,
        (Class::Time, Shape::Time) => 1.8,
        (Class::Date, Shape::Time) => 0.2,
        (Class::Url, Shape::Url) | (Class::Email, Shape::Email) => 2.0,
        (Class::Path, Shape::Path) => 1.6,
        (Class::Path | Class::Content | Class::Other | Class::Url, Shape::Path | Shape::Url) => 0.8,
        (Class::Person | Class::Other | Class::Content | Class::Identifier, Shape::Email) => 0.5,
        (Class::Other, Shape::RelativeDate) if is_month(param, candidate) => 1.5,
        (Class::Time | Class::Content | Class::Other, Shape::Date | Shape::RelativeDate) => {
            if class == Class::Time {
                0.5
            } else {
                0.1
            }
        }
        (Class::Expression, Shape::Expression) => 2.2,
        (Class::Content | Class::Other, Shape::Expression) if value::refers(&candidate.value) => -1.0,
        (Class::Other, Shape::Expression) => 0.5,
        (Class::Content, Shape::Quoted) => 1.5,
        (Class::Content, Shape::Rest) => 1.2,
        (Class::Content, Shape::Reference) => 0.7,
        (Class::Content, Shape::Name) => 0.5,
        (Class::Date | Class::Time | Class::Url | Class::Email, Shape::Quoted) => 0.3,
        (Class::Date | Class::Time | Class::Url | Class::Email, _) => -1.0,
        (_, Shape::Quoted) => 1.0,
        // A unit that is given changes what the number means, so it is never left out.
        (Class::Unit, Shape::Name | Shape::Phrase)
            if lead == NUMBER && measure::named(&value_text(candidate)).is_some() =>
        {
            1.5
        }
        (Class::Unit, Shape::Name | Shape::Phrase)
            if lead == NUMBER || matches!(lead.as_str(), "to" | "into" | "in" | "from" | "as") =>
        {
            0.9
        }
        (Class::Unit, _) => -1.0,
        (Class::Currency, Shape::Name | Shape::Phrase) if value::is_currency(&value_text(candidate)) => 1.2,
        (Class::Currency, Shape::Name | Shape::Phrase) => -1.0,
        (Class::Language, Shape::Name | Shape::Phrase) => {
            if value::is_language(&value_text(candidate)) {
                1.6
            } else {
                -0.2
            }
        }
        (_, Shape::Name) if place::is_own_name(tool, candidate, reading) => -0.1,
        (Class::Place, Shape::Name | Shape::Phrase) => place::score(param, candidate, &lead),
        (_, Shape::Name) if place::is_elsewhere(tool, class, &lead) => 0.1,
        (Class::Person, Shape::Name) => person(candidate, reading, &lead),
        (Class::Identifier, Shape::Code) => 1.6,
        (Class::Place | Class::Person | Class::Language | Class::Currency, Shape::Code) => -0.2,
        (_, Shape::Code) => 0.9,
        (Class::Person, Shape::Phrase) => 0.1,
        (Class::Identifier, Shape::Name) => 0.6,
        (Class::Identifier, Shape::Number(_)) => 0.4,
        (Class::Other | Class::Content, Shape::Phrase) => phrase(tool, candidate, reading, &lead),
        (Class::Other, Shape::Name) => 0.7,
        (Class::Identifier, Shape::Phrase) => 0.0,
        (Class::Path, Shape::Phrase | Shape::Name) => 0.0,
        (_, Shape::Number(number)) if is_year(param) && number.looks_like_a_year() => 1.5,
        (Class::Place | Class::Person, Shape::Number(_) | Shape::Time) => -1.0,
        (_, Shape::Number(_) | Shape::Time) => 0.05,
        _ => -1.0,
    }
}

/// "December" for a parameter that is called a month.
fn is_month(param: &Param, candidate: &Candidate) -> bool {
    let takes = param.name_stems.last().is_some_and(|stem| stem == "month");
    takes
        && candidate
            .value
            .as_str()
            .is_some_and(|text| super::super::scan::month(text).is_some())
}

/// Whether a date has to be written in figures: its form is given and no word for a day is.
pub(super) fn wants_calendar_date(param: &Param) -> bool {
    const WORDS: &[&str] = &[
        "today",
        "now",
        "tomorrow",
        "yesterday",
        "relative",
        "natural",
        "friday",
        "monday",
    ];
    let form = ["YYYY", "ISO", "yyyy"]
        .iter()
        .any(|form| param.description.contains(form));
    let about = super::super::words::split(&param.description);
    form && !about.iter().any(|word| WORDS.contains(&word.as_str()))
}

/// Whether the end of a range follows: the 3 of "3 to 5".
fn opens_range(candidate: &Candidate, reading: &Reading) -> bool {
    let ends = |other: &Candidate| {
        other.from == candidate.to + 1
            && std::mem::discriminant(&other.shape) == std::mem::discriminant(&candidate.shape)
    };
    let to = reading
        .token(candidate.to)
        .is_some_and(|token| token.is_any(&["to", "-", "–", "through"]));
    let firm = matches!(candidate.shape, Shape::Number(_) | Shape::Date | Shape::Time);
    firm && to && reading.candidates.iter().any(ends)
}

fn person(candidate: &Candidate, reading: &Reading, lead: &str) -> f32 {
    let acronym = reading
        .token(candidate.from)
        .is_some_and(super::super::token::Token::is_acronym);
    let led = matches!(lead, "by" | "of" | "for" | "to" | "with");
    1.0 + if led { 0.4 } else { 0.0 } - if acronym { 0.3 } else { 0.0 }
}

fn value_text(candidate: &Candidate) -> String {
    candidate.value.as_str().unwrap_or_default().to_lowercase()
}

/// A plain phrase: the more of it the tool does not say itself, the better.
fn phrase(tool: &Tool, candidate: &Candidate, reading: &Reading, lead: &str) -> f32 {
    if value::trimmed(tool, None, candidate, reading).is_none() {
        return -1.0;
    }
    match lead {
        "about" | "named" | "called" | "titled" => 0.9,
        "of" | "for" | "on" => 0.5,
        "in" | "at" | "from" | "with" | "by" => 0.3,
        "to" => 0.1,
        _ => 0.2,
    }
}
