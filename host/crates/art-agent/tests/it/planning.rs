//! The planning phase: what a run does with the replies of its planner. The phase after the steps, in which a model writes the
//! answer, is the synthesis.

use art_core::agent::RunStatus;
use art_core::error::ErrorCode;
use art_core::observation::ObservationType as Kind;
use art_core::pes::TodoItemStatus;
use art_core::stream::StopReason;
use serde_json::json;

use crate::harness::*;

// A question without tool calls is answered straight from synthesis (contract A51).
#[test]
fn a_query_whose_plan_has_no_steps_is_answered_straight_from_synthesis() {
    let mut driver = driver_with_plan(&json!([])).script("answer", [says("<mainContent>Hello.</mainContent>")]);
    let report = driver.drive();
    assert_eq!(report.response.response.content, "Hello.");
    assert_eq!(
        (status(&report), report.response.metadata.tool_calls),
        (RunStatus::Success, 0)
    );
}

#[test]
fn the_intent_the_title_and_the_plan_are_observed() {
    let mut driver = driver_with_plan(&json!([reasoning_item("a", &[])]))
        .script("a", [completes_item("x")])
        .script("answer", [says("ok")]);
    driver.drive();
    assert_eq!(
        driver.observations(Kind::Intent)[0].content,
        json!({"intent": "Intent"})
    );
    assert_eq!(driver.observations(Kind::Title)[0].content, json!({"title": "Title"}));
    // The first observation of this kind says that planning begins.
    assert_eq!(driver.observations(Kind::Plan)[1].content["plan"], json!("The plan."));
    let added = &driver.observations(Kind::PlanUpdate)[0].content["changes"]["added"];
    assert_eq!(added[0]["itemId"], json!("a"));
}

// Every item of a plan gets a creation time and an update time (contract A23).
#[test]
fn every_item_gets_the_time_of_the_plan_as_creation_and_update_time() {
    let mut driver = driver_with_plan(&json!([reasoning_item("a", &[])]));
    driver.answer_all();
    // The run starts at 1,000 ms, and the plan comes 10 ms later.
    let time_of_plan = 1_010;
    assert_eq!(
        (driver.item("a").created_timestamp, driver.item("a").updated_timestamp),
        (time_of_plan, time_of_plan)
    );
}

#[test]
fn an_invalid_plan_is_requested_again_with_its_problems() {
    let mut driver = driver_with_plan(&json!([reasoning_item("a", &["z"])]))
        .script("plan", [plan(&json!([]))])
        .script("answer", [says("ok")]);
    let report = driver.drive();
    assert_eq!(status(&report), RunStatus::Success);
    let message = driver.last_message("plan", 1);
    assert!(
        message.contains("> - item `a` depends on `z`, which is not in the plan"),
        "{message}"
    );
}

// A plan repair is a request to the planner to correct its plan. By default a run makes two.
#[test]
fn plan_repairs_are_limited_by_the_configuration() {
    let mut driver = Driver::new(start("q"))
        .script("plan", [says("{hello"), says(""), plan(&json!([]))])
        .script("answer", [says("ok")]);
    assert_eq!(status(&driver.drive()), RunStatus::Success);
    let mut without_repairs = start("q");
    without_repairs.config.plan_repairs = 0;
    let report = Driver::new(without_repairs).script("plan", [says("{hello")]).drive();
    assert!(content(&report).contains("the model gave no usable plan: the plan is not valid JSON"));
}

#[test]
fn the_request_for_a_plan_asks_for_json_and_no_other_does() {
    use art_core::provider::ReplyFormat;
    let mut driver = driver_with_plan(&json!([reasoning_item("a", &[])]))
        .script("a", [completes_item("x")])
        .script("answer", [says("ok")]);
    driver.drive();
    let formats: Vec<_> = driver.requests.iter().map(|sent| sent.request.reply_format).collect();
    assert_eq!(formats, [ReplyFormat::Json, ReplyFormat::Text, ReplyFormat::Text]);
}

#[test]
fn a_plan_that_was_cut_off_is_requested_again_with_that_reason() {
    let cut = with_stop_reason(says("{\"title\": \"x\", \"todoList\": [{\"id\""), StopReason::Length);
    let mut driver = Driver::new(start("q"))
        .script("plan", [cut, plan(&json!([]))])
        .script("answer", [says("ok")]);
    driver.drive();
    assert!(
        driver
            .last_message("plan", 1)
            .contains("> - the reply was cut off before its end")
    );
}

