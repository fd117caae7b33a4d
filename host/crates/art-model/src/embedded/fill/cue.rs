//! What the words around a candidate say of the parameter that it is for.

use super::super::reading::{Candidate, Reading};
use super::super::schema::{Param, Tool};
use super::super::token::Kind;
use super::super::words;

/// Units of measure and what is measured in them.
const UNITS: &[(&[&str], &[&str])] = &[
    (
        &[
            "year", "yr", "month", "day", "week", "hour", "minut", "second", "min", "sec", "s", "h",
        ],
        &[
            "time", "durat", "year", "period", "term", "month", "day", "week", "hour", "minut", "second", "long",
            "age", "night",
        ],
    ),
    (
        &[
            "km", "kilomet", "mile", "m", "meter", "metr", "cm", "centimet", "feet", "foot", "ft", "inch", "yard", "mm",
        ],
        &[
            "distanc", "length", "height", "width", "depth", "radius", "altitud", "diamet", "displac", "side", "base",
            "tall",
        ],
    ),
    (
        &["kg", "kilogram", "g", "gram", "lb", "pound", "ounc", "oz", "ton"],
        &["weight", "mass"],
    ),
    (&["m/s", "km/h", "mph", "kmh", "kph"], &["speed", "veloc"]),
    (
        &["degre", "celsius", "fahrenheit", "kelvin", "c", "f", "k"],
        &["temperatur", "angl"],
    ),
    (
        &["dollar", "usd", "eur", "euro", "gbp", "buck", "yen"],
        &[
            "price", "amount", "cost", "budget", "money", "princip", "salari", "invest", "bill",
        ],
    ),
    (
        &["people", "person", "guest", "adult", "passeng", "friend", "way"],
        &[
            "peopl", "guest", "parti", "passeng", "adult", "person", "diner", "split",
        ],
    ),
    (&["volt", "v"], &["voltag", "potenti"]),
    (&["amp", "amper", "a"], &["current"]),
    (&["newton", "n"], &["forc"]),
    (&["joul", "j", "calori", "kcal"], &["energi"]),
    (&["pascal", "pa", "atm", "bar"], &["pressur"]),
    (&["liter", "litr", "l", "ml", "gallon"], &["volum", "capac"]),
    (&["pixel", "px"], &["width", "height", "size"]),
];

/// "three sides" counts the parameters `side1` to `side3` and is the value of none.
pub(super) fn counts_params(tool: &Tool, candidate: &Candidate, reading: &Reading) -> bool {
    let spelled = reading.token(candidate.from).is_some_and(|token| token.is_word());
    let next = reading
        .token(candidate.to)
        .map(|token| words::stem(&token.lower()))
        .unwrap_or_default();
    spelled
        && tool
            .params
            .iter()
            .filter(|param| param.name_stems.contains(&next))
            .count()
            > 1
}

/// Words of the parameter near the candidate: right before and after it they count most.
pub(super) fn cue(tool: &Tool, param: &Param, candidate: &Candidate, reading: &Reading) -> f32 {
    if named_by_sign(param, candidate, reading) {
        return 3.0;
    }
    let mut best_name = 0.0_f32;
    let mut total = 0.0_f32;
    for (distance, word) in neighbours(candidate, reading) {
        let stem = words::stem(&word);
        let near = 1.0 / (1.0 + 0.35 * distance);
        if words::is_empty(&word) {
            continue;
        }
        let compound = param
            .name_stems
            .iter()
            .any(|name| stem.len() >= 4 && name.starts_with(&stem));
        let name = words::best_likeness(&stem, &param.name_stems).max(if compound { 0.7 } else { 0.0 });
        let shared = shared_by_params(tool, &stem);
        best_name = best_name.max(name * near * shared * 1.8);
        if name < 0.5 {
            let described = if param.description_stems.contains(&stem) {
                1.0
            } else {
                0.0
            };
            total += described * near * shared * 0.5 + unit(param, &stem) * near * 0.8;
        }
    }
    best_name += if named_in_full(param, candidate, reading) {
        0.8
    } else {
        0.0
    };
    let inner = (candidate.from..candidate.to).any(|index| names_param(param, index, reading));
    best_name.max(if inner && candidate.to - candidate.from > 1 {
        1.0
    } else {
        0.0
    }) + total.min(if param.required { 1.2 } else { 0.4 })
}

