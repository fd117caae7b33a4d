//! Checks the answer of a person against the form of the question: its type (contract C11), and rules such as lengths
//! and bounds (contract C14).

use art_core::hitl::{Bound, FeedbackSchema, InputType, InputValidation};
use art_core::text::truncate;
use serde_json::{Map, Value, json};

use super::{MAX_ANSWER_BYTES, MAX_FILE_BYTES, MAX_TEXT_CHARS, date, file};
use crate::admission::Root;
use crate::schema::CompiledSchema;
use crate::shape::{JsonSize, text_len};
use crate::violation::Violations;

/// Maximum size of a file as an answer, as compact JSON text in bytes: its content in base64, its name and its media type.
const MAX_FILE_JSON_BYTES: usize = MAX_FILE_BYTES.div_ceil(3) * 4 + (4 << 10);

/// Returns the JSON Schema of the answer to a form. [`check_feedback`](super::check_feedback) checks more: the pattern of a text,
/// dates and times with their bounds, and the name, the media type and the content of a file.
#[must_use]
pub fn answer_schema(form: &FeedbackSchema) -> Value {
    let rules = form.validation.clone().unwrap_or_default();
    match form.input_type {
        InputType::Boolean => json!({"type": "boolean"}),
        InputType::Text => with_keywords(
            json!({"type": "string"}),
            [
                ("minLength", rules.min_length.map(Value::from)),
                ("maxLength", rules.max_length.map(Value::from)),
            ],
        ),
        InputType::Number => with_keywords(
            json!({"type": "number"}),
            [
                ("minimum", number_bound(rules.min)),
                ("maximum", number_bound(rules.max)),
            ],
        ),
        InputType::Select => option_schema(form),
        InputType::Multiselect => with_keywords(
            json!({"type": "array", "items": option_schema(form), "uniqueItems": true}),
            [
                ("minItems", rules.min_selections.map(Value::from)),
                ("maxItems", rules.max_selections.map(Value::from)),
            ],
        ),
        InputType::Date | InputType::Datetime => json!({"type": "string"}),
        InputType::File => file::schema(),
        // The schema `false` accepts no value, because a confirmation has no answer. The schema `true` accepts every value.
        InputType::Confirm => Value::Bool(false),
        InputType::Custom => form.custom_schema.clone().unwrap_or(Value::Bool(true)),
    }
}

/// Returns a schema for the values of the options that can be chosen.
fn option_schema(form: &FeedbackSchema) -> Value {
    let enabled = form.options.iter().filter(|option| !option.disabled);
    json!({"enum": enabled.map(|option| option.value.clone()).collect::<Vec<_>>()})
}

/// Returns a bound that is a number.
fn number_bound(bound: Option<Bound>) -> Option<Value> {
    match bound {
        Some(Bound::Number(number)) => Some(Value::Number(number)),
        Some(Bound::Text(_)) | None => None,
    }
}

