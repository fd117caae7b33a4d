mod asking;
mod progress;
mod replay;

use std::sync::Mutex;
use std::time::Duration;

use art_core::error::ToolErrorCode as Code;
use art_core::outcome::{Ending, Suspension};
use art_core::tool::{ExecutionMode, ToolStatus};
use serde_json::{Value, json};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::EndingKind;
use crate::direct::{self, DirectTool};
use crate::scope::{EnabledLookup, EnabledTools};
use crate::testing::{REPORTED_FUEL, ScriptedTool, TestHost, call, schema, success_with};

fn echo_tool(name: &str) -> Arc<ScriptedTool> {
    Arc::new(ScriptedTool::echo(name))
}

fn slow_tool(name: &str, ms: u64) -> Arc<ScriptedTool> {
    Arc::new(ScriptedTool::new(schema(name), move |_| async move {
        sleep(Duration::from_millis(ms)).await;
        success_with("1")
    }))
}

fn failing_tool(name: &str) -> Arc<ScriptedTool> {
    Arc::new(ScriptedTool::new(schema(name), |_| {
        std::future::ready(direct::failure(Code::IoError, "boom"))
    }))
}

/// Returns a tool that declares that it needs the decision of a person (`ExecutionMode::Blocking`). Each call is suspended to
/// ask for the decision.
fn blocking_tool_that_asks(name: &str) -> Arc<ScriptedTool> {
    let mut schema = schema(name);
    schema.execution_mode = ExecutionMode::Blocking;
    Arc::new(ScriptedTool::new(schema, |_| {
        std::future::ready(Ending::Suspended(Suspension {
            message: "sure?".to_owned(),
            details: None,
            preview_data: None,
            feedback_schema: None,
        }))
    }))
}

fn errors(reports: &[ToolReport]) -> Vec<&str> {
    let has_error = |report: &ToolReport| report.result.error.is_some();
    assert!(reports.iter().all(has_error));
    reports
        .iter()
        .filter_map(|report| report.result.error.as_deref())
        .collect()
}

fn endings(reports: &[ToolReport]) -> Vec<EndingKind> {
    reports.iter().map(|report| report.ending).collect()
}

#[tokio::test]
async fn a_valid_call_is_run_once_with_its_arguments_and_context() {
    let seen = Arc::new(Mutex::new(None));
    let recorder = Arc::clone(&seen);
    let tool = Arc::new(ScriptedTool::new(schema("tool"), move |checked| {
        *recorder.lock().unwrap() = Some((checked.input_json().to_owned(), checked.context().clone()));
        std::future::ready(success_with("{\"n\":4}"))
    }));
    let mut host = TestHost::new([Arc::clone(&tool)]);
    host.scope.user_id = Some("u".to_owned());
    let reports = host.run(vec![call("tool", json!({"a": 1}))]).await;
    assert_eq!(tool.call_count(), 1);
    let (input, context) = seen.lock().unwrap().clone().unwrap();
    assert_eq!(input, "{\"a\":1}");
    assert_eq!(
        serde_json::to_value(context).unwrap(),
        json!({"threadId": "T", "traceId": "run", "callId": "call_tool", "userId": "u"})
    );
    assert_eq!(
        serde_json::to_value(&reports[0].result).unwrap(),
        json!({"callId": "call_tool", "toolName": "tool", "status": "success", "output": {"n": 4}})
    );
    assert_eq!(
        (reports[0].ending, reports[0].usage.fuel),
        (EndingKind::Success, REPORTED_FUEL)
    );
}

