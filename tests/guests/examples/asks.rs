//! Asks the host for times and for random numbers, and asks whether the call was cancelled. Also waits and computes. The field
//! `questions` of the input lists which of these things this guest does.

#![cfg(target_family = "wasm")]

#[path = "hostile/wasi.rs"]
mod wasi;

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::hint::black_box;
use std::time::{Duration, SystemTime};

use art_sdk::prelude::*;
use wasi::wasi::clocks::monotonic_clock::{now, resolution, subscribe_duration};
use wasi::wasi::io::poll::poll;
use wasi::wasi::random::random::{get_random_bytes, get_random_u64};

#[args]
struct In {
    /// Names of the questions, in their order.
    questions: Vec<String>,
    /// The number of repetitions, milliseconds or iterations of each question.
    #[serde(default)]
    n: u64,
}

/// Asks its host. Returns and logs the answers.
#[tool]
fn asks(input: In, ctx: &Context) -> Result<Vec<String>> {
    let mut answers = Vec::new();
    for question in &input.questions {
        let answer = ask(question, input.n, ctx)?;
        ctx.info(&answer);
        answers.push(answer);
    }
    Ok(answers)
}

fn ask(question: &str, n: u64, ctx: &Context) -> Result<String> {
    Ok(match question {
        "wall_clock" => wall_clock(),
        "clock" => format!("{} {}", now(), resolution()),
        "clock_often" => (0..n).map(|_| black_box(now())).max().unwrap_or_default().to_string(),
        "random" => format!("{} {:?}", get_random_u64(), get_random_bytes(5)),
        "hash_seed" => RandomState::new().build_hasher().finish().to_string(),
        "sleep" => sleep(n),
        "poll" => format!("{:?}", poll_two(n)),
        "ready" => subscribe_duration(n * 1_000_000).ready().to_string(),
        "cancelled" => (0..n).filter(|_| ctx.cancelled()).count().to_string(),
        "until_cancelled" => until_cancelled(ctx).to_string(),
        "compute" => compute(n).to_string(),
        other => return Err(ToolError::validation(format!("there is no question `{other}`"))),
    })
}

fn wall_clock() -> String {
    let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since_epoch.map_or_else(|_| "before 1970".to_owned(), |time| format!("{time:?}"))
}

fn sleep(milliseconds: u64) -> String {
    std::thread::sleep(Duration::from_millis(milliseconds));
    "slept".to_owned()
}

/// Starts a late and an early timer, in this order, and waits until one is over. Returns the indices of those that are over.
fn poll_two(milliseconds: u64) -> Vec<u32> {
    let late = subscribe_duration((milliseconds + 1) * 2_000_000);
    let early = subscribe_duration(milliseconds * 1_000_000);
    poll(&[&late, &early])
}

/// Asks whether the call was cancelled until it was. Returns how often it asked, which depends on the machine.
fn until_cancelled(ctx: &Context) -> u64 {
    let mut times_asked = 1;
    while !ctx.cancelled() {
        times_asked += 1;
    }
    times_asked
}

fn compute(iterations: u64) -> u64 {
    let step = |n: u64, i: u64| black_box(n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(i));
    (0..iterations).fold(1, step)
}
