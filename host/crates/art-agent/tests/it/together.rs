//! Runs with `ask_together`: before the first step of a plan starts, a person is asked about several calls together. These are
//! all calls that need an approval and whose arguments are known.

use art_agent::{ApplyError, KnownCall, PlannedCallQuestion, RunEvent};
use art_core::agent::RunStatus;
use art_core::hitl::Feedback;
use art_core::observation::ObservationType as Kind;
use art_core::pes::TodoItemStatus::{Completed, Pending};
use art_core::suspension::{SuspendedCall, SuspensionCause};
use serde_json::{Value, json};

use crate::harness::*;

/// Returns an item with one planned call of the calculator.
fn item_with_call(id: &str, dependencies: &[&str], expression: impl Into<Value>) -> Value {
    json!({"id": id, "description": format!("do {id}"), "dependencies": dependencies, "toolCalls": [
        {"toolName": "calculator", "arguments": {"expression": expression.into()}},
    ]})
}

/// Returns a run with this plan. It is not checked yet which of the calls need an approval.
fn unchecked_run(items: &Value) -> Driver {
    let mut start = start("q");
    start.ask_together = true;
    let mut driver = Driver::new(start).script("plan", [plan(items)]);
    driver.answer_all();
    driver
}

/// Returns a run with a plan of three steps. The step `b` depends on `a`, and the arguments of `c` are not known before `a` ends.
fn unchecked_run_of_three_steps() -> Driver {
    unchecked_run(&json!([
        item_with_call("a", &[], "1"),
        item_with_call("b", &["a"], "2"),
        item_with_call("c", &[], json!({"$from": "a", "path": "/result"})),
    ]))
}

/// Returns the question whether a call with known arguments may be made. The call is suspended until the answer. The identifier
/// of this suspension is `s-` followed by that of the item.
fn question_about(known: &KnownCall) -> PlannedCallQuestion {
    let suspension = SuspendedCall {
        suspension_id: format!("s-{}", known.item_id),
        cause: SuspensionCause::Rule {
            reason: "a rule".to_owned(),
        },
        runs_on_approval: true,
        ..suspension_by_tool("s", &stand_in_result(&known.call))
    };
    PlannedCallQuestion {
        item_id: known.item_id.clone(),
        index: known.index,
        suspension: Box::new(suspension),
    }
}

/// Returns the event that the plan was checked, with questions about the calls of these items.
fn plan_checked_event(driver: &Driver, items: &[&str]) -> RunEvent {
    let known = driver.run.calls_to_check();
    let chosen = known.iter().filter(|known| items.contains(&known.item_id.as_str()));
    RunEvent::PlanChecked {
        at: 2_000,
        questions: chosen.map(question_about).collect(),
    }
}

/// Applies the event that the plan was checked, with questions about the calls of these items.
fn check_plan_and_ask_about(driver: &mut Driver, items: &[&str]) {
    let event = plan_checked_event(driver, items);
    driver.apply(&event);
}

#[test]
fn no_step_starts_before_the_known_calls_are_checked() {
    let driver = unchecked_run_of_three_steps();
    let calls = driver.run.calls_to_check();
    let known: Vec<_> = calls
        .iter()
        .map(|known| (known.item_id.as_str(), known.index, &known.call.arguments))
        .collect();
    let (arguments_of_a, arguments_of_b) = (json!({"expression": "1"}), json!({"expression": "2"}));
    assert_eq!(known, [("a", 0, &arguments_of_a), ("b", 0, &arguments_of_b)]);
    assert_eq!(driver.run.ready_calls(), []);
    assert!(!driver.run.waits_for_decision(), "first the driver checks the calls");
}

#[test]
fn without_ask_together_no_call_is_checked() {
    let mut driver = driver_with_plan(&json!([item_with_call("a", &[], "1")]));
    driver.answer_all();
    assert_eq!(driver.run.calls_to_check(), []);
    assert_eq!(driver.run.ready_calls().len(), 1);
}

#[test]
fn a_plan_without_questions_runs() {
    let mut driver = unchecked_run_of_three_steps().script("answer", [says("ok")]);
    check_plan_and_ask_about(&mut driver, &[]);
    assert_eq!(driver.drive().response.metadata.status, RunStatus::Success);
    assert_eq!(driver.tool_calls_made.len(), 3);
}

