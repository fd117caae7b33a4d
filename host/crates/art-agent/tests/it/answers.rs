use art_agent::Effect;
use art_core::agent::RunStatus;
use art_core::error::ErrorCode;
use art_core::observation::ObservationType as Kind;
use art_core::stream::StopReason;
use serde_json::json;

use crate::harness::*;

fn driver_with_one_result() -> Driver {
    driver_with_plan(&json!([tool_item("a", &[])])).script("a", [calculate("6 * 7"), completes_item("")])
}

// A46: a whole run with its counts.
#[test]
fn the_answer_is_added_before_its_observation() {
    let text = "<mainContent>It is 42.</mainContent><uiMetadata>{\"suggestedQuestions\":[]}</uiMetadata>";
    let mut driver = driver_with_one_result().script("answer", [says(text)]);
    let report = driver.drive();
    assert_eq!(report.response.response.content, "It is 42.");
    assert_eq!(report.ui_metadata, Some(json!({"suggestedQuestions": []})));
    let tail = driver.effects.len() - 2;
    assert_eq!(
        driver.effects[tail],
        Effect::AddMessage(report.response.response.clone())
    );
    let last = driver.observations(Kind::FinalResponse)[0];
    assert_eq!(last.content["message"]["messageId"], json!("trace:answer"));
}

#[test]
fn at_most_three_short_questions_are_suggested() {
    let long = "x".repeat(201);
    let questions = json!([
        "  And the\n seventh? ",
        "",
        "...",
        &long,
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

// A50: a model error during synthesis.
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
    let run = |last: Reply| {
        let mut driver = Driver::new(start("q"))
            .script("plan", [priced(plan(&json!([reasoning_item("a", &[])])))])
            .script("a", [priced(fails_item("no"))])
            .script("answer", [last]);
        driver.drive().response.metadata
    };
    let known = run(priced(says("ok")));
    assert_eq!(
        (known.llm_cost, known.llm_metadata.thinking_tokens),
        (Some(0.75), Some(3))
    );
    assert_eq!(run(says("ok")).llm_cost, None);
}

// A46: a whole run with its counts.
#[test]
fn counts_tokens_fuel_and_time_are_summed_over_all_calls() {
    let mut driver = driver_with_one_result().script("answer", [says("ok")]);
    let metadata = driver.drive().response.metadata;
    assert_eq!((metadata.llm_calls, metadata.tool_calls), (4, 1));
    assert_eq!(metadata.tokens.total_tokens, 48);
    assert_eq!(metadata.llm_metadata.input_tokens, Some(40));
    assert_eq!(metadata.usage.fuel, 5);
    assert_eq!(metadata.total_duration_ms, 50);
}

// B20: sums over all model calls.
#[test]
fn the_calls_of_a_step_that_failed_are_summed_too() {
    let mut driver = driver_with_plan(&json!([tool_item("a", &[])]))
        .script("a", [calculate("fail"), fails_item("no abacus")])
        .script("answer", [says("ok")]);
    let metadata = driver.drive().response.metadata;
    assert_eq!((metadata.llm_calls, metadata.tool_calls), (4, 1));
    assert_eq!(metadata.tokens.total_tokens, 48);
}

#[test]
fn the_sources_of_the_results_are_reported_once() {
    let mut driver = driver_with_plan(&json!([tool_item("a", &[])]))
        .script("a", [calculate("1"), calculate("2"), completes_item("x")])
        .script("answer", [says("ok")]);
    let report = driver.drive();
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

/// Returns a reply with an answer, and with the part of the question that it leaves open.
fn partial_answer() -> Reply {
    says("42").map(|mut reply| {
        reply.unanswered = vec!["who won".to_owned()];
        reply
    })
}

#[test]
fn an_answer_that_leaves_a_part_of_the_question_open_is_partial() {
    let mut driver = driver_with_one_result().script("answer", [partial_answer()]);
    let report = driver.drive();
    assert_eq!(status(&report), RunStatus::Partial);
    assert_eq!(report.unanswered, ["who won"]);
}

#[test]
fn unanswered_parts_without_results_do_not_make_the_answer_partial() {
    let mut driver = driver_with_plan(&json!([])).script("answer", [partial_answer()]);
    assert_eq!(status(&driver.drive()), RunStatus::Success);
}

#[test]
fn metadata_of_an_answer_does_not_change_its_status() {
    let text = "<mainContent>42</mainContent><uiMetadata>{\"unanswered\":[\"who won\"]}</uiMetadata>";
    let mut driver = driver_with_one_result().script("answer", [says(text)]);
    assert_eq!(status(&driver.drive()), RunStatus::Success);
}

#[test]
fn the_question_is_added_before_the_answer() {
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
fn a_run_without_a_question_adds_only_the_answer() {
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
fn a_model_error_is_reported_until_the_next_reply() {
    let items = json!([tool_item("a", &[])]);
    let error = |answer| {
        let mut driver = driver_with_plan(&items)
            .script("a", [times_out()])
            .script("answer", [answer]);
        driver.drive().model_error
    };
    assert_eq!(error(says("nothing came of it")), None);
    assert_eq!(error(times_out()), times_out().err());
}
