//! Attacks its host. The input selects the attack.

#![cfg(target_family = "wasm")]

mod handles;
mod wasi;

use std::hint::black_box;
use std::time::{Duration, Instant};

use art_sdk::prelude::*;
use wasi::wasi::clocks::monotonic_clock::subscribe_duration;
use wasi::wasi::random::random::get_random_bytes;

#[args]
struct In {
    /// Name of the attack.
    attack: String,
    /// A number of repetitions or of bytes, an exit code or a seed, if the attack needs one of them.
    #[serde(default)]
    n: usize,
}

const MIB: usize = 1 << 20;

/// Attacks its host. Never to be enabled outside of tests.
#[tool]
fn hostile(input: In, ctx: &Context) -> Result<Outcome<Value>> {
    match input.attack.as_str() {
        "loop" => spin(),
        "sleep" => std::thread::sleep(Duration::from_secs(3600)),
        "sleep_in_naps" => sleep_repeatedly(),
        "grow" => grow_memory(),
        "small_allocations" => allocate_small_blocks(),
        "recursion" => drop(black_box(recurse(1))),
        "large_frames" => drop(black_box(recurse_with_large_frames(1))),
        "bulk" => write_in_bulk(),
        "log_lines" => (0..input.n).for_each(|line| ctx.info(line)),
        "log_long_lines" => log_long_lines(ctx, input.n),
        "progress" => (0..input.n).for_each(|_| ctx.progress("working", json!({"done": 1}))),
        "stdout" => (0..input.n).for_each(|_| print_line()),
        "panic" => panic_now(),
        "trap" => core::arch::wasm32::unreachable(),
        "exit" => std::process::exit(i32::from(input.n != 0)),
        "random" => loop {
            black_box(get_random_bytes(64 << 10));
        },
        "much_random" => drop(get_random_bytes(MIB as u64 * 64)),
        "clock" => loop {
            black_box(Instant::now());
        },
        "pollables" => drop((0..input.n).map(|_| subscribe_duration(1)).collect::<Vec<_>>()),
        "timers" => handles::extreme_timers(),
        "drop_twice" => handles::drop_twice(),
        "use_after_drop" => handles::use_after_drop(),
        "random_handles" => handles::random_operations(input.n),
        "until_cancelled" => while !ctx.cancelled() {},
        other => return requested_outcome(other, input.n),
    }
    Ok(Reply::new(json!("survived")).into())
}

/// Returns the outcome named `name`. If no outcome has this name, fails with the error code `name`, or with `unknown` if there
/// is no such code.
fn requested_outcome(name: &str, n: usize) -> Result<Outcome<Value>> {
    match name {
        "output" => Ok(Reply::new(json!("x".repeat(n))).into()),
        "small_objects" => Ok(Reply::new(Value::Array(vec![json!({"a": 1}); n])).into()),
        "attachment" => Ok(Reply::new(json!(null))
            .attachment(Attachment::new("application/octet-stream", vec![7_u8; n]).filename("../../etc/passwd"))
            .into()),
        "suspended" => Ok(Suspension::new("delete 3 files?").details(json!({"files": 3})).into()),
        "continuation" => Ok(Subtask::new("describe", json!({"id": 7})).max_depth(2).into()),
        code => Err(failure(code)),
    }
}

fn failure(code: &str) -> ToolError {
    let message = "a requested failure";
    match code {
        "validation" => ToolError::validation(message),
        "io" => ToolError::io(message),
        "config" => ToolError::config(message),
        "permission_denied" => ToolError::permission_denied(message),
        "rate_limited" => ToolError::rate_limited(message),
        "not_found" => ToolError::not_found(message),
        "llm_assist" => ToolError::llm_assist(message),
        "timeout" => ToolError::timeout(message),
        _ => ToolError::unknown(message),
    }
}

#[expect(clippy::panic, reason = "the attack is a panic")]
fn panic_now() {
    panic!("the guest gives up");
}

fn spin() {
    let mut n = 0_u64;
    loop {
        n = black_box(n.wrapping_add(1));
    }
}

fn sleep_repeatedly() {
    loop {
        std::thread::sleep(Duration::ZERO);
    }
}

fn grow_memory() {
    loop {
        black_box(vec![1_u8; MIB].leak());
    }
}

fn allocate_small_blocks() {
    loop {
        black_box(Box::leak(Box::new([1_u8; 24])));
    }
}

/// Calls itself without end. `depth` is never 0, but `black_box` hides this from the compiler.
fn recurse(depth: u64) -> u64 {
    match black_box(depth) {
        0 => 0,
        depth => recurse(depth + 1) ^ depth,
    }
}

fn recurse_with_large_frames(depth: u64) -> u64 {
    let frame = black_box([depth; 8 << 10]);
    match frame.first() {
        Some(0) | None => 0,
        Some(depth) => recurse_with_large_frames(depth + 1) ^ black_box(frame).iter().sum::<u64>(),
    }
}

/// Fills 24 MiB of memory again and again, each time with few instructions, since the instruction `memory.fill` of
/// WebAssembly can fill any amount of memory.
fn write_in_bulk() {
    let mut block = vec![0_u8; 24 * MIB];
    loop {
        block.fill(black_box(1));
        black_box(&mut block);
    }
}

fn log_long_lines(ctx: &Context, lines: usize) {
    let line = "x".repeat(MIB / 2);
    for _ in 0..lines {
        ctx.info(&line);
    }
}

#[expect(clippy::print_stdout, reason = "the attack is a flood of output")]
fn print_line() {
    println!("{}", "x".repeat(100));
}
