//! Calls, each of which is announced by one event before it is made and ended by another one: when tool calls may be made, and
//! what becomes of the calls of a run if a tool asks a person or another host resumes the run.

use art_agent::{ApplyError, Run, RunEvent};
use art_core::agent::RunStatus;
use art_core::observation::ObservationType;
use art_core::outcome::EndingKind;
use art_core::tool::{ExecutionMode, ParsedToolCall, ToolResult};
use serde_json::json;

use crate::harness::*;

/// Returns a driver whose plan has one step, and whose model has requested these calls for it: pairs of a tool and an expression.
/// `clock` is a blocking tool.
fn driver_with_calls(batch: &[(&str, &str)]) -> Driver {
    let mut start = start("q");
    for tool in &mut start.tools {
        if tool.name == "clock" {
            tool.execution_mode = ExecutionMode::Blocking;
        }
    }
    let batch: Vec<_> = batch
        .iter()
        .map(|(tool, expression)| (*tool, json!({"expression": expression})))
        .collect();
    let mut driver = Driver::new(start)
        .script("plan", [plan(&json!([tool_item("a", &[])]))])
        .script("a", [calls(&batch), completes_item("x")])
        .script("answer", [says("ok")]);
    // The planner gives the plan, and then the model requests the calls.
    driver.answer_all();
    driver.answer_all();
    driver
}

/// Returns the expressions of the calls that may be made now.
fn ready_expressions(driver: &Driver) -> Vec<String> {
    let calls = driver.run.ready_calls().into_iter();
    calls
        .map(|ready| ready.call.arguments["expression"].as_str().unwrap().to_owned())
        .collect()
}

/// Makes the ready call with this expression, and ends it if `end` returns a result.
fn make_call(driver: &mut Driver, expression: &str, end: impl Fn(&ParsedToolCall) -> Option<ToolResult>) {
    let calls = driver.run.ready_calls().into_iter();
    let mut calls = calls.filter(|ready| ready.call.arguments["expression"] == expression);
    let ready = calls.next().unwrap();
    driver.apply(&call_event(2_000, ready.action, &ready.call));
    if let Some(result) = end(&ready.call) {
        driver.apply(&end_event(2_000, ready.action, result));
    }
}

fn return_stand_in_result(call: &ParsedToolCall) -> Option<ToolResult> {
    Some(stand_in_result(call))
}

fn resume_event() -> RunEvent {
    RunEvent::Resumed {
        at: 3_000,
        fuel_basis: String::new(),
    }
}

fn stay_in_progress(_: &ParsedToolCall) -> Option<ToolResult> {
    None
}

// The calls of a reply end in any order (contract T7).
#[test]
fn calls_of_one_reply_may_be_made_at_the_same_time_and_end_in_any_order() {
    let mut driver = driver_with_calls(&[("calculator", "1"), ("calculator", "2"), ("calculator", "3")]);
    assert_eq!(ready_expressions(&driver), ["1", "2", "3"]);
    make_call(&mut driver, "3", return_stand_in_result);
    make_call(&mut driver, "1", return_stand_in_result);
    assert_eq!(ready_expressions(&driver), ["2"]);
    assert_eq!(driver.open_actions().len(), 1, "the model waits for all results");
    make_call(&mut driver, "2", return_stand_in_result);
    let result_ids: Vec<_> = driver.drive().items[0]
        .tool_results
        .iter()
        .map(|result| result.call_id.clone())
        .collect();
    let call_ids: Vec<_> = driver
        .item("a")
        .actual_tool_calls
        .iter()
        .map(|call| call.call_id.clone())
        .collect();
    assert_eq!(result_ids, call_ids, "results are in the order of the calls");
}

