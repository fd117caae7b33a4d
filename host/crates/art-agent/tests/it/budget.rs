//! Budgets of a run for model calls, tokens and cost. Calls that failed or were interrupted count towards them. Also tests how
//! requests are cut to fit the context window of the model.

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

/// Returns a message of the thread.
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
    // One for the plan, two for step `a`, and one of those that step `b` needs.
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
    let max_tokens = 3 * TOKENS_PER_CALL;
    start.config.max_tokens = Some(max_tokens);
    let mut driver = driver_with_two_steps(start);
    let report = driver.drive();
    assert_eq!(
        report.response.metadata.limits_hit,
        [format!("the run used {max_tokens} tokens; its maximum is {max_tokens}")]
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
fn model_calls_that_were_opened_before_the_limit_was_reached_are_finished() {
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
    let metadata_with_context = |context: Option<u64>| {
        let mut start = start("q");
        start.context = context.into();
        let mut driver = Driver::new(start)
            .script("plan", [without_counts(plan(&json!([])))])
            .script("answer", [without_counts(says("ok"))]);
        driver.drive().response.metadata
    };
    assert_eq!(metadata_with_context(None).tokens.total_tokens, 0);
    let limited = metadata_with_context(Some(100_000));
    assert!(limited.tokens.prompt_tokens > 500 && limited.llm_metadata.estimated);
}

// Tokens that the provider did not count are estimated and count towards the budget (contract M12).
#[test]
fn the_tokens_of_a_failed_call_are_counted_only_if_the_model_may_have_read_its_request() {
    let run_with_failed_step = |failure: fn() -> Reply, context: Option<u64>| {
        let mut start = start("q");
        start.context = context.into();
        start.config.max_tokens = Some(100);
        let mut driver = Driver::new(start)
            .script(
                "plan",
                [plan(&json!([reasoning_item("a", &[]), reasoning_item("b", &["a"])]))],
            )
            .script("a", [failure()]);
        let error = failure().unwrap_err();
        let may_have_read = !error.request_not_read && error.code != ModelErrorCode::RateLimited;
        let is_estimated = context.is_some() && may_have_read;
        // If no tokens are estimated for the failed call, the run stays within its limit and asks for the answer.
        if !is_estimated {
            driver = driver.script("answer", [says("It failed.")]);
        }
        driver.drive().response.metadata
    };
    let timed_out = run_with_failed_step(times_out, Some(100_000));
    assert!(timed_out.tokens.prompt_tokens > 100 && timed_out.llm_metadata.estimated);
    assert!(
        timed_out.limits_hit[0].starts_with("the run used "),
        "{:?}",
        timed_out.limits_hit
    );
    let tokens_of_plan_and_answer = 2 * TOKENS_PER_CALL;
    let unlimited = run_with_failed_step(times_out, None);
    assert_eq!(unlimited.tokens.total_tokens, tokens_of_plan_and_answer);
    let exceeds_rate_limit = || {
        times_out().map_err(|error| ModelError {
            code: ModelErrorCode::RateLimited,
            ..error
        })
    };
    let rate_limited = run_with_failed_step(exceeds_rate_limit, Some(100_000));
    assert_eq!(rate_limited.tokens.total_tokens, tokens_of_plan_and_answer);
    let fails_to_connect = || {
        times_out().map_err(|error| ModelError {
            request_not_read: true,
            ..error
        })
    };
    let not_read = run_with_failed_step(fails_to_connect, Some(100_000));
    assert_eq!(not_read.tokens.total_tokens, tokens_of_plan_and_answer);
}

/// Returns the start of a run whose model has a limited context, and costs one dollar per million input tokens and ten dollars
/// per million output tokens.
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

/// Returns the metadata of a run that ends because its only model call is interrupted by the event that `interrupt` returns.
fn metadata_after_interruption(start: RunStart, interrupt: impl Fn(ActionId) -> RunEvent) -> ExecutionMetadata {
    let mut driver = Driver::new(start);
    let event = interrupt(driver.first_open_action());
    driver.apply(&event);
    driver.run.finished().unwrap().response.metadata.clone()
}

/// Returns the part `text` of a reply that had arrived before the call was interrupted.
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

// The tokens of calls that were cancelled or broke off are estimated (contract M12).
#[test]
fn the_tokens_of_an_interrupted_model_call_are_estimated_and_marked_as_estimated() {
    // Three bytes count as one token.
    let (received_bytes, received_tokens) = (300, 100_u32);
    for metadata in [
        metadata_after_interruption(priced_start(), |action| {
            cancel_event(action, partial_reply(&"x".repeat(received_bytes)))
        }),
        metadata_after_interruption(priced_start(), |action| {
            failure_event(action, partial_reply(&"x".repeat(received_bytes)))
        }),
    ] {
        assert_eq!((metadata.llm_calls, metadata.estimated_calls), (1, 1));
        assert!(metadata.llm_metadata.estimated && metadata.tokens.prompt_tokens > 500);
        assert_eq!(metadata.tokens.completion_tokens, u64::from(received_tokens));
        let input_tokens = u32::try_from(metadata.tokens.prompt_tokens).unwrap();
        let expected_cost = (f64::from(input_tokens) + f64::from(received_tokens) * 10.0) / 1e6;
        assert!(
            (metadata.llm_cost.unwrap() - expected_cost).abs() < 1e-12,
            "{metadata:?}"
        );
    }
}

#[test]
fn the_request_of_a_model_call_is_counted_if_the_host_fails_before_the_reply() {
    let metadata = metadata_after_interruption(priced_start(), host_failure_event);
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
    let metadata = metadata_after_interruption(priced_start(), |action| cancel_event(action, received.clone()));
    assert_eq!(
        (metadata.tokens.prompt_tokens, metadata.tokens.completion_tokens),
        (77, 2)
    );
}

#[test]
fn an_interrupted_model_call_without_a_price_has_no_known_cost() {
    let mut start = priced_start();
    start.price = None;
    let metadata = metadata_after_interruption(start, |action| cancel_event(action, partial_reply("x")));
    assert_eq!((metadata.llm_cost, metadata.estimated_calls), (None, 1));
}

#[test]
fn no_tokens_are_counted_for_an_interrupted_call_of_a_model_with_an_unbounded_context() {
    let metadata = metadata_after_interruption(start("q"), |action| cancel_event(action, partial_reply("x")));
    assert_eq!((metadata.llm_calls, metadata.estimated_calls), (1, 0));
    assert_eq!(metadata.tokens.total_tokens, 0);
}

#[test]
fn a_model_call_whose_request_was_not_sent_before_the_cancellation_is_not_counted() {
    let mut driver = Driver::new(priced_start());
    // This cancellation lists no model calls whose requests had been sent.
    driver.cancel();
    assert_eq!(driver.run.finished().unwrap().response.metadata.llm_calls, 0);
}

#[test]
fn an_interrupted_call_counts_towards_the_token_limit() {
    let ends_after_partial_reply = |text: &str| {
        let mut start = priced_start();
        start.config.max_tokens = Some(3_000);
        let mut driver = Driver::new(start).script("plan", [plan(&json!([reasoning_item("a", &[])]))]);
        driver.answer_all();
        let event = failure_event(driver.first_open_action(), partial_reply(text));
        driver.apply(&event);
        driver.run.finished().is_some()
    };
    assert!(!ends_after_partial_reply("x"));
    let text_of_3000_tokens = "x".repeat(9_000);
    assert!(ends_after_partial_reply(&text_of_3000_tokens));
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
fn the_oldest_messages_of_the_conversation_that_do_not_fit_are_not_in_the_requests() {
    let mut driver = Driver::new(start_with_long_conversation())
        .script("plan", [plan(&json!([]))])
        .script("answer", [says("42")]);
    driver.drive();
    for (step, messages_after_question) in [("plan", 0), ("answer", 2)] {
        let messages = driver.messages(step, 0);
        // The instructions, all ten earlier messages and the question would be 12 messages.
        assert!((3..11).contains(&messages.len()), "{}", messages.len());
        let question_index = messages.len() - 1 - messages_after_question;
        let newest_earlier_message = messages[question_index - 1].content_text();
        assert!(newest_earlier_message.starts_with("9 x"));
        let text = messages[question_index].content_text();
        assert!(text.contains("## Query\n> What is 6 times 7?"), "{text}");
    }
}

#[test]
fn a_step_fails_with_the_token_counts_if_its_request_does_not_fit() {
    let mut start = start("q");
    start.context = ContextWindow::Tokens(4_000);
    let too_long_item = json!({"id": "a", "description": "do a", "expectedOutcome": "d".repeat(10_000)});
    let mut driver = Driver::new(start)
        .script("plan", [plan(&json!([too_long_item, reasoning_item("b", &[])]))])
        .script("b", [completes_item("x")])
        .script("answer", [says("ok")]);
    let report = driver.drive();
    assert_eq!(driver.statuses(), [("a", Failed), ("b", Completed)]);
    let error = report.items[0].error.clone().unwrap();
    assert!(
        error.starts_with("the request is too long for the model: it has about "),
        "{error}"
    );
    // A quarter of the context window is reserved for the reply.
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
    let (refused, retried) = (driver.messages("plan", 0), driver.messages("plan", 1));
    let (instructions, history, question) = (1, 10, 1);
    assert_eq!(refused.len(), instructions + history + question);
    // Half of the tokens have room for about half of the earlier messages.
    assert!(retried.len() < 8);
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
