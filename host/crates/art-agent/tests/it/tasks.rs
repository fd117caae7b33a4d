//! The tasks of requests: what a request asks for, as data beside its prompt.

use art_core::provider::ModelRequest;
use art_core::task::{PlanTask, StepOutcome, Task};
use serde_json::json;

use crate::harness::*;

/// Returns a finished run whose step `a` was completed and whose step `b` failed.
fn finished_run() -> Driver {
    let mut driver = driver_with_plan(&json!([tool_item("a", &[]), tool_item("b", &["a"])]))
        .script("a", [calculate("6 * 7"), completes_item("")])
        .script("b", [calculate("42 / 2"), fails_item("it is odd")])
        .script("answer", [says("42")]);
    driver.drive();
    driver
}

/// Returns the task of the `n`th request of a step, from 0.
fn task<'a>(driver: &'a Driver, step: &str, n: usize) -> &'a Task {
    driver.request(step, n).task.as_deref().unwrap()
}

#[test]
fn a_planning_request_has_a_task_with_the_question_and_the_tools() {
    let driver = finished_run();
    let expected = PlanTask {
        query: driver.run.started_with().props.query.clone(),
        tools: driver.run.started_with().tools.clone(),
        ..PlanTask::default()
    };
    assert_eq!(task(&driver, "plan", 0), &Task::Plan(expected));
}

#[test]
fn a_request_for_a_step_has_no_task() {
    assert_eq!(finished_run().request("b", 0).task, None);
}

#[test]
fn a_synthesis_request_has_a_task_with_the_outcome_of_each_step() {
    let driver = finished_run();
    let Task::Answer(answer) = task(&driver, "answer", 0) else {
        panic!("no task to answer")
    };
    assert!(matches!(answer.steps[0].outcome, StepOutcome::Completed { .. }));
    assert_eq!(answer.steps[1].outcome, StepOutcome::Failed("it is odd".to_owned()));
    assert_eq!(answer.plan, "The plan.");
}

#[test]
fn a_synthesis_task_has_the_result_of_each_call_of_a_step_in_the_order_of_the_plan() {
    let call = |expression: &str| json!({"toolName": "calculator", "arguments": {"expression": expression}});
    let calls = [BIG_OUTPUT, "1", DRAWS].map(call);
    let mut driver = driver_with_plan(&json!([{"id": "a", "description": "do all", "toolCalls": calls}]))
        .script("answer", [says("ok")]);
    driver.drive();
    let Task::Answer(answer) = task(&driver, "answer", 0) else {
        panic!("no task to answer")
    };
    let StepOutcome::Completed { results, .. } = &answer.steps[0].outcome else {
        panic!("not completed")
    };
    // The output of `DRAWS` is for display, so the task says only that it was displayed.
    let expected = [
        json!("x".repeat(10_000)),
        json!({"result": 42}),
        json!({"displayed": true}),
    ];
    assert_eq!(results[..], expected);
}

#[test]
fn the_task_of_a_request_is_not_serialised() {
    let driver = finished_run();
    let request = &driver.requests[0].request;
    let wire = serde_json::to_value(request).unwrap();
    assert_eq!(wire.get("task"), None);
    let read: ModelRequest = serde_json::from_value(wire).unwrap();
    assert_eq!(read.task, None);
}
