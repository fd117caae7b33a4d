//! Makes the items of a plan from a draft of the model, and keeps the results of the previous plan (B1, B36, B37).

use std::collections::BTreeSet;

use art_core::Timestamp;
use art_core::pes::{EarlierQuestion, PesAgentStateData, TodoItem, TodoItemStatus};

use super::earlier::find_earlier;
use crate::parse::DraftItem;

/// Returns whether work on an item is over.
pub(crate) const fn has_ended(status: TodoItemStatus) -> bool {
    use TodoItemStatus::{Cancelled, Completed, Failed};
    matches!(status, Completed | Failed | Cancelled)
}

/// Returns the plan of a new question. `old` is the plan that an earlier run did not finish, or empty.
///
/// An item of `draft` is new work, unless `old` has an ended item with the same identifier and the same status, which is then kept
/// with its results. A completed item of `old` on which an item of `draft` depends is kept as well. A completed item of
/// `draft` that names a result of an earlier question is left out.
pub(crate) fn plan_question(
    old: &[TodoItem],
    draft: Vec<DraftItem>,
    earlier: &[EarlierQuestion],
    at: Timestamp,
) -> Vec<TodoItem> {
    let dependencies: BTreeSet<_> = draft.iter().flat_map(|item| &item.dependencies).cloned().collect();
    let ids: BTreeSet<_> = draft.iter().map(|item| item.id.clone()).collect();
    let is_used = |item: &&TodoItem| {
        item.status == TodoItemStatus::Completed && dependencies.contains(&item.id) && !ids.contains(&item.id)
    };
    let used = old.iter().filter(is_used).cloned();
    let new = draft.into_iter().filter(|item| !repeats_earlier(earlier, item));
    used.chain(new.map(|item| continue_item(old, item, at))).collect()
}

/// Returns whether an item stands for the result of an earlier question, which is available without the item.
pub(crate) fn repeats_earlier(earlier: &[EarlierQuestion], item: &DraftItem) -> bool {
    item.status == Some(TodoItemStatus::Completed) && find_earlier(earlier, &item.id).is_some()
}

/// Returns the item of the plan for `draft`: the item of `old` that it repeats, or else new work.
fn continue_item(old: &[TodoItem], draft: DraftItem, at: Timestamp) -> TodoItem {
    let Some(item) = old.iter().find(|item| item.id == draft.id) else {
        return new_item(draft, at);
    };
    if has_ended(item.status) && draft.status == Some(item.status) {
        return item.clone();
    }
    let is_same_work = item.description == draft.description;
    TodoItem {
        created_timestamp: if is_same_work { item.created_timestamp } else { at },
        ..new_item(draft, at)
    }
}

/// Returns the plan after an update during the run. An item that `draft` leaves out stays if it is in `started`, so that no update
/// hides a failure (X7), or if it has completed, failed, waits or is in progress.
pub(crate) fn update(
    old: &[TodoItem],
    draft: Vec<DraftItem>,
    started: &BTreeSet<String>,
    at: Timestamp,
) -> Vec<TodoItem> {
    let draft_ids: BTreeSet<_> = draft.iter().map(|item| item.id.clone()).collect();
    let stays = |item: &&TodoItem| {
        use TodoItemStatus::{Completed, Failed, InProgress, Waiting};
        let has_begun = matches!(item.status, Completed | InProgress | Failed | Waiting);
        !draft_ids.contains(&item.id) && (has_begun || started.contains(&item.id))
    };
    let kept = old.iter().filter(stays).cloned();
    kept.chain(draft.into_iter().map(|item| merge_item(old, item, at)))
        .collect()
}

/// Returns the item of the updated plan for `draft`.
fn merge_item(old: &[TodoItem], draft: DraftItem, at: Timestamp) -> TodoItem {
    match old.iter().find(|item| item.id == draft.id) {
        // A completed item or one in progress keeps its definition (P60).
        Some(item) if matches!(item.status, TodoItemStatus::Completed | TodoItemStatus::InProgress) => item.clone(),
        Some(item) => redefine_item(item, draft, at),
        None => new_item(draft, at),
    }
}

/// Returns an item with the definition of `draft`, keeping the calls, the results of the calls and the creation time of `item`.
fn redefine_item(item: &TodoItem, draft: DraftItem, at: Timestamp) -> TodoItem {
    use TodoItemStatus::{Cancelled, Failed, Pending};
    let status = match (draft.status, item.status) {
        // Cancelling a failed item must not hide the failure (X7).
        (Some(Cancelled), Failed) => Failed,
        (Some(Cancelled), _) => Cancelled,
        // A failed item is tried again only if the model sets it to `pending`.
        (Some(Pending), _) => Pending,
        (_, Failed) => Failed,
        _ => Pending,
    };
    let mut merged = TodoItem {
        created_timestamp: item.created_timestamp,
        status,
        ..new_item(draft, at)
    };
    if status == Failed {
        merged.error.clone_from(&item.error);
    }
    // A step that is tried again keeps the results of its planned calls.
    merged.actual_tool_calls.clone_from(&item.actual_tool_calls);
    merged.planned_call_ids.clone_from(&item.planned_call_ids);
    merged.tool_results.clone_from(&item.tool_results);
    merged
}

/// Creates a new item. A model may cancel work that it planned, but not declare it completed (P57).
fn new_item(draft: DraftItem, at: Timestamp) -> TodoItem {
    let status = match draft.status {
        Some(TodoItemStatus::Cancelled) => TodoItemStatus::Cancelled,
        _ => TodoItemStatus::Pending,
    };
    TodoItem {
        id: draft.id,
        description: draft.description,
        status,
        dependencies: draft.dependencies,
        step_type: draft.step_type,
        required_tools: draft.required_tools,
        tool_calls: draft.tool_calls,
        fallback: None,
        expected_outcome: draft.expected_outcome,
        tool_validation_mode: draft.tool_validation_mode,
        result: None,
        error: None,
        thoughts: Vec::new(),
        actual_tool_calls: Vec::new(),
        planned_call_ids: Vec::new(),
        tool_results: Vec::new(),
        validation_status: None,
        created_timestamp: at,
        updated_timestamp: at,
    }
}

/// Sets items to pending that an earlier run started and did not end (P86), and clears the pause and the current step. Returns whether
/// the state changed.
pub(crate) fn requeue_orphans(state: &mut PesAgentStateData, at: Timestamp) -> bool {
    let is_orphan = |item: &&mut TodoItem| matches!(item.status, TodoItemStatus::InProgress | TodoItemStatus::Waiting);
    let mut changed = state.is_paused || state.current_step_id.is_some();
    state.is_paused = false;
    state.current_step_id = None;
    for item in state.todo_list.iter_mut().filter(is_orphan) {
        item.status = TodoItemStatus::Pending;
        item.error = None;
        item.updated_timestamp = at;
        changed = true;
    }
    changed
}

#[cfg(test)]
pub(crate) mod tests;
