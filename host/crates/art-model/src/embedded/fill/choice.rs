//! Values of a set, flags, and values that a description lists as examples.

use serde_json::{Value, json};

use super::super::class::Class;
use super::super::reading::Reading;
use super::super::schema::{Choice, Param, Type, text_of};
use super::super::words;
use super::Filling;

/// Fills every open parameter that has a set of values or is a flag.
pub(super) fn fill(filling: &mut Filling<'_>) {
    for (index, param) in filling.params.iter().enumerate() {
        if !filling.is_open(index) {
            continue;
        }
        if param.kind == Type::Boolean {
            flag(filling, index, param);
        } else if !param.choices.is_empty() && !matches!(param.kind, Type::List(_)) {
            choice(filling, index, param);
        } else if param.kind == Type::Text && lists_examples(param) {
            described(filling, index, param);
        } else if matches!(param.kind, Type::Integer) && !param.required {
            single(filling, index, param);
        }
    }
}

/// Examples of a place, a person or a currency are not all there are, so they say nothing.
fn lists_examples(param: &Param) -> bool {
    !matches!(
        param.class,
        Class::Place | Class::Person | Class::Currency | Class::Language | Class::Date | Class::Expression
    )
}

fn choice(filling: &mut Filling<'_>, index: usize, param: &Param) {
    let part = filling.context.part;
    let named = param.choices.iter().filter_map(|choice| {
        let value = text_of(&choice.value);
        let (from, to) = mention(part, &value).or_else(|| abbreviated(part, &value))?;
        Some((to - from, from, to, choice))
    });
    let best = named
        .filter(|(_, from, to, _)| filling.is_free(*from, *to))
        .max_by_key(|(length, from, _, _)| (*length, std::cmp::Reverse(*from)));
    if let Some((_, from, to, choice)) = best {
        let value = choice.value.clone();
        filling.consume(from, to);
        filling.set(index, value, 1.0);
    } else if let Some(choice) = hinted(filling, param) {
        filling.set(index, choice.value.clone(), 0.7);
    }
}

/// The choice whose hint has the most words of the text; the first of equals.
fn hinted<'a>(filling: &Filling<'_>, param: &'a Param) -> Option<&'a Choice> {
    let hint = |choice: &Choice| words::stems(&format!("{} {}", text_of(&choice.value), choice.hint));
    let hints: Vec<Vec<String>> = param.choices.iter().map(hint).collect();
    let tokens = filling.context.part.tokens.iter().enumerate();
    let free = tokens.filter(|(index, _)| filling.is_free(*index, *index + 1));
    let mut text: Vec<String> = free.flat_map(|(_, token)| words::stems(&token.text)).collect();
    // A word that most choices share tells none of them apart.
    text.retain(|word| {
        !words::is_generic(word) && hints.iter().filter(|hint| hint.contains(word)).count() * 2 <= hints.len().max(4)
    });
    let mut best: Option<(f32, &Choice)> = None;
    for (choice, hint) in param.choices.iter().zip(&hints) {
        if !param.required && choice.hint.contains("how many") && !counts(filling) {
            continue;
        }
        let score = overlap(&text, hint);
        if score > best.map_or(0.0, |(score, _)| score) {
            best = Some((score, choice));
        }
    }
    let enough = if param.required { 0.5 } else { 1.0 };
    best.filter(|(score, _)| *score >= enough).map(|(_, choice)| choice)
}

/// Whether a count is asked for: "rows" alone asks to see them.
fn counts(filling: &Filling<'_>) -> bool {
    let tokens = &filling.context.part.tokens;
    tokens
        .iter()
        .any(|token| token.is_any(&["many", "number", "count", "counts", "counted"]))
}

/// How much of the text a hint has; words in the same order count more.
fn overlap(text: &[String], hint: &[String]) -> f32 {
    let one = |word: &String| match words::best_likeness(word, hint) {
        best if best >= 1.0 => 1.0,
        best if best >= 0.7 => 0.55,
        _ => 0.0,
    };
    let pairs = text
        .windows(2)
        .filter(|pair| hint.windows(2).any(|other| other == *pair))
        .count();
    #[expect(clippy::cast_precision_loss, reason = "the count is small")]
    let in_order = pairs as f32 * 0.3;
    in_order + text.iter().map(one).sum::<f32>()
}

/// Where `value` stands in the text, word by word and by stem.
pub(super) fn mention(reading: &Reading, value: &str) -> Option<(usize, usize)> {
    let wanted: Vec<String> = words::split(value).iter().map(|word| words::stem(word)).collect();
    if wanted.is_empty() || wanted.iter().all(|word| words::is_empty(word)) {
        return None;
    }
    let stems = reading.stems.as_slice();
    (0..stems.len()).find_map(|from| {
        let mut taken = Vec::new();
        for (to, token) in stems.iter().enumerate().skip(from).take(wanted.len() + 1) {
            taken.extend(token.iter().cloned());
            if taken == wanted {
                return Some((from, to + 1));
            }
            if taken.len() >= wanted.len() {
                return None;
            }
        }
        None
    })
}

/// Where the word stands that `value` abbreviates: "maximum" for `max`.
fn abbreviated(reading: &Reading, value: &str) -> Option<(usize, usize)> {
    let is_long_form = |stem: &String| {
        value.len() >= 3
            && stem.len() > value.len()
            && stem.starts_with(value)
            && words::alike(stem).any(|word| word == value)
    };
    let at = reading.stems.iter().position(|stems| stems.iter().any(is_long_form))?;
    Some((at, at + 1))
}

