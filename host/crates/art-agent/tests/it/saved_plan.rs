//! Runs of saved plans. A saved plan was stored without its results and is run again, so no model is asked for a plan. It may
//! have parameters, whose values are given for each run.

use art_agent::{PlanToRun, RunStart, SavedPlan};
use art_core::agent::{QueryAttachment, RunStatus};
use art_core::error::ErrorCode;
use art_core::pes::TodoItemStatus;
use serde_json::{Value, json};

use crate::harness::*;

/// Returns a plan with the parameter `sum` and one step, `a`, that calls the calculator with `expression`.
fn saved_plan(expression: &Value) -> SavedPlan {
    let call = json!({"toolName": "calculator", "arguments": {"expression": expression}});
    let plan = json!({
        "version": 1,
        "question": "What is 6 times 7?",
        "intent": "Multiply",
        "steps": [{"id": "a", "description": "multiply", "toolCalls": [call]}],
        "params": {"sum": {"type": "string"}},
    });
    SavedPlan::parse(&plan.to_string()).unwrap()
}

/// Returns the start of a run of `plan` with these values of its parameters.
fn start_with_plan(plan: SavedPlan, values: &Value) -> RunStart {
    let values = values.as_object().unwrap().clone();
    RunStart {
        plan: Some(Box::new(PlanToRun { plan, values })),
        ..start("What is 6 times 7?")
    }
}

#[test]
fn a_saved_plan_runs_with_one_model_call_for_the_answer() {
    let mut driver = Driver::new(start_with_plan(saved_plan(&json!("6 * 7")), &json!({"sum": "1 + 1"})))
        .script("answer", [says("42")]);
    let report = driver.drive();
    let metadata = &report.response.metadata;
    assert_eq!(
        (metadata.status, metadata.llm_calls, metadata.tool_calls),
        (RunStatus::Success, 1, 1)
    );
    assert_eq!(driver.saved_state().intent, "Multiply");
}

#[test]
fn a_call_is_made_with_the_value_of_its_parameter() {
    let start = start_with_plan(saved_plan(&json!({"$param": "sum"})), &json!({"sum": "1 + 1"}));
    let mut driver = Driver::new(start).script("answer", [says("2")]);
    driver.drive();
    assert_eq!(driver.tool_calls_made[0].arguments, json!({"expression": "1 + 1"}));
}

/// Runs a plan that is refused, and returns the error. Neither a model nor a tool may be called.
fn refusal(start: RunStart) -> String {
    let report = Driver::new(start).drive();
    let metadata = &report.response.metadata;
    let error = metadata.error.as_ref().unwrap();
    assert_eq!(
        (metadata.llm_calls, metadata.tool_calls, error.code),
        (0, 0, ErrorCode::PlanningFailed)
    );
    error.message.clone()
}

#[test]
fn a_saved_plan_with_faults_ends_the_run_before_anything_is_called() {
    insta::assert_snapshot!(refusal(start_with_plan(saved_plan(&json!(42)), &json!({"sum": "1 + 1"}))), @"planning failed: the saved plan cannot be carried out: `a.arguments.expression`: a string is asked for, `42` is given");
}

#[test]
fn a_saved_plan_with_more_steps_than_the_limit_ends_the_run_before_anything_is_called() {
    let mut start = start_with_plan(saved_plan(&json!("1")), &json!({"sum": "1"}));
    start.config.max_items = 0;
    let refused = refusal(start);
    assert!(
        refused.contains("the plan has too many open steps: 1, and the run may start only 0"),
        "{refused}"
    );
}

#[test]
fn a_saved_plan_is_not_run_if_a_parameter_has_no_value() {
    let refused = refusal(start_with_plan(saved_plan(&json!({"$param": "sum"})), &json!({})));
    assert!(refused.contains("`sum`"), "{refused}");
}

#[test]
fn a_tool_that_is_gone_or_disabled_ends_the_run_before_anything_is_called() {
    let mut start = start_with_plan(saved_plan(&json!("1")), &json!({"sum": "1 + 1"}));
    start.tools.clear();
    assert!(refusal(start.clone()).contains("there is no tool `calculator`"));
    start.disabled_tools = vec!["calculator".to_owned()];
    assert!(refusal(start).contains("the tool `calculator` is disabled"));
}

#[test]
fn a_second_run_of_a_saved_plan_in_the_same_thread_calls_its_tools_again() {
    let mut first =
        Driver::new(start_with_plan(saved_plan(&json!("1")), &json!({"sum": "1 + 1"}))).script("answer", [says("42")]);
    first.drive();
    let second = RunStart {
        prior: Some(first.saved_state().clone()),
        ..start_with_plan(saved_plan(&json!("1")), &json!({"sum": "1 + 1"}))
    };
    let mut second = Driver::new(second).script("answer", [says("42")]);
    assert_eq!(second.drive().response.metadata.tool_calls, 1);
    assert_eq!(second.statuses(), [("a", TodoItemStatus::Completed)]);
}

// The text `attachment:sum.txt` in the arguments stands for the content of the file.
#[test]
fn the_plan_of_a_run_can_be_saved_and_run_again() {
    let call = json!({"toolName": "calculator", "arguments": {"expression": "attachment:sum.txt"}});
    let items = json!([{"id": "a", "description": "multiply", "toolCalls": [call]}]);
    let mut start = start("What is 6 times 7?");
    start.props.attachments = vec![QueryAttachment {
        name: "sum.txt".to_owned(),
        media_type: "text/plain".to_owned(),
        text: "6 * 7".to_owned(),
        base64: None,
        keep: false,
    }];
    let mut planned = Driver::new(start.clone()).script("plan", [plan(&items)]);
    planned.answer_all();
    let saved = planned.run.saved_plan();
    assert_eq!(
        (saved.files.as_slice(), saved.title.as_str()),
        (&["sum.txt".to_owned()][..], "Title")
    );
    start.plan = Some(Box::new(PlanToRun {
        plan: saved,
        ..PlanToRun::default()
    }));
    let mut again = Driver::new(start).script("answer", [says("42")]);
    again.drive();
    assert_eq!(again.tool_calls_made[0].arguments, json!({"expression": "6 * 7"}));
}

#[test]
fn a_planner_may_not_use_parameters() {
    let items = |expression: Value| {
        let call = json!({"toolName": "calculator", "arguments": {"expression": expression}});
        json!([{"id": "a", "description": "d", "toolCalls": [call]}])
    };
    let mut driver = driver_with_plan(&items(json!({"$param": "sum"})))
        .script("plan", [plan(&items(json!("1")))])
        .script("answer", [says("ok")]);
    driver.drive();
    let message = driver.last_message("plan", 1);
    assert!(
        message.contains("`a.arguments.expression`: the plan declares no parameter `sum`"),
        "{message}"
    );
}
