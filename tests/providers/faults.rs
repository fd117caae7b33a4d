//! Runs that meet a fault of the provider.

use crate::connection::{Connection, Mode};
use crate::fixture::{self, ANSWER, Fixture, two_steps, two_steps_after};
use crate::mock::Request;
use crate::program::Ran;
use crate::world::World;

/// A fault that passes: the run ends as if it had not been, after one more question.
fn assert_asked_again(world: &World, ran: &Ran) {
    assert_eq!(ran.stdout().trim_end(), ANSWER, "{ran}\n{}", world.wire());
    assert_eq!(ran.code(), 0, "{ran}");
    assert!(
        ran.stderr().contains("trying again in"),
        "the retry is not shown:\n{ran}"
    );
}

/// A fault that stays: one sentence with all of `words`, and nothing that looks like an answer.
fn assert_failed(world: &World, ran: &Ran, words: &[&str]) {
    assert_eq!(ran.code(), 8, "{ran}\n{}", world.wire());
    assert_eq!(ran.stdout(), "", "{ran}");
    let stderr = ran.stderr();
    let errors: Vec<_> = stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 1, "{ran}");
    for word in words {
        assert!(errors[0].contains(word), "`{word}` is missing:\n{ran}");
    }
}

fn plannings(world: &World) -> usize {
    world.requests().iter().filter(|request| request.is_planning()).count()
}

pub(crate) fn a_rate_limit_is_waited_out(connection: Connection, mode: Mode) {
    let limited = fixture::planning().failing(429, "rate_limit_exceeded").once();
    let world = World::new(connection, mode, &two_steps_after([limited]));
    assert_asked_again(&world, &world.run(&[]));
    let requests = world.requests();
    let asked: Vec<_> = requests.iter().filter(|request| request.is_planning()).collect();
    let [limited, answered] = asked[..] else {
        panic!("{}", world.wire())
    };
    assert_eq!((limited.status(), answered.status()), (429, 200));
    // `Retry-After: 1`; it may take longer, but never less.
    assert!(answered.timestamp() >= limited.timestamp() + 1_000, "{}", world.wire());
}

pub(crate) fn an_endless_rate_limit_ends_the_run_and_the_thread_goes_on(connection: Connection, mode: Mode) {
    let world = World::new(connection, mode, &two_steps());
    world.mock.start_chaos("rateLimitRate");
    let ran = world.run(&[]);
    assert_failed(&world, &ran, &[connection.provider, "no more requests"]);
    assert_eq!(plannings(&world), 4, "one question and three retries: {}", world.wire());
    world.mock.end_chaos();
    let thread = world.art(&["--json", "thread", "list"]).json()[0]["id"].clone();
    let resumed = world.run(&["--thread", thread.as_str().unwrap()]);
    assert_eq!(resumed.stdout().trim_end(), ANSWER, "{resumed}\n{}", world.wire());
}

/// Nobody waits for an hour: the question is asked again after the usual waits, and the error says when it is worth while to ask
/// the next time (M01).
pub(crate) fn a_rate_limit_of_an_hour_is_not_waited_out(connection: Connection, mode: Mode) {
    let limited = fixture::planning()
        .failing(429, "rate_limit_exceeded")
        .to_be_asked_again(3_600);
    let world = World::new(connection, mode, &[limited]);
    assert_failed(
        &world,
        &world.run(&[]),
        &["no more requests", "it may be asked again in 60 min"],
    );
    assert_eq!(plannings(&world), 4, "one question and three retries: {}", world.wire());
}

/// A time that is none is as if there were none (M01).
pub(crate) fn a_rate_limit_without_a_time_is_tried_again(connection: Connection, mode: Mode) {
    let limited = |n: usize, when: &str| {
        let limited = fixture::planning().failing(429, "rate_limit_exceeded");
        limited.to_be_asked_again(when).nth(n)
    };
    let turns = two_steps_after([limited(0, "soon"), limited(1, "-1"), limited(2, "1e999")]);
    let world = World::new(connection, mode, &turns);
    assert_asked_again(&world, &world.run(&[]));
    assert_eq!(plannings(&world), 4, "{}", world.wire());
}

/// As often as there are retries (M02).
pub(crate) fn failures_of_the_provider_in_a_row_are_got_over(connection: Connection, mode: Mode) {
    let failing = |n, status| fixture::planning().failing(status, "server_error").nth(n);
    let world = World::new(
        connection,
        mode,
        &two_steps_after([failing(0, 500), failing(1, 503), failing(2, 529)]),
    );
    assert_asked_again(&world, &world.run(&[]));
    assert_eq!(plannings(&world), 4, "{}", world.wire());
}

