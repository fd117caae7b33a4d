//! Measures the cost of a run that waits for a person's decision: the host's memory while it waits, and the host's time to
//! resume it. Prints both as percentages of their limits, and does not fail if a limit is exceeded. Run the benchmark with
//! `cargo bench -p art-runtime --bench suspended`.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark stops at the first failure and prints"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use art_core::agent::RunStatus;
use art_core::hitl::Feedback;
use art_core::outcome::{Ending, Suspension};
use art_core::provider::{ModelCapability, ModelRequest, RuntimeProviderConfig};
use art_core::stream::{Phase, StreamEvent};
use art_core::tool::{ExecutionMode, ToolSchema};
use art_model::Model;
use art_runtime::{Runtime, Unwatched};
use art_store::SqliteStore;
use art_tools::DirectTool;
use art_tools::direct::success;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// Number of measured runs.
const RUNS: usize = 1_000;
/// Number of runs before the measurement, so that the allocator and the database have already reserved their memory.
const WARM_UP: usize = 200;
/// Limit on the memory of the host for a run that waits, in bytes.
const MAX_BYTES_PER_RUN: u64 = 1 << 10;
/// Limit on the time in which the host resumes a suspended run.
const MAX_RESUME_TIME: Duration = Duration::from_millis(10);

/// A model that replies at once.
#[derive(Debug)]
struct InstantModel(RuntimeProviderConfig);

impl Model for InstantModel {
    fn config(&self) -> &RuntimeProviderConfig {
        &self.0
    }

    fn capabilities(&self) -> &[ModelCapability] {
        &[ModelCapability::Text, ModelCapability::Reasoning]
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, StreamEvent> {
        let step = json!({
            "id": "s", "description": "ask", "stepType": "tool", "requiredTools": ["asks"],
            "toolCalls": [{"toolName": "asks", "arguments": {}}],
        });
        let text = match request.phase {
            Phase::Planning => json!({"title": "T", "intent": "I", "plan": "P", "todoList": [step]}).to_string(),
            Phase::Execution | Phase::Synthesis => "The answer.".to_owned(),
        };
        stream::iter([StreamEvent::Token(text), StreamEvent::End]).boxed()
    }
}

/// Returns a tool that asks before it acts.
fn asking_tool() -> DirectTool {
    let schema = ToolSchema {
        name: "asks".to_owned(),
        description: "Acts after a person has approved.".to_owned(),
        input_schema: json!({"type": "object"}).into(),
        output_schema: None,
        examples: Vec::new().into(),
        execution_mode: ExecutionMode::Blocking,
        blocking_config: None,
        display_config: None,
    };
    // The context is `None` until a person has decided.
    DirectTool::new(schema, async |call| match call.context.hitl_context {
        Some(_) => success(&json!("done")),
        None => Ending::Suspended(Suspension {
            message: "Go on?".to_owned(),
            details: None,
            preview_data: None,
            feedback_schema: None,
        }),
    })
}

/// Begins runs that then wait for a decision. Returns the identifier of each run with that of its suspension.
async fn begin_suspended_runs(runtime: &Runtime, count: usize) -> Vec<(String, String)> {
    let mut suspended = Vec::with_capacity(count);
    for _ in 0..count {
        let answer = runtime.ask("Go.").await.unwrap();
        assert_eq!(answer.status(), RunStatus::Suspended);
        suspended.push((answer.trace_id, answer.waits_for.first().unwrap().id().to_owned()));
    }
    suspended
}

/// Returns the resident memory of the process, in KiB.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    resident.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Returns the processor time that the process has used, in the steps of 10 ms in which the kernel counts it.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The name of the process is in parentheses and may contain spaces. The 12th and 13th fields after it are `utime` and
    // `stime`.
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let ticks = fields
        .split(' ')
        .skip(11)
        .take(2)
        .map(|field| field.parse::<u64>().unwrap());
    Duration::from_millis(10 * ticks.sum::<u64>())
}

/// Returns a measured value as a percentage of its limit.
fn percentage(measured: f64, limit: f64) -> String {
    format!("{:.0} %", 100.0 * measured / limit)
}

#[tokio::main(flavor = "multi_thread", worker_threads = 1)]
async fn main() {
    let home = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(home.path().join("art.db")).unwrap());
    let model = Arc::new(InstantModel(RuntimeProviderConfig::new("bench", "instant")));
    let builder = Runtime::builder().plugins(home.path()).own_model(model).store(store);
    let runtime = builder.tool(asking_tool()).build().await.unwrap();
    drop(begin_suspended_runs(&runtime, WARM_UP).await);
    let kib_before = resident_kib();
    let suspended = begin_suspended_runs(&runtime, RUNS).await;
    let growth_kib = resident_kib().saturating_sub(kib_before);
    let bytes_per_run = growth_kib * 1024 / RUNS as u64;
    println!(
        "{RUNS} suspended runs: {bytes_per_run} bytes of memory each, {} of the limit of {MAX_BYTES_PER_RUN} bytes",
        percentage(bytes_per_run as f64, MAX_BYTES_PER_RUN as f64)
    );
    let mut times: Vec<Duration> = Vec::with_capacity(RUNS);
    let time_before = processor_time();
    for (run, suspension) in &suspended {
        let decided_at = 0;
        let approval = Feedback::new(true, decided_at);
        runtime.decide(suspension, approval).await.unwrap();
        let start = Instant::now();
        let answer = runtime
            .resume(run, CancellationToken::new(), &mut Unwatched)
            .await
            .unwrap();
        times.push(start.elapsed());
        assert_eq!(answer.status(), RunStatus::Success);
    }
    let time_per_run = (processor_time() - time_before) / RUNS as u32;
    println!(
        "deciding on a suspended run and resuming it until it answers: {time_per_run:?} of processor time, {} of the limit of {MAX_RESUME_TIME:?}",
        percentage(time_per_run.as_secs_f64(), MAX_RESUME_TIME.as_secs_f64())
    );
    times.sort_unstable();
    let (median, percentile_99) = (times.get(RUNS / 2).unwrap(), times.get(RUNS * 99 / 100).unwrap());
    println!(
        "wall-clock time of resuming, including disk access: {median:?} median, {percentile_99:?} at the 99th percentile, {} and {} of the limit of {MAX_RESUME_TIME:?}",
        percentage(median.as_secs_f64(), MAX_RESUME_TIME.as_secs_f64()),
        percentage(percentile_99.as_secs_f64(), MAX_RESUME_TIME.as_secs_f64())
    );
}