// Calls of a blocking tool are made alone (contract Q3a).
#[test]
fn a_blocking_tool_is_called_after_all_calls_before_it_and_before_all_after_it() {
    let mut driver = driver_with_calls(&[
        ("calculator", "1"),
        ("calculator", "2"),
        ("clock", "3"),
        ("calculator", "4"),
    ]);
    assert_eq!(ready_expressions(&driver), ["1", "2"]);
    make_call(&mut driver, "2", return_stand_in_result);
    assert_eq!(ready_expressions(&driver), ["1"]);
    make_call(&mut driver, "1", return_stand_in_result);
    assert_eq!(ready_expressions(&driver), ["3"]);
    make_call(&mut driver, "3", stay_in_progress);
    assert!(ready_expressions(&driver).is_empty());
}

// Every call of a reply has a result, even if the tool of another call asks a person (contract B9).
#[test]
fn calls_that_were_not_made_before_a_suspension_have_a_result_that_says_so() {
    let mut driver = driver_with_calls(&[("calculator", "1"), ("clock", "ask"), ("calculator", "2")]);
    make_call(&mut driver, "1", return_stand_in_result);
    // With the expression `ask`, the stand-in tool asks a person.
    make_call(&mut driver, "ask", return_stand_in_result);
    assert_eq!(status(&driver.run.waiting_report().unwrap()), RunStatus::Suspended);
    let observed = driver.observations(ObservationType::ToolExecution);
    let endings: Vec<_> = observed.iter().map(|call| call.metadata["ending"].clone()).collect();
    assert_eq!(endings, ["success", "suspended", "not_run"]);
    let reason = observed[2].content["error"].as_str().unwrap();
    assert_eq!(
        reason,
        "Tool \"calculator\" was not run because \"clock\" waits for a decision"
    );
}

#[test]
fn each_call_has_one_observation_with_its_ending_and_usage() {
    let mut driver = driver_with_calls(&[("calculator", "1"), ("calculator", FAILS)]);
    driver.drive();
    let observed = driver.observations(ObservationType::ToolExecution);
    // The driver of the tests ends calls in the reverse order, so the second call is observed first.
    let items_endings_and_fuel: Vec<_> = observed
        .iter()
        .map(|call| {
            (
                call.parent_id.as_deref(),
                call.metadata["ending"].clone(),
                call.metadata["usage"]["fuel"].clone(),
            )
        })
        .collect();
    assert_eq!(
        items_endings_and_fuel,
        [
            (Some("a"), json!("failure"), json!(FUEL_PER_CALL)),
            (Some("a"), json!("success"), json!(FUEL_PER_CALL)),
        ]
    );
}

#[test]
fn only_a_refused_call_can_end_without_an_announcement() {
    let mut driver = driver_with_calls(&[("calculator", "1")]);
    let ready = driver.run.ready_calls().remove(0);
    let before = driver.run.clone();
    let applied = driver
        .run
        .apply(&end_event(2_000, ready.action, stand_in_result(&ready.call)));
    assert_eq!(applied, Err(ApplyError::NotMade { action: ready.action }));
    assert_eq!(driver.run, before);
    let mut refused_result = stand_in_result(&ready.call);
    refused_result.metadata.not_run = true;
    driver.apply(&end_event(2_000, ready.action, refused_result));
    assert!(driver.run.ready_calls().is_empty());
}

#[test]
fn a_call_is_announced_once_and_ends_once() {
    let mut driver = driver_with_calls(&[("calculator", "1"), ("calculator", "2")]);
    let ready = driver.run.ready_calls().remove(0);
    let announced = call_event(2_000, ready.action, &ready.call);
    driver.apply(&announced);
    let again = Err(ApplyError::AlreadyMade { action: ready.action });
    assert_eq!(driver.run.apply(&announced), again);
    let end = end_event(2_000, ready.action, stand_in_result(&ready.call));
    driver.apply(&end);
    assert!(matches!(
        driver.run.apply(&end),
        Err(ApplyError::ResultsDoNotMatch {
            fault: "given twice",
            ..
        })
    ));
}

