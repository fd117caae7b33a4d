use art_agent::Effect;
use art_core::agent::RunStatus;
use art_core::error::ErrorCode;
use art_core::observation::ObservationType as Kind;
use serde_json::json;

use crate::harness::*;

fn one_result() -> Driver {
    with_plan(&json!([tool_item("a", &[])])).script("a", [calculate("6 * 7"), done("")])
}

#[test]
fn the_answer_is_said_before_it_is_observed() {
    let text = "<mainContent>It is 42.</mainContent><uiMetadata>{\"suggestedQuestions\":[]}</uiMetadata>";
    let mut driver = one_result().script("answer", [says(text)]);
    let report = driver.drive();
    assert_eq!(report.response.response.content, "It is 42.");
    assert_eq!(report.ui_metadata, Some(json!({"suggestedQuestions": []})));
    let tail = driver.effects.len() - 2;
    assert_eq!(driver.effects[tail], Effect::Say(report.response.response.clone()));
    let last = driver.observations(Kind::FinalResponse)[0];
    assert_eq!(last.content["message"]["messageId"], json!("trace:answer"));
}

#[test]
fn a_failed_synthesis_lists_the_results_and_says_what_happened() {
    let mut driver = one_result().script("answer", [breaks()]);
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
    let mut driver = with_plan(&json!([])).script("answer", [breaks()]);
    assert_eq!(status(&driver.drive()), RunStatus::Error);
}

#[test]
fn an_empty_answer_is_a_failed_synthesis() {
    let mut driver = one_result().script("answer", [says(" <mainContent> </mainContent>")]);
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
fn costs_are_summed_over_all_calls() {
    let mut driver = one_result().script("answer", [says("ok")]);
    let metadata = driver.drive().response.metadata;
    assert_eq!((metadata.llm_calls, metadata.tool_calls), (4, 1));
    assert_eq!(metadata.tokens.total_tokens, 48);
    assert_eq!(metadata.usage.fuel, 5);
    assert_eq!(metadata.total_duration_ms, 50);
}

#[test]
fn the_sources_of_the_results_are_reported_once() {
    let mut driver = with_plan(&json!([tool_item("a", &[])]))
        .script("a", [calculate("1"), calculate("2"), done("x")])
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
fn every_model_call_has_a_beginning_and_an_end() {
    let mut driver = one_result().script("answer", [says("ok")]);
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
