use art_core::agent::RunStatus;
use art_core::pes::{TodoItemStatus, ValidationStatus};
use serde_json::{Value, json};

use crate::harness::*;

fn run(item: &Value, replies: impl IntoIterator<Item = Reply>) -> Driver {
    with_plan(&json!([item]))
        .script("a", replies)
        .script("answer", [says("ok")])
}

fn reminders(driver: &Driver) -> usize {
    let last = driver.asked.iter().rfind(|(who, _)| who == "a").unwrap();
    let texts = last.1.prompt.0.iter().map(|message| message.content_text().to_owned());
    texts.filter(|text| text.starts_with("VALIDATION FAILED")).count()
}

#[test]
fn a_strict_step_is_reminded_exactly_twice_and_then_goes_on() {
    let mut driver = run(&tool_item("a", &[]), [done("40"), done("41"), done("about 42")]);
    let report = driver.drive();
    assert_eq!(reminders(&driver), 2);
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
    let mut driver = run(&tool_item("a", &[]), [done("40"), calculate("6 * 7"), done("42")]);
    driver.drive();
    let reminder = driver.last_message("a", 1);
    assert!(reminder.contains("[\"calculator\"]"), "{reminder}");
    assert!(
        reminder.ends_with("{\"toolCalls\":[{\"toolName\":\"calculator\",\"arguments\":{}}]}"),
        "{reminder}"
    );
}

#[test]
fn the_calls_of_a_reply_that_is_reminded_are_not_made() {
    let wrong = calls(&[("clock", json!({}))]);
    let mut driver = run(&tool_item("a", &[]), [wrong, calculate("6 * 7"), done("42")]);
    driver.drive();
    let names: Vec<_> = driver.called.iter().map(|call| call.tool_name.as_str()).collect();
    assert_eq!(names, ["calculator"]);
}

#[test]
fn an_advisory_step_is_never_reminded() {
    let mut item = tool_item("a", &[]);
    item["toolValidationMode"] = json!("advisory");
    let mut driver = run(&item, [done("42")]);
    let report = driver.drive();
    assert_eq!(reminders(&driver), 0);
    assert_eq!(report.items[0].validation_status, Some(ValidationStatus::Failed));
    assert_eq!(status(&report), RunStatus::Success);
}

#[test]
fn a_tool_that_was_called_before_in_the_item_satisfies() {
    let mut driver = run(&tool_item("a", &[]), [calculate("6 * 7"), done("42")]);
    let report = driver.drive();
    assert_eq!(reminders(&driver), 0);
    assert_eq!(report.items[0].validation_status, Some(ValidationStatus::Passed));
    assert_eq!(status(&report), RunStatus::Success);
}

#[test]
fn a_tool_that_failed_was_called() {
    let mut driver = run(&tool_item("a", &[]), [calculate("fail"), done("unknown")]);
    let report = driver.drive();
    assert_eq!(reminders(&driver), 0);
    assert_eq!(report.items[0].validation_status, Some(ValidationStatus::Passed));
}

// X19: calls that failed count as made.
#[test]
fn a_call_that_was_refused_before_the_tool_ran_was_no_call() {
    let replies = [calculate("invalid"), done("40"), done("41"), done("about 42")];
    let mut driver = run(&tool_item("a", &[]), replies);
    let report = driver.drive();
    assert_eq!(reminders(&driver), 2);
    assert_eq!(report.items[0].validation_status, Some(ValidationStatus::Failed));
    assert_eq!(status(&report), RunStatus::Partial);
}

// X19: calls that failed count as made.
#[test]
fn a_call_that_the_step_may_not_make_was_no_call() {
    let mut start = start("q");
    start.config.max_iterations = 1;
    let unknown =
        json!({"content": "42", "toolCalls": [{"toolName": "calculator", "arguments": {"csv": "attachment:x"}}]});
    let mut driver = Driver::new(start)
        .script("plan", [plan(&json!([tool_item("a", &[])]))])
        .script("a", [says(unknown.to_string())])
        .script("answer", [says("ok")]);
    let report = driver.drive();
    assert_eq!(driver.called, []);
    assert_eq!(report.items[0].validation_status, Some(ValidationStatus::Failed));
}

// P53: reminders to call required tools.
#[test]
fn a_reminder_includes_the_problems_of_a_plan_update() {
    let update = json!({"content": "40", "updatedPlan": {"todoList": [thought_item("c", &["z"])]}}).to_string();
    let mut driver = run(&tool_item("a", &[]), [says(update), calculate("6 * 7"), done("42")]);
    driver.drive();
    let reminder = driver.last_message("a", 1);
    assert!(reminder.starts_with("VALIDATION FAILED"), "{reminder}");
    assert!(
        reminder.contains("`updatedPlan` was not used: item `c` depends on `z`"),
        "{reminder}"
    );
}

// P53: reminders to call required tools.
#[test]
fn a_reminder_does_not_deny_a_change_of_the_plan_that_was_made() {
    let update = json!({"content": "40", "updatedPlan": {"todoList": [thought_item("c", &["a"])]}}).to_string();
    let mut driver = run(&tool_item("a", &[]), [says(update), calculate("6 * 7"), done("42")]).script("c", [done("3")]);
    driver.drive();
    let reminder = driver.last_message("a", 1);
    assert!(
        reminder.contains("None of its calls was carried out. Call"),
        "{reminder}"
    );
    assert_eq!(driver.item("c").status, TodoItemStatus::Completed);
}

// P53: reminders to call required tools.
#[test]
fn a_failed_step_includes_the_problems_of_its_plan_update() {
    let reply = json!({
        "content": "no", "nextStepDecision": "fail_item", "updatedPlan": {"todoList": [thought_item("c", &["z"])]},
    });
    let mut driver = run(&tool_item("a", &[]), [says(reply.to_string())]);
    let error = driver.drive().items[0].error.clone().unwrap();
    assert!(error.starts_with("no; `updatedPlan` was not used: item `c`"), "{error}");
}

#[test]
fn a_reasoning_step_is_not_validated() {
    let mut driver = run(&thought_item("a", &[]), [done("42")]);
    assert_eq!(
        driver.drive().items[0].validation_status,
        Some(ValidationStatus::Skipped)
    );
}

#[test]
fn nothing_is_enforced_in_the_last_iteration() {
    let mut start = start("q");
    start.config.max_iterations = 1;
    let mut driver = Driver::new(start)
        .script("plan", [plan(&json!([tool_item("a", &[])]))])
        .script("a", [done("42")])
        .script("answer", [says("ok")]);
    assert_eq!(driver.drive().items[0].status, TodoItemStatus::Completed);
}

#[test]
fn calls_that_were_not_made_leave_no_call_without_a_result() {
    let mut driver = run(
        &tool_item("a", &[]),
        [native("x", "clock", "{}"), calculate("1"), done("42")],
    );
    driver.drive();
    let messages = driver.messages("a", 1);
    assert!(messages.iter().all(|message| message.tool_calls.is_empty()));
    assert_eq!(messages[2].content_text(), "(called clock)");
}
