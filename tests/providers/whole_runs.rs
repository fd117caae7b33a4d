//! Successful runs, from the question to the answer. The model is a mock of a provider (`mock.rs`), which replies with the
//! fixtures of the test (`fixture.rs`). A fixture is also called a turn.
//!
//! From each `pub(crate)` function, the macros in `main.rs` generate a test for every provider in both modes: with streamed
//! replies, and with replies that are sent as a whole.

use serde_json::Value;

use crate::connection::{Connection, DEEPSEEK, Mode, OLLAMA, OPENAI_CHAT, OPENROUTER};
use crate::environment::Environment;
use crate::fixture::{self, ANSWER, CallFault, Fixture, NEXT_ANSWER, NEXT_QUERY, QUERY, THOUGHT};
use crate::fixture::{INPUT_TOKENS, MODEL_CALLS_OF_TWO_STEPS, OUTPUT_TOKENS};
use crate::fixture::{faulty_first_call_and_correction, next_question, parallel_calls, two_steps, two_steps_after};
use crate::mock::Request;
use crate::program::CommandOutput;

pub(crate) fn a_query_of_two_dependent_steps_is_planned_executed_and_answered(connection: Connection, mode: Mode) {
    let environment = Environment::new(connection, mode, &two_steps());
    let ran = environment.run(&[]);
    assert_exits_successfully(&environment, &ran);
    assert_eq!(ran.stdout().trim_end(), ANSWER, "{ran}");
}

pub(crate) fn each_request_has_the_model_and_the_mode_and_the_key_of_the_configuration(
    connection: Connection,
    mode: Mode,
) {
    let environment = Environment::new(connection, mode, &two_steps());
    environment.run(&[]);
    let requests = environment.requests();
    assert_eq!(requests.len(), MODEL_CALLS_OF_TWO_STEPS, "{}", environment.log());
    for request in &requests {
        assert!(request.path().contains(connection.path_part), "{}", request.path());
        assert_eq!(request.body()["stream"] == true, mode == Mode::Streaming, "{request:?}");
        assert_eq!(request.body()["model"], connection.model);
        if let Some((_, header)) = connection.key {
            assert!(request.header(header).is_some(), "no `{header}`: {request:?}");
        }
    }
}

pub(crate) fn the_result_of_a_tool_call_is_sent_to_the_model_with_the_call(connection: Connection, mode: Mode) {
    let environment = Environment::new(connection, mode, &two_steps());
    environment.run(&[]);
    let requests = environment.requests();
    let requests_with_result: Vec<_> = requests
        .iter()
        .filter(|request| has_message_with_role(request, "tool"))
        .collect();
    for request in &requests_with_result {
        assert_eq!(tool_names_of_calls_with_results(request), ["calculator"], "{request:?}");
    }
    // Each of the two steps has one such request: the one that follows its call.
    assert_eq!(requests_with_result.len(), 2, "{}", environment.log());
}

pub(crate) fn each_parallel_call_of_one_reply_gets_its_own_result(connection: Connection, mode: Mode) {
    let environment = Environment::new(connection, mode, &parallel_calls());
    let ran = environment.run(&["--json"]);
    assert_exits_successfully(&environment, &ran);
    let calls = ran.json()["calls"].as_array().map_or(0, Vec::len);
    assert_eq!(calls, 2, "{ran}");
    let requests = environment.requests();
    let request_with_results = requests
        .iter()
        .find(|request| has_message_with_role(request, "tool"))
        .unwrap();
    assert_eq!(
        tool_names_of_calls_with_results(request_with_results),
        ["calculator", "calculator"],
        "{request_with_results:?}"
    );
}

pub(crate) fn the_model_corrects_a_failed_call(connection: Connection, mode: Mode) {
    assert_model_corrects_call(connection, mode, CallFault::InvalidExpression, "calculator");
}

pub(crate) fn the_model_corrects_a_call_of_an_unknown_tool(connection: Connection, mode: Mode) {
    assert_model_corrects_call(connection, mode, CallFault::UnknownTool, "abacus");
}

pub(crate) fn the_model_corrects_a_call_with_truncated_arguments(connection: Connection, mode: Mode) {
    assert_model_corrects_call(connection, mode, CallFault::TruncatedArguments, "calculator");
}

/// A similar name is not accepted: `art` never guesses which tool was meant (contract M06).
pub(crate) fn a_tool_name_in_another_letter_case_is_unknown(connection: Connection, mode: Mode) {
    assert_model_corrects_call(connection, mode, CallFault::NameInAnotherCase, "Calculator");
}

