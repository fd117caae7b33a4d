//! Converts what a person types into an answer.

use std::borrow::Cow;

use art_core::hitl::{FeedbackSchema, InputType, SelectOption};
use art_core::json::with_exact_integers;
use serde_json::{Number, Value};

use super::{MAX_ANSWER_BYTES, date};
use crate::parse;
use crate::scalar::scalar_text;

/// What a person typed.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// Nothing. The default answer applies, if the form has one.
    Nothing,
    /// An answer, not yet checked.
    Value(Value),
    /// The path of a file, which the caller reads and turns into an answer with [`file_answer`](super::file_answer).
    File(String),
}

/// Maximum number of options that a message lists.
const MAX_LISTED_OPTIONS: usize = 10;

/// Converts what a person typed on a terminal into an answer to `form`. Surrounding spaces do not count, except in a text.
///
/// - `boolean`: `yes`, `y`, `true`, `no`, `n` or `false`, in any case.
/// - `select`: the label or the value of an option, or its number from 1 on. An entry that may mean several options is an error,
///   and `#2` is always the second option. `multiselect`: several such entries, separated by commas, or `none` for no option.
/// - `number`: as in JSON, and also `+5` or `.5`.
/// - `date` and `datetime`: as in RFC 3339; there may be a space between date and time.
/// - `custom`: JSON. If the schema requires a string, its quotes may be left out: the entry `5` is then the string `"5"`.
/// - `file`: a path. `confirm`: nothing.
///
/// The answer still has to be checked with [`check_feedback`](super::check_feedback).
///
/// # Errors
/// Fails with a message for the person that says what to type.
pub fn parse_entry(form: &FeedbackSchema, text: &str) -> Result<Entry, String> {
    if text.len() > MAX_ANSWER_BYTES {
        return Err(format!(
            "the answer has {} bytes, more than {MAX_ANSWER_BYTES}: shorten it",
            text.len()
        ));
    }
    let line = text.trim_end_matches(['\r', '\n']);
    let trimmed = line.trim();
    if trimmed.is_empty() && (line.is_empty() || form.input_type != InputType::Text) {
        return Ok(Entry::Nothing);
    }
    match form.input_type {
        InputType::Text => return Ok(Entry::Value(line.into())),
        InputType::File => return Ok(Entry::File(trimmed.to_owned())),
        InputType::Boolean => parse_boolean(trimmed),
        InputType::Number => parse_number(trimmed),
        InputType::Select => choose_option(&form.options, trimmed),
        InputType::Multiselect => choose_options(&form.options, trimmed),
        InputType::Date => accept_if_valid(trimmed, |text| date::parse_date(text).is_some(), date::EXPECTED_DATE),
        InputType::Datetime => check_date_time(trimmed),
        InputType::Confirm => Err("nothing is asked for: only approve or reject".to_owned()),
        InputType::Custom => parse_custom(form.custom_schema.as_ref(), trimmed),
    }
    .map(Entry::Value)
}

fn parse_boolean(entry: &str) -> Result<Value, String> {
    match entry.to_lowercase().as_str() {
        "yes" | "y" | "true" => Ok(true.into()),
        "no" | "n" | "false" => Ok(false.into()),
        _ => Err("type `yes` or `no`".to_owned()),
    }
}

fn parse_number(entry: &str) -> Result<Value, String> {
    if matches!(with_exact_integers(entry), Cow::Owned(_)) {
        return Err("type a number with fewer digits: this one would be rounded".to_owned());
    }
    let json: Option<Number> = serde_json::from_str(entry).ok();
    // Also accept `+5` and `.5`, which are no JSON.
    let float = || entry.parse().ok().and_then(Number::from_f64);
    json.or_else(float)
        .map(Value::Number)
        .ok_or_else(|| "type a number such as 12 or 0.5".to_owned())
}

fn check_date_time(entry: &str) -> Result<Value, String> {
    let joined = entry.replacen(' ', "T", 1);
    accept_if_valid(
        &joined,
        |text| date::parse_date_time(text).is_some(),
        date::EXPECTED_DATE_TIME,
    )
}

/// Returns a date, or a date and time, unchanged if it is valid. `expected` says what to type, for the error.
fn accept_if_valid(entry: &str, is_valid: impl Fn(&str) -> bool, expected: &str) -> Result<Value, String> {
    match is_valid(entry) {
        true => Ok(entry.into()),
        false => Err(format!("type {expected}")),
    }
}

