//! Checks the decision of a person against its question. A decision has a time and, besides the approval, may have an answer,
//! edited arguments and a comment, which is called `reason` (contract C15). The answer may be in one of several
//! fields (contract C21).

use art_core::JsonObject;
use art_core::hitl::Feedback;
use art_core::limits::Limits;
use art_core::suspension::{SuspendedCall, SuspensionCause};
use serde_json::Value;

use super::MAX_REASON_CHARS;
use super::answer::{check_answer, is_required};
use crate::check::check_input;
use crate::schema::CompiledSchema;
use crate::shape::{JsonSize, MAX_DEPTH, text_len};
use crate::violation::Violations;

/// Maximum size of the `metadata` of a decision, as compact JSON text in bytes.
const MAX_METADATA_BYTES: usize = 16 << 10;
/// Maximum number of JSON values in one member of the `metadata` of a decision, nested values included.
const MAX_METADATA_NODES: usize = 2_000;

/// What is wrong with a decision. Each entry has the form `<path> <message>`, where the path begins with the name of a field of
/// [`Feedback`]: `value/0 must be ..`. No entry contains the answer, which may be secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FeedbackErrors(pub Violations);

/// Checks a decision, and returns it in a normal form: the answer is in `value`, whichever field contained it, and the arguments
/// have their defaults. `input_schema` is that of the tool, if the tool still exists.
///
/// - An approval needs an answer that the form accepts; a missing answer becomes the default answer of the form. A form of the
///   type `confirm` has no answer, and `validation.required` can make an answer optional.
/// - A rejection has neither an answer nor arguments. They are dropped unchecked, so that a mistake in them cannot prevent the
///   rejection.
/// - `modifiedArgs` are allowed if the form allows them or if a rule of the operator asks the question. They must be valid under
///   the input schema.
///
/// # Errors
/// Fails with everything that is wrong.
pub fn check_feedback(
    question: &SuspendedCall,
    input_schema: Option<&CompiledSchema>,
    feedback: Feedback,
) -> Result<Feedback, FeedbackErrors> {
    check_feedback_with_input_limit(question, input_schema, Limits::MAX.input_bytes, feedback)
}

/// Checks a decision as [`check_feedback`] does, with the limit of the tool on its input, in bytes.
pub(crate) fn check_feedback_with_input_limit(
    question: &SuspendedCall,
    input_schema: Option<&CompiledSchema>,
    max_input_bytes: u64,
    mut feedback: Feedback,
) -> Result<Feedback, FeedbackErrors> {
    let mut violations = Violations::default();
    check_comment_and_metadata(&feedback, &mut violations);
    // The answer moves to `value`. A `null` is no answer, and the answer of a rejection is dropped.
    feedback.value =
        Some(feedback.answer().unwrap_or_default()).filter(|answer| feedback.approved && !answer.is_null());
    feedback.text_input = None;
    feedback.selected_values = None;
    if feedback.approved {
        complete_answer(question, &mut feedback, &mut violations);
    }
    let modified = feedback.modified_args.take().filter(|_| feedback.approved);
    if let Some(arguments) = modified {
        match check_modified_arguments(question, input_schema, max_input_bytes, arguments) {
            Ok(arguments) => feedback.modified_args = Some(arguments),
            Err(found) => violations.append(found, ARGUMENTS),
        }
    }
    match violations.is_empty() {
        true => Ok(feedback),
        false => Err(FeedbackErrors(violations)),
    }
}

/// Name of the answer in messages.
const ANSWER: &str = "value";
/// Name of the arguments in messages.
const ARGUMENTS: &str = "modifiedArgs";

/// Checks the answer of an approval. A missing answer first becomes the default answer of the form, if the form has one.
fn complete_answer(question: &SuspendedCall, feedback: &mut Feedback, violations: &mut Violations) {
    let form = &question.form;
    if feedback.value.is_none() {
        feedback.value.clone_from(&form.default_value);
    }
    match &feedback.value {
        Some(answer) => {
            if let Err(found) = check_answer(form, answer, ANSWER) {
                violations.append(found, ANSWER);
            }
        }
        None if is_required(form) => violations.add(|| format!("{ANSWER} is missing: the question needs an answer")),
        None => {}
    }
}

fn check_modified_arguments(
    question: &SuspendedCall,
    input_schema: Option<&CompiledSchema>,
    max_input_bytes: u64,
    arguments: Value,
) -> Result<Value, Violations> {
    let is_asked_by_rule = matches!(question.cause, SuspensionCause::Rule { .. });
    if !is_asked_by_rule && !question.form.allow_modify_args {
        let text = "must be absent: the tool does not allow to edit its arguments";
        return Err(Violations::of_root(ARGUMENTS, text));
    }
    let Some(input_schema) = input_schema else {
        return Err(Violations::of_root(
            ARGUMENTS,
            "cannot be checked: the tool does not exist any more",
        ));
    };
    let size =
        JsonSize::of_payload(&arguments).map_err(|problem| Violations::of_root(ARGUMENTS, &format!("is {problem}")))?;
    check_input(input_schema, max_input_bytes, ARGUMENTS, arguments, size).map(|valid| valid.arguments)
}

fn check_comment_and_metadata(feedback: &Feedback, violations: &mut Violations) {
    let chars = feedback.reason.as_ref().map_or(0, |reason| reason.chars().count());
    if chars > MAX_REASON_CHARS {
        violations.add(|| format!("reason has {chars} characters, more than {MAX_REASON_CHARS}: shorten it"));
    }
    if let Some(problem) = metadata_problem(&feedback.metadata) {
        violations.add(|| format!("metadata {problem}"));
    }
}

fn metadata_problem(metadata: &JsonObject) -> Option<String> {
    for value in metadata.values() {
        if let Err(problem) = JsonSize::measure(value, MAX_DEPTH, MAX_METADATA_NODES) {
            return Some(format!("is {problem}: leave some out"));
        }
    }
    match text_len(metadata) {
        bytes if bytes > MAX_METADATA_BYTES => Some(format!(
            "has {bytes} bytes as JSON, more than {MAX_METADATA_BYTES}: leave some out"
        )),
        _ => None,
    }
}

#[cfg(test)]
pub(crate) use tests::any_json;
#[cfg(test)]
mod tests;
