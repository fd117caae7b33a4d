//! Reports progress, and then waits.

#![cfg(target_family = "wasm")]

use std::time::Duration;

use art_sdk::prelude::*;

#[args]
struct In {
    /// The title of the progress report.
    title: String,
    /// Milliseconds to wait.
    ms: u64,
}

#[output]
struct Out {
    waited: u64,
}

/// Reports progress twice in a row, waits, and returns. The second report says that half of the work is done.
#[tool]
fn reports_progress(input: In, ctx: &Context) -> Result<Out> {
    ctx.progress("an earlier report, which the next one replaces", ());
    ctx.progress(input.title, json!({"done": 1, "of": 2}));
    std::thread::sleep(Duration::from_millis(input.ms));
    Ok(Out { waited: input.ms })
}
