use super::*;
use art_core::tool::{ParsedToolCall, ToolResult};
use serde_json::json;

pub(crate) fn draft(id: &str, dependencies: &[&str]) -> DraftItem {
    DraftItem {
        id: id.to_owned(),
        description: format!("do {id}"),
        dependencies: dependencies.iter().map(|id| (*id).to_owned()).collect(),
        ..DraftItem::default()
    }
}

pub(crate) fn item(id: &str, dependencies: &[&str]) -> TodoItem {
    new_item(draft(id, dependencies), 1)
}

pub(crate) fn with_status(id: &str, status: TodoItemStatus) -> TodoItem {
    TodoItem {
        status,
        ..item(id, &[])
    }
}

fn completed(id: &str) -> TodoItem {
    let call = ParsedToolCall {
        call_id: "c".to_owned(),
        tool_name: "calculator".to_owned(),
        arguments: json!({}),
    };
    TodoItem {
        result: Some(json!(409.5)),
        tool_results: vec![ToolResult::success(&call, json!({"result": 409.5}))],
        ..with_status(id, TodoItemStatus::Completed)
    }
}

fn ids(items: &[TodoItem]) -> Vec<&str> {
    items.iter().map(|item| item.id.as_str()).collect()
}

#[test]
fn a_completed_item_keeps_result_tool_results_and_times() {
    let old = [completed("a")];
    assert_eq!(merge(&old, vec![draft("a", &["b"])], Keep::Completed, 9), old);
}

#[test]
fn a_completed_item_missing_from_the_draft_stays_first() {
    let merged = merge(&[completed("a")], vec![draft("b", &["a"])], Keep::Completed, 9);
    assert_eq!(ids(&merged), ["a", "b"]);
}

#[test]
fn an_open_item_missing_from_the_draft_is_removed() {
    let old = [item("a", &[]), with_status("b", TodoItemStatus::Failed)];
    assert_eq!(merge(&old, Vec::new(), Keep::Completed, 9), []);
}

#[test]
fn an_open_item_keeps_the_time_of_its_creation() {
    let merged = merge(&[item("a", &[])], vec![draft("a", &["b"])], Keep::Completed, 9);
    assert_eq!((merged[0].created_timestamp, merged[0].updated_timestamp), (1, 9));
    assert_eq!(merged[0].dependencies, ["b"]);
}

#[test]
fn a_new_item_is_pending_even_if_the_draft_completes_it() {
    let mut new_draft = draft("a", &[]);
    new_draft.status = Some(TodoItemStatus::Completed);
    assert_eq!(
        merge(&[], vec![new_draft], Keep::Started(&BTreeSet::new()), 9)[0].status,
        TodoItemStatus::Pending
    );
}

#[test]
fn a_draft_may_cancel_an_open_item() {
    let mut new_draft = draft("a", &[]);
    new_draft.status = Some(TodoItemStatus::Cancelled);
    let merged = merge(&[item("a", &[])], vec![new_draft], Keep::Started(&BTreeSet::new()), 9);
    assert_eq!(merged[0].status, TodoItemStatus::Cancelled);
}

#[test]
fn a_failed_item_is_retried_only_if_the_model_sets_it_to_pending() {
    let old = [with_status("a", TodoItemStatus::Failed)];
    let mut new_draft = draft("a", &[]);
    assert_eq!(
        merge(&old, vec![new_draft.clone()], Keep::Completed, 9)[0].status,
        TodoItemStatus::Failed
    );
    new_draft.status = Some(TodoItemStatus::Pending);
    assert_eq!(
        merge(&old, vec![new_draft], Keep::Completed, 9)[0].status,
        TodoItemStatus::Pending
    );
}

#[test]
fn a_running_item_is_unchanged() {
    let old = [with_status("a", TodoItemStatus::InProgress)];
    assert_eq!(merge(&old, Vec::new(), Keep::Started(&BTreeSet::new()), 9), old);
    assert_eq!(
        merge(&old, vec![draft("a", &["b"])], Keep::Started(&BTreeSet::new()), 9),
        old
    );
}

#[test]
fn a_failed_item_missing_from_the_draft_is_kept() {
    let old = [with_status("a", TodoItemStatus::Failed)];
    assert_eq!(
        merge(&old, vec![draft("b", &[])], Keep::Started(&BTreeSet::new()), 9)[0],
        old[0]
    );
}

#[test]
fn a_failed_item_cannot_be_cancelled() {
    let mut failed = with_status("a", TodoItemStatus::Failed);
    failed.error = Some("no".to_owned());
    let mut new_draft = draft("a", &[]);
    new_draft.status = Some(TodoItemStatus::Cancelled);
    let merged = merge(&[failed], vec![new_draft], Keep::Started(&BTreeSet::new()), 9);
    assert_eq!(
        (merged[0].status, merged[0].error.as_deref()),
        (TodoItemStatus::Failed, Some("no"))
    );
}

#[test]
fn a_pending_item_missing_from_the_draft_stays_only_if_it_was_started() {
    let old = [item("a", &[]), item("b", &[])];
    let started = BTreeSet::from(["a".to_owned()]);
    assert_eq!(ids(&merge(&old, Vec::new(), Keep::Started(&started), 9)), ["a"]);
}

#[test]
fn new_work_with_the_id_of_completed_work_is_a_problem() {
    let other = DraftItem {
        description: "another thing".to_owned(),
        ..draft("a", &[])
    };
    assert_eq!(
        reused_ids(&[completed("a")], std::slice::from_ref(&other)),
        [
            "the id `a` belongs to completed work; give the new item an id that is not in use, or repeat the completed item as \
             it is"
        ]
    );
    assert_eq!(reused_ids(&[item("a", &[])], &[other]), Vec::<String>::new());
}

#[test]
fn completed_work_may_be_repeated() {
    let new_draft = DraftItem {
        status: Some(TodoItemStatus::Pending),
        ..draft("a", &[])
    };
    let reworded = DraftItem {
        description: "in other words".to_owned(),
        status: Some(TodoItemStatus::Completed),
        ..draft("a", &[])
    };
    for item in [draft("a", &[]), new_draft, reworded] {
        assert_eq!(reused_ids(&[completed("a")], &[item]), Vec::<String>::new());
    }
}

#[test]
fn the_oldest_completed_items_without_dependents_are_removed_first() {
    let old: Vec<_> = (0..MAX_TODO_ITEMS).map(|n| completed(&n.to_string())).collect();
    let merged = merge(&old, vec![draft("new", &["0"])], Keep::Completed, 9);
    assert_eq!((merged.len(), &ids(&merged)[..2]), (MAX_TODO_ITEMS, &["0", "2"][..]));
    let merged = merge(&old, vec![draft("new", &[])], Keep::Completed, 9);
    assert_eq!((merged.len(), ids(&merged)[0]), (MAX_TODO_ITEMS, "1"));
}

#[test]
fn items_in_progress_without_a_run_become_pending() {
    let mut state = PesAgentStateData {
        todo_list: vec![with_status("a", TodoItemStatus::InProgress), completed("b")],
        current_step_id: Some("a".to_owned()),
        is_paused: true,
        ..PesAgentStateData::default()
    };
    assert!(requeue_orphans(&mut state, 9));
    assert_eq!(state.todo_list[0].status, TodoItemStatus::Pending);
    assert_eq!(state.todo_list[1], completed("b"));
    assert_eq!((state.is_paused, state.current_step_id), (false, None));
}
