//! Lists: literals, enumerations of values of one shape, and several values of a set.

use serde_json::Value;

use super::super::reading::{Candidate, Reading, Shape};
use super::super::schema::{Param, Type, text_of};
use super::super::token::Token;
use super::super::words;
use super::choice::mention;
use super::{Filling, rank, rows, value};

/// The list that `param` takes and how sure it is.
pub(super) fn fill(filling: &mut Filling<'_>, param: &Param, item: &Param) -> Option<(Value, f32)> {
    if let Some(literal) = filling.literal(Value::is_array) {
        return Some((literal, 1.0));
    }
    if let Type::Object(fields) = &item.kind {
        let asked = param.required || filling.mentions(param);
        return asked
            .then(|| rows::fill(filling, param, fields))
            .flatten()
            .map(|value| (value, 1.0));
    }
    if !item.choices.is_empty() {
        return chosen(filling, item).map(|value| (value, 1.0));
    }
    if !param.required && !filling.mentions(param) {
        return None;
    }
    let named = Param {
        kind: item.kind.clone(),
        ..param.clone()
    };
    let group = groups(filling, &named).into_iter().max_by_key(|group| {
        (
            group.len(),
            std::cmp::Reverse(group.first().map(|candidate| candidate.from)),
        )
    })?;
    if group.len() < 2 && !param.required {
        return None;
    }
    let mut values = Vec::new();
    for candidate in &group {
        if let Some((value, from, to)) = value::of(filling.tool, &named, candidate, filling.context.part) {
            filling.consume(from, to);
            values.push(value);
        }
    }
    let sureness = if values.len() > 1 { 1.0 } else { 0.4 };
    (!values.is_empty()).then_some((Value::Array(values), sureness))
}

fn chosen(filling: &mut Filling<'_>, item: &Param) -> Option<Value> {
    let mut places: Vec<(usize, usize, Value)> = item
        .choices
        .iter()
        .filter_map(|choice| {
            mention(filling.context.part, &text_of(&choice.value)).map(|(from, to)| (from, to, choice.value.clone()))
        })
        .filter(|(from, to, _)| filling.is_free(*from, *to))
        .collect();
    places.sort_by_key(|(from, _, _)| *from);
    for (from, to, _) in &places {
        filling.consume(*from, *to);
    }
    let values: Vec<Value> = places.into_iter().map(|(_, _, value)| value).collect();
    (!values.is_empty()).then_some(Value::Array(values))
}

/// Candidates that follow each other with only commas, "and" and articles between them.
fn groups<'a>(filling: &Filling<'a>, item: &Param) -> Vec<Vec<&'a Candidate>> {
    let reading = filling.context.part;
    let goes_on = |last: &Candidate, next: &Candidate| alike(last, next) && joined(reading, item, last.to, next.from);
    let mut groups: Vec<Vec<&Candidate>> = Vec::new();
    for candidate in fitting(filling, item) {
        match groups.last_mut() {
            Some(group) if group.last().is_some_and(|last| goes_on(last, candidate)) => group.push(candidate),
            _ => groups.push(vec![candidate]),
        }
    }
    groups
}

/// The candidates that may be values of the list, none over another.
fn fitting<'a>(filling: &Filling<'a>, item: &Param) -> Vec<&'a Candidate> {
    let reading = filling.context.part;
    let fits = |candidate: &&Candidate| {
        let free = filling.is_free(candidate.from, candidate.to);
        free && is_value(item, &candidate.shape) && rank::lead(candidate, reading) != rank::NUMBER
    };
    let is_phrase = |candidate: &&Candidate| candidate.shape == Shape::Phrase;
    let (mut phrases, firm): (Vec<&Candidate>, Vec<&Candidate>) =
        reading.candidates.iter().filter(fits).partition(is_phrase);
    // "prices of Apple" holds the name "Apple", which is what a list is made of.
    let apart = |a: &Candidate, b: &Candidate| a.to <= b.from || b.to <= a.from;
    phrases.retain(|phrase| firm.iter().all(|other| apart(phrase, other)));
    phrases.extend(firm);
    phrases.sort_by_key(|candidate| (candidate.from, candidate.to));
    phrases.dedup_by(|b, a| b.from < a.to);
    phrases.retain(|candidate| {
        candidate.shape != Shape::Phrase || value::trimmed(filling.tool, None, candidate, reading).is_some()
    });
    phrases
}

fn is_value(item: &Param, shape: &Shape) -> bool {
    match item.kind {
        Type::Number | Type::Integer => matches!(shape, Shape::Number(_)),
        Type::Text | Type::Any => matches!(
            shape,
            Shape::Quoted | Shape::Name | Shape::Phrase | Shape::Email | Shape::Url | Shape::Path | Shape::Date
        ),
        _ => false,
    }
}

fn alike(a: &Candidate, b: &Candidate) -> bool {
    std::mem::discriminant(&a.shape) == std::mem::discriminant(&b.shape)
}

/// Commas and words like "and" join, and so do words that the parameter says of itself: "latitude 4 and longitude 5".
fn joined(reading: &Reading, item: &Param, from: usize, to: usize) -> bool {
    let own = |token: &Token| item.description_stems.contains(&words::stem(&token.lower()));
    let ranges = item
        .name_stems
        .iter()
        .any(|stem| ["interv", "rang", "limit", "bound"].contains(&stem.as_str()));
    let range = |token: &Token| ranges && (token.is_any(&["to", "=", "-"]) || token.text.len() == 1 && token.is_word());
    let glue = |token: &Token| {
        token.is_any(&[",", "and", "or", "&", ";", "the", "a"]) || token.is("plus") || own(token) || range(token)
    };
    from < to
        && reading
            .tokens
            .get(from..to)
            .is_some_and(|tokens| tokens.iter().all(glue))
}
