//! Replies with native tool calls, and incomplete replies (M05, M07, M08, M10, B29, B30).

use art_core::prompt::{ArtStandardPrompt, Role};
use art_core::stream::{ProviderState, StopReason};
use serde_json::json;

use crate::harness::*;

fn driver_with_tool_item() -> Driver {
    driver_with_plan(&json!([tool_item("a", &[])])).script("answer", [says("The answer.")])
}

#[test]
fn every_native_call_is_in_its_message_and_has_a_result() {
    let calls = native_calls([
        native_call("x", "calculator", "{\"expression\":\"1\"}"),
        native_call("x", "calculator", "{\"expression\":\"2\"}"),
        native_call("", "calculator", "[1]"),
    ]);
    let mut driver = driver_with_tool_item().script("a", [calls, completes_item("42")]);
    driver.drive();
    let messages = driver.messages("a", 1);
    let ids: Vec<_> = messages[2].tool_calls.iter().map(|call| call.id.clone()).collect();
    assert_eq!((ids.len(), ids[0].as_str()), (3, "x"));
    let result_ids: Vec<_> = messages[3..]
        .iter()
        .map(|message| message.tool_call_id.clone().unwrap())
        .collect();
    assert_eq!(result_ids, ids);
    assert!(messages[3..].iter().all(|message| message.role == Role::ToolResult));
    assert_eq!(driver.tool_calls_made.len(), 2);
}

#[test]
fn the_provider_state_is_sent_back_with_its_calls() {
    let state = ProviderState {
        wire: "w".to_owned(),
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
    let cut = with_stop_reason(
        native_call("x", "calculator", "{\"expression\":\"1\"}"),
        StopReason::Length,
    );
    let mut driver = driver_with_tool_item().script("a", [cut, calculate("2"), completes_item("42")]);
    driver.drive();
    assert_eq!(driver.tool_calls_made.len(), 1);
    assert!(driver.last_message("a", 1).contains("cut off before its end"));
    assert_eq!(driver.messages("a", 1).last().unwrap().role, Role::ToolResult);
}

#[test]
fn repeated_cut_off_replies_use_up_the_iterations() {
    let cut = || with_stop_reason(says("The answer is"), StopReason::Length);
    let mut driver = driver_with_plan(&json!([reasoning_item("a", &[])]))
        .script("a", (0..5).map(|_| cut()))
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
fn of_500_calls_64_are_parsed_and_all_get_a_result() {
    let calls = (0..500).map(|n| native_call("", "calculator", &format!("{{\"expression\":\"{n}\"}}")));
    let mut driver = driver_with_tool_item().script("a", [native_calls(calls), completes_item("42")]);
    driver.drive();
    assert_eq!(driver.tool_calls_made.len(), 64);
    let messages = driver.messages("a", 1);
    assert_eq!((messages[2].tool_calls.len(), messages.len()), (500, 503));
    assert_eq!(ArtStandardPrompt(messages.clone()).validate(), Ok(()));
    assert!(
        messages[502]
            .content_text()
            .contains("only the first 64 of the 500 calls")
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
    let both = native_calls([
        native_call("x", "functions.calculator", "{}"),
        native_call("y", "calculator", "{\"expression\":\"1\"}"),
    ]);
    let alone = native_call("z", "functions.calculator", "{}");
    let mut driver = driver_with_tool_item().script("a", [both, alone, completes_item("42")]);
    driver.drive();
    let messages = driver.messages("a", 2);
    let names: Vec<_> = messages
        .iter()
        .flat_map(|message| &message.tool_calls)
        .map(|call| call.function.name.as_str())
        .collect();
    assert_eq!((names, driver.tool_calls_made.len()), (vec!["calculator"], 1));
    let mentions_it =
        |message: &art_core::prompt::Message| message.content_text().contains("the call of `functions.calculator`");
    assert_eq!(messages.iter().filter(|message| mentions_it(message)).count(), 2);
    assert_eq!(ArtStandardPrompt(messages).validate(), Ok(()));
}
