use std::sync::atomic::Ordering;

use art_core::price::Price;
use art_core::stream::{LlmMetadata, ModelReply};
use futures_util::FutureExt;

use super::*;
use crate::engine::ReasoningEngine;
use crate::model::collect;
use crate::price::PriceTable;
use crate::provider::Provider;
use crate::settings::EngineLimits;
use crate::testing::{ScriptedModel, failure, request, token};

use ModelErrorCode::{AuthenticationError, NetworkError, RateLimited, Timeout};

/// Returns an engine with one model, which serves one call at a time.
fn engine(model: ScriptedModel) -> (ReasoningEngine, Arc<ScriptedModel>) {
    engine_with_slots(1, model)
}

fn engine_with_slots(max_parallel: usize, model: ScriptedModel) -> (ReasoningEngine, Arc<ScriptedModel>) {
    let model = Arc::new(model);
    let provider = Provider {
        max_parallel,
        ..Provider::in_process(Arc::clone(&model) as Arc<dyn crate::model::Model>)
    };
    let providers = [("s".to_owned(), provider)].into();
    let price = Price {
        input: 1.0,
        output: 2.0,
        cached_input: None,
        cache_write: None,
        long: None,
    };
    let prices = PriceTable([("s:m".to_owned(), price)].into());
    (
        ReasoningEngine::from_parts(providers, prices, EngineLimits::default()),
        model,
    )
}

/// Returns an engine with one model, which replies with these streams in turn, and to later calls with empty replies.
fn engine_yielding(streams: Vec<Vec<StreamEvent>>) -> (ReasoningEngine, Arc<ScriptedModel>) {
    engine(ScriptedModel::new(streams))
}

fn config() -> RuntimeProviderConfig {
    RuntimeProviderConfig::new("s", "m")
}

async fn call_events(engine: &ReasoningEngine) -> Vec<StreamEvent> {
    engine.call(&config(), request()).collect().await
}

async fn call_model(engine: &ReasoningEngine) -> Result<ModelReply, ModelError> {
    collect(engine.call(&config(), request())).await
}

fn rate_limit_with_delay(delay_ms: u64) -> StreamEvent {
    StreamEvent::Error(ModelError {
        code: RateLimited,
        message: "slow down".to_owned(),
        retry_after_ms: Some(delay_ms),
        request_not_read: false,
    })
}

fn error_of(event: StreamEvent) -> ModelError {
    match event {
        StreamEvent::Error(error) => error,
        other => panic!("no error, but {other:?}"),
    }
}

