//! Measures calls that run beside guests which the host has to stop again and again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use art_core::limits::Limits;
use art_core::outcome::Ending;
use art_sandbox::Plugin;
use art_tools::{CheckedCall, ToolExecutor};
use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;

use crate::report::{Row, print_table};
use crate::sandboxed::{Sandboxed, add_call, call_with};

/// Number of rounds. Each measures the small calls beside each kind of neighbour, so that other work on the machine disturbs
/// all of them alike.
const ROUNDS: usize = 8;
/// How long a round measures the small calls beside one kind of neighbour.
const MEASUREMENT: Duration = Duration::from_secs(1);
/// The pause between two measured calls. With it, small calls begin at different moments of the calls of their neighbours.
const PAUSE: Duration = Duration::from_micros(500);
/// The deadline of each call of a neighbour, at which the host has to stop it.
const DEADLINE_MS: u64 = 50;
/// Label, operation and number of the neighbours.
const NEIGHBOURS: [(&str, &str, usize); 5] = [
    ("alone", "Sleep", 0),
    ("beside 1 guest that spins", "Spin", 1),
    ("beside 2 guests that spin", "Spin", 2),
    ("beside 2 guests that sleep", "Sleep", 2),
    ("beside 100 guests that sleep", "Sleep", 100),
];

/// Prints the latency of a small call, alone and beside other guests. The sandbox has two workers, and the calls come from a
/// thread that is no worker.
pub(crate) fn print_neighbours(wasm: &[u8]) {
    let sandboxed = Sandboxed::new(wasm, 2);
    let mut measured = NEIGHBOURS.map(|(name, ..)| (name, Vec::new()));
    for _ in 0..ROUNDS {
        for ((_, latencies), (_, op, number)) in measured.iter_mut().zip(NEIGHBOURS) {
            latencies.extend(measure_latencies(&sandboxed, op, number));
        }
    }
    for (_, latencies) in &mut measured {
        latencies.sort_by(f64::total_cmp);
    }
    for percent in [50, 99] {
        let at_percentile = |latencies: &[f64]| latencies.get(latencies.len() * percent / 100).copied().unwrap();
        let [(_, alone), ..] = &measured;
        let rows = measured.each_ref().map(|(name, latencies)| {
            let seconds = at_percentile(latencies);
            Row::new(name, format!("{:.0} us", seconds * 1e6), seconds / at_percentile(alone))
        });
        print_table(&format!("latency of a small call, percentile {percent}"), &rows);
    }
}

/// Returns the seconds that each small call takes beside `number` guests with the operation `op`.
fn measure_latencies(sandboxed: &Sandboxed, op: &str, number: usize) -> Vec<f64> {
    let stop = CancellationToken::new();
    let neighbours = join_all((0..number).map(|_| repeat_endless_calls(sandboxed.plugin(), op, stop.clone())));
    let small_calls = async {
        let latencies = time_small_calls(sandboxed.plugin()).await;
        stop.cancel();
        latencies
    };
    let (latencies, _) = sandboxed.block_on(futures_util::future::join(small_calls, neighbours));
    latencies
}

async fn time_small_calls(plugin: Arc<Plugin>) -> Vec<f64> {
    let admitted = CheckedCall::for_test(add_call(), Limits::EXECUTE);
    let mut latencies = Vec::new();
    let begin = Instant::now();
    while begin.elapsed() < MEASUREMENT {
        let start = Instant::now();
        let outcome = plugin.execute(&admitted).await;
        latencies.push(start.elapsed().as_secs_f64());
        assert!(matches!(outcome.ending, Ending::Success(_)), "{outcome:?}");
        tokio::time::sleep(PAUSE).await;
    }
    latencies
}

/// Calls a guest that does not end before its deadline, again and again until `stop` is cancelled.
async fn repeat_endless_calls(plugin: Arc<Plugin>, op: &str, stop: CancellationToken) {
    let limits = Limits {
        fuel: Limits::MAX.fuel,
        timeout_ms: DEADLINE_MS,
        ..Limits::EXECUTE
    };
    // `Sleep` sleeps `a` milliseconds, which is an hour. `Spin` ignores `a`.
    let admitted = CheckedCall::for_test(call_with(serde_json::json!({"op": op, "a": 3_600_000})), limits);
    while !stop.is_cancelled() {
        let outcome = plugin.execute(&admitted).await;
        assert_eq!(outcome.ending, Ending::Timeout { limit_ms: DEADLINE_MS });
    }
}
