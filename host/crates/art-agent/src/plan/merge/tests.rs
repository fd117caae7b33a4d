use super::*;
use art_core::tool::{ParsedToolCall, ToolResult};
use serde_json::json;

/// Time at which the items of [`item`] were created.
const CREATED_AT: Timestamp = 1;

/// Time at which the plans of the tests are merged.
const MERGED_AT: Timestamp = 9;

/// Returns an item of a draft. The item has no status.
pub(crate) fn draft_item(id: &str, dependencies: &[&str]) -> DraftItem {
    DraftItem {
        id: id.to_owned(),
        description: format!("do {id}"),
        dependencies: dependencies.iter().map(|id| (*id).to_owned()).collect(),
        ..DraftItem::default()
    }
}

/// Returns a pending item without planned calls.
pub(crate) fn item(id: &str, dependencies: &[&str]) -> TodoItem {
    new_item(draft_item(id, dependencies), CREATED_AT)
}

pub(crate) fn item_with_status(id: &str, status: TodoItemStatus) -> TodoItem {
    TodoItem {
        status,
        ..item(id, &[])
    }
}

/// Returns a completed item with a result of its own and the result of one tool call.
fn completed(id: &str) -> TodoItem {
    let call = ParsedToolCall {
        call_id: "c".to_owned(),
        tool_name: "calculator".to_owned(),
        arguments: json!({}),
    };
    TodoItem {
        result: Some(json!(409.5).into()),
        tool_results: vec![ToolResult::success(&call, json!({"result": 409.5}))],
        ..item_with_status(id, TodoItemStatus::Completed)
    }
}

fn ids(items: &[TodoItem]) -> Vec<&str> {
    items.iter().map(|item| item.id.as_str()).collect()
}

/// Returns the plan for a new question, after a run that did not finish the plan `old`.
fn plan_for_question(old: &[TodoItem], draft: Vec<DraftItem>) -> Vec<TodoItem> {
    items_for_question(old, draft, &[], MERGED_AT)
}

/// Returns the plan after the model changed it, in a run that has started no item.
fn updated_plan(old: &[TodoItem], draft: Vec<DraftItem>) -> Vec<TodoItem> {
    update_items(old, draft, &BTreeSet::new(), MERGED_AT)
}

/// Returns `draft_item` with a status.
fn with_draft_status(draft_item: DraftItem, status: TodoItemStatus) -> DraftItem {
    DraftItem {
        status: Some(status),
        ..draft_item
    }
}

#[test]
fn a_completed_item_that_the_draft_lists_as_completed_is_kept_with_its_results_and_times() {
    let old = [completed("a")];
    let repeated = with_draft_status(draft_item("a", &["b"]), TodoItemStatus::Completed);
    assert_eq!(plan_for_question(&old, vec![repeated]), old);
}

#[test]
fn a_completed_item_that_the_draft_lists_as_pending_or_without_a_status_is_done_again() {
    for status in [None, Some(TodoItemStatus::Pending)] {
        let again = DraftItem {
            status,
            ..draft_item("a", &[])
        };
        let merged = plan_for_question(&[completed("a")], vec![again]);
        assert_eq!((merged[0].status, &merged[0].result), (TodoItemStatus::Pending, &None));
        assert_eq!(merged[0].tool_results, []);
    }
}

#[test]
fn a_completed_item_that_the_draft_names_only_as_a_dependency_is_kept() {
    let old = [completed("a"), completed("b"), item("c", &["a"])];
    assert_eq!(ids(&plan_for_question(&old, vec![draft_item("c", &["a"])])), ["a", "c"]);
}

#[test]
fn every_item_that_the_draft_for_a_new_question_does_not_name_is_removed() {
    let old = [
        item("a", &[]),
        item_with_status("b", TodoItemStatus::Failed),
        completed("c"),
    ];
    assert_eq!(plan_for_question(&old, Vec::new()), []);
}

#[test]
fn a_new_question_tries_a_failed_item_again_unless_the_draft_lists_it_as_failed() {
    let old = [item_with_status("a", TodoItemStatus::Failed)];
    assert_eq!(
        plan_for_question(&old, vec![draft_item("a", &[])])[0].status,
        TodoItemStatus::Pending
    );
    let repeated = with_draft_status(draft_item("a", &[]), TodoItemStatus::Failed);
    assert_eq!(plan_for_question(&old, vec![repeated]), old);
}

#[test]
fn an_item_with_the_same_id_and_description_keeps_its_creation_time() {
    let merged = plan_for_question(&[item("a", &[])], vec![draft_item("a", &["b"])]);
    assert_eq!(
        (merged[0].created_timestamp, merged[0].updated_timestamp),
        (CREATED_AT, MERGED_AT)
    );
    assert_eq!(merged[0].dependencies, ["b"]);
    let with_other_description = DraftItem {
        description: "another thing".to_owned(),
        ..draft_item("a", &[])
    };
    assert_eq!(
        plan_for_question(&[item("a", &[])], vec![with_other_description])[0].created_timestamp,
        MERGED_AT
    );
}