/// The arguments are checked before the tool runs (contract M07).
pub(crate) fn the_model_corrects_a_call_with_a_list_as_arguments(connection: Connection, mode: Mode) {
    assert_model_corrects_call(connection, mode, CallFault::ListAsArguments, "calculator");
}

pub(crate) fn the_model_corrects_a_call_with_an_argument_of_another_type(connection: Connection, mode: Mode) {
    assert_model_corrects_call(connection, mode, CallFault::WrongType, "calculator");
}

pub(crate) fn the_model_corrects_a_call_with_an_unknown_argument(connection: Connection, mode: Mode) {
    assert_model_corrects_call(connection, mode, CallFault::UnknownArgument, "calculator");
}

/// Returns the number of successful tool calls.
fn count_successful_tool_calls(ran: &CommandOutput) -> usize {
    let report = ran.json();
    let calls = report["calls"].as_array().unwrap().iter();
    calls.filter(|call| call["ending"] == "success").count()
}

/// Runs a query whose first tool call, a call of `faulty_tool`, has a fault. Asserts that the model receives the error of that
/// call and then makes the corrected call, and that the run succeeds.
fn assert_model_corrects_call(connection: Connection, mode: Mode, fault: CallFault, faulty_tool: &str) {
    let environment = Environment::new(
        connection,
        mode,
        &two_steps_after(faulty_first_call_and_correction(fault)),
    );
    let ran = environment.run(&["--json"]);
    assert_exits_successfully(&environment, &ran);
    let requests = environment.requests();
    // The last request with at least six messages follows the corrected call. It contains the instructions, the task, and two
    // calls, each with its result. Later requests have fewer messages.
    let after_correction = requests.iter().rfind(|request| request.messages().len() >= 6).unwrap();
    assert_eq!(
        tool_names_of_calls_with_results(after_correction),
        [faulty_tool, "calculator"],
        "{after_correction:?}"
    );
    assert_eq!(
        count_successful_tool_calls(&ran),
        2,
        "not exactly two calls succeeded: {ran}"
    );
}

pub(crate) fn a_chat_sends_the_earlier_answer_with_the_next_question(connection: Connection, mode: Mode) {
    // The mock takes the first turn that matches, and the last turn of `two_steps` also matches a request of the next question.
    let environment = Environment::new(connection, mode, &[next_question(), two_steps()].concat());
    let ran = environment.chat(&format!("{QUERY}\n{NEXT_QUERY}\n"));
    assert_exits_successfully(&environment, &ran);
    assert_eq!(
        ran.stdout().split_whitespace().collect::<Vec<_>>().join(" "),
        format!("{ANSWER} {NEXT_ANSWER}"),
        "{ran}"
    );
    let requests = environment.requests();
    let last_planning_request = requests.iter().rfind(|request| request.is_planning()).unwrap();
    assert_eq!(
        last_planning_request.assistant_texts(),
        [ANSWER],
        "{last_planning_request:?}"
    );
}

pub(crate) fn the_tokens_of_all_model_calls_are_counted(connection: Connection, mode: Mode) {
    let turns: Vec<_> = two_steps().into_iter().map(Fixture::with_token_counts).collect();
    let environment = Environment::new(connection, mode, &turns);
    let ran = environment.run(&["--json"]);
    assert_exits_successfully(&environment, &ran);
    let counts = &ran.json()["metadata"]["llmMetadata"];
    assert_eq!(
        counts["inputTokens"],
        MODEL_CALLS_OF_TWO_STEPS as u64 * INPUT_TOKENS,
        "{ran}"
    );
    assert_eq!(
        counts["outputTokens"],
        MODEL_CALLS_OF_TWO_STEPS as u64 * OUTPUT_TOKENS,
        "{ran}"
    );
}

pub(crate) fn a_report_contains_thoughts_only_in_the_field_thoughts_of_each_step(connection: Connection, mode: Mode) {
    let turns: Vec<_> = two_steps().into_iter().map(Fixture::thinking).collect();
    let environment = Environment::new(connection, mode, &turns);
    let ran = environment.run(&["--json"]);
    assert_exits_successfully(&environment, &ran);
    let mut report = ran.json();
    assert_eq!(report["answer"], ANSWER);
    for step in report["steps"].as_array_mut().unwrap() {
        let thoughts = step.as_object_mut().unwrap().remove("thoughts").unwrap();
        assert_eq!(thoughts[0], THOUGHT, "{ran}");
    }
    assert!(
        !report.to_string().contains(THOUGHT),
        "the report contains a thought outside of the field `thoughts` of a step:\n{ran}"
    );
}