// Calls of different conversations (threads) are separate (contract A87).
#[tokio::test(start_paused = true)]
async fn concurrent_calls_of_two_conversations_have_separate_contexts_and_cancellation() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let recorder = Arc::clone(&seen);
    let tool = Arc::new(ScriptedTool::new(schema("tool"), move |checked| {
        let call = (checked.call().arguments.clone(), checked.context().clone());
        recorder.lock().unwrap().push(json!(call));
        let cancel = checked.cancel().clone();
        async move {
            let cancelled = tokio::time::timeout(Duration::from_secs(1), cancel.cancelled()).await;
            if cancelled.is_ok() {
                Ending::Cancelled
            } else {
                success_with("1")
            }
        }
    }));
    let host = TestHost::new([tool]);
    let other_scope = CallScope {
        thread_id: "U".to_owned(),
        trace_id: "other".to_owned(),
        user_id: Some("u".to_owned()),
        session_id: Some("s".to_owned()),
        cancel: CancellationToken::new(),
        ..host.scope.clone()
    };
    let mut second = call("tool", json!({"n": 2}));
    second.call_id = "second".to_owned();
    let calls = vec![call("tool", json!({"n": 1})), second];
    let other_calls = vec![call("tool", json!({"n": 3}))];
    let cancelling = async {
        sleep(Duration::from_millis(10)).await;
        other_scope.cancel.cancel();
    };
    let other_batch = host.run_in(other_calls, &other_scope);
    let (reports, other_reports, ()) = tokio::join!(host.run(calls), other_batch, cancelling);
    assert_eq!(endings(&reports), [EndingKind::Success; 2]);
    assert_eq!(endings(&other_reports), [EndingKind::Cancelled]);
    let expected = json!([
        [{"n": 1}, {"threadId": "T", "traceId": "run", "callId": "call_tool"}],
        [{"n": 2}, {"threadId": "T", "traceId": "run", "callId": "second"}],
        [{"n": 3}, {"threadId": "U", "traceId": "other", "callId": "call_tool", "userId": "u", "sessionId": "s"}],
    ]);
    assert_eq!(json!(*seen.lock().unwrap()), expected);
}

// A tool can be called only in conversations (threads) for which it is enabled (contract A87).
#[tokio::test]
async fn a_tool_is_refused_in_a_conversation_for_which_it_is_not_enabled() {
    let tool = echo_tool("tool");
    let host = TestHost::new([Arc::clone(&tool)]);
    let other = CallScope {
        thread_id: "U".to_owned(),
        enabled_tools: EnabledTools::default(),
        ..host.scope.clone()
    };
    let calls = || vec![call("tool", json!({}))];
    assert_eq!(endings(&host.run(calls()).await), [EndingKind::Success]);
    let refused = host.run_in(calls(), &other).await;
    assert_eq!(errors(&refused), ["Tool \"tool\" is not enabled for thread \"U\"."]);
    assert_eq!(tool.call_count(), 1);
}

#[tokio::test]
async fn a_tool_is_refused_as_not_enabled_whether_or_not_it_exists() {
    let tool = echo_tool("tool");
    let mut host = TestHost::new([Arc::clone(&tool)]);
    host.scope.enabled_tools = EnabledTools::default();
    let reports = host
        .run(vec![call("tool", json!({})), call("nowhere", json!({}))])
        .await;
    assert_eq!(
        errors(&reports),
        [
            "Tool \"tool\" is not enabled for thread \"T\".",
            "Tool \"nowhere\" is not enabled for thread \"T\"."
        ]
    );
    assert_eq!(reports[0].result.code, Some(Code::ToolDisabled));
    assert_eq!(tool.call_count(), 0);
}

/// Lookup that allows only the first call.
#[derive(Debug, Default)]
struct AllowOnce(std::sync::atomic::AtomicBool);

impl EnabledLookup for AllowOnce {
    fn is_enabled<'a>(&'a self, _tool: &'a str) -> futures_util::future::BoxFuture<'a, bool> {
        let first = !self.0.swap(true, std::sync::atomic::Ordering::SeqCst);
        Box::pin(std::future::ready(first))
    }
}

// The enabled tools are looked up at each call (contract S004).
#[tokio::test]
async fn the_lookup_of_enabled_tools_is_made_at_each_call() {
    let tool = echo_tool("tool");
    let mut host = TestHost::new([Arc::clone(&tool)]);
    host.scope.enabled_tools = EnabledTools::Lookup(Arc::new(AllowOnce::default()));
    let reports = host.run(vec![call("tool", json!({})); 2]).await;
    assert_eq!(endings(&reports), [EndingKind::Success, EndingKind::Disabled]);
    assert_eq!(tool.call_count(), 1);
}

