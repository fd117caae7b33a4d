//! The memory of guests that sleep at the same time.

use std::time::Duration;

use art_core::limits::Limits;
use art_core::outcome::Ending;
use art_sandbox::{Plugin, Sandbox, SandboxConfig};
use art_tools::{CheckedCall, ToolExecutor};
use futures_util::future::join_all;
use serde_json::json;

use crate::guest::Components;
use crate::sandboxed::call_with;

const GUESTS: usize = 1_000;
/// Each worker has a pool of 64 slots, and each guest takes one slot.
const WORKERS: usize = GUESTS.div_ceil(64);

/// Prints how much memory a small tool takes while it sleeps, including what the host keeps for its call. It is measured in slots
/// of the pool that no guest has used before, and in slots that keep the pages of an earlier guest. Tools with more functions
/// take more.
pub(crate) fn print_sleepers(components: &Components) {
    let config = SandboxConfig {
        workers: WORKERS,
        ..SandboxConfig::default()
    };
    let sandbox = Sandbox::new(&config).unwrap();
    let plugin = sandbox.load("sleeper", &components.sleeper).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    // Links the component for each worker: these guests sleep so long that each gets a worker of its own.
    runtime.block_on(sleep_together(&plugin, WORKERS, 500));
    println!("\nmemory of each of {GUESTS} guests that sleep at the same time");
    for slots in ["new slots of the pool", "used slots of the pool"] {
        let bytes_before = own_memory();
        let measure = async {
            // After this time all guests sleep.
            tokio::time::sleep(Duration::from_millis(2_000)).await;
            own_memory()
        };
        let ((), bytes) = runtime.block_on(async { tokio::join!(sleep_together(&plugin, GUESTS, 4_000), measure) });
        let bytes_each = bytes.saturating_sub(bytes_before) as f64 / GUESTS as f64;
        println!("  {slots:<30} {:>11.1} KiB", bytes_each / 1024.0);
    }
}

async fn sleep_together(plugin: &Plugin, guests: usize, milliseconds: u64) {
    let sleep = async || {
        let call = call_with(json!({"ms": milliseconds}));
        let outcome = plugin.execute(&CheckedCall::for_test(call, Limits::EXECUTE)).await;
        assert!(matches!(outcome.ending, Ending::Success(_)), "{outcome:?}");
    };
    join_all((0..guests).map(|_| sleep())).await;
}

/// Returns the memory of this process that is not backed by files, in bytes.
fn own_memory() -> u64 {
    let rollup = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap();
    let kibibytes = ["Pss_Anon:", "Pss_Shmem:"].map(|name| {
        let line = rollup.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim_end_matches("kB").trim().parse::<u64>().unwrap()
    });
    kibibytes.iter().sum::<u64>() << 10
}
