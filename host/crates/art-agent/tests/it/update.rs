//! Updates: replies by which the model of a step changes the plan.

use art_core::agent::RunStatus;
use art_core::observation::ObservationType as Kind;
use art_core::pes::TodoItemStatus::{Cancelled, Completed, Failed};
use serde_json::{Value, json};

use crate::harness::*;

/// Returns a reply that ends its step with `content` and changes the plan to the items `list`.
fn updates(content: &str, list: &Value) -> Reply {
    says(json!({"content": content, "nextStepDecision": "update_plan", "updatedPlan": {"todoList": list}}).to_string())
}

#[test]
fn an_item_that_updates_the_plan_is_completed() {
    // What the update says about `a` has no effect, because `a` is in progress.
    let list = json!([{"id": "a", "description": "changed", "status": "pending"}, reasoning_item("c", &["a"])]);
    let mut driver = driver_with_plan(&json!([reasoning_item("a", &[]), reasoning_item("b", &["a"])]))
        .script("a", [updates("1", &list)])
        .script("c", [completes_item("3")])
        .script("answer", [says("ok")]);
    driver.drive();
    assert_eq!(driver.statuses(), [("a", Completed), ("c", Completed)]);
    assert_eq!(driver.item("a").result, Some(json!("1").into()));
    assert_eq!(driver.item("a").description, "think of a");
}

#[test]
fn the_changes_of_an_update_are_observed() {
    let list = json!([reasoning_item("c", &["a"])]);
    let mut driver = driver_with_plan(&json!([reasoning_item("a", &[]), reasoning_item("b", &["a"])]))
        .script("a", [updates("1", &list)])
        .script("c", [completes_item("3")])
        .script("answer", [says("ok")]);
    driver.drive();
    // The first observation of this kind is of the plan itself.
    let update = &driver.observations(Kind::PlanUpdate)[1].content["changes"];
    assert_eq!(update["added"][0]["itemId"], json!("c"));
    assert_eq!(update["removed"][0]["itemId"], json!("b"));
    assert_eq!(update["modified"], json!([]));
}

#[test]
fn an_invalid_update_is_reported_and_not_applied() {
    let list = json!([reasoning_item("c", &["z"])]);
    let mut driver = driver_with_plan(&json!([reasoning_item("a", &[])]))
        .script("a", [updates("1", &list), completes_item("1")])
        .script("answer", [says("ok")]);
    driver.drive();
    let message = driver.last_message("a", 1);
    assert!(
        message.contains("`updatedPlan` was not used: item `c` depends on `z`"),
        "{message}"
    );
    assert_eq!(driver.statuses(), [("a", Completed)]);
}

/// Returns an item with one planned call of the calculator.
fn item_with_call(id: &str, expression: &Value) -> Value {
    json!({"id": id, "description": format!("do {id}"), "toolCalls": [
        {"toolName": "calculator", "arguments": {"expression": expression}},
    ]})
}

#[test]
fn the_planned_calls_of_an_update_run_without_a_model() {
    let sum = json!({"$concat": ["1 + ", {"$from": "a"}]});
    let mut driver = driver_with_plan(&json!([reasoning_item("a", &[])]))
        .script("a", [updates("41", &json!([item_with_call("c", &sum)]))])
        .script("answer", [says("ok")]);
    let report = driver.drive();
    assert_eq!(driver.statuses(), [("a", Completed), ("c", Completed)]);
    assert_eq!(
        driver.item("c").actual_tool_calls[0].arguments,
        json!({"expression": "1 + 41"})
    );
    assert_eq!(
        (report.response.metadata.llm_calls, report.response.metadata.tool_calls),
        (3, 1)
    );
}

#[test]
fn an_update_with_faulty_calls_is_not_applied_and_all_faults_are_reported() {
    let list = json!([
        item_with_call("b", &json!(7)),
        item_with_call("c", &json!({"$from": "z"})),
        {"id": "d", "description": "d", "toolCalls": [{"toolName": "abacus", "arguments": {}}]},
        reasoning_item("e", &["nowhere"]),
    ]);
    let mut driver = driver_with_plan(&json!([reasoning_item("a", &[])]))
        .script("a", [updates("1", &list), completes_item("1")])
        .script("answer", [says("ok")]);
    driver.drive();
    let message = driver.last_message("a", 1);
    for fault in [
        "`updatedPlan` was not used: `b.arguments.expression`: a string is asked for, `7` is given",
        "`updatedPlan` was not used: `c.arguments.expression`: `$from` names `z`, which is not in the plan",
        "`updatedPlan` was not used: `d`: there is no tool `abacus`",
        "`updatedPlan` was not used: item `e` depends on `nowhere`",
    ] {
        assert!(message.contains(fault), "{fault}: {message}");
    }
    assert_eq!(driver.statuses(), [("a", Completed)]);
    assert!(driver.tool_calls_made.is_empty());
}

