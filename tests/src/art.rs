//! The program `art`, built together with the tests that run it. With two environment variables, a test makes it kill itself or
//! adds tools to it:
//!
//! - `ART_TEST_STOP_AT=PLACE:COUNT` kills the process when it reaches that [`FailPoint`] for the `COUNT`th time.
//! - `ART_TEST_EFFECTS=FILE` adds the tools `effect` and `repeatable_effect`, which append a line to `FILE` for each call.

mod effects;

use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};

use art_host::cli::Extension;
use art_store::{FailPoint, fail_point};
use rustix::process::{Signal, getpid, kill_process};

const STOP_VARIABLE: &str = "ART_TEST_STOP_AT";

fn main() -> ExitCode {
    if std::env::var_os(STOP_VARIABLE).is_some() {
        fail_point::install(kill_if_wanted);
    }
    art_host::commands::main_with(Extension(effects::add))
}

/// Kills this process without any cleanup, if the test has asked for that at this place.
fn kill_if_wanted(reached: FailPoint) {
    static TIMES_REACHED: AtomicU32 = AtomicU32::new(0);
    let wanted = std::env::var(STOP_VARIABLE).unwrap_or_default();
    let Some((place, count)) = wanted.split_once(':') else {
        return;
    };
    // Only the wanted place is counted.
    if place == reached.name() && Ok(TIMES_REACHED.fetch_add(1, Ordering::SeqCst) + 1) == count.parse() {
        kill_process(getpid(), Signal::KILL).unwrap_or_else(|_| std::process::abort());
    }
}
