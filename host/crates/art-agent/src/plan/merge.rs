//! Makes the items of a plan from a draft, which is a plan as the model proposes it. Items of the previous plan that the draft
//! keeps are found by their identifiers and keep their results (contracts B1, B36) and creation times (contract B37).

use std::collections::BTreeSet;

use art_core::Timestamp;
use art_core::pes::{EarlierQuestion, PesAgentStateData, TodoItem, TodoItemStatus};

use super::earlier::find_earlier_step;
use crate::parse::DraftItem;

/// Returns whether an item with this status is over: no more work is done for it.
pub(crate) const fn has_ended(status: TodoItemStatus) -> bool {
    use TodoItemStatus::{Cancelled, Completed, Failed};
    matches!(status, Completed | Failed | Cancelled)
}

/// Returns the items of the plan for a new question. `old` has the items of a plan that an earlier run did not finish; it may be
/// empty.
///
/// An item of `draft` becomes a new item, unless `old` has an ended item with the same identifier and the same status: then the
/// ended item is kept with its results. A completed item of `old` is also kept if it is not in `draft` but an item of `draft`
/// depends on it. A completed item of `draft` whose identifier is the name of a step of an earlier question, such as `q1.step_2`,
/// is dropped.
pub(crate) fn items_for_question(
    old: &[TodoItem],
    draft: Vec<DraftItem>,
    earlier: &[EarlierQuestion],
    at: Timestamp,
) -> Vec<TodoItem> {
    let dependencies: BTreeSet<_> = draft.iter().flat_map(|item| &item.dependencies).cloned().collect();
    let ids: BTreeSet<_> = draft.iter().map(|item| item.id.clone()).collect();
    let is_kept_dependency = |item: &&TodoItem| {
        item.status == TodoItemStatus::Completed && dependencies.contains(&item.id) && !ids.contains(&item.id)
    };
    let kept_dependencies = old.iter().filter(is_kept_dependency).cloned();
    let new = draft.into_iter().filter(|item| !repeats_earlier(earlier, item));
    kept_dependencies
        .chain(new.map(|item| keep_or_create_item(old, item, at)))
        .collect()
}

/// Returns whether an item only repeats the result of an earlier question, which can be used without the item.
pub(crate) fn repeats_earlier(earlier: &[EarlierQuestion], item: &DraftItem) -> bool {
    item.status == Some(TodoItemStatus::Completed) && find_earlier_step(earlier, &item.id).is_some()
}

/// Returns the item of the new plan for an item of the draft: the ended item of `old` with the same identifier and status, or
/// else a new item. If `old` has an item with the same identifier and description, the new item gets its creation time
/// from that item.
fn keep_or_create_item(old: &[TodoItem], draft_item: DraftItem, at: Timestamp) -> TodoItem {
    let Some(item) = old.iter().find(|item| item.id == draft_item.id) else {
        return new_item(draft_item, at);
    };
    if has_ended(item.status) && draft_item.status == Some(item.status) {
        return item.clone();
    }
    let is_same_work = item.description == draft_item.description;
    TodoItem {
        created_timestamp: if is_same_work { item.created_timestamp } else { at },
        ..new_item(draft_item, at)
    }
}

/// Returns the items of the plan after the model changed it during the run. An item that is not in `draft` stays if it is
/// completed, failed, waiting or in progress, or if the run started it. `started` has the identifiers of the items that the run
/// started. If one of them is pending now, it may have failed before, and no change of the plan may hide a failure (contract X7).
pub(crate) fn update_items(
    old: &[TodoItem],
    draft: Vec<DraftItem>,
    started: &BTreeSet<String>,
    at: Timestamp,
) -> Vec<TodoItem> {
    let draft_ids: BTreeSet<_> = draft.iter().map(|item| item.id.clone()).collect();
    let stays = |item: &&TodoItem| {
        use TodoItemStatus::{Completed, Failed, InProgress, Waiting};
        let always_stays = matches!(item.status, Completed | InProgress | Failed | Waiting);
        !draft_ids.contains(&item.id) && (always_stays || started.contains(&item.id))
    };
    let kept = old.iter().filter(stays).cloned();
    kept.chain(draft.into_iter().map(|item| merge_item(old, item, at)))
        .collect()
}

/// Returns the item of the changed plan for an item of the draft.
fn merge_item(old: &[TodoItem], draft_item: DraftItem, at: Timestamp) -> TodoItem {
    use TodoItemStatus::{Completed, InProgress, Waiting};
    match old.iter().find(|item| item.id == draft_item.id) {
        // The model cannot change a completed item, nor one that is in progress or waits for a person (contract P60).
        Some(item) if matches!(item.status, Completed | InProgress | Waiting) => item.clone(),
        Some(item) => redefine_item(item, draft_item, at),
        None => new_item(draft_item, at),
    }
}

/// Returns the item as the draft defines it, with the creation time of `item`, the calls that were made for it and their results.
fn redefine_item(item: &TodoItem, draft_item: DraftItem, at: Timestamp) -> TodoItem {
    use TodoItemStatus::{Cancelled, Failed, Pending};
    let status = match (draft_item.status, item.status) {
        // Cancelling a failed item must not hide the failure (contract X7).
        (Some(Cancelled), Failed) => Failed,
        (Some(Cancelled), _) => Cancelled,
        // A failed item is tried again only if the draft sets it to `pending`.
        (Some(Pending), _) => Pending,
        (_, Failed) => Failed,
        _ => Pending,
    };
    let mut merged = TodoItem {
        created_timestamp: item.created_timestamp,
        status,
        ..new_item(draft_item, at)
    };
    if status == Failed {
        merged.error.clone_from(&item.error);
    }
    // An item that is tried again can use the results that its planned calls already have from the first attempt.
    merged.actual_tool_calls.clone_from(&item.actual_tool_calls);
    merged.planned_call_ids.clone_from(&item.planned_call_ids);
    merged.tool_results.clone_from(&item.tool_results);
    merged
}

/// Creates an item from an item of the draft. A model may cancel work that it planned, but not declare it completed
/// (contract P57).
fn new_item(draft_item: DraftItem, at: Timestamp) -> TodoItem {
    let status = match draft_item.status {
        Some(TodoItemStatus::Cancelled) => TodoItemStatus::Cancelled,
        _ => TodoItemStatus::Pending,
    };
    TodoItem {
        id: draft_item.id,
        description: draft_item.description,
        status,
        dependencies: draft_item.dependencies,
        step_type: draft_item.step_type,
        required_tools: draft_item.required_tools,
        tool_calls: draft_item.tool_calls,
        fallback: None,
        expected_outcome: draft_item.expected_outcome,
        tool_validation_mode: draft_item.tool_validation_mode,
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

/// Sets to pending all items that an earlier run left in progress or waiting (contract P86), and clears the pause and
/// the current step. Returns whether the state changed.
pub(crate) fn requeue_interrupted_items(state: &mut PesAgentStateData, at: Timestamp) -> bool {
    let is_interrupted =
        |item: &&mut TodoItem| matches!(item.status, TodoItemStatus::InProgress | TodoItemStatus::Waiting);
    let mut changed = state.is_paused || state.current_step_id.is_some();
    state.is_paused = false;
    state.current_step_id = None;
    for item in state.todo_list.iter_mut().filter(is_interrupted) {
        item.status = TodoItemStatus::Pending;
        item.error = None;
        item.updated_timestamp = at;
        changed = true;
    }
    changed
}

#[cfg(test)]
pub(crate) mod tests;
