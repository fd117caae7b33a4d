//! Runs with a raw answer: the person wants the output of the only call, as it is, in place of an answer that the model writes.
//! If no output can be the answer, for example because the plan has two calls, the run is answered as usual: the model writes the
//! answer.

use art_agent::{Effect, RunReport};
use art_core::agent::RunStatus;
use serde_json::{Value, json};

use crate::harness::*;

/// Returns a planned call of the calculator.
fn call(expression: &str) -> Value {
    json!({"toolName": "calculator", "arguments": {"expression": expression}})
}

/// Returns a step with these planned calls.
fn step(id: &str, calls: &[Value]) -> Value {
    json!({"id": id, "description": format!("do {id}"), "toolCalls": calls})
}

/// Returns a driver of a run with the plan `items`. The person wants a raw answer.
fn raw_run(items: &Value) -> Driver {
    let mut start = start("q");
    start.props.raw = true;
    Driver::new(start).script("plan", [plan(items)])
}

fn run_to_end(mut driver: Driver) -> (RunReport, Driver) {
    let report = driver.drive();
    (report, driver)
}

/// Returns the report of a run in which the model writes the answer although the person wants the output.
fn report_with_written_answer(items: &Value) -> RunReport {
    let (report, _) = run_to_end(raw_run(items).script("answer", [says("It is 42.")]));
    assert_eq!(content(&report), "It is 42.");
    assert!(!report.raw);
    report
}

#[test]
fn the_output_of_the_only_call_is_the_answer_and_no_model_writes_one() {
    let (report, driver) = run_to_end(raw_run(&json!([step("a", &[call("1")])])));
    assert_eq!(content(&report), r#"{"result":42}"#);
    assert_eq!((status(&report), report.raw), (RunStatus::Success, true));
    assert_eq!(report.response.metadata.llm_calls, 1);
    let added = driver
        .effects
        .iter()
        .any(|effect| matches!(effect, Effect::AddMessage(message) if message.content == r#"{"result":42}"#));
    assert!(added, "the answer is not in the conversation");
}

#[test]
fn a_text_output_is_the_answer_without_quotes_and_is_cut_in_the_conversation() {
    let (report, driver) = run_to_end(raw_run(&json!([step("a", &[call(HUGE_OUTPUT)])])));
    assert_eq!(content(&report), "x".repeat(20_000));
    let added = driver.effects.iter().rev().find_map(|effect| match effect {
        Effect::AddMessage(message) => Some(&message.content),
        _ => None,
    });
    // The conversation has at most 10,000 characters of the output, and a note that it was cut.
    assert!(added.unwrap().len() < 11_000, "the conversation has the whole output");
}

#[test]
fn the_output_of_the_only_call_is_the_answer_even_if_a_model_made_the_call() {
    let (report, _) =
        run_to_end(raw_run(&json!([tool_item("a", &[])])).script("a", [calculate("1"), completes_item("42")]));
    assert_eq!((content(&report), report.raw), (r#"{"result":42}"#, true));
}

#[test]
fn a_plan_with_two_calls_or_none_is_answered_as_usual() {
    report_with_written_answer(&json!([step("a", &[call("1")]), step("b", &[call("2")])]));
    report_with_written_answer(&json!([step("a", &[call("1"), call("2")])]));
    report_with_written_answer(&json!([]));
}

// An output for display is drawn for the person. The output of this run contains `DRAWN_TEXT`.
#[test]
fn a_run_whose_only_output_is_for_display_is_answered_as_usual() {
    let report = report_with_written_answer(&json!([step("a", &[call(DRAWS)])]));
    assert!(!content(&report).contains(DRAWN_TEXT));
}

#[test]
fn a_run_with_a_failed_step_is_answered_as_usual() {
    let items = json!([step("a", &[call(FAILS)])]);
    let driver = raw_run(&items)
        .script("a", [fails_item("no abacus")])
        .script("answer", [says("It failed.")]);
    let (report, _) = run_to_end(driver);
    assert_eq!((content(&report), status(&report)), ("It failed.", RunStatus::Partial));
}

#[test]
fn the_output_replaces_the_answer_of_a_planner_that_called_the_tool_itself() {
    let mut start = start("q");
    start.props.raw = true;
    start.native_tools = true;
    let replies = [
        native_call("x", "calculator", r#"{"expression":"1"}"#),
        says("It is 42."),
    ];
    let (report, _) = run_to_end(Driver::new(start).script("plan", replies));
    assert_eq!((content(&report), report.raw), (r#"{"result":42}"#, true));
}

#[test]
fn the_journal_says_whether_a_raw_answer_is_wanted() {
    let driver = raw_run(&json!([]));
    let started = serde_json::to_value(&driver.journal[0]).unwrap();
    assert_eq!(started["start"]["props"]["raw"], true);
    let usual = Driver::new(start("q"));
    let started = serde_json::to_value(&usual.journal[0]).unwrap();
    assert_eq!(started["start"]["props"].get("raw"), None);
}
