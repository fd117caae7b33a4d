//! Runs in which the provider or its model has a fault, or which reach a limit. From each public function, the macros in
//! `main.rs` generate a test for every provider. The turns of a run are its requests to the model, with the replies of the mock.

use crate::connection::{Connection, Mode};
use crate::environment::Environment;
use crate::fixture::{self, ANSWER, Fixture, MODEL_CALLS_OF_TWO_STEPS, two_steps, two_steps_after};
use crate::mock::Request;
use crate::program::CommandOutput;

/// Number of requests if every retry is used: the first one and three retries.
const MAX_ATTEMPTS: usize = 4;
/// The exit code of a run that has an answer, although a step failed or a limit was reached.
const PARTIAL: i32 = 3;
/// The exit code of a run without an answer, because the provider failed.
const PROVIDER_FAILED: i32 = 8;

/// Asserts that a temporary fault was retried and the run succeeded.
fn assert_retried(environment: &Environment, ran: &CommandOutput) {
    assert_eq!(ran.stdout().trim_end(), ANSWER, "{ran}\n{}", environment.log());
    assert_eq!(ran.code(), 0, "{ran}");
    assert!(
        ran.stderr().contains("trying again in"),
        "the retry is not shown:\n{ran}"
    );
}

/// Asserts that a permanent fault ended the run with one error that contains all of `parts`, and no answer.
fn assert_failed(environment: &Environment, ran: &CommandOutput, parts: &[&str]) {
    assert_eq!(ran.code(), PROVIDER_FAILED, "{ran}\n{}", environment.log());
    assert_eq!(ran.stdout(), "", "{ran}");
    let stderr = ran.stderr();
    let errors: Vec<_> = stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 1, "{ran}");
    for part in parts {
        assert!(errors[0].contains(part), "`{part}` is missing:\n{ran}");
    }
}

/// Returns the number of requests for a plan.
fn count_planning_requests(environment: &Environment) -> usize {
    environment
        .requests()
        .iter()
        .filter(|request| request.is_planning())
        .count()
}

pub(crate) fn a_rate_limit_is_waited_out(connection: Connection, mode: Mode) {
    let limited = fixture::planning().failing(429, "rate_limit_exceeded").once();
    let environment = Environment::new(connection, mode, &two_steps_after([limited]));
    assert_retried(&environment, &environment.run(&[]));
    let requests = environment.requests();
    let planning: Vec<_> = requests.iter().filter(|request| request.is_planning()).collect();
    let [refused, answered] = planning[..] else {
        panic!("{}", environment.log())
    };
    assert_eq!((refused.status(), answered.status()), (429, 200));
    // The mock sends `Retry-After: 1`, in seconds. The wait may be longer, but never shorter.
    assert!(
        answered.timestamp() >= refused.timestamp() + 1_000,
        "{}",
        environment.log()
    );
}

pub(crate) fn an_endless_rate_limit_ends_the_run_and_the_conversation_goes_on(connection: Connection, mode: Mode) {
    let environment = Environment::new(connection, mode, &two_steps());
    environment.mock.start_chaos("rateLimitRate");
    let ran = environment.run(&[]);
    assert_failed(&environment, &ran, &[connection.provider, "no more requests"]);
    assert_eq!(
        count_planning_requests(&environment),
        MAX_ATTEMPTS,
        "{}",
        environment.log()
    );
    environment.mock.end_chaos();
    let thread = environment.art(&["--json", "thread", "list"]).json()[0]["id"].clone();
    let continued = environment.run(&["--thread", thread.as_str().unwrap()]);
    assert_eq!(
        continued.stdout().trim_end(),
        ANSWER,
        "{continued}\n{}",
        environment.log()
    );
}

/// The host neither waits for an hour nor sends what the provider has said that it refuses: the error says when to try again.
pub(crate) fn a_rate_limit_of_an_hour_is_not_waited_out(connection: Connection, mode: Mode) {
    let limited = fixture::planning()
        .failing(429, "rate_limit_exceeded")
        .retry_after(3_600);
    let environment = Environment::new(connection, mode, &[limited]);
    assert_failed(
        &environment,
        &environment.run(&[]),
        &["no more requests", "it accepts requests again in 60 min"],
    );
    assert_eq!(count_planning_requests(&environment), 1, "{}", environment.log());
}

