//! Questions to a person and their answers (human in the loop).

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::{JsonObject, Timestamp};

/// Kind of answer that a person gives (contract C11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum InputType {
    Boolean,
    Text,
    Select,
    Multiselect,
    Number,
    Date,
    Datetime,
    File,
    /// Approval or rejection, without any other input.
    Confirm,
    Custom,
}

/// The form that a person fills in to answer a question (contract C12).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FeedbackSchema {
    /// Kind of answer.
    pub input_type: InputType,
    /// Question to the person.
    pub prompt: String,
    /// Heading of the form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Options of `select` and `multiselect`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<SelectOption>,
    /// Rules that the answer must meet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<InputValidation>,
    /// Default answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_value: Option<Value>,
    /// Placeholder of an empty field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    /// Label of the button that approves.
    #[serde(default = "approve_label")]
    pub confirm_label: String,
    /// Label of the button that rejects.
    #[serde(default = "reject_label")]
    pub cancel_label: String,
    /// Whether the person may edit the arguments of the tool call that waits for the answer.
    #[serde(default)]
    pub allow_modify_args: bool,
    /// JSON Schema of an answer of the kind `custom`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_schema: Option<Value>,
    /// Help text next to the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Whether the answer is masked while it is typed.
    #[serde(default)]
    pub sensitive: bool,
}

fn approve_label() -> String {
    "Approve".to_owned()
}

fn reject_label() -> String {
    "Reject".to_owned()
}

/// An option to choose (contract C13).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelectOption {
    /// Value: a string, a number or a boolean.
    pub value: Value,
    /// Text that is shown.
    pub label: String,
    /// Help text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether the option is shown but cannot be chosen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disabled: bool,
    /// Name of an icon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
}

/// Rules that an answer must meet (contract C14).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct InputValidation {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Bound>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Bound>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_selections: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_selections: Option<u64>,
}

/// Smallest or greatest answer (contract C14): a number, or for `date` and `datetime` a text as in RFC 3339.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Bound {
    Number(Number),
    Text(String),
}

impl FeedbackSchema {
    /// Creates a form on which a person approves or rejects, without any input (contract C16).
    #[must_use]
    pub fn confirm(prompt: impl Into<String>) -> Self {
        Self {
            input_type: InputType::Confirm,
            prompt: prompt.into(),
            title: None,
            options: Vec::new(),
            validation: None,
            default_value: None,
            placeholder: None,
            confirm_label: approve_label(),
            cancel_label: reject_label(),
            allow_modify_args: false,
            custom_schema: None,
            hint: None,
            sensitive: false,
        }
    }
}

/// A person's decision and answer (contract C15).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Feedback {
    /// Whether the person approved.
    pub approved: bool,
    /// Time of the decision.
    pub timestamp: Timestamp,
    /// The answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Older name of `value` for a text; see [`Feedback::answer`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_input: Option<String>,
    /// Older name of `value` for choices; see [`Feedback::answer`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_values: Option<Vec<Value>>,
    /// The arguments of the waiting tool call, as the person edited them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_args: Option<Value>,
    /// Comment of the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Further fields.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub metadata: JsonObject,
}

impl Feedback {
    /// Creates a decision without an answer or a comment.
    #[must_use]
    pub fn new(approved: bool, timestamp: Timestamp) -> Self {
        Self {
            approved,
            timestamp,
            value: None,
            text_input: None,
            selected_values: None,
            modified_args: None,
            reason: None,
            metadata: JsonObject::new(),
        }
    }

    /// Returns the answer, which has three possible names: `value`, else `textInput`, else `selectedValues` (contract
    /// C21).
    #[must_use]
    pub fn answer(&self) -> Option<Value> {
        let text = || self.text_input.clone().map(Value::String);
        let choices = || self.selected_values.clone().map(Value::Array);
        self.value.clone().or_else(text).or_else(choices)
    }
}

/// Context of a tool call that is repeated after a person's decision (contract C18).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HitlContext {
    /// Always true, since only a repeated call has this context.
    pub is_resuming: bool,
    /// Whether the person approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was_approved: Option<bool>,
    /// The person's answer without the rest of the [`Feedback`]; see [`Feedback::answer`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<Value>,
    /// Identifier of the wait for the decision ([`SuspendedCall::suspension_id`](crate::suspension::SuspendedCall)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspension_id: Option<String>,
    /// Arguments with which the call was made before it waited for the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_args: Option<Value>,
}
