use art_core::agent::RunStatus;
use art_core::pes::TodoItemStatus::{Cancelled, Completed, Failed, Pending};
use serde_json::{Value, json};

use crate::harness::*;

#[test]
fn independent_items_are_worked_on_together() {
    let items = json!([
        thought_item("a", &[]),
        thought_item("b", &[]),
        thought_item("c", &["a", "b"])
    ]);
    let mut driver = with_plan(&items)
        .script("a", [done("1")])
        .script("b", [done("2")])
        .script("c", [done("3")])
        .script("answer", [says("ok")]);
    driver.drive();
    assert_eq!(driver.widest, 2);
}

#[test]
fn no_more_items_run_together_than_allowed() {
    let names = ["a", "b", "c", "d", "e"];
    let items: Vec<_> = names.iter().map(|id| thought_item(id, &[])).collect();
    let mut start = start("q");
    start.config.max_parallel_items = 2;
    let driver = Driver::new(start)
        .script("plan", [plan(&json!(items))])
        .script("answer", [says("ok")]);
    let mut driver = names.iter().fold(driver, |driver, id| driver.script(id, [done("x")]));
    driver.drive();
    assert_eq!(driver.widest, 2);
}

#[test]
fn a_failed_item_fails_only_its_dependents() {
    let items = json!([
        thought_item("a", &[]),
        thought_item("b", &["a"]),
        thought_item("c", &["b"]),
        thought_item("d", &[])
    ]);
    let mut driver = with_plan(&items)
        .script("a", [breaks()])
        .script("d", [done("x")])
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

#[test]
fn the_item_limit_leaves_the_rest_pending_and_is_named() {
    let items: Vec<Value> = ["a", "b", "c"].iter().map(|id| thought_item(id, &[])).collect();
    let mut start = start("q");
    start.config.max_items = 2;
    let mut driver = Driver::new(start)
        .script("plan", [plan(&json!(items))])
        .script("a", [done("1")])
        .script("b", [done("2")])
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
fn the_call_limit_applies_to_all_items_together() {
    let mut start = start("q");
    start.config.max_tool_calls = 1;
    let mut driver = Driver::new(start)
        .script("plan", [plan(&json!([tool_item("a", &[]), tool_item("b", &[])]))])
        .script("a", [calculate("1"), done("1")])
        .script("b", [calculate("2"), gives_up("no calls left")])
        .script("answer", [says("ok")]);
    let report = driver.drive();
    assert_eq!(driver.called.len(), 1);
    assert_eq!(
        report.response.metadata.limits_hit,
        ["the run made its maximum of 1 tool calls"]
    );
}

#[test]
fn an_action_keeps_its_number_until_it_is_answered() {
    let mut driver = with_plan(&json!([thought_item("a", &[]), thought_item("b", &[])])).script("a", [done("1")]);
    driver.answer_all();
    let actions = driver.open();
    let (first, second) = (actions[0].clone(), actions[1].clone());
    let event = driver.answer(first);
    driver.apply(&event);
    assert!(driver.open().contains(&second));
}

#[test]
fn later_items_read_the_exact_results_of_those_they_depend_on() {
    let mut driver = with_plan(&json!([tool_item("a", &[]), thought_item("b", &["a"])]))
        .script("a", [calculate("6 * 7"), done("")])
        .script("b", [done("x")])
        .script("answer", [says("ok")]);
    driver.drive();
    let system = driver.messages("b", 0)[0].content_text().to_owned();
    let results = r###"## Results of earlier steps
[{"stepId":"a","description":"do a","results":[{"tool":"calculator","status":"success","output":{"result":42}}]}]"###;
    assert!(system.contains(results), "{system}");
}

#[test]
fn the_current_step_is_one_that_is_still_worked_on() {
    let mut driver = with_plan(&json!([thought_item("a", &[]), thought_item("b", &[])])).script("b", [done("2")]);
    driver.answer_all();
    assert_eq!(driver.run.state().current_step_id.as_deref(), Some("b"));
    let action = driver.open().remove(1);
    let event = driver.answer(action);
    driver.apply(&event);
    assert_eq!(driver.run.state().current_step_id.as_deref(), Some("a"));
}
