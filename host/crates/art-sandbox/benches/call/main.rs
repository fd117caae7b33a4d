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

use std::hint::black_box;
use std::rc::Rc;
use std::time::{Duration, Instant};

use criterion::Criterion;

use guest::Components;

/// Measures something and prints a table.
type Part = fn(&Components);

/// The parts that run after Criterion's, by the name that selects one of them on the command line.
const PARTS: [(&str, Part); 5] = [
    ("calls", calls_in_turn),
    ("throughput", |guest| ours::throughput(&guest.plain)),
    ("kernels", |guest| ours::processor_bound(&guest.plain)),
    // Only WASI can sleep.
    ("deadlines", |guest| ours::deadlines(&guest.wasi)),
    ("loading", |guest| ours::loading(&guest.plain)),
];

fn main() {
    let guest = Components::build();
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let selected = |name: &str| only.as_deref().is_none_or(|only| only == name);
    if !PARTS.iter().any(|(name, _)| only.as_deref() == Some(name)) {
        with_criterion(&guest);
    }
    for (name, part) in PARTS {
        if selected(name) {
            part(&guest);
        }
    }
}

/// One call after another on one thread, each form by itself.
fn with_criterion(guest: &Components) {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3))
        .configure_from_args();
    let mut group = criterion.benchmark_group("call");
    for form in forms(guest) {
        group.bench_function(form.name, |b| b.iter_custom(&form.run));
    }
    group.finish();
    criterion.final_summary();
}

/// All forms in turn, again and again: what disturbs the machine disturbs them alike. Each ratio is that of the rounds in which
/// both were the fastest.
fn calls_in_turn(guest: &Components) {
    const ROUNDS: usize = 60;
    const NANOS: u64 = 10_000_000;
    let forms = forms(guest);
    let seconds_per_call = |form: &Form| {
        let calls = NANOS / form.about_nanos;
        (form.run)(calls).as_secs_f64() / calls as f64
    };
    let rounds: Vec<Vec<f64>> = (0..ROUNDS)
        .map(|_| forms.iter().map(seconds_per_call).collect())
        .collect();
    let column = |name: &str| {
        let at = forms.iter().position(|form| form.name == name).unwrap();
        report::fastest(rounds.iter().filter_map(|round| round.get(at).copied()))
    };
    let (native, floor) = (column("native"), column("fresh"));
    println!("\none call                                    fastest   to native    to fresh");
    for form in &forms {
        let seconds = column(form.name);
        let (native, floor) = (seconds / native, seconds / floor);
        println!(
            "  {:<32} {:>11.2} us {native:>9.1}x {floor:>10.2}x",
            form.name,
            seconds * 1e6
        );
    }
}

/// One way to make the small call.
struct Form {
    name: &'static str,
    /// For the length of a round.
    about_nanos: u64,
    /// Makes so many calls.
    run: Box<dyn Fn(u64) -> Duration>,
}

fn forms(guest: &Components) -> Vec<Form> {
    let [best, best_wasi] = [&guest.plain, &guest.wasi].map(|wasm| Rc::new(floor::Floor::best(wasm)));
    let [ours, ours_wasi] = [&guest.plain, &guest.wasi].map(|wasm| Rc::new(ours::Ours::new(wasm, 1)));
    let defaults = floor::Floor::defaults(&guest.plain);
    let (warm, [another_thread, tool_system]) = (Rc::clone(&best), [0; 2].map(|_| Rc::clone(&ours)));
    let form = |name, about_nanos, run: Box<dyn Fn(u64) -> Duration>| Form { name, about_nanos, run };
    vec![
        form("function", 100, Box::new(|calls| native(calls, guest::function))),
        form("native", 200, Box::new(|calls| native(calls, bench_guest::call))),
        form("warm", 2_000, Box::new(move |calls| warm.warm(calls))),
        form("fresh", 10_000, Box::new(move |calls| best.fresh(calls))),
        form("sandbox", 12_000, Box::new(move |calls| ours.on_worker(calls))),
        form(
            "tool_system",
            16_000,
            Box::new(move |calls| tool_system.tool_system(calls)),
        ),
        form(
            "defaults",
            60_000,
            Box::new(move |calls| defaults.fresh_without_pre(calls)),
        ),
        form(
            "sandbox_from_another_thread",
            30_000,
            Box::new(move |calls| another_thread.change_threads(calls)),
        ),
        form("wasi_fresh", 12_000, Box::new(move |calls| best_wasi.fresh(calls))),
        form(
            "wasi_sandbox",
            16_000,
            Box::new(move |calls| ours_wasi.on_worker(calls)),
        ),
    ]
}

fn native<T>(calls: u64, call: fn(&str) -> T) -> Duration {
    let start = Instant::now();
    for _ in 0..calls {
        black_box(call(black_box(guest::ADD)));
    }
    start.elapsed()
}