/// A flag is set where the text has the words of its name, and unset where it denies them.
fn flag(filling: &mut Filling<'_>, index: usize, param: &Param) {
    const FILLER: &[&str] = &[
        "is", "has", "include", "includ", "use", "with", "enabl", "allow", "flag", "want", "need", "only", "show",
        "get", "add", "in",
    ];
    let part = filling.context.part;
    let wanted: Vec<&String> = param
        .name_stems
        .iter()
        .filter(|stem| !FILLER.contains(&stem.as_str()) && !words::is_empty(stem))
        .collect();
    let places: Vec<usize> = wanted
        .iter()
        .filter_map(|stem| {
            part.tokens.iter().position(|token| {
                words::split(&token.text)
                    .iter()
                    .any(|word| words::likeness(&words::stem(word), stem) >= 1.0)
            })
        })
        .collect();
    let in_tool = wanted
        .iter()
        .all(|stem| words::stems(&filling.tool.name).contains(stem));
    if wanted.is_empty() || places.len() < wanted.len() || (in_tool && !param.required) {
        return;
    }
    let first = places.iter().min().copied().unwrap_or(0);
    let denied = (1..=3).any(|distance| {
        matches!(
            part.before(first, distance).as_str(),
            "no" | "not" | "without" | "exclude" | "excluding" | "don't" | "skip"
        )
    });
    filling.set(index, Value::Bool(!denied), 1.0);
}

/// A value that the description lists as an example and the text names.
fn described(filling: &mut Filling<'_>, index: usize, param: &Param) {
    let part = filling.context.part;
    let own = words::stems(&filling.tool.name);
    let values = listed(&param.description);
    let found = values
        .iter()
        .filter_map(|value| mention(part, value).map(|(from, to)| (to - from, from, to, value)));
    let free = found.filter(|(_, from, to, value)| {
        let plain = words::stems(value)
            .iter()
            .all(|stem| own.contains(stem) || param.name_stems.contains(stem));
        filling.is_free(*from, *to) && !plain
    });
    let best = free.max_by_key(|(length, from, _, _)| (*length, std::cmp::Reverse(*from)));
    if let Some((_, from, to, value)) = best {
        let value = json!(value);
        filling.consume(from, to);
        filling.set(index, value, 0.9);
    }
}

/// Values between quotes, or after "such as", "e.g." and the like, up to the end of the sentence.
fn listed(description: &str) -> Vec<String> {
    let lower = description.to_lowercase();
    let mut values = Vec::new();
    for quote in ['\'', '`', '"'] {
        let mut pieces = description.split(quote).skip(1);
        while let (Some(value), Some(_)) = (pieces.next(), pieces.next()) {
            values.push(value.trim().to_owned());
        }
    }
    const MARKS: &[&str] = &[
        "such as",
        "e.g.",
        "for example",
        "for instance",
        "either",
        "options:",
        "one of",
        "can be",
        "possible values",
        "like ",
    ];
    for mark in MARKS {
        let Some(at) = lower.find(mark) else { continue };
        let tail = description.get(at + mark.len()..).unwrap_or_default();
        let sentence = tail.split(". ").next().unwrap_or_default();
        let pieces = sentence
            .split([',', ';', '(', ')', '/'])
            .flat_map(|piece| piece.split(" or "))
            .flat_map(|piece| piece.split(" and "));
        values.extend(pieces.map(|piece| piece.trim_matches(|c: char| !c.is_alphanumeric()).to_owned()));
    }
    // "(walk, bike, drive)" lists values, "(such as 3)" does not.
    let brackets = description
        .split('(')
        .skip(1)
        .filter_map(|piece| piece.split(')').next());
    let lists = brackets.filter(|piece| piece.matches(", ").count() >= 2);
    values.extend(
        lists
            .flat_map(|piece| piece.split(", "))
            .map(|piece| piece.trim().to_owned()),
    );
    values.retain(|value| {
        (2..=40).contains(&value.chars().count())
            && value.split_whitespace().count() <= 4
            && value.chars().any(char::is_alphabetic)
            && !words::is_empty(&value.to_lowercase())
            && !words::is_generic(&value.to_lowercase())
    });
    values.truncate(60);
    values
}

/// "Which region has the highest sales" asks for one row where a limit speaks of the top.
fn single(filling: &mut Filling<'_>, index: usize, param: &Param) {
    const LIMITS: &[&str] = &["limit", "top", "count", "max", "results"];
    const SUPERLATIVES: &[&str] = &[
        "highest", "lowest", "most", "least", "largest", "smallest", "biggest", "best", "worst", "top", "fewest",
        "cheapest", "latest", "earliest", "oldest", "newest",
    ];
    let text = words::split(&filling.context.part.text);
    let limits = words::split(&param.name)
        .iter()
        .any(|word| LIMITS.contains(&word.as_str()));
    let about = words::split(&param.description);
    let top = about
        .iter()
        .any(|word| SUPERLATIVES.contains(&word.as_str()) || word == "single");
    let asked = text
        .iter()
        .any(|word| word == "which" || word == "what" || word == "who")
        && text.iter().any(|word| SUPERLATIVES.contains(&word.as_str()));
    let numbers = filling
        .context
        .part
        .candidates
        .iter()
        .any(|candidate| matches!(candidate.shape, super::super::reading::Shape::Number(_)));
    let singular = text
        .iter()
        .position(|word| word == "which" || word == "what")
        .and_then(|at| text.get(at + 1))
        .is_some_and(|word| !word.ends_with('s') || word == "is" || word.ends_with("ss"));
    if limits
        && top
        && let Some((value, at)) = super::count::ranked(filling.context.part)
    {
        filling.consume(at, at + 1);
        filling.set(index, value, 1.0);
    } else if limits && top && asked && singular && !numbers {
        filling.set(index, json!(1), 1.0);
    }
}
