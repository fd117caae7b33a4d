//! Reminders for steps that did not call their required tools. TAEF stands for tool-aware execution framework. A strict step,
//! which is the default, gets reminders. An advisory step does not. When a step ends, its validation has passed if all its
//! required tools were called.

use art_core::agent::RunStatus;
use art_core::pes::{TodoItemStatus, ValidationStatus};
use serde_json::{Value, json};

use crate::harness::*;

/// Returns a driver of a plan with only `item`, which has the id `a` and whose model gives `replies`.
fn driver_with_item(item: &Value, replies: impl IntoIterator<Item = Reply>) -> Driver {
    driver_with_plan(&json!([item]))
        .script("a", replies)
        .script("answer", [says("ok")])
}

/// Returns the number of reminders in the last request of the step.
fn count_reminders(driver: &Driver) -> usize {
    let last = driver.requests.iter().rfind(|request| request.step == "a").unwrap();
    let texts = last
        .request
        .prompt
        .0
        .iter()
        .map(|message| message.content_text().to_owned());
    texts.filter(|text| text.starts_with("VALIDATION FAILED")).count()
}

// A strict step is reminded of its tools a set number of times (contract A32).
#[test]
fn a_strict_step_that_never_calls_its_tool_is_completed_after_two_reminders() {
    let mut driver = driver_with_item(
        &tool_item("a", &[]),
        [completes_item("40"), completes_item("41"), completes_item("about 42")],
    );
    let report = driver.drive();
    assert_eq!(count_reminders(&driver), 2);
    assert_eq!(report.items[0].status, TodoItemStatus::Completed);
    assert_eq!(report.items[0].validation_status, Some(ValidationStatus::Failed));
    assert_eq!(
        report.items[0].error.as_deref(),
        Some("its required tool `calculator` was never called")
    );
    assert_eq!(status(&report), RunStatus::Partial);
}

#[test]
fn a_reminder_names_the_tool_and_the_form_of_a_call() {
    let mut driver = driver_with_item(
        &tool_item("a", &[]),
        [completes_item("40"), calculate("6 * 7"), completes_item("42")],
    );
    driver.drive();
    let reminder = driver.last_message("a", 1);
    assert!(reminder.contains("[\"calculator\"]"), "{reminder}");
    assert!(
        reminder.ends_with("{\"toolCalls\":[{\"toolName\":\"calculator\",\"arguments\":{}}]}"),
        "{reminder}"
    );
}

#[test]
fn the_calls_of_a_reply_that_gets_a_reminder_are_not_made() {
    let wrong = calls(&[("clock", json!({}))]);
    let mut driver = driver_with_item(&tool_item("a", &[]), [wrong, calculate("6 * 7"), completes_item("42")]);
    driver.drive();
    let names: Vec<_> = driver
        .tool_calls_made
        .iter()
        .map(|call| call.tool_name.as_str())
        .collect();
    assert_eq!(names, ["calculator"]);
}

// The validation fails if a required tool was not called (contract A31). An advisory step is never reminded (contract
// A32).
#[test]
fn an_advisory_step_is_never_reminded() {
    let mut item = tool_item("a", &[]);
    item["toolValidationMode"] = json!("advisory");
    let mut driver = driver_with_item(&item, [completes_item("42")]);
    let report = driver.drive();
    assert_eq!(count_reminders(&driver), 0);
    assert_eq!(report.items[0].validation_status, Some(ValidationStatus::Failed));
    assert_eq!(status(&report), RunStatus::Success);
}

// The validation passes if all required tools were called (contract A31).
#[test]
fn a_step_whose_required_tool_was_called_passes_the_validation() {
    let mut driver = driver_with_item(&tool_item("a", &[]), [calculate("6 * 7"), completes_item("42")]);
    let report = driver.drive();
    assert_eq!(count_reminders(&driver), 0);
    assert_eq!(report.items[0].validation_status, Some(ValidationStatus::Passed));
    assert_eq!(status(&report), RunStatus::Success);
}

#[test]
fn a_failed_call_of_a_required_tool_counts_as_made() {
    let mut driver = driver_with_item(&tool_item("a", &[]), [calculate(FAILS), completes_item("unknown")]);
    let report = driver.drive();
    assert_eq!(count_reminders(&driver), 0);
    assert_eq!(report.items[0].validation_status, Some(ValidationStatus::Passed));
}

// Calls that failed count as made, and calls that were refused do not (contract X19).
#[test]
fn a_call_that_was_refused_before_the_tool_ran_does_not_count_as_made() {
    let replies = [
        calculate(IS_REFUSED),
        completes_item("40"),
        completes_item("41"),
        completes_item("about 42"),
    ];
    let mut driver = driver_with_item(&tool_item("a", &[]), replies);
    let report = driver.drive();
    assert_eq!(count_reminders(&driver), 2);
    assert_eq!(report.items[0].validation_status, Some(ValidationStatus::Failed));
    assert_eq!(status(&report), RunStatus::Partial);
}

