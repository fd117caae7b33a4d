//! Measures the check of a plan, and the work of the agent between two planned calls.

use std::collections::BTreeSet;
use std::hint::black_box;
use std::time::{Duration, Instant};

use art_agent::{CallEnd, PlanResources, Run, RunEvent, RunStart, SavedPlan};
use art_core::agent::{AgentProps, QueryAttachment};
use art_core::outcome::EndingKind;
use art_core::provider::RuntimeProviderConfig;
use art_core::stream::ModelReply;
use art_core::tool::{ToolResult, ToolSchema};
use serde_json::{Value, json};

use crate::report::{Row, fastest, print_table};
use crate::sandboxed::Sandboxed;

const FILE: &str = "orders.csv";

/// Returns the first-party tools from a snapshot of the agent's tests.
fn tools() -> Vec<ToolSchema> {
    // The JSON text comes after a header between two lines `---`.
    let snapshot = include_str!("../../../art-agent/tests/it/corpus/tools.snap");
    serde_json::from_str(snapshot.splitn(3, "---\n").nth(2).unwrap()).unwrap()
}

/// Returns step `n` of a plan. The steps are of three kinds in turn: steps 0, 3, 6 and so on filter a table and need no other
/// step. The step after such a step queries the rows that it gives, and the next one calculates with the count that the query
/// gives.
fn step(n: usize) -> Value {
    let output_of_step_before = |path: &str| json!({"$from": format!("step_{}", n - 1), "path": path});
    let call = match n % 3 {
        0 => {
            let filter = json!([{"column": "total", "operator": "gt", "value": n}]);
            let arguments = json!({"csv": {"$attachment": FILE}, "filter": filter, "sort": "descending", "limit": 100});
            json!({"toolName": "csv_query", "arguments": arguments})
        }
        1 => {
            let rows = output_of_step_before("/rows");
            json!({"toolName": "json_query", "arguments": {"json": rows, "query": "group_by(.customer)[]"}})
        }
        _ => {
            let expression = json!({"$concat": ["100 * ", output_of_step_before("/count"), " / 7"]});
            json!({"toolName": "calculator", "arguments": {"expression": expression}})
        }
    };
    json!({"id": format!("step_{n}"), "description": "Carry out a part of the question.", "toolCalls": [call]})
}

fn steps(numbers: impl IntoIterator<Item = usize>) -> Value {
    numbers.into_iter().map(step).collect()
}

/// A plan whose check is measured.
struct CheckedPlan {
    plan: SavedPlan,
    tools: Vec<ToolSchema>,
}

impl CheckedPlan {
    fn new(step_count: usize) -> Self {
        let plan = json!({"version": SavedPlan::VERSION, "question": "q", "steps": steps(0..step_count)});
        let (plan, tools) = (serde_json::from_value(plan).unwrap(), tools());
        let checked = Self { plan, tools };
        assert!(checked.has_no_faults());
        checked
    }

    fn has_no_faults(&self) -> bool {
        let available = PlanResources {
            tools: &self.tools,
            disabled: &[],
            thread: "t",
            earlier: &[],
            files: &BTreeSet::from([FILE]),
            max_items: 50,
            max_calls: 64,
            plans_only: false,
        };
        black_box(&self.plan).check(&available).faults.is_empty()
    }

    fn time(&self, iterations: u64) -> Duration {
        let start = Instant::now();
        for _ in 0..iterations {
            assert!(self.has_no_faults());
        }
        start.elapsed()
    }
}

/// A run whose first two planned calls were made and have not ended, and the event that ends the first of them.
struct RunInProgress {
    run: Run,
    end_of_first: RunEvent,
}

