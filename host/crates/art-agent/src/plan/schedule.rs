//! Selects the next item to start, and finds items that can never be started (contract P35).
//!
//! A dependency that is not in the plan is a step of an earlier question. Such a step has ended, so no item waits for it.

use std::collections::BTreeSet;

use art_core::pes::{TodoItem, TodoItemStatus};

/// Returns the first pending item whose dependencies are all completed.
pub(crate) fn next_ready(items: &[TodoItem]) -> Option<&TodoItem> {
    items.iter().find(|item| {
        item.status == TodoItemStatus::Pending && !item.dependencies.iter().any(|id| is_incomplete(items, id))
    })
}

/// Returns the identifier of each pending item that depends on a failed or cancelled item, with the identifier of that
/// dependency.
pub(crate) fn blocked_items(items: &[TodoItem]) -> Vec<(String, String)> {
    let will_not_complete = |id: &&String| {
        matches!(
            find_status(items, id),
            Some(TodoItemStatus::Failed | TodoItemStatus::Cancelled)
        )
    };
    let pending = items.iter().filter(|item| item.status == TodoItemStatus::Pending);
    pending
        .filter_map(|item| {
            Some((
                item.id.clone(),
                item.dependencies.iter().find(will_not_complete)?.clone(),
            ))
        })
        .collect()
}

/// The reason why an item is unfinished that has made calls.
const NOT_FINISHED: &str = "it was begun and not finished";

/// Returns the reason why an item is unfinished, that is, neither completed nor failed.
pub(crate) fn unfinished_reason(items: &[TodoItem], item: &TodoItem) -> String {
    if let Some(error) = &item.error {
        return error.clone();
    }
    match item.status {
        TodoItemStatus::Cancelled => return "it was taken out of the plan".to_owned(),
        TodoItemStatus::InProgress => return NOT_FINISHED.to_owned(),
        _ => {}
    }
    match item.dependencies.iter().find(|id| is_incomplete(items, id)) {
        Some(id) => blocked_reason(item, id),
        None => how_far(item).to_owned(),
    }
}

/// Returns the reason why an item is unfinished that depends on one that was not completed.
pub(crate) fn blocked_reason(item: &TodoItem, blocker: &str) -> String {
    format!("{}: it depends on `{blocker}`, which was not completed", how_far(item))
}

/// Returns how far an unfinished item came. A plan that was changed may have put an item back whose calls were made.
fn how_far(item: &TodoItem) -> &'static str {
    let made_a_call = !item.actual_tool_calls.is_empty() || !item.tool_results.is_empty();
    if made_a_call {
        NOT_FINISHED
    } else {
        "it was not started"
    }
}

/// Returns the items that `item` depends on, directly or indirectly, in the order of the plan.
pub(crate) fn all_dependencies<'a>(items: &'a [TodoItem], item: &TodoItem) -> Vec<&'a TodoItem> {
    let mut ids = BTreeSet::new();
    let mut queue: Vec<&str> = item.dependencies.iter().map(String::as_str).collect();
    while let Some(id) = queue.pop() {
        if ids.insert(id)
            && let Some(dependency) = items.iter().find(|item| item.id == id)
        {
            queue.extend(dependency.dependencies.iter().map(String::as_str));
        }
    }
    items
        .iter()
        .filter(|other| other.id != item.id && ids.contains(other.id.as_str()))
        .collect()
}

/// Returns whether an item of the plan has this identifier and is not completed.
fn is_incomplete(items: &[TodoItem], id: &str) -> bool {
    find_status(items, id).is_some_and(|status| status != TodoItemStatus::Completed)
}

fn find_status(items: &[TodoItem], id: &str) -> Option<TodoItemStatus> {
    items.iter().find(|item| item.id == id).map(|item| item.status)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::{item, item_with_status};

    #[test]
    fn an_item_is_ready_when_all_its_dependencies_are_completed() {
        let done = item_with_status("a", TodoItemStatus::Completed);
        let items = [done, item("c", &["a", "b"]), item("b", &["a"])];
        assert_eq!(next_ready(&items).map(|item| item.id.as_str()), Some("b"));
    }

    #[test]
    fn an_item_may_depend_on_a_step_that_is_not_in_the_plan() {
        let items = [item("b", &["q1.a"])];
        assert_eq!(next_ready(&items).map(|item| item.id.as_str()), Some("b"));
        assert_eq!(blocked_items(&items), []);
        assert_eq!(unfinished_reason(&items, &items[0]), "it was not started");
    }

    #[test]
    fn an_item_that_made_a_call_is_not_said_to_be_not_started() {
        let mut made_a_call = item("b", &["a"]);
        made_a_call.actual_tool_calls = vec![art_core::tool::ParsedToolCall {
            call_id: "c".to_owned(),
            tool_name: "t".to_owned(),
            arguments: serde_json::json!({}),
        }];
        let items = [item_with_status("a", TodoItemStatus::Failed), made_a_call];
        assert_eq!(
            unfinished_reason(&items, &items[1]),
            "it was begun and not finished: it depends on `a`, which was not completed"
        );
    }

    #[test]
    fn an_item_that_depends_on_a_failed_one_is_never_ready() {
        let items = [item_with_status("a", TodoItemStatus::Failed), item("b", &["a"])];
        assert_eq!(next_ready(&items), None);
        assert_eq!(blocked_items(&items), [("b".to_owned(), "a".to_owned())]);
    }

    #[test]
    fn an_item_that_depends_on_a_running_one_is_not_blocked() {
        let items = [item_with_status("a", TodoItemStatus::InProgress), item("b", &["a"])];
        assert_eq!(blocked_items(&items), []);
    }

    #[test]
    fn all_dependencies_include_indirect_ones() {
        let items = [item("a", &[]), item("x", &[]), item("b", &["a"]), item("c", &["b"])];
        let ids: Vec<_> = all_dependencies(&items, &items[3])
            .into_iter()
            .map(|item| item.id.as_str())
            .collect();
        assert_eq!(ids, ["a", "b"]);
    }
}