#[test]
fn a_cancelled_run_keeps_the_results_of_the_calls_that_ended() {
    let mut driver = driver_with_calls(&[("calculator", "1"), ("calculator", "2")]);
    make_call(&mut driver, "1", return_stand_in_result);
    make_call(&mut driver, "2", stay_in_progress);
    driver.cancel();
    assert_eq!(driver.item("a").tool_results.len(), 1);
}

// Calls in progress when a host was stopped are made again, and no others (contracts P86, B33).
#[test]
fn another_host_makes_again_only_calls_that_had_not_ended() {
    let mut driver = driver_with_calls(&[("calculator", "1"), ("calculator", "2")]);
    make_call(&mut driver, "1", return_stand_in_result);
    make_call(&mut driver, "2", stay_in_progress);
    let in_progress = driver.run.calls_in_progress();
    assert_eq!(in_progress.len(), 1);
    assert_eq!(in_progress[0].call.arguments["expression"], "2");
    assert!(ready_expressions(&driver).is_empty());
    driver.apply(&resume_event());
    assert_eq!(ready_expressions(&driver), ["2"]);
    assert!(driver.run.calls_in_progress().is_empty());
    assert_eq!(status(&driver.drive()), RunStatus::Success);
}

// A model call that broke off is estimated and counted (contract M12).
#[test]
fn another_host_counts_a_model_call_in_progress_and_makes_it_again() {
    let mut start = start("q");
    start.context = Some(100_000).into();
    let mut driver = Driver::new(start).script("plan", [says(r#"{"answer": "42"}"#)]);
    driver.apply(&resume_event());
    let report = driver.drive();
    let metadata = &report.response.metadata;
    assert_eq!((metadata.llm_calls, metadata.estimated_calls), (2, 1));
    assert!(metadata.tokens.prompt_tokens > 100);
}

#[test]
fn a_reply_is_refused_before_the_event_that_announces_its_model_call() {
    let driver = driver_with_plan(&json!([]));
    let (asked, before) = driver.journal.split_last().unwrap();
    assert!(matches!(asked, RunEvent::ModelAsked { .. }));
    let mut run = Run::replay(before).unwrap();
    let reply = RunEvent::of_reply(2_000, art_agent::ActionId(1), says("42"));
    assert!(matches!(run.apply(&reply), Err(ApplyError::NotMade { .. })));
    run.apply(asked).unwrap();
    assert!(matches!(run.apply(asked), Err(ApplyError::AlreadyMade { .. })));
    run.apply(&reply).unwrap();
}

#[test]
fn an_ending_has_the_same_name_in_journals_and_observations() {
    for ending in [EndingKind::Success, EndingKind::FuelExhausted, EndingKind::NotRun] {
        assert_eq!(json!(ending), json!(ending.as_str()));
    }
}

#[test]
fn an_open_call_is_found_until_it_has_ended() {
    let mut driver = driver_with_calls(&[("calculator", "1")]);
    let ready = driver.run.ready_calls().remove(0);
    let found = |driver: &Driver| driver.run.open_call(ready.action, &ready.call.call_id);
    assert_eq!(found(&driver).as_ref(), Some(&ready));
    assert_eq!(driver.run.open_call(ready.action, "another"), None);
    make_call(&mut driver, "1", stay_in_progress);
    assert_eq!(found(&driver).as_ref(), Some(&ready));
    let end = end_event(2_000, ready.action, return_stand_in_result(&ready.call).unwrap());
    driver.apply(&end);
    assert_eq!(found(&driver), None);
}

#[test]
fn next_call_returns_a_model_call_until_the_call_is_made() {
    let started = RunEvent::Started {
        at: 1_000,
        start: Box::new(start("q")),
    };
    let (mut run, _) = Run::start(&started).unwrap();
    // The digests of the requests, which the closures return, do not matter here.
    let call = run.clone().ask_models(1_000, |_| String::new()).calls.remove(0);
    assert_eq!(run.next_call(call.id).as_ref(), Some(&call));
    run.ask_models(1_000, |_| String::new());
    assert_eq!(run.next_call(call.id), None);
}
