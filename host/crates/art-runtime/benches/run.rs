//! Measures how much processor time the host adds to the tool calls of a run. The model replies without delay: it plans three
//! calls, the host makes them, and the model answers.
//!
//! The baseline is the same three calls made by the tool system alone, in the same process. Times are processor times of all
//! threads. The fastest of many rounds counts, since other work of the machine disturbs it least. Run the benchmark with
//! `cargo bench -p art-runtime`.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark stops at the first failure and prints"
)]

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use art_core::provider::{ModelCapability, ModelRequest, RuntimeProviderConfig};
use art_core::stream::{Phase, StreamEvent};
use art_core::tool::ParsedToolCall;
use art_model::Model;
use art_runtime::{Answer, Runtime};
use art_store::{MemoryStore, SqliteStore, Store};
use art_tools::{CallScope, EnabledTools};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

/// Number of rounds, of which the fastest counts.
const ROUNDS: usize = 40;
/// Number of runs in a round, if the store is in memory. A round of the baseline makes the calls of as many runs.
const RUNS_PER_ROUND: u32 = 25;
/// Number of tool calls of a run.
const CALLS: u32 = 3;
const ANSWER: &str = "The answer.";

/// A model that replies at once.
#[derive(Debug)]
struct InstantModel {
    config: RuntimeProviderConfig,
    plan: String,
}

impl Model for InstantModel {
    fn config(&self) -> &RuntimeProviderConfig {
        &self.config
    }

    fn capabilities(&self) -> &[ModelCapability] {
        &[ModelCapability::Text, ModelCapability::Reasoning]
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, StreamEvent> {
        let text = match request.phase {
            Phase::Planning => self.plan.clone(),
            Phase::Execution | Phase::Synthesis => ANSWER.to_owned(),
        };
        stream::iter([StreamEvent::Token(text), StreamEvent::End]).boxed()
    }
}

/// Returns a plan with [`CALLS`] steps, each with one call.
fn plan() -> Value {
    let step = |number: u32| {
        json!({
            "id": format!("s{number}"), "description": "add", "stepType": "tool", "requiredTools": ["calculator"],
            "toolCalls": [{"toolName": "calculator", "arguments": arguments(number)}],
        })
    };
    let steps: Vec<_> = (0..CALLS).map(step).collect();
    json!({"title": "T", "intent": "I", "plan": "P", "todoList": steps})
}

/// Returns the arguments of the call with this number.
fn arguments(number: u32) -> Value {
    json!({"expression": format!("{number} + 1")})
}

/// Builds the calculator as `art plugin build` would, and returns a folder with it.
fn build_plugins() -> tempfile::TempDir {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let (target, folder) = (root.join("target/bench-guest"), tempfile::tempdir().unwrap());
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--package", "calculator", "--profile", "tool"])
        .args(["--target", "wasm32-unknown-unknown", "--target-dir"])
        .arg(&target)
        .current_dir(&root)
        .status();
    assert!(built.unwrap().success(), "the calculator does not build");
    let component = target.join("wasm32-unknown-unknown/tool/calculator.wasm");
    std::fs::copy(component, folder.path().join("calculator.wasm")).unwrap();
    folder
}

async fn runtime(plugins: &Path, store: Arc<dyn Store>) -> Runtime {
    let model = Arc::new(InstantModel {
        config: RuntimeProviderConfig::new("bench", "instant"),
        plan: plan().to_string(),
    });
    let builder = Runtime::builder().plugins(plugins).own_model(model).store(store);
    builder.build().await.unwrap()
}

/// Returns the processor time of the process.
fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap()
}

/// Returns the mean processor time of `work` in the fastest round, in microseconds. Each round repeats the work.
async fn measure_fastest<F: Future>(repetitions_per_round: u32, mut work: impl FnMut() -> F) -> f64 {
    let mut fastest = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = processor_time();
        for _ in 0..repetitions_per_round {
            work().await;
        }
        let micros = (processor_time() - start).as_secs_f64() * 1e6;
        fastest = fastest.min(micros / f64::from(repetitions_per_round));
    }
    fastest
}

async fn ask(runtime: &Runtime) -> Answer {
    let answer = runtime.ask("Add.").await.unwrap();
    assert_eq!((answer.text(), answer.calls.len()), (ANSWER, CALLS as usize));
    answer
}

async fn make_calls(runtime: &Runtime, scope: &CallScope) {
    for number in 0..CALLS {
        let call = ParsedToolCall {
            call_id: format!("call_{number}"),
            tool_name: "calculator".to_owned(),
            arguments: arguments(number),
        };
        let report = runtime.tools.call(call, scope).await;
        assert!(report.result.output.is_some(), "{report:?}");
    }
}

fn print_row(name: &str, micros: f64, baseline: f64) {
    println!("  {name:<34} {micros:>10.1} us {:>8.2}x", micros / baseline);
}

#[tokio::main(flavor = "multi_thread", worker_threads = 1)]
async fn main() {
    let plugins = build_plugins();
    let in_memory = runtime(plugins.path(), Arc::new(MemoryStore::new())).await;
    let scope = CallScope {
        enabled_tools: EnabledTools::named(["calculator"]),
        ..CallScope::default()
    };
    let micros_of_calls = measure_fastest(RUNS_PER_ROUND, || make_calls(&in_memory, &scope)).await;
    let micros_of_run = measure_fastest(RUNS_PER_ROUND, || ask(&in_memory)).await;
    println!("\nprocessor time of a run with {CALLS} planned calls");
    print_row("the calls alone", micros_of_calls, micros_of_calls);
    print_row("the run in memory", micros_of_run, micros_of_calls);
    print_row("the host's share", micros_of_run - micros_of_calls, micros_of_calls);

    let folder = tempfile::tempdir().unwrap();
    let database = Arc::new(SqliteStore::open(folder.path().join("art.db")).unwrap());
    let with_database = runtime(plugins.path(), Arc::clone(&database) as Arc<dyn Store>).await;
    let commits_before = database.stats().commits;
    for _ in 0..RUNS_PER_ROUND {
        ask(&with_database).await;
    }
    let commits_per_run = (database.stats().commits - commits_before) as f64 / f64::from(RUNS_PER_ROUND);
    // With the database, a round is a single run.
    let micros_of_stored_run = measure_fastest(1, || ask(&with_database)).await;
    print_row("the run with SQLite", micros_of_stored_run, micros_of_calls);
    println!(
        "  {commits_per_run:.1} commits for the run, {:.1} for each call",
        commits_per_run / f64::from(CALLS)
    );
}