#[test]
fn the_run_waits_for_all_decisions_together_and_no_step_starts_before_the_last() {
    let mut driver = unchecked_run_of_three_steps().script("answer", [says("ok")]);
    check_plan_and_ask_about(&mut driver, &["a", "b"]);
    let report = driver.run.waiting_report().unwrap();
    assert_eq!(report.ui_metadata.unwrap()["suspensionIds"], json!(["s-a", "s-b"]));
    assert_eq!(driver.statuses(), [("a", Pending), ("b", Pending), ("c", Pending)]);
    assert_eq!(driver.observations(Kind::AgentSuspended).len(), 2);
    driver.apply(&decision_event("s-b", approval()));
    assert!(driver.run.waits_for_decision());
    assert_eq!(driver.tool_calls_made, []);
    driver.apply(&decision_event("s-a", approval()));
    assert!(!driver.saved_state().is_paused);
    let ready = driver.run.ready_calls().remove(0);
    let approval = ready.approval.unwrap();
    assert_eq!(approval.suspension.suspension_id, "s-a");
    assert_eq!(approval.suspension.call.call_id, ready.call.call_id);
    driver.drive();
    assert_eq!(
        driver.statuses(),
        [("a", Completed), ("b", Completed), ("c", Completed)]
    );
    assert_eq!(driver.tool_calls_made.len(), 3);
}

#[test]
fn a_rejected_call_is_not_made_and_its_step_is_left_to_the_model() {
    let mut driver = unchecked_run_of_three_steps()
        .script("b", [completes_item("done without it")])
        .script("answer", [says("ok")]);
    check_plan_and_ask_about(&mut driver, &["a", "b"]);
    driver.apply(&decision_event("s-b", rejection("too risky")));
    driver.apply(&decision_event("s-a", approval()));
    driver.drive();
    let made: Vec<_> = driver
        .tool_calls_made
        .iter()
        .map(|call| &call.arguments["expression"])
        .collect();
    assert_eq!(made, [&json!("1"), &json!(42)]);
    let mentions_reason = driver
        .messages("b", 0)
        .iter()
        .any(|message| message.content_text().contains("too risky"));
    assert!(mentions_reason);
}

#[test]
fn the_only_call_of_a_plan_can_be_rejected() {
    let mut driver = unchecked_run(&json!([item_with_call("a", &[], "1")]))
        .script("a", [completes_item("without")])
        .script("answer", [says("ok")]);
    check_plan_and_ask_about(&mut driver, &["a"]);
    driver.apply(&decision_event("s-a", rejection("no")));
    driver.drive();
    assert_eq!(driver.tool_calls_made, []);
}

#[test]
fn a_call_runs_with_the_arguments_that_the_person_changed() {
    let mut driver = unchecked_run(&json!([item_with_call("a", &[], "1")])).script("answer", [says("ok")]);
    check_plan_and_ask_about(&mut driver, &["a"]);
    let changed = Feedback {
        modified_args: Some(json!({"expression": "3"})),
        ..approval()
    };
    driver.apply(&decision_event("s-a", changed));
    driver.drive();
    assert_eq!(driver.tool_calls_made[0].arguments, json!({"expression": "3"}));
}

#[test]
fn questions_and_decisions_that_do_not_fit_the_plan_are_refused() {
    let mut driver = unchecked_run_of_three_steps();
    let RunEvent::PlanChecked { at, questions } = plan_checked_event(&driver, &["a", "b"]) else {
        unreachable!()
    };
    let twice = vec![questions[0].clone(), questions[0].clone()];
    let mut of_another_item = questions.clone();
    of_another_item[0].item_id = "c".to_owned();
    for questions in [twice, of_another_item] {
        let refused = driver.run.apply(&RunEvent::PlanChecked { at, questions });
        assert_eq!(refused, Err(ApplyError::PlanQuestionsDoNotMatch));
    }
    let event = RunEvent::PlanChecked { at, questions };
    driver.apply(&event);
    assert_eq!(
        driver.run.apply(&event),
        Err(ApplyError::PlanQuestionsDoNotMatch),
        "checked twice"
    );
    let unknown = driver.run.apply(&decision_event("x", approval()));
    assert!(matches!(unknown, Err(ApplyError::NotSuspended { .. })));
    driver.apply(&decision_event("s-a", approval()));
    let repeated = driver.run.apply(&decision_event("s-a", rejection("no")));
    assert!(matches!(repeated, Err(ApplyError::NotSuspended { .. })));
}

#[test]
fn a_run_that_waits_for_decisions_about_its_plan_can_be_cancelled() {
    let mut driver = unchecked_run_of_three_steps();
    check_plan_and_ask_about(&mut driver, &["a"]);
    driver.apply(&RunEvent::CancelRequested {
        at: 3_000,
        interrupted: Vec::new(),
    });
    let report = driver.run.finished().unwrap();
    assert_eq!(report.response.metadata.status, RunStatus::Cancelled);
    assert_eq!(driver.tool_calls_made, []);
}
