//! Direct calls: runs of one tool call that a person makes, without a model.

use art_agent::{CallToMake, Effect, RunStart};
use art_core::agent::RunStatus;
use art_core::error::{ErrorCode, ToolErrorCode};
use art_core::tool::ToolResult;
use serde_json::{Value, json};

use crate::harness::*;

/// Returns the driver of a run of one call. It has no script, so a request to a model panics.
fn driver_of_call(tool: &str, arguments: Value) -> Driver {
    let call = CallToMake {
        tool_name: tool.to_owned(),
        arguments,
    };
    let start = start("direct call");
    Driver::new(RunStart {
        tools: start.tools,
        ..RunStart::of_call(start.props, call)
    })
}

fn driver_of_calculation(expression: &str) -> Driver {
    driver_of_call("calculator", json!({"expression": expression}))
}

#[test]
fn the_output_of_a_direct_call_is_the_answer_and_no_model_is_asked() {
    let mut driver = driver_of_calculation("1");
    let report = driver.drive();
    assert_eq!(
        (content(&report), status(&report)),
        (r#"{"result":42}"#, RunStatus::Success)
    );
    let metadata = &report.response.metadata;
    // A raw answer is the output of a tool as it is.
    assert_eq!((metadata.llm_calls, metadata.tool_calls, report.raw), (0, 1, true));
    assert_eq!(driver.requests.len(), 0);
}

#[test]
fn the_arguments_of_a_direct_call_are_passed_to_the_tool_unchanged() {
    let arguments = [
        json!({"a": {"$from": "call"}, "b": {"$literal": 1}, "c": {"$param": "x"}, "d": {"$attachment": "x"}}),
        json!({"$literal": {"expression": "1"}}),
        json!({"expression": "attachment:x.csv"}),
        json!({"expression": {"$concat": ["a", 1]}}),
        json!(["not", "an object"]),
        Value::Null,
    ];
    for arguments in arguments {
        let mut driver = driver_of_call("calculator", arguments.clone());
        driver.drive();
        assert_eq!(driver.tool_calls_made[0].arguments, arguments);
    }
}

#[test]
fn a_direct_call_that_fails_ends_the_run_with_its_error_and_no_model_takes_over() {
    for (expression, reason) in [(FAILS, "the abacus is broken"), (IS_REFUSED, "not valid")] {
        let mut driver = driver_of_calculation(expression);
        let report = driver.drive();
        let error = report.response.metadata.error.clone().unwrap();
        assert_eq!(
            (status(&report), error.code),
            (RunStatus::Error, ErrorCode::ToolExecutionFailed)
        );
        assert!(
            error.message.contains(reason) && content(&report).contains(reason),
            "{error:?}"
        );
        assert_eq!((driver.requests.len(), driver.tool_calls_made.len()), (0, 1));
    }
}

#[test]
fn a_direct_call_that_waits_for_a_person_suspends_the_run() {
    assert_eq!(
        status(&driver_of_calculation(ASKS_PERSON).drive_to_decision()),
        RunStatus::Suspended
    );
}

#[test]
fn a_direct_call_that_was_cancelled_cancels_the_run() {
    let mut driver = driver_of_calculation("1");
    let call = driver.run.ready_calls().remove(0);
    driver.apply(&call_event(2_000, call.action, &call.call));
    let result = ToolResult::error(&call.call, ToolErrorCode::Cancelled, "the call was cancelled");
    driver.apply(&end_event(2_000, call.action, result));
    assert_eq!(status(driver.run.finished().unwrap()), RunStatus::Cancelled);
}

#[test]
fn the_output_of_a_direct_call_of_a_display_tool_is_in_no_message() {
    let mut driver = driver_of_calculation(DRAWS);
    let report = driver.drive();
    assert_eq!(
        (status(&report), content(&report)),
        (RunStatus::Success, "`calculator` has drawn its output.")
    );
    let messages = driver
        .effects
        .iter()
        .filter(|effect| matches!(effect, Effect::AddMessage(_)));
    assert!(!format!("{:?}", messages.collect::<Vec<_>>()).contains(DRAWN_TEXT));
}
