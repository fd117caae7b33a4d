//! How well names and phrases fit parameters that take a place.

use super::super::class::Class;
use super::super::reading::{Candidate, Reading, Shape};
use super::super::schema::{Param, Tool};
use super::super::words;

/// How well a name or phrase that `lead` leads fits `param`, which takes a place.
pub(super) fn score(param: &Param, candidate: &Candidate, lead: &str) -> f32 {
    let led = matches!(
        lead,
        "in" | "at" | "near" | "from" | "to" | "around" | "for" | "of" | "between" | "within" | "outside"
    );
    match candidate.shape {
        Shape::Name if is_address(candidate) => 2.0,
        // "At the Marriott in Rome": what follows "in" is a place more often.
        Shape::Name if matches!(lead, "in" | "near") => 1.7 + whole(param, candidate),
        Shape::Name => 0.8 + if led { 0.8 } else { 0.0 } + whole(param, candidate),
        _ if led => 0.8,
        _ => -0.1,
    }
}

/// Whether the tool itself goes by the name, as `uber_ride` does by "Uber".
pub(super) fn is_own_name(tool: &Tool, candidate: &Candidate, reading: &Reading) -> bool {
    let own = words::stems(&tool.name);
    let stems = reading.stems.get(candidate.from..candidate.to).unwrap_or_default();
    !stems.is_empty() && stems.iter().flatten().all(|stem| own.contains(stem))
}

/// A name after "in" belongs to the parameter that takes places, where there is one.
pub(super) fn is_elsewhere(tool: &Tool, class: Class, lead: &str) -> bool {
    let place = |param: &Param| param.class == Class::Place;
    class != Class::Place && matches!(lead, "in" | "near" | "at") && tool.params.iter().any(place)
}

fn is_address(candidate: &Candidate) -> bool {
    candidate
        .value
        .as_str()
        .is_some_and(|text| text.starts_with(|c: char| c.is_ascii_digit()))
}

/// "Austin, Texas" goes whole to a parameter that shows a place with a comma, or speaks of the country or state.
fn whole(param: &Param, candidate: &Candidate) -> f32 {
    let whole = candidate.value.as_str().is_some_and(|name| name.contains(", "));
    let about = param.description.to_lowercase();
    let pairs = about.match_indices(", ").any(|(at, _)| {
        let before = about
            .get(..at)
            .and_then(|head| head.rsplit([' ', '\'', '"', '`', '(']).next());
        before.is_some_and(|word| word.starts_with("city") || word == "town")
    });
    let example = param.description.split(['\'', '"', '`', '(']).any(|piece| {
        matches!(piece.split_once(", "), Some((city, region)) if city.starts_with(char::is_uppercase) && region.starts_with(char::is_uppercase) && !region.contains(','))
    });
    if whole && (pairs || example) { 0.3 } else { 0.0 }
}
