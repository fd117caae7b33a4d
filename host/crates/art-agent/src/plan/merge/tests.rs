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

/// Returns the plan of a new question after the plan `old`, which was not finished.
fn new_plan(old: &[TodoItem], draft: Vec<DraftItem>) -> Vec<TodoItem> {
    plan_question(old, draft, &[], 9)
}

/// Returns the plan after an update of a run that started no item.
fn updated_plan(old: &[TodoItem], draft: Vec<DraftItem>) -> Vec<TodoItem> {
    update(old, draft, &BTreeSet::new(), 9)
}

fn with_draft_status(draft: DraftItem, status: TodoItemStatus) -> DraftItem {
    DraftItem {
        status: Some(status),
        ..draft
    }
}

#[test]
fn a_step_that_is_planned_as_completed_keeps_result_tool_results_and_times() {
    let old = [completed("a")];
    let repeated = with_draft_status(draft("a", &["b"]), TodoItemStatus::Completed);
    assert_eq!(new_plan(&old, vec![repeated]), old);
}

#[test]
fn a_completed_step_that_is_planned_without_a_status_is_done_again() {
    for status in [None, Some(TodoItemStatus::Pending)] {
        let again = DraftItem {
            status,
            ..draft("a", &[])
        };
        let merged = new_plan(&[completed("a")], vec![again]);
        assert_eq!((merged[0].status, &merged[0].result), (TodoItemStatus::Pending, &None));
        assert_eq!(merged[0].tool_results, []);
    }
}

#[test]
fn a_completed_step_that_the_draft_names_only_as_a_dependency_is_kept() {
    let old = [completed("a"), completed("b"), item("c", &["a"])];
    assert_eq!(ids(&new_plan(&old, vec![draft("c", &["a"])])), ["a", "c"]);
}

#[test]
fn a_step_that_the_plan_leaves_out_is_removed() {
    let old = [item("a", &[]), with_status("b", TodoItemStatus::Failed), completed("c")];
    assert_eq!(new_plan(&old, Vec::new()), []);
}

#[test]
fn a_failed_step_is_tried_again_unless_it_is_planned_as_failed() {
    let old = [with_status("a", TodoItemStatus::Failed)];
    assert_eq!(new_plan(&old, vec![draft("a", &[])])[0].status, TodoItemStatus::Pending);
    let repeated = with_draft_status(draft("a", &[]), TodoItemStatus::Failed);
    assert_eq!(new_plan(&old, vec![repeated]), old);
}

#[test]
fn the_same_step_keeps_the_time_of_its_creation() {
    let merged = new_plan(&[item("a", &[])], vec![draft("a", &["b"])]);
    assert_eq!((merged[0].created_timestamp, merged[0].updated_timestamp), (1, 9));
    assert_eq!(merged[0].dependencies, ["b"]);
    let other = DraftItem {
        description: "another thing".to_owned(),
        ..draft("a", &[])
    };
    assert_eq!(new_plan(&[item("a", &[])], vec![other])[0].created_timestamp, 9);
}

#[test]
fn a_completed_draft_item_that_repeats_an_earlier_result_is_left_out() {
    let earlier = [EarlierQuestion {
        number: 1,
        items: vec![completed("a")],
        ..EarlierQuestion::default()
    }];
    let plan = |draft| plan_question(&[], vec![draft], &earlier, 9);
    let repeated = with_draft_status(draft("q1.a", &[]), TodoItemStatus::Completed);
    assert_eq!(plan(repeated), []);
    assert_eq!(ids(&plan(draft("q1.a", &[]))), ["q1.a"]);
}

#[test]
fn an_update_keeps_completed_steps_as_they_are() {
    let old = [completed("a")];
    assert_eq!(updated_plan(&old, vec![draft("a", &["b"])]), old);
    assert_eq!(ids(&updated_plan(&old, vec![draft("b", &["a"])])), ["a", "b"]);
}

#[test]
fn a_new_item_is_pending_even_if_the_draft_completes_it() {
    let new_draft = || with_draft_status(draft("a", &[]), TodoItemStatus::Completed);
    assert_eq!(new_plan(&[], vec![new_draft()])[0].status, TodoItemStatus::Pending);
    assert_eq!(updated_plan(&[], vec![new_draft()])[0].status, TodoItemStatus::Pending);
}

#[test]
fn an_update_may_cancel_an_open_item() {
    let cancelled = with_draft_status(draft("a", &[]), TodoItemStatus::Cancelled);
    let merged = updated_plan(&[item("a", &[])], vec![cancelled]);
    assert_eq!(merged[0].status, TodoItemStatus::Cancelled);
}

#[test]
fn an_update_tries_a_failed_item_again_only_if_it_sets_it_to_pending() {
    let old = [with_status("a", TodoItemStatus::Failed)];
    assert_eq!(
        updated_plan(&old, vec![draft("a", &[])])[0].status,
        TodoItemStatus::Failed
    );
    let again = with_draft_status(draft("a", &[]), TodoItemStatus::Pending);
    assert_eq!(updated_plan(&old, vec![again])[0].status, TodoItemStatus::Pending);
}

#[test]
fn a_running_item_is_unchanged_by_an_update() {
    let old = [with_status("a", TodoItemStatus::InProgress)];
    assert_eq!(updated_plan(&old, Vec::new()), old);
    assert_eq!(updated_plan(&old, vec![draft("a", &["b"])]), old);
}

#[test]
fn a_failed_item_missing_from_an_update_is_kept() {
    let old = [with_status("a", TodoItemStatus::Failed)];
    assert_eq!(updated_plan(&old, vec![draft("b", &[])])[0], old[0]);
}

#[test]
fn a_failed_item_cannot_be_cancelled_by_an_update() {
    let mut failed = with_status("a", TodoItemStatus::Failed);
    failed.error = Some("no".to_owned());
    let cancelled = with_draft_status(draft("a", &[]), TodoItemStatus::Cancelled);
    let merged = updated_plan(&[failed], vec![cancelled]);
    assert_eq!(
        (merged[0].status, merged[0].error.as_deref()),
        (TodoItemStatus::Failed, Some("no"))
    );
}

#[test]
fn a_pending_item_missing_from_an_update_stays_only_if_it_was_started() {
    let old = [item("a", &[]), item("b", &[])];
    let started = BTreeSet::from(["a".to_owned()]);
    assert_eq!(ids(&update(&old, Vec::new(), &started, 9)), ["a"]);
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
