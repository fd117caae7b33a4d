//! The state of a plan.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Timestamp;
use crate::tool::{ParsedToolCall, ToolResult};

/// Status of a todo item (C54).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum TodoItemStatus {
    #[default]
    Pending,
    InProgress,
    Completed,
    Failed,
    Cancelled,
    Waiting,
}

impl TodoItemStatus {
    /// Returns the status of that name in any case (X8).
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        serde_json::from_value(Value::String(name.trim().to_ascii_lowercase())).ok()
    }
}

/// Type of a step (P21).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepType {
    /// Calls tools.
    Tool,
    /// Thinks about earlier results.
    Reasoning,
}

/// How strictly the required tools of a step are demanded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolValidationMode {
    /// The model is reminded to call them, a limited number of times.
    #[default]
    Strict,
    /// A missing call is only noted.
    Advisory,
}

/// Whether the required tools of a step were called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ValidationStatus {
    Passed,
    Failed,
    Skipped,
}

/// One step of a plan (C55).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TodoItem {
    /// Unique in the list.
    pub id: String,
    /// The task.
    pub description: String,
    /// The stage of the run.
    #[serde(default)]
    pub status: TodoItemStatus,
    /// Items that must be completed first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
    /// Type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_type: Option<StepType>,
    /// Tools it must call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_tools: Vec<String>,
    /// Expected result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_outcome: Option<String>,
    /// Absent means strict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_validation_mode: Option<ToolValidationMode>,
    /// Its result.
    #[serde(
        default,
        deserialize_with = "crate::wire::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub result: Option<Value>,
    /// Why it failed, for the answer and for the reader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Thoughts of the model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thoughts: Vec<String>,
    /// Calls it made that passed validation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actual_tool_calls: Vec<ParsedToolCall>,
    /// Their results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_results: Vec<ToolResult>,
    /// Whether the required tools were called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_status: Option<ValidationStatus>,
    /// When it was planned.
    #[serde(default)]
    pub created_timestamp: Timestamp,
    /// When it last changed.
    #[serde(default)]
    pub updated_timestamp: Timestamp,
}

/// The whole result of a step, never truncated (C58).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepOutputEntry {
    /// The item.
    pub step_id: String,
    /// Description.
    pub description: String,
    /// Type of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_type: Option<StepType>,
    /// How it ended.
    pub status: TodoItemStatus,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    /// Its result.
    #[serde(
        default,
        deserialize_with = "crate::wire::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub raw_result: Option<Value>,
    /// Results of its calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_results: Vec<ToolResult>,
}

/// State of a thread's plan between runs (C56).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PesAgentStateData {
    /// Conversation.
    pub thread_id: String,
    /// The person's intent.
    pub intent: String,
    /// At most ten words.
    pub title: String,
    /// The plan in words.
    pub plan: String,
    /// The plan as steps.
    pub todo_list: Vec<TodoItem>,
    /// Step being worked on.
    pub current_step_id: Option<String>,
    /// Waits for a person.
    pub is_paused: bool,
    /// Results by step.
    pub step_outputs: BTreeMap<String, StepOutputEntry>,
}

/// What changed in a list of items (C60).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TodoListChanges {
    /// When.
    pub timestamp: Timestamp,
    /// Every change: added and modified in list order, then removed.
    pub changes: Vec<TodoItemChange>,
    /// Those of the type `added`.
    pub added: Vec<TodoItemChange>,
    /// Those of the type `modified`.
    pub modified: Vec<TodoItemChange>,
    /// Those of the type `removed`.
    pub removed: Vec<TodoItemChange>,
}

/// One change of an item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TodoItemChange {
    /// Kind.
    #[serde(rename = "type")]
    pub kind: TodoItemChangeType,
    /// The item.
    pub item_id: String,
    /// When.
    pub timestamp: Timestamp,
    /// As it is now; absent if removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<TodoItem>,
    /// As it was; absent if added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_item: Option<TodoItem>,
}

/// Kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum TodoItemChangeType {
    Added,
    Modified,
    Removed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_in_any_case() {
        use TodoItemStatus as Status;
        let statuses = [
            ("pending", Status::Pending),
            ("PENDING", Status::Pending),
            ("IN_PROGRESS", Status::InProgress),
            ("In_Progress", Status::InProgress),
            ("  Completed\n", Status::Completed),
            ("FAILED", Status::Failed),
            ("Cancelled", Status::Cancelled),
            ("wAITING", Status::Waiting),
        ];
        for (name, status) in statuses {
            assert_eq!(TodoItemStatus::parse(name), Some(status), "{name}");
        }
    }

    #[test]
    fn what_is_no_status_is_not_guessed() {
        for name in ["", "done", "in progress", "inprogress", "pending,", "null"] {
            assert_eq!(TodoItemStatus::parse(name), None, "{name}");
        }
    }
}
