//! Runs that end without an answer, events that a run refuses, and the tool results that remain when a run stops early.

use art_agent::{ActionId, ApplyError, RunEvent};
use art_core::agent::RunStatus;
use art_core::error::ErrorCode;
use art_core::pes::TodoItemStatus::{Completed, Failed, Pending};
use art_core::stream::{ModelReply, PartialReply};
use serde_json::json;

use crate::harness::*;

/// Returns a driver whose plan has two items, of which `b` depends on `a`, and whose script completes `a`.
fn driver_with_two_items() -> Driver {
    driver_with_plan(&json!([tool_item("a", &[]), tool_item("b", &["a"])]))
        .script("a", [calculate("1"), completes_item("1")])
}

/// Returns a driver whose only open action is the tool call of the item `a`.
fn driver_with_open_tool_call() -> Driver {
    let mut driver = driver_with_two_items();
    // The planner gives the plan, and then the model requests the call.
    driver.answer_all();
    driver.answer_all();
    driver
}

#[test]
fn a_request_for_a_subtask_ends_the_run_with_an_error() {
    let mut driver = driver_with_two_items().script("b", [calculate(REQUESTS_SUBTASK)]);
    let report = driver.drive();
    assert_eq!(status(&report), RunStatus::Error);
    assert_eq!(
        report.response.metadata.error.as_ref().unwrap().code,
        ErrorCode::NotImplemented
    );
    assert!(content(&report).contains("not yet supported: a subtask cannot be run yet"));
    assert_eq!(driver.statuses(), [("a", Completed), ("b", Failed)]);
}

#[test]
fn a_cancelled_run_has_no_open_actions_and_keeps_its_results() {
    let mut driver = driver_with_two_items();
    while driver.run.state().step_outputs.is_empty() {
        driver.answer_all();
    }
    driver.cancel();
    let report = driver.run.finished().unwrap().clone();
    assert_eq!(status(&report), RunStatus::Cancelled);
    assert_eq!(driver.statuses(), [("a", Completed), ("b", Pending)]);
    assert_eq!(driver.open_actions(), []);
    assert!(content(&report).contains("- do a: 1"));
}

// When a run stops early, the results so far are kept with their items (contract P66).
#[test]
fn a_cancelled_run_keeps_the_tool_results_of_a_step_in_progress() {
    let mut driver = driver_with_plan(&json!([tool_item("a", &[])])).script("a", [calculate("1")]);
    while driver.tool_calls_made.is_empty() {
        driver.answer_all();
    }
    driver.cancel();
    // The cancellation sets the step back from in progress to pending.
    assert_eq!(driver.statuses(), [("a", Pending)]);
    for item in [driver.item("a"), &driver.saved_state().todo_list[0]] {
        assert_eq!(item.tool_results[0].output, Some(json!({"result": 42}).into()));
        assert_eq!(item.actual_tool_calls.len(), 1);
    }
}

#[test]
fn a_reply_after_the_end_of_the_run_is_refused() {
    let mut driver = driver_with_two_items();
    let action = driver.first_open_action();
    driver.cancel();
    let late = RunEvent::ModelReplied {
        at: 2_000,
        action,
        reply: ModelReply::default(),
    };
    assert_eq!(driver.run.apply(&late), Err(ApplyError::Finished));
}

#[test]
fn an_action_cannot_be_answered_twice() {
    let mut driver = driver_with_two_items();
    let action = driver.first_open_action();
    driver.answer_all();
    let again = RunEvent::ModelReplied {
        at: 2_000,
        action,
        reply: ModelReply::default(),
    };
    assert_eq!(driver.run.apply(&again), Err(ApplyError::ActionNotOpen { action }));
}

// A batch is the tool calls of one reply or the planned calls of one item. The event `ToolsReturned` has the results of all calls
// of a batch. Only journals of version 1 contain this event.
#[test]
fn an_event_that_lacks_the_result_of_a_call_of_its_batch_is_refused() {
    let mut driver = driver_with_open_tool_call();
    let before = driver.run.clone();
    let action = driver.first_open_action();
    let event = RunEvent::ToolsReturned {
        at: 2_000,
        action,
        results: Vec::new(),
        usage: Default::default(),
    };
    let error = driver.run.apply(&event).unwrap_err();
    assert!(matches!(error, ApplyError::ResultsDoNotMatch { fault: "missing", .. }));
    assert_eq!(driver.run, before);
}

#[test]
fn a_model_reply_to_a_batch_of_tool_calls_is_refused() {
    let mut driver = driver_with_open_tool_call();
    let action = driver.first_open_action();
    let event = RunEvent::ModelReplied {
        at: 2_000,
        action,
        reply: ModelReply::default(),
    };
    assert_eq!(
        driver.run.apply(&event).unwrap_err().to_string(),
        format!("action `{action}` waits for the results of tool calls")
    );
}

#[test]
fn an_unknown_action_is_refused() {
    let mut driver = driver_with_two_items();
    let action = ActionId(99);
    let event = RunEvent::ModelFailed {
        at: 2_000,
        action,
        error: times_out().unwrap_err(),
        received: PartialReply::default(),
    };
    assert_eq!(driver.run.apply(&event), Err(ApplyError::ActionNotOpen { action }));
}

#[test]
fn a_step_that_is_in_progress_at_the_cancellation_is_listed_as_not_finished() {
    let mut driver = driver_with_two_items();
    driver.answer_all();
    driver.cancel();
    let text = &driver.run.finished().unwrap().response.response.content;
    assert!(
        text.contains("- do a: not done: it was begun and not finished"),
        "{text}"
    );
}