/// Asserts that a run with these turns makes exactly `model_calls` model calls and `tool_calls` tool calls.
fn assert_call_counts(connection: Connection, mode: Mode, turns: &[Fixture], model_calls: u64, tool_calls: u64) {
    let environment = Environment::new(connection, mode, turns);
    let ran = environment.run(&["--json"]);
    assert_exits_successfully(&environment, &ran);
    let report = ran.json();
    assert_eq!(report["answer"], ANSWER, "{ran}");
    let metadata = &report["metadata"];
    assert_eq!(
        (&metadata["llmCalls"], &metadata["toolCalls"]),
        (&model_calls.into(), &tool_calls.into()),
        "{ran}"
    );
    assert_eq!(
        environment.requests().len() as u64,
        model_calls,
        "{}",
        environment.log()
    );
}

pub(crate) fn an_answer_without_a_plan_needs_one_model_call(connection: Connection, mode: Mode) {
    assert_call_counts(connection, mode, &fixture::immediate_answer(), 1, 0);
}

/// One model call makes both tool calls, and one the answer.
pub(crate) fn a_run_whose_planner_calls_tools_itself_needs_two_model_calls(connection: Connection, mode: Mode) {
    assert_call_counts(connection, mode, &fixture::direct_calls(), 2, 2);
}

/// The model submits the plan by calling `submit_plan`. The plan states the tool call of each step with its arguments, so `art`
/// makes these calls without the model. One model call makes the plan, and one the answer.
pub(crate) fn a_plan_that_states_five_calls_needs_two_model_calls(connection: Connection, mode: Mode) {
    assert_call_counts(connection, mode, &fixture::submitted_plan_of_stated_calls(), 2, 5);
}

/// The plan states the tool call of every step except the third. One model call makes the plan, one makes the tool call of the
/// third step, one ends that step, and one makes the answer.
pub(crate) fn a_plan_with_one_step_left_to_the_model_needs_four_model_calls(connection: Connection, mode: Mode) {
    assert_call_counts(
        connection,
        mode,
        &fixture::submitted_plan_with_step_left_to_model(),
        4,
        5,
    );
}

/// Tests only providers with the chat completions protocol: the journal, in which the mock records the requests, contains the
/// requested format only for that protocol.
#[test]
fn without_function_calling_a_plan_is_requested_as_json_schema_or_json_object() {
    // `art` requests no format from Groq, which would return an error instead of a reply that is not JSON, and none from
    // compatible servers, which may refuse the field.
    for (connection, format) in [
        (OPENAI_CHAT, "json_schema"),
        (OPENROUTER, "json_object"),
        (DEEPSEEK, "json_object"),
        (OLLAMA, "json_schema"),
    ] {
        let environment = Environment::new(connection, Mode::Streaming, &two_steps());
        environment.configure("tools = false\n");
        environment.run(&[]);
        let requests = environment.requests();
        let planning_request = requests.iter().find(|request| request.is_planning()).unwrap();
        assert_eq!(
            planning_request.body()["response_format"]["type"],
            format,
            "{connection:?}"
        );
        for request in requests.iter().filter(|request| !request.is_planning()) {
            assert_eq!(request.body()["response_format"], Value::Null, "{connection:?}");
        }
    }
}

fn assert_exits_successfully(environment: &Environment, ran: &CommandOutput) {
    assert_eq!(ran.code(), 0, "{ran}\n{}", environment.log());
}

fn has_message_with_role(request: &Request, role: &str) -> bool {
    request.messages().iter().any(|message| message["role"] == role)
}

/// Returns the tool name of each call in the assistant messages of `request`. Asserts that each call has exactly one result: a
/// tool message with the identifier of the call.
fn tool_names_of_calls_with_results(request: &Request) -> Vec<String> {
    let messages_of = |role: &'static str| request.messages().iter().filter(move |message| message["role"] == role);
    let calls: Vec<_> = messages_of("assistant")
        .filter_map(|message| message["tool_calls"].as_array())
        .flatten()
        .collect();
    let mut ids: Vec<_> = calls.iter().map(|call| call["id"].clone()).collect();
    let mut result_ids: Vec<_> = messages_of("tool")
        .map(|message| message["tool_call_id"].clone())
        .collect();
    ids.sort_by_key(Value::to_string);
    result_ids.sort_by_key(Value::to_string);
    assert_eq!(ids, result_ids, "{request:?}");
    let name = |call: &&Value| call["function"]["name"].as_str().unwrap_or_default().to_owned();
    calls.iter().map(name).collect()
}
