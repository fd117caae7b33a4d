//! Whole replies of the embedded model.

use art_core::stream::Phase;
use art_model::{open, reply};
use futures_util::FutureExt;
use serde_json::{Value, json};

use crate::{prompts, tools};

fn text(request: art_core::provider::ModelRequest) -> String {
    prompts::text(open("embedded").unwrap().as_ref(), request)
}

#[test]
fn a_planning_reply_has_steps_dependencies_and_what_is_missing() {
    let query = "What is 17.5% of 2340, what is that divided by 7, and who won the cup?";
    insta::assert_snapshot!(text(prompts::planning(query, &tools::all(), &json!([]), None)));
}

#[test]
fn a_follow_up_keeps_completed_items_and_numbers_on() {
    let current = json!({"intent": "x", "todoList": [
        {"id": "step_1", "description": "12 times 3", "status": "completed", "dependencies": []},
        {"id": "step_2", "description": "open", "status": "pending", "dependencies": []},
    ]});
    insta::assert_snapshot!(text(prompts::planning(
        "What is that plus 4?",
        &tools::all(),
        &json!([]),
        Some(&current)
    )));
}

fn step() -> art_core::provider::ModelRequest {
    let item = json!({"id": "step_2", "description": "what is that divided by 7", "requiredTools": ["calculator"]});
    let earlier = json!([{"stepId": "step_1", "description": "17.5% of 2340", "results": [
        {"tool": "calculator", "status": "success", "output": {"result": 409.5}},
    ]}]);
    prompts::execution(
        "What is 17.5% of 2340, and what is that divided by 7?",
        &item,
        &tools::all(),
        &json!([]),
        &earlier,
    )
}

#[test]
fn an_execution_reply_asks_for_the_call() {
    insta::assert_snapshot!(text(step()), @r#"{"toolCalls":[{"toolName":"calculator","arguments":{"expression":"409.5 / 7"}}]}"#);
}

#[test]
fn after_a_result_the_step_ends_with_it() {
    let request = prompts::after_result(step(), "calculator", &json!({"result": 58.5}));
    insta::assert_snapshot!(text(request), @r#"{"content":"","nextStepDecision":"complete_item"}"#);
}

#[test]
fn after_an_error_the_step_fails_with_its_text() {
    let request = prompts::after_result(
        step(),
        "calculator",
        &json!({"error": "division by zero", "code": "VALIDATION_ERROR"}),
    );
    insta::assert_snapshot!(text(request), @r#"{"content":"division by zero","nextStepDecision":"fail_item"}"#);
}

#[test]
fn an_error_with_an_output_is_an_error_and_an_output_with_an_error_is_none() {
    let after = |result: serde_json::Value| text(prompts::after_result(step(), "calculator", &result));
    let failed = json!({"error": "too long", "code": "UNKNOWN", "output": {"rows": 3}});
    insta::assert_snapshot!(after(failed), @r#"{"content":"too long","nextStepDecision":"fail_item"}"#);
    let answered = json!({"error": "0.5", "output": 3});
    insta::assert_snapshot!(after(answered), @r#"{"content":"","nextStepDecision":"complete_item"}"#);
}

#[test]
fn a_step_without_a_tool_fails_with_the_reason() {
    let item = json!({"id": "step_1", "description": "think about it", "requiredTools": []});
    let request = prompts::execution("q", &item, &[], &json!([]), &json!([]));
    assert!(text(request).contains("fail_item"));
}

#[test]
fn the_answer_shows_results_failures_and_what_no_tool_can_do() {
    let completed = json!([
        {"stepId": "step_1", "description": "What is 17.5% of 2340?", "result": {"result": 409.5}, "tools": ["calculator"]},
        {"stepId": "step_2", "description": "Totals by region", "result": {"rows": [{"region": "North", "total": 30}, {"region": "South", "total": 25}]},
         "sources": [{"sourceName": "sales.csv"}, {"sourceName": "Site", "url": "https://example.org"}]},
    ]);
    let failed = json!([{"stepId": "step_3", "description": "Fetch it", "error": "timed out"}]);
    let unfinished = json!([{"stepId": "step_4", "description": "Then that", "reason": "depends on a failed step"}]);
    let plan = "Call `calculator` for \"x\".\nNo tool fits \"who won\".";
    let request = prompts::synthesis("q", plan, &completed, &failed, &unfinished);
    let model = open("embedded").unwrap();
    let answer = reply(model.as_ref(), request).now_or_never().unwrap().unwrap();
    insta::assert_snapshot!(answer.text);
    assert_eq!(answer.unanswered, ["No tool fits \"who won\"."]);
}

#[test]
fn an_answer_without_steps_says_that_nothing_was_called() {
    let answer = text(prompts::synthesis("Hello", "", &json!([]), &json!([]), &json!([])));
    assert!(answer.contains("No tool was called"), "{answer}");
}

#[test]
fn the_same_prompt_gives_the_same_reply() {
    let request = prompts::planning("Convert 5 km to miles and sort it", &tools::all(), &json!([]), None);
    assert_eq!(text(request.clone()), text(request));
}

#[test]
fn a_notice_says_what_the_model_cannot_do() {
    let notice = open("embedded").unwrap().notice().unwrap();
    assert!(notice.contains("cannot chat"), "{notice}");
}

#[test]
fn a_reply_counts_its_words() {
    let model = open("embedded").unwrap();
    let request = prompts::planning("2 + 2", &tools::all(), &json!([]), None);
    assert_eq!(request.phase, Phase::Planning);
    let reply = reply(model.as_ref(), request).now_or_never().unwrap().unwrap();
    let usage = reply.metadata.usage();
    assert!(usage.prompt_tokens > 0 && usage.total_tokens == usage.prompt_tokens + usage.completion_tokens);
}

#[test]
fn a_long_query_over_many_tools_is_planned() {
    let many: Vec<_> = (0..50)
        .map(|n| tools::tool(&format!("tool_{n}"), "Does one thing.", &[], json!({})))
        .collect();
    let query = "what is 5 plus 7? ((((1 + [{\"' ".repeat(2_000);
    let plan: Value = prompts::plan(open("embedded").unwrap().as_ref(), &query, &many, &json!([]));
    assert_eq!(plan["todoList"], json!([]));
}
