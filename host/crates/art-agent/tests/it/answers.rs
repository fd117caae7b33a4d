//! The answer of a run: its text, status, costs, sources and messages.

use art_agent::{Effect, RunEvent};
use art_core::agent::RunStatus;
use art_core::error::ErrorCode;
use art_core::observation::ObservationType as Kind;
use art_core::stream::StopReason;
use serde_json::json;

use crate::harness::*;

/// Returns the driver of a run whose plan has one step, which calls the calculator. Its script has no reply for the answer yet.
fn driver_with_one_result() -> Driver {
    driver_with_plan(&json!([tool_item("a", &[])])).script("a", [calculate("6 * 7"), completes_item("")])
}

#[test]
fn the_answer_is_added_to_the_conversation_before_it_is_observed() {
    let text = "<mainContent>It is 42.</mainContent><uiMetadata>{\"suggestedQuestions\":[]}</uiMetadata>";
    let mut driver = driver_with_one_result().script("answer", [says(text)]);
    let report = driver.drive();
    assert_eq!(report.response.response.content, "It is 42.");
    assert_eq!(report.ui_metadata, Some(json!({"suggestedQuestions": []})));
    let before_last = driver.effects.len() - 2;
    assert_eq!(
        driver.effects[before_last],
        Effect::AddMessage(report.response.response.clone())
    );
    let observed_answer = driver.observations(Kind::FinalResponse)[0];
    assert_eq!(observed_answer.content["message"]["messageId"], json!("trace:answer"));
}

#[test]
fn at_most_three_short_questions_are_suggested() {
    let too_long = "x".repeat(201);
    let questions = json!([
        "  And the\n seventh? ",
        "",
        "...",
        &too_long,
        7,
        "And twice that?",
        "Why?",
        "Who?"
    ]);
    let text = format!(
        "It is 42.\n<uiMetadata>{}</uiMetadata>",
        json!({"suggestedQuestions": questions})
    );
    let report = driver_with_one_result().script("answer", [says(text)]).drive();
    assert_eq!(content(&report), "It is 42.");
    assert_eq!(
        report.suggested_questions(),
        ["And the seventh?", "And twice that?", "Why?"]
    );
}

#[test]
fn metadata_without_a_list_of_questions_suggests_nothing() {
    for metadata in ["{}", "[]", "{\"suggestedQuestions\": \"Why?\"}", "{"] {
        let text = format!("It is 42.\n<uiMetadata>{metadata}</uiMetadata>");
        let report = driver_with_one_result().script("answer", [says(text)]).drive();
        assert_eq!((content(&report), report.suggested_questions()), ("It is 42.", vec![]));
    }
}

// A model error during synthesis is observed, and the run is not a success (contract A50).
#[test]
fn a_failed_synthesis_lists_the_results_and_the_reason() {
    let mut driver = driver_with_one_result().script("answer", [times_out()]);
    let report = driver.drive();
    assert_eq!(
        report.response.response.content,
        "The model could not write an answer: the model could not be asked: no answer within 30 s.\n\n\
         - do a: {\"result\":42}"
    );
    assert_eq!(status(&report), RunStatus::Partial);
    assert_eq!(report.response.metadata.error.unwrap().code, ErrorCode::SynthesisFailed);
    assert_eq!(driver.observations(Kind::LlmStreamError).len(), 1);
}

#[test]
fn a_failed_synthesis_without_results_is_an_error() {
    let mut driver = driver_with_plan(&json!([])).script("answer", [times_out()]);
    assert_eq!(status(&driver.drive()), RunStatus::Error);
}

#[test]
fn an_empty_answer_is_a_failed_synthesis() {
    let mut driver = driver_with_one_result().script("answer", [says(" <mainContent> </mainContent>")]);
    let report = driver.drive();
    assert!(
        report
            .response
            .response
            .content
            .starts_with("The model could not write an answer: the model gave an empty answer.")
    );
}

#[test]
fn an_answer_that_was_cut_off_is_returned_as_partial() {
    let mut driver = driver_with_one_result().script("answer", [with_stop_reason(says("It is"), StopReason::Length)]);
    let report = driver.drive();
    assert_eq!(report.response.response.content, "It is");
    assert_eq!(
        report.response.metadata.limits_hit,
        ["the answer was cut off before its end"]
    );
    assert_eq!(status(&report), RunStatus::Partial);
}

#[test]
fn an_answer_that_the_provider_withheld_is_a_failed_synthesis() {
    let mut driver = driver_with_one_result().script("answer", [with_stop_reason(says(""), StopReason::ContentFilter)]);
    let text = driver.drive().response.response.content;
    assert!(text.contains("the provider withheld the reply."), "{text}");
}

#[test]
fn the_cost_of_a_run_is_known_only_if_every_call_reports_its_cost() {
    let priced = |reply: Reply| {
        reply.map(|mut reply| {
            reply.metadata.cost_usd = Some(0.25);
            reply.metadata.thinking_tokens = Some(1);
            reply
        })
    };
    let run_with_answer = |answer: Reply| {
        let mut driver = Driver::new(start("q"))
            .script("plan", [priced(plan(&json!([reasoning_item("a", &[])])))])
            .script("a", [priced(fails_item("no"))])
            .script("answer", [answer]);
        driver.drive().response.metadata
    };
    let all_priced = run_with_answer(priced(says("ok")));
    assert_eq!(
        (all_priced.llm_cost, all_priced.llm_metadata.thinking_tokens),
        (Some(0.75), Some(3))
    );
    assert_eq!(run_with_answer(says("ok")).llm_cost, None);
}