#[test]
fn a_completed_item_of_the_draft_that_repeats_a_step_of_an_earlier_question_is_dropped() {
    let earlier = [EarlierQuestion {
        number: 1,
        items: vec![completed("a")],
        ..EarlierQuestion::default()
    }];
    // `q1.a` is the name of step `a` of question 1.
    let plan = |draft_item| items_for_question(&[], vec![draft_item], &earlier, MERGED_AT);
    let repeated = with_draft_status(draft_item("q1.a", &[]), TodoItemStatus::Completed);
    assert_eq!(plan(repeated), []);
    assert_eq!(ids(&plan(draft_item("q1.a", &[]))), ["q1.a"]);
}

#[test]
fn an_update_keeps_completed_items_as_they_are() {
    let old = [completed("a")];
    assert_eq!(updated_plan(&old, vec![draft_item("a", &["b"])]), old);
    assert_eq!(ids(&updated_plan(&old, vec![draft_item("b", &["a"])])), ["a", "b"]);
}

#[test]
fn a_new_item_is_pending_even_if_the_draft_lists_it_as_completed() {
    let draft_of_new_item = || with_draft_status(draft_item("a", &[]), TodoItemStatus::Completed);
    assert_eq!(
        plan_for_question(&[], vec![draft_of_new_item()])[0].status,
        TodoItemStatus::Pending
    );
    assert_eq!(
        updated_plan(&[], vec![draft_of_new_item()])[0].status,
        TodoItemStatus::Pending
    );
}

#[test]
fn an_update_may_cancel_a_pending_item() {
    let cancelled = with_draft_status(draft_item("a", &[]), TodoItemStatus::Cancelled);
    let merged = updated_plan(&[item("a", &[])], vec![cancelled]);
    assert_eq!(merged[0].status, TodoItemStatus::Cancelled);
}

#[test]
fn an_update_tries_a_failed_item_again_only_if_the_draft_lists_it_as_pending() {
    let old = [item_with_status("a", TodoItemStatus::Failed)];
    assert_eq!(
        updated_plan(&old, vec![draft_item("a", &[])])[0].status,
        TodoItemStatus::Failed
    );
    let again = with_draft_status(draft_item("a", &[]), TodoItemStatus::Pending);
    assert_eq!(updated_plan(&old, vec![again])[0].status, TodoItemStatus::Pending);
}

#[test]
fn an_update_does_not_change_an_item_that_is_in_progress_or_waits_for_a_person() {
    for status in [TodoItemStatus::InProgress, TodoItemStatus::Waiting] {
        let old = [item_with_status("a", status)];
        assert_eq!(updated_plan(&old, Vec::new()), old);
        assert_eq!(updated_plan(&old, vec![draft_item("a", &["b"])]), old);
    }
}

#[test]
fn an_update_that_does_not_name_a_failed_item_keeps_it() {
    let old = [item_with_status("a", TodoItemStatus::Failed)];
    assert_eq!(updated_plan(&old, vec![draft_item("b", &[])])[0], old[0]);
}

#[test]
fn an_update_cannot_cancel_a_failed_item() {
    let mut failed = item_with_status("a", TodoItemStatus::Failed);
    failed.error = Some("no".to_owned());
    let cancelled = with_draft_status(draft_item("a", &[]), TodoItemStatus::Cancelled);
    let merged = updated_plan(&[failed], vec![cancelled]);
    assert_eq!(
        (merged[0].status, merged[0].error.as_deref()),
        (TodoItemStatus::Failed, Some("no"))
    );
}

#[test]
fn an_update_that_does_not_name_a_pending_item_keeps_it_only_if_the_run_started_it() {
    // The run started `a`, which failed and which an update set back to pending.
    let old = [item("a", &[]), item("b", &[])];
    let started = BTreeSet::from(["a".to_owned()]);
    assert_eq!(ids(&update_items(&old, Vec::new(), &started, MERGED_AT)), ["a"]);
}

#[test]
fn items_that_an_earlier_run_left_in_progress_become_pending() {
    let mut state = PesAgentStateData {
        todo_list: vec![item_with_status("a", TodoItemStatus::InProgress), completed("b")],
        current_step_id: Some("a".to_owned()),
        is_paused: true,
        ..PesAgentStateData::default()
    };
    assert!(requeue_interrupted_items(&mut state, MERGED_AT));
    assert_eq!(state.todo_list[0].status, TodoItemStatus::Pending);
    assert_eq!(state.todo_list[1], completed("b"));
    assert_eq!((state.is_paused, state.current_step_id), (false, None));
}
