//! What a sandboxed call costs, against the floor that the engine sets on this machine and against native code.
//!
//! Native code is that of the release profile, compiled as a function of the host would be: `function` takes and gives text, and
//! `native_call` also makes the context and the outcome that the contract has. Components are built as `art plugin build` does.
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
    let bases = ["function", "native_call", "fresh"];
    let base = bases.map(column);
    println!(
        "\n{:<32} {:>14} {:>13} {:>13} {:>13}",
        "one call", "fastest", bases[0], bases[1], bases[2]
    );
    for form in &forms {
        let seconds = column(form.name);
        let [function, native_call, fresh] = base.map(|base| seconds / base);
        println!(
            "  {:<30} {:>11.2} us {function:>12.1}x {native_call:>12.1}x {fresh:>12.2}x",
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
    let mut forms = vec![
        form("function", 100, |calls| native(calls, guest::function)),
        form("native_call", 200, |calls| native(calls, bench_guest::call)),
    ];
    forms.extend(of_the_engine(guest));
    forms.extend(of_the_sandbox(guest));
    forms
}

/// Returns the engine without anything of ours.
fn of_the_engine(guest: &Components) -> [Form; 4] {
    let best = Rc::new(floor::Floor::best(&guest.plain));
    let (warm, best_wasi) = (Rc::clone(&best), floor::Floor::best(&guest.wasi));
    let defaults = floor::Floor::defaults(&guest.plain);
    [
        form("warm", 2_000, move |calls| warm.warm(calls)),
        form("fresh", 10_000, move |calls| best.fresh(calls)),
        form("wasi_fresh", 12_000, move |calls| best_wasi.fresh(calls)),
        form("defaults", 60_000, move |calls| defaults.fresh_without_pre(calls)),
    ]
}

fn of_the_sandbox(guest: &Components) -> [Form; 4] {
    let ours = Rc::new(ours::Ours::new(&guest.plain, 1));
    let [another_thread, tool_system] = [0; 2].map(|_| Rc::clone(&ours));
    let ours_wasi = ours::Ours::new(&guest.wasi, 1);
    [
        form("sandbox", 12_000, move |calls| ours.on_worker(calls)),
        form("wasi_sandbox", 16_000, move |calls| ours_wasi.on_worker(calls)),
        form("tool_system", 16_000, move |calls| tool_system.tool_system(calls)),
        form("sandbox_from_another_thread", 30_000, move |calls| {
            another_thread.change_threads(calls)
        }),
    ]
}

fn form(name: &'static str, about_nanos: u64, run: impl Fn(u64) -> Duration + 'static) -> Form {
    let run = Box::new(run);
    Form { name, about_nanos, run }
}

fn native<T>(calls: u64, call: fn(&str) -> T) -> Duration {
    let start = Instant::now();
    for _ in 0..calls {
        black_box(call(black_box(guest::ADD)));
    }
    start.elapsed()
}
