use art_agent::{Run, RunEvent};
use art_core::agent::RunStatus;
use art_core::observation::ObservationType as Kind;
use art_core::pes::TodoItemStatus::{Completed, InProgress};
use art_core::pes::{PesAgentStateData, TodoItem};
use serde_json::{Value, json};

use crate::harness::*;

fn prior_state() -> PesAgentStateData {
    let mut driver = planned(&json!([tool_item("a", &[])]))
        .script("a", [calculate("6 * 7"), completes_item("42")])
        .script("answer", [says("42")]);
    driver.drive();
    driver.saved_state().clone()
}

fn follow_up(query: &str, prior: PesAgentStateData) -> Driver {
    let mut start = start(query);
    start.props.trace_id = Some("second".to_owned());
    start.prior = Some(prior);
    Driver::new(start)
}

fn first_item(state: &PesAgentStateData) -> &TodoItem {
    &state.todo_list[0]
}

#[test]
fn a_completed_item_keeps_its_result_in_a_new_plan() {
    let again = json!({"id": "a", "description": "changed", "status": "COMPLETED"});
    let before = prior_state();
    let mut driver = follow_up("And half of it?", before.clone())
        .script("plan", [plan(&json!([again, reasoning_item("b", &["a"])]))])
        .script("b", [completes_item("21")])
        .script("answer", [says("21")]);
    driver.drive();
    assert_eq!(first_item(driver.saved_state()), first_item(&before));
    assert_eq!(driver.saved_state().step_outputs["a"], before.step_outputs["a"]);
}

// B1: merging of plans by identifier.
#[test]
fn new_work_with_the_id_of_completed_work_is_requested_again() {
    let other = |id| json!({"id": id, "description": "halve it", "status": "pending"});
    let mut driver = follow_up("And half of it?", prior_state())
        .script("plan", [plan(&json!([other("a")])), plan(&json!([other("b")]))])
        .script("b", [completes_item("21")])
        .script("answer", [says("21")]);
    driver.drive();
    let message = driver.last_message("plan", 1);
    assert!(message.contains("the id `a` belongs to completed work"), "{message}");
    assert_eq!(driver.statuses(), [("a", Completed), ("b", Completed)]);
    assert_eq!(driver.item("b").result, Some(json!("21")));
}

#[test]
fn reusing_the_id_of_a_completed_item_is_not_a_success() {
    let mut start = start("And half of it?");
    start.prior = Some(prior_state());
    start.config.plan_repairs = 0;
    let other = json!([{"id": "a", "description": "halve it"}]);
    let report = Driver::new(start).script("plan", [plan(&other)]).drive();
    assert_eq!(status(&report), RunStatus::Error);
    assert!(content(&report).contains("the id `a` belongs to completed work"));
}

/// Returns the state after a run in which step `a` failed, so that `b` was cancelled.
fn failed_prior() -> PesAgentStateData {
    let mut first = planned(&json!([reasoning_item("a", &[]), reasoning_item("b", &["a"])]))
        .script("a", [fails_item("no")])
        .script("answer", [says("It failed.")]);
    first.drive();
    first.saved_state().clone()
}

// X7: when a run is partial.
#[test]
fn a_replanned_step_that_is_not_completed_makes_the_answer_partial() {
    let pending = json!({"id": "b", "description": "think of b", "dependencies": ["a"], "status": "pending"});
    let mut driver = follow_up("Again.", failed_prior())
        .script("plan", [plan(&json!([reasoning_item("a", &[]), pending]))])
        .script("answer", [says("Nothing was done.")]);
    let report = driver.drive();
    assert_eq!(status(&report), RunStatus::Partial);
    assert!(driver.last_message("answer", 0).contains("\"stepId\":\"b\""));
    let ids: Vec<_> = driver.run.view().question_items().map(|item| item.id.clone()).collect();
    assert_eq!(ids, ["b"]);
}

#[test]
fn the_model_sees_the_current_plan_without_results() {
    let mut driver = follow_up("And half of it?", prior_state())
        .script("plan", [plan(&json!([]))])
        .script("answer", [says("21")]);
    driver.drive();
    let prompt = driver.last_message("plan", 0);
    let current = r###"## Current plan
{"intent":"Intent","todoList":[{"id":"a","description":"do a","status":"completed","stepType":"tool","requiredTools":["calculator"],"dependencies":[]}]}"###;
    assert!(prompt.contains(current), "{prompt}");
    assert!(driver.last_message("answer", 0).contains("\"stepId\":\"a\""));
}

#[test]
fn a_plan_update_lists_only_changed_items() {
    let mut driver = follow_up("And half of it?", prior_state())
        .script(
            "plan",
            [plan(&json!([tool_item("a", &[]), reasoning_item("b", &["a"])]))],
        )
        .script("b", [completes_item("21")])
        .script("answer", [says("21")]);
    driver.drive();
    let changes = &driver.observations(Kind::PlanUpdate)[0].content["changes"]["changes"];
    let ids: Vec<&Value> = changes
        .as_array()
        .unwrap()
        .iter()
        .map(|change| &change["itemId"])
        .collect();
    assert_eq!(ids, [&json!("b")]);
}

