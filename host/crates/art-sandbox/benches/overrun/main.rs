//! Measures how far guests exceed their deadline. These guests were written to be hard to stop. The measured time includes the
//! release of their memory.
//!
//! `cargo bench --bench overrun [GUEST]` prints for each guest, or only for the guest with this name, the milliseconds past its
//! deadline. The goal at the 99th percentile is 15 ms with the default limits and 50 ms with the highest.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark stops at the first failure and prints"
)]

#[path = "../../../../../tests/it/handmade.rs"]
mod handmade;
#[path = "../../../../../tests/it/overrunning.rs"]
mod overrunning;

use std::time::Instant;

use art_core::limits::Limits;
use art_core::outcome::Ending;
use art_core::tool::ParsedToolCall;
use art_sandbox::{Plugin, Sandbox, SandboxConfig};
use art_tools::{CheckedCall, ToolExecutor};

use overrunning::{OVERRUNNING_GUESTS, OverrunningGuest};

const ROUNDS: usize = 200;
/// Part of the memory limit that is left for the tables of the guest, in pages of 64 KiB.
const TABLE_PAGES: u32 = 40;

fn main() {
    let selected_name = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let sandbox = Sandbox::new(&SandboxConfig {
        workers: 1,
        ..SandboxConfig::default()
    })
    .unwrap();
    println!(
        "{:<34} {:>10} {:>8} {:>8}",
        "past the deadline, in ms", "limits", "p50", "p99"
    );
    for guest in OVERRUNNING_GUESTS {
        if selected_name.as_deref().is_some_and(|selected| selected != guest.name) {
            continue;
        }
        for (limits, limits_name) in [(Limits::EXECUTE, "default"), (Limits::MAX, "highest")] {
            let memory_pages = u32::try_from(limits.memory_bytes >> 16).unwrap() - TABLE_PAGES;
            let plugin = sandbox.load("overrunning", &(guest.build)(memory_pages)).unwrap();
            let mut overruns: Vec<_> = (0..ROUNDS)
                .map(|_| runtime.block_on(measure_overrun(guest, &plugin, limits)))
                .collect();
            overruns.sort_by(f64::total_cmp);
            println!(
                "{:<34} {limits_name:>10} {:>8.1} {:>8.1}",
                guest.name,
                overruns.get(ROUNDS / 2).unwrap(),
                overruns.get(ROUNDS * 99 / 100).unwrap()
            );
        }
    }
}

/// Returns the time from the deadline until the end of the call, in milliseconds. The deadline is the one at which this guest is
/// hardest to stop. The fuel is the maximum, so that the deadline ends the call and not the fuel.
async fn measure_overrun(guest: &OverrunningGuest, plugin: &Plugin, limits: Limits) -> f64 {
    let timeout_ms = guest.hardest_deadline_ms(&limits);
    let limits = Limits {
        fuel: Limits::MAX.fuel,
        timeout_ms,
        ..limits
    };
    let call = ParsedToolCall {
        call_id: "call_000000000".to_owned(),
        tool_name: "overrunning".to_owned(),
        arguments: serde_json::json!({}),
    };
    let call = CheckedCall::for_test(call, limits);
    let start = Instant::now();
    let outcome = plugin.execute(&call).await;
    let duration_ms = start.elapsed().as_secs_f64() * 1e3;
    assert_eq!(
        outcome.ending,
        Ending::Timeout { limit_ms: timeout_ms },
        "{}",
        guest.name
    );
    duration_ms - timeout_ms as f64
}
