//! Budgets of a run, and cutting requests to fit (M09, M12, C48).

use art_agent::{ActionId, InterruptedCall, RunEvent, RunStart};
use art_core::agent::{ExecutionMetadata, RunStatus};
use art_core::conversation::ConversationMessage;
use art_core::error::{ModelError, ModelErrorCode};
use art_core::observation::ObservationType as Kind;
use art_core::pes::TodoItemStatus::{Completed, Failed, Pending};
use art_core::price::Price;
use art_core::provider::ContextWindow;
use art_core::stream::{PartialReply, StreamEvent};
use serde_json::json;

use crate::harness::*;

fn message(role: &str, content: &str) -> ConversationMessage {
    let message = json!({"messageId": "m", "threadId": "thread", "role": role, "content": content, "timestamp": 1});
    serde_json::from_value(message).unwrap()
}

/// Returns a driver whose plan has two consecutive steps, and whose script completes the first one.
fn driver_with_two_steps(start: RunStart) -> Driver {
    Driver::new(start)
        .script("plan", [plan(&json!([tool_item("a", &[]), tool_item("b", &["a"])]))])
        .script("a", [calculate("1"), completes_item("1")])
}

#[test]
fn a_run_at_its_limit_of_model_calls_lists_its_results() {
    let mut start = start("q");
    start.config.max_model_calls = 4;
    let mut driver = driver_with_two_steps(start).script("b", [calculate("2")]);
    let report = driver.drive();
    assert_eq!(status(&report), RunStatus::Partial);
    let limit = "the run made its maximum of 4 model calls";
    assert_eq!(report.response.metadata.limits_hit, [limit]);
    assert_eq!(report.response.metadata.llm_calls, 4);
    assert_eq!(
        report.response.response.content,
        format!(
            "The run ended early: {limit}.\n\n- do a: 1\n- do b: not done: the budget of the run was used up before it was \
             finished"
        )
    );
    assert_eq!(driver.statuses(), [("a", Completed), ("b", Pending)]);
    assert_eq!(driver.item("b").tool_results.len(), 1);
}

#[test]
fn a_run_that_used_all_its_tokens_starts_no_further_step() {
    let mut start = start("q");
    start.config.max_tokens = Some(36);
    let mut driver = driver_with_two_steps(start);
    let report = driver.drive();
    assert_eq!(
        report.response.metadata.limits_hit,
        ["the run used 36 tokens; its maximum is 36"]
    );
    assert_eq!(
        (report.response.metadata.llm_calls, status(&report)),
        (3, RunStatus::Partial)
    );
    assert_eq!(driver.statuses(), [("a", Completed), ("b", Pending)]);
}

#[test]
fn a_run_at_its_cost_limit_makes_no_call_for_the_answer() {
    let mut start = start("q");
    start.config.max_cost_usd = Some(0.5);
    let mut reply = plan(&json!([])).unwrap();
    reply.metadata.cost_usd = Some(0.5);
    let report = Driver::new(start).script("plan", [Ok(reply)]).drive();
    assert_eq!(
        report.response.response.content,
        "The run ended early: the run cost $0.5000; its maximum is $0.5000."
    );
}

#[test]
fn parallel_steps_finish_their_calls_at_the_limit() {
    let mut start = start("q");
    start.config.max_model_calls = 3;
    let mut driver = Driver::new(start)
        .script(
            "plan",
            [plan(&json!([reasoning_item("a", &[]), reasoning_item("b", &[])]))],
        )
        .script("a", [completes_item("x")])
        .script("b", [completes_item("y")]);
    let report = driver.drive();
    assert_eq!(driver.statuses(), [("a", Completed), ("b", Completed)]);
    assert_eq!(report.response.metadata.llm_calls, 3);
    assert_eq!(status(&report), RunStatus::Partial);
}

#[test]
fn missing_token_counts_are_estimated_if_the_context_is_limited() {
    let without_counts = |reply: Reply| {
        reply.map(|mut reply| {
            reply.metadata = Default::default();
            reply
        })
    };
    let run = |context: Option<u64>| {
        let mut start = start("q");
        start.context = context.into();
        let mut driver = Driver::new(start)
            .script("plan", [without_counts(plan(&json!([])))])
            .script("answer", [without_counts(says("ok"))]);
        driver.drive().response.metadata
    };
    assert_eq!(run(None).tokens.total_tokens, 0);
    let counted = run(Some(100_000));
    assert!(counted.tokens.prompt_tokens > 500 && counted.llm_metadata.estimated);
}

