//! The journal of a run: what a replay returns and refuses, and the wire form of its events.

use art_agent::{ReplayError, Run, RunEvent};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::*;

/// Returns a driver whose run has parallel items, a plan update, a call that is refused because it is the third identical one,
/// and a failed model call.
fn driver_of_eventful_run() -> Driver {
    let update = json!({"content": "1", "updatedPlan": {"todoList": [reasoning_item("c", &["a"])]}}).to_string();
    driver_with_plan(&json!([
        reasoning_item("a", &[]),
        tool_item("b", &[]),
        reasoning_item("d", &["b"])
    ]))
    .script("a", [says(update)])
    .script("b", [calculate("1"), calculate("1"), calculate("1"), times_out()])
    .script("c", [completes_item("3")])
    .script("answer", [says("ok")])
}

#[test]
fn every_prefix_of_a_journal_replays_to_the_run_as_it_was_after_the_prefix() {
    let mut driver = driver_of_eventful_run();
    let mut runs = vec![(driver.journal.len(), driver.run.clone())];
    while driver.run.finished().is_none() {
        let action = driver.open_actions().remove(0);
        for event in driver.answer(action) {
            driver.apply(&event);
            runs.push((driver.journal.len(), driver.run.clone()));
        }
    }
    for (event_count, run) in runs {
        assert_eq!(Run::replay(&driver.journal[..event_count]).unwrap(), run);
    }
}

#[test]
fn the_last_event_has_the_same_effects_after_a_replay_of_the_events_before_it() {
    let mut driver = driver_of_eventful_run();
    driver.drive();
    let (last, earlier) = driver.journal.split_last().unwrap();
    let effects = Run::replay(earlier).unwrap().apply(last).unwrap();
    assert!(driver.effects.ends_with(&effects));
}

#[test]
fn a_journal_that_does_not_begin_with_a_start_is_refused() {
    assert_eq!(
        Run::replay(&[RunEvent::CancelRequested {
            at: 1,
            interrupted: Vec::new()
        }]),
        Err(ReplayError::NotStarted)
    );
    assert_eq!(Run::replay(&[]), Err(ReplayError::NotStarted));
}

#[test]
fn a_journal_with_a_missing_event_is_refused_at_a_later_event() {
    let mut driver = driver_of_eventful_run();
    driver.drive();
    for missing in 1..driver.journal.len() - 1 {
        let mut journal = driver.journal.clone();
        journal.remove(missing);
        let refused = Run::replay(&journal).unwrap_err();
        assert!(
            matches!(refused, ReplayError::DoesNotFit { index, .. } if index >= missing),
            "{missing}"
        );
    }
}

#[test]
fn the_wire_form_of_events_is_stable() {
    let mut driver = driver_with_plan(&json!([tool_item("a", &[])])).script("a", [calculate("1")]);
    for _ in 0..3 {
        driver.answer_all();
    }
    driver.cancel();
    let wire: Vec<Value> = driver
        .journal
        .iter()
        .skip(1)
        .map(|event| serde_json::to_value(event).unwrap())
        .collect();
    insta::assert_json_snapshot!(wire);
}

#[test]
fn a_start_that_an_older_host_wrote_is_read_with_defaults_for_new_fields() {
    let older = json!({
        "type": "started", "at": 1, "start": {
            "props": {
                "query": "q", "threadId": "t", "traceId": "r",
                "attachments": [{"name": "a.txt", "mediaType": "text/plain", "text": "x"}],
            },
            "config": {"maxIterations": 3, "maxItems": 2, "maxToolCalls": 8},
            "systemPrompts": ["Be brief.", {"content": "x", "strategy": "prepend"}],
            "model": {"providerName": "embedded", "modelId": "rules-1"},
        },
    });
    let event: RunEvent = serde_json::from_value(older).unwrap();
    let (run, _) = Run::start(&event).unwrap();
    let default_max_model_calls = 120;
    assert_eq!(run.started_with().config.max_model_calls, default_max_model_calls);
    assert_eq!(run.started_with().context.tokens(), None);
}