#[test]
fn an_item_in_progress_at_a_crash_is_run_again() {
    let mut state = prior_state();
    state.todo_list[0].status = InProgress;
    state.current_step_id = Some("a".to_owned());
    let mut driver = follow_up("", state)
        .script("a", [calculate("6 * 7"), completes_item("42")])
        .script("answer", [says("42")]);
    driver.drive();
    assert_eq!(driver.statuses(), [("a", Completed)]);
}

// A45: follow-up questions that change the plan.
#[test]
fn two_follow_ups_in_a_row_work() {
    let mut second = follow_up("And half of it?", prior_state())
        .script("plan", [plan(&json!([reasoning_item("b", &["a"])]))])
        .script("b", [completes_item("21")])
        .script("answer", [says("21")]);
    second.drive();
    let mut third = follow_up("And a third?", second.saved_state().clone())
        .script("plan", [plan(&json!([reasoning_item("c", &["a"])]))])
        .script("c", [completes_item("14")])
        .script("answer", [says("14")]);
    third.drive();
    assert_eq!(third.statuses(), [("a", Completed), ("b", Completed), ("c", Completed)]);
}

#[test]
fn a_run_needs_a_trace_id() {
    let mut start = start("q");
    start.props.trace_id = None;
    let event = RunEvent::Started {
        at: 0,
        start: Box::new(start),
    };
    assert_eq!(
        Run::start(&event).unwrap_err().to_string(),
        "the run has no `traceId`; give it one before it starts"
    );
}

#[test]
fn a_failed_required_tool_of_an_earlier_run_does_not_count_again() {
    let mut first = planned(&json!([tool_item("a", &[])]))
        .script("a", [calculate("fail"), completes_item("about 40")])
        .script("answer", [says("about 40")]);
    assert_eq!(status(&first.drive()), RunStatus::Partial);
    let mut second = follow_up("Thanks.", first.saved_state().clone())
        .script("plan", [plan(&json!([]))])
        .script("answer", [says("You are welcome.")]);
    assert_eq!(status(&second.drive()), RunStatus::Success);
}

#[test]
fn the_synthesis_prompt_lists_earlier_results_separately() {
    let mut driver = follow_up("And half of it?", prior_state())
        .script("plan", [plan(&json!([reasoning_item("b", &["a"])]))])
        .script("b", [completes_item("21")])
        .script("answer", [says("21")]);
    driver.drive();
    let prompt = driver.last_message("answer", 0);
    let section = |heading: &str| {
        let rest = prompt.split(&format!("## {heading}\n")).nth(1).unwrap();
        let steps: Vec<Value> = serde_json::from_str(rest.lines().next().unwrap()).unwrap();
        steps.iter().map(|step| step["stepId"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(section("Completed steps"), ["b"]);
    assert_eq!(section("Results of earlier questions"), ["a"]);
}

#[test]
fn a_view_separates_the_steps_of_this_question_from_earlier_ones() {
    let mut driver = follow_up("And half of it?", prior_state())
        .script("plan", [plan(&json!([reasoning_item("b", &["a"])]))])
        .script("b", [completes_item("21")])
        .script("answer", [says("21")]);
    driver.drive();
    let ids: Vec<_> = driver.run.view().question_items().map(|item| item.id.clone()).collect();
    assert_eq!(ids, ["b"]);
}

#[test]
fn a_failure_of_an_earlier_question_does_not_make_this_answer_partial() {
    let mut first = planned(&json!([tool_item("a", &[])]))
        .script("a", [says(r#"{"content":"no","nextStepDecision":"fail_item"}"#)])
        .script("answer", [says("It failed.")]);
    assert_eq!(status(&first.drive()), RunStatus::Partial);
    let mut second = follow_up("Thanks.", first.saved_state().clone())
        .script("plan", [plan(&json!([]))])
        .script("answer", [says("You are welcome.")]);
    assert_eq!(status(&second.drive()), RunStatus::Success);
}

/// Asks a second question whose budget only allows the plan and one call of its step.
fn stopped_early() -> Driver {
    let mut start = start("And half of it?");
    start.props.trace_id = Some("second".to_owned());
    start.prior = Some(prior_state());
    start.config.max_model_calls = 2;
    Driver::new(start)
        .script("plan", [plan(&json!([tool_item("b", &["a"])]))])
        .script("b", [calculate("1")])
}

#[test]
fn a_run_that_ends_early_lists_no_results_of_an_earlier_question() {
    let mut driver = stopped_early();
    let report = driver.drive();
    assert!(content(&report).starts_with("The run ended early"), "{report:?}");
    assert!(content(&report).contains("- do b: not done"), "{report:?}");
    assert!(!content(&report).contains("do a"), "{report:?}");
}

#[test]
fn a_failed_answer_is_not_partial_because_of_earlier_results() {
    let mut driver = follow_up("And half of it?", prior_state())
        .script("plan", [plan(&json!([tool_item("b", &["a"])]))])
        .script("b", [times_out()])
        .script("answer", [times_out()]);
    let report = driver.drive();
    assert_eq!(status(&report), RunStatus::Error);
    assert!(!content(&report).contains("do a"), "{report:?}");
}