// M12: budgets of a run.
#[test]
fn the_tokens_of_a_failed_call_are_counted_only_if_the_model_may_have_read_its_request() {
    let run = |failure: fn() -> Reply, context: Option<u64>| {
        let mut start = start("q");
        start.context = context.into();
        start.config.max_tokens = Some(100);
        let mut driver = Driver::new(start)
            .script(
                "plan",
                [plan(&json!([reasoning_item("a", &[]), reasoning_item("b", &["a"])]))],
            )
            .script("a", [failure()]);
        // These failures have no estimated tokens, so the run stays within its limit and asks for the answer.
        let error = failure().unwrap_err();
        if context.is_none() || error.unread || error.code == ModelErrorCode::RateLimited {
            driver = driver.script("answer", [says("It failed.")]);
        }
        driver.drive().response.metadata
    };
    let timed_out = run(times_out, Some(100_000));
    assert!(timed_out.tokens.prompt_tokens > 100 && timed_out.llm_metadata.estimated);
    assert!(
        timed_out.limits_hit[0].starts_with("the run used "),
        "{:?}",
        timed_out.limits_hit
    );
    assert_eq!(run(times_out, None).tokens.total_tokens, 24);
    let refused = || {
        times_out().map_err(|error| ModelError {
            code: ModelErrorCode::RateLimited,
            ..error
        })
    };
    assert_eq!(run(refused, Some(100_000)).tokens.total_tokens, 24);
    let unread = || times_out().map_err(|error| ModelError { unread: true, ..error });
    assert_eq!(run(unread, Some(100_000)).tokens.total_tokens, 24);
}

/// Returns the start of a run whose model has a limited context, and costs one dollar per million input tokens and ten dollars per
/// million output tokens.
fn priced_start() -> RunStart {
    let mut start = start("q");
    start.context = ContextWindow::Tokens(100_000);
    start.price = Some(Price {
        input: 1.0,
        output: 10.0,
        cached_input: None,
        cache_write: None,
        long: None,
    });
    start
}

/// Returns the usage of a run whose only model call is interrupted by `end`.
fn usage_when_interrupted(start: RunStart, end: impl Fn(ActionId) -> RunEvent) -> ExecutionMetadata {
    let mut driver = Driver::new(start);
    let event = end(driver.first_open_action());
    driver.apply(&event);
    driver.run.finished().unwrap().response.metadata.clone()
}

/// Returns a reply of which `text` had arrived.
fn partial_reply(text: &str) -> PartialReply {
    let mut received = PartialReply::default();
    received.push(&StreamEvent::Token(text.to_owned()));
    received
}

fn cancel_event(action: ActionId, received: PartialReply) -> RunEvent {
    RunEvent::CancelRequested {
        at: 2_000,
        interrupted: vec![InterruptedCall { action, received }],
    }
}

fn failure_event(action: ActionId, received: PartialReply) -> RunEvent {
    RunEvent::ModelFailed {
        at: 2_000,
        action,
        error: times_out().unwrap_err(),
        received,
    }
}

fn host_failure_event(_action: ActionId) -> RunEvent {
    RunEvent::HostFailed {
        at: 2_000,
        reason: "the host stopped".to_owned(),
    }
}

// M12: costs of calls that were cancelled or broke off.
#[test]
fn the_tokens_of_an_interrupted_model_call_are_estimated_and_marked_as_estimated() {
    for metadata in [
        usage_when_interrupted(priced_start(), |action| {
            cancel_event(action, partial_reply(&"x".repeat(300)))
        }),
        usage_when_interrupted(priced_start(), |action| {
            failure_event(action, partial_reply(&"x".repeat(300)))
        }),
    ] {
        assert_eq!((metadata.llm_calls, metadata.estimated_calls), (1, 1));
        assert!(metadata.llm_metadata.estimated && metadata.tokens.prompt_tokens > 500);
        assert_eq!(metadata.tokens.completion_tokens, 100);
        let input = u32::try_from(metadata.tokens.prompt_tokens).unwrap();
        let expected = (f64::from(input) + 100.0 * 10.0) / 1e6;
        assert!((metadata.llm_cost.unwrap() - expected).abs() < 1e-12, "{metadata:?}");
    }
}

#[test]
fn a_failure_of_the_host_counts_the_request_of_the_interrupted_call() {
    let metadata = usage_when_interrupted(priced_start(), host_failure_event);
    assert_eq!((metadata.llm_calls, metadata.estimated_calls), (1, 1));
    assert!(metadata.tokens.prompt_tokens > 500 && metadata.llm_cost > Some(0.0));
    assert_eq!(metadata.tokens.completion_tokens, 0);
    assert_eq!(
        (metadata.status, metadata.error.unwrap().message.as_str()),
        (RunStatus::Error, "the host stopped")
    );
}

#[test]
fn counts_that_the_provider_reported_before_the_interruption_are_used() {
    let mut received = partial_reply("12345");
    received.metadata.input_tokens = Some(77);
    let metadata = usage_when_interrupted(priced_start(), |action| cancel_event(action, received.clone()));
    assert_eq!(
        (metadata.tokens.prompt_tokens, metadata.tokens.completion_tokens),
        (77, 2)
    );
}

