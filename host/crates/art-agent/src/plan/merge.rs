//! Merges a new plan with the old one by item identifier, so that no result is lost (B1, B36, B37).

use std::collections::BTreeSet;

use art_core::Timestamp;
use art_core::pes::{PesAgentStateData, TodoItem, TodoItemStatus};

use crate::parse::{DraftItem, MAX_PROBLEMS, MAX_TODO_ITEMS};

/// Which old items stay in the plan although the new plan does not contain them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep<'a> {
    /// Completed items, as far as there is room. For a new question in the same thread.
    Done,
    /// Items that this run began, whatever their status. For an update during the run. They include failed items, so that a
    /// second update cannot hide a failure (X7).
    Begun(&'a BTreeSet<String>),
}

impl Keep<'_> {
    fn keeps(self, item: &TodoItem) -> bool {
        use TodoItemStatus::{Completed, Failed, InProgress, Waiting};
        let Self::Begun(begun) = self else {
            return item.status == Completed;
        };
        begun.contains(&item.id) || matches!(item.status, Completed | InProgress | Failed | Waiting)
    }
}

/// Returns the old items that stay, followed by the items of `draft` with the results that `old` has for them.
pub(crate) fn merge(old: &[TodoItem], draft: Vec<DraftItem>, keep: Keep<'_>, at: Timestamp) -> Vec<TodoItem> {
    let named: BTreeSet<_> = draft.iter().map(|item| item.id.clone()).collect();
    let needed: BTreeSet<_> = draft.iter().flat_map(|item| item.dependencies.clone()).collect();
    let unnamed = || old.iter().filter(|item| !named.contains(&item.id) && keep.keeps(item));
    // Drop only completed items that no other item depends on, oldest first, and only if there is no room (P90).
    let has_to_stay = |item: &TodoItem| needed.contains(&item.id) || item.status != TodoItemStatus::Completed;
    let taken = draft.len() + unnamed().filter(|item| has_to_stay(item)).count();
    let mut room = MAX_TODO_ITEMS.saturating_sub(taken);
    let mut take_room = || {
        let fits = room > 0;
        room = room.saturating_sub(1);
        fits
    };
    let newest_first = unnamed().rev();
    let mut stay: Vec<_> = newest_first
        .filter(|item| has_to_stay(item) || take_room())
        .cloned()
        .collect();
    stay.reverse();
    stay.extend(draft.into_iter().map(|item| join(old, item, at)));
    stay
}

/// Returns the problems of `draft` as the plan for a new question. An open item must not have the identifier of a
/// completed one: it would never be carried out, because it would get the old result (B1). A completed item may be
/// reworded if its status is repeated.
pub(crate) fn reused_ids(old: &[TodoItem], draft: &[DraftItem]) -> Vec<String> {
    let is_done = |status| status == TodoItemStatus::Completed;
    let of_other_work = |item: &&DraftItem| {
        let same_id = old.iter().find(|old| old.id == item.id && is_done(old.status));
        same_id.is_some_and(|old| old.description != item.description) && !item.status.is_some_and(is_done)
    };
    let reused = draft.iter().filter(of_other_work).take(MAX_PROBLEMS);
    reused
        .map(|item| {
            format!(
                "the id `{}` belongs to completed work; give the new item an id that is not in use, or repeat the completed \
                 item as it is",
                item.id
            )
        })
        .collect()
}

fn join(old: &[TodoItem], draft: DraftItem, at: Timestamp) -> TodoItem {
    match old.iter().find(|item| item.id == draft.id) {
        // A completed item or one in progress keeps its definition (P60).
        Some(item) if matches!(item.status, TodoItemStatus::Completed | TodoItemStatus::InProgress) => item.clone(),
        Some(item) => rewritten(item, draft, at),
        None => new_item(draft, at),
    }
}

/// Returns an open item with the definition of `draft`, keeping the results and times of `item`.
fn rewritten(item: &TodoItem, draft: DraftItem, at: Timestamp) -> TodoItem {
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

/// Sets items to pending that an earlier run began and did not end (P86). Returns whether there were any.
pub(crate) fn requeue_orphans(state: &mut PesAgentStateData, at: Timestamp) -> bool {
    let orphan = |item: &&mut TodoItem| matches!(item.status, TodoItemStatus::InProgress | TodoItemStatus::Waiting);
    let mut any = state.is_paused || state.current_step_id.is_some();
    state.is_paused = false;
    state.current_step_id = None;
    for item in state.todo_list.iter_mut().filter(orphan) {
        item.status = TodoItemStatus::Pending;
        item.error = None;
        item.updated_timestamp = at;
        any = true;
    }
    any
}

#[cfg(test)]
pub(crate) mod tests;
