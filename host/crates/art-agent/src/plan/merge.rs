//! Joins a new plan with the old one by id, so that nothing that was done is lost (B1, B36, B37).

use std::collections::BTreeSet;

use art_core::Timestamp;
use art_core::pes::{PesAgentStateData, TodoItem, TodoItemStatus};

use crate::parse::{DraftItem, MAX_PROBLEMS, MAX_TODO_ITEMS};

/// Which items stay although a new plan does not name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep<'a> {
    /// Those that are done, as far as there is room: for a new question on the same thread.
    Done,
    /// Those that were begun, however they ended: for a change in the middle of the run that began these. One that failed and
    /// is to be tried again was begun too, so that a second change cannot hide the failure (X7).
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

/// `draft` with what `old` knows of the same items, behind the old items that stay.
pub(crate) fn merge(old: &[TodoItem], draft: Vec<DraftItem>, keep: Keep<'_>, at: Timestamp) -> Vec<TodoItem> {
    let named: BTreeSet<_> = draft.iter().map(|item| item.id.clone()).collect();
    let needed: BTreeSet<_> = draft.iter().flat_map(|item| item.dependencies.clone()).collect();
    let unnamed = || old.iter().filter(|item| !named.contains(&item.id) && keep.keeps(item));
    // Only what is done and not needed is ever forgotten, oldest first, and only for want of room (P90).
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

/// What is wrong with `draft` as a plan for a new question: new work under the id of work that is done would never be done,
/// because the old result would take its place (B1). A model that repeats what is done may word it anew, with its status.
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
        // What is done or being done is not defined anew under its feet (P60).
        Some(item) if matches!(item.status, TodoItemStatus::Completed | TodoItemStatus::InProgress) => item.clone(),
        Some(item) => rewritten(item, draft, at),
        None => new_item(draft, at),
    }
}

/// An item that is still open: the model's definition, our results and times.
fn rewritten(item: &TodoItem, draft: DraftItem, at: Timestamp) -> TodoItem {
    use TodoItemStatus::{Cancelled, Failed, Pending};
    let status = match (draft.status, item.status) {
        // A failure is not hidden by giving the work up (X7).
        (Some(Cancelled), Failed) => Failed,
        (Some(Cancelled), _) => Cancelled,
        // Only an explicit `pending` is a wish to try again what failed.
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

/// A model may plan work and cancel it, but not declare it done (P57).
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

/// Puts items back into the queue that a run began and never ended, since nobody works on them (P86). Whether there were
/// any.
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
