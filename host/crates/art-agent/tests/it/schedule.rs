//! When the items of a plan run, and the limits on items and calls.

use art_agent::RunStart;
use art_core::agent::RunStatus;
use art_core::pes::TodoItemStatus::{Cancelled, Completed, Failed, Pending};
use serde_json::{Value, json};

use crate::harness::*;

#[test]
fn independent_items_run_in_parallel() {
    let items = json!([
        reasoning_item("a", &[]),
        reasoning_item("b", &[]),
        reasoning_item("c", &["a", "b"])
    ]);
    let mut driver = driver_with_plan(&items)
        .script("a", [completes_item("1")])
        .script("b", [completes_item("2")])
        .script("c", [completes_item("3")])
        .script("answer", [says("ok")]);
    driver.drive();
    assert_eq!(driver.max_open_actions, 2);
}

#[test]
fn at_most_the_configured_number_of_items_runs_in_parallel() {
    let names = ["a", "b", "c", "d", "e"];
    let items: Vec<_> = names.iter().map(|id| reasoning_item(id, &[])).collect();
    let mut start = start("q");
    start.config.max_parallel_items = 2;
    let mut driver = Driver::new(start)
        .script("plan", [plan(&json!(items))])
        .script("answer", [says("ok")]);
    for id in names {
        driver = driver.script(id, [completes_item("x")]);
    }
    driver.drive();
    assert_eq!(driver.max_open_actions, 2);
}

#[test]
fn a_failed_item_cancels_only_the_items_that_depend_on_it() {
    let items = json!([
        reasoning_item("a", &[]),
        reasoning_item("b", &["a"]),
        reasoning_item("c", &["b"]),
        reasoning_item("d", &[])
    ]);
    let mut driver = driver_with_plan(&items)
        .script("a", [times_out()])
        .script("d", [completes_item("x")])
        .script("answer", [says("ok")]);
    let report = driver.drive();
    assert_eq!(
        driver.statuses(),
        [("a", Failed), ("b", Cancelled), ("c", Cancelled), ("d", Completed)]
    );
    assert_eq!(status(&report), RunStatus::Partial);
    let summary = driver.last_message("answer", 0);
    assert!(
        summary.contains("\"reason\":\"it was not started: it depends on `a`, which was not completed\""),
        "{summary}"
    );
}

/// Returns the start of a run that may work on two items at most.
fn start_with_two_items_at_most(query: &str) -> RunStart {
    let mut start = start(query);
    start.config.max_items = 2;
    start
}

fn reasoning_items(ids: &[&str]) -> Value {
    ids.iter().map(|id| reasoning_item(id, &[])).collect()
}

#[test]
fn the_item_limit_leaves_the_other_items_of_a_continued_plan_pending_and_is_reported() {
    // The first run plans three items and is cancelled. The second run has an empty query, so it continues this plan.
    let mut planned = driver_with_plan(&reasoning_items(&["a", "b", "c"]));
    planned.answer_all();
    planned.cancel();
    let continued = RunStart {
        prior: Some(planned.saved_state().clone()),
        ..start_with_two_items_at_most("")
    };
    let mut driver = Driver::new(continued)
        .script("a", [completes_item("1")])
        .script("b", [completes_item("2")])
        .script("answer", [says("ok")]);
    let report = driver.drive();
    assert_eq!(driver.statuses()[2], ("c", Pending));
    assert_eq!(
        report.response.metadata.limits_hit,
        ["the run worked on its maximum of 2 items"]
    );
    assert_eq!(status(&report), RunStatus::Partial);
}

