//! A recorded call can be run again from its record, with the same result and the same fuel.
//!
//! A guest asks the host questions, for example what time it is, or whether the call was cancelled. The record (`Intake`) has
//! the seed of the random numbers and a list of crossings. A crossing is an answer of the host, with the number of times that the
//! guest got it in a row. A replay gives the recorded answers to the guest. If the guest asks for something else than what is
//! recorded, the replay diverges from the record.

use std::sync::Arc;

use art_core::intake::{Answer, Crossing, CrossingKind, Divergence, DivergenceReason, Intake, Replayed, Seed};
use art_core::limits::Limits;
use art_core::outcome::{Ending, Outcome};
use art_core::usage::ToolUsage;
use art_sandbox::Plugin;
use art_tools::executor::{CheckedCall, ToolExecutor};
use futures_util::future::join_all;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::{call, components, guest, output, tool_call};

/// All questions that the component `asks.wasm` can put to the host, except `until_cancelled`, which ends only with a
/// cancellation.
const QUESTIONS: [&str; 10] = [
    "wall_clock",
    "clock",
    "clock_often",
    "random",
    "hash_seed",
    "sleep",
    "poll",
    "ready",
    "cancelled",
    "compute",
];

fn asks_guest() -> Arc<Plugin> {
    guest(components::ASKS)
}

/// Returns the arguments of a call that asks these questions. `n` is a number of repetitions, of milliseconds or of iterations,
/// depending on the question.
fn arguments_asking(questions: &[&str], n: u64) -> Value {
    json!({"questions": questions, "n": n})
}

/// Calls the guest. The outcome contains the record of the call.
async fn record(arguments: Value) -> Outcome {
    call(&asks_guest(), arguments, Limits::EXECUTE).await
}

/// Replays a call with these arguments from a record, within limits.
async fn replay_within(arguments: Value, intake: &Intake, limits: Limits) -> Replayed {
    let call = CheckedCall::for_test(tool_call(arguments), limits);
    asks_guest()
        .replay(&call, intake)
        .expect("a plugin can be replayed")
        .await
}

async fn replay(arguments: Value, intake: &Intake) -> Replayed {
    replay_within(arguments, intake, Limits::EXECUTE).await
}

/// Returns an outcome without the times, which differ between two runs, and without the used grants, since a replay uses none.
pub(crate) fn without_times_and_used_grants(mut outcome: Outcome) -> Outcome {
    outcome.usage = ToolUsage {
        wall_us: 0,
        cpu_us: 0,
        ..outcome.usage
    };
    outcome.uses.clear();
    outcome
}

/// Returns the crossing of an answer that was given once.
fn once(answer: Answer) -> Crossing {
    Crossing { answer, count: 1 }
}

/// Returns a record with these crossings. It also has a seed, because the guest draws a random number when it reads its input.
fn record_with(crossings: Vec<Crossing>) -> Intake {
    Intake {
        seed: Some(Seed([1; 32])),
        crossings,
        ..Intake::default()
    }
}

/// Asserts that a replay of the call with the outcome `recorded` does not diverge, and has the same outcome except for times and
/// used grants.
async fn assert_same_outcome_in_replay(arguments: Value, recorded: Outcome) {
    let replayed = replay(arguments, &recorded.intake).await;
    assert_eq!(replayed.divergence, None);
    assert_eq!(
        without_times_and_used_grants(replayed.outcome),
        without_times_and_used_grants(recorded)
    );
}

#[tokio::test]
async fn a_replayed_call_has_the_same_output_log_fuel_and_record() {
    let arguments = arguments_asking(&QUESTIONS, 3);
    let recorded = record(arguments.clone()).await;
    assert_eq!(output(&recorded).as_array().unwrap().len(), QUESTIONS.len());
    assert!(!recorded.log.is_empty() && recorded.intake.seed.is_some());
    assert_same_outcome_in_replay(arguments, recorded).await;
}

#[tokio::test]
async fn a_record_that_was_stored_as_json_is_replayed_identically() {
    let arguments = arguments_asking(&QUESTIONS, 2);
    let mut recorded = record(arguments.clone()).await;
    let text = serde_json::to_string(&recorded.intake).unwrap();
    recorded.intake = serde_json::from_str(&text).unwrap();
    assert_same_outcome_in_replay(arguments, recorded).await;
}