#[test]
fn an_interrupted_model_call_without_a_price_has_no_known_cost() {
    let mut start = priced_start();
    start.price = None;
    let metadata = usage_when_interrupted(start, |action| cancel_event(action, partial_reply("x")));
    assert_eq!((metadata.llm_cost, metadata.estimated_calls), (None, 1));
}

#[test]
fn an_interrupted_call_of_a_model_with_an_unbounded_context_costs_nothing() {
    let metadata = usage_when_interrupted(start("q"), |action| cancel_event(action, partial_reply("x")));
    assert_eq!((metadata.llm_calls, metadata.estimated_calls), (1, 0));
    assert_eq!(metadata.tokens.total_tokens, 0);
}

#[test]
fn a_model_call_that_was_not_made_before_the_cancellation_is_not_counted() {
    let mut driver = Driver::new(priced_start());
    driver.cancel();
    assert_eq!(driver.run.finished().unwrap().response.metadata.llm_calls, 0);
}

#[test]
fn an_interrupted_call_counts_towards_the_token_limit() {
    let run = |text: &str| {
        let mut start = priced_start();
        start.config.max_tokens = Some(3_000);
        let mut driver = Driver::new(start).script("plan", [plan(&json!([reasoning_item("a", &[])]))]);
        driver.answer_all();
        let event = failure_event(driver.first_open_action(), partial_reply(text));
        driver.apply(&event);
        driver.run.finished().is_some()
    };
    assert!(!run("x"));
    assert!(run(&"x".repeat(9_000)));
}

/// Returns the start of a run whose conversation is much longer than the context window.
fn start_with_long_conversation() -> RunStart {
    let mut start = start("What is 6 times 7?");
    start.context = ContextWindow::Tokens(6_000);
    start.history = (0..10)
        .map(|n| {
            message(
                if n % 2 == 0 { "USER" } else { "AI" },
                &format!("{n} {}", "x".repeat(4_000)),
            )
        })
        .collect();
    start
}

#[test]
fn a_request_leaves_out_the_oldest_turns_that_do_not_fit() {
    let mut driver = Driver::new(start_with_long_conversation())
        .script("plan", [plan(&json!([]))])
        .script("answer", [says("42")]);
    driver.drive();
    for (step, later) in [("plan", 0), ("answer", 2)] {
        let messages = driver.messages(step, 0);
        assert!((3..11).contains(&messages.len()), "{}", messages.len());
        let question = messages.len() - 1 - later;
        assert!(messages[question - 1].content_text().starts_with("9 x"));
        let text = messages[question].content_text();
        assert!(text.contains("## Query\n> What is 6 times 7?"), "{text}");
    }
}

#[test]
fn a_step_whose_request_does_not_fit_fails_with_its_token_counts() {
    let mut start = start("q");
    start.context = ContextWindow::Tokens(4_000);
    let item = json!({"id": "a", "description": "do a", "expectedOutcome": "d".repeat(10_000)});
    let mut driver = Driver::new(start)
        .script("plan", [plan(&json!([item, reasoning_item("b", &[])]))])
        .script("b", [completes_item("x")])
        .script("answer", [says("ok")]);
    let report = driver.drive();
    assert_eq!(driver.statuses(), [("a", Failed), ("b", Completed)]);
    let error = report.items[0].error.clone().unwrap();
    assert!(
        error.starts_with("the request is too long for the model: it has about "),
        "{error}"
    );
    assert!(error.contains("there is room for 3000"), "{error}");
}

#[test]
fn a_planning_request_that_does_not_fit_ends_the_run() {
    let mut start = start("q");
    start.context = ContextWindow::Tokens(100);
    let report = Driver::new(start).drive();
    assert_eq!(status(&report), RunStatus::Error);
    assert!(content(&report).contains("the request is too long for the model"));
}

#[test]
fn a_request_that_is_too_long_for_the_provider_is_retried_at_half_its_size() {
    let mut start = start_with_long_conversation();
    start.context = ContextWindow::Tokens(100_000);
    let mut driver = Driver::new(start)
        .script("plan", [exceeds_context(), plan(&json!([]))])
        .script("answer", [says("42")]);
    let report = driver.drive();
    assert_eq!(driver.messages("plan", 0).len(), 12);
    assert!(driver.messages("plan", 1).len() < 8);
    assert_eq!(
        (report.response.metadata.llm_calls, status(&report)),
        (3, RunStatus::Success)
    );
    assert_eq!(driver.observations(Kind::LlmStreamError).len(), 1);
}

#[test]
fn a_request_that_is_too_long_at_half_its_size_fails() {
    let mut driver = Driver::new(start_with_long_conversation()).script("plan", [exceeds_context(), exceeds_context()]);
    let report = driver.drive();
    assert_eq!(status(&report), RunStatus::Error);
    assert!(content(&report).contains("the request has too many tokens"));
}

#[test]
fn a_request_that_cannot_be_shortened_is_not_retried() {
    let mut driver = Driver::new(start("q")).script("plan", [exceeds_context()]);
    assert_eq!(status(&driver.drive()), RunStatus::Error);
}