#[tokio::test]
async fn an_unknown_tool_is_refused() {
    let mut host = TestHost::new([]);
    host.scope.enabled_tools = EnabledTools::named(["tool"]);
    let reports = host.run(vec![call("tool", json!({}))]).await;
    assert_eq!(errors(&reports), ["Tool \"tool\" not found in registry."]);
    assert_eq!(reports[0].result.code, Some(Code::ToolNotFound));
    assert_eq!(reports[0].ending, EndingKind::NotFound);
}

// A result is marked as not run only if the tool did not run (contract X19).
#[tokio::test]
async fn only_a_refused_call_is_marked_as_not_run() {
    let fails_validation = Arc::new(ScriptedTool::new(schema("fails_validation"), |_| {
        std::future::ready(direct::failure(Code::ValidationError, "`a` is no date"))
    }));
    let mut host = TestHost::new([fails_validation, echo_tool("off"), strict_tool()]);
    host.scope.enabled_tools = EnabledTools::named(["strict", "gone", "fails_validation"]);
    let calls = ["strict", "gone", "off", "fails_validation"].map(|name| call(name, json!({})));
    let reports = host.run(calls.to_vec()).await;
    let not_run: Vec<_> = reports.iter().map(|report| report.result.metadata.not_run).collect();
    assert_eq!(not_run, [true, true, true, false]);
    // The call that was refused and the call that failed have the same error code, so only the mark tells them apart.
    assert_eq!(reports[0].result.code, reports[3].result.code);
}

/// Returns a tool whose schema can be violated in many ways.
fn strict_tool() -> Arc<ScriptedTool> {
    let mut schema = schema("strict");
    schema.input_schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 2, "pattern": "^[a-z]+$"},
            "count": {"type": "integer", "minimum": 1, "maximum": 5},
            "unit": {"enum": ["m", "km"]},
            "either": {"anyOf": [{"type": "string"}, {"type": "number"}]},
            "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": true, "maxItems": 2},
            "point": {"$ref": "#/$defs/point"},
        },
        "required": ["name", "count"],
        "additionalProperties": false,
        "$defs": {"point": {"type": "object", "properties": {"x": {"type": "number"}}, "additionalProperties": false}},
    })
    .into();
    Arc::new(ScriptedTool::new(schema, |_| std::future::ready(success_with("1"))))
}

#[tokio::test]
async fn violations_are_listed_with_their_paths_up_to_a_maximum_number() {
    let tool = strict_tool();
    let host = TestHost::new([Arc::clone(&tool)]);
    let inputs = [
        json!({}),
        json!("text"),
        json!(null),
        json!({"name": "A", "count": 9.5, "unit": "mile", "either": true}),
        json!({"name": "ok", "count": 1, "extra": "secret", "other": 2}),
        json!({"name": "ok", "count": 1, "tags": ["a", "a", 1]}),
        json!({"name": "ok", "count": 1, "point": {"x": "1", "y": 2}}),
        json!({"name": "ok", "count": 1, "tags": (0..40).collect::<Vec<_>>()}),
    ];
    let reports = host
        .run(inputs.into_iter().map(|input| call("strict", input)).collect())
        .await;
    assert!(
        reports
            .iter()
            .all(|report| report.result.code == Some(Code::ValidationError))
    );
    assert_eq!(tool.call_count(), 0);
    insta::assert_snapshot!(errors(&reports).join("\n"));
}

#[tokio::test]
async fn arguments_that_are_too_deep_or_too_large_are_refused() {
    let mut tool = ScriptedTool::echo("tool");
    tool.limits.input_bytes = 100;
    let host = TestHost::new([Arc::new(tool)]);
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    let reports = host
        .run(vec![
            call("tool", json!({"a": deep})),
            call("tool", json!({"a": vec![0; 60_000]})),
            call("tool", json!({"a": "x".repeat(200)})),
        ])
        .await;
    assert_eq!(
        errors(&reports),
        [
            "Invalid arguments for tool \"tool\": input is nested more than 64 levels deep",
            "Invalid arguments for tool \"tool\": input is made of more than 50000 values",
            "Invalid arguments for tool \"tool\": input has 208 bytes, more than 100",
        ]
    );
}

