//! Tools that ask the model for help, and failures that have an output. The model is told about both (contract A84).

use art_core::agent::RunStatus;
use art_core::pes::TodoItemStatus;
use serde_json::json;

use crate::harness::*;

fn driver_with_one_tool_item() -> Driver {
    driver_with_plan(&json!([tool_item("a", &[])])).script("answer", [says("The answer.")])
}

#[test]
fn a_request_for_help_is_the_result_of_its_call_and_the_run_continues() {
    let mut driver = driver_with_one_tool_item().script(
        "a",
        [calculate(REQUESTS_HELP), calculate("6 * 7"), completes_item("42")],
    );
    let report = driver.drive();
    assert_eq!(
        driver.last_message("a", 1),
        "{\"action\":\"LLM_ASSIST_REQUIRED\",\"prompt\":\"Shorten this.\"}"
    );
    assert_eq!(report.items[0].result, Some(json!("42").into()));
    assert_eq!(status(&report), RunStatus::Success);
}

#[test]
fn a_failure_that_requests_help_reaches_the_model_with_its_output() {
    let mut driver = driver_with_one_tool_item().script(
        "a",
        [
            calculate(FAILS_REQUESTING_HELP),
            calculate("6 * 7"),
            completes_item("42"),
        ],
    );
    let report = driver.drive();
    assert_eq!(
        driver.last_message("a", 1),
        "{\"error\":\"shorten this\",\"code\":\"LLM_ASSIST_REQUIRED\",\"output\":{\"prompt\":\"Shorten this.\"}}"
    );
    assert_eq!(status(&report), RunStatus::Success);
}

#[test]
fn a_step_whose_required_tool_only_failed_with_requests_for_help_has_an_error() {
    let mut driver =
        driver_with_one_tool_item().script("a", [calculate(FAILS_REQUESTING_HELP), completes_item("about 40")]);
    let report = driver.drive();
    assert_eq!(
        report.items[0].error.as_deref(),
        Some("its required tool `calculator` only failed: shorten this")
    );
    assert_eq!(status(&report), RunStatus::Partial);
}

#[test]
fn the_output_of_a_failure_is_not_the_result_of_its_step() {
    let mut driver = driver_with_one_tool_item().script("a", [calculate(FAILS_REQUESTING_HELP), completes_item("")]);
    let item = &driver.drive().items[0];
    assert_eq!((item.status, &item.result), (TodoItemStatus::Failed, &None));
    assert_eq!(item.error.as_deref(), Some("`calculator` failed: shorten this"));
}

#[test]
fn the_output_of_a_failure_is_cut_in_the_message_to_the_model() {
    let mut start = start("q");
    let max_chars = 12;
    start.config.tool_result_max_length = max_chars;
    let mut driver = Driver::new(start)
        .script("plan", [plan(&json!([tool_item("a", &[])]))])
        .script("a", [calculate(FAILS_REQUESTING_HELP), completes_item("42")])
        .script("answer", [says("ok")]);
    driver.drive();
    let message = driver.last_message("a", 1);
    assert!(
        message.ends_with("\"output\":\"{\\\"prompt\\\":\\\"S... [truncated 14 of 26 characters]\"}"),
        "{message}"
    );
}

#[test]
fn the_model_is_told_only_the_error_of_a_failed_call_whose_output_is_for_display() {
    let mut driver = Driver::new(start("q"))
        .script(
            "plan",
            [plan(&json!([tool_item("a", &[]), reasoning_item("b", &["a"])]))],
        )
        .script("a", [calculate(FAILS_DRAWING), completes_item("not shown")])
        .script("b", [completes_item("x")])
        .script("answer", [says("ok")]);
    driver.drive();
    // The error is `shorten this`, and the output contains `Shorten this.`
    for message in [driver.last_message("a", 1), driver.last_message("b", 0)] {
        assert!(message.contains("shorten this"), "{message}");
        assert!(
            !message.contains("displayed") && !message.contains("Shorten this."),
            "{message}"
        );
    }
}