/// Returns a schema with those of the keywords that have a value.
fn with_keywords<const N: usize>(schema: Value, keywords: [(&str, Option<Value>); N]) -> Value {
    let mut members = match schema {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    let given = keywords
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    members.extend(given);
    Value::Object(members)
}

/// Returns whether a person who approves must also give an answer. None is needed if the form only asks whether to approve, or
/// makes the answer optional.
pub(super) fn is_required(form: &FeedbackSchema) -> bool {
    let required = form.validation.as_ref().and_then(|rules| rules.required);
    form.input_type != InputType::Confirm && required.unwrap_or(true)
}

/// Checks an answer. In messages, it is called `name`; the messages never contain the answer itself.
///
/// # Errors
/// Fails with the violations.
pub(super) fn check_answer(form: &FeedbackSchema, answer: &Value, name: &str) -> Result<(), Violations> {
    if form.input_type == InputType::Confirm {
        return Err(Violations::of_root(
            name,
            "must be absent: the question is only whether to approve",
        ));
    }
    let size = measure(form, answer, name)?;
    if is_required(form) && (answer.as_str() == Some("") || answer.as_array().is_some_and(Vec::is_empty)) {
        return Err(Violations::of_root(name, "must not be empty"));
    }
    let schema = CompiledSchema::new(&answer_schema(form), Root::Any);
    let schema = schema.map_err(|problem| Violations::of_root(name, &format!("cannot be checked: {problem}")))?;
    let mut violations = Violations::default();
    match (schema.check(answer, &size, name), answer) {
        (Ok(()), _) => {}
        // Check the pattern of a text below even if its length is wrong, so that the person hears of all problems at once.
        (Err(found), Value::String(_)) if form.input_type == InputType::Text => violations.append(found, name),
        (Err(found), _) => return Err(found.with_root(name)),
    }
    check_content(form, answer, name, &mut violations);
    match violations.is_empty() {
        true => Ok(()),
        false => Err(violations),
    }
}

/// Measures an answer, or fails if it is too large.
fn measure(form: &FeedbackSchema, answer: &Value, name: &str) -> Result<JsonSize, Violations> {
    let size = JsonSize::of_payload(answer)
        .map_err(|problem| Violations::of_root(name, &format!("is {problem}: shorten it")))?;
    let max_bytes = match form.input_type {
        InputType::File => MAX_FILE_JSON_BYTES,
        _ => MAX_ANSWER_BYTES,
    };
    match text_len(answer) {
        bytes if bytes > max_bytes => {
            let text = format!("has {bytes} bytes as JSON, more than {max_bytes}: shorten it");
            Err(Violations::of_root(name, &text))
        }
        _ => Ok(size),
    }
}

/// Checks what the schema of the answer cannot say. The answer has been checked against the schema before: it is valid, or is a
/// text of a wrong length.
fn check_content(form: &FeedbackSchema, answer: &Value, name: &str, violations: &mut Violations) {
    let no_rules = InputValidation::default();
    let rules = form.validation.as_ref().unwrap_or(&no_rules);
    let text = answer.as_str().unwrap_or_default();
    match form.input_type {
        InputType::Text => check_pattern(rules, text, name, violations),
        InputType::Date => check_time(rules, text, date::parse_date, date::EXPECTED_DATE, name, violations),
        InputType::Datetime => check_time(
            rules,
            text,
            date::parse_date_time,
            date::EXPECTED_DATE_TIME,
            name,
            violations,
        ),
        InputType::File => {
            for problem in file::problems(answer) {
                violations.add(|| format!("{name}/{problem}"));
            }
        }
        _ => {}
    }
}

fn check_pattern(rules: &InputValidation, text: &str, name: &str, violations: &mut Violations) {
    let Some(pattern) = &rules.pattern else { return };
    let (value, size) = (Value::from(text), JsonSize::of_text(text.len()));
    let schema = match pattern_schema(pattern) {
        Ok(schema) => schema,
        Err(problem) => return violations.add(|| format!("{name} cannot be checked: {problem}")),
    };
    let Err(found) = schema.check(&value, &size, name) else {
        return;
    };
    match &rules.pattern_message {
        // The tool's message is about the pattern, so it does not fit a text that is too long to be matched.
        Some(message) if schema.cost().allows(&size) => {
            violations.add(|| format!("{name} is not as required: {}", truncate(message, MAX_TEXT_CHARS)));
        }
        _ => violations.append(found, name),
    }
}

/// Compiles a pattern, with bounds on its size and on the cost of matching it.
pub(super) fn pattern_schema(pattern: &str) -> Result<CompiledSchema, crate::admission::SchemaProblem> {
    CompiledSchema::new(&json!({"pattern": pattern}), Root::Any)
}

/// Checks a date or a time, and that it is within its bounds.
fn check_time<T: PartialOrd>(
    rules: &InputValidation,
    text: &str,
    parse: impl Fn(&str) -> Option<T>,
    expected: &str,
    name: &str,
    violations: &mut Violations,
) {
    let Some(time) = parse(text) else {
        return violations.add(|| format!("{name} must be {expected}"));
    };
    let bound = |bound: &Option<Bound>| match bound {
        Some(Bound::Text(text)) => parse(text).map(|time| (time, text.clone())),
        _ => None,
    };
    if let Some((_, min)) = bound(&rules.min).filter(|(min, _)| time < *min) {
        violations.add(|| format!("{name} must be {min} or later"));
    }
    if let Some((_, max)) = bound(&rules.max).filter(|(max, _)| time > *max) {
        violations.add(|| format!("{name} must be {max} or earlier"));
    }
}

#[cfg(test)]
mod tests;
