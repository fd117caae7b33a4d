//! What a sandboxed call costs, against the floor that the engine sets on this machine and against native code.
//!
//! Absolute times vary between machines and between minutes; the tables at the end give ratios within this run.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark stops at the first failure and prints"
)]

mod floor;
mod guest;
mod ours;
mod report;

use criterion::{BatchSize, Criterion};
use std::hint::black_box;
use std::time::Duration;

/// Measures something and prints a table.
type Part = fn(&[u8]);

/// The parts that run after Criterion's, by the name that selects one of them on the command line.
const PARTS: [(&str, Part); 4] = [
    ("throughput", ours::throughput),
    ("kernels", ours::processor_bound),
    ("deadlines", ours::deadlines),
    ("loading", ours::loading),
];

fn main() {
    let wasm = guest::component();
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let selected = |name: &str| only.as_deref().is_none_or(|only| only == name);
    if !PARTS.iter().any(|(name, _)| only.as_deref() == Some(name)) {
        calls(&wasm);
    }
    for (name, part) in PARTS {
        if selected(name) {
            part(&wasm);
        }
    }
}

/// What Criterion measures: one call in each of its forms.
fn calls(wasm: &[u8]) {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3))
        .configure_from_args();
    single_call(&mut criterion, wasm);
    criterion.final_summary();
    report::calls();
}

/// One call after another on one thread.
fn single_call(criterion: &mut Criterion, wasm: &[u8]) {
    let mut group = criterion.benchmark_group("call");
    group.bench_function("native", |b| {
        b.iter_batched(
            || guest::ADD.to_owned(),
            |input| guest::native(black_box(&input)),
            BatchSize::SmallInput,
        );
    });
    let best = floor::Floor::best(wasm);
    group.bench_function("warm", |b| b.iter_custom(|iterations| best.warm(iterations)));
    group.bench_function("fresh", |b| b.iter_custom(|iterations| best.fresh(iterations)));
    let defaults = floor::Floor::defaults(wasm);
    group.bench_function("defaults", |b| {
        b.iter_custom(|iterations| defaults.fresh_without_pre(iterations))
    });
    let ours = ours::Ours::new(wasm, 1);
    group.bench_function("sandbox", |b| b.iter_custom(|iterations| ours.on_worker(iterations)));
    group.bench_function("sandbox_from_another_thread", |b| {
        b.iter_custom(|iterations| ours.change_threads(iterations))
    });
    group.bench_function("tool_system", |b| {
        b.iter_custom(|iterations| ours.tool_system(iterations))
    });
    group.finish();
}