#[tokio::test]
async fn defaults_are_filled_in_before_validation() {
    let mut tool = ScriptedTool::echo("tool");
    tool.schema.input_schema = json!({
        "type": "object",
        "properties": {"unit": {"type": "string", "default": "km"}, "n": {"type": "number"}},
        "required": ["unit"],
    })
    .into();
    let host = TestHost::new([Arc::new(tool)]);
    let reports = host.run(vec![call("tool", json!({"n": 1}))]).await;
    assert_eq!(reports[0].result.output, Some(json!({"n": 1, "unit": "km"}).into()));
}

#[tokio::test]
async fn each_call_has_a_result_even_if_another_one_fails() {
    let host = TestHost::new([echo_tool("a"), failing_tool("b"), echo_tool("c")]);
    let calls = ["a", "b", "c"].map(|name| call(name, json!({}))).to_vec();
    let reports = host.run(calls).await;
    assert_eq!(
        endings(&reports),
        [EndingKind::Success, EndingKind::Failure, EndingKind::Success]
    );
    assert_eq!(reports[1].result.error.as_deref(), Some("boom"));
}

#[tokio::test(start_paused = true)]
async fn a_slow_call_does_not_delay_other_calls() {
    let host = TestHost::new([slow_tool("slow", 1_000), slow_tool("middle", 500), slow_tool("fast", 1)]);
    let start = Instant::now();
    let calls = ["slow", "middle", "fast"].map(|name| call(name, json!({}))).to_vec();
    let reports = host.run(calls).await;
    assert_eq!(start.elapsed(), Duration::from_millis(1_000));
    let names: Vec<_> = reports.iter().map(|report| report.result.tool_name.as_str()).collect();
    assert_eq!(names, ["slow", "middle", "fast"]);
    assert_eq!(reports[2].duration, Duration::from_millis(1));
}

#[tokio::test(start_paused = true)]
async fn the_time_to_prepare_a_tool_does_not_shorten_the_time_to_check_a_large_output() {
    let large_output = json!("x".repeat(100_000)).to_string();
    let mut tool = ScriptedTool::new(schema("large"), move |_| {
        std::future::ready(success_with(&large_output))
    });
    tool.limits.timeout_ms = 1_000;
    tool.preparation = Duration::from_secs(60);
    let host = TestHost::new([Arc::new(tool)]);
    let reports = host.run(vec![call("large", json!({}))]).await;
    assert_eq!(reports[0].result.status, ToolStatus::Success, "{:?}", reports[0].result);
    assert_eq!(reports[0].duration, Duration::from_secs(60));
}

#[tokio::test]
async fn a_suspended_call_is_reported_with_its_suspension_identifier() {
    let tool = blocking_tool_that_asks("ask");
    let host = TestHost::new([Arc::clone(&tool)]);
    let reports = host.run(vec![call("ask", json!({}))]).await;
    assert_eq!(tool.call_count(), 1);
    assert_eq!(reports[0].result.status, ToolStatus::Suspended);
    assert!(reports[0].result.metadata.suspension_id.is_some());
}

#[tokio::test]
async fn an_output_cannot_replace_the_call_identifier_and_tool_name_of_its_result() {
    let tool = Arc::new(ScriptedTool::new(schema("tool"), |_| {
        std::future::ready(success_with("{\"callId\":\"x\",\"toolName\":\"y\"}"))
    }));
    let host = TestHost::new([tool]);
    let reports = host.run(vec![call("tool", json!({}))]).await;
    assert_eq!(
        (reports[0].result.call_id.as_str(), reports[0].result.tool_name.as_str()),
        ("call_tool", "tool")
    );
}

