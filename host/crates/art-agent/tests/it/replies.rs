//! Replies with native tool calls, which are function calls beside the text of the reply, and replies that are malformed, cut
//! off, empty or withheld. Such faulty replies are tolerated or reported to the model (contract M05).

use art_core::prompt::{ArtStandardPrompt, Role};
use art_core::stream::{ProviderState, StopReason};
use serde_json::json;

use crate::harness::*;

/// Returns a driver of a plan with the item `a`, which requires the calculator.
fn driver_with_tool_item() -> Driver {
    driver_with_plan(&json!([tool_item("a", &[])])).script("answer", [says("The answer.")])
}

// The second call repeats the identifier of the first. The third has none, and its arguments are no object, so it is not made.
#[test]
fn every_native_call_of_a_reply_has_an_identifier_of_its_own_and_a_result() {
    let calls = native_calls([
        native_call("x", "calculator", "{\"expression\":\"1\"}"),
        native_call("x", "calculator", "{\"expression\":\"2\"}"),
        native_call("", "calculator", "[1]"),
    ]);
    let mut driver = driver_with_tool_item().script("a", [calls, completes_item("42")]);
    driver.drive();
    let messages = driver.messages("a", 1);
    let [_system, _task, reply, results @ ..] = &messages[..] else {
        panic!("{messages:?}")
    };
    let ids: Vec<_> = reply.tool_calls.iter().map(|call| call.id.clone()).collect();
    assert_eq!((ids.len(), ids[0].as_str()), (3, "x"));
    let result_ids: Vec<_> = results
        .iter()
        .map(|message| message.tool_call_id.clone().unwrap())
        .collect();
    assert_eq!(result_ids, ids);
    assert!(results.iter().all(|message| message.role == Role::ToolResult));
    assert_eq!(driver.tool_calls_made.len(), 2);
}

#[test]
fn the_provider_state_of_a_reply_is_sent_back_with_the_calls_of_the_reply() {
    let state = ProviderState {
        protocol: "w".to_owned(),
        content: json!({"signature": "s"}),
    };
    let mut reply = native_call("x", "calculator", "{}").unwrap();
    reply.state = Some(state.clone());
    let mut driver = driver_with_tool_item().script("a", [Ok(reply), completes_item("42")]);
    driver.drive();
    let states: Vec<_> = driver
        .messages("a", 1)
        .into_iter()
        .map(|message| message.provider_state)
        .collect();
    assert_eq!(states, [None, None, Some(state), None]);
}

#[test]
fn a_call_of_a_cut_off_reply_is_not_made_and_the_model_is_called_again() {
    let cut_off = with_stop_reason(
        native_call("x", "calculator", "{\"expression\":\"1\"}"),
        StopReason::Length,
    );
    let mut driver = driver_with_tool_item().script("a", [cut_off, calculate("2"), completes_item("42")]);
    driver.drive();
    assert_eq!(driver.tool_calls_made.len(), 1);
    assert!(driver.last_message("a", 1).contains("cut off before its end"));
    assert_eq!(driver.messages("a", 1).last().unwrap().role, Role::ToolResult);
}

#[test]
fn repeated_cut_off_replies_use_up_the_model_calls_of_the_step() {
    let cut_off = || with_stop_reason(says("The answer is"), StopReason::Length);
    let mut driver = driver_with_plan(&json!([reasoning_item("a", &[])]))
        .script("a", (0..5).map(|_| cut_off()))
        .script("answer", [says("ok")]);
    let report = driver.drive();
    assert_eq!(
        report.response.metadata.limits_hit,
        ["step `a` used all of its 5 model calls"]
    );
}

#[test]
fn a_step_whose_reply_was_withheld_fails_with_that_reason() {
    let mut driver = driver_with_tool_item().script("a", [with_stop_reason(says(""), StopReason::ContentFilter)]);
    let report = driver.drive();
    assert_eq!(
        report.items[0].error.as_deref(),
        Some("the provider withheld the reply")
    );
}

#[test]
fn of_500_calls_the_first_64_are_made_and_all_get_a_result() {
    let calls = (0..500).map(|n| native_call("", "calculator", &format!("{{\"expression\":\"{n}\"}}")));
    let mut driver = driver_with_tool_item().script("a", [native_calls(calls), completes_item("42")]);
    driver.drive();
    assert_eq!(driver.tool_calls_made.len(), 64);
    let messages = driver.messages("a", 1);
    let [_system, _task, reply, results @ ..] = &messages[..] else {
        panic!("{messages:?}")
    };
    assert_eq!((reply.tool_calls.len(), results.len()), (500, 500));
    assert_eq!(ArtStandardPrompt(messages.clone()).validate(), Ok(()));
    let last_result = results.last().unwrap().content_text();
    assert!(
        last_result.contains("only the first 64 of the 500 calls"),
        "{last_result}"
    );
}

#[test]
fn repeated_empty_replies_fail_the_step() {
    let mut driver = driver_with_plan(&json!([reasoning_item("a", &[])]))
        .script("a", (0..5).map(|_| says("")))
        .script("answer", [says("ok")]);
    let report = driver.drive();
    assert_eq!(
        report.items[0].error.as_deref(),
        Some("no usable reply from the model: the reply was empty")
    );
}

#[test]
fn the_third_identical_native_call_is_refused() {
    let same_call = || native_call("", "calculator", "{\"expression\":\"1\"}");
    let mut driver = driver_with_tool_item().script("a", [same_call(), same_call(), same_call(), completes_item("42")]);
    driver.drive();
    assert_eq!(driver.tool_calls_made.len(), 2);
    let refusal = driver.last_message("a", 3);
    assert!(
        refusal.contains("with exactly these arguments 2 times before"),
        "{refusal}"
    );
}

#[test]
fn a_native_call_with_an_invalid_name_is_reported_and_dropped() {
    let invalid_and_valid = native_calls([
        native_call("x", "functions.calculator", "{}"),
        native_call("y", "calculator", "{\"expression\":\"1\"}"),
    ]);
    let invalid_alone = native_call("z", "functions.calculator", "{}");
    let mut driver = driver_with_tool_item().script("a", [invalid_and_valid, invalid_alone, completes_item("42")]);
    driver.drive();
    let messages = driver.messages("a", 2);
    let names: Vec<_> = messages
        .iter()
        .flat_map(|message| &message.tool_calls)
        .map(|call| call.function.name.as_str())
        .collect();
    assert_eq!((names, driver.tool_calls_made.len()), (vec!["calculator"], 1));
    let mentions_call =
        |message: &art_core::prompt::Message| message.content_text().contains("the call of `functions.calculator`");
    assert_eq!(messages.iter().filter(|message| mentions_call(message)).count(), 2);
    assert_eq!(ArtStandardPrompt(messages).validate(), Ok(()));
}
