//! Many calls leave hardly any memory and no threads or open files behind, and many sleeping guests take little memory.
//!
//! `ART_TEST_CALLS=1000000 cargo test --test it -- --ignored flat::many_calls` measures a million calls.

use std::time::Duration;

use art_core::limits::Limits;
use art_sandbox::{Sandbox, SandboxConfig};
use art_tools::executor::{CheckedCall, ToolExecutor};
use futures_util::future::join_all;
use serde_json::json;

use crate::granted::{GrantedFolder, writable_folder};
use crate::harness::{assert_echo_answers, call, components, guest, output, read_component, run_alone, tool_call};
use crate::resources::{Resources, own_memory};

/// Number of measured calls, unless `ART_TEST_CALLS` sets another. A tenth as many are made before the measurement as a warm-up.
const CALLS: usize = 100_000;
/// Number of calls that are made at the same time.
const CONCURRENT_CALLS: usize = 20;
/// Maximum growth of the resident memory during the measured calls, in bytes.
const MAX_GROWTH: u64 = 12 << 20;

/// Number of guests that sleep at the same time.
const SLEEPERS: usize = 1_000;
/// Number of workers of the sandbox in which the [`SLEEPERS`] sleep. Each worker has a pool of 64 slots, and each guest takes a
/// slot.
const WORKERS: usize = SLEEPERS.div_ceil(64);
/// Maximum memory of a sleeping guest, in bytes: 40 KiB, and more if the host is not optimised, since its futures are larger
/// then.
const MAX_SLEEPER_BYTES: u64 = if cfg!(debug_assertions) { 64 << 10 } else { 40 << 10 };

/// Makes calls of several kinds: ordinary ones, ones with files, ones that trap or run out of fuel, and ones that are dropped.
async fn make_calls(granted: &GrantedFolder) {
    let calls = (0..CONCURRENT_CALLS).map(async |n| match n % 5 {
        0 | 1 => assert_echo_answers().await,
        2 => assert_eq!(granted.step("read", "notes/a.txt", "").await, "first"),
        3 => {
            let attack = if n < 10 { "trap" } else { "loop" };
            let limits = Limits {
                fuel: 100_000,
                ..Limits::EXECUTE
            };
            let outcome = call(&guest(components::HOSTILE), json!({"attack": attack}), limits).await;
            assert!(["trap", "fuel_exhausted"].contains(&outcome.ending.name()));
        }
        _ => drop_call_early(n).await,
    });
    join_all(calls).await;
}

/// Drops a sleeping call after `n` tenths of a millisecond.
async fn drop_call_early(n: usize) {
    let sleep = CheckedCall::for_test(tool_call(json!({"attack": "sleep"})), Limits::EXECUTE);
    let hostile = guest(components::HOSTILE);
    let time_until_drop = Duration::from_micros(n as u64 * 100);
    assert!(
        tokio::time::timeout(time_until_drop, hostile.execute(&sleep))
            .await
            .is_err()
    );
}

/// Run by [`many_calls_leave_memory_threads_and_files_as_they_are`] in a separate process.
#[tokio::test]
#[ignore = "measures the whole process"]
async fn many_calls() {
    let calls = std::env::var("ART_TEST_CALLS").map_or(CALLS, |calls| calls.parse().unwrap());
    let granted = writable_folder();
    for _ in 0..calls / CONCURRENT_CALLS / 10 {
        make_calls(&granted).await;
    }
    let before = Resources::now();
    for _ in 0..calls / CONCURRENT_CALLS {
        make_calls(&granted).await;
    }
    let after = Resources::now();
    print(&format!("{calls} calls: {before:?} became {after:?}"));
    after.check_growth_since(&before).unwrap();
    assert!(after.rss < before.rss + MAX_GROWTH, "{before:?} became {after:?}");
}

#[test]
fn many_calls_leave_memory_threads_and_files_as_they_are() {
    run_alone("flat::many_calls", "");
}

#[expect(clippy::print_stdout, reason = "a person who runs these tests reads the figures")]
fn print(text: &str) {
    println!("{text}");
}

/// Run by [`a_thousand_sleeping_guests_take_little_memory`] in a separate process.
#[tokio::test]
#[ignore = "measures the whole process"]
async fn a_thousand_sleepers() {
    let config = SandboxConfig {
        workers: WORKERS,
        ..SandboxConfig::default()
    };
    let sandbox = Sandbox::new(&config).unwrap();
    let slow = sandbox
        .load("slow_echo", &read_component(components::SLOW_ECHO))
        .unwrap();
    let run_sleepers = async |count, ms| {
        let calls = (0..count).map(|_| call(&slow, json!({ "ms": ms }), Limits::EXECUTE));
        let all = join_all(calls).await;
        assert!(
            all.iter().all(|outcome| output(outcome) == json!({ "waited": ms })),
            "{all:?}"
        );
    };
    // Before the measurement, one guest runs on each worker, so that the component is linked for all workers. (The guests sleep
    // so long that each gets a worker of its own.) This uses one slot of each pool. The other slots are still untouched, so
    // their memory is measured when the guests take them.
    run_sleepers(WORKERS, 1_000).await;
    let before = own_memory();
    let measure = async {
        tokio::time::sleep(Duration::from_secs(4)).await;
        own_memory()
    };
    let ((), during) = tokio::join!(run_sleepers(SLEEPERS, 8_000), measure);
    let bytes_each = during.saturating_sub(before) / SLEEPERS as u64;
    print(&format!("{SLEEPERS} sleeping guests take {bytes_each} bytes each"));
    assert!(bytes_each < MAX_SLEEPER_BYTES, "{bytes_each} bytes");
}

#[test]
fn a_thousand_sleeping_guests_take_little_memory() {
    run_alone("flat::a_thousand_sleepers", "");
}
