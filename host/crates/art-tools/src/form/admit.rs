//! Admission of forms: decides which forms the host accepts.

use std::collections::HashSet;

use art_core::hitl::{Bound, FeedbackSchema, InputType, InputValidation, SelectOption};
use art_core::tool::BlockingToolConfig;
use serde_json::Value;

use super::answer::{answer_schema, check_answer, pattern_schema};
use super::{
    FormProblem, MAX_FORM_BYTES, MAX_LABEL_CHARS, MAX_OPTIONS, MAX_PROMPT_CHARS, MAX_TEXT_CHARS, MAX_WAIT_MS, date,
};
use crate::admission::Root;
use crate::scalar::scalar_text;
use crate::schema::CompiledSchema;
use crate::shape::{JsonSize, MAX_DEPTH, MAX_NODES, text_len};

/// Admits the settings of a tool that asks a person (contract C16). Replaces every `$ref` of the form's schema by its
/// target.
///
/// # Errors
/// Fails with the first problem found.
pub(crate) fn admit_config(config: &mut BlockingToolConfig) -> Result<(), FormProblem> {
    if let Some(form) = config.feedback_schema.take() {
        config.feedback_schema = Some(admit(form)?);
    }
    check_text("approvalPrompt", config.approval_prompt.as_deref(), MAX_PROMPT_CHARS)?;
    check_text("category", config.category.as_deref(), MAX_LABEL_CHARS)?;
    match config.timeout_ms {
        Some(timeout) if !(1..=MAX_WAIT_MS).contains(&timeout) => Err(FormProblem::Timeout(timeout)),
        _ => Ok(()),
    }
}

/// Admits a form: bounds its size, and checks that it is consistent and that its default answer is valid. Replaces every `$ref`
/// of its schema by its target.
///
/// # Errors
/// Fails with the first problem found.
pub(crate) fn admit(mut form: FeedbackSchema) -> Result<FeedbackSchema, FormProblem> {
    check_size(&form)?;
    check_texts(&form)?;
    check_options(&form)?;
    if let Some(rules) = &form.validation {
        check_rules(&form, rules)?;
    }
    if let Some(schema) = &mut form.custom_schema {
        let compiled = CompiledSchema::new(schema, Root::Any).map_err(FormProblem::CustomSchema)?;
        *schema = compiled.schema().clone();
    }
    // Each answer will be checked against the answer schema, so that schema must compile. The parts of it that the host writes
    // are bounded, so the compilation could fail only because of the custom schema of a tool.
    CompiledSchema::new(&answer_schema(&form), Root::Any).map_err(FormProblem::CustomSchema)?;
    if form.input_type == InputType::Confirm {
        // A person only approves or rejects a confirmation and enters no value, so a default value has no meaning.
        form.default_value = None;
    }
    if let Some(default) = &form.default_value {
        check_answer(&form, default, "value").map_err(FormProblem::Default)?;
    }
    Ok(form)
}

fn check_size(form: &FeedbackSchema) -> Result<(), FormProblem> {
    if form.options.len() > MAX_OPTIONS {
        return Err(FormProblem::TooManyOptions(form.options.len()));
    }
    // Check the depth first, because computing the length of the form as JSON recurses.
    let values = form.options.iter().map(|option| &option.value);
    for value in values.chain(&form.default_value).chain(&form.custom_schema) {
        JsonSize::measure(value, MAX_DEPTH, MAX_NODES)?;
    }
    match text_len(form) {
        bytes if bytes > MAX_FORM_BYTES => Err(FormProblem::TooLarge(bytes)),
        _ => Ok(()),
    }
}

fn check_texts(form: &FeedbackSchema) -> Result<(), FormProblem> {
    let pattern_message = form
        .validation
        .as_ref()
        .and_then(|rules| rules.pattern_message.as_deref());
    check_text("prompt", Some(&form.prompt), MAX_PROMPT_CHARS)?;
    check_text("title", form.title.as_deref(), MAX_TEXT_CHARS)?;
    check_text("placeholder", form.placeholder.as_deref(), MAX_TEXT_CHARS)?;
    check_text("hint", form.hint.as_deref(), MAX_TEXT_CHARS)?;
    check_text("validation.patternMessage", pattern_message, MAX_TEXT_CHARS)?;
    let (confirm, cancel) = (form.confirm_label.as_str(), form.cancel_label.as_str());
    check_text("confirmLabel", Some(confirm), MAX_LABEL_CHARS)?;
    check_text("cancelLabel", Some(cancel), MAX_LABEL_CHARS)?;
    match confirm.trim().is_empty() || cancel.trim().is_empty() || confirm.trim() == cancel.trim() {
        true => Err(FormProblem::Labels),
        false => Ok(()),
    }
}

