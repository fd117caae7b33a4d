use art_core::agent::RunStatus;
use art_core::observation::ObservationType as Kind;
use art_core::pes::TodoItemStatus::{Cancelled, Completed, Failed};
use serde_json::{Value, json};

use crate::harness::*;

fn updates(content: &str, list: &Value) -> Reply {
    says(json!({"content": content, "nextStepDecision": "update_plan", "updatedPlan": {"todoList": list}}).to_string())
}

#[test]
fn the_running_item_is_completed_in_the_new_list() {
    let list = json!([{"id": "a", "description": "changed", "status": "pending"}, thought_item("c", &["a"])]);
    let mut driver = with_plan(&json!([thought_item("a", &[]), thought_item("b", &["a"])]))
        .script("a", [updates("1", &list)])
        .script("c", [done("3")])
        .script("answer", [says("ok")]);
    driver.drive();
    assert_eq!(driver.statuses(), [("a", Completed), ("c", Completed)]);
    assert_eq!(driver.item("a").result, Some(json!("1")));
    assert_eq!(driver.item("a").description, "think of a");
}

#[test]
fn the_changes_are_observed() {
    let list = json!([thought_item("c", &["a"])]);
    let mut driver = with_plan(&json!([thought_item("a", &[]), thought_item("b", &["a"])]))
        .script("a", [updates("1", &list)])
        .script("c", [done("3")])
        .script("answer", [says("ok")]);
    driver.drive();
    let update = &driver.observations(Kind::PlanUpdate)[1].content["changes"];
    assert_eq!(update["added"][0]["itemId"], json!("c"));
    assert_eq!(update["removed"][0]["itemId"], json!("b"));
    assert_eq!(update["modified"], json!([]));
}

#[test]
fn a_bad_update_is_reported_and_the_plan_stays() {
    let list = json!([thought_item("c", &["z"])]);
    let mut driver = with_plan(&json!([thought_item("a", &[])]))
        .script("a", [updates("1", &list), done("1")])
        .script("answer", [says("ok")]);
    driver.drive();
    let complaint = driver.last_message("a", 1);
    assert!(
        complaint.contains("`updatedPlan` was not used: item `c` depends on `z`"),
        "{complaint}"
    );
    assert_eq!(driver.statuses(), [("a", Completed)]);
}

#[test]
fn work_that_an_update_cancels_leaves_the_run_a_success() {
    let list = json!([{"id": "b", "description": "not needed", "status": "CANCELLED"}]);
    let mut driver = with_plan(&json!([thought_item("a", &[]), thought_item("b", &["a"])]))
        .script("a", [updates("1", &list)])
        .script("answer", [says("ok")]);
    let report = driver.drive();
    assert_eq!(driver.statuses(), [("a", Completed), ("b", Cancelled)]);
    assert_eq!(status(&report), RunStatus::Success);
}

/// Runs a plan in which `a` fails and `b` then updates the plan, once with each of `updates`.
fn failed_then(lists: &[Value]) -> Driver {
    let mut replies: Vec<_> = lists
        .iter()
        .map(|list| says(json!({"updatedPlan": {"todoList": list}, "nextStepDecision": "continue"}).to_string()))
        .collect();
    replies.push(done("2"));
    with_plan(&json!([thought_item("a", &[]), thought_item("b", &[])]))
        .script("a", [gives_up("no")])
        .script("b", replies)
        .script("answer", [says("ok")])
}

fn changed(status: &str) -> Value {
    json!([{"id": "a", "description": "think of a", "status": status}])
}

// X7: when a run is partial.
#[test]
fn an_update_cannot_hide_a_failure_by_cancelling_the_step() {
    let mut driver = failed_then(&[changed("cancelled")]);
    let report = driver.drive();
    assert_eq!((driver.item("a").status, driver.item("b").status), (Failed, Completed));
    assert_eq!(driver.item("a").error.as_deref(), Some("no"));
    assert_eq!(status(&report), RunStatus::Partial);
}

// X7: when a run is partial.
#[test]
fn two_updates_cannot_hide_a_failure() {
    let mut left_out = failed_then(&[changed("pending"), json!([])]).script("a", [gives_up("no again")]);
    assert_eq!(status(&left_out.drive()), RunStatus::Partial);
    assert_eq!(left_out.item("a").status, Failed);
    let mut cancelled = failed_then(&[changed("pending"), changed("cancelled")]);
    assert_eq!(status(&cancelled.drive()), RunStatus::Partial);
}

// X7: when a run is partial.
#[test]
fn a_step_that_succeeds_when_retried_does_not_spoil_the_run() {
    let mut driver = failed_then(&[changed("pending")]).script("a", [done("1")]);
    assert_eq!(status(&driver.drive()), RunStatus::Success);
}

#[test]
fn an_update_from_one_of_two_running_items_keeps_the_other() {
    let list = json!([thought_item("c", &["b"])]);
    let mut driver = with_plan(&json!([thought_item("a", &[]), thought_item("b", &[])]))
        .script("a", [updates("1", &list)])
        .script("b", [done("2")])
        .script("c", [done("3")])
        .script("answer", [says("ok")]);
    driver.drive();
    assert_eq!(
        driver.statuses(),
        [("a", Completed), ("b", Completed), ("c", Completed)]
    );
}
