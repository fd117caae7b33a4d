//! Reasons why a form is refused.

use super::{MAX_FORM_BYTES, MAX_OPTIONS, MAX_WAIT_MS};
use crate::admission::SchemaProblem;
use crate::shape::TooLarge;
use crate::violation::Violations;

/// The reason why the form of a question is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormProblem {
    /// The value that the tool gave is no valid form, and its `inputType` shows that it is not the JSON Schema of an answer.
    #[error("it is neither a form nor a JSON Schema: {0}")]
    NotAForm(String),
    /// The form is nested too deeply, or has too many values.
    #[error("it is {0}")]
    TooComplex(#[from] TooLarge),
    /// The form has too many bytes as JSON.
    #[error("it has {0} bytes as JSON, more than {MAX_FORM_BYTES}: shorten it")]
    TooLarge(usize),
    /// A text of the form is too long.
    #[error("`{field}` has {chars} characters, more than {limit}: shorten it")]
    TextTooLong {
        /// The field.
        field: String,
        /// Its length in characters.
        chars: usize,
        /// Its maximum length in characters.
        limit: usize,
    },
    /// The button to confirm or the button to cancel has no text, or both have the same text.
    #[error("`confirmLabel` and `cancelLabel` are empty or the same: give each button a text of its own")]
    Labels,
    /// There are too many options.
    #[error("it has {0} options, more than {MAX_OPTIONS}: leave some out, or ask for a text")]
    TooManyOptions(usize),
    /// There is no option to choose.
    #[error("it has no option that can be chosen: list some in `options`")]
    NoOptions,
    /// The value of an option is no text, number or boolean.
    #[error("the `value` of `options/{0}` must be a text, a number or a boolean")]
    OptionValue(usize),
    /// An option has no label.
    #[error("the `label` of `options/{0}` is empty: say what it stands for")]
    OptionLabel(usize),
    /// Two options have the same value.
    #[error("two options have the same `value`: give each its own")]
    SameOption,
    /// No answer can meet both bounds.
    #[error("`validation.{min_name}` is greater than `validation.{max_name}`: no answer would be valid")]
    EmptyRange {
        /// Name of the lower bound.
        min_name: &'static str,
        /// Name of the upper bound.
        max_name: &'static str,
    },
    /// More selections are required than there are options.
    #[error("`validation.minSelections` is greater than the number of options that can be chosen")]
    TooFewOptions,
    /// A bound is not what the form asks for: a number, a date, or a date and time.
    #[error("`validation.{name}` must be {expected}")]
    Bound {
        /// Name of the bound.
        name: &'static str,
        /// What it must be.
        expected: &'static str,
    },
    /// The pattern is refused.
    #[error("`validation.pattern` is refused: {0}")]
    Pattern(SchemaProblem),
    /// The schema of the answer is refused.
    #[error("`customSchema` is refused: {0}")]
    CustomSchema(SchemaProblem),
    /// The default answer violates the form.
    #[error("`defaultValue` is no valid answer: {0}")]
    Default(Violations),
    /// The time for the decision is zero or too long.
    #[error("`timeoutMs` is {0}; it must be from 1 to {MAX_WAIT_MS}, or absent for no limit")]
    Timeout(u64),
}
