//! Merges a new plan with the old one by item identifier, so that no result is lost (B1, B36, B37).

use std::collections::BTreeSet;

use art_core::Timestamp;
use art_core::pes::{PesAgentStateData, TodoItem, TodoItemStatus};

use crate::parse::{DraftItem, MAX_PROBLEMS, MAX_TODO_ITEMS};

/// The old items that are kept although the new plan does not contain them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep<'a> {
    /// Completed items, as far as there is room. For a new question in the same thread.
    Completed,
    /// Items that this run started, with any status. For an update during the run. They include failed items, so that a
    /// second update cannot hide a failure (X7).
    Started(&'a BTreeSet<String>),
}

impl Keep<'_> {
    /// Returns whether `item` is kept.
    fn keeps(self, item: &TodoItem) -> bool {
        use TodoItemStatus::{Completed, Failed, InProgress, Waiting};
        let Self::Started(started) = self else {
            return item.status == Completed;
        };
        started.contains(&item.id) || matches!(item.status, Completed | InProgress | Failed | Waiting)
    }
}

/// Returns the old items that are kept, followed by the items of `draft` with the results that `old` has for them.
pub(crate) fn merge(old: &[TodoItem], draft: Vec<DraftItem>, keep: Keep<'_>, at: Timestamp) -> Vec<TodoItem> {
    let draft_ids: BTreeSet<_> = draft.iter().map(|item| item.id.as_str()).collect();
    let dependencies: BTreeSet<_> = draft.iter().flat_map(|item| &item.dependencies).collect();
    let is_required = |item: &TodoItem| dependencies.contains(&item.id) || item.status != TodoItemStatus::Completed;
    let mut merged: Vec<_> = old
        .iter()
        .filter(|item| !draft_ids.contains(item.id.as_str()) && keep.keeps(item))
        .cloned()
        .collect();
    // If the plan is too long, drop completed items that no item of the draft depends on, oldest first (P90).
    let mut excess = (merged.len() + draft.len()).saturating_sub(MAX_TODO_ITEMS);
    merged.retain(|item| {
        let is_dropped = excess > 0 && !is_required(item);
        excess -= usize::from(is_dropped);
        !is_dropped
    });
    merged.extend(draft.into_iter().map(|item| merge_item(old, item, at)));
    merged
}

/// Returns the problems of `draft` as the plan for a new question. An open item must not have the identifier of a
/// completed one: it would never be carried out, because it would get the old result (B1). A completed item may be
/// reworded if its status is repeated.
pub(crate) fn reused_ids(old: &[TodoItem], draft: &[DraftItem]) -> Vec<String> {
    let mut problems = Vec::new();
    for item in draft {
        let completed = old
            .iter()
            .find(|old| old.id == item.id && old.status == TodoItemStatus::Completed);
        let is_reworded = completed.is_some_and(|old| old.description != item.description);
        if is_reworded && item.status != Some(TodoItemStatus::Completed) && problems.len() < MAX_PROBLEMS {
            problems.push(format!(
                "the id `{}` belongs to completed work; give the new item an id that is not in use, or repeat the completed \
                 item as it is",
                item.id
            ));
        }
    }
    problems
}

/// Returns the item of the plan for `draft`.
fn merge_item(old: &[TodoItem], draft: DraftItem, at: Timestamp) -> TodoItem {
    match old.iter().find(|item| item.id == draft.id) {
        // A completed item or one in progress keeps its definition (P60).
        Some(item) if matches!(item.status, TodoItemStatus::Completed | TodoItemStatus::InProgress) => item.clone(),
        Some(item) => redefined(item, draft, at),
        None => new_item(draft, at),
    }
}

/// Returns an open item with the definition of `draft`, keeping the results and times of `item`.
fn redefined(item: &TodoItem, draft: DraftItem, at: Timestamp) -> TodoItem {
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
        merged.tool_results.clone_from(&item.tool_results);
    }
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
        expected_outcome: draft.expected_outcome,
        tool_validation_mode: draft.tool_validation_mode,
        result: None,
        error: None,
        thoughts: Vec::new(),
        actual_tool_calls: Vec::new(),
        tool_results: Vec::new(),
        validation_status: None,
        created_timestamp: at,
        updated_timestamp: at,
    }
}

/// Sets items to pending that an earlier run started and did not end (P86). Returns whether the state changed.
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