// A whole run counts its model and tool calls (contract A46).
#[test]
fn calls_tokens_fuel_and_time_of_a_run_are_added_up() {
    let mut driver = driver_with_one_result().script("answer", [says("ok")]);
    let metadata = driver.drive().response.metadata;
    assert_eq!((metadata.llm_calls, metadata.tool_calls), (4, 1));
    assert_eq!(metadata.tokens.total_tokens, 4 * TOKENS_PER_CALL);
    assert_eq!(metadata.llm_metadata.input_tokens, Some(4 * INPUT_TOKENS));
    assert_eq!(metadata.usage.fuel, FUEL_PER_CALL);
    let (model_calls, tool_batches) = (4, 1);
    assert_eq!(metadata.total_duration_ms, (model_calls + tool_batches) * MS_PER_ACTION);
}

// The tokens of all model calls are added up, including those of failed steps (contract B20).
#[test]
fn the_calls_of_a_step_that_failed_are_counted_too() {
    let mut driver = driver_with_plan(&json!([tool_item("a", &[])]))
        .script("a", [calculate(FAILS), fails_item("no abacus")])
        .script("answer", [says("ok")]);
    let metadata = driver.drive().response.metadata;
    assert_eq!((metadata.llm_calls, metadata.tool_calls), (4, 1));
    assert_eq!(metadata.tokens.total_tokens, 4 * TOKENS_PER_CALL);
}

#[test]
fn a_source_of_several_results_is_reported_once() {
    let mut driver = driver_with_plan(&json!([tool_item("a", &[])]))
        .script("a", [calculate("1"), calculate("2"), completes_item("x")])
        .script("answer", [says("ok")]);
    let report = driver.drive();
    // Every successful result of the stand-in tool has the source `abacus`.
    assert_eq!(report.sources.len(), 1);
    assert!(
        driver
            .last_message("answer", 0)
            .contains("\"sources\":[{\"sourceName\":\"abacus\"}]")
    );
}

#[test]
fn every_model_call_is_observed_at_its_start_and_end() {
    let mut driver = driver_with_one_result().script("answer", [says("ok")]);
    driver.drive();
    let phases = |kind| -> Vec<String> {
        let all = driver.observations(kind).into_iter();
        all.map(|observation| observation.content["phase"].as_str().unwrap().to_owned())
            .collect()
    };
    let expected = [
        "planning",
        "execution_item_a_iter_1",
        "execution_item_a_iter_2",
        "synthesis",
    ];
    assert_eq!(phases(Kind::LlmStreamStart), expected);
    assert_eq!(phases(Kind::LlmStreamEnd), expected);
}

/// Returns a reply with an answer that reports a part of the question as unanswered.
fn partial_answer() -> Reply {
    says("42").map(|mut reply| {
        reply.unanswered = vec!["who won".to_owned()];
        reply
    })
}

#[test]
fn a_run_whose_answer_leaves_a_part_of_the_question_unanswered_is_partial() {
    let mut driver = driver_with_one_result().script("answer", [partial_answer()]);
    let report = driver.drive();
    assert_eq!(status(&report), RunStatus::Partial);
    assert_eq!(report.unanswered, ["who won"]);
}

#[test]
fn unanswered_parts_do_not_make_a_run_without_tool_calls_partial() {
    let mut driver = driver_with_plan(&json!([])).script("answer", [partial_answer()]);
    assert_eq!(status(&driver.drive()), RunStatus::Success);
}

#[test]
fn unanswered_parts_in_the_metadata_for_a_user_interface_do_not_change_the_status() {
    let text = "<mainContent>42</mainContent><uiMetadata>{\"unanswered\":[\"who won\"]}</uiMetadata>";
    let mut driver = driver_with_one_result().script("answer", [says(text)]);
    assert_eq!(status(&driver.drive()), RunStatus::Success);
}

#[test]
fn the_question_is_added_to_the_conversation_before_the_answer() {
    let mut driver = driver_with_plan(&json!([])).script("answer", [says("42")]);
    driver.drive();
    let messages: Vec<_> = driver
        .effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::AddMessage(message) => Some((message.message_id.as_str(), message.content.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(
        messages,
        [("trace:question", "What is 6 times 7?"), ("trace:answer", "42")]
    );
}

#[test]
fn a_run_without_a_question_adds_only_its_answer_to_the_conversation() {
    let mut driver = Driver::new(start(" "))
        .script("plan", [plan(&json!([]))])
        .script("answer", [says("42")]);
    driver.drive();
    let messages = driver
        .effects
        .iter()
        .filter(|effect| matches!(effect, Effect::AddMessage(_)));
    assert_eq!(messages.count(), 1);
}

#[test]
fn a_model_error_is_reported_only_if_no_reply_follows_it() {
    let items = json!([tool_item("a", &[])]);
    let error_after_answer = |answer| {
        let mut driver = driver_with_plan(&items)
            .script("a", [times_out()])
            .script("answer", [answer]);
        driver.drive().model_error
    };
    assert_eq!(error_after_answer(says("nothing came of it")), None);
    assert_eq!(error_after_answer(times_out()), times_out().err());
}

#[test]
fn a_run_whose_host_failed_reports_the_failure_of_the_host_and_no_earlier_model_error() {
    let items = json!([reasoning_item("a", &[]), reasoning_item("b", &[])]);
    let mut driver = driver_with_plan(&items).script("a", [times_out()]);
    driver.answer_all();
    let call_of_a = driver.open_actions().remove(0);
    driver.carry_out(call_of_a);
    driver.apply(&RunEvent::HostFailed {
        at: 2_000,
        reason: "the host stopped".to_owned(),
    });
    let report = driver.run.finished().unwrap();
    assert_eq!(report.model_failure(), None);
    assert_eq!(
        report.response.metadata.error.as_ref().unwrap().message,
        "the host stopped"
    );
}
