//! What a guest fills through calls into the host is charged to its call, and an output costs a bounded amount of memory once it is
//! parsed. The tests that measure memory run in a process of their own.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use art_core::capability::{Access, BaseDirs, FsGrant, ToolPolicy};
use art_core::limits::Limits;
use art_core::outcome::Outcome;
use art_runtime::art_agent::PlanToRun;
use art_runtime::prelude::{DirectTool, Question, Runtime, args};
use art_runtime::read_plan;
use art_sandbox::{Plugin, Sandbox, SandboxConfig};
use art_tools::executor::{CheckedCall, ToolExecutor};
use futures_util::future::join_all;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::harness::{call, components, guest, load_into, message_with_causes, output, run_alone, tool_call};
use crate::resources::Resources;

const MIB: u64 = 1 << 20;
/// Maximum memory of the host for one call, with the memory of its instance.
const MAX_CALL_BYTES: u64 = 64 * MIB;
/// Maximum memory of the host for one output of a run while the run goes on, with its text.
const MAX_OUTPUT_BYTES: u64 = 16 * MIB;

/// The arguments of a tool without arguments.
#[args]
struct Nothing {}

async fn fill(arguments: Value) -> Outcome {
    call(&guest(components::FILLS), arguments, Limits::EXECUTE).await
}

#[tokio::test]
async fn a_guest_that_fills_objects_of_the_host_ends_at_the_limit_of_this_memory() {
    for attack in ["methods", "authorities", "small_headers"] {
        let outcome = fill(json!({"attack": attack, "n": 500})).await;
        let (_, message) = outcome
            .ending
            .error()
            .unwrap_or_else(|| panic!("{attack}: {outcome:?}"));
        assert_eq!(outcome.ending.name(), "memory_exhausted", "{attack}: {message}");
        assert!(
            message.contains("16777216 bytes of memory of the host"),
            "{attack}: {message}"
        );
    }
}

#[tokio::test]
async fn objects_that_a_tool_needs_and_values_that_are_replaced_stay_allowed() {
    for arguments in [
        json!({"attack": "methods", "n": 7}),
        json!({"attack": "headers", "n": 100}),
        json!({"attack": "small_headers", "n": 50}),
        json!({"attack": "bodies", "n": 100}),
        json!({"attack": "replaced", "n": 20}),
    ] {
        assert_eq!(output(&fill(arguments.clone()).await), "survived", "{arguments}");
    }
}

/// Run by [`four_calls_that_fill_requests_take_little_memory_of_the_host`].
#[tokio::test]
#[ignore = "measures the whole process"]
async fn four_calls() {
    fill(json!({"attack": "methods", "n": 1})).await;
    let before = Resources::now();
    for attack in ["methods", "small_headers", "authorities"] {
        let calls = (0..4).map(|_| fill(json!({"attack": attack, "n": 500})));
        for outcome in join_all(calls).await {
            assert_eq!(outcome.ending.name(), "memory_exhausted", "{attack}");
        }
    }
    let growth = Resources::now().peak_rss.saturating_sub(before.rss);
    assert!(growth < 4 * MAX_CALL_BYTES, "{} MiB more", growth / MIB);
}

#[test]
fn four_calls_that_fill_requests_take_little_memory_of_the_host() {
    run_alone("host_memory::four_calls", "");
}

/// Returns a sandbox that stages changes, and the guest with a grant of the folder `notes`.
fn with_staging(folder: &Path) -> (Sandbox, Plugin) {
    let notes = folder.join("notes");
    fs::create_dir(&notes).unwrap();
    fs::write(notes.join("a.txt"), "first").unwrap();
    for number in 0..5_000 {
        fs::write(notes.join(format!("{}{number}", "f".repeat(100))), "").unwrap();
    }
    let config = SandboxConfig {
        workers: 1,
        staging: Some(folder.join("staging")),
        ..SandboxConfig::default()
    };
    let sandbox = Sandbox::new(&config).unwrap();
    let tool = load_into(&sandbox, components::FILLS).unwrap_or_else(|error| panic!("{}", message_with_causes(&error)));
    let grant = FsGrant {
        stage: true,
        ..FsGrant::new(notes, Access::ReadWrite)
    };
    let policy = ToolPolicy {
        component: tool.digest(),
        fs: vec![grant],
        ..ToolPolicy::default()
    };
    let base_dirs = BaseDirs {
        home: Some(folder.to_owned()),
        resolved_home: None,
        current: folder.to_owned(),
        protected: Vec::new(),
    };
    (sandbox, tool.with_policy(policy, base_dirs).unwrap())
}