/// A `Retry-After` that states no valid wait is ignored, and the default wait applies (contract M01).
pub(crate) fn a_rate_limit_with_an_invalid_time_is_retried(connection: Connection, mode: Mode) {
    let limited = |n: usize, when: &str| {
        let limited = fixture::planning().failing(429, "rate_limit_exceeded");
        limited.retry_after(when).nth(n)
    };
    let turns = two_steps_after([limited(0, "soon"), limited(1, "-1"), limited(2, "1e999")]);
    let environment = Environment::new(connection, mode, &turns);
    assert_retried(&environment, &environment.run(&[]));
    assert_eq!(
        count_planning_requests(&environment),
        MAX_ATTEMPTS,
        "{}",
        environment.log()
    );
}

/// The last of the three retries succeeds: failures before the first token are retried (contract M02).
pub(crate) fn consecutive_failures_of_the_provider_are_retried(connection: Connection, mode: Mode) {
    let failing = |n, status| fixture::planning().failing(status, "server_error").nth(n);
    let environment = Environment::new(
        connection,
        mode,
        &two_steps_after([failing(0, 500), failing(1, 503), failing(2, 529)]),
    );
    assert_retried(&environment, &environment.run(&[]));
    assert_eq!(
        count_planning_requests(&environment),
        MAX_ATTEMPTS,
        "{}",
        environment.log()
    );
}

/// A retry would be refused too: a refused request is not repeated (contract M03).
pub(crate) fn a_refused_request_is_not_retried(connection: Connection, mode: Mode) {
    for (status, code) in [(400, "invalid_request_error"), (403, "permission_denied")] {
        let environment = Environment::new(connection, mode, &[fixture::planning().failing(status, code)]);
        assert_failed(&environment, &environment.run(&[]), &[connection.provider]);
        assert_eq!(
            count_planning_requests(&environment),
            1,
            "{status}: {}",
            environment.log()
        );
    }
}

pub(crate) fn a_connection_lost_before_the_first_token_is_retried(connection: Connection, mode: Mode) {
    let lost = fixture::planning().chaos("disconnectRate").once();
    let environment = Environment::new(connection, mode, &two_steps_after([lost]));
    assert_retried(&environment, &environment.run(&[]));
}

pub(crate) fn a_single_failure_of_the_provider_is_retried(connection: Connection, mode: Mode) {
    // With this fault, the mock replies with the status 500.
    let failing = fixture::planning().chaos("dropRate").once();
    let environment = Environment::new(connection, mode, &two_steps_after([failing]));
    assert_retried(&environment, &environment.run(&[]));
}

/// Only for streams: a provider that sends its reply as a whole is silent while it writes the reply, so `header_timeout_ms` does
/// not apply to it. Otherwise a slow reply would be retried, and two replies would have to be paid for.
pub(crate) fn a_provider_that_does_not_answer_in_time_is_retried(connection: Connection) {
    let silent = fixture::planning().silent().once();
    let environment = Environment::new(connection, Mode::Streaming, &two_steps_after([silent]));
    assert_retried(&environment, &environment.run(&[]));
}

pub(crate) fn a_reply_that_is_not_json_ends_the_run_immediately(connection: Connection, mode: Mode) {
    let malformed = fixture::planning().chaos("malformedRate");
    let environment = Environment::new(connection, mode, &[malformed]);
    assert_failed(&environment, &environment.run(&[]), &["is not JSON", "base_url"]);
    assert_eq!(count_planning_requests(&environment), 1, "{}", environment.log());
}

pub(crate) fn a_refused_key_is_reported_and_not_shown(connection: Connection, mode: Mode) {
    let environment = Environment::with_key(connection, mode, &two_steps(), Some("sk-another"));
    assert_failed(
        &environment,
        &environment.run(&[]),
        &["did not accept the key", key_source(connection)],
    );
}

/// Returns the name of the setting that an error names as the source of the key.
fn key_source(connection: Connection) -> &'static str {
    connection.key.map_or("api_key_env", |(variable, _)| variable)
}

pub(crate) fn an_error_that_repeats_the_key_is_shown_without_it(connection: Connection, mode: Mode) {
    let refused = fixture::planning().failing(401, "invalid_api_key");
    let environment = Environment::new(connection, mode, &[refused]);
    let ran = environment.run(&[]);
    // The error of the mock repeats the key, which is shown as `[key]`. For a provider without a key, nothing is masked.
    let masked = if connection.key.is_some() {
        "refused with ["
    } else {
        "refused with"
    };
    assert_failed(&environment, &ran, &["did not accept the key", masked]);
    assert_eq!(count_planning_requests(&environment), 1, "{}", environment.log());
}

