//! The plan of a thread (a conversation), and the state of the plan's items. PES stands for Plan, Execute, Synthesize.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Timestamp;
use crate::shared::Shared;
use crate::tool::{ParsedToolCall, ToolResult};

/// Status of a todo item (contract C54).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum TodoItemStatus {
    #[default]
    Pending,
    InProgress,
    Completed,
    Failed,
    Cancelled,
    /// A call of the item waits for a person's decision.
    Waiting,
}

impl TodoItemStatus {
    /// Parses the name of a status, ignoring case and white space around it (contract X8).
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        serde_json::from_value(Value::String(name.trim().to_ascii_lowercase())).ok()
    }
}

/// Type of a step (contract P21).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepType {
    /// Calls tools.
    Tool,
    /// Considers earlier results, without tools.
    Reasoning,
}

/// How strictly a step must call its required tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolValidationMode {
    /// The model is reminded to call them, but only a limited number of times. A step that ends without having called them gets
    /// an error.
    #[default]
    Strict,
    /// A missing call is only recorded.
    Advisory,
}

/// Whether a step called its required tools: `Skipped` if it requires none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum ValidationStatus {
    Passed,
    Failed,
    Skipped,
}

/// One item of a plan (contract C55). Prompts and documents call it a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TodoItem {
    /// Identifier, unique in the plan.
    pub id: String,
    /// Description of the task.
    pub description: String,
    /// Status of the item.
    #[serde(default)]
    pub status: TodoItemStatus,
    /// Identifiers of the items that must be completed first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
    /// Type of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_type: Option<StepType>,
    /// Names of the tools that the step must call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_tools: Vec<String>,
    /// Expected result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_outcome: Option<String>,
    /// The calls that carry out the step, as the planner wrote them. Without any, a model chooses the calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<PlannedCall>,
    /// Why a model carried out the step, although the plan has calls for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    /// How strictly the required tools are demanded; absent means strict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_validation_mode: Option<ToolValidationMode>,
    /// Result of the step.
    #[serde(
        default,
        deserialize_with = "crate::wire::keep_null",
        skip_serializing_if = "Option::is_none"
    )]
    pub result: Option<Shared<Value>>,
    /// Why the step failed, or what is wrong with a completed step. It is shown to the model that writes the answer, and to
    /// people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Thoughts of the model, one entry for each model call that had some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thoughts: Vec<String>,
    /// The calls that were not refused, with values in place of references. A step in progress has those that it has made so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actual_tool_calls: Vec<ParsedToolCall>,
    /// Identifiers that the calls in `tool_calls` got when their turn came, in the same order. A call that was then refused has
    /// one too, although it is not among `actual_tool_calls`. Empty if a reference in `tool_calls` could not be
    /// resolved, so that no call was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub planned_call_ids: Vec<String>,
    /// Results of the calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_results: Vec<ToolResult>,
    /// Whether the required tools were called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_status: Option<ValidationStatus>,
    /// Time at which the step was planned.
    #[serde(default)]
    pub created_timestamp: Timestamp,
    /// Time of the last change.
    #[serde(default)]
    pub updated_timestamp: Timestamp,
}

/// A call that a plan contains (contract C55).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedCall {
    /// Name of the tool.
    pub tool_name: String,
    /// Arguments: an object. Inside it, `{"$from": "step_1", "path": "/total"}` stands for a value of an earlier step's output,
    /// `{"$attachment": "sales.csv"}` for a file, `{"$concat": [..]}` for scalars joined to one text, and `{"$literal": ..}` for
    /// data that only looks like one of these.
    #[serde(default)]
    pub arguments: Value,
}

/// The result of a step that has ended (contract C58). A run works with the whole result; only stored copies are cut.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepOutputEntry {
    /// Identifier of the step.
    pub step_id: String,
    /// Description.
    pub description: String,
    /// Type of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_type: Option<StepType>,
    /// Status at the end.
    pub status: TodoItemStatus,
    /// Time of the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    /// Result of the step.
    #[serde(
        default,
        deserialize_with = "crate::wire::keep_null",
        skip_serializing_if = "Option::is_none"
    )]
    pub raw_result: Option<Shared<Value>>,
    /// Results of its calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_results: Vec<ToolResult>,
}

/// An earlier question of a thread, with the results of its plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EarlierQuestion {
    /// Number of the question, from 1. Only questions whose plan had an item that completed or failed are numbered.
    pub number: u64,
    /// The question. Empty if an earlier version of the host stored the thread without it.
    pub query: String,
    /// Those items of its plan that completed or failed. Items of different questions may have the same identifier.
    pub items: Vec<TodoItem>,
}

/// State of a thread's plan between runs (contract C56).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PesAgentStateData {
    /// Identifier of the conversation.
    pub thread_id: String,
    /// The question that the plan answers. Empty if an earlier version of the host stored the thread without it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub query: String,
    /// Intent of the person.
    pub intent: String,
    /// Title of the conversation, at most ten words.
    pub title: String,
    /// The plan in words.
    pub plan: String,
    /// The plan of the last question, as items.
    pub todo_list: Vec<TodoItem>,
    /// The questions before the last one, oldest first. The oldest are dropped when there are many.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub earlier_questions: Vec<EarlierQuestion>,
    /// Identifier of a step in progress, or `None` if there is none.
    pub current_step_id: Option<String>,
    /// Whether the plan waits for a person.
    pub is_paused: bool,
    /// Results of the steps, by identifier.
    pub step_outputs: BTreeMap<String, StepOutputEntry>,
}

/// Changes between two versions of a plan (contract C60).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TodoListChanges {
    /// Time of the change.
    pub timestamp: Timestamp,
    /// All changes: added and modified items in the order of the plan, then removed ones.
    pub changes: Vec<TodoItemChange>,
    /// The changes of the kind `added`.
    pub added: Vec<TodoItemChange>,
    /// The changes of the kind `modified`.
    pub modified: Vec<TodoItemChange>,
    /// The changes of the kind `removed`.
    pub removed: Vec<TodoItemChange>,
}

/// One change of an item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TodoItemChange {
    /// Kind.
    #[serde(rename = "type")]
    pub kind: TodoItemChangeType,
    /// Identifier of the item.
    pub item_id: String,
    /// Time of the change.
    pub timestamp: Timestamp,
    /// The item after the change; absent if it was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<TodoItem>,
    /// The item before the change; absent if it was added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_item: Option<TodoItem>,
}

/// Kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
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
    fn an_unknown_status_is_not_guessed() {
        for name in ["", "done", "in progress", "inprogress", "pending,", "null"] {
            assert_eq!(TodoItemStatus::parse(name), None, "{name}");
        }
    }
}