/// It would be refused again (M03).
pub(crate) fn a_request_that_is_refused_is_not_made_again(connection: Connection, mode: Mode) {
    for (status, code) in [(400, "invalid_request_error"), (403, "permission_denied")] {
        let world = World::new(connection, mode, &[fixture::planning().failing(status, code)]);
        assert_failed(&world, &world.run(&[]), &[connection.provider]);
        assert_eq!(plannings(&world), 1, "{status}: {}", world.wire());
    }
}

pub(crate) fn a_connection_lost_before_the_first_token_is_tried_again(connection: Connection, mode: Mode) {
    let lost = fixture::planning().chaos("disconnectRate").once();
    let world = World::new(connection, mode, &two_steps_after([lost]));
    assert_asked_again(&world, &world.run(&[]));
}

pub(crate) fn a_provider_that_fails_once_is_asked_again(connection: Connection, mode: Mode) {
    let failing = fixture::planning().chaos("dropRate").once();
    let world = World::new(connection, mode, &two_steps_after([failing]));
    assert_asked_again(&world, &world.run(&[]));
}

/// A reply that comes as a whole is being written while nothing comes, and would be paid for twice: only a stream counts as
/// silent.
pub(crate) fn a_provider_that_does_not_answer_in_time_is_asked_again(connection: Connection) {
    let silent = fixture::planning().silent().once();
    let world = World::new(connection, Mode::Streaming, &two_steps_after([silent]));
    assert_asked_again(&world, &world.run(&[]));
}

pub(crate) fn a_reply_that_is_no_json_ends_the_run_at_once(connection: Connection, mode: Mode) {
    let malformed = fixture::planning().chaos("malformedRate");
    let world = World::new(connection, mode, &[malformed]);
    assert_failed(&world, &world.run(&[]), &["is not JSON", "base_url"]);
    assert_eq!(plannings(&world), 1, "{}", world.wire());
}

pub(crate) fn a_refused_key_is_said_and_not_repeated(connection: Connection, mode: Mode) {
    let world = World::with_key(connection, mode, &two_steps(), Some("sk-another"));
    assert_failed(
        &world,
        &world.run(&[]),
        &["did not accept the key", key_source(connection)],
    );
}

/// Returns where an error says that the key is from, or can be.
fn key_source(connection: Connection) -> &'static str {
    connection.key.map_or("api_key_env", |(variable, _)| variable)
}

pub(crate) fn an_error_that_repeats_the_key_is_shown_without_it(connection: Connection, mode: Mode) {
    let refused = fixture::planning().failing(401, "invalid_api_key");
    let world = World::new(connection, mode, &[refused]);
    let ran = world.run(&[]);
    // Without a key there is nothing to hide, and the words stay as they are.
    let hidden = if connection.key.is_some() {
        "refused with ["
    } else {
        "refused with"
    };
    assert_failed(&world, &ran, &["did not accept the key", hidden]);
    assert_eq!(plannings(&world), 1, "{}", world.wire());
}

pub(crate) fn an_unknown_model_is_named(connection: Connection, mode: Mode) {
    let unknown = fixture::planning().failing(404, "model_not_found");
    let world = World::new(connection, mode, &[unknown]);
    assert_failed(&world, &world.run(&[]), &[connection.model]);
    assert_eq!(plannings(&world), 1, "{}", world.wire());
}

/// There is nothing to leave out of the question, so it is not asked again (M09).
pub(crate) fn a_question_that_is_too_long_is_said(connection: Connection, mode: Mode) {
    let world = World::new(connection, mode, &[fixture::planning().too_long()]);
    assert_failed(&world, &world.run(&[]), &["longer than the model takes"]);
    assert_eq!(plannings(&world), 1, "{}", world.wire());
}

/// A model that only ever calls is stopped, and the limit is named (M08).
pub(crate) fn a_model_that_calls_for_ever_is_stopped(connection: Connection, mode: Mode) {
    let world = World::new(connection, mode, &two_steps_after([fixture::first_call_for_ever()]));
    let ran = world.run(&["--json"]);
    assert_eq!(ran.code(), 3, "{ran}\n{}", world.wire());
    let limits = ran.json()["metadata"]["limitsHit"].to_string();
    assert!(limits.contains("`step_1`") && limits.contains("model calls"), "{ran}");
}

/// A model that says nothing is asked a few times and no more (M08).
pub(crate) fn a_model_that_says_nothing_for_ever_is_stopped(connection: Connection, mode: Mode) {
    let world = World::new(connection, mode, &two_steps_after([fixture::empty_for_ever()]));
    let ran = world.run(&["--json"]);
    assert_eq!(ran.code(), 3, "{ran}\n{}", world.wire());
    assert_eq!(ran.json()["calls"], serde_json::json!([]), "{ran}");
    assert!(world.requests().len() < 12, "{}", world.wire());
}

