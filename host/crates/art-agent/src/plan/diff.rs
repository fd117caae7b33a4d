//! Finds the items that were added, changed or removed between two versions of a plan (contract P59).

use std::collections::BTreeMap;

use art_core::Timestamp;
use art_core::pes::{TodoItem, TodoItemChange, TodoItemChangeType, TodoListChanges};

/// Returns the changes from `before` to `after`. `at` is their time. Items are matched by identifier. If a version has several
/// items with one identifier, only the last of them counts. An item of which only `updatedTimestamp` differs is unchanged.
pub(crate) fn diff(before: &[TodoItem], after: &[TodoItem], at: Timestamp) -> TodoListChanges {
    let (old, new) = (by_id(before), by_id(after));
    let added_or_modified =
        after
            .iter()
            .filter(|item| is_last(&new, item))
            .filter_map(|item| match old.get(item.id.as_str()) {
                None => Some(change(TodoItemChangeType::Added, at, Some(item), None)),
                Some(previous) if equal_except_time(previous, item) => None,
                Some(previous) => Some(change(TodoItemChangeType::Modified, at, Some(item), Some(previous))),
            });
    let is_removed = |item: &&TodoItem| !new.contains_key(item.id.as_str()) && is_last(&old, item);
    let removed = before
        .iter()
        .filter(is_removed)
        .map(|item| change(TodoItemChangeType::Removed, at, None, Some(item)));
    group_by_kind(added_or_modified.chain(removed).collect(), at)
}

/// Returns the changes for a first plan: every item is added.
pub(crate) fn all_added(items: &[TodoItem], at: Timestamp) -> TodoListChanges {
    diff(&[], items, at)
}

fn by_id(items: &[TodoItem]) -> BTreeMap<&str, &TodoItem> {
    items.iter().map(|item| (item.id.as_str(), item)).collect()
}

/// Returns whether `item` is the last item with its identifier. Compares addresses, because items with the same identifier may
/// also be equal.
fn is_last(by_id: &BTreeMap<&str, &TodoItem>, item: &TodoItem) -> bool {
    by_id
        .get(item.id.as_str())
        .is_some_and(|last| std::ptr::eq(*last, item))
}

/// Returns whether two versions of an item are equal, except for the time of their last update.
fn equal_except_time(one: &TodoItem, other: &TodoItem) -> bool {
    let without_time = |item: &TodoItem| TodoItem {
        updated_timestamp: 0,
        ..item.clone()
    };
    without_time(one) == without_time(other)
}

fn change(
    kind: TodoItemChangeType,
    timestamp: Timestamp,
    item: Option<&TodoItem>,
    previous_item: Option<&TodoItem>,
) -> TodoItemChange {
    TodoItemChange {
        kind,
        item_id: item.or(previous_item).map(|item| item.id.clone()).unwrap_or_default(),
        timestamp,
        item: item.cloned(),
        previous_item: previous_item.cloned(),
    }
}

fn group_by_kind(changes: Vec<TodoItemChange>, timestamp: Timestamp) -> TodoListChanges {
    let of_kind = |kind| changes.iter().filter(|change| change.kind == kind).cloned().collect();
    TodoListChanges {
        timestamp,
        added: of_kind(TodoItemChangeType::Added),
        modified: of_kind(TodoItemChangeType::Modified),
        removed: of_kind(TodoItemChangeType::Removed),
        changes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::item;

    /// Time of the changes.
    const AT: Timestamp = 7;

    /// Returns the changes from `before` to `after`, as kinds of changes and identifiers of items.
    fn changes_between(before: &[TodoItem], after: &[TodoItem]) -> Vec<(TodoItemChangeType, String)> {
        let changes = diff(before, after, AT).changes;
        changes
            .into_iter()
            .map(|change| (change.kind, change.item_id))
            .collect()
    }

    use TodoItemChangeType::{Added, Modified, Removed};

    #[test]
    fn every_item_of_a_first_plan_is_added() {
        let changes = all_added(&[item("a", &[])], AT);
        assert_eq!(changes.added[0].item, Some(item("a", &[])));
        assert_eq!(changes.added, changes.changes);
    }

    #[test]
    fn removed_items_are_the_last_changes() {
        let changes = changes_between(&[item("a", &[]), item("b", &[])], &[item("c", &[]), item("b", &["c"])]);
        assert_eq!(
            changes,
            [
                (Added, "c".to_owned()),
                (Modified, "b".to_owned()),
                (Removed, "a".to_owned())
            ]
        );
    }

    #[test]
    fn a_new_update_time_alone_is_not_a_change() {
        let mut later = item("a", &[]);
        later.updated_timestamp = 99;
        assert_eq!(changes_between(&[item("a", &[])], &[later]), []);
    }

    #[test]
    fn a_change_has_the_old_and_the_new_version_of_its_item() {
        let mut completed = item("a", &[]);
        completed.status = art_core::pes::TodoItemStatus::Completed;
        let changes = diff(&[item("a", &[])], std::slice::from_ref(&completed), AT);
        assert_eq!(changes.modified[0].previous_item, Some(item("a", &[])));
        assert_eq!(changes.modified[0].item, Some(completed));
    }

    #[test]
    fn an_empty_plan_that_stays_empty_has_no_changes() {
        assert_eq!(changes_between(&[], &[]), []);
    }

    #[test]
    fn every_item_of_a_plan_that_becomes_empty_is_removed() {
        assert_eq!(changes_between(&[item("a", &[])], &[]), [(Removed, "a".to_owned())]);
    }

    #[test]
    fn of_items_with_the_same_id_only_the_last_counts() {
        let after = [item("a", &[]), item("a", &["b"])];
        let changes = diff(&[], &after, AT);
        assert_eq!(changes.changes.len(), 1);
        assert_eq!(changes.added[0].item.as_ref(), after.last());
    }
}
