//! Lists: literals, enumerations of values of one shape, and several values of a set.

use serde_json::Value;

use super::super::reading::{Candidate, Reading, Shape};
use super::super::schema::{Param, Type, text_of};
use super::super::words;
use super::choice::mention;
use super::{Filling, rank, value};

/// The list that `param` takes and how sure it is.
pub(super) fn fill(filling: &mut Filling<'_>, param: &Param, item: &Param) -> Option<(Value, f32)> {
    if let Some(literal) = filling.literal(Value::is_array) {
        return Some((literal, 1.0));
    }
    if !item.choices.is_empty() {
        return chosen(filling, item).map(|value| (value, 1.0));
    }
    if !param.required && !filling.mentions(param) {
        return None;
    }
    let group = groups(filling, item).into_iter().max_by_key(|group| {
        (
            group.len(),
            std::cmp::Reverse(group.first().map(|candidate| candidate.from)),
        )
    })?;
    if group.len() < 2 && !param.required {
        return None;
    }
    let named = Param {
        kind: item.kind.clone(),
        ..param.clone()
    };
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
    let fits = |candidate: &&Candidate| {
        let right = match item.kind {
            Type::Number | Type::Integer => matches!(candidate.shape, Shape::Number(_)),
            Type::Text | Type::Any => matches!(
                candidate.shape,
                Shape::Quoted | Shape::Name | Shape::Phrase | Shape::Email | Shape::Url | Shape::Path | Shape::Date
            ),
            _ => false,
        };
        right && filling.is_free(candidate.from, candidate.to) && rank::lead(candidate, reading) != "number"
    };
    let mut groups: Vec<Vec<&Candidate>> = Vec::new();
    let mut fitting: Vec<&Candidate> = reading.candidates.iter().filter(fits).collect();
    fitting.sort_by_key(|candidate| (candidate.from, candidate.to));
    fitting.dedup_by(|b, a| b.from < a.to);
    for candidate in fitting {
        if value::trimmed(filling.tool, None, candidate, reading).is_none() && candidate.shape == Shape::Phrase {
            continue;
        }
        match groups.last_mut() {
            Some(group)
                if group
                    .last()
                    .is_some_and(|last| alike(last, candidate) && joined(reading, last.to, candidate.from)) =>
            {
                group.push(candidate)
            }
            _ => groups.push(vec![candidate]),
        }
    }
    groups
}

fn alike(a: &Candidate, b: &Candidate) -> bool {
    std::mem::discriminant(&a.shape) == std::mem::discriminant(&b.shape)
}

fn joined(reading: &Reading, from: usize, to: usize) -> bool {
    let glue = |token: &super::super::token::Token| {
        token.is_any(&[",", "and", "or", "&", ";", "the", "a"]) || words::is_empty(&token.lower()) && token.is("plus")
    };
    from < to
        && reading
            .tokens
            .get(from..to)
            .is_some_and(|tokens| tokens.iter().all(glue))
}
