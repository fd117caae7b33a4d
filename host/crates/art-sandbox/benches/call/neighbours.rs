//! Measures calls that run beside guests which the host has to stop again and again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use art_core::limits::Limits;
use art_core::outcome::Ending;
use art_sandbox::Plugin;
use art_tools::{Admitted, ToolExecutor};
use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;

use crate::report::{Row, table};
use crate::sandboxed::{Sandboxed, add, call};

/// How long the calls beside one kind of neighbour are measured.
const MEASURED: Duration = Duration::from_secs(4);
/// The pause between two measured calls. With it, calls begin at different moments in the lives of their neighbours.
const PAUSE: Duration = Duration::from_micros(500);
/// The deadline of the neighbours.
const DEADLINE_MS: u64 = 50;
/// Label, operation and number of the neighbours.
const NEIGHBOURS: [(&str, &str, usize); 4] = [
    ("alone", "Sleep", 0),
    ("beside 1 guest that spins", "Spin", 1),
    ("beside 2 guests that spin", "Spin", 2),
    ("beside 100 guests that sleep", "Sleep", 100),
];

/// Prints the latency of a small call, made from another thread on two workers, alone and beside other guests.
pub(crate) fn neighbours(wasm: &[u8]) {
    let sandboxed = Sandboxed::new(wasm, 2);
    let measured = NEIGHBOURS.map(|(name, op, number)| (name, sorted_latencies(&sandboxed, op, number)));
    for percent in [50, 99] {
        let at = |latencies: &[f64]| latencies.get(latencies.len() * percent / 100).copied().unwrap();
        let [(_, alone), ..] = &measured;
        let rows = measured.each_ref().map(|(name, latencies)| {
            let seconds = at(latencies);
            Row::new(name, format!("{:.0} us", seconds * 1e6), seconds / at(alone))
        });
        table(&format!("latency of a small call, percentile {percent}"), &rows);
    }
}

/// Returns the seconds that each small call took beside `number` guests, the shortest first.
fn sorted_latencies(sandboxed: &Sandboxed, op: &str, number: usize) -> Vec<f64> {
    let is_measured = CancellationToken::new();
    let others = join_all((0..number).map(|_| stopped_again_and_again(sandboxed.plugin(), op, is_measured.clone())));
    let calls = async {
        let latencies = small_calls(sandboxed.plugin()).await;
        is_measured.cancel();
        latencies
    };
    let (mut latencies, _) = sandboxed.block_on(futures_util::future::join(calls, others));
    latencies.sort_by(f64::total_cmp);
    latencies
}

async fn small_calls(plugin: Arc<Plugin>) -> Vec<f64> {
    let admitted = Admitted::for_test(add(), Limits::EXECUTE);
    let mut latencies = Vec::new();
    let begin = Instant::now();
    while begin.elapsed() < MEASURED {
        let start = Instant::now();
        let outcome = plugin.execute(&admitted).await;
        latencies.push(start.elapsed().as_secs_f64());
        assert!(matches!(outcome.ending, Ending::Success(_)), "{outcome:?}");
        tokio::time::sleep(PAUSE).await;
    }
    latencies
}

/// Calls a guest that never ends by itself, again and again until the measurement is complete.
async fn stopped_again_and_again(plugin: Arc<Plugin>, op: &str, is_measured: CancellationToken) {
    let limits = Limits {
        fuel: Limits::MAX.fuel,
        timeout_ms: DEADLINE_MS,
        ..Limits::EXECUTE
    };
    let admitted = Admitted::for_test(call(serde_json::json!({"op": op, "a": 3_600_000})), limits);
    while !is_measured.is_cancelled() {
        let outcome = plugin.execute(&admitted).await;
        assert_eq!(outcome.ending, Ending::Timeout { limit_ms: DEADLINE_MS });
    }
}