/// Run by [`no_random_calls_of_a_guest_fill_the_memory_of_the_host`].
#[test]
#[ignore = "measures the whole process"]
fn random_calls() {
    let folder = tempfile::tempdir().unwrap();
    let (_sandbox, tool) = with_staging(folder.path());
    let tool = Arc::new(tool);
    let notes = folder.path().join("notes");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let run = |seed: u64, n: usize| {
        let arguments = json!({"attack": "anything", "seed": seed, "n": n, "folder": notes});
        let grants = tool.authorize(&arguments).unwrap();
        let call =
            CheckedCall::for_test_with_grants(tool_call(arguments), Limits::EXECUTE, grants, CancellationToken::new());
        runtime.block_on(tool.execute(&call))
    };
    run(0, 1);
    let before = Resources::now();
    let endings = RefCell::new(Vec::new());
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(60)
    };
    TestRunner::new(config)
        .run(&(any::<u64>(), 1_usize..3_000), |(seed, n)| {
            let outcome = run(seed, n);
            let growth = Resources::now().peak_rss.saturating_sub(before.rss);
            prop_assert!(
                growth < MAX_CALL_BYTES,
                "{} MiB more, {:?}",
                growth / MIB,
                outcome.ending
            );
            let known = [
                "success",
                "memory_exhausted",
                "fuel_exhausted",
                "trap",
                "invalid_output",
            ];
            prop_assert!(known.contains(&outcome.ending.name()), "{:?}", outcome.ending);
            endings.borrow_mut().push(outcome.ending.name());
            Ok(())
        })
        .unwrap();
    let endings = endings.into_inner();
    assert!(endings.contains(&"success"), "{endings:?}");
}

#[test]
fn no_random_calls_of_a_guest_fill_the_memory_of_the_host() {
    run_alone("host_memory::random_calls", "");
}

/// Returns about 1 MiB of small objects, near the maximum number of values in an output.
fn small_objects() -> Vec<BTreeMap<&'static str, u32>> {
    (0..16_000)
        .map(|number| BTreeMap::from([("a number", number)]))
        .collect()
}

/// Run by [`forty_large_outputs_of_a_run_are_kept_once`].
#[tokio::test]
#[ignore = "measures the whole process"]
async fn forty_outputs() {
    let tool = DirectTool::typed("lists_objects", "Lists objects.", async |_: Nothing| {
        Ok::<_, String>(small_objects())
    });
    let runtime = Runtime::builder().tool(tool).build().await.unwrap();
    let run = async |count: usize| {
        let call = json!({"toolName": "lists_objects", "arguments": {}});
        let step =
            |number| json!({"id": format!("step_{number}"), "description": "List objects", "toolCalls": [call, call]});
        let steps: Vec<_> = (1..=count).map(step).collect();
        let plan = json!({"version": 1, "question": "Which objects are there?", "steps": steps});
        let plan = read_plan(&plan.to_string()).unwrap();
        let values = serde_json::Map::new();
        let answer = runtime
            .ask(Question::of_plan(PlanToRun { plan, values }))
            .await
            .unwrap();
        assert_eq!(
            answer.report.items.iter().filter(|item| item.result.is_some()).count(),
            count
        );
    };
    run(1).await;
    let one = Resources::now();
    // The maximum number of steps.
    run(20).await;
    let growth = Resources::now().peak_rss.saturating_sub(one.peak_rss);
    assert!(growth < 40 * MAX_OUTPUT_BYTES, "{} MiB more", growth / MIB);
}

#[test]
fn forty_large_outputs_of_a_run_are_kept_once() {
    run_alone("host_memory::forty_outputs", "");
}
