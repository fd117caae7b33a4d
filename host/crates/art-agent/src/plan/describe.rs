//! Describes what a schema asks for and what a call is given, for the model that repairs a plan and for people.

use art_core::text::truncate;
use serde_json::Value;

use super::flow;

/// Maximum number of values, of alternatives or of required keys that are listed.
const MAX_LISTED: usize = 12;
/// Maximum length of names that are compared with each other, in bytes.
const MAX_COMPARED_BYTES: usize = 100;
/// Maximum length of a value that is quoted, in characters.
const MAX_QUOTED_CHARS: usize = 80;
/// Smallest similarity of a name that is suggested. Names have similarities from 0 to 1.
const MIN_SIMILARITY: f64 = 0.7;

/// Returns what a schema asks for, such as "an integer of at least 1", "an object with `name`" or "one of `"sum"`, `"mean"`".
pub(crate) fn describe_asked(schema: &Value) -> String {
    let Some(map) = schema.as_object() else {
        return if *schema == Value::Bool(false) {
            "nothing"
        } else {
            "any value"
        }
        .to_owned();
    };
    if let Some(value) = map.get("const") {
        return quote(value);
    }
    if let Some(choices) = map.get("enum").and_then(Value::as_array) {
        let shown: Vec<String> = choices.iter().take(MAX_LISTED).map(quote).collect();
        let more = if choices.len() > MAX_LISTED { ", .." } else { "" };
        return format!("one of {}{more}", shown.join(", "));
    }
    if let Some(branches) = ["anyOf", "oneOf"].iter().find_map(|key| map.get(*key)?.as_array()) {
        let all: Vec<String> = branches.iter().take(MAX_LISTED).map(describe_asked).collect();
        return all.join(" or ");
    }
    // A tool that takes numbers may also take them as texts (`x-numeric`). This is not mentioned.
    let is_mentioned = |name: &&str| *name != "string" || map.get("x-numeric") != Some(&Value::Bool(true));
    let types: Vec<&str> = match map.get("type") {
        Some(Value::Array(names)) => {
            let names = names.iter().filter_map(Value::as_str);
            names.filter(is_mentioned).map(with_article).collect()
        }
        Some(name) => name.as_str().map(with_article).into_iter().collect(),
        // The message then reads, for example: another value is asked for, `7` is given.
        None => vec!["another value"],
    };
    let bounds = map
        .iter()
        .filter_map(|(keyword, value)| Some(format!("{} {value}", bound_words(keyword)?)));
    let required = flow::required_keys(map).take(MAX_LISTED).map(|key| format!("`{key}`"));
    let required = required.collect::<Vec<_>>().join(", ");
    let with_required = (!required.is_empty()).then(|| format!("with {required}"));
    let conditions: Vec<String> = bounds.chain(with_required).collect();
    let separator = if conditions.is_empty() { "" } else { " " };
    format!("{}{separator}{}", types.join(" or "), conditions.join(" and "))
}

/// Returns what values of `schema` are, such as "an object" or "`7`".
pub(crate) fn describe_given(schema: &Value) -> String {
    let type_name = schema.get("type").and_then(Value::as_str);
    match (type_name, schema.get("const")) {
        (_, Some(value)) => quote(value),
        (Some("object"), _) => "an object".to_owned(),
        (Some("array"), _) => "an array".to_owned(),
        _ => describe_asked(schema),
    }
}

/// Returns a hint with that one of `names` which is most similar to `name`, or nothing if none is similar. Long names are not
/// compared, because the time to compare two names grows with the product of their lengths.
pub(crate) fn similar_name_hint<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    let is_short = |name: &str| name.len() <= MAX_COMPARED_BYTES;
    let lower = name.to_lowercase();
    let names = names.filter(|other| is_short(name) && is_short(other));
    let with_similarity = names.map(|other| (strsim::jaro_winkler(&lower, &other.to_lowercase()), other));
    let best = with_similarity
        .filter(|(similarity, _)| *similarity >= MIN_SIMILARITY)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or_else(String::new, |(_, other)| format!("; did you mean `{other}`?"))
}

/// Returns a value as JSON in backticks, cut if it is long.
fn quote(value: &Value) -> String {
    format!("`{}`", truncate(&value.to_string(), MAX_QUOTED_CHARS))
}

fn with_article(name: &str) -> &str {
    match name {
        "integer" => "an integer",
        "number" => "a number",
        "string" => "a string",
        "boolean" => "a boolean",
        "array" => "an array",
        "object" => "an object",
        other => other,
    }
}

/// Returns the words for a bound, such as "of at least", which come before its value. Returns `None` for other keywords.
fn bound_words(keyword: &str) -> Option<&'static str> {
    Some(match keyword {
        "minimum" => "of at least",
        "maximum" => "of at most",
        "exclusiveMinimum" => "above",
        "exclusiveMaximum" => "below",
        "minLength" => "with a length of at least",
        "maxLength" => "with a length of at most",
        "minItems" => "with a number of items of at least",
        "maxItems" => "with a number of items of at most",
        "pattern" => "that matches",
        _ => return None,
    })
}