#[tokio::test(start_paused = true)]
async fn calls_that_find_the_queue_full_end_as_busy_immediately() {
    let config = SystemConfig {
        max_parallel: 2,
        max_queue: 3,
        ..SystemConfig::default()
    };
    let host = TestHost::with_config([slow_tool("slow", 100)], config);
    let start = Instant::now();
    let reports = host.run(vec![call("slow", json!({})); 7]).await;
    // Five calls of 100 ms ran, two at a time.
    assert_eq!(start.elapsed(), Duration::from_millis(300));
    let (successful, busy) = reports.split_at(config.max_parallel + config.max_queue);
    assert!(successful.iter().all(|report| report.ending == EndingKind::Success));
    assert!(
        busy.iter()
            .all(|report| report.ending == EndingKind::Busy && report.duration.is_zero())
    );
    assert!(busy[0].result.metadata.retryable && busy[0].result.metadata.not_run);
    assert_eq!(
        host.run(vec![call("slow", json!({}))]).await[0].ending,
        EndingKind::Success
    );
}

#[tokio::test]
async fn an_executor_that_panics_is_a_host_error_and_other_calls_run() {
    // One tool panics before it returns its future, the other one in its future.
    let host = TestHost::new([
        Arc::new(ScriptedTool::new(schema("early"), |_| -> std::future::Ready<Ending> {
            panic!("early")
        })),
        Arc::new(ScriptedTool::new(schema("late"), |_| async { panic!("late") })),
        echo_tool("fine"),
    ]);
    let calls = ["early", "late", "fine"].map(|name| call(name, json!({}))).to_vec();
    let reports = host.run(calls).await;
    assert_eq!(
        endings(&reports),
        [EndingKind::HostError, EndingKind::HostError, EndingKind::Success]
    );
    assert_eq!(
        reports[0].result.error.as_deref(),
        Some("Tool \"early\" could not be run: its executor panicked")
    );
}