pub(crate) fn an_unknown_model_is_named(connection: Connection, mode: Mode) {
    let unknown = fixture::planning().failing(404, "model_not_found");
    let environment = Environment::new(connection, mode, &[unknown]);
    assert_failed(&environment, &environment.run(&[]), &[connection.model]);
    assert_eq!(count_planning_requests(&environment), 1, "{}", environment.log());
}

/// A request that is too long is shortened and repeated (contract M09). Here it consists of the question, which cannot be
/// shortened, so it is not repeated.
pub(crate) fn a_question_that_is_too_long_is_reported(connection: Connection, mode: Mode) {
    let environment = Environment::new(connection, mode, &[fixture::planning().too_long()]);
    assert_failed(&environment, &environment.run(&[]), &["too long for the model"]);
    assert_eq!(count_planning_requests(&environment), 1, "{}", environment.log());
}

/// A model that only makes calls is stopped, and the limit is reported: calls and empty replies are bounded (contract
/// M08).
pub(crate) fn a_model_that_calls_forever_is_stopped(connection: Connection, mode: Mode) {
    let environment = Environment::new(connection, mode, &two_steps_after([fixture::first_call_forever()]));
    let ran = environment.run(&["--json"]);
    assert_eq!(ran.code(), PARTIAL, "{ran}\n{}", environment.log());
    let limits = ran.json()["metadata"]["limitsHit"].to_string();
    assert!(limits.contains("`step_1`") && limits.contains("model calls"), "{ran}");
}

/// A model that returns nothing is called a bounded number of times: calls and empty replies are bounded (contract
/// M08).
pub(crate) fn a_model_that_returns_nothing_forever_is_stopped(connection: Connection, mode: Mode) {
    let environment = Environment::new(connection, mode, &two_steps_after([fixture::empty_forever()]));
    let ran = environment.run(&["--json"]);
    assert_eq!(ran.code(), PARTIAL, "{ran}\n{}", environment.log());
    assert_eq!(ran.json()["calls"], serde_json::json!([]), "{ran}");
    // One request for the plan, and at most five (`max_iterations`) for each of the two steps.
    assert!(environment.requests().len() < 12, "{}", environment.log());
}

/// Of a hundred calls, 64 are run and the others get an error as their result: calls in one reply are bounded (contract
/// M08).
pub(crate) fn calls_over_the_limit_of_a_reply_are_not_run(connection: Connection, mode: Mode) {
    const CALLS: usize = 100;
    let environment = Environment::new(connection, mode, &fixture::many_calls(CALLS));
    // The next request has to contain all calls.
    environment.configure("context_tokens = 100000\n");
    let ran = environment.run(&["--json"]);
    assert_eq!(count_calls_run(&ran), 64, "{ran}\n{}", environment.log());
    let requests = environment.requests();
    let count_results = |request: &Request| {
        let messages = request.messages().iter();
        messages.filter(|message| message["role"] == "tool").count()
    };
    assert_eq!(
        requests.iter().map(count_results).max(),
        Some(CALLS),
        "{}",
        environment.log()
    );
}

/// A reply with more than 128 calls is refused as a whole: calls in one reply are bounded (contract M08).
pub(crate) fn a_reply_of_five_hundred_calls_is_not_run(connection: Connection, mode: Mode) {
    let environment = Environment::new(connection, mode, &fixture::many_calls(500));
    let ran = environment.run(&["--json"]);
    assert_eq!(
        (ran.code(), count_calls_run(&ran)),
        (PARTIAL, 0),
        "{ran}\n{}",
        environment.log()
    );
}

fn count_calls_run(ran: &CommandOutput) -> usize {
    ran.json()["calls"].as_array().map_or(0, Vec::len)
}

/// A call in a blocked reply may be incomplete: if a reply was cut off or blocked, its calls are not run (contract M10).
pub(crate) fn a_call_that_the_provider_blocked_is_not_run(connection: Connection, mode: Mode) {
    let blocked = fixture::first_call().blocked(connection);
    let environment = Environment::new(connection, mode, &two_steps_after([blocked]));
    let ran = environment.run(&["--json"]);
    assert_eq!(
        (ran.code(), count_calls_run(&ran)),
        (PARTIAL, 0),
        "{ran}\n{}",
        environment.log()
    );
}