#[test]
fn a_plan_that_the_provider_withheld_ends_the_run() {
    let mut driver = Driver::new(start("q")).script("plan", [with_stop_reason(says(""), StopReason::ContentFilter)]);
    let report = driver.drive();
    assert_eq!(
        report.response.response.content,
        "The query could not be answered: planning failed: the provider withheld the reply."
    );
}

#[test]
fn a_third_invalid_plan_ends_the_run_with_the_error_as_the_answer() {
    let mut driver = Driver::new(start("q")).script("plan", [says("{hello"), says("[hm"), says("")]);
    let report = driver.drive();
    let error = report.response.metadata.error.unwrap();
    assert_eq!(
        (error.code, error.phase.as_str()),
        (ErrorCode::PlanningFailed, "planning")
    );
    assert_eq!(
        report.response.response.content,
        "The query could not be answered: planning failed: the model gave no usable plan in 3 attempts: there is \
         no JSON with a plan in the reply."
    );
    assert_eq!(report.response.response.metadata["error"], json!(true));
    assert_eq!(driver.observations(Kind::Error).len(), 1);
}

#[test]
fn a_plan_that_requires_an_unavailable_tool_is_requested_again() {
    let item = json!({"id": "a", "description": "search", "requiredTools": ["web_search"]});
    let mut driver = driver_with_plan(&json!([item]))
        .script("plan", [plan(&json!([]))])
        .script("answer", [says("no")]);
    driver.drive();
    assert!(
        driver
            .last_message("plan", 1)
            .contains("requires the tool `web_search`, which is not available")
    );
}

// A model error during planning is observed and ends the run, which still returns a response (contract A48).
#[test]
fn a_model_error_during_planning_is_reported_in_the_answer() {
    let mut driver = Driver::new(start("q")).script("plan", [times_out()]);
    let report = driver.drive();
    assert_eq!(status(&report), RunStatus::Error);
    assert!(content(&report).contains("no answer within 30 s"));
    assert_eq!(
        driver.observations(Kind::LlmStreamError)[0].content["phase"],
        json!("planning")
    );
}

#[test]
fn the_thoughts_of_a_reply_are_one_observation() {
    let mut reply = plan(&json!([])).unwrap();
    reply.thinking = "hm, let me see".to_owned();
    let mut driver = Driver::new(start("q"))
        .script("plan", [Ok(reply)])
        .script("answer", [says("ok")]);
    driver.drive();
    let thoughts = driver.observations(Kind::Thoughts);
    assert_eq!(thoughts.len(), 1);
    assert_eq!(thoughts[0].content, json!({"text": "hm, let me see"}));
    assert_eq!(thoughts[0].metadata["tokenType"], json!("PLANNING_LLM_THINKING"));
}

#[test]
fn a_plan_in_the_thoughts_is_found() {
    let mut reply = plan(&json!([])).unwrap();
    reply.thinking = std::mem::take(&mut reply.text);
    let mut driver = Driver::new(start("q"))
        .script("plan", [Ok(reply)])
        .script("answer", [says("ok")]);
    assert_eq!(status(&driver.drive()), RunStatus::Success);
}

// A plan between markers wins over JSON outside the markers (contract A25).
#[test]
fn a_plan_between_markers_wins_over_plans_in_the_thoughts_and_around_the_markers() {
    let item = |id: &str| json!({"id": id, "description": "think", "stepType": "reasoning"});
    let outside_markers = json!({"todoList": [item("x")]});
    let text = format!(
        "<think>maybe {outside_markers}</think>{outside_markers}\n---JSON_OUTPUT_START---{}---JSON_OUTPUT_END---\n\
         {outside_markers}",
        json!({"todoList": [item("a")]})
    );
    let mut driver = Driver::new(start("q"))
        .script("plan", [says(text)])
        .script("a", [completes_item("x")])
        .script("answer", [says("ok")]);
    driver.drive();
    assert_eq!(driver.statuses(), [("a", TodoItemStatus::Completed)]);
}
