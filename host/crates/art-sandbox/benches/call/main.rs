//! Measures a sandboxed call, and compares it with calls of the bare engine and with native code.
//!
//! The same small call is made in several *forms*. Native code is compiled in the release profile, like a function of the host:
//! `function` accepts and returns text, and `native_call` also creates the context and the outcome that the interface of tools
//! demands. Of the calls of the bare engine, `warm` reuses one instance, `fresh` makes a new one for each call, and `defaults`
//! has the default settings of the engine. Components are built as `art plugin build` builds them. Absolute times vary between
//! machines and over time, so the tables at the end show ratios within this run.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark stops at the first failure and prints"
)]

mod bare_engine;
mod guest;
mod neighbours;
mod planned;
mod report;
mod sandboxed;
mod sleepers;

use std::hint::black_box;
use std::rc::Rc;
use std::time::{Duration, Instant};

use guest::Components;

/// A section of the benchmark. It measures calls of the components, and prints a table.
type Section = fn(&Components);

/// The sections. A name on the command line selects one of them.
const SECTIONS: [(&str, Section); 8] = [
    ("calls", print_calls),
    ("throughput", |components| {
        sandboxed::print_throughput(&components.plain)
    }),
    ("kernels", |components| sandboxed::print_kernels(&components.plain)),
    // A guest needs WASI to sleep.
    ("deadlines", |components| sandboxed::print_deadlines(&components.wasi)),
    ("neighbours", |components| {
        neighbours::print_neighbours(&components.wasi)
    }),
    ("sleepers", sleepers::print_sleepers),
    ("loading", |components| sandboxed::print_loading(&components.plain)),
    ("plans", |components| planned::print_plans(&components.plain)),
];

fn main() {
    let components = Components::build();
    let selected_name = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    for (name, section) in SECTIONS {
        if selected_name.as_deref().is_none_or(|selected| selected == name) {
            section(&components);
        }
    }
}

/// Measures all forms of the call in turn for many rounds, so that other work on the machine disturbs all of them
/// alike. A ratio compares the fastest round of each form.
fn print_calls(components: &Components) {
    const ROUNDS: usize = 60;
    const ROUND_NANOS: u64 = 10_000_000;
    let forms = forms(components);
    let seconds_per_call = |form: &Form| {
        let calls = ROUND_NANOS / form.approximate_nanos;
        (form.run)(calls).as_secs_f64() / calls as f64
    };
    let rounds: Vec<Vec<f64>> = (0..ROUNDS)
        .map(|_| forms.iter().map(seconds_per_call).collect())
        .collect();
    let fastest_seconds = |name: &str| {
        let index = forms.iter().position(|form| form.name == name).unwrap();
        report::fastest(rounds.iter().filter_map(|round| round.get(index).copied()))
    };
    // The first column has the fastest time of a form. The others have its ratio to the fastest time of one of these forms.
    let base_names = ["function", "native_call", "fresh"];
    let base_seconds = base_names.map(fastest_seconds);
    println!(
        "\n{:<32} {:>14} {:>13} {:>13} {:>13}",
        "one call", "fastest", base_names[0], base_names[1], base_names[2]
    );
    for form in &forms {
        let seconds = fastest_seconds(form.name);
        let [function, native_call, fresh] = base_seconds.map(|base| seconds / base);
        println!(
            "  {:<30} {:>11.2} us {function:>12.1}x {native_call:>12.1}x {fresh:>12.2}x",
            form.name,
            seconds * 1e6
        );
    }
}

/// A way to make a call.
struct Form {
    name: &'static str,
    /// Approximate time of one call, from which the number of calls in a round follows.
    approximate_nanos: u64,
    /// Makes the given number of calls and returns their time.
    run: Box<dyn Fn(u64) -> Duration>,
}

fn forms(components: &Components) -> Vec<Form> {
    let mut forms = vec![
        form("function", 100, |calls| time_native(calls, guest::call_function)),
        form("native_call", 200, |calls| time_native(calls, bench_guest::call)),
    ];
    forms.extend(engine_forms(components));
    forms.extend(sandbox_forms(components));
    forms.extend(file_forms(components));
    forms
}

/// Returns calls of the bare engine.
fn engine_forms(components: &Components) -> [Form; 4] {
    let best = Rc::new(bare_engine::BareEngine::best(&components.plain));
    let best_for_warm = Rc::clone(&best);
    let best_with_wasi = bare_engine::BareEngine::best(&components.wasi);
    let defaults = bare_engine::BareEngine::defaults(&components.plain);
    [
        form("warm", 2_000, move |calls| best_for_warm.time_warm(calls)),
        form("fresh", 10_000, move |calls| best.time_fresh(calls)),
        form("wasi_fresh", 12_000, move |calls| best_with_wasi.time_fresh(calls)),
        form("defaults", 60_000, move |calls| defaults.time_fresh_and_link(calls)),
    ]
}

/// Returns calls through the sandbox. The first, fourth and fifth form share one sandbox.
fn sandbox_forms(components: &Components) -> [Form; 5] {
    let plain = Rc::new(sandboxed::Sandboxed::new(&components.plain, 1));
    let (plain_for_system, plain_for_thread) = (Rc::clone(&plain), Rc::clone(&plain));
    let redacting = sandboxed::Sandboxed::with_secrets(&components.plain);
    let with_wasi = sandboxed::Sandboxed::new(&components.wasi, 1);
    [
        form("sandbox", 12_000, move |calls| plain.time_on_worker(calls)),
        form("sandbox_with_secrets", 12_000, move |calls| {
            redacting.time_on_worker(calls)
        }),
        form("wasi_sandbox", 16_000, move |calls| with_wasi.time_on_worker(calls)),
        form("tool_system", 16_000, move |calls| {
            plain_for_system.time_tool_system(calls)
        }),
        form("sandbox_call_from_another_thread", 30_000, move |calls| {
            plain_for_thread.time_from_another_thread(calls)
        }),
    ]
}

/// Returns calls that read a file of 4 KiB, each after opening the directory that contains it.
fn file_forms(components: &Components) -> [Form; 2] {
    let directory = Rc::new(tempfile::tempdir().unwrap());
    std::fs::write(directory.path().join("file"), vec![128; guest::READ_BYTES]).unwrap();
    let bare = bare_engine::BareEngine::best(&components.wasi).with_directory(directory.path().to_owned());
    let sandboxed = sandboxed::Sandboxed::new(&components.wasi, 1);
    [
        form("file_fresh", 25_000, move |calls| bare.time_fresh(calls)),
        form("file_sandbox", 30_000, move |calls| {
            sandboxed.time_reads_on_worker(directory.path(), calls)
        }),
    ]
}

fn form(name: &'static str, approximate_nanos: u64, run: impl Fn(u64) -> Duration + 'static) -> Form {
    let run = Box::new(run);
    Form {
        name,
        approximate_nanos,
        run,
    }
}

fn time_native<T>(calls: u64, call: fn(&str) -> T) -> Duration {
    let start = Instant::now();
    for _ in 0..calls {
        black_box(call(black_box(guest::ADD_INPUT)));
    }
    start.elapsed()
}