impl RunInProgress {
    /// Begins a run with these steps, and makes the calls of the first two. These two steps must not depend on other steps.
    fn new(steps: &Value) -> Self {
        let mut run = begin_run();
        let action = run.ask_models(1, |_| String::new()).calls.pop().unwrap().id;
        let text = json!({"todoList": steps}).to_string();
        let reply = ModelReply {
            text,
            ..ModelReply::default()
        };
        run.apply(&RunEvent::ModelReplied { at: 2, action, reply }).unwrap();
        let [first, second] = run.ready_calls().try_into().unwrap();
        run.apply(&first.called_event(3)).unwrap();
        run.apply(&second.called_event(3)).unwrap();
        let rows = json!([{"customer": "Ada", "total": 120}, {"customer": "Bob", "total": 80}]);
        let output = json!({"rows": rows, "columns": ["customer", "total"], "row_count": 2, "matched_rows": 2});
        let end = CallEnd::new(ToolResult::success(&first.call, output), EndingKind::Success);
        let end_of_first = RunEvent::ToolEnded {
            at: 3,
            action: first.action,
            end: Box::new(end),
        };
        Self { run, end_of_first }
    }

    /// Measures the time from the end of the first call until the next call is ready, with its references replaced by values. If
    /// no call is next, measures the handling of the end alone.
    fn time(&self, iterations: u64) -> Duration {
        let mut total = Duration::ZERO;
        for _ in 0..iterations {
            let mut run = self.run.clone();
            let start = Instant::now();
            let effects = run.apply(&self.end_of_first).unwrap();
            let next = run.ready_calls();
            total += start.elapsed();
            black_box((effects, next));
        }
        total
    }
}

fn begin_run() -> Run {
    let file = QueryAttachment {
        name: FILE.to_owned(),
        media_type: "text/csv".to_owned(),
        text: "customer,total\nAda,120\nBob,80\n".to_owned(),
        base64: None,
        keep: false,
    };
    let props = AgentProps {
        query: "q".to_owned(),
        thread_id: "thread".to_owned(),
        trace_id: Some("trace".to_owned()),
        attachments: vec![file],
        ..AgentProps::default()
    };
    let mut start = RunStart::new(props, RuntimeProviderConfig::new("bench", "bench"));
    start.tools = tools();
    start.config.max_parallel_items = 2;
    start.config.max_items = 50;
    let start = Box::new(start);
    Run::start(&RunEvent::Started { at: 1, start }).unwrap().0
}

/// Prints the time to check a plan and the time between two planned calls, each also in relation to the time of a sandboxed call
/// in a new instance. Each round measures all of them, one after the other.
pub(crate) fn print_plans(wasm: &[u8]) {
    const ROUNDS: usize = 60;
    let sandboxed = Sandboxed::new(wasm, 1);
    let check = CheckedPlan::new(50);
    // Step 1 needs step 0, which is the first call; steps 0 and 3 need no other step. Steps 6 to 52 are 47 further steps.
    let without_next = RunInProgress::new(&steps([0, 3]));
    let with_next = RunInProgress::new(&steps([0, 3, 1]));
    let fifty_steps = RunInProgress::new(&steps([0, 3, 1].into_iter().chain(6..53)));
    let rounds: Vec<[f64; 5]> = (0..ROUNDS)
        .map(|_| {
            [
                sandboxed.time_on_worker(500).as_secs_f64() / 500.0,
                check.time(10).as_secs_f64() / 10.0,
                without_next.time(200).as_secs_f64() / 200.0,
                with_next.time(200).as_secs_f64() / 200.0,
                fifty_steps.time(50).as_secs_f64() / 50.0,
            ]
        })
        .collect();
    let fastest_of = |column: usize| fastest(rounds.iter().filter_map(|round| round.get(column).copied()));
    let [sandboxed_call, check, end, end_and_next, end_and_next_of_fifty] = [0, 1, 2, 3, 4].map(fastest_of);
    let figures = [
        ("sandboxed call", sandboxed_call),
        ("check of a plan with 50 steps", check),
        ("end of a step", end),
        ("end of a step and the call of the next", end_and_next),
        ("the call of the next alone", end_and_next - end),
        (
            "end of a step and the next in a plan with 50 steps",
            end_and_next_of_fifty,
        ),
    ];
    let row =
        |(name, seconds): (&str, f64)| Row::new(name, format!("{:.2} us", seconds * 1e6), seconds / sandboxed_call);
    print_table("plans, against a fresh sandboxed call", &figures.map(row));
}
