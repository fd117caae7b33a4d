//! Sleeps for the time in its input, then returns that time.

#![cfg(target_family = "wasm")]

use std::time::Duration;

use art_sdk::prelude::*;

#[args]
struct In {
    /// Milliseconds to wait.
    ms: u64,
}

#[output]
struct Out {
    waited: u64,
}

/// Sleeps, then returns.
#[tool]
fn slow_echo(input: In) -> Result<Out> {
    std::thread::sleep(Duration::from_millis(input.ms));
    Ok(Out { waited: input.ms })
}