#[tokio::test]
async fn a_recorded_cancellation_is_replayed_although_nobody_cancels() {
    let arguments = arguments_asking(&["until_cancelled"], 0);
    let crossings = vec![
        Crossing {
            answer: Answer::Cancelled(false),
            count: 41,
        },
        once(Answer::Cancelled(true)),
    ];
    let intake = record_with(crossings);
    let replayed = replay(arguments, &intake).await;
    // The guest returns how many times it asked: 41 times before the cancellation, and once after it.
    assert_eq!((output(&replayed.outcome), replayed.divergence), (json!(["42"]), None));
}

#[tokio::test]
async fn repeated_questions_about_a_cancellation_share_one_crossing() {
    let recorded = record(arguments_asking(&["cancelled"], 50_000)).await;
    let expected = Crossing {
        answer: Answer::Cancelled(false),
        count: 50_000,
    };
    assert_eq!(recorded.intake.crossings, [expected]);
}

#[tokio::test]
async fn a_tool_without_wasi_that_asks_nothing_has_an_empty_record() {
    let plugin = guest(components::WITHOUT_WASI);
    let outcome = call(&plugin, json!({"action": "hold", "n": 1}), Limits::EXECUTE).await;
    let Intake { seed, crossings, .. } = outcome.intake;
    assert_eq!((seed, crossings), (None, Vec::new()));
}

#[tokio::test]
async fn a_replayed_call_does_not_read_the_real_clocks() {
    let crossings = vec![once(Answer::WallClock(1, 5)), once(Answer::MonotonicClock(7))];
    let intake = record_with(crossings);
    let replayed = replay(arguments_asking(&["wall_clock", "clock"], 0), &intake).await;
    assert_eq!(replayed.divergence, None);
    // The monotonic clock has the time 7 and the resolution 1.
    assert_eq!(output(&replayed.outcome), json!(["1.000000005s", "7 1"]));
}

#[tokio::test]
async fn a_replayed_call_does_not_wait() {
    let intake = record_with(vec![once(Answer::Waited), once(Answer::Polled(vec![0, 1]))]);
    // An hour, far beyond the time limit.
    let replayed = replay(arguments_asking(&["sleep", "poll"], 3_600_000), &intake).await;
    assert_eq!(replayed.divergence, None);
    assert_eq!(output(&replayed.outcome), json!(["slept", "[0, 1]"]));
}

#[tokio::test]
async fn calls_draw_different_random_numbers_and_a_replay_draws_those_of_its_call() {
    let arguments = arguments_asking(&["random", "hash_seed", "random"], 0);
    let (first, second) = (record(arguments.clone()).await, record(arguments.clone()).await);
    assert_ne!(output(&first), output(&second));
    assert_ne!(output(&first)[0], output(&first)[2]);
    assert!(first.intake.crossings.is_empty());
    assert_same_outcome_in_replay(arguments, first).await;
}

#[tokio::test]
async fn another_seed_draws_other_random_numbers() {
    let arguments = arguments_asking(&["random"], 0);
    let recorded = record(arguments.clone()).await;
    // The record for the replay has another seed: that of `record_with`.
    let replayed = replay(arguments, &record_with(Vec::new())).await;
    assert_eq!(replayed.divergence, None);
    assert_ne!(output(&replayed.outcome), output(&recorded));
}

/// Records a call that asks the clock (question 1), twice whether it was cancelled (questions 2 and 3, which share one crossing),
/// and the clock again (question 4). Replays it with changed crossings.
async fn replay_changed(change: impl FnOnce(&mut Vec<Crossing>)) -> Replayed {
    let arguments = arguments_asking(&["clock", "cancelled", "clock"], 2);
    let mut intake = record(arguments.clone()).await.intake;
    change(&mut intake.crossings);
    replay(arguments, &intake).await
}

/// Asserts that a replay diverged from the record at the question with this number, for this reason.
fn assert_diverged(replayed: &Replayed, number: u64, reason: DivergenceReason) {
    let divergence = Divergence { number, reason };
    assert_eq!(replayed.divergence, Some(divergence));
    // Unused answers are noticed only after the call has ended.
    if !matches!(reason, DivergenceReason::Unused { .. }) {
        let message = divergence.to_string();
        assert_eq!(replayed.outcome.ending, Ending::HostError { message });
    }
}

#[tokio::test]
async fn a_replay_diverges_where_the_record_has_another_kind_of_answer() {
    let replayed = replay_changed(|crossings| {
        crossings.remove(1);
    });
    let (asked, recorded) = (CrossingKind::Cancelled, CrossingKind::MonotonicClock);
    assert_diverged(&replayed.await, 2, DivergenceReason::OtherKind { asked, recorded });
}

#[tokio::test]
async fn a_replay_diverges_at_the_first_question_after_the_end_of_the_record() {
    let replayed = replay_changed(|crossings| {
        crossings.pop();
    });
    let asked = CrossingKind::MonotonicClock;
    assert_diverged(&replayed.await, 4, DivergenceReason::Exhausted { asked });
}