fn check_text(field: &str, text: Option<&str>, limit: usize) -> Result<(), FormProblem> {
    match text.map(|text| text.chars().count()) {
        Some(chars) if chars > limit => Err(FormProblem::TextTooLong {
            field: field.to_owned(),
            chars,
            limit,
        }),
        _ => Ok(()),
    }
}

fn check_options(form: &FeedbackSchema) -> Result<(), FormProblem> {
    let is_choice = matches!(form.input_type, InputType::Select | InputType::Multiselect);
    let mut seen = HashSet::new();
    for (index, option) in form.options.iter().enumerate() {
        check_option(index, option)?;
        // A person types a value as text, so the values `1` and `"1"` are the same option.
        if !seen.insert(scalar_text(&option.value)) {
            return Err(FormProblem::SameOption);
        }
    }
    match is_choice && form.options.iter().all(|option| option.disabled) {
        true => Err(FormProblem::NoOptions),
        false => Ok(()),
    }
}

fn check_option(index: usize, option: &SelectOption) -> Result<(), FormProblem> {
    let field = |name: &str| format!("options/{index}/{name}");
    match &option.value {
        Value::String(text) => check_text(&field("value"), Some(text), MAX_TEXT_CHARS)?,
        Value::Number(_) | Value::Bool(_) => {}
        _ => return Err(FormProblem::OptionValue(index)),
    }
    if option.label.trim().is_empty() {
        return Err(FormProblem::OptionLabel(index));
    }
    check_text(&field("label"), Some(&option.label), MAX_LABEL_CHARS)?;
    check_text(&field("icon"), option.icon.as_deref(), MAX_LABEL_CHARS)?;
    check_text(&field("description"), option.description.as_deref(), MAX_TEXT_CHARS)
}

fn check_rules(form: &FeedbackSchema, rules: &InputValidation) -> Result<(), FormProblem> {
    if let Some(pattern) = &rules.pattern {
        pattern_schema(pattern).map_err(FormProblem::Pattern)?;
    }
    check_range("minLength", rules.min_length, "maxLength", rules.max_length)?;
    check_range(
        "minSelections",
        rules.min_selections,
        "maxSelections",
        rules.max_selections,
    )?;
    match form.input_type {
        InputType::Number => check_bounds(rules, number_bound, "a number"),
        InputType::Date => check_bounds(rules, |bound| date::parse_date(text_bound(bound)?), date::EXPECTED_DATE),
        InputType::Datetime => check_bounds(
            rules,
            |bound| date::parse_date_time(text_bound(bound)?),
            date::EXPECTED_DATE_TIME,
        ),
        InputType::Multiselect => {
            let enabled = form.options.iter().filter(|option| !option.disabled).count();
            match rules.min_selections.is_some_and(|min| min > enabled as u64) {
                true => Err(FormProblem::TooFewOptions),
                false => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

fn check_bounds<T: PartialOrd>(
    rules: &InputValidation,
    parse: impl Fn(&Bound) -> Option<T>,
    expected: &'static str,
) -> Result<(), FormProblem> {
    let parsed = |name, bound: &Option<Bound>| match bound {
        Some(bound) => parse(bound).map(Some).ok_or(FormProblem::Bound { name, expected }),
        None => Ok(None),
    };
    check_range("min", parsed("min", &rules.min)?, "max", parsed("max", &rules.max)?)
}

fn check_range<T: PartialOrd>(
    min_name: &'static str,
    min: Option<T>,
    max_name: &'static str,
    max: Option<T>,
) -> Result<(), FormProblem> {
    match (min, max) {
        (Some(min), Some(max)) if min > max => Err(FormProblem::EmptyRange { min_name, max_name }),
        _ => Ok(()),
    }
}

fn number_bound(bound: &Bound) -> Option<f64> {
    match bound {
        Bound::Number(number) => number.as_f64(),
        Bound::Text(_) => None,
    }
}

fn text_bound(bound: &Bound) -> Option<&str> {
    match bound {
        Bound::Text(text) => Some(text),
        Bound::Number(_) => None,
    }
}

#[cfg(test)]
mod tests;
