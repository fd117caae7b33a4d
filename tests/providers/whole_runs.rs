//! Successful runs: planned, executed and answered by the model of a provider. From each public function, the macros in
//! `main.rs` generate a test for every provider in both modes.

use serde_json::Value;

use crate::connection::{Connection, DEEPSEEK, Mode, OLLAMA, OPENAI_CHAT, OPENROUTER};
use crate::environment::Environment;
use crate::fixture::{self, ANSWER, CallFault, Fixture, NEXT_ANSWER, NEXT_QUERY, QUERY, THOUGHT};
use crate::fixture::{INPUT_TOKENS, MODEL_CALLS_OF_TWO_STEPS, OUTPUT_TOKENS};
use crate::fixture::{faulty_first_call_and_correction, next_question, parallel_calls, two_steps, two_steps_after};
use crate::mock::Request;
use crate::program::CommandOutput;

pub(crate) fn two_dependent_steps_are_planned_executed_and_answered(connection: Connection, mode: Mode) {
    let environment = Environment::new(connection, mode, &two_steps());
    let ran = environment.run(&[]);
    assert_exits_successfully(&environment, &ran);
    assert_eq!(ran.stdout().trim_end(), ANSWER, "{ran}");
}

pub(crate) fn each_request_has_the_configured_model_mode_and_key(connection: Connection, mode: Mode) {
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

pub(crate) fn the_result_of_a_call_is_sent_with_its_call(connection: Connection, mode: Mode) {
    let environment = Environment::new(connection, mode, &two_steps());
    environment.run(&[]);
    let requests = environment.requests();
    let with_results: Vec<_> = requests.iter().filter(|request| has_role(request, "tool")).collect();
    for request in &with_results {
        assert_eq!(names_of_answered_calls(request), ["calculator"], "{request:?}");
    }
    assert_eq!(with_results.len(), 2, "{}", environment.log());
}

pub(crate) fn parallel_calls_of_one_reply_are_each_answered(connection: Connection, mode: Mode) {
    let environment = Environment::new(connection, mode, &parallel_calls());
    let ran = environment.run(&["--json"]);
    assert_exits_successfully(&environment, &ran);
    let calls = ran.json()["calls"].as_array().map_or(0, Vec::len);
    assert_eq!(calls, 2, "{ran}");
    let requests = environment.requests();
    let with_results = requests.iter().find(|request| has_role(request, "tool")).unwrap();
    assert_eq!(
        names_of_answered_calls(with_results),
        ["calculator", "calculator"],
        "{with_results:?}"
    );
}

pub(crate) fn the_model_corrects_a_failed_call(connection: Connection, mode: Mode) {
    assert_corrected(connection, mode, CallFault::InvalidExpression, "calculator");
}

pub(crate) fn the_model_corrects_a_call_of_an_unknown_tool(connection: Connection, mode: Mode) {
    assert_corrected(connection, mode, CallFault::UnknownTool, "abacus");
}

pub(crate) fn the_model_corrects_a_call_with_truncated_arguments(connection: Connection, mode: Mode) {
    assert_corrected(connection, mode, CallFault::TruncatedArguments, "calculator");
}

/// A similar name is not accepted: names are never guessed (contract M06).
pub(crate) fn a_tool_name_in_another_letter_case_is_unknown(connection: Connection, mode: Mode) {
    assert_corrected(connection, mode, CallFault::NameInAnotherCase, "Calculator");
}

/// The arguments are checked before the tool runs (contract M07).
pub(crate) fn the_model_corrects_a_call_with_a_list_as_arguments(connection: Connection, mode: Mode) {
    assert_corrected(connection, mode, CallFault::ListAsArguments, "calculator");
}

pub(crate) fn the_model_corrects_a_call_with_an_argument_of_another_type(connection: Connection, mode: Mode) {
    assert_corrected(connection, mode, CallFault::WrongType, "calculator");
}

pub(crate) fn the_model_corrects_a_call_with_an_unknown_argument(connection: Connection, mode: Mode) {
    assert_corrected(connection, mode, CallFault::UnknownArgument, "calculator");
}

/// Returns the number of successful calls.
fn count_successes(ran: &CommandOutput) -> usize {
    let report = ran.json();
    let calls = report["calls"].as_array().unwrap().iter();
    calls.filter(|call| call["ending"] == "success").count()
}

/// Asserts that the model receives the error of its faulty call of `faulty_tool` and corrects it, and that the run succeeds.
fn assert_corrected(connection: Connection, mode: Mode, fault: CallFault, faulty_tool: &str) {
    let environment = Environment::new(
        connection,
        mode,
        &two_steps_after(faulty_first_call_and_correction(fault)),
    );
    let ran = environment.run(&["--json"]);
    assert_exits_successfully(&environment, &ran);
    let requests = environment.requests();
    // The last request with at least six messages: the instructions, the task, and two calls, each with its result.
    let after_correction = requests.iter().rfind(|request| request.messages().len() > 5).unwrap();
    assert_eq!(
        names_of_answered_calls(after_correction),
        [faulty_tool, "calculator"],
        "{after_correction:?}"
    );
    assert_eq!(count_successes(&ran), 2, "not exactly two calls succeeded: {ran}");
}

pub(crate) fn a_chat_continues_with_earlier_results(connection: Connection, mode: Mode) {
    let environment = Environment::new(connection, mode, &[next_question(), two_steps()].concat());
    let ran = environment.chat(&format!("{QUERY}\n{NEXT_QUERY}\n"));
    assert_exits_successfully(&environment, &ran);
    assert_eq!(
        ran.stdout().split_whitespace().collect::<Vec<_>>().join(" "),
        format!("{ANSWER} {NEXT_ANSWER}"),
        "{ran}"
    );
    let requests = environment.requests();
    let planning = requests.iter().rfind(|request| request.is_planning()).unwrap();
    assert_eq!(planning.assistant_texts(), [ANSWER], "{planning:?}");
}

pub(crate) fn the_tokens_of_all_calls_are_counted(connection: Connection, mode: Mode) {
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

pub(crate) fn thoughts_never_reach_the_answer(connection: Connection, mode: Mode) {
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
        "a thought is in the answer:\n{ran}"
    );
}

/// Asserts that a run needs this number of model calls and tool calls.
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

/// One model call makes the tool calls, and one the answer.
pub(crate) fn a_run_whose_planner_calls_tools_itself_needs_two_model_calls(connection: Connection, mode: Mode) {
    assert_call_counts(connection, mode, &fixture::direct_calls(), 2, 2);
}

/// The model submits the plan by calling `submit_plan`. One model call makes the plan, and one the answer.
pub(crate) fn a_plan_that_states_five_calls_needs_two_model_calls(connection: Connection, mode: Mode) {
    assert_call_counts(connection, mode, &fixture::submitted_plan_of_stated_calls(), 2, 5);
}

/// One model call makes the plan, two carry out the step whose call the plan does not state, and one makes the answer.
pub(crate) fn a_plan_with_one_step_left_to_the_model_needs_four_model_calls(connection: Connection, mode: Mode) {
    assert_call_counts(
        connection,
        mode,
        &fixture::submitted_plan_with_step_left_to_model(),
        4,
        5,
    );
}

/// Only for chat completions, because the mock's journal contains the requested format only for them.
#[test]
fn without_function_calls_a_plan_is_requested_in_a_json_format_of_the_provider() {
    // `art` requests no format from Groq, which refuses a reply that is not JSON, and none from compatible servers, which may
    // refuse the field.
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
        let planning = requests.iter().find(|request| request.is_planning()).unwrap();
        assert_eq!(planning.body()["response_format"]["type"], format, "{connection:?}");
        let others = requests.iter().filter(|request| !request.is_planning());
        for request in others {
            assert_eq!(request.body()["response_format"], Value::Null, "{connection:?}");
        }
    }
}

fn assert_exits_successfully(environment: &Environment, ran: &CommandOutput) {
    assert_eq!(ran.code(), 0, "{ran}\n{}", environment.log());
}

fn has_role(request: &Request, role: &str) -> bool {
    request.messages().iter().any(|message| message["role"] == role)
}

/// Returns the names of the tools that the assistant messages of a request call. Asserts that each call has exactly one tool
/// message with its identifier.
fn names_of_answered_calls(request: &Request) -> Vec<String> {
    let messages_of = |role: &'static str| request.messages().iter().filter(move |message| message["role"] == role);
    let calls: Vec<_> = messages_of("assistant")
        .filter_map(|turn| turn["tool_calls"].as_array())
        .flatten()
        .collect();
    let mut ids: Vec<_> = calls.iter().map(|call| call["id"].clone()).collect();
    let mut result_ids: Vec<_> = messages_of("tool").map(|turn| turn["tool_call_id"].clone()).collect();
    ids.sort_by_key(Value::to_string);
    result_ids.sort_by_key(Value::to_string);
    assert_eq!(ids, result_ids, "{request:?}");
    let name = |call: &&Value| call["function"]["name"].as_str().unwrap_or_default().to_owned();
    calls.iter().map(name).collect()
}