#[test]
fn a_plan_with_more_items_than_the_limit_is_refused_before_anything_runs() {
    let mut driver = Driver::new(start_with_two_items_at_most("q"))
        .script(
            "plan",
            [
                plan(&reasoning_items(&["a", "b", "c"])),
                plan(&reasoning_items(&["a", "b"])),
            ],
        )
        .script("a", [completes_item("1")])
        .script("b", [completes_item("2")])
        .script("answer", [says("ok")]);
    assert_eq!(status(&driver.drive()), RunStatus::Success);
    insta::assert_snapshot!(driver.last_message("plan", 1), @r"
    The plan cannot be used:
    > - the plan has too many open steps: 3, and the run may start only 2 (`maxItems`); use fewer steps, each with more calls
    Give the whole plan again, corrected, in the same form.
    ");
}

#[test]
fn if_too_many_items_are_not_repaired_the_surplus_items_fail_and_the_others_are_done() {
    let too_many = || plan(&reasoning_items(&["a", "b", "c"]));
    let mut driver = Driver::new(start_with_two_items_at_most("q"))
        .script("plan", [too_many(), too_many(), too_many()])
        .script("a", [completes_item("1")])
        .script("b", [completes_item("2")])
        .script("answer", [says("ok")]);
    let report = driver.drive();
    assert_eq!(driver.statuses(), [("a", Completed), ("b", Completed), ("c", Failed)]);
    let error = driver.item("c").error.as_deref().unwrap();
    let reason = "it cannot be carried out: the plan has too many open steps: 3, and the run may start only 2";
    assert!(error.starts_with(reason), "{error}");
    assert_eq!(status(&report), RunStatus::Partial);
}

#[test]
fn if_a_circle_of_dependencies_is_not_repaired_its_items_fail_and_the_others_are_done() {
    let circle = || {
        plan(&json!([
            reasoning_item("a", &["b"]),
            reasoning_item("b", &["a"]),
            reasoning_item("c", &[])
        ]))
    };
    let mut driver = Driver::new(start("q"))
        .script("plan", [circle(), circle(), circle()])
        .script("c", [completes_item("3")])
        .script("answer", [says("ok")]);
    driver.drive();
    assert_eq!(driver.statuses(), [("a", Failed), ("b", Failed), ("c", Completed)]);
    assert_eq!(
        driver.item("a").error.as_deref(),
        Some("it cannot be carried out: the dependencies go in a circle: `a` -> `b` -> `a`")
    );
}

#[test]
fn if_a_repeated_id_is_not_repaired_the_second_item_gets_a_new_id_and_fails() {
    let duplicate_ids = || plan(&json!([reasoning_item("a", &[]), reasoning_item("a", &[])]));
    let mut driver = Driver::new(start("q"))
        .script("plan", [duplicate_ids(), duplicate_ids(), duplicate_ids()])
        .script("a", [completes_item("1")])
        .script("answer", [says("ok")]);
    driver.drive();
    assert_eq!(driver.statuses(), [("a", Completed), ("a_2", Failed)]);
}

#[test]
fn an_update_with_more_items_than_the_run_may_still_start_is_not_used() {
    let update = |ids: &[&str]| {
        let list: Vec<Value> = ids.iter().map(|id| reasoning_item(id, &[])).collect();
        says(json!({"content": "more", "updatedPlan": {"todoList": list}}).to_string())
    };
    let mut driver = Driver::new(start_with_two_items_at_most("q"))
        .script("plan", [plan(&reasoning_items(&["a"]))])
        .script("a", [update(&["b", "c"]), update(&["b"])])
        .script("b", [completes_item("2")])
        .script("answer", [says("ok")]);
    assert_eq!(status(&driver.drive()), RunStatus::Success);
    let message = driver.last_message("a", 1);
    let problem = "`updatedPlan` was not used: the plan has too many open steps: 2, and the run may start only 1";
    assert!(message.contains(problem), "{message}");
}

#[test]
fn the_calls_of_a_planner_count_towards_the_item_limit() {
    let call = |id: &str| native_call(id, "clock", "{}");
    let mut start = start_with_two_items_at_most("q");
    start.native_tools = true;
    let mut driver = Driver::new(start).script(
        "plan",
        [
            native_calls([call("x"), call("y")]),
            call("z"),
            says("This is all that I found."),
        ],
    );
    assert_eq!(content(&driver.drive()), "This is all that I found.");
    assert_eq!(driver.tool_calls_made.len(), 2);
    let message = driver.last_message("plan", 2);
    assert!(
        message.contains("the plan has too many open steps: 1, and the run may start only 0"),
        "{message}"
    );
}

#[test]
fn the_limit_of_tool_calls_applies_to_all_items_together() {
    let mut start = start("q");
    start.config.max_tool_calls = 1;
    let mut driver = Driver::new(start)
        .script("plan", [plan(&json!([tool_item("a", &[]), tool_item("b", &[])]))])
        .script("a", [calculate("1"), completes_item("1")])
        .script("b", [calculate("2"), fails_item("no calls left")])
        .script("answer", [says("ok")]);
    let report = driver.drive();
    assert_eq!(driver.tool_calls_made.len(), 1);
    assert_eq!(
        report.response.metadata.limits_hit,
        ["the run made its maximum of 1 tool calls"]
    );
}

#[test]
fn an_open_action_keeps_its_id_when_another_is_answered() {
    let mut driver = driver_with_plan(&json!([reasoning_item("a", &[]), reasoning_item("b", &[])]))
        .script("a", [completes_item("1")]);
    driver.answer_all();
    let actions = driver.open_actions();
    let (answered, open) = (actions[0].clone(), actions[1].clone());
    driver.carry_out(answered);
    assert!(
        driver.open_actions().contains(&open),
        "the same action with the same id"
    );
}

#[test]
fn later_items_read_the_exact_results_of_those_they_depend_on() {
    let mut driver = driver_with_plan(&json!([tool_item("a", &[]), reasoning_item("b", &["a"])]))
        .script("a", [calculate("6 * 7"), completes_item("")])
        .script("b", [completes_item("x")])
        .script("answer", [says("ok")]);
    driver.drive();
    let task = driver.last_message("b", 0);
    let results = r###"## Results of earlier steps
[{"stepId":"a","description":"do a","calls":[{"tool":"calculator","arguments":{"expression":"6 * 7"},"status":"success","output":{"result":42},"sources":[{"sourceName":"abacus"}]}]}]"###;
    assert!(task.contains(results), "{task}");
}

#[test]
fn the_open_step_that_started_last_is_the_current_step() {
    let mut driver = driver_with_plan(&json!([reasoning_item("a", &[]), reasoning_item("b", &[])]))
        .script("b", [completes_item("2")]);
    driver.answer_all();
    // Both steps are open. The one that started last is the current one.
    assert_eq!(driver.run.state().current_step_id.as_deref(), Some("b"));
    let action = driver.open_actions().remove(1);
    driver.carry_out(action);
    assert_eq!(driver.run.state().current_step_id.as_deref(), Some("a"));
}