#[tokio::test(start_paused = true)]
async fn an_executor_that_ignores_its_time_limit_is_dropped() {
    let host = TestHost::new([slow_tool("stuck", 1_000_000), echo_tool("fine")]);
    let reports = host.run(vec![call("stuck", json!({})), call("fine", json!({}))]).await;
    assert_eq!(endings(&reports), [EndingKind::Timeout, EndingKind::Success]);
    // The time limit of 30 s and the grace of 2 s.
    assert_eq!(reports[0].duration, Duration::from_secs(32));
    assert_eq!(
        reports[0].result.error.as_deref(),
        Some("Tool \"stuck\" did not finish within 30000 ms")
    );
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_ends_as_cancelled() {
    let polite = Arc::new(ScriptedTool::new(schema("polite"), |checked| {
        let cancel = checked.cancel().clone();
        async move {
            cancel.cancelled().await;
            Ending::Cancelled
        }
    }));
    let config = SystemConfig {
        max_parallel: 2,
        ..SystemConfig::default()
    };
    let host = TestHost::with_config([slow_tool("ignores_cancel", 20_000), polite], config);
    let cancel = host.scope.cancel.clone();
    let cancelling = async {
        sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    };
    let calls = ["polite", "ignores_cancel", "ignores_cancel"]
        .map(|name| call(name, json!({})))
        .to_vec();
    let (reports, ()) = tokio::join!(host.run(calls), cancelling);
    assert_eq!(endings(&reports), [EndingKind::Cancelled; 3]);
    // The first call reported its usage, the second was dropped two seconds after the cancellation, the third never ran.
    let durations: Vec<_> = reports.iter().map(|report| report.duration.as_secs()).collect();
    assert_eq!((reports[0].usage.fuel, durations), (REPORTED_FUEL, vec![1, 3, 1]));
}

/// Returns a system with one direct tool: a tool that is a function of the host program, here `function`.
fn direct_system<F, Fut>(name: &str, function: F) -> ToolSystem
where
    F: Fn(direct::DirectCall) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Ending> + Send + 'static,
{
    let registry = Arc::new(ToolRegistry::new());
    registry
        .register(Arc::new(DirectTool::new(schema(name), function)))
        .unwrap();
    ToolSystem::new(registry, SystemConfig::default())
}

/// Calls the tool `tool` of a [`direct_system`].
async fn run_direct(system: &ToolSystem, arguments: Value) -> ToolReport {
    run_direct_with(system, arguments, CancellationToken::new()).await
}

/// Same as [`run_direct`]. `cancel` cancels the call.
async fn run_direct_with(system: &ToolSystem, arguments: Value, cancel: CancellationToken) -> ToolReport {
    let scope = CallScope {
        enabled_tools: EnabledTools::named(["tool"]),
        cancel,
        ..CallScope::default()
    };
    system.call(call("tool", arguments), &scope).await
}

#[tokio::test(start_paused = true)]
async fn a_direct_tool_can_succeed_fail_time_out_panic_and_be_cancelled() {
    let works = direct_system("tool", |call| async move { direct::success(&call.arguments) });
    let report = run_direct(&works, json!({"a": 1})).await;
    assert_eq!(report.result.output, Some(json!({"a": 1}).into()));
    assert_eq!((report.usage.bytes_in, report.usage.bytes_out), (7, 7));
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    let report = run_direct_with(&works, json!({}), cancelled).await;
    assert_eq!(report.ending, EndingKind::Cancelled);

    let fails = direct_system("tool", |_| async { direct::failure(Code::NotFound, "no such thing") });
    let report = run_direct(&fails, json!({})).await;
    assert_eq!(report.result.error.as_deref(), Some("no such thing"));

    let hangs = direct_system("tool", |_| std::future::pending());
    let report = run_direct(&hangs, json!({})).await;
    assert_eq!((report.ending, report.usage.wall_us), (EndingKind::Timeout, 30_000_000));

    let panics = direct_system("tool", |_| async { panic!("oops") });
    let report = run_direct(&panics, json!({})).await;
    assert_eq!(report.ending, EndingKind::HostError);
    assert_eq!(
        report.result.error.as_deref(),
        Some("Tool \"tool\" could not be run: it panicked")
    );
}

/// Returns a tool with an output that takes long to check.
fn tool_with_heavy_output(timeout_ms: u64) -> Arc<ScriptedTool> {
    let mut schema = schema("heavy");
    schema.output_schema = Some(json!({"items": {"allOf": vec![json!({"minimum": 0}); 100]}}).into());
    let mut tool = ScriptedTool::new(schema, |_| {
        std::future::ready(success_with(&json!(vec![1; 40_000]).to_string()))
    });
    tool.limits.timeout_ms = timeout_ms;
    Arc::new(tool)
}

#[tokio::test]
async fn the_time_of_a_call_includes_the_check_of_its_output() {
    let reports = TestHost::new([tool_with_heavy_output(30_000)])
        .run(vec![call("heavy", json!({}))])
        .await;
    assert_eq!(endings(&reports), [EndingKind::Success]);
    // The tool itself reports no time, so this is the time of the check.
    let used_time = Duration::from_micros(reports[0].usage.wall_us);
    assert!(
        used_time > Duration::from_millis(2) && used_time <= reports[0].duration,
        "{used_time:?}"
    );
}

#[tokio::test]
async fn an_output_that_takes_too_long_to_check_ends_as_a_timeout() {
    let reports = TestHost::new([tool_with_heavy_output(1)])
        .run(vec![call("heavy", json!({}))])
        .await;
    assert_eq!(endings(&reports), [EndingKind::Timeout]);
    assert_eq!(errors(&reports), ["Tool \"heavy\" did not finish within 1 ms"]);
}

#[tokio::test]
async fn a_call_can_be_cancelled_while_its_output_is_checked_and_does_not_delay_other_calls() {
    let host = TestHost::new([tool_with_heavy_output(30_000), echo_tool("light")]);
    let cancel = host.scope.cancel.clone();
    let light = async {
        let reports = host.run(vec![call("light", json!({}))]).await;
        cancel.cancel();
        reports
    };
    let (heavy, light) = tokio::join!(host.run(vec![call("heavy", json!({}))]), light);
    assert_eq!(
        (endings(&heavy), endings(&light)),
        (vec![EndingKind::Cancelled], vec![EndingKind::Success])
    );
}

#[tokio::test]
async fn an_output_that_costs_too_much_to_check_is_invalid() {
    // Checking the output takes about two units of work for each of its 40,000 items and each schema. `MAX_WORK` allows
    // 10 million units.
    for (schemas, ending) in [
        (100, EndingKind::Success),
        (400, EndingKind::InvalidOutput),
        (800, EndingKind::InvalidOutput),
    ] {
        let mut schema = schema("large");
        schema.output_schema = Some(json!({"items": {"allOf": vec![json!({"minimum": 0}); schemas]}}).into());
        let tool = ScriptedTool::new(schema, |_| {
            std::future::ready(success_with(&json!(vec![1; 40_000]).to_string()))
        });
        let reports = TestHost::new([Arc::new(tool)])
            .run(vec![call("large", json!({}))])
            .await;
        assert_eq!(endings(&reports), [ending], "{schemas}");
    }
}

#[tokio::test]
async fn arguments_are_checked_within_the_time_limit_of_their_call() {
    let tool_with_heavy_input = |timeout_ms: u64| {
        let mut schema = schema("heavy");
        schema.input_schema["additionalProperties"] = json!({"items": {"allOf": vec![json!({"minimum": 0}); 100]}});
        let mut tool = ScriptedTool::new(schema, |_| std::future::ready(success_with("1")));
        tool.limits.timeout_ms = timeout_ms;
        Arc::new(tool)
    };
    for (timeout_ms, ending) in [(30_000, EndingKind::Success), (1, EndingKind::Timeout)] {
        let host = TestHost::new([tool_with_heavy_input(timeout_ms)]);
        let reports = host.run(vec![call("heavy", json!({"a": vec![1; 40_000]}))]).await;
        assert_eq!(endings(&reports), [ending]);
    }
}

/// Returns a tool whose argument `a` is an array. Each item of the array gets `defaults_per_item` defaults, which are declared
/// at the end of a chain of 51 references.
fn tool_with_defaults(defaults_per_item: usize) -> Arc<ScriptedTool> {
    let mut schema = schema("filled");
    let properties = (0..defaults_per_item).map(|i| (format!("p{i}"), json!({"default": {}})));
    let mut defs: art_core::JsonObject = (0..50)
        .map(|i| (format!("d{i}"), json!({"$ref": format!("#/$defs/d{}", i + 1)})))
        .collect();
    defs.insert(
        "d50".to_owned(),
        json!({"properties": properties.collect::<art_core::JsonObject>()}),
    );
    schema.input_schema =
        json!({"type": "object", "properties": {"a": {"items": {"$ref": "#/$defs/d0"}}}, "$defs": defs}).into();
    let mut tool = ScriptedTool::new(schema, |_| std::future::ready(success_with("1")));
    tool.limits.input_bytes = 1 << 20;
    Arc::new(tool)
}

#[tokio::test]
async fn arguments_that_would_get_too_many_defaults_are_refused() {
    // Arguments may have at most 50,000 values, defaults included. While defaults are filled in, at most 500,000 properties and
    // items may be visited.
    for (defaults_per_item, items, ending) in [
        (10, 100, EndingKind::Success),
        (400, 50, EndingKind::Success),
        (400, 200, EndingKind::InvalidArguments),
        (400, 40_000, EndingKind::InvalidArguments),
    ] {
        let start = Instant::now();
        let arguments = json!({"a": vec![json!({}); items]});
        let reports = TestHost::new([tool_with_defaults(defaults_per_item)])
            .run(vec![call("filled", arguments)])
            .await;
        assert_eq!(endings(&reports), [ending], "{defaults_per_item} {items}");
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}

#[tokio::test]
async fn long_names_are_shortened_in_messages() {
    let host = TestHost::new([]);
    let name = "x".repeat(100_000);
    let reports = host.run(vec![call(&name, json!({}))]).await;
    assert!(reports[0].result.error.as_ref().unwrap().len() < 1_000);
    assert_eq!(reports[0].result.tool_name, name);
}