fn names_param(param: &Param, index: usize, reading: &Reading) -> bool {
    reading
        .token(index)
        .is_some_and(|token| param.name_stems.contains(&words::stem(&token.lower())))
}

/// A word that several parameters are named by tells them apart less.
fn shared_by_params(tool: &Tool, stem: &str) -> f32 {
    let count = tool
        .params
        .iter()
        .filter(|param| param.name_stems.iter().any(|name| name == stem))
        .count();
    if count > 1 { 0.5 } else { 1.0 }
}

fn unit(param: &Param, stem: &str) -> f32 {
    let measures = |dimension: &[&str]| {
        let in_name = param.name_stems.iter().any(|name| dimension.contains(&name.as_str()));
        let in_description = param
            .description_stems
            .iter()
            .any(|name| dimension.contains(&name.as_str()));
        if in_name {
            1.0
        } else if in_description {
            0.4
        } else {
            0.0
        }
    };
    let dimensions = UNITS.iter().filter(|(units, _)| units.contains(&stem));
    dimensions.map(|(_, dimension)| measures(dimension)).fold(0.0, f32::max)
}

/// "initial velocity is 5", "initial velocity of 5": all words of the name right before the value.
fn named_in_full(param: &Param, candidate: &Candidate, reading: &Reading) -> bool {
    let mut end = candidate.from;
    while end > 0
        && matches!(
            reading.before(end, 1).as_str(),
            "is" | "of" | "=" | ":" | "as" | "a" | "an" | "the"
        )
    {
        end -= 1;
    }
    let start = end.checked_sub(param.name_stems.len());
    let said = start.and_then(|start| reading.stems.get(start..end));
    let said: Vec<&String> = said.into_iter().flatten().flatten().collect();
    !said.is_empty() && said.into_iter().eq(param.name_stems.iter())
}

/// `name = 5` or `name: 5`.
fn named_by_sign(param: &Param, candidate: &Candidate, reading: &Reading) -> bool {
    let sign = reading.before(candidate.from, 1);
    let name = reading.before(candidate.from, 2);
    matches!(sign.as_str(), "=" | ":")
        && !name.is_empty()
        && words::split(&param.name)
            .last()
            .is_some_and(|last| *last == name || param.name.to_lowercase() == name)
        || sign == "is" && param.name.chars().count() == 1 && param.name.to_lowercase() == name
}

/// Words around the candidate with their distance, up to the next candidate of a firm shape or the end of the clause.
fn neighbours(candidate: &Candidate, reading: &Reading) -> Vec<(f32, String)> {
    let mut words = Vec::new();
    let mut distance = 0.0;
    for index in (0..candidate.from).rev().take(6) {
        let Some(token) = reading.token(index) else { break };
        let other_name = token.is_capitalised() && !reading.is_sentence_start(index) && !token.is_function_word();
        if is_border(&token.kind, &token.text) || other_name {
            break;
        }
        words.push((distance, token.lower()));
        distance += if words::is_empty(&token.lower()) { 0.4 } else { 1.0 };
    }
    let mut distance = 0.3;
    for index in (candidate.to..reading.tokens.len()).take(4) {
        let Some(token) = reading.token(index) else { break };
        if is_border(&token.kind, &token.text)
            || token.is_any(&["and", "or", "to", "with", "in", "for", "from", "at", "by"])
        {
            break;
        }
        words.push((distance, token.lower()));
        distance += 1.0;
    }
    words
}

fn is_border(kind: &Kind, text: &str) -> bool {
    match kind {
        Kind::Word => false,
        Kind::Punct => matches!(text, "," | "." | ";" | "?" | "!" | "\n" | "(" | ")"),
        _ => true,
    }
}