/// Pattern of texts that resemble replies of every phase.
const REPLY_PATTERN: &str = "(<think>|</think>|```json\n|```|---JSON_OUTPUT_START---|---JSON_OUTPUT_END---|\\{\"todoList\":\\[\\]\\}|\
                     \\{\"toolCalls\":\\[\\{\"toolName\":\"calculator\"\\}\\]\\}|\\{\"todoList\":\\[\\{\"id\":1,\"description\":\"d\"\\}\\]\\}|\
                     \\{\"content\":1,\"updatedPlan\":\\{\"todoList\":\\[\\]\\}\\}|\\{|\\}|x|<mainContent>){0,6}";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Items end in any order, any of them may fail, and the run may be cancelled at any time. The run always ends with an
    /// answer. After every event, the driver replays the journal and compares the replayed run with its own.
    #[test]
    fn a_replay_gives_the_same_run_for_any_order_of_replies_and_results(picks in prop::collection::vec((0usize..4, 0u8..5), 1..40), cancel_at in 0usize..40) {
        let items: Vec<_> = ["a", "b", "c", "d"].iter().map(|id| tool_item(id, &[])).collect();
        let mut driver = driver_with_plan(&json!(items));
        driver.answer_all();
        for (n, (action_number, reply_kind)) in picks.iter().enumerate() {
            if driver.run.finished().is_some() {
                break;
            }
            if n == cancel_at {
                driver.cancel();
                break;
            }
            let mut actions = driver.open_actions();
            let action = actions.remove(action_number % actions.len());
            let step = match &action {
                Action::CallModel(call) => step_name(call),
                // Tool calls need no reply. No step has an empty name, so the reply is not used.
                Action::CallTools { .. } => String::new(),
            };
            let reply = match reply_kind {
                0 => completes_item("x"),
                1 => calculate("1"),
                2 => calculate(FAILS),
                3 => times_out(),
                _ => says("{\"toolCalls\": 1}"),
            };
            driver = driver.script(&step, [reply]);
            driver.carry_out(action);
        }
        if driver.run.finished().is_none() {
            driver.cancel();
        }
        prop_assert!(!driver.run.finished().unwrap().response.response.content.is_empty());
    }

    // This needs the feature `float_roundtrip` of serde_json. Without it, the parser may return a neighbouring number.
    #[test]
    fn a_journaled_number_is_the_same_to_the_last_bit(number in prop::num::f64::NORMAL) {
        let text = serde_json::to_string(&number).unwrap();
        prop_assert_eq!(serde_json::from_str::<f64>(&text).unwrap().to_bits(), number.to_bits());
    }

    /// With any budgets and context window, and however replies end, the run makes no more model calls than it may, and ends
    /// once, with an answer. After every event, the driver replays the journal and compares the replayed run with its own.
    #[test]
    fn a_run_ends_in_one_answer_with_any_budget(
        replies in prop::collection::vec((0u8..9, REPLY_PATTERN), 60),
        context in prop::option::of(100u64..6_000),
        max_calls in 0u32..12,
        max_tokens in prop::option::of(0u64..150),
        action_number in 0usize..4,
    ) {
        let mut start = start("q");
        start.context = context.into();
        start.config.max_model_calls = max_calls;
        start.config.max_tokens = max_tokens;
        let mut driver = Driver::new(start);
        let mut replies = replies.into_iter();
        while driver.run.finished().is_none() {
            let mut actions = driver.open_actions();
            let action = actions.remove(action_number % actions.len());
            if let Action::CallModel(call) = &action {
                let step = step_name(call);
                let step = step.as_str();
                let (reply_kind, text) = replies.next().unwrap();
                let reply = match (reply_kind, step) {
                    (0, _) => with_stop_reason(says(text), art_core::stream::StopReason::Length),
                    (1, _) => with_stop_reason(says(text), art_core::stream::StopReason::ContentFilter),
                    (2, _) => exceeds_context(),
                    (3, _) => says(text),
                    (_, "plan") => plan(&json!([
                        tool_item("a", &[]), reasoning_item("b", &[]), reasoning_item("c", &["a"]), tool_item("d", &["b"]),
                    ])),
                    (4, _) => calculate("1"),
                    (5, _) => native_calls([native_call("x", "calculator", "{}"), native_call("x", "clock", "{")]),
                    (6, _) => times_out(),
                    _ => completes_item("x"),
                };
                driver = driver.script(step, [reply]);
            }
            driver.carry_out(action);
        }
        let report = driver.run.finished().unwrap();
        prop_assert!(!report.response.response.content.is_empty());
        prop_assert!(report.response.metadata.llm_calls <= max_calls);
        prop_assert_eq!(driver.observations(art_core::observation::ObservationType::FinalResponse).len(), 1);
        prop_assert!(driver.observations(art_core::observation::ObservationType::Synthesis).len() <= 1);
        let statuses = driver.statuses();
        let in_progress = statuses.iter().filter(|(_, status)| *status == art_core::pes::TodoItemStatus::InProgress);
        prop_assert_eq!(in_progress.count(), 0);
    }

    /// For any reply of a model, the run ends with an answer, and its journal replays to the same run.
    #[test]
    fn a_run_ends_in_an_answer_with_any_replies(replies in prop::collection::vec(REPLY_PATTERN, 60)) {
        let mut driver = Driver::new(start("q"));
        let mut replies = replies.into_iter();
        while driver.run.finished().is_none() {
            let action = driver.open_actions().remove(0);
            if let Action::CallModel(call) = &action {
                let step = step_name(call);
                let step = step.as_str();
                driver = driver.script(step, [says(replies.next().unwrap())]);
            }
            driver.carry_out(action);
        }
        prop_assert!(!driver.run.finished().unwrap().response.response.content.is_empty());
    }
}