#[tokio::test]
async fn a_replay_that_leaves_a_recorded_answer_unused_diverges_at_the_end_of_the_call() {
    let replayed = replay_changed(|crossings| crossings.push(once(Answer::Waited))).await;
    let recorded = CrossingKind::Waited;
    assert_diverged(&replayed, 5, DivergenceReason::Unused { recorded });
    assert_eq!(replayed.outcome.ending.name(), "success");
}

#[tokio::test]
async fn a_replay_that_draws_random_numbers_without_a_recorded_seed_diverges() {
    let replayed = replay(arguments_asking(&["random"], 0), &Intake::default()).await;
    let asked = CrossingKind::Random;
    assert_diverged(&replayed, 1, DivergenceReason::Exhausted { asked });
}

#[tokio::test]
async fn a_replay_of_a_record_with_an_impossible_result_of_a_poll_diverges() {
    // The guest polls two timers, with the indices 0 and 1, and a poll ends only when one of them is ready.
    for ready in [vec![2], vec![]] {
        let intake = record_with(vec![once(Answer::Polled(ready))]);
        let replayed = replay(arguments_asking(&["poll"], 0), &intake).await;
        let asked = CrossingKind::Polled;
        assert_diverged(&replayed, 1, DivergenceReason::Unfit { asked });
    }
}

#[tokio::test]
async fn a_truncated_record_is_not_replayed() {
    // The answers of the clock differ, so each is a crossing of its own, and so many crossings outgrow `Intake::MAX_BYTES`.
    let arguments = arguments_asking(&["clock_often"], 50_000);
    let recorded = record(arguments.clone()).await;
    assert_eq!(recorded.ending.name(), "success");
    assert!(recorded.intake.truncated && recorded.intake.crossings.is_empty());
    let replayed = replay(arguments, &recorded.intake).await;
    assert_diverged(&replayed, 1, DivergenceReason::Truncated);
    assert_eq!(replayed.outcome.usage, ToolUsage::default());
}

#[tokio::test]
async fn a_replay_is_stopped_if_it_takes_far_longer_than_the_time_limit() {
    let limits = Limits {
        timeout_ms: 20,
        fuel: Limits::MAX.fuel,
        ..Limits::EXECUTE
    };
    let replayed = replay_within(
        arguments_asking(&["compute"], u64::MAX),
        &record_with(Vec::new()),
        limits,
    )
    .await;
    // A replay may take twice the time limit of the call.
    let limit_ms = 2 * limits.timeout_ms;
    assert_eq!(replayed.outcome.ending, Ending::Timeout { limit_ms });
}

#[tokio::test]
async fn fuel_does_not_depend_on_the_load_of_the_machine() {
    const CONCURRENT_CALLS: [usize; 5] = [1, 4, 16, 29, 50];
    let arguments = arguments_asking(&["compute", "cancelled", "compute"], 20_000);
    let alone = record(arguments.clone()).await;
    let mut fuel = Vec::new();
    for concurrent_calls in CONCURRENT_CALLS {
        let calls = (0..concurrent_calls).map(|_| record(arguments.clone()));
        fuel.extend(join_all(calls).await.into_iter().map(|outcome| outcome.usage.fuel));
    }
    assert_eq!(fuel, vec![alone.usage.fuel; CONCURRENT_CALLS.iter().sum()]);
}

#[tokio::test]
async fn the_fuel_of_a_call_with_too_many_host_calls_does_not_depend_on_the_load() {
    let arguments = arguments_asking(&["compute", "cancelled", "compute"], 20_000);
    let limits = Limits {
        host_calls: 100,
        ..Limits::EXECUTE
    };
    let plugin = asks_guest();
    let calls = (0..40).map(|_| call(&plugin, arguments.clone(), limits));
    let outcomes = join_all(calls).await;
    for outcome in &outcomes {
        // This is also the name of the ending of a call with too many host calls.
        assert_eq!(outcome.ending.name(), "fuel_exhausted");
        assert_eq!(outcome.usage.fuel, outcomes[0].usage.fuel);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn any_sequence_of_questions_is_replayed_with_the_same_result_and_fuel(
        questions in prop::collection::vec(prop::sample::select(&QUESTIONS[..]), 0..12),
        n in 0_u64..4,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        runtime.block_on(async {
            let arguments = arguments_asking(&questions, n);
            let recorded = record(arguments.clone()).await;
            assert_same_outcome_in_replay(arguments, recorded).await;
        });
    }
}