// Calls that failed count as made, and calls that were refused do not (contract X19).
#[test]
fn a_call_with_an_unknown_attachment_does_not_count_as_made() {
    let mut start = start("q");
    start.config.max_iterations = 1;
    let unknown =
        json!({"content": "42", "toolCalls": [{"toolName": "calculator", "arguments": {"csv": "attachment:x"}}]});
    let mut driver = Driver::new(start)
        .script("plan", [plan(&json!([tool_item("a", &[])]))])
        .script("a", [says(unknown.to_string())])
        .script("answer", [says("ok")]);
    let report = driver.drive();
    assert_eq!(driver.tool_calls_made, []);
    assert_eq!(report.items[0].validation_status, Some(ValidationStatus::Failed));
}

// If a reply of a strict step omits a required tool, the step gets a reminder, and none of the calls in this reply is made
// (contract P53). A change of the plan in this reply is used if it is valid. Otherwise the reminder lists what is wrong with it.
#[test]
fn a_reminder_includes_the_problems_of_a_plan_update() {
    let update = json!({"content": "40", "updatedPlan": {"todoList": [reasoning_item("c", &["z"])]}}).to_string();
    let mut driver = driver_with_item(
        &tool_item("a", &[]),
        [says(update), calculate("6 * 7"), completes_item("42")],
    );
    driver.drive();
    let reminder = driver.last_message("a", 1);
    assert!(reminder.starts_with("VALIDATION FAILED"), "{reminder}");
    assert!(
        reminder.contains("`updatedPlan` was not used: item `c` depends on `z`"),
        "{reminder}"
    );
}

// If a reply of a strict step omits a required tool, the step gets a reminder, and none of the calls in this reply is made
// (contract P53). A valid change of the plan in this reply is used.
#[test]
fn a_valid_plan_update_is_applied_and_not_mentioned_in_the_reminder() {
    let update = json!({"content": "40", "updatedPlan": {"todoList": [reasoning_item("c", &["a"])]}}).to_string();
    let mut driver = driver_with_item(
        &tool_item("a", &[]),
        [says(update), calculate("6 * 7"), completes_item("42")],
    )
    .script("c", [completes_item("3")]);
    driver.drive();
    let reminder = driver.last_message("a", 1);
    assert!(
        reminder.contains("None of its calls was carried out. Call"),
        "{reminder}"
    );
    assert_eq!(driver.item("c").status, TodoItemStatus::Completed);
}

// A reply that fails its step and calls no tool gets no reminder.
#[test]
fn the_error_of_a_failed_step_includes_the_problems_of_its_plan_update() {
    let reply = json!({
        "content": "no", "nextStepDecision": "fail_item", "updatedPlan": {"todoList": [reasoning_item("c", &["z"])]},
    });
    let mut driver = driver_with_item(&tool_item("a", &[]), [says(reply.to_string())]);
    let error = driver.drive().items[0].error.clone().unwrap();
    assert!(error.starts_with("no; `updatedPlan` was not used: item `c`"), "{error}");
}

// Calls in earlier replies of the step count (contract A32).
#[test]
fn a_required_tool_that_was_called_in_an_earlier_reply_needs_no_reminder() {
    let replies = [calculate("6 * 7"), calls(&[("clock", json!({}))]), completes_item("42")];
    let mut driver = driver_with_item(&tool_item("a", &[]), replies);
    let report = driver.drive();
    assert_eq!(count_reminders(&driver), 0);
    assert_eq!(report.items[0].validation_status, Some(ValidationStatus::Passed));
}

// A call counts as made when a person has decided about it (contract A32).
#[test]
fn a_required_tool_that_asked_a_person_counts_as_called_after_the_decision() {
    for (feedback, expected) in [
        (approval(), ValidationStatus::Passed),
        // A rejected call was made as well (contract X15).
        (rejection("no"), ValidationStatus::Passed),
    ] {
        let mut driver = driver_with_item(&tool_item("a", &[]), [calculate("ask"), completes_item("42")]);
        driver.drive_to_decision();
        driver.apply(&decision_event("s", feedback));
        let report = driver.drive();
        assert_eq!(count_reminders(&driver), 0);
        assert_eq!(report.items[0].validation_status, Some(expected));
    }
}

// The validation of a step without tools is skipped (contract A31).
#[test]
fn a_reasoning_step_is_not_validated() {
    let mut driver = driver_with_item(&reasoning_item("a", &[]), [completes_item("42")]);
    assert_eq!(
        driver.drive().items[0].validation_status,
        Some(ValidationStatus::Skipped)
    );
}

#[test]
fn a_step_in_its_last_model_call_is_completed_without_a_reminder() {
    let mut start = start("q");
    start.config.max_iterations = 1;
    let mut driver = Driver::new(start)
        .script("plan", [plan(&json!([tool_item("a", &[])]))])
        .script("a", [completes_item("42")])
        .script("answer", [says("ok")]);
    assert_eq!(driver.drive().items[0].status, TodoItemStatus::Completed);
}

// A native call is a function call beside the text of a reply. The one here is not made, because the step gets a reminder.
#[test]
fn a_native_call_that_was_not_made_is_only_a_text_in_the_next_request() {
    let mut driver = driver_with_item(
        &tool_item("a", &[]),
        [native_call("x", "clock", "{}"), calculate("1"), completes_item("42")],
    );
    driver.drive();
    let messages = driver.messages("a", 1);
    assert!(messages.iter().all(|message| message.tool_calls.is_empty()));
    assert_eq!(messages[2].content_text(), "(called clock)");
}