/// Of a hundred calls as many are carried out as a reply may make, and the others are answered (M08).
pub(crate) fn calls_beyond_the_limit_of_a_reply_are_not_carried_out(connection: Connection, mode: Mode) {
    let world = World::new(connection, mode, &fixture::many_calls(100));
    // All of them have to fit into the next request.
    world.configure("context_tokens = 100000\n");
    let ran = world.run(&["--json"]);
    assert_eq!(carried_out(&ran), 64, "{ran}\n{}", world.wire());
    let requests = world.requests();
    let answers = |request: &Request| {
        let messages = request.messages().iter();
        messages.filter(|message| message["role"] == "tool").count()
    };
    assert_eq!(requests.iter().map(answers).max(), Some(100), "{}", world.wire());
}

/// So many calls are no reply (M08).
pub(crate) fn a_reply_of_five_hundred_calls_is_not_carried_out(connection: Connection, mode: Mode) {
    let world = World::new(connection, mode, &fixture::many_calls(500));
    let ran = world.run(&["--json"]);
    assert_eq!((ran.code(), carried_out(&ran)), (3, 0), "{ran}\n{}", world.wire());
}

fn carried_out(ran: &Ran) -> usize {
    ran.json()["calls"].as_array().map_or(0, Vec::len)
}

/// What the provider held back is not what the model wanted to call (M10).
pub(crate) fn a_call_that_was_held_back_is_not_carried_out(connection: Connection, mode: Mode) {
    let held_back = fixture::first_call().held_back(connection);
    let world = World::new(connection, mode, &two_steps_after([held_back]));
    let ran = world.run(&["--json"]);
    assert_eq!((ran.code(), carried_out(&ran)), (3, 0), "{ran}\n{}", world.wire());
}

/// Each call reads 11 tokens and writes 7, so there are two (M12).
pub(crate) fn a_budget_of_tokens_ends_the_run(connection: Connection, mode: Mode) {
    let turns: Vec<_> = two_steps().into_iter().map(Fixture::counted).collect();
    let world = World::new(connection, mode, &turns);
    world.configure("[execution]\nmaxTokens = 20\n");
    let ran = world.run(&["--json"]);
    assert_eq!((ran.code(), world.requests().len()), (3, 2), "{ran}\n{}", world.wire());
    let limits = ran.json()["metadata"]["limitsHit"].to_string();
    assert!(limits.contains("36 tokens"), "{ran}");
}

/// A call of which only the beginning came is none (M10).
pub(crate) fn a_call_that_ran_out_of_tokens_is_not_carried_out(connection: Connection, mode: Mode) {
    let world = World::new(connection, mode, &two_steps_after(fixture::first_call_cut()));
    let ran = world.run(&["--json"]);
    assert_eq!(ran.code(), 0, "{ran}\n{}", world.wire());
    assert_eq!(ran.json()["calls"].as_array().map(Vec::len), Some(2), "{ran}");
    assert_eq!(world.requests().len(), 7, "{}", world.wire());
}

/// Only for streams: what has been shown cannot be taken back, so there is no second try.
pub(crate) fn an_answer_that_breaks_off_leaves_the_results(connection: Connection) {
    let broken = fixture::synthesis().breaking_off();
    assert_results_are_left(&World::new(connection, Mode::Streaming, &two_steps_after([broken])));
}

/// Only for streams: a stream that says nothing more is ended by the host.
pub(crate) fn an_answer_that_stalls_leaves_the_results(connection: Connection) {
    let stalling = fixture::synthesis().stalling();
    assert_results_are_left(&World::new(connection, Mode::Streaming, &two_steps_after([stalling])));
}

fn assert_results_are_left(world: &World) {
    let ran = world.run(&[]);
    assert_eq!(ran.code(), 3, "{ran}");
    for result in ["409.5", "58.5"] {
        assert!(ran.stdout().contains(result), "`{result}` is missing:\n{ran}");
    }
    let requests = world.requests();
    let asked = requests.iter().filter(|request| request.is_synthesis()).count();
    assert_eq!(asked, 1, "{}", world.wire());
}

/// Only for streams: the step fails, and nothing that was half said is done.
pub(crate) fn a_call_that_breaks_off_is_not_carried_out(connection: Connection) {
    // Gemini sends a call in one piece, so there the stream ends within the thought before it.
    let broken = fixture::first_call().thinking().breaking_off();
    let world = World::new(connection, Mode::Streaming, &two_steps_after([broken]));
    let ran = world.run(&["--json"]);
    assert_eq!(ran.code(), 3, "{ran}\n{}", world.wire());
    assert_eq!(ran.json()["calls"], serde_json::json!([]), "{ran}");
}

/// Two calls with one identifier are two calls, each with its own arguments (M05).
pub(crate) fn calls_with_one_identifier_are_each_answered(connection: Connection, mode: Mode) {
    let world = World::new(connection, mode, &fixture::one_step(fixture::twins()));
    let ran = world.run(&["--json"]);
    assert_eq!((ran.code(), carried_out(&ran)), (0, 2), "{ran}\n{}", world.wire());
}