/// Each model call uses 18 tokens: it reads 11 and writes 7. One call leaves a part of the budget of 20, so a second one is
/// made, and no third one: a run may have budgets (contract M12).
pub(crate) fn a_budget_of_tokens_ends_the_run(connection: Connection, mode: Mode) {
    let turns: Vec<_> = two_steps().into_iter().map(Fixture::with_token_counts).collect();
    let environment = Environment::new(connection, mode, &turns);
    environment.configure("[execution]\nmaxTokens = 20\n");
    let ran = environment.run(&["--json"]);
    assert_eq!(
        (ran.code(), environment.requests().len()),
        (PARTIAL, 2),
        "{ran}\n{}",
        environment.log()
    );
    let limits = ran.json()["metadata"]["limitsHit"].to_string();
    assert!(limits.contains("36 tokens"), "{ran}");
}

/// An incomplete call is not run, and the model makes it again: if a reply was cut off or blocked, its calls are not run
/// (contract M10).
pub(crate) fn a_call_cut_off_at_the_token_limit_is_not_run(connection: Connection, mode: Mode) {
    let environment = Environment::new(connection, mode, &two_steps_after(fixture::truncated_first_call()));
    let ran = environment.run(&["--json"]);
    assert_eq!(ran.code(), 0, "{ran}\n{}", environment.log());
    assert_eq!(ran.json()["calls"].as_array().map(Vec::len), Some(2), "{ran}");
    let requests = MODEL_CALLS_OF_TWO_STEPS + 1;
    assert_eq!(environment.requests().len(), requests, "{}", environment.log());
}

/// Only for streams: an answer that was partly shown is not retried.
pub(crate) fn if_the_answer_breaks_off_the_results_of_the_steps_are_shown_instead(connection: Connection) {
    let broken = fixture::synthesis().breaking_off();
    assert_results_are_shown(&Environment::new(
        connection,
        Mode::Streaming,
        &two_steps_after([broken]),
    ));
}

/// Only for streams: the host ends a stream that stalls.
pub(crate) fn if_the_answer_stalls_the_results_of_the_steps_are_shown_instead(connection: Connection) {
    let stalling = fixture::synthesis().stalling();
    assert_results_are_shown(&Environment::new(
        connection,
        Mode::Streaming,
        &two_steps_after([stalling]),
    ));
}

/// Only for streams: the answer stalls, so what is shown of it was shown before its end.
pub(crate) fn an_answer_of_the_planner_after_its_calls_is_shown_while_it_arrives(connection: Connection) {
    let turns = fixture::direct_calls_and_stalling_answer();
    let ran = Environment::new(connection, Mode::Streaming, &turns).run_at_terminal();
    assert_eq!(ran.code(), PROVIDER_FAILED, "{ran}");
    assert!(ran.stdout().contains("17.5% of 2340 is"), "{ran}");
}

fn assert_results_are_shown(environment: &Environment) {
    let ran = environment.run(&[]);
    assert_eq!(ran.code(), PARTIAL, "{ran}");
    for result in ["409.5", "58.5"] {
        assert!(ran.stdout().contains(result), "`{result}` is missing:\n{ran}");
    }
    let requests = environment.requests();
    let synthesis_requests = requests.iter().filter(|request| request.is_synthesis()).count();
    assert_eq!(synthesis_requests, 1, "{}", environment.log());
}

/// Only for streams: the step fails, and the incomplete call is not run.
pub(crate) fn a_call_that_breaks_off_is_not_run(connection: Connection) {
    // Gemini sends a call in one piece, so for Gemini the stream breaks off in the thought before the call.
    let broken = fixture::first_call().thinking().breaking_off();
    let environment = Environment::new(connection, Mode::Streaming, &two_steps_after([broken]));
    let ran = environment.run(&["--json"]);
    assert_eq!(ran.code(), PARTIAL, "{ran}\n{}", environment.log());
    assert_eq!(ran.json()["calls"], serde_json::json!([]), "{ran}");
}

/// Two calls with the same identifier are run separately: repeated call identifiers are made unique (contract M05).
pub(crate) fn calls_with_the_same_identifier_are_each_answered(connection: Connection, mode: Mode) {
    let environment = Environment::new(
        connection,
        mode,
        &fixture::one_step(fixture::calls_with_the_same_identifier()),
    );
    let ran = environment.run(&["--json"]);
    assert_eq!(
        (ran.code(), count_calls_run(&ran)),
        (0, 2),
        "{ran}\n{}",
        environment.log()
    );
}
