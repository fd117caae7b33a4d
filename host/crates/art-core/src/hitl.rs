//! Questions to a person and their answers.

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::{JsonObject, Timestamp};

/// Kind of answer asked for (C11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum InputType {
    Boolean,
    Text,
    Select,
    Multiselect,
    Number,
    Date,
    Datetime,
    File,
    Confirm,
    Custom,
}

/// Form of the answer asked for (C12).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FeedbackSchema {
    /// Kind of answer.
    pub input_type: InputType,
    /// Question.
    pub prompt: String,
    /// Heading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Choices of `select` and `multiselect`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<SelectOption>,
    /// Rules the answer must meet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<InputValidation>,
    /// Answer offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_value: Option<Value>,
    /// Text of an empty field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    /// Label of the approving button.
    #[serde(default = "approve")]
    pub confirm_label: String,
    /// Label of the rejecting button.
    #[serde(default = "reject")]
    pub cancel_label: String,
    /// The person may edit the arguments.
    #[serde(default)]
    pub allow_modify_args: bool,
    /// JSON Schema of a `custom` answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_schema: Option<Value>,
    /// Help next to the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Mask the answer while it is typed.
    #[serde(default)]
    pub sensitive: bool,
}

fn approve() -> String {
    "Approve".to_owned()
}

fn reject() -> String {
    "Reject".to_owned()
}

/// One choice (C13).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelectOption {
    /// A string, a number or a boolean.
    pub value: Value,
    /// Text shown.
    pub label: String,
    /// Help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Shown but not selectable.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disabled: bool,
    /// Icon name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
}

/// Rules an answer must meet (C14).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "the names say it")]
pub struct InputValidation {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_selections: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_selections: Option<u64>,
}

/// A person's answer (C15).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Feedback {
    /// The decision.
    pub approved: bool,
    /// When it was made.
    pub timestamp: Timestamp,
    /// The value asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Older name of `value` for text; see [`Feedback::answer`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_input: Option<String>,
    /// Older name of `value` for choices; see [`Feedback::answer`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_values: Option<Vec<Value>>,
    /// Arguments as the person edited them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_args: Option<Value>,
    /// Comment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Further fields.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub metadata: JsonObject,
}

impl Feedback {
    /// Returns the value given, under whichever of its three names: `value`, else `textInput`, else `selectedValues`
    /// (C21).
    #[must_use]
    pub fn answer(&self) -> Option<Value> {
        let text = || self.text_input.clone().map(Value::String);
        let choices = || self.selected_values.clone().map(Value::Array);
        self.value.clone().or_else(text).or_else(choices)
    }
}

/// Given to a tool that is run again after a decision (C18).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HitlContext {
    /// Always true.
    pub is_resuming: bool,
    /// The decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was_approved: Option<bool>,
    /// The answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<Value>,
    /// The question that was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspension_id: Option<String>,
    /// Arguments of the suspended call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_args: Option<Value>,
}
