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

fn main() {
    let wasm = guest::component();
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3))
        .configure_from_args();
    single_call(&mut criterion, &wasm);
    criterion.final_summary();
    report::calls();
    ours::throughput(&wasm);
    ours::processor_bound(&wasm);
    ours::deadlines(&wasm);
    ours::loading(&wasm);
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
        b.iter_custom(|iterations| ours.from_outside(iterations))
    });
    group.bench_function("tool_system", |b| {
        b.iter_custom(|iterations| ours.tool_system(iterations))
    });
    group.finish();
}