#[test]
fn an_update_may_plan_as_many_calls_as_the_run_has_left() {
    let items_with_calls = |count: u32| -> Value {
        let call = |n: u32| item_with_call(&format!("c{n}"), &json!(n.to_string()));
        (0..count).map(call).collect()
    };
    let mut start = start("q");
    start.config.max_tool_calls = 3;
    let mut driver = Driver::new(start)
        .script("plan", [plan(&json!([tool_item("a", &[])]))])
        .script(
            "a",
            [
                calculate("1"),
                updates("1", &items_with_calls(3)),
                updates("1", &items_with_calls(2)),
            ],
        )
        .script("answer", [says("ok")]);
    let report = driver.drive();
    let message = driver.last_message("a", 2);
    assert!(
        message.contains("`c2`: this is call 3 of the plan, and the run may make only 2"),
        "{message}"
    );
    assert_eq!(
        (report.response.metadata.tool_calls, status(&report)),
        (3, RunStatus::Success)
    );
}

#[test]
fn a_run_is_successful_if_an_update_cancels_a_step() {
    let list = json!([{"id": "b", "description": "not needed", "status": "CANCELLED"}]);
    let mut driver = driver_with_plan(&json!([reasoning_item("a", &[]), reasoning_item("b", &["a"])]))
        .script("a", [updates("1", &list)])
        .script("answer", [says("ok")]);
    let report = driver.drive();
    assert_eq!(driver.statuses(), [("a", Completed), ("b", Cancelled)]);
    assert_eq!(status(&report), RunStatus::Success);
}

/// Returns a driver of a plan in which `a` fails, and `b` then updates the plan once with each of `lists`.
fn driver_with_updates(lists: &[Value]) -> Driver {
    let mut replies: Vec<_> = lists
        .iter()
        .map(|list| says(json!({"updatedPlan": {"todoList": list}, "nextStepDecision": "continue"}).to_string()))
        .collect();
    replies.push(completes_item("2"));
    driver_with_plan(&json!([reasoning_item("a", &[]), reasoning_item("b", &[])]))
        .script("a", [fails_item("no")])
        .script("b", replies)
        .script("answer", [says("ok")])
}

/// Returns the items of a changed plan: only `a`, with this status.
fn plan_with_status_of_a(status: &str) -> Value {
    json!([{"id": "a", "description": "think of a", "status": status}])
}

// A run is partial if anything failed (contract X7).
#[test]
fn an_update_cannot_hide_a_failure_by_cancelling_the_failed_step() {
    let mut driver = driver_with_updates(&[plan_with_status_of_a("cancelled")]);
    let report = driver.drive();
    assert_eq!((driver.item("a").status, driver.item("b").status), (Failed, Completed));
    assert_eq!(driver.item("a").error.as_deref(), Some("no"));
    assert_eq!(status(&report), RunStatus::Partial);
}

// A run is partial if anything failed (contract X7). The first update makes the failed step pending again, and the
// second omits or cancels it. An omitted step that was started before stays in the plan: here it is retried and fails again.
#[test]
fn two_updates_cannot_hide_a_failure() {
    let mut omitted =
        driver_with_updates(&[plan_with_status_of_a("pending"), json!([])]).script("a", [fails_item("no again")]);
    assert_eq!(status(&omitted.drive()), RunStatus::Partial);
    assert_eq!(omitted.item("a").status, Failed);
    let mut cancelled = driver_with_updates(&[plan_with_status_of_a("pending"), plan_with_status_of_a("cancelled")]);
    assert_eq!(status(&cancelled.drive()), RunStatus::Partial);
}

// A run is partial if anything failed (contract X7). A step that succeeds when it is retried does not count as failed.
#[test]
fn a_run_is_successful_if_a_failed_step_succeeds_when_retried() {
    let mut driver = driver_with_updates(&[plan_with_status_of_a("pending")]).script("a", [completes_item("1")]);
    assert_eq!(status(&driver.drive()), RunStatus::Success);
}

#[test]
fn an_update_by_one_running_item_keeps_the_other_running_item() {
    // The update by `a` omits `b`, which is in progress.
    let list = json!([reasoning_item("c", &["b"])]);
    let mut driver = driver_with_plan(&json!([reasoning_item("a", &[]), reasoning_item("b", &[])]))
        .script("a", [updates("1", &list)])
        .script("b", [completes_item("2")])
        .script("c", [completes_item("3")])
        .script("answer", [says("ok")]);
    driver.drive();
    assert_eq!(
        driver.statuses(),
        [("a", Completed), ("b", Completed), ("c", Completed)]
    );
}