fn retries(events: &[StreamEvent]) -> Vec<&RetryContext> {
    events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::Retry(context) => Some(context),
            _ => None,
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_call_that_fails_before_its_first_token_is_retried() {
    let reply = vec![token("hi"), StreamEvent::End];
    let (engine, model) = engine_yielding(vec![vec![failure(NetworkError)], vec![failure(Timeout)], reply]);
    let events = call_events(&engine).await;
    let retries = retries(&events);
    assert_eq!(retries.len(), 2);
    assert_eq!((retries[0].attempt, retries[0].max_retries), (1, 3));
    assert_eq!(
        (retries[0].error, retries[0].message.as_str()),
        (NetworkError, "it failed")
    );
    assert_eq!((retries[1].attempt, retries[1].error), (2, Timeout));
    // The waits are 1 s and 2 s, each with a jitter of 20 %.
    assert!((800..=1200).contains(&retries[0].delay_ms), "{retries:?}");
    assert!((1600..=2400).contains(&retries[1].delay_ms), "{retries:?}");
    assert_eq!(events[2..], [token("hi"), StreamEvent::End]);
    assert_eq!(model.calls.load(Ordering::SeqCst), 3);
}

// Retries are counted per call (contracts A85, R1).
#[tokio::test(start_paused = true)]
async fn concurrent_calls_count_their_own_retries() {
    let (engine, model) = engine_with_slots(2, ScriptedModel::new(vec![vec![failure(NetworkError)]; 4]));
    let (first, second) = tokio::join!(call_events(&engine), call_events(&engine));
    // Each call fails twice. Its third attempt gets an empty reply.
    for events in [first, second] {
        let attempts: Vec<_> = retries(&events).iter().map(|retry| retry.attempt).collect();
        assert_eq!(attempts, [1, 2]);
        assert_eq!(events.last(), Some(&StreamEvent::End));
    }
    assert_eq!(model.calls.load(Ordering::SeqCst), 6);
}

#[tokio::test(start_paused = true)]
async fn a_retry_waits_for_the_delay_that_the_provider_requests() {
    let (engine, _) = engine_yielding(vec![vec![rate_limit_with_delay(7000)]]);
    let started = Instant::now();
    let events = call_events(&engine).await;
    assert_eq!(retries(&events)[0].delay_ms, 7000);
    assert_eq!(started.elapsed().as_secs(), 7);
}

#[tokio::test(start_paused = true)]
async fn there_are_at_most_four_attempts() {
    let failed = || vec![failure(NetworkError)];
    let (engine, _) = engine_yielding(vec![failed(), failed(), failed(), vec![token("hi"), StreamEvent::End]]);
    assert_eq!(call_model(&engine).await.unwrap().text, "hi");
    let (engine, model) = engine_yielding(vec![failed(), failed(), failed(), failed()]);
    assert_eq!(call_model(&engine).await.unwrap_err().code, NetworkError);
    assert_eq!(model.calls.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn a_failure_after_the_first_content_is_not_retried() {
    let contents = [token("half"), StreamEvent::Thinking("hm".to_owned())];
    for content in contents {
        let (engine, model) = engine_yielding(vec![vec![content.clone(), failure(NetworkError)]]);
        assert_eq!(call_events(&engine).await, [content, failure(NetworkError)]);
        assert_eq!(model.calls.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn a_permanent_error_is_not_retried() {
    let (engine, _) = engine_yielding(vec![vec![failure(AuthenticationError)]]);
    assert_eq!(call_events(&engine).await, [failure(AuthenticationError)]);
}

#[tokio::test]
async fn a_requested_delay_that_is_too_long_ends_the_call_and_is_reported() {
    let (engine, model) = engine_yielding(vec![vec![rate_limit_with_delay(600_000)]; 4]);
    let mut events = call_events(&engine).await;
    let error = error_of(events.pop().unwrap());
    assert_eq!((events.len(), model.calls.load(Ordering::SeqCst)), (0, 1));
    assert_eq!(error.retry_after_ms, Some(600_000));
    insta::assert_snapshot!(error, @"slow down; it accepts requests again in 10 min");
}

#[tokio::test]
async fn a_stream_that_stops_before_its_end_is_an_error() {
    let (engine, _) = engine_yielding(vec![vec![token("half")]]);
    let error = call_model(&engine).await.unwrap_err();
    insta::assert_snapshot!(error, @"the stream of `s:m` stopped before the end of the reply; try again");
}

#[tokio::test]
async fn text_and_thoughts_of_a_reply_have_at_most_four_mebibytes() {
    let half = "x".repeat(MAX_TEXT_BYTES / 2);
    let all = [StreamEvent::Thinking(half.clone()), StreamEvent::Token(half)];
    let (engine, model) = engine_yielding(vec![
        [all.to_vec(), vec![StreamEvent::End]].concat(),
        [all.to_vec(), vec![token("x"), StreamEvent::End]].concat(),
    ]);
    assert_eq!(call_model(&engine).await.unwrap().text.len(), MAX_TEXT_BYTES / 2);
    let error = call_model(&engine).await.unwrap_err();
    assert_eq!(error.code, ModelErrorCode::InvalidResponse);
    insta::assert_snapshot!(error, @"the reply of `s:m` has more than 4194304 bytes of text; ask for a shorter reply");
    assert_eq!(model.calls.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn nothing_follows_the_end() {
    let (engine, _) = engine_yielding(vec![vec![StreamEvent::End, token("late")]]);
    assert_eq!(call_events(&engine).await, [StreamEvent::End]);
}

#[tokio::test]
async fn a_slot_is_free_when_the_last_event_is_received() {
    for last in [StreamEvent::End, failure(AuthenticationError)] {
        let (engine, _) = engine_yielding(vec![vec![last.clone()]]);
        let mut first = engine.call(&config(), request());
        assert_eq!(first.next().await, Some(last));
        assert!(
            call_model(&engine).now_or_never().unwrap().is_ok(),
            "a call that has ended keeps its slot until its stream is dropped"
        );
    }
}

// A slot is released exactly once, however the stream ends (contract A71).
#[tokio::test]
async fn a_slot_is_released_exactly_once() {
    for last in [Some(StreamEvent::End), Some(failure(NetworkError)), None] {
        let first = [Some(token("a")), last.clone()].into_iter().flatten().collect();
        // Each stream stays open after its last event, so the second call keeps the only slot.
        let (engine, _) = engine(ScriptedModel::with_open_streams(vec![
            first,
            vec![token("b")],
            vec![token("c")],
        ]));
        let mut stream = engine.call(&config(), request());
        assert_eq!(stream.next().await, Some(token("a")));
        if last.is_some() {
            assert_eq!(stream.next().await, last);
            assert_eq!(stream.next().await, None);
        }
        drop(stream);
        let [mut second, mut third] = [(), ()].map(|()| engine.call(&config(), request()));
        assert_eq!(second.next().await, Some(token("b")));
        assert!(third.next().now_or_never().is_none(), "one slot was released twice");
    }
}

#[tokio::test]
async fn dropping_a_stream_frees_its_slot() {
    let model = ScriptedModel::with_open_streams(vec![vec![token("a")], vec![token("b")]]);
    let (engine, _) = engine(model);
    let mut first = engine.call(&config(), request());
    assert_eq!(first.next().await, Some(token("a")));
    let mut second = engine.call(&config(), request());
    assert!(
        second.next().now_or_never().is_none(),
        "the second call did not wait for the slot"
    );
    drop(first);
    assert_eq!(second.next().await, Some(token("b")));
}

#[tokio::test]
async fn nothing_happens_before_a_stream_is_polled() {
    let (engine, model) = engine_yielding(Vec::new());
    drop(engine.call(&config(), request()));
    assert_eq!(model.calls.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn calls_to_a_failing_provider_are_suspended_for_a_minute() {
    let (engine, model) = engine_yielding(vec![vec![failure(NetworkError)]; 5]);
    // The first call fails after four attempts. The second call makes one attempt, and its retry is refused.
    assert!(call_model(&engine).await.is_err());
    let error = call_model(&engine).await.unwrap_err();
    assert_eq!(
        model.calls.load(Ordering::SeqCst),
        5,
        "the fifth failure opened the circuit"
    );
    assert_eq!(
        error,
        error_of(failure(NetworkError)),
        "the call fails with the error of its last attempt"
    );
    let started = Instant::now();
    let error = call_model(&engine).await.unwrap_err();
    assert_eq!(started.elapsed(), Duration::ZERO);
    let text = error.message.replace(|c: char| c.is_ascii_digit(), "#");
    insta::assert_snapshot!(text, @"provider `s` failed several times in a row, so calls are suspended; the next call is possible in ## s");
    tokio::time::advance(Duration::from_secs(60)).await;
    assert!(call_model(&engine).await.is_ok());
}

#[tokio::test]
async fn a_wrong_key_does_not_open_the_circuit() {
    let (engine, model) = engine_yielding(vec![vec![failure(AuthenticationError)]; 20]);
    for _ in 0..20 {
        assert_eq!(call_model(&engine).await.unwrap_err().code, AuthenticationError);
    }
    assert_eq!(model.calls.load(Ordering::SeqCst), 20);
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_does_not_open_the_circuit() {
    let (engine, model) = engine_yielding(vec![vec![failure(RateLimited)]; 20]);
    for _ in 0..5 {
        assert_eq!(call_model(&engine).await.unwrap_err().code, RateLimited);
    }
    assert_eq!(model.calls.load(Ordering::SeqCst), 20, "each call had its retries");
    assert!(call_model(&engine).now_or_never().unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn few_of_a_thousand_calls_reach_a_failing_provider() {
    let (engine, model) = engine_yielding(vec![vec![failure(NetworkError)]; 1000]);
    let calls: Vec<_> = (0..1000).map(|_| call_model(&engine)).collect();
    let replies = futures_util::future::join_all(calls).await;
    assert!(replies.iter().all(Result::is_err));
    let reached = model.calls.load(Ordering::SeqCst);
    // The fifth failure in a row opens the circuit.
    assert!(reached <= 5, "{reached}");
}

#[tokio::test]
async fn a_model_without_a_required_capability_is_not_called() {
    let (engine, model) = engine_yielding(Vec::new());
    let mut texts = Vec::new();
    for capability in [
        ModelCapability::Vision,
        ModelCapability::Reasoning,
        ModelCapability::ToolUse,
    ] {
        let mut request = request();
        request.required_capabilities = vec![ModelCapability::Text, capability];
        texts.push(collect(engine.call(&config(), request)).await.unwrap_err().message);
    }
    insta::assert_snapshot!(texts.join("\n"), @r"
    model `s:m` cannot read pictures; choose one that can, or set `vision = true` in `[providers.s]` if it can
    model `s:m` cannot reason; choose another model
    model `s:m` does not support function calls; describe the tools in the prompt instead
    ");
    assert_eq!(model.calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn the_cost_of_a_reply_is_computed_from_its_token_counts() {
    let metadata = LlmMetadata {
        input_tokens: Some(1_000_000),
        output_tokens: Some(500_000),
        ..LlmMetadata::default()
    };
    let (engine, _) = engine_yielding(vec![vec![StreamEvent::Metadata(metadata), StreamEvent::End]]);
    // A million input tokens cost 1 USD, and half a million output tokens at 2 USD per million cost 1 USD.
    assert_eq!(call_model(&engine).await.unwrap().metadata.cost_usd, Some(2.0));
}

#[tokio::test]
async fn an_unknown_provider_ends_the_stream_with_an_error() {
    let (engine, _) = engine_yielding(Vec::new());
    let stream = engine.call(&RuntimeProviderConfig::new("x", "m"), request());
    assert_eq!(
        collect(stream).await.unwrap_err().code,
        ModelErrorCode::ProviderNotSupported
    );
}

#[tokio::test]
async fn after_a_shutdown_no_call_is_made() {
    let (engine, model) = engine_yielding(Vec::new());
    engine.shutdown().await;
    assert_eq!(model.shutdowns.load(Ordering::SeqCst), 1);
    insta::assert_snapshot!(call_model(&engine).await.unwrap_err(), @"the host is shutting down and accepts no more model calls");
}

#[tokio::test]
async fn a_model_in_this_process_is_found_by_the_name_of_its_provider() {
    let engine = ReasoningEngine::with_model(Arc::new(ScriptedModel::new(Vec::new())));
    assert_eq!(engine.resolve("s").unwrap(), config());
    assert_eq!(engine.describe(&config()).unwrap().problem, None);
    assert!(engine.resolve("openai").is_err());
    let names: Vec<_> = engine.providers().into_iter().map(|provider| provider.name).collect();
    assert_eq!(names, ["s"]);
    assert!(engine.probe(&config(), Duration::ZERO).await.reachable);
}