fn parse_custom(schema: Option<&Value>, entry: &str) -> Result<Value, String> {
    let wants_text = schema.and_then(|schema| schema.get("type")) == Some(&Value::from("string"));
    match parse::strict(entry) {
        Ok((value, _)) if value.is_string() => Ok(value),
        _ if wants_text => Ok(entry.into()),
        Ok((value, _)) => Ok(value),
        Err(error) => Err(format!(
            "this is not JSON: {error}; type a value such as {{\"name\": \"value\"}}, [1, 2] or \"text\""
        )),
    }
}

/// Returns the values of the options that `line` lists.
fn choose_options(options: &[SelectOption], line: &str) -> Result<Value, String> {
    // A label may contain a comma, so try the whole line first.
    let entries: Vec<_> = match choose_option(options, line) {
        Ok(value) => return Ok(Value::Array(vec![value])),
        Err(_) if line.eq_ignore_ascii_case("none") => return Ok(Value::Array(Vec::new())),
        Err(_) => line.split(',').map(str::trim).filter(|text| !text.is_empty()).collect(),
    };
    let mut values = Vec::new();
    for entry in entries {
        let value = choose_option(options, entry)?;
        if !values.contains(&value) {
            values.push(value);
        }
    }
    Ok(Value::Array(values))
}

/// Returns the value of the option that `entry` means: by its label, its value or its number. Fails if it means none,
/// several or a disabled one.
fn choose_option(options: &[SelectOption], entry: &str) -> Result<Value, String> {
    if let Some(numbered) = entry.strip_prefix('#').and_then(|number| nth(options, number)) {
        return enabled_value(numbered);
    }
    // Returns the options whose label or value is the same as `entry`, as `is_same` compares them.
    let options_named = |is_same: fn(&str, &str) -> bool| -> Vec<_> {
        let is_named = |option: &&SelectOption| names(option).iter().any(|name| is_same(name.trim(), entry));
        options.iter().filter(is_named).collect()
    };
    let mut candidates = options_named(|name, entry| name == entry);
    if candidates.is_empty() {
        candidates = options_named(|name, entry| name.to_lowercase() == entry.to_lowercase());
    }
    candidates.extend(nth(options, entry));
    // An option whose label or value is its number has been found twice.
    candidates.dedup_by(|a, b| std::ptr::eq(*a, *b));
    match candidates.as_slice() {
        [] => Err(format!(
            "no option is named `{}`: type {}",
            shorten(entry),
            list_options(options)
        )),
        [option] => enabled_value(option),
        _ => Err(format!(
            "`{}` may mean several options: type `#` and a number, as in {}",
            shorten(entry),
            list_options(options)
        )),
    }
}

/// Returns the texts that a person may type for an option: its label and its value.
fn names(option: &SelectOption) -> [String; 2] {
    [option.label.clone(), scalar_text(&option.value).unwrap_or_default()]
}

/// Returns the option with this number, counted from 1.
fn nth<'o>(options: &'o [SelectOption], number: &str) -> Option<&'o SelectOption> {
    let number: usize = number.trim().parse().ok()?;
    options.get(number.checked_sub(1)?)
}

/// Returns the value of an option, or fails if it is disabled.
fn enabled_value(option: &SelectOption) -> Result<Value, String> {
    match option.disabled {
        true => Err(format!(
            "`{}` cannot be chosen now: choose another option",
            shorten(&option.label)
        )),
        false => Ok(option.value.clone()),
    }
}

/// Lists the options that can be chosen, with their numbers.
fn list_options(options: &[SelectOption]) -> String {
    let enabled = options.iter().enumerate().filter(|(_, option)| !option.disabled);
    let mut texts: Vec<_> = enabled
        .map(|(index, option)| format!("#{} ({})", index + 1, shorten(&option.label)))
        .collect();
    let more = texts.len().saturating_sub(MAX_LISTED_OPTIONS);
    texts.truncate(MAX_LISTED_OPTIONS);
    match more {
        0 => texts.join(", "),
        _ => format!("{} or one of {more} more", texts.join(", ")),
    }
}

fn shorten(text: &str) -> String {
    super::prompt::one_line(&art_core::text::truncate(text, 40))
}

#[cfg(test)]
mod tests;
